//===- Dispatch.cuh - rows to experts and back ------------------------------===//
#pragma once
#include "codegen/kernels/Dispatch.h"
#include "codegen/kernels/cuda/Rows.cuh"

namespace hybrid::cuda {

/// Elements as another tensor has them in memory.
template <typename To, typename From, int width>
HYBRID_DEVICE Pack<To, width> asMemory(const Pack<From, width> &from) {
  Pack<To, width> to;
  HYBRID_UNROLL
  for (int i = 0; i < width; ++i)
    put(to[i], number(from[i]));
  return to;
}

/// Rows of x to their slots in y, or if `collects`, rows of y from their slots in x. All loads of a
/// few rows, or of a part of a long one, come before stores, behind which they would wait.
template <typename T, DispatchParams P, bool collects, typename From, typename To>
HYBRID_DEVICE void moveRows(int64_t item, const From *x, const int32_t *slots, To *y) {
  using Team = RowTeam<rowBlock, dispatchLanes(P)>;
  constexpr int lanes = static_cast<int>(dispatchLanes(P)), width = rowPack<T>(P.alignment);
  constexpr int packs = static_cast<int>(ceilDiv(P.columns, lanes * width));
  constexpr int rows = static_cast<int>(dispatchRows(P));
  constexpr int most = 4 / rows, together = packs < most ? packs : most;
  constexpr auto count = static_cast<uint32_t>(P.rows), choices = static_cast<uint32_t>(P.choices);
  auto rowOf = [&](int i) {
    return static_cast<uint32_t>((item * rows + i) * Team::count + Team::number());
  };
  uint32_t slot[rows];
  HYBRID_UNROLL
  for (int i = 0; i < rows; ++i)
    slot[i] = rowOf(i) < count ? static_cast<uint32_t>(slots[rowOf(i)]) : count;
  // The one that rows come from and the one that they go to; no slot below 0 is less than `count`.
  auto source = [&](int i) { return collects ? slot[i] : rowOf(i); };
  auto target = [&](int i) { return collects ? rowOf(i) : slot[i]; };
  HYBRID_NO_UNROLL
  for (int first = 0; first < packs; first += together) {
    auto column = [&](int k) { return ((first + k) * lanes + Team::thread()) * width; };
    Pack<From, width> moved[together * rows];
    HYBRID_UNROLL
    for (int k = 0; k < together * rows; ++k) {
      const uint32_t row = source(k % rows);
      const int64_t token = row / choices, choice = row % choices;
      Pack<From, width> &pack = moved[k];
      HYBRID_UNROLL
      for (int i = 0; collects && i < width; ++i)
        put(pack[i], notANumber<T>());
      if (const int at = column(k / rows); at < P.columns && row < count)
        pack = loadPack<width>(x + token * P.tokenStride + choice * P.choiceStride + at);
    }
    HYBRID_UNROLL
    for (int k = 0; k < together * rows; ++k)
      if (const int at = column(k / rows); at < P.columns && target(k % rows) < count)
        storeGlobal(y + target(k % rows) * P.yStride + at, asMemory<To>(moved[k]));
  }
}

template <typename T, DispatchParams P, typename X, typename Y>
HYBRID_DEVICE void dispatch(int64_t item, X x, const int32_t *slots, Y y) {
  moveRows<T, P, false>(item, readable<T>(x), slots, writable<T>(y));
}

template <typename T, DispatchParams P, typename X, typename Y>
HYBRID_DEVICE void collect(int64_t item, X x, const int32_t *slots, Y y) {
  moveRows<T, P, true>(item, readable<T>(x), slots, writable<T>(y));
}

} // namespace hybrid::cuda
