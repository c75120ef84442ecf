//===- Attention.cuh - softmax attention without a matrix in memory -----------===//
//
// A block owns a tile of queries, a warp 16 of them. Tiles of keys and values pass through shared
// memory; a warp's scores stay in registers as the sums of one product and become an operand of the
// next. The softmax is online, in powers of two. Dao et al. 2022 for the tiles and the
// recomputation; Milakov and Gimelshein 2018 for the online softmax.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/cuda/kernels/AttentionTile.cuh"

namespace hybrid::cuda {

/// Where a work item stands. The tiles that see most keys come first; the heads that share keys are
/// neighbours.
template <AttentionTiles P, typename T> struct AttentionItem {
  static constexpr AttentionParams A = P.attention();
  int64_t batch, head;
  int tile, slab;

  HYBRID_DEVICE AttentionItem(int64_t item, int64_t heads, int64_t tiles) {
    constexpr int64_t slabs = attentionColumns<T>(P) / P.slab;
    slab = static_cast<int>(item % slabs * P.slab);
    head = item / slabs % heads;
    batch = item / slabs / heads % A.batch;
    tile = static_cast<int>(item / slabs / heads / A.batch);
  }
};

template <typename T, AttentionTiles P>
HYBRID_DEVICE void attentionForward(int64_t item, const T *q, const T *k, const T *v,
                                    const int32_t *segments, const T *rotary, T *o, T *lse) {
  constexpr AttentionParams A = P.attention();
  constexpr Products products = productsOf<T>(P.bf16);
  constexpr int columns = static_cast<int>(attentionColumns<T>(P));
  constexpr int rowTile = static_cast<int>(P.rowTile), keyTile = static_cast<int>(P.columnTile);
  constexpr int blocks = keyTile / 8, sums = static_cast<int>(P.slab) / 8;
  constexpr int64_t queryTiles = ceilDiv(A.length, P.rowTile);
  using Tile = TileProduct<products, T, columns>;
  using Element = typename Tile::Element;
  using Seen = Visibility<A>;

  AttentionItem<P, T> at(item, A.heads, queryTiles);
  const int first = static_cast<int>(queryTiles - 1 - at.tile) * rowTile;
  const int64_t kvHead = at.head / (A.heads / A.kvHeads);
  q = headOf<A>(q, at.batch, A.length, A.qStride, at.head);
  k = headOf<A>(k, at.batch, A.keyLength, A.kStride, kvHead);
  v = headOf<A>(v, at.batch, A.keyLength, A.vStride, kvHead);
  const Seen visibility{A.hasSegments ? segments + at.batch * A.keyLength : nullptr};

  Element *queries = sharedMemory<Element>();
  Element *keys = queries + rowTile * Tile::stride, *values = keys + keyTile * Tile::stride;
  startRows<P, rowTile, Side::Query>(queries, q, A.qStride, first, Seen::queries, rotary,
                                     Seen::shift);

  const int lane = laneIndex(), g = lane / 4, t = lane % 4;
  const int warpFirst = first + warpIndex() * 16, row = warpFirst + g;
  const Element *ownQueries = queries + warpIndex() * 16 * Tile::stride;
  T output[sums][4];
  clearFragments(output);
  // Of the rows g and g + 8; `sum` is this lane's part.
  T top[2] = {-infinity<T>(), -infinity<T>()}, sum[2] = {T(0), T(0)};

  const int low = Seen::position(first);
  const int high = Seen::position(minimum(first + rowTile, Seen::queries) - 1);
  const int warpLow = Seen::position(warpFirst), warpHigh = warpLow + 15;
  const int end = Seen::endOfKeys(high);
  // Values arrive while scores are computed, the next keys while values are multiplied.
  int s = Seen::firstKey(low) / keyTile * keyTile;
  if (s < end)
    startRows<P, keyTile, Side::Key>(keys, k, A.kStride, s, Seen::keys, rotary, 0);
  HYBRID_NO_UNROLL
  for (; s < end; s += keyTile) {
    waitCopies<0>();
    blockBarrier();
    startRows<P, keyTile, Side::Other>(values, v, A.vStride, s, Seen::keys, rotary, 0);
    const bool sees = warpFirst < Seen::queries && s < Seen::endOfKeys(warpHigh) &&
                      s + keyTile > Seen::firstKey(warpLow);
    T scores[blocks][4];
    if (sees) {
      clearFragments(scores);
      Tile::template alongColumns<blocks>(scores, ownQueries, keys);
      const bool whole = Seen::isWhole(warpLow, warpHigh, s, s + keyTile - 1);
      T newTop[2] = {top[0], top[1]};
      HYBRID_UNROLL
      for (int block = 0; block < blocks; ++block)
        HYBRID_UNROLL
      for (int i = 0; i < 4; ++i) {
        T score = scores[block][i] * static_cast<T>(A.scale * log2OfE);
        if (!whole && !visibility.seen(row + i / 2 * 8, s + block * 8 + 2 * t + i % 2))
          score = -infinity<T>();
        scores[block][i] = score;
        newTop[i / 2] = maximum(newTop[i / 2], score);
      }
      HYBRID_UNROLL
      for (int half = 0; half < 2; ++half) {
        newTop[half] = rowMax(newTop[half]);
        // A query that has seen nothing yet keeps sum 0.
        const T base = newTop[half] == -infinity<T>() ? T(0) : newTop[half];
        const T keep = exponential2(top[half] - base);
        top[half] = newTop[half];
        T more = T(0);
        HYBRID_UNROLL
        for (int block = 0; block < blocks; ++block)
          HYBRID_UNROLL
        for (int i = 2 * half; i < 2 * half + 2; ++i) {
          scores[block][i] = exponential2(scores[block][i] - base);
          more += scores[block][i];
        }
        sum[half] = multiplyAdd(sum[half], keep, more);
        HYBRID_UNROLL
        for (int block = 0; block < sums; ++block)
          HYBRID_UNROLL
        for (int i = 2 * half; i < 2 * half + 2; ++i)
          output[block][i] *= keep;
      }
    }
    waitCopies<0>();
    blockBarrier();
    if (s + keyTile < end)
      startRows<P, keyTile, Side::Key>(keys, k, A.kStride, s + keyTile, Seen::keys, rotary, 0);
    if (sees)
      Tile::template alongRows<sums, blocks>(output, scores, values + at.slab);
  }

  T inverse[2];
  HYBRID_UNROLL
  for (int half = 0; half < 2; ++half) {
    sum[half] = rowSum(sum[half]);
    inverse[half] = sum[half] == T(0) ? T(0) : T(1) / sum[half];
    const int query = row + half * 8;
    if (at.slab == 0 && t == 0 && query < Seen::queries)
      lse[(at.batch * A.heads + at.head) * A.length + query] =
          sum[half] == T(0)
              ? -infinity<T>()
              : multiplyAdd(top[half], static_cast<T>(naturalLogOf2), logarithm(sum[half]));
  }
  waitCopies<0>();
  blockBarrier();
  storeRows<P, Side::Other, Tile>(output, inverse[0], inverse[1],
                                  sharedMemory<T>() +
                                      warpIndex() * 16 * (static_cast<int>(P.slab) + 4),
                                  headOf<A>(o, at.batch, A.length, A.oStride, at.head), A.oStride,
                                  warpFirst, Seen::queries, at.slab, rotary, 0);
}

} // namespace hybrid::cuda
