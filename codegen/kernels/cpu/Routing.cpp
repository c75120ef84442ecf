//===- Routing.cpp - choosing experts, and moving rows to them and back -----===//
//
// A few integers a token beside matrix products of thousands of multiplications: written for
// determinism (stable order, no atomics), bound by memory where rows move.
//
//===----------------------------------------------------------------------===//
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

/// Repeatedly the largest that is left: k is small.
template <typename T>
HYBRID_INLINE void top_k(int64_t lo, int64_t hi, void *const *buffers, void *,
                         const TopKParams &params) {
  for (int64_t row = lo; row < hi; ++row) {
    const T *x = static_cast<const T *>(buffers[0]) + row * params.xStride;
    int32_t *chosen = static_cast<int32_t *>(buffers[1]) + row * params.k;
    for (int64_t j = 0; j < params.k; ++j) {
      int64_t best = -1;
      for (int64_t i = 0; i < params.columns; ++i) {
        bool taken = false;
        for (int64_t before = 0; before < j; ++before)
          taken |= chosen[before] == i;
        // A number beats NaN, and whatever stands first beats its equals.
        if (!taken && (best < 0 || x[i] > x[best] || (x[best] != x[best] && x[i] == x[i])))
          best = i;
      }
      chosen[j] = static_cast<int32_t>(best);
    }
  }
}

template <typename T>
HYBRID_INLINE void take(int64_t lo, int64_t hi, void *const *buffers, void *,
                        const TakeParams &params) {
  for (int64_t row = lo; row < hi; ++row) {
    const T *x = static_cast<const T *>(buffers[0]) + row * params.xStride;
    const int32_t *indices = static_cast<const int32_t *>(buffers[1]) + row * params.count;
    T *y = static_cast<T *>(buffers[2]) + row * params.yStride;
    for (int64_t j = 0; j < params.count; ++j) {
      int64_t i = indices[j];
      y[j] = i >= 0 && i < params.columns ? x[i] : static_cast<T>(__builtin_nan(""));
    }
  }
}

template <typename T>
HYBRID_INLINE void scatter(int64_t lo, int64_t hi, void *const *buffers, void *,
                           const TakeParams &params) {
  for (int64_t row = lo; row < hi; ++row) {
    const T *x = static_cast<const T *>(buffers[0]) + row * params.xStride;
    const int32_t *indices = static_cast<const int32_t *>(buffers[1]) + row * params.count;
    T *y = static_cast<T *>(buffers[2]) + row * params.yStride;
    for (int64_t i = 0; i < params.columns; ++i)
      y[i] = T(0);
    for (int64_t j = 0; j < params.count; ++j) {
      int64_t i = indices[j];
      if (i >= 0 && i < params.columns)
        y[i] += x[j];
    }
  }
}

template <typename T>
HYBRID_INLINE void route(int64_t lo, int64_t hi, void *const *buffers, void *scratch,
                         const RouteParams &params) {
  if (lo >= hi)
    return;
  const int32_t *choices = static_cast<const int32_t *>(buffers[0]);
  int32_t *slots = static_cast<int32_t *>(buffers[1]),
          *offsets = static_cast<int32_t *>(buffers[2]);
  // Entry `experts` counts the pairs that nobody takes.
  int64_t *next = static_cast<int64_t *>(scratch), *left = next + params.experts + 1;
  for (int64_t e = 0; e <= params.experts; ++e)
    next[e] = 0, left[e] = params.capacity > 0 ? params.capacity : params.pairs;
  auto expertOf = [&](int64_t pair) {
    int64_t e = choices[pair];
    bool taken = e >= 0 && e < params.experts && left[e] > 0;
    left[taken ? e : params.experts] -= 1;
    return taken ? e : params.experts;
  };
  for (int64_t pair = 0; pair < params.pairs; ++pair)
    ++next[expertOf(pair)];
  int64_t start = 0;
  for (int64_t e = 0; e <= params.experts; ++e) {
    int64_t count = next[e];
    offsets[e] = static_cast<int32_t>(start);
    next[e] = start;
    start += count;
    left[e] = params.capacity > 0 ? params.capacity : params.pairs;
  }
  for (int64_t pair = 0; pair < params.pairs; ++pair)
    slots[pair] = static_cast<int32_t>(next[expertOf(pair)]++);
}

template <typename T> HYBRID_INLINE void copyRow(const T *from, T *to, int64_t columns) {
  for (int64_t c = 0; c < columns; c += lanes<T>) {
    int64_t count = lanesAt<T>(c, columns);
    storePart(to + c, loadPart(from + c, count), count);
  }
}

template <typename T>
HYBRID_INLINE void dispatch(int64_t lo, int64_t hi, void *const *buffers, void *,
                            const DispatchParams &params) {
  const int32_t *slots = static_cast<const int32_t *>(buffers[1]);
  for (int64_t row = lo; row < hi; ++row) {
    int64_t slot = slots[row];
    if (slot < 0 || slot >= params.rows)
      continue;
    const T *x = static_cast<const T *>(buffers[0]) + row / params.choices * params.tokenStride +
                 row % params.choices * params.choiceStride;
    copyRow(x, static_cast<T *>(buffers[2]) + slot * params.yStride, params.columns);
  }
}

template <typename T>
HYBRID_INLINE void collect(int64_t lo, int64_t hi, void *const *buffers, void *,
                           const DispatchParams &params) {
  const int32_t *slots = static_cast<const int32_t *>(buffers[1]);
  for (int64_t row = lo; row < hi; ++row) {
    int64_t slot = slots[row];
    T *y = static_cast<T *>(buffers[2]) + row * params.yStride;
    if (slot >= 0 && slot < params.rows)
      copyRow(static_cast<const T *>(buffers[0]) + slot * params.tokenStride, y, params.columns);
    else
      for (int64_t c = 0; c < params.columns; ++c)
        y[c] = static_cast<T>(__builtin_nan(""));
  }
}

} // namespace

HYBRID_KERNEL(top_k, TopKParams)
HYBRID_KERNEL(take, TakeParams)
HYBRID_KERNEL(scatter, TakeParams)
HYBRID_KERNEL(route, RouteParams)
HYBRID_KERNEL(dispatch, DispatchParams)
HYBRID_KERNEL(collect, DispatchParams)
