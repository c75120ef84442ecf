//===- ShareRepeats.cpp - repeated channels share what lies there -----------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "passes/Passes.h"
#include "passes/Sums.h"

namespace hybrid {
#define GEN_PASS_DEF_SHAREREPEATS
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

/// Whether it is of one value with itself, along the channels.
bool repeatsChannels(ConcatOp concat) {
  return concat.getParts().size() > 1 && llvm::all_equal(concat.getParts()) &&
         static_cast<size_t>(concat.getAxis()) + 1 == shapeOf(concat.getResult()).size();
}

/// Whether the operand's reader can read repeats where they lie.
bool readsRepeats(OpOperand &operand) {
  auto forward = dyn_cast<ShortConvOp>(operand.getOwner());
  auto gradient = dyn_cast<ShortConvGradOp>(operand.getOwner());
  return (forward && &operand == &forward.getXMutable()) ||
         (gradient && &operand == &gradient.getXMutable());
}

/// The concatenation of one value with itself that a gradient's input is, where it may have that
/// value's gradient in place of its own; null if it may not.
ConcatOp repeatedInput(ShortConvGradOp gradient) {
  auto concat = gradient.getX().getDefiningOp<ConcatOp>();
  return concat && repeatsChannels(concat) && !gradient.getInitialState() &&
                 !gradient.getStateCotangent()
             ? concat
             : nullptr;
}

struct ShareRepeats : hybrid::impl::ShareRepeatsBase<ShareRepeats> {
  using ShareRepeatsBase::ShareRepeatsBase;

  void runOnOperation() override {
    for (BinaryOp sum : wholeSums(getOperation()))
      replace(sum);
    for (ConcatOp concat : llvm::make_early_inc_range(getOperation().getOps<ConcatOp>()))
      if (repeatsChannels(concat) && llvm::all_of(concat->getUses(), readsRepeats))
        read(concat);
  }

private:
  void read(ConcatOp concat) {
    OpBuilder builder(concat);
    auto repeat = RepeatChannelsOp::create(
        builder, concat.getLoc(), concat.getParts().front(),
        builder.getI64IntegerAttr(static_cast<int64_t>(concat.getParts().size())));
    concat.replaceAllUsesWith(repeat.getResult());
    concat.erase();
    ++numRead;
  }

  /// The parts of a gradient, if all are terms, leave a sum, and the gradient that is their sum
  /// comes in.
  void replace(BinaryOp sum) {
    SmallVector<Value> terms, rest;
    collectTerms(sum, terms);
    llvm::SmallDenseSet<Operation *> summed;
    for (Value term : terms) {
      auto split = term.getDefiningOp<SplitOp>();
      if (split && summed.contains(split))
        continue;
      if (ShortConvGradOp gradient = split ? gradientOfRepeats(split, terms) : nullptr) {
        summed.insert(split);
        term = sumOfParts(gradient);
      }
      rest.push_back(term);
    }
    if (summed.empty())
      return;
    OpBuilder builder(sum);
    Value result = rest.front();
    for (Value term : ArrayRef(rest).drop_front())
      result = BinaryOp::create(builder, sum.getLoc(), BinaryKind::Add, result, term);
    sum.replaceAllUsesWith(result);
    eraseDead(sum.getOperation());
    numSummed += summed.size();
  }

  /// The gradient that is split into those of its input's repeats, all of them terms and nothing
  /// else; null if it is not.
  static ShortConvGradOp gradientOfRepeats(SplitOp split, ArrayRef<Value> terms) {
    auto gradient = split.getX().getDefiningOp<ShortConvGradOp>();
    if (!gradient || split.getX() != gradient.getDx() || !gradient.getDx().hasOneUse())
      return nullptr;
    ConcatOp concat = repeatedInput(gradient);
    if (!concat || split.getAxis() != concat.getAxis() ||
        split.getParts().size() != concat.getParts().size())
      return nullptr;
    const Type type = concat.getParts().front().getType();
    const bool all = llvm::all_of(split.getParts(), [&](Value part) {
      return part.hasOneUse() && part.getType() == type && llvm::is_contained(terms, part);
    });
    return all ? gradient : nullptr;
  }

  static Value sumOfParts(ShortConvGradOp gradient) {
    OpBuilder builder(gradient);
    auto summed = ShortConvGradOp::create(
        builder, gradient.getLoc(), repeatedInput(gradient).getParts().front(),
        gradient.getWeight(), gradient.getSegments(), Value(), gradient.getCotangent(), Value());
    gradient.getDweight().replaceAllUsesWith(summed.getDweight());
    gradient.getDbias().replaceAllUsesWith(summed.getDbias());
    return summed.getDx();
  }
};

} // namespace
