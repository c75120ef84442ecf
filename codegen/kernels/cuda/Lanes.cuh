//===- Lanes.cuh - vectors of shared memory, sums of many values over lanes -===//
#pragma once
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// Reads `count` contiguous values, as vectors where count allows: `from` is then aligned.
template <int count, typename T> HYBRID_DEVICE void readVectors(const T *from, T (&to)[count]) {
  constexpr int size = 16 / static_cast<int>(sizeof(T));
  if constexpr (count % size == 0) {
    HYBRID_UNROLL
    for (int i = 0; i < count; i += size) {
      const Pack<T, size> vector = loadPack<size>(from + i);
      HYBRID_UNROLL
      for (int j = 0; j < size; ++j)
        to[i + j] = vector[j];
    }
  } else {
    HYBRID_UNROLL
    for (int i = 0; i < count; ++i)
      to[i] = from[i];
  }
}
/// Writes `count` contiguous values as vectors.
template <int count, typename T> HYBRID_DEVICE void writeVectors(T *to, const T (&from)[count]) {
  constexpr int size = 16 / static_cast<int>(sizeof(T));
  static_assert(count % size == 0);
  HYBRID_UNROLL
  for (int i = 0; i < count; i += size) {
    Pack<T, size> vector;
    HYBRID_UNROLL
    for (int j = 0; j < size; ++j)
      vector[j] = from[i + j];
    storePack(to + i, vector);
  }
}

/// As many of `count` values as fit in 16 bytes.
template <typename T, int count>
constexpr int vectorSize = count * sizeof(T) < 16 ? count : 16 / static_cast<int>(sizeof(T));

/// Writes values of each thread, and reads them again: vectors of `threads` threads next to each
/// other. `to` and `from` are where those of all threads begin; count is a power of two.
template <int threads, int count, typename T>
HYBRID_DEVICE void storeByThreads(const T (&values)[count], T *to, int thread) {
  constexpr int size = vectorSize<T, count>;
  HYBRID_UNROLL
  for (int i = 0; i < count / size; ++i) {
    Pack<T, size> vector;
    HYBRID_UNROLL
    for (int j = 0; j < size; ++j)
      vector[j] = values[i * size + j];
    storePack(to + (i * threads + thread) * size, vector);
  }
}
template <int threads, int count, typename T>
HYBRID_DEVICE void loadByThreads(const T *from, int thread, T (&values)[count]) {
  constexpr int size = vectorSize<T, count>;
  HYBRID_UNROLL
  for (int i = 0; i < count / size; ++i) {
    const Pack<T, size> vector = loadPack<size>(from + (i * threads + thread) * size);
    HYBRID_UNROLL
    for (int j = 0; j < size; ++j)
      values[i * size + j] = vector[j];
  }
}

/// Sums each of the first `count` values (a power of two) over the 2 * mask lanes that differ in
/// the low bits only. They are folded into one another, so that it takes count - 1 exchanges and
/// not a multiple: afterwards lane l of the group has in values[0], ... the sums of the values from
/// foldedValue() on, count / (2 * mask) of them, at least one.
template <int count, int mask = warpSize / 2, typename T, int size>
HYBRID_DEVICE void foldLanes(T (&values)[size]) {
  if constexpr (mask > 0 && count > 1) { // recursion, so that every index is a constant
    constexpr int half = count / 2;
    const bool upper = (laneIndex() & mask) != 0;
    HYBRID_UNROLL
    for (int i = 0; i < half; ++i) {
      const T mine = upper ? values[i + half] : values[i],
              others = upper ? values[i] : values[i + half];
      values[i] = mine + shuffleXor(others, mask);
    }
    foldLanes<half, mask / 2>(values);
  } else if constexpr (mask > 0) {
    values[0] += shuffleXor(values[0], mask);
    foldLanes<1, mask / 2>(values);
  }
}
/// The first value whose sum lane l of a group of `lanes` has after foldLanes, and whether it is
/// the first lane that has it.
template <int count, int lanes> HYBRID_DEVICE int foldedValue(int lane) {
  if constexpr (count >= lanes)
    return lane * (count / lanes);
  else
    return lane / (lanes / count);
}
template <int count, int lanes> HYBRID_DEVICE bool hasFoldedValue(int lane) {
  if constexpr (count >= lanes)
    return true;
  else
    return lane % (lanes / count) == 0;
}

} // namespace hybrid::cuda
