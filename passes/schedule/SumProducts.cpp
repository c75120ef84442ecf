//===- SumProducts.cpp - matrix products that are added to something --------===//
#include "dialect/schedule/Memory.h"
#include "passes/schedule/SchedulePasses.h"

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_SUMPRODUCTS
#include "passes/schedule/Passes.h.inc"

namespace {

/// Whether the region adds all of its inputs, each once, and does nothing else.
bool addsInputs(ComputeOp compute) {
  Block &body = compute.getBody().front();
  Operation *yield = body.getTerminator();
  if (yield->getNumOperands() != 1)
    return false;
  for (BlockArgument argument : body.getArguments())
    if (!argument.hasOneUse() || argument.getType() != yield->getOperand(0).getType())
      return false;
  for (Operation &inner : body.without_terminator()) {
    auto sum = dyn_cast<BinaryOp>(&inner);
    if (!sum || sum.getKind() != BinaryKind::Add || !sum->hasOneUse())
      return false;
  }
  return true;
}

/// The product that makes `input` for `compute` alone; null where there is none.
LibraryMatmulOp productOf(ComputeOp compute, Value input) {
  View read = viewOf(input);
  auto buffer = read.buffer.getDefiningOp<BufferOp>();
  if (buffer.getSpace() != Space::Arena || buffer.isInput())
    return {};
  LibraryMatmulOp product;
  for (const Access &use : usesOf(buffer)) {
    if (use.step == compute)
      continue;
    auto maker = dyn_cast<LibraryMatmulOp>(use.step);
    bool plain = maker && use.written && maker.getGroups() == 0 && maker.getBatch() == 1 &&
                 maker.getLdAddend() == 0 && !maker.getAccumulate() && sameElements(use.view, read);
    if (product || !plain || maker->getBlock() != compute->getBlock())
      return {};
    product = maker;
  }
  return product;
}

/// `view` as the product sees its result; none where that has no equally spaced rows.
std::optional<View> byRowsOf(LibraryMatmulOp product, const View &view) {
  std::optional<View> rows = view.reshaped(viewOf(product.getViews()[2]).shape);
  return rows && rows->rowStride() ? rows : std::nullopt;
}

bool fuse(ComputeOp compute) {
  if (compute->hasAttr("schedule.if_finite") || !addsInputs(compute))
    return false;
  SmallVector<LibraryMatmulOp> products;
  std::optional<View> other;
  for (Value input : compute.getInputs()) {
    if (LibraryMatmulOp product = productOf(compute, input))
      products.push_back(product);
    else if (other)
      return false;
    else
      other = viewOf(input);
  }
  if (products.empty())
    return false;
  llvm::sort(products, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  LibraryMatmulOp first = products.front();
  View sum = viewOf(compute.getOutputs().front());
  // The other term is there before the first product, and nobody else is at the sum by then.
  if (touchedBetween(first, compute, sum) ||
      (other && touchedBetween(first, compute, *other, /*writesOnly=*/true)))
    return false;
  // Both by rows of the products.
  SmallVector<View> places;
  for (LibraryMatmulOp product : products) {
    std::optional<View> place = byRowsOf(product, sum);
    if (!place)
      return false;
    places.push_back(*place);
  }
  if (other && !(other = byRowsOf(first, *other)))
    return false;
  OpBuilder builder(first);
  for (auto [product, place] : llvm::zip(products, places)) {
    product.getViewsMutable()[2].assign(materialize(place, builder));
    product.setLdc(*place.rowStride());
    product.setSource((product.getSource() + " + " + compute.getSource()).str());
    product.setAccumulate(product != first);
  }
  if (other && sameElements(*other, sum)) {
    first.setAccumulate(true);
  } else if (other) {
    first.getViewsMutable().append(materialize(*other, builder));
    first.setLdAddend(*other->rowStride());
  }
  compute.erase();
  return true;
}

struct SumProducts : impl::SumProductsBase<SumProducts> {
  using SumProductsBase::SumProductsBase;
  void runOnOperation() override {
    for (auto compute : llvm::make_early_inc_range(getOperation().getOps<ComputeOp>()))
      numFused += fuse(compute);
    eraseUnused(getOperation());
  }
};

} // namespace
} // namespace hybrid
