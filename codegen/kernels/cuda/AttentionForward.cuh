//===- AttentionForward.cuh - softmax attention without a matrix in memory -----------===//
//
// A block owns a tile of queries, a warp 16 of them. Tiles of keys and values pass through shared
// memory; a warp's scores stay in registers as the sums of one product and become an operand of the
// next. The softmax is online, in powers of two. Dao et al. 2022 for the tiles and the
// recomputation; Milakov and Gimelshein 2018 for the online softmax.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/AttentionTile.cuh"

namespace hybrid::cuda {

/// Where a work item stands. The tiles that see most keys come first; the heads that share keys are
/// neighbours.
template <AttentionParams P, typename T> struct AttentionItem {
  int64_t batch, head;
  int tile, slab, split;

  HYBRID_DEVICE AttentionItem(int64_t item, int64_t heads, int64_t tiles) {
    constexpr int64_t slabs = attentionColumns<T>(P) / P.slab;
    slab = static_cast<int>(item % slabs * P.slab);
    head = item / slabs % heads;
    batch = item / slabs / heads % P.batch;
    tile = static_cast<int>(item / slabs / heads / P.batch % tiles);
    split = static_cast<int>(item / slabs / heads / P.batch / tiles);
  }
};

template <typename T, AttentionParams P, typename Score = NoFunction>
HYBRID_DEVICE void attentionForward(int64_t item, const T *q, const FirstStreamed<T, P> *k,
                                    const SecondStreamed<T, P> *v, const int32_t *segments,
                                    const T *rotary, const T *queryTerms, const T *keyTerms, T *o,
                                    T *lse, const T *pastKeys, const T *pastValues, const T *seen) {
  constexpr bool preparedFirst = P.preparedFirst != 0, preparedSecond = P.preparedSecond != 0;
  constexpr Products products = productsOf<T>(P.bf16);
  constexpr int columns = static_cast<int>(attentionColumns<T>(P));
  constexpr int rowTile = static_cast<int>(P.rowTile), keyTile = static_cast<int>(P.columnTile);
  constexpr int blocks = keyTile / 8, sums = static_cast<int>(P.slab) / 8;
  constexpr int64_t queryTiles = ceilDiv(P.length, P.rowTile);
  using Tile = TileProduct<products, T, columns>;
  using Element = typename Tile::Element;
  using Seen = Visibility<P>;

  AttentionItem<P, T> at(item, P.heads, queryTiles);
  const int first = static_cast<int>(queryTiles - 1 - at.tile) * rowTile;
  const int64_t kvHead = at.head / (P.heads / P.kvHeads);
  q = headOf<P, Side::Query>(q, at.batch, P.length, P.qStride, at.head);
  k = streamOf<P, Side::Key, preparedFirst, T>(k, at.batch, P.kvHeads, kvHead, P.keyLength - P.past,
                                               P.kStride);
  v = streamOf<P, Side::Other, preparedSecond, T>(v, at.batch, P.kvHeads, kvHead,
                                                  P.keyLength - P.past, P.vStride);
  Seen visibility{P.hasSegments ? segments + at.batch * P.keyLength : nullptr};
  Scoring<T, P, Score> scoring(queryTerms, keyTerms, at.batch, at.head);

  int oldest = 0; // row of the rings
  if constexpr (P.past > 0) {
    const int64_t before = static_cast<int64_t>(seen[at.batch]);
    oldest = static_cast<int>(before % P.past);
    visibility.hidden = before < P.past ? static_cast<int>(P.past - before) : 0;
    scoring.first = seen[at.batch] - static_cast<T>(P.past);
    pastKeys = headOf<P, Side::Key>(pastKeys, at.batch, P.past, P.kvHeads * P.headSize, kvHead);
    pastValues =
        headOf<P, Side::Other>(pastValues, at.batch, P.past, P.kvHeads * P.valueSize, kvHead);
  }
  auto startKeys = [&](Element *tile, int first) {
    if constexpr (P.past > 0)
      startRows<P, keyTile, Side::Key>(tile,
                                       RowsBehindRing<T, static_cast<int>(P.past)>{
                                           k, P.kStride, pastKeys, P.kvHeads * P.headSize, oldest},
                                       first, Seen::keys, rotary, 0);
    else
      startStreamed<P, keyTile, Side::Key, preparedFirst>(tile, k, P.kStride, first, Seen::keys,
                                                          rotary, 0);
  };
  auto startValues = [&](Element *tile, int first) {
    if constexpr (P.past > 0)
      startRows<P, keyTile, Side::Other>(
          tile,
          RowsBehindRing<T, static_cast<int>(P.past)>{v, P.vStride, pastValues,
                                                      P.kvHeads * P.valueSize, oldest},
          first, Seen::keys, rotary, 0);
    else
      startStreamed<P, keyTile, Side::Other, preparedSecond>(tile, v, P.vStride, first, Seen::keys,
                                                             rotary, 0);
  };

  Element *queries = sharedMemory<Element>();
  Element *keys = queries + rowTile * Tile::stride, *values = keys + keyTile * Tile::stride;
  startRows<P, rowTile, Side::Query>(queries, EvenRows<T>{q, P.qStride}, first, Seen::queries,
                                     rotary, Seen::shift);

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
  int end = Seen::endOfKeys(high), begin = maximum(visibility.hidden, Seen::firstKey(low));
  if constexpr (P.keySplits > 1) {
    constexpr int share =
        static_cast<int>(ceilDiv(ceilDiv(P.keyLength, P.columnTile), P.keySplits)) * keyTile;
    begin = maximum(begin, at.split * share), end = minimum(end, (at.split + 1) * share);
    o += at.split * P.batch * P.length * P.oStride;
    lse += at.split * P.batch * P.heads * P.length;
  }
  // Values arrive while scores are computed, the next keys while values are multiplied.
  int s = begin / keyTile * keyTile;
  if (s < end)
    startKeys(keys, s);
  HYBRID_NO_UNROLL
  for (; s < end; s += keyTile) {
    waitCopies<0>();
    blockBarrier();
    startValues(values, s);
    const bool sees = warpFirst < Seen::queries && s < Seen::endOfKeys(warpHigh) &&
                      s + keyTile > Seen::firstKey(warpLow);
    T scores[blocks][4];
    if (sees) {
      clearFragments(scores);
      Tile::template alongColumns<blocks>(scores, ownQueries, keys);
      const bool whole =
          s >= visibility.hidden && Seen::isWhole(warpLow, warpHigh, s, s + keyTile - 1);
      T newTop[2] = {top[0], top[1]};
      HYBRID_UNROLL
      for (int block = 0; block < blocks; ++block)
        HYBRID_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int query = row + i / 2 * 8, key = s + block * 8 + 2 * t + i % 2;
        T score = scoring.logit(scores[block][i], query, key);
        if (!whole && !visibility.seen(query, key))
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
        if (keep != T(1)) { // rarely, after the first tiles
          HYBRID_UNROLL
          for (int block = 0; block < sums; ++block)
            HYBRID_UNROLL
          for (int i = 2 * half; i < 2 * half + 2; ++i)
            output[block][i] *= keep;
        }
      }
    }
    waitCopies<0>();
    blockBarrier();
    if (s + keyTile < end)
      startKeys(keys, s + keyTile);
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
      lse[(at.batch * P.heads + at.head) * P.length + query] =
          sum[half] == T(0)
              ? -infinity<T>()
              : multiplyAdd(top[half], static_cast<T>(naturalLogOf2), logarithm(sum[half]));
  }
  waitCopies<0>();
  blockBarrier();
  storeRows<P, Side::Other, Tile>(output, inverse[0], inverse[1],
                                  sharedMemory<T>() +
                                      warpIndex() * 16 * (static_cast<int>(P.slab) + 4),
                                  headOf<P, Side::Other>(o, at.batch, P.length, P.oStride, at.head),
                                  P.oStride, warpFirst, Seen::queries, at.slab, rotary, 0);
}

template <typename T, AttentionPrepareParams P>
HYBRID_DEVICE void attentionPrepare(int64_t item, const T *x, const T *rotary,
                                    TileElement<productsOf<T>(P.bf16), T> *out) {
  constexpr AttentionParams A = P.rotation();
  constexpr Side side = P.rotaryDims == 0 ? Side::Other : P.isKey ? Side::Key : Side::Query;
  constexpr int wide = packWidth<T, P.alignment>;
  constexpr int64_t packs = P.columns / wide; // of a row
  const int64_t pack = item * attentionPrepareThreads + threadIdx.x;
  if (pack >= P.batch * P.heads * P.rows * packs)
    return;
  const int column = static_cast<int>(pack % packs) * wide;
  const int64_t row = pack / packs % P.rows, head = pack / packs / P.rows % P.heads,
                batch = pack / packs / P.rows / P.heads;
  const T *from = x + (batch * P.rows + row) * P.stride + head * P.headSize;
  Pack<T, wide> values;
  HYBRID_UNROLL
  for (int i = 0; i < wide; ++i)
    values[i] = T(0);
  if (column < P.headSize) {
    values = loadPack<wide>(from + column);
    if constexpr (side != Side::Other) {
      HYBRID_UNROLL
      for (int i = 0; i < wide; ++i)
        values[i] = rotated<A, side, false>(values[i], column + i,
                                            rotary + (row + P.shift) * (2 * P.rotaryDims),
                                            [&](int partner) { return from[partner]; });
    }
  }
  storeElements(out + pack * wide, values);
}

/// Each part's output counts as much as its keys do in all of them.
template <typename T, AttentionCombineParams P>
HYBRID_DEVICE void attentionCombine(int64_t item, const T *oParts, const T *lseParts, T *o,
                                    T *lse) {
  constexpr int64_t rows = P.batch * P.heads * P.length, width = P.heads * P.valueSize;
  const int64_t row = item * attentionCombineRows + warpIndex(); // of [batch, heads, length]
  if (row >= rows)                                               // of every lane of the warp
    return;
  const int64_t query = row / (P.heads * P.length) * P.length + row % P.length,
                head = row / P.length % P.heads;
  // A lane a part.
  static_assert(P.parts <= warpSize);
  const T own = laneIndex() < P.parts ? lseParts[laneIndex() * rows + row] : -infinity<T>();
  const T top = warpMax(own), base = top == -infinity<T>() ? T(0) : top;
  const T power = exponential(own - base), sum = warpSum(power);
  const T weight = sum == T(0) ? T(0) : power / sum;
  if (laneIndex() == 0)
    lse[row] = sum == T(0) ? -infinity<T>() : base + logarithm(sum);
  oParts += query * width + head * P.valueSize;
  o += query * P.oStride + head * P.valueSize;
  HYBRID_NO_UNROLL
  for (int64_t first = 0; first < P.valueSize; first += warpSize) {
    const int64_t column = first + laneIndex();
    T value = T(0);
    HYBRID_NO_UNROLL
    for (int64_t start = 0; start < P.parts; start += 8) {
      T parts[8];
      HYBRID_UNROLL
      for (int i = 0; i < 8; ++i)
        parts[i] = start + i < P.parts && column < P.valueSize
                       ? oParts[(start + i) * P.batch * P.length * width + column]
                       : T(0);
      HYBRID_UNROLL
      for (int i = 0; i < 8; ++i)
        value = multiplyAdd(shuffle(weight, static_cast<int>(start) + i), parts[i], value);
    }
    if (column < P.valueSize)
      o[column] = value;
  }
}

} // namespace hybrid::cuda
