//===- JoinProducts.cpp - a sum of products as one product ------------------===//
//
// What several projections read gets a gradient from each of them, and these are added up: a wide
// result goes through memory once for every projection. Side by side, the operands are those of one
// product, whose sums are complete when they are stored.
//
//===----------------------------------------------------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "passes/Passes.h"
#include "passes/Sums.h"

namespace hybrid {
#define GEN_PASS_DEF_JOINPRODUCTS
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

/// Contracted sizes are whole stretches of 16 bytes, so that operands side by side are aligned, and
/// not so few that kernels in front could no longer store such rows.
constexpr int64_t alignedSize = 8, leastSize = 16;

/// The product of rounded activations with rounded weights that a term is and nothing else uses;
/// null for any other term. Its activations can be computed where they lie beside others.
MatmulOp joinable(Value term) {
  auto product = term.getDefiningOp<MatmulOp>();
  if (!product || !product->hasOneUse() || product.getTransposeA() || product.getTransposeB() ||
      shapeOf(product.getB()).size() != 2)
    return nullptr;
  auto activations = product.getA().getDefiningOp<RoundOp>(),
       weights = product.getB().getDefiningOp<RoundOp>();
  if (!activations || !weights || lastSize(activations.getX()) % alignedSize != 0 ||
      lastSize(activations.getX()) < leastSize || !weights.getX().getDefiningOp<ParameterOp>())
    return nullptr;
  auto made = dyn_cast<OpResult>(activations.getX());
  if (!made || made.getOwner()->hasTrait<ViewOfOperand>() ||
      isa<ConcatOp, ParameterOp>(made.getOwner()))
    return nullptr;
  auto reads = dyn_cast<ReadsResultsOp>(made.getOwner());
  return reads && reads.isReadInFull(made.getResultNumber()) ? nullptr : product;
}

bool isConcatenated(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) { return isa<ConcatOp>(user); });
}

struct JoinProducts : hybrid::impl::JoinProductsBase<JoinProducts> {
  using JoinProductsBase::JoinProductsBase;

  void runOnOperation() override {
    for (BinaryOp sum : wholeSums(getOperation()))
      join(sum);
  }

private:
  void join(BinaryOp sum) {
    SmallVector<Value> terms, others;
    SmallVector<MatmulOp> products;
    llvm::DenseSet<Value> taken; // a value lies in one place
    collectTerms(sum, terms);
    for (Value term : terms) {
      MatmulOp product = joinable(term);
      auto round = product ? product.getA().getDefiningOp<RoundOp>() : nullptr;
      if (!product || isConcatenated(round.getX()) || isConcatenated(product.getB()) ||
          taken.contains(round.getX()) || taken.contains(product.getB())) {
        others.push_back(term);
        continue;
      }
      products.push_back(product);
      taken.insert(round.getX()), taken.insert(product.getB());
    }
    if (products.size() < 2)
      return;
    // As parameters lie: so do their gradients, which may then be one product, too (JoinGradients).
    llvm::sort(products, [](MatmulOp a, MatmulOp b) {
      return parameterOf(a)->isBeforeInBlock(parameterOf(b));
    });
    SmallVector<Value> activations, weights;
    SmallVector<RoundOp> rounded;
    SmallVector<int64_t> sizes;
    for (MatmulOp product : products) {
      rounded.push_back(product.getA().getDefiningOp<RoundOp>());
      activations.push_back(rounded.back().getX());
      weights.push_back(product.getB());
      sizes.push_back(lastSize(rounded.back().getX()));
    }
    // As soon as all are there, so that gradients of weights need not wait for the sum.
    Operation *last = nullptr;
    for (Value value : activations)
      if (Operation *made = value.getDefiningOp(); !last || last->isBeforeInBlock(made))
        last = made;
    OpBuilder builder(sum.getContext());
    builder.setInsertionPointAfter(last);
    const Location loc = sum.getLoc();
    const auto axis = static_cast<int64_t>(shapeOf(activations.front()).size()) - 1;
    Value whole = ConcatOp::create(builder, loc, activations, axis);
    auto all =
        RoundOp::create(builder, loc, tensorOf(shapeOf(whole), builder.getBF16Type()), whole);
    auto parts = SplitOp::create(builder, loc, all.getResult(), axis, sizes);
    for (auto [round, part] : llvm::zip(rounded, parts.getParts()))
      round.getResult().replaceUsesWithIf(
          part, [&](OpOperand &use) { return canFollow(use.getOwner(), parts); });
    builder.setInsertionPoint(sum);
    Value result = MatmulOp::create(builder, loc, sum.getType(), all.getResult(),
                                    ConcatOp::create(builder, loc, weights, 0).getResult());
    for (Value term : others)
      result = BinaryOp::create(builder, loc, BinaryKind::Add, result, term);
    sum.replaceAllUsesWith(result);
    eraseUnused(sum);
    for (RoundOp round : rounded)
      if (round.use_empty())
        round.erase();
    numJoined += activations.size();
  }

  static ParameterOp parameterOf(MatmulOp product) {
    return product.getB().getDefiningOp<RoundOp>().getX().getDefiningOp<ParameterOp>();
  }

  /// Whether `user` is behind `op`, or what uses it is, so that it can be moved there, as it is.
  static bool canFollow(Operation *user, Operation *op) {
    if (user->getBlock() != op->getBlock())
      return false;
    if (op->isBeforeInBlock(user))
      return true;
    if (!llvm::all_of(user->getUsers(), [&](Operation *next) {
          return next->getBlock() == op->getBlock() && op->isBeforeInBlock(next);
        }))
      return false;
    user->moveAfter(op);
    return true;
  }

  /// The sum, the sums inside, and the products that nothing else used.
  void eraseUnused(Operation *op) {
    if (!op->use_empty() || !isa<BinaryOp, MatmulOp>(op))
      return;
    SmallVector<Value> operands(op->getOperands());
    op->erase();
    for (Value operand : operands)
      if (Operation *made = operand.getDefiningOp(); made && operand.use_empty())
        eraseUnused(made);
  }
};

} // namespace
