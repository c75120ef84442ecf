//===- FuseReductions.cpp - a region where a reduction reads it -------------===//
#include "dialect/schedule/Memory.h"
#include "passes/schedule/SchedulePasses.h"

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_FUSEREDUCTIONS
#include "passes/schedule/Passes.h.inc"

namespace {

/// The region that alone makes what `op` reads, for it alone; its operands as `op` sees elements.
template <typename Op> bool fuse(Op op) {
  if (!op.getLoad().empty())
    return false;
  View read = viewOf(op.getInputs().front());
  auto buffer = read.buffer.template getDefiningOp<BufferOp>();
  ComputeOp compute;
  for (Access use : usesOf(buffer)) {
    if (use.step == op.getOperation())
      continue;
    auto maker = dyn_cast<ComputeOp>(use.step);
    if (compute || !maker || maker.getOutputs().size() != 1 || !use.written ||
        maker->hasAttr("schedule.if_finite"))
      return false;
    compute = maker;
  }
  // Rows of a matrix may be what has more dimensions.
  if (!compute || compute->getBlock() != op->getBlock() || !compute->isBeforeInBlock(op) ||
      !sameElements(viewOf(compute.getOutputs().front()), read))
    return false;
  SmallVector<View> views;
  for (Value input : compute.getInputs()) {
    View view = viewOf(input);
    std::optional<View> seen = view.reshaped(read.shape);
    // What the region reads must be what it was.
    if (!seen || touchedBetween(compute, op, view, /*writesOnly=*/true))
      return false;
    views.push_back(*seen);
  }
  OpBuilder builder(op);
  SmallVector<Value> inputs;
  for (const View &view : views)
    inputs.push_back(materialize(view, builder));
  op.getInputsMutable().assign(inputs);
  op.getLoad().takeBody(compute.getBody());
  compute.erase();
  return true;
}

struct FuseReductions : impl::FuseReductionsBase<FuseReductions> {
  using FuseReductionsBase::FuseReductionsBase;
  void runOnOperation() override {
    for (Operation &op : getOperation().getBody().front())
      numFused += isa<ReductionOp>(op) ? fuse(cast<ReductionOp>(op))
                  : isa<RowSumsOp>(op) ? fuse(cast<RowSumsOp>(op))
                                       : false;
    eraseUnused(getOperation());
  }
};

} // namespace
} // namespace hybrid
