//===- RankParts.h - the parts that ranks have of a value --------------------===//
#pragma once
#include "mlir/IR/Builders.h"

namespace hybrid {

/// A dimension in equal parts, one a rank, in their order.
struct RankParts {
  int64_t ranks;

  /// [..., n, ...] -> [ranks, ..., n / ranks, ...]: part s of `dimension` first.
  mlir::Value apart(mlir::OpBuilder &builder, mlir::Value x, int64_t dimension) const;
  /// Its inverse; `dimension` is that of the result.
  mlir::Value together(mlir::OpBuilder &builder, mlir::Value x, int64_t dimension) const;
  /// This rank's part of what is the same on all of them.
  mlir::Value own(mlir::OpBuilder &builder, mlir::Value x, int64_t dimension) const;
  /// Every rank has a part of `from` and all of `to`; of the result all of `from` and a part of
  /// `to`.
  mlir::Value swap(mlir::OpBuilder &builder, mlir::Value x, int64_t from, int64_t to) const;
  /// Every rank has a part of `dimension`; of the result all have all.
  mlir::Value gather(mlir::OpBuilder &builder, mlir::Value x, int64_t dimension) const;
};

} // namespace hybrid
