//===- ProductParts.h - a matrix product as parts that threads take -----------===//
#pragma once
#include "runtime/cpu/Matmul.h"

namespace hybrid::rt {

/// A stretch of one dimension of C.
struct Stretch {
  int64_t first = 0, size = 0;
};

/// [0, size) in stretches of `step`, the last of which may be shorter.
struct Division {
  int64_t size = 0, step = 1;
  int64_t count() const { return (size + step - 1) / step; }
  Stretch operator[](int64_t index) const {
    return {index * step, index + 1 < count() ? step : size - index * step};
  }
};

/// How C is divided: products of the batch, rows, columns.
struct ProductParts {
  Division batch, rows, columns;
  int64_t count() const { return batch.count() * rows.count() * columns.count(); }

  /// Parts that take some tens of microseconds each, a number that 2, 4 and 8 threads share
  /// evenly where there are that many; one when the product is small. Of a grouped product, only
  /// rows of C are divided.
  static ProductParts of(const MatmulShape &shape);
  /// One part (for each group's sum, of a grouped product).
  static ProductParts whole(const MatmulShape &shape);
};

} // namespace hybrid::rt
