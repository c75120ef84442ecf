//===- AttentionVisibility.h - which keys a query sees --------------------===//
#pragma once
#include "Vector.h"
#include "codegen/kernels/Attention.h"

namespace hybrid::cpu {

/// Who sees whom.
template <typename T> struct Visibility {
  const AttentionParams &params;
  const int32_t *segments; // of this batch row
  int64_t hidden = 0;      // keys at the start that there are not yet

  /// Query t has position t + keyLength - length.
  int64_t position(int64_t t) const { return t + params.keyLength - params.length; }

  /// Keys [first, end) hold every key that queries at positions [low, high] see.
  int64_t firstKey(int64_t low) const {
    return maximum(hidden, params.window >= 0 ? low - params.window : 0);
  }
  int64_t endOfKeys(int64_t high) const {
    int64_t last = params.keyLength - 1;
    if (params.causal)
      last = minimum(last, high);
    else if (params.window >= 0)
      last = minimum(last, high + params.window);
    return last + 1;
  }

  /// Does each query at positions [low, high] see each key of the block that starts at `first`?
  bool isWhole(int64_t low, int64_t high, int64_t first) const {
    int64_t last = first + lanes<T> - 1;
    if (params.hasSegments || last >= params.keyLength || first < hidden)
      return false;
    if (params.causal && last > low)
      return false;
    if (params.window < 0)
      return true;
    return first >= high - params.window && (params.causal || last <= low + params.window);
  }

  Integers<T> seen(Integers<T> positions, Integers<T> keys, Integers<T> querySegments,
                   Integers<T> keySegments) const {
    using Integer = typename VectorTraits<T>::Integer;
    Integers<T> mask = keys < static_cast<Integer>(params.keyLength);
    if (params.past)
      mask &= keys >= static_cast<Integer>(hidden);
    if (params.causal)
      mask &= keys <= positions;
    if (params.window >= 0) {
      mask &= keys >= positions - static_cast<Integer>(params.window);
      if (!params.causal)
        mask &= keys <= positions + static_cast<Integer>(params.window);
    }
    if (params.hasSegments)
      mask &= querySegments == keySegments;
    return mask;
  }

  int64_t segmentOf(int64_t row) const {
    return params.hasSegments ? segments[minimum(row, params.keyLength - 1)] : 0;
  }
  Integers<T> segmentsFrom(int64_t first) const {
    Integers<T> ids = 0;
    if (params.hasSegments)
      for (int64_t i = 0; i < lanes<T>; ++i)
        ids[i] = static_cast<typename VectorTraits<T>::Integer>(segmentOf(first + i));
    return ids;
  }
};

template <typename T> HYBRID_INLINE Integers<T> countFrom(int64_t first) {
  return VectorTraits<T>::laneNumbers + static_cast<typename VectorTraits<T>::Integer>(first);
}
template <typename T> HYBRID_INLINE Integers<T> every(int64_t value) {
  return (Integers<T>)(static_cast<typename VectorTraits<T>::Integer>(value));
}

} // namespace hybrid::cpu
