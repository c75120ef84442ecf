//===- FuseScanGates.cpp - step, skip and gate into the selective scan ------===//
//
// Patterns of hybrid-fuse-gates (FuseGates.cpp).
//
//===----------------------------------------------------------------------===//
#include "passes/FuseScanGates.h"
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

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

struct Counted {
  Pass::Statistic &numFused;
};

/// dt = softplus(v) -> dt = v, dt_softplus.
struct FoldSoftplus : OpRewritePattern<SelectiveScanOp>, Counted {
  FoldSoftplus(MLIRContext *context, Pass::Statistic &statistic)
      : OpRewritePattern(context), Counted{statistic} {}
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
struct FoldStepBias : OpRewritePattern<SelectiveScanOp>, Counted {
  FoldStepBias(MLIRContext *context, Pass::Statistic &statistic)
      : OpRewritePattern(context), Counted{statistic} {}
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
struct FoldSkip : OpRewritePattern<BinaryOp>, Counted {
  FoldSkip(MLIRContext *context, Pass::Statistic &statistic)
      : OpRewritePattern(context), Counted{statistic} {}
  LogicalResult matchAndRewrite(BinaryOp sum, PatternRewriter &rewriter) const override {
    if (sum.getKind() != BinaryKind::Add)
      return rewriter.notifyMatchFailure(sum, "no sum");
    for (auto [left, right] :
         {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())}) {
      auto scan = soleUse<SelectiveScanOp>(left);
      auto product = right.getDefiningOp<BinaryOp>();
      if (!scan || scan.getSkip() || scan.getGate() || left != scan.getResult() || !product ||
          product.getKind() != BinaryKind::Mul)
        continue;
      bool xFirst = product.getLhs() == scan.getX();
      Value skip = xFirst ? product.getRhs() : product.getLhs();
      if ((!xFirst && product.getRhs() != scan.getX()) || !isPerChannel(skip, scan) ||
          !makeAvailable(skip, scan, sum, rewriter))
        continue;
      absorb(sum, scan, scan.getSkipMutable(), skip, rewriter);
      ++numFused;
      return success();
    }
    return rewriter.notifyMatchFailure(sum, "no skip of a scan");
  }
};

/// scan(x) * silu(z) -> scan(x) gate(z).
struct FoldGate : OpRewritePattern<BinaryOp>, Counted {
  FoldGate(MLIRContext *context, Pass::Statistic &statistic)
      : OpRewritePattern(context), Counted{statistic} {}
  LogicalResult matchAndRewrite(BinaryOp product, PatternRewriter &rewriter) const override {
    if (product.getKind() != BinaryKind::Mul)
      return rewriter.notifyMatchFailure(product, "no product");
    for (auto [left, right] : {std::pair(product.getLhs(), product.getRhs()),
                               std::pair(product.getRhs(), product.getLhs())}) {
      auto scan = soleUse<SelectiveScanOp>(left);
      auto gate = soleUse<UnaryOp>(right);
      if (!scan || scan.getGate() || left != scan.getResult() || !gate ||
          gate.getKind() != UnaryKind::Silu || gate.getX().getType() != left.getType() ||
          !makeAvailable(gate.getX(), scan, product, rewriter))
        continue;
      absorb(product, scan, scan.getGateMutable(), gate.getX(), rewriter);
      ++numFused;
      return success();
    }
    return rewriter.notifyMatchFailure(product, "no scan to gate");
  }
};

} // namespace

void hybrid::addScanGatePatterns(RewritePatternSet &patterns, Pass::Statistic &numFused) {
  patterns.add<FoldSoftplus, FoldStepBias, FoldSkip, FoldGate>(patterns.getContext(), numFused);
}
