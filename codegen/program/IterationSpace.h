//===- IterationSpace.h - what a generated kernel iterates over -------------===//
#pragma once
#include "dialect/schedule/Layout.h"

namespace hybrid {

/// A shape with adjacent dimensions merged where all views allow it, and the strides of the views
/// over it. Never empty: a scalar has one dimension of size 1.
struct IterationSpace {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<llvm::SmallVector<int64_t>> strides; // one a view
};

/// With `keepRows` the last dimension stays by itself, also one of size 1.
IterationSpace collapse(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<View> views,
                        bool keepRows = false);

} // namespace hybrid
