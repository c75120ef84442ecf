//===- Identity.cpp - regions that give what they take -----------------------===//
#include "passes/schedule/Identity.h"
#include "dialect/schedule/Memory.h"

using namespace mlir;

namespace hybrid {

Block &addIdentity(Region &region, ArrayRef<int64_t> shape, Type element, Location loc) {
  OpBuilder builder(region.getContext());
  Block *body = builder.createBlock(&region);
  BlockArgument argument = body->addArgument(RankedTensorType::get(shape, element), loc);
  YieldElementsOp::create(builder, loc, ValueRange{argument});
  return *body;
}

ComputeOp makeCompute(CopyOp copy) {
  OpBuilder builder(copy);
  const View from = viewOf(copy.getFrom());
  auto compute = ComputeOp::create(builder, copy.getLoc(), ValueRange{copy.getFrom()},
                                   ValueRange{copy.getTo()}, copy.getSource());
  addIdentity(compute.getBody(), from.shape, from.element, copy.getLoc());
  copy.erase();
  return compute;
}

} // namespace hybrid
