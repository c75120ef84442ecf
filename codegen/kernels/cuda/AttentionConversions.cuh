//===- AttentionConversions.cuh - what is done to heads in memory -------------===//
//
// A thread converts a few neighbours of a row of a head, in the order of the side in f32, or turns
// a pair of channels back.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/AttentionConversions.h"
#include "codegen/kernels/cuda/AttentionTile.cuh"

namespace hybrid::cuda {

/// Which tensor of attention a conversion is of.
template <AttentionConversion P> constexpr Side sideOf() {
  return P.side == static_cast<int64_t>(AttentionSide::Query) ? Side::Query
         : P.side == static_cast<int64_t>(AttentionSide::Key) ? Side::Key
                                                              : Side::Other;
}

/// Where a thread stands; `there` is false behind the last element.
template <AttentionConversion P> struct ConvertedPack {
  static constexpr int wide = static_cast<int>(attentionConversionWidth(P));
  static constexpr Side side = sideOf<P>();
  bool there;
  int column;            // in the head
  int64_t byRow, byHead; // of the row of the head, in [batch, rows, heads] and [batch, heads, rows]
  int64_t position;

  HYBRID_DEVICE explicit ConvertedPack(int64_t item) {
    constexpr int64_t packs = P.headSize / wide, rows = P.batch * P.rows * P.heads;
    const int64_t pack = item * attentionConversionThreads + threadIdx.x, at = pack / packs,
                  head = at % P.heads, row = at / P.heads % P.rows, batch = at / P.heads / P.rows;
    there = at < rows;
    column = static_cast<int>(pack % packs) * wide;
    byRow = (batch * P.rows + row) * P.stride + head * P.headSize;
    byHead = ((batch * P.heads + head) * P.rows + row) * P.headSize;
    position = row + P.shift;
  }

  /// `own`, the element at `column` + i, rotated; `read` gives others of its row by their columns.
  template <bool back, typename T, typename Read>
  HYBRID_DEVICE T element(T own, int i, const T *rotary, Read &&read) const {
    if constexpr (side == Side::Other)
      return own;
    else
      return rotated<P.rotation(), side, back>(own, column + i,
                                               rotary + position * (2 * P.rotaryDims), read);
  }
};

template <typename T, AttentionConversion P, typename X>
HYBRID_DEVICE void attentionRound(int64_t item, X x, const T *rotary, bf16 *out) {
  using At = ConvertedPack<P>;
  const At at(item);
  if (!at.there)
    return;
  const auto *from = readable<T>(x) + at.byRow;
  const auto loaded = loadPack<At::wide>(from + at.column);
  Pack<T, At::wide> values;
  HYBRID_UNROLL
  for (int i = 0; i < At::wide; ++i)
    values[i] = at.template element<false>(T(number(loaded[i])), i, rotary,
                                           [&](int column) { return T(number(from[column])); });
  storeElements(out + at.byHead + at.column, values);
}

template <typename T, AttentionConversion P, typename Out>
HYBRID_DEVICE void attentionWiden(int64_t item, const bf16 *x, const T *rotary, Out out) {
  using At = ConvertedPack<P>;
  const At at(item);
  if (!at.there)
    return;
  const bf16 *from = x + at.byHead;
  Pack<ElementOf<T, Out>, At::wide> values;
  HYBRID_UNROLL
  for (int i = 0; i < At::wide; ++i)
    put(values[i],
        at.template element<true>(T(fromBf16(from[at.column + i])), i, rotary,
                                  [&](int column) { return T(fromBf16(from[column])); }));
  storePack(writable<T>(out) + at.byRow + at.column, values);
}

template <typename T, AttentionConversion P, typename X>
HYBRID_DEVICE void attentionRotateBack(int64_t item, const T *rotary, X x) {
  constexpr int64_t half = P.rotaryDims / 2;
  const int64_t pair = item * attentionConversionThreads + threadIdx.x, at = pair / half,
                head = at % P.heads, row = at / P.heads % P.rows, batch = at / P.heads / P.rows;
  if (batch >= P.batch)
    return;
  auto *own = writable<T>(x) + (batch * P.rows + row) * P.stride + head * P.headSize;
  const T *angles = rotary + (row + P.shift) * (2 * P.rotaryDims);
  const int columns[2] = {static_cast<int>(pair % half), static_cast<int>(pair % half + half)};
  const T values[2] = {T(number(own[columns[0]])), T(number(own[columns[1]]))};
  HYBRID_UNROLL
  for (int i = 0; i < 2; ++i)
    put(own[columns[i]], rotated<P.rotation(), sideOf<P>(), true>(
                             values[i], columns[i], angles, [&](int) { return values[1 - i]; }));
}

} // namespace hybrid::cuda
