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
#include "passes/FoldPatterns.h"
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

/// Puts the convolution, with one operand more, where its only user stood: the operand may be
/// computed after the convolution.
void absorb(BinaryOp user, FFTConvOp conv, MutableOperandRange (FFTConvOp::*operand)(), Value value,
            PatternRewriter &rewriter) {
  rewriter.setInsertionPoint(user);
  auto fused = cast<FFTConvOp>(rewriter.clone(*conv));
  (fused.*operand)().assign(value);
  fused->setLoc(rewriter.getFusedLoc({conv.getLoc(), user.getLoc()}));
  rewriter.replaceOp(user, fused.getResult());
  rewriter.eraseOp(conv);
}

/// fftconv(a * g, h) -> fftconv(a, h) gate_in(g), where the product has no other use.
struct FoldGateIn : CountedPattern<FFTConvOp> {
  using CountedPattern::CountedPattern;
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
struct FoldGateOut final : FoldBinary<BinaryKind::Mul> {
  using FoldBinary::FoldBinary;
  bool fold(BinaryOp product, Value convolved, Value gate,
            PatternRewriter &rewriter) const override {
    auto conv = convolved.getDefiningOp<FFTConvOp>();
    if (!conv || conv.getGateOut() || conv.getReturnState() || !conv->hasOneUse() ||
        gate.getType() != convolved.getType())
      return false;
    absorb(product, conv, &FFTConvOp::getGateOutMutable, gate, rewriter);
    return true;
  }
};

/// fftconv(x, h) + d * x -> fftconv(x, h) skip(d), where d has one value a channel.
struct FoldSkip final : FoldBinary<BinaryKind::Add> {
  using FoldBinary::FoldBinary;
  bool fold(BinaryOp sum, Value convolved, Value skipped,
            PatternRewriter &rewriter) const override {
    auto conv = convolved.getDefiningOp<FFTConvOp>();
    BinaryOp product = productOf(skipped);
    if (!conv || !product || conv.getSkip() || conv.getGateIn() || conv.getGateOut() ||
        conv.getReturnState() || !conv->hasOneUse())
      return false;
    bool xFirst = product.getLhs() == conv.getX();
    Value skip = xFirst ? product.getRhs() : product.getLhs();
    if ((!xFirst && product.getRhs() != conv.getX()) ||
        shapeOf(skip) != ArrayRef(lastSize(conv.getX())))
      return false;
    absorb(sum, conv, &FFTConvOp::getSkipMutable, skip, rewriter);
    return true;
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
