//===- FuseScanGates.cpp - step, skip and gate into the selective scan ------===//
//
// Patterns of hybrid-fuse-gates (FuseGates.cpp).
//
//===----------------------------------------------------------------------===//
#include "passes/FuseScanGates.h"
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "passes/FoldPatterns.h"

using namespace mlir;
using namespace hybrid;

namespace {

/// The op that computes `value`, if it is an Op and has no other use.
template <typename Op> Op soleUse(Value value) {
  auto op = value.getDefiningOp<Op>();
  return op && value.hasOneUse() ? op : nullptr;
}

bool isPerChannel(Value value, SelectiveScanOp scan) {
  return shapeOf(value) == ArrayRef(lastSize(scan.getX()));
}

/// Makes `operand` available to the scan, whose result is used by `user` alone: the scan moves down
/// to its user when it must and can. A final state that is used keeps it in its place.
bool makeAvailable(Value operand, SelectiveScanOp scan, Operation *user,
                   PatternRewriter &rewriter) {
  Operation *definition = operand.getDefiningOp();
  if (!definition || definition->getBlock() != scan->getBlock() ||
      definition->isBeforeInBlock(scan))
    return true;
  if (scan.getFinalState() && !scan.getFinalState().use_empty())
    return false;
  rewriter.moveOpBefore(scan, user);
  return true;
}

/// Sets an operand of the scan that stands for what `replaced` computed from the scan's result.
void absorb(BinaryOp replaced, SelectiveScanOp scan, MutableOperandRange operand, Value value,
            PatternRewriter &rewriter) {
  rewriter.modifyOpInPlace(scan, [&] {
    operand.assign(value);
    scan->setLoc(rewriter.getFusedLoc({scan.getLoc(), replaced.getLoc()}));
  });
  rewriter.replaceOp(replaced, scan.getResult());
}

/// dt = softplus(v) -> dt = v, dt_softplus.
struct FoldSoftplus : CountedPattern<SelectiveScanOp> {
  using CountedPattern::CountedPattern;
  LogicalResult matchAndRewrite(SelectiveScanOp scan, PatternRewriter &rewriter) const override {
    auto step = soleUse<UnaryOp>(scan.getDt());
    if (!step || step.getKind() != UnaryKind::Softplus || scan.getDtSoftplus() || scan.getDtBias())
      return rewriter.notifyMatchFailure(scan, "its step is no softplus of one use");
    rewriter.modifyOpInPlace(scan, [&] {
      scan.getDtMutable().assign(step.getX());
      scan.setDtSoftplus(true);
      scan->setLoc(rewriter.getFusedLoc({step.getLoc(), scan.getLoc()}));
    });
    rewriter.eraseOp(step);
    ++numFused;
    return success();
  }
};

/// dt = v + bias, or a projection with a bias -> dt = v, dt_bias.
struct FoldStepBias : CountedPattern<SelectiveScanOp> {
  using CountedPattern::CountedPattern;
  LogicalResult matchAndRewrite(SelectiveScanOp scan, PatternRewriter &rewriter) const override {
    if (scan.getDtBias())
      return rewriter.notifyMatchFailure(scan, "it has a bias");
    if (auto linear = soleUse<LinearOp>(scan.getDt()); linear && linear.getBias()) {
      rewriter.setInsertionPoint(linear);
      auto plain =
          LinearOp::create(rewriter, linear.getLoc(), linear.getX(), linear.getWeight(), Value());
      return fold(scan, linear, plain.getResult(), linear.getBias(), rewriter);
    }
    auto sum = soleUse<BinaryOp>(scan.getDt());
    if (!sum || sum.getKind() != BinaryKind::Add)
      return rewriter.notifyMatchFailure(scan, "its step is no sum of one use");
    for (auto [step, bias] :
         {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())})
      if (step.getType() == scan.getX().getType() && isPerChannel(bias, scan))
        return fold(scan, sum, step, bias, rewriter);
    return rewriter.notifyMatchFailure(scan, "the sum is of no value a channel");
  }

  LogicalResult fold(SelectiveScanOp scan, Operation *step, Value dt, Value bias,
                     PatternRewriter &rewriter) const {
    rewriter.modifyOpInPlace(scan, [&] {
      scan.getDtMutable().assign(dt);
      scan.getDtBiasMutable().assign(bias);
    });
    rewriter.eraseOp(step);
    ++numFused;
    return success();
  }
};

/// scan(x) + d * x -> scan(x) skip(d), where d has one value a channel.
struct FoldSkip final : FoldBinary<BinaryKind::Add> {
  using FoldBinary::FoldBinary;
  bool fold(BinaryOp sum, Value scanned, Value skipped, PatternRewriter &rewriter) const override {
    auto scan = soleUse<SelectiveScanOp>(scanned);
    auto product = skipped.getDefiningOp<BinaryOp>();
    if (!scan || scan.getSkip() || scan.getGate() || scanned != scan.getResult() || !product ||
        product.getKind() != BinaryKind::Mul)
      return false;
    bool xFirst = product.getLhs() == scan.getX();
    Value skip = xFirst ? product.getRhs() : product.getLhs();
    if ((!xFirst && product.getRhs() != scan.getX()) || !isPerChannel(skip, scan) ||
        !makeAvailable(skip, scan, sum, rewriter))
      return false;
    absorb(sum, scan, scan.getSkipMutable(), skip, rewriter);
    return true;
  }
};

/// scan(x) * silu(z) -> scan(x) gate(z).
struct FoldGate final : FoldBinary<BinaryKind::Mul> {
  using FoldBinary::FoldBinary;
  bool fold(BinaryOp product, Value scanned, Value gating,
            PatternRewriter &rewriter) const override {
    auto scan = soleUse<SelectiveScanOp>(scanned);
    auto gate = soleUse<UnaryOp>(gating);
    if (!scan || scan.getGate() || scanned != scan.getResult() || !gate ||
        gate.getKind() != UnaryKind::Silu || gate.getX().getType() != scanned.getType() ||
        !makeAvailable(gate.getX(), scan, product, rewriter))
      return false;
    absorb(product, scan, scan.getGateMutable(), gate.getX(), rewriter);
    return true;
  }
};

} // namespace

void hybrid::addScanGatePatterns(RewritePatternSet &patterns, Pass::Statistic &numFused) {
  patterns.add<FoldSoftplus, FoldStepBias, FoldSkip, FoldGate>(patterns.getContext(), numFused);
}
