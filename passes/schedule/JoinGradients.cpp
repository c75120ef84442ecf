//===- JoinGradients.cpp - gradients of several weights as one product ------===//
//
// Projections of one value have gradients that are products with that value. Where what is
// multiplied lies side by side, as hybrid-join-products leaves it, and so do the gradients, as
// weights of one layer do, they are one product: it reads the value once, and fills the device
// where each of them would be divided along its long contraction.
//
//===----------------------------------------------------------------------===//
#include "dialect/schedule/Memory.h"
#include "passes/schedule/SchedulePasses.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_JOINGRADIENTS
#include "passes/schedule/Passes.h.inc"

namespace {

/// The gradient that a product makes as a whole and nothing else touches: a parameter's place;
/// null for any other product.
BufferOp gradientOf(LibraryMatmulOp product) {
  if (!product.getTransposeA() || product.getViews().size() != 3 || product.getAccumulate() ||
      product.getGroups() != 0 || product.getBatch() != 1 || product.getLdAddend() != 0 ||
      product.getTileRows() || product.getTileSum() || product.getRoundsResult())
    return {};
  auto buffer = product.getViews()[2].getDefiningOp<BufferOp>();
  const bool isAlone = buffer && buffer.getSpace() == Space::Gradients && buffer.getAt() &&
                       buffer->getDiscardableAttrs().empty() &&
                       usesOf(buffer.getResult()).size() == 1;
  return isAlone && product.getLdc() == product.getN() ? buffer : BufferOp();
}

/// Whether the columns that `second` multiplies, and its gradient, are right behind those of
/// `first`.
bool isBehind(LibraryMatmulOp second, LibraryMatmulOp first) {
  const View a = viewOf(first.getViews()[0]), b = viewOf(second.getViews()[0]);
  BufferOp gradient = gradientOf(first), next = gradientOf(second);
  const int64_t stride = first.getLda(), columns = first.getM() + second.getM();
  return a.buffer == b.buffer && b.offset == a.offset + static_cast<int64_t>(first.getM()) &&
         a.offset % stride + columns <= stride &&
         *next.getAt() == *gradient.getAt() + static_cast<uint64_t>(gradient.getBytes()) &&
         viewOf(gradient).element == viewOf(next).element;
}

bool haveSameRest(LibraryMatmulOp first, LibraryMatmulOp second) {
  return first->getBlock() == second->getBlock() && first.getN() == second.getN() &&
         first.getK() == second.getK() && first.getLda() == second.getLda() &&
         first.getLdb() == second.getLdb() && first.getTransposeB() == second.getTransposeB() &&
         first.getElementType() == second.getElementType() &&
         sameElements(viewOf(first.getViews()[1]), viewOf(second.getViews()[1]));
}

/// One product of both, in place of the later one; null where they cannot be one.
LibraryMatmulOp join(LibraryMatmulOp first, LibraryMatmulOp later) {
  if (!haveSameRest(first, later))
    return {};
  const bool inOrder = isBehind(later, first);
  if (!inOrder && !isBehind(first, later))
    return {};
  // The first one goes to where the later one is.
  for (unsigned operand : {0u, 1u})
    if (touchedBetween(first->getNextNode(), later, viewOf(first.getViews()[operand]),
                       /*writesOnly=*/true))
      return {};
  LibraryMatmulOp low = inOrder ? first : later, high = inOrder ? later : first;
  const int64_t rows = low.getM() + high.getM(), columns = low.getN(), depth = low.getK();
  BufferOp gradient = gradientOf(low);
  OpBuilder builder(gradient);
  auto whole =
      BufferOp::create(builder, gradient.getLoc(),
                       MemRefType::get({rows, columns}, viewOf(gradient).element), Space::Gradients,
                       /*name=*/StringAttr(), gradient.getAtAttr(), /*ids=*/IdsAttr());
  View left = viewOf(low.getViews()[0]);
  left.shape = {depth, rows}, left.strides = {static_cast<int64_t>(low.getLda()), 1};
  builder.setInsertionPoint(later);
  auto both = cast<LibraryMatmulOp>(builder.clone(*low));
  both.getViewsMutable()[0].assign(materialize(left, builder));
  both.getViewsMutable()[2].assign(whole);
  both.setM(rows);
  both.setSource(llvm::formatv("{0}, {1}", first.getSource(), later.getSource()).str());
  first.erase(), later.erase();
  return both;
}

struct JoinGradients : impl::JoinGradientsBase<JoinGradients> {
  using JoinGradientsBase::JoinGradientsBase;
  void runOnOperation() override {
    SmallVector<LibraryMatmulOp> products; // none of which can be joined
    for (auto product : llvm::make_early_inc_range(getOperation().getOps<LibraryMatmulOp>())) {
      if (!gradientOf(product))
        continue;
      // What was joined may have another neighbour.
      for (bool isNew = true; isNew;) {
        isNew = false;
        for (size_t i = 0; i < products.size() && !isNew; ++i)
          if (LibraryMatmulOp both = join(products[i], product)) {
            products.erase(products.begin() + static_cast<ptrdiff_t>(i));
            product = both, isNew = true;
            ++numJoined;
          }
      }
      products.push_back(product);
    }
    eraseUnused(getOperation());
  }
};

} // namespace
} // namespace hybrid
