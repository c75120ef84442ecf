//===- BlockProducts.h - products of square blocks of vectors -------------===//
//
// Matrices of a kernel's own memory in square blocks, as many rows as a vector has lanes, one
// behind the other. A block of a product stays in registers, one a row, and the left block is read
// element by element at constant distances. Every function is compiled once for all its uses.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "Transpose.h"

namespace hybrid::cpu {

template <typename T> constexpr int64_t blockSize = lanes<T> * lanes<T>;

/// How a product reads its left blocks.
enum class Left { Plain, Transposed };

/// Blocks that lie at a distance from one another, in elements.
template <typename T> struct Blocks {
  const T *first;
  int64_t step = 0;
};

/// to = start, each row times its factor, + the sum of left times right over `count` blocks. Start
/// may be `to`, or null for zero; factors may be null for 1.
template <Left form, typename T>
HYBRID_NOINLINE void multiplyBlocks(T *to, const T *start, const T *factors, Blocks<T> left,
                                    Blocks<T> right, int64_t count = 1) {
  Vector<T> sum[lanes<T>];
  HYBRID_UNROLL
  for (int64_t i = 0; i < lanes<T>; ++i)
    sum[i] = start ? load(start + i * lanes<T>) : splat(T(0));
  if (factors) {
    HYBRID_UNROLL
    for (int64_t i = 0; i < lanes<T>; ++i)
      sum[i] *= factors[i];
  }
  for (int64_t n = 0; n < count; ++n) {
    const T *of = left.first + n * left.step, *with = right.first + n * right.step;
    for (int64_t p = 0; p < lanes<T>; ++p) {
      const Vector<T> row = load(with + p * lanes<T>);
      HYBRID_UNROLL
      for (int64_t i = 0; i < lanes<T>; ++i)
        sum[i] += of[form == Left::Plain ? i * lanes<T> + p : p * lanes<T> + i] * row;
    }
  }
  HYBRID_UNROLL
  for (int64_t i = 0; i < lanes<T>; ++i)
    store(to + i * lanes<T>, sum[i]);
}

/// to = start (or zero) + left times right, of which the left block is zero above its diagonal; or,
/// transposed, below.
template <Left form, typename T>
HYBRID_NOINLINE void multiplyTriangle(T *to, const T *start, const T *left, const T *right) {
  Vector<T> sum[lanes<T>];
  HYBRID_UNROLL
  for (int64_t i = 0; i < lanes<T>; ++i)
    sum[i] = start ? load(start + i * lanes<T>) : splat(T(0));
  HYBRID_UNROLL
  for (int64_t p = 0; p < lanes<T>; ++p) {
    const Vector<T> row = load(right + p * lanes<T>);
    HYBRID_UNROLL
    for (int64_t i = 0; i < lanes<T>; ++i)
      if (form == Left::Plain ? p <= i : p >= i)
        sum[i] += left[form == Left::Plain ? i * lanes<T> + p : p * lanes<T> + i] * row;
  }
  HYBRID_UNROLL
  for (int64_t i = 0; i < lanes<T>; ++i)
    store(to + i * lanes<T>, sum[i]);
}

template <typename T> HYBRID_NOINLINE void transposeBlock(T *to, const T *from) {
  Vector<T> block[lanes<T>];
  HYBRID_UNROLL
  for (int64_t i = 0; i < lanes<T>; ++i)
    block[i] = load(from + i * lanes<T>);
  transpose<T>(block);
  HYBRID_UNROLL
  for (int64_t i = 0; i < lanes<T>; ++i)
    store(to + i * lanes<T>, block[i]);
}

/// Solves (I - A) X = X in place, for a block A that is zero on its diagonal and above; or, with A
/// transposed, on that and below.
template <Left form, typename T> HYBRID_NOINLINE void solveBlock(const T *a, T *x) {
  Vector<T> row[lanes<T>];
  HYBRID_UNROLL
  for (int64_t i = 0; i < lanes<T>; ++i)
    row[i] = load(x + i * lanes<T>);
  HYBRID_UNROLL
  for (int64_t step = 0; step < lanes<T>; ++step) {
    const int64_t known = form == Left::Plain ? step : lanes<T> - 1 - step;
    HYBRID_UNROLL
    for (int64_t other = step + 1; other < lanes<T>; ++other) {
      const int64_t i = form == Left::Plain ? other : lanes<T> - 1 - other;
      row[i] += a[form == Left::Plain ? i * lanes<T> + known : known * lanes<T> + i] * row[known];
    }
  }
  HYBRID_UNROLL
  for (int64_t i = 0; i < lanes<T>; ++i)
    store(x + i * lanes<T>, row[i]);
}

} // namespace hybrid::cpu
