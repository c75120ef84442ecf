//===- FuseGates.cpp - gates and skip into the long convolution -------------===//
//
// Runs before differentiation: the convolution's own gradient covers gates and skip, so the
// backward pass is fused as well without patterns of its own. FuseScanGates.cpp does the same for
// the selective scan.
//
//===----------------------------------------------------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/FuseScanGates.h"
#include "passes/Passes.h"

namespace hybrid {
#define GEN_PASS_DEF_FUSEGATES
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

BinaryOp productOf(Value value) {
  auto product = value.getDefiningOp<BinaryOp>();
  return product && product.getKind() == BinaryKind::Mul ? product : nullptr;
}

struct Counted {
  mlir::Pass::Statistic &numFused;
};

/// fftconv(a * g, h) -> fftconv(a, h) gate_in(g), where the product has no other use.
struct FoldGateIn : OpRewritePattern<FFTConvOp>, Counted {
  FoldGateIn(MLIRContext *context, mlir::Pass::Statistic &statistic)
      : OpRewritePattern(context), Counted{statistic} {}
  LogicalResult matchAndRewrite(FFTConvOp conv, PatternRewriter &rewriter) const override {
    BinaryOp product = productOf(conv.getX());
    if (!product || conv.getGateIn())
      return rewriter.notifyMatchFailure(conv, "its input is no product, or it has a gate already");
    if (!product->hasOneUse())
      return rewriter.notifyMatchFailure(conv, "the product has a second use");
    Type type = conv.getX().getType();
    if (product.getLhs().getType() != type || product.getRhs().getType() != type)
      return rewriter.notifyMatchFailure(conv, "the gate is broadcast");
    rewriter.modifyOpInPlace(conv, [&] {
      conv.getXMutable().assign(product.getLhs());
      conv.getGateInMutable().assign(product.getRhs());
      conv->setLoc(rewriter.getFusedLoc({product.getLoc(), conv.getLoc()}));
    });
    ++numFused;
    return success();
  }
};

/// fftconv(x, h) * g -> fftconv(x, h) gate_out(g), where the convolution has no other use.
struct FoldGateOut : OpRewritePattern<BinaryOp>, Counted {
  FoldGateOut(MLIRContext *context, mlir::Pass::Statistic &statistic)
      : OpRewritePattern(context), Counted{statistic} {}
  LogicalResult matchAndRewrite(BinaryOp product, PatternRewriter &rewriter) const override {
    if (product.getKind() != BinaryKind::Mul)
      return rewriter.notifyMatchFailure(product, "no product");
    for (auto [convolved, gate] : {std::pair(product.getLhs(), product.getRhs()),
                                   std::pair(product.getRhs(), product.getLhs())}) {
      auto conv = convolved.getDefiningOp<FFTConvOp>();
      if (!conv || conv.getGateOut() || conv.getReturnState() || !conv->hasOneUse() ||
          gate.getType() != convolved.getType())
        continue;
      // The gate may be computed after the convolution: the fused op stands where the product
      // stood.
      rewriter.setInsertionPoint(product);
      auto fused = cast<FFTConvOp>(rewriter.clone(*conv));
      fused.getGateOutMutable().assign(gate);
      fused->setLoc(rewriter.getFusedLoc({conv.getLoc(), product.getLoc()}));
      rewriter.replaceOp(product, fused.getResult());
      rewriter.eraseOp(conv);
      ++numFused;
      return success();
    }
    return rewriter.notifyMatchFailure(product, "no convolution to gate");
  }
};

/// fftconv(x, h) + d * x -> fftconv(x, h) skip(d), where d has one value a channel.
struct FoldSkip : OpRewritePattern<BinaryOp>, Counted {
  FoldSkip(MLIRContext *context, mlir::Pass::Statistic &statistic)
      : OpRewritePattern(context), Counted{statistic} {}
  LogicalResult matchAndRewrite(BinaryOp sum, PatternRewriter &rewriter) const override {
    if (sum.getKind() != BinaryKind::Add)
      return rewriter.notifyMatchFailure(sum, "no sum");
    for (auto [left, right] :
         {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())}) {
      auto conv = left.getDefiningOp<FFTConvOp>();
      BinaryOp product = productOf(right);
      if (!conv || !product || conv.getSkip() || conv.getGateIn() || conv.getGateOut() ||
          conv.getReturnState() || !conv->hasOneUse())
        continue;
      bool xFirst = product.getLhs() == conv.getX();
      Value skip = xFirst ? product.getRhs() : product.getLhs();
      if ((!xFirst && product.getRhs() != conv.getX()) ||
          shapeOf(skip) != ArrayRef(lastSize(conv.getX())))
        continue;
      rewriter.setInsertionPoint(sum);
      auto fused = cast<FFTConvOp>(rewriter.clone(*conv));
      fused.getSkipMutable().assign(skip);
      fused->setLoc(rewriter.getFusedLoc({conv.getLoc(), sum.getLoc()}));
      rewriter.replaceOp(sum, fused.getResult());
      rewriter.eraseOp(conv);
      ++numFused;
      return success();
    }
    return rewriter.notifyMatchFailure(sum, "no skip of a convolution");
  }
};

struct FuseGates : hybrid::impl::FuseGatesBase<FuseGates> {
  using FuseGatesBase::FuseGatesBase;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldSkip, FoldGateIn, FoldGateOut>(&getContext(), numFused);
    addScanGatePatterns(patterns, numFused);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
