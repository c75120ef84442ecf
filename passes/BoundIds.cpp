//===- BoundIds.cpp - which inputs are ids, and what they may be ------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "passes/Passes.h"

namespace hybrid {
#define GEN_PASS_DEF_BOUNDIDS
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

/// What is in both; null is everything.
IdsAttr inBoth(IdsAttr a, IdsAttr b) {
  if (!a || !b)
    return a ? a : b;
  return IdsAttr::get(a.getContext(), std::min(a.getBelow(), b.getBelow()),
                      a.getAlso() == b.getAlso() ? a.getAlso() : 0);
}

/// What every element of `value` must be for all that look up by it.
IdsAttr rangeOf(Value value) {
  IdsAttr range;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (auto indexing = dyn_cast<IndexingOp>(user))
      range = inBoth(range, indexing.getIdRange(use.getOperandNumber()));
    // The same elements under another shape or in another order; parts may mean different things.
    else if (user->hasTrait<ViewOfOperand>() && user->getNumResults() == 1 &&
             elementCount(user->getResult(0)) == elementCount(value))
      range = inBoth(range, rangeOf(user->getResult(0)));
  }
  return range;
}

struct BoundIds : hybrid::impl::BoundIdsBase<BoundIds> {
  using BoundIdsBase::BoundIdsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    for (BlockArgument argument : function.getArguments())
      if (auto type = dyn_cast<RankedTensorType>(argument.getType());
          type && type.hasStaticShape() && type.getElementType().isInteger(32))
        if (IdsAttr range = rangeOf(argument))
          function.setArgAttr(argument.getArgNumber(), "hybrid.ids", range);
  }
};

} // namespace
