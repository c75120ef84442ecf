//===- TopK.cuh - the places of the largest values --------------------------===//
//
// Repeatedly the first of those behind the last choice: k is small.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/TopK.h"
#include "codegen/kernels/cuda/Rows.cuh"

namespace hybrid::cuda {

/// Does a at place i come before b at place j? Larger first, NaN last, of equals the lower place.
template <typename T> HYBRID_DEVICE bool comesBefore(T a, int i, T b, int j) {
  const bool aIsNumber = a == a, bIsNumber = b == b;
  if (aIsNumber != bIsNumber)
    return aIsNumber;
  return aIsNumber && a != b ? a > b : i < j;
}

/// A value and its place, or none.
template <typename T> struct Placed {
  T value = T(0);
  int place = -1;

  /// Becomes `other` if that comes before it.
  HYBRID_DEVICE void take(const Placed &other) {
    if (other.place >= 0 && (place < 0 || comesBefore(other.value, other.place, value, place)))
      *this = other;
  }
  /// The same, if it comes behind `last` as well.
  HYBRID_DEVICE void take(const Placed &other, const Placed &last) {
    if (last.place < 0 || comesBefore(last.value, last.place, other.value, other.place))
      take(other);
  }
};

/// A row a thread.
template <typename T, TopKParams P>
HYBRID_DEVICE void topKOfThread(int64_t row, const T *x, int32_t *indices) {
  if (row >= P.rows)
    return;
  RowPart<T, P.columns, 1, rowPack<T>(P.alignment)> values;
  values.load(0, x + row * P.xStride);
  Placed<T> last;
  HYBRID_NO_UNROLL
  for (int64_t j = 0; j < P.k; ++j) {
    Placed<T> best;
    values.each(0, [&](int64_t column, int i) {
      best.take({values.values[i], static_cast<int>(column)}, last);
    });
    last = best;
    indices[row * P.k + j] = best.place;
  }
}

/// A row a warp.
template <typename T, TopKParams P>
HYBRID_DEVICE void topKOfWarp(int64_t row, const T *x, int32_t *indices) {
  if (row >= P.rows) // of every lane of the warp
    return;
  x += row * P.xStride;
  Placed<T> last;
  HYBRID_NO_UNROLL
  for (int64_t j = 0; j < P.k; ++j) {
    Placed<T> best;
    HYBRID_NO_UNROLL
    for (int column = laneIndex(); column < P.columns; column += warpSize)
      best.take({x[column], column}, last);
    HYBRID_UNROLL
    for (int mask = warpSize / 2; mask > 0; mask /= 2) {
      const T value = shuffleXor(best.value, mask);
      best.take({value, shuffleXor(best.place, mask)});
    }
    last = best;
    if (laneIndex() == 0)
      indices[row * P.k + j] = best.place;
  }
}

template <typename T, TopKParams P>
HYBRID_DEVICE void topK(int64_t item, const T *x, int32_t *indices) {
  if constexpr (topKByThreads(P))
    topKOfThread<T, P>(item * topKThreads + threadIdx.x, x, indices);
  else
    topKOfWarp<T, P>(item * warpRows + warpIndex(), x, indices);
}

} // namespace hybrid::cuda
