//===- Dropout.cpp - values left out while training ---------------------------===//
#include "passes/Dropout.h"
#include "dialect/Gradients.h"
#include "dialect/HybridOps.h"
#include "passes/Passes.h"

namespace hybrid {
#define GEN_PASS_DEF_LEAVEOUTDROPOUT
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

/// x · m / (1 - rate), m having size 1 in the dimensions along which it is the same.
static void draw(DropoutOp op) {
  OpBuilder builder(op);
  ExpressionBuilder e{builder, op.getLoc()};
  SmallVector<int64_t> shape(shapeOf(op.getX()).size(), 1);
  for (int64_t axis : op.getAxes())
    shape[static_cast<size_t>(axis)] = shapeOf(op.getX())[static_cast<size_t>(axis)];
  const double rate = op.getRate().convertToDouble();
  Value drawn =
      RandomOp::create(builder, op.getLoc(), tensorOf(shape, elementOf(op.getX())),
                       DistributionAttr::get(builder.getContext(), Distribution::Uniform),
                       builder.getF64FloatAttr(0), builder.getF64FloatAttr(1), op.getStreamAttr());
  // Numbers are below 1: those that are at least the rate stay.
  Value out = e.binary(BinaryKind::Less, drawn, e.constant(rate, drawn));
  Value factor = e.mul(e.oneMinus(out), 1 / (1 - rate));
  op.replaceAllUsesWith(e.mul(op.getX(), factor));
  op.erase();
}

LogicalResult hybrid::drawDropout(func::FuncOp function) {
  SmallVector<DropoutOp> ops;
  function.walk([&](DropoutOp op) { ops.push_back(op); });
  if (ops.empty())
    return success();
  Builder builder(function.getContext());
  const unsigned place = function.getNumArguments();
  if (failed(function.insertArgument(place, tensorOf({2}, builder.getI32Type()), {},
                                     function.getLoc())))
    return failure();
  function.setArgAttr(place, "hybrid.name", builder.getStringAttr("seed"));
  llvm::for_each(ops, draw);
  return success();
}

namespace {

struct LeaveOutDropout : hybrid::impl::LeaveOutDropoutBase<LeaveOutDropout> {
  using LeaveOutDropoutBase::LeaveOutDropoutBase;
  void runOnOperation() override {
    getOperation().walk([](DropoutOp op) {
      op.replaceAllUsesWith(op.getX());
      op.erase();
    });
  }
};

} // namespace
