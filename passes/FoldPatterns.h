//===- FoldPatterns.h - patterns that count what they fold -------------------===//
#pragma once
#include "dialect/HybridOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace hybrid {

/// A pattern of a pass that counts in `numFused`.
template <typename Op> struct CountedPattern : mlir::OpRewritePattern<Op> {
  CountedPattern(mlir::MLIRContext *context, mlir::Pass::Statistic &statistic)
      : mlir::OpRewritePattern<Op>(context), numFused(statistic) {}
  mlir::Pass::Statistic &numFused;
};

/// Folds a sum or product into the op that computes one of its operands, whichever that is.
template <BinaryKind kind> struct FoldBinary : CountedPattern<BinaryOp> {
  using CountedPattern::CountedPattern;

  llvm::LogicalResult matchAndRewrite(BinaryOp op, mlir::PatternRewriter &rewriter) const final {
    if (op.getKind() != kind)
      return rewriter.notifyMatchFailure(op, "another function");
    if (!fold(op, op.getLhs(), op.getRhs(), rewriter) &&
        !fold(op, op.getRhs(), op.getLhs(), rewriter))
      return rewriter.notifyMatchFailure(op, "no operand's op takes the other operand");
    ++numFused;
    return llvm::success();
  }

protected:
  /// Folds `op` into what computes `into`; false, with nothing changed, where that cannot be.
  virtual bool fold(BinaryOp op, mlir::Value into, mlir::Value other,
                    mlir::PatternRewriter &rewriter) const = 0;
};

} // namespace hybrid
