//===- TopK.cuh - the places of the largest values --------------------------===//
#pragma once
#include "codegen/kernels/TopK.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// Does a at place i come before b at place j? Larger first, NaN last, of equals the lower place.
template <typename T> HYBRID_DEVICE bool comesBefore(T a, int i, T b, int j) {
  const bool aIsNumber = a == a, bIsNumber = b == b;
  if (aIsNumber != bIsNumber)
    return aIsNumber;
  return aIsNumber && a != b ? a > b : i < j;
}

/// Repeatedly the first of those behind the last choice: k is small.
template <typename T, TopKParams P>
HYBRID_DEVICE void topK(int64_t item, const T *x, int32_t *indices) {
  constexpr int columns = static_cast<int>(P.columns), none = columns;
  const int64_t row = item * warpRows + warpIndex();
  if (row >= P.rows) // of every lane of the warp
    return;
  x += row * P.xStride;
  T last = T(0);
  int lastPlace = -1;
  HYBRID_NO_UNROLL
  for (int64_t j = 0; j < P.k; ++j) {
    T best = T(0);
    int place = none;
    HYBRID_NO_UNROLL
    for (int column = laneIndex(); column < columns; column += warpSize) {
      const T value = x[column];
      if ((lastPlace < 0 || comesBefore(last, lastPlace, value, column)) &&
          (place == none || comesBefore(value, column, best, place)))
        best = value, place = column;
    }
    HYBRID_UNROLL
    for (int mask = warpSize / 2; mask > 0; mask /= 2) {
      const T other = shuffleXor(best, mask);
      const int otherPlace = shuffleXor(place, mask);
      if (otherPlace != none && (place == none || comesBefore(other, otherPlace, best, place)))
        best = other, place = otherPlace;
    }
    last = best, lastPlace = place;
    if (laneIndex() == 0)
      indices[row * P.k + j] = place;
  }
}

} // namespace hybrid::cuda
