//===- Transpose.h - rows of memory to lanes and back ---------------------===//
//
// Attention and nothing else needs lanes that run over rows (queries or keys) instead of channels.
// Square blocks of vectors are transposed by exchanging ever larger sub-blocks of pairs.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "Activation.h"
#include <utility>

namespace hybrid::cpu {

/// Lanes whose bit `step` is clear from a, the others from b, `step` lanes further down.
template <typename T, int step, std::size_t... lane>
HYBRID_INLINE Vector<T> lowHalves(Vector<T> a, Vector<T> b, std::index_sequence<lane...>) {
  constexpr int width = lanes<T>;
  return __builtin_shufflevector(a, b,
                                 (int(lane) & step ? int(lane) - step + width : int(lane))...);
}
template <typename T, int step, std::size_t... lane>
HYBRID_INLINE Vector<T> highHalves(Vector<T> a, Vector<T> b, std::index_sequence<lane...>) {
  constexpr int width = lanes<T>;
  return __builtin_shufflevector(a, b,
                                 (int(lane) & step ? int(lane) + width : int(lane) + step)...);
}

template <typename T, int step> HYBRID_INLINE void exchange(Vector<T> *block) {
  using Lanes = std::make_index_sequence<lanes<T>>;
  HYBRID_UNROLL
  for (int i = 0; i < lanes<T>; ++i)
    if (!(i & step)) {
      Vector<T> a = block[i], b = block[i + step];
      block[i] = lowHalves<T, step>(a, b, Lanes());
      block[i + step] = highHalves<T, step>(a, b, Lanes());
    }
}

/// Lane j of vector i becomes lane i of vector j.
template <typename T> HYBRID_INLINE void transpose(Vector<T> *block) {
  exchange<T, 1>(block);
  exchange<T, 2>(block);
  exchange<T, 4>(block);
  if constexpr (lanes<T> == 16)
    exchange<T, 8>(block);
}

template <typename T, int step> HYBRID_INLINE void addHalves(Vector<T> *block) {
  using Lanes = std::make_index_sequence<lanes<T>>;
  HYBRID_UNROLL
  for (int i = 0; i < lanes<T> / step; i += 2)
    block[i / 2] = lowHalves<T, step>(block[i], block[i + 1], Lanes()) +
                   highHalves<T, step>(block[i], block[i + 1], Lanes());
}

/// Lane i is the sum of the lanes of vector i. The vectors are spent.
template <typename T> HYBRID_INLINE Vector<T> sumsOfLanes(Vector<T> *block) {
  addHalves<T, 1>(block);
  addHalves<T, 2>(block);
  addHalves<T, 4>(block);
  if constexpr (lanes<T> == 16)
    addHalves<T, 8>(block);
  return block[0];
}

/// out[column][row] = in[row * stride + column] for rows < lanes; rows from `rows` on give zero.
/// `in` is plain memory or an activation.
template <typename T, typename Rows>
HYBRID_NOINLINE void loadTransposed(T *out, Rows in, int64_t stride, int64_t rows,
                                    int64_t columns) {
  for (int64_t c = 0; c < columns; c += lanes<T>) {
    int64_t count = minimum(lanes<T>, columns - c);
    Vector<T> block[lanes<T>];
    HYBRID_UNROLL
    for (int64_t i = 0; i < lanes<T>; ++i)
      block[i] = i < rows ? loadPart(in + (i * stride + c), count) : splat(T(0));
    transpose<T>(block);
    HYBRID_UNROLL
    for (int64_t i = 0; i < lanes<T>; ++i)
      if (i < count)
        store<T>(out + (c + i) * lanes<T>, block[i]);
  }
}

/// The inverse: the first `rows` lanes of each of the `columns` vectors of `in`.
template <typename T, typename Rows>
HYBRID_NOINLINE void storeTransposed(Rows out, int64_t stride, const T *in, int64_t rows,
                                     int64_t columns) {
  for (int64_t c = 0; c < columns; c += lanes<T>) {
    int64_t count = minimum(lanes<T>, columns - c);
    Vector<T> block[lanes<T>];
    HYBRID_UNROLL
    for (int64_t i = 0; i < lanes<T>; ++i)
      block[i] = i < count ? load<T>(in + (c + i) * lanes<T>) : splat(T(0));
    transpose<T>(block);
    HYBRID_UNROLL
    for (int64_t i = 0; i < lanes<T>; ++i)
      if (i < rows)
        storePart(out + (i * stride + c), block[i], count);
  }
}

} // namespace hybrid::cpu
