//===- Specialize.cpp - bind free dimensions and precision ------------------===//
//
// Types are inferred again from the function's arguments on, so that no pass after this one meets a
// free dimension.
//
//===----------------------------------------------------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/BindSizes.h"
#include "passes/OptimizerPrograms.h"
#include "passes/Passes.h"
#include "passes/StraightLine.h"

namespace hybrid {
#define GEN_PASS_DEF_SPECIALIZE
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

/// The ops that `parameter`'s initial value is computed with, in order; fails when it depends on an
/// input of the model.
FailureOr<SmallVector<Operation *>> initialSlice(ParameterOp parameter) {
  auto isInput = [](Value value) { return isa<BlockArgument>(value); };
  SmallVector<Operation *> slice = sliceOf(parameter.getInitial());
  if (isInput(parameter.getInitial()) ||
      llvm::any_of(slice, [&](Operation *op) { return llvm::any_of(op->getOperands(), isInput); }))
    return parameter.emitError()
           << "initial value of '" << parameter.getName()
           << "' depends on an input of the model, expected constants and random values only";
  return slice;
}

/// Erases what no output depends on. A parameter among it would never change: it is left out of the
/// executable, and its author is told.
void eraseUnused(func::FuncOp forward) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(forward.getBody().front()))) {
    if (!isOpTriviallyDead(&op))
      continue;
    if (auto parameter = dyn_cast<ParameterOp>(op))
      parameter.emitWarning() << "parameter '" << parameter.getName()
                              << "' does not reach any output: it is left out";
    op.erase();
  }
}

/// Moves the computation of all initial values to a function of its own.
LogicalResult splitInitialValues(ModuleOp module, func::FuncOp forward) {
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfter(forward);
  auto seed = tensorOf({2}, builder.getI32Type());
  auto init =
      func::FuncOp::create(builder, forward.getLoc(), "init", builder.getFunctionType({seed}, {}));
  init.setArgAttr(init.addEntryBlock()->getParent()->front().getArgument(0).getArgNumber(),
                  "hybrid.name", builder.getStringAttr("seed"));
  builder.setInsertionPointToStart(&init.getBody().front());
  IRMapping mapping;
  for (Operation &op : forward.getBody().front()) {
    auto parameter = dyn_cast<ParameterOp>(op);
    if (!parameter || !parameter.getInitial())
      continue;
    auto slice = initialSlice(parameter);
    if (failed(slice))
      return failure();
    for (Operation *producer : *slice)
      if (!mapping.contains(producer->getResult(0)))
        builder.clone(*producer, mapping);
    AssignOp::create(builder, parameter.getLoc(), parameter.getName(),
                     mapping.lookup(parameter.getInitial()));
    parameter.getInitialMutable().clear();
  }
  func::ReturnOp::create(builder, forward.getLoc());
  return success();
}

struct Specialize : hybrid::impl::SpecializeBase<Specialize> {
  using SpecializeBase::SpecializeBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto forward = module.lookupSymbol<func::FuncOp>("forward");
    Builder builder(&getContext());
    if (batch < 1 || length < 1) {
      module.emitError() << "cannot be specialized to batch " << batch.getValue() << " and length "
                         << length.getValue() << ": expected at least 1";
      return signalPassFailure();
    }
    if (precision != "f32" && precision != "f64") {
      module.emitError() << "precision '" << precision.getValue()
                         << "' is not known: expected f32 or f64";
      return signalPassFailure();
    }
    Type element = precision == "f64" ? Type(builder.getF64Type()) : Type(builder.getF32Type());
    if (!forward) {
      module.emitError() << "has no function @forward to specialize";
      return signalPassFailure();
    }
    if (failed(verifyStraightLine(forward)))
      return signalPassFailure();
    if (failed(bindSizes(forward, batch, length, element)))
      return signalPassFailure();
    if (module.lookupSymbol("init"))
      return;
    eraseUnused(forward);
    if (failed(splitInitialValues(module, forward)) ||
        failed(instantiateOptimizers(module, forward, element)))
      return signalPassFailure();
  }
};
} // namespace
