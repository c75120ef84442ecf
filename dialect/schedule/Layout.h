//===- Layout.h - where a tensor lies ---------------------------------------===//
//
// A view: buffer, element offset, shape and strides. Slices, splits, transposes, broadcasts and
// reshapes of dense tensors are views and cost nothing; a kernel asks for the form it can read and
// gets a copy only when the view has another one.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace hybrid {

/// Row-major strides of a dense tensor, in elements.
llvm::SmallVector<int64_t> denseStrides(llvm::ArrayRef<int64_t> shape);

struct View {
  mlir::Value buffer; // null: there is none
  int64_t offset = 0; // elements
  llvm::SmallVector<int64_t> shape, strides;
  mlir::Type element;

  bool isPresent() const { return !!buffer; }
  bool isDense() const;
  int64_t elements() const;
  /// Elements of a row: the last dimension; a scalar is a row of one.
  int64_t columns() const { return shape.empty() ? 1 : shape.back(); }
  /// Elements from the first to the last one touched.
  int64_t extent() const;
  /// The common distance between consecutive rows (all dimensions but the last), when columns are
  /// contiguous and rows are equally spaced.
  std::optional<int64_t> rowStride() const;

  View transposed(llvm::ArrayRef<int64_t> permutation) const;
  View sliced(llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> sizes) const;
  /// Aligned at the last dimension; repeated dimensions get stride 0.
  View broadcastTo(llvm::ArrayRef<int64_t> target) const;
  /// Nothing when the elements do not lie so that a view can do it.
  std::optional<View> reshaped(llvm::ArrayRef<int64_t> target) const;
};

/// Bytes of one element.
int64_t bytesOf(mlir::Type element);

} // namespace hybrid
