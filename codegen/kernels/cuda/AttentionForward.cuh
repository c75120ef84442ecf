//===- AttentionForward.cuh - softmax attention without a matrix in memory -----------===//
//
// A block owns a tile of queries, a warp 16 of them. Tiles of keys and values pass through shared
// memory; a warp's scores stay in registers as the sums of one product and become an operand of the
// next. The softmax is online, in powers of two. Dao et al. 2022 for the tiles and the
// recomputation; Milakov and Gimelshein 2018 for the online softmax.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/AttentionStore.cuh"

namespace hybrid::cuda {

/// Where a work item stands. The tiles that see most keys come first; the heads that share keys are
/// neighbours.
template <AttentionParams P, typename T> struct AttentionItem {
  int64_t batch, head;
  int tile, slab, split;

  HYBRID_DEVICE AttentionItem(int64_t item, int64_t headCount, int64_t tileCount) {
    constexpr auto slabs = static_cast<uint32_t>(attentionColumns<T>(P) / P.slab),
                   batches = static_cast<uint32_t>(P.batch);
    const auto at = static_cast<uint32_t>(item), heads = static_cast<uint32_t>(headCount),
               tiles = static_cast<uint32_t>(tileCount);
    slab = static_cast<int>(at % slabs * static_cast<uint32_t>(P.slab));
    head = at / slabs % heads;
    batch = at / slabs / heads % batches;
    tile = static_cast<int>(at / slabs / heads / batches % tiles);
    split = static_cast<int>(at / slabs / heads / batches / tiles);
  }
};

template <typename T, AttentionParams P, typename Score = NoFunction, typename Q, typename K,
          typename V, typename O>
HYBRID_DEVICE void attentionForward(int64_t item, Q queryBuffer, K keyBuffer, V valueBuffer,
                                    const int32_t *segments, const T *rotary, const T *queryTerms,
                                    const T *keyTerms, O outputBuffer, T *lse, const T *pastKeys,
                                    const T *pastValues, const T *seen) {
  using First = FirstStreamed<T, P>;
  using Second = SecondStreamed<T, P>;
  constexpr bool preparedFirst = P.preparedFirst != 0, preparedSecond = P.preparedSecond != 0;
  constexpr int rowTile = static_cast<int>(P.rowTile), keyTile = static_cast<int>(P.columnTile);
  constexpr int step = static_cast<int>(attentionStep<T>(P, AttentionPass::Forward));
  constexpr int blocks = step / 8, sums = static_cast<int>(P.slab) / 8;
  constexpr int64_t queryTiles = ceilDiv(P.length, P.rowTile);
  constexpr int buffers = P.ahead ? 2 : 1;
  using Tile = TileOf<P, T>;
  using Element = typename Tile::Element;
  using Seen = Visibility<P>;

  AttentionItem<P, T> at(item, P.heads, queryTiles);
  const int first = static_cast<int>(queryTiles - 1 - at.tile) * rowTile;
  const int64_t kvHead = at.head / (P.heads / P.kvHeads);
  const auto *q =
      headOf<P, Side::Query>(readable<T>(queryBuffer), at.batch, P.length, P.qStride, at.head);
  const auto *k = streamOf<P, Side::Key, preparedFirst, T>(
      readable<First>(keyBuffer), at.batch, P.kvHeads, kvHead, P.keyLength - P.past, P.kStride);
  const auto *v = streamOf<P, Side::Other, preparedSecond, T>(
      readable<Second>(valueBuffer), at.batch, P.kvHeads, kvHead, P.keyLength - P.past, P.vStride);
  auto *o = writable<T>(outputBuffer);
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
  Element *queries = sharedMemory<Element>();
  Element *keys = queries + rowTile * Tile::stride,
          *values = keys + buffers * keyTile * Tile::stride;
  auto startTile = [&](int first, int buffer) {
    Element *ofKeys = keys + buffer * keyTile * Tile::stride,
            *ofValues = values + buffer * keyTile * Tile::stride;
    if constexpr (P.past > 0) {
      constexpr int past = static_cast<int>(P.past);
      startRows<P, keyTile, Seen::keys, Side::Key>(
          ofKeys, RowsBehindRing<T, past>{k, P.kStride, pastKeys, P.kvHeads * P.headSize, oldest},
          first, rotary, 0);
      startRows<P, keyTile, Seen::keys, Side::Other>(
          ofValues,
          RowsBehindRing<T, past>{v, P.vStride, pastValues, P.kvHeads * P.valueSize, oldest}, first,
          rotary, 0);
    } else {
      startStreamed<P, keyTile, Seen::keys, Side::Key, preparedFirst, T>(ofKeys, k, P.kStride,
                                                                         first, rotary, 0);
      startStreamed<P, keyTile, Seen::keys, Side::Other, preparedSecond, T>(ofValues, v, P.vStride,
                                                                            first, rotary, 0);
    }
  };
  clearPadding<P, rowTile, Side::Query, T>(queries);
  clearStreamed<P, buffers * keyTile, Side::Key, preparedFirst, T>(keys);
  clearStreamed<P, buffers * keyTile, Side::Other, preparedSecond, T>(values);
  startRows<P, rowTile, Seen::queries, Side::Query>(queries, EvenRows{q, P.qStride}, first, rotary,
                                                    Seen::shift);

  const int g = rowOfLane(), t = columnOfLane();
  const int warpFirst = first + warpOfThread() * 16, row = warpFirst + g;
  const Element *ownQueries = queries + warpOfThread() * 16 * Tile::stride;
  T output[sums][4];
  clearFragments(output);
  // Scores are multiplied by `factor` on their way to the exponential if that keeps their order,
  // and before otherwise. `top` is the largest of the rows g and g + 8, `sum` this lane's part.
  constexpr bool factorLast = P.score == 0 && P.scale > 0;
  constexpr T factor = static_cast<T>(factorLast ? P.scale * log2OfE : 1.0);
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
  const typename Seen::Range seenKeys[2] = {visibility.keysOf(row), visibility.keysOf(row + 8)};
  const int warpBegin = maximum(visibility.hidden, Seen::firstKey(warpLow)) / step * step,
            warpEnd = warpFirst < Seen::queries ? minimum(end, Seen::endOfKeys(warpHigh)) : 0;
  forTiles<P, Seen::keys>(begin, end, startTile, [&](int tile, int buffer) {
    const int offset = buffer * keyTile - tile;
    const typename Tile::Lane lane;
    const typename Tile::Rows rows(ownQueries, lane);
    HYBRID_NO_UNROLL
    for (int key = maximum(tile, warpBegin); key < minimum(tile + keyTile, warpEnd); key += step) {
      T scores[blocks][4];
      clearFragments(scores);
      Tile::template alongColumns<blocks>(scores, rows, keys + (offset + key) * Tile::stride, lane);
      if constexpr (!factorLast) {
        HYBRID_UNROLL
        for (int block = 0; block < blocks; ++block)
          HYBRID_UNROLL
        for (int i = 0; i < 4; ++i)
          scores[block][i] =
              scoring.logit(scores[block][i], row + i / 2 * 8, key + block * 8 + 2 * t + i % 2);
      }
      if (key < visibility.hidden || !Seen::isWhole(warpLow, warpHigh, key, key + step - 1))
        visibility.template hide<Seen::keysBegin, Seen::keysEnd(step)>(scores, -infinity<T>(),
                                                                       seenKeys, row, key);
      T keep[2];
      HYBRID_UNROLL
      for (int half = 0; half < 2; ++half) {
        T most = top[half];
        HYBRID_UNROLL
        for (int block = 0; block < blocks; ++block)
          most = maximumNumber(most,
                               maximumNumber(scores[block][2 * half], scores[block][2 * half + 1]));
        most = rowMax(most);
        // A query that has seen nothing yet keeps sum 0.
        const T base = most == -infinity<T>() ? T(0) : most * -factor;
        keep[half] = exponential2(multiplyAdd(top[half], factor, base));
        top[half] = most;
        T more = T(0);
        HYBRID_UNROLL
        for (int block = 0; block < blocks; ++block) {
          T(&two)[4] = scores[block];
          two[2 * half] = exponential2(multiplyAdd(two[2 * half], factor, base));
          two[2 * half + 1] = exponential2(multiplyAdd(two[2 * half + 1], factor, base));
          more += two[2 * half] + two[2 * half + 1];
        }
        sum[half] = multiplyAdd(sum[half], keep[half], more);
      }
      if (sums <= 2 || keep[0] != T(1) || keep[1] != T(1)) { // rarely, after the first tiles
        HYBRID_UNROLL
        for (int block = 0; block < sums; ++block)
          HYBRID_UNROLL
        for (int i = 0; i < 4; ++i)
          output[block][i] *= keep[i / 2];
      }
      Tile::template alongRows<sums, blocks>(
          output, scores, values + (offset + key) * Tile::stride + at.slab, lane);
    }
  });

  T inverse[2];
  HYBRID_UNROLL
  for (int half = 0; half < 2; ++half) {
    sum[half] = rowSum(sum[half]);
    inverse[half] = sum[half] == T(0) ? T(0) : T(1) / sum[half];
  }
  // A lane a row.
  const int own = row + t * 8;
  if (at.slab == 0 && t < 2 && own < Seen::queries) {
    const T highest = t == 0 ? top[0] : top[1], all = t == 0 ? sum[0] : sum[1];
    lse[(at.batch * P.heads + at.head) * P.length + own] =
        all == T(0) ? -infinity<T>()
                    : multiplyAdd(highest * factor, static_cast<T>(naturalLogOf2), logarithm(all));
  }
  waitCopies<0>();
  storeRows<P, Side::Other, Tile>(output, inverse[0], inverse[1],
                                  sharedMemory<T>() +
                                      warpOfThread() * 16 * (static_cast<int>(P.slab) + 4),
                                  headOf<P, Side::Other>(o, at.batch, P.length, P.oStride, at.head),
                                  P.oStride, warpFirst, Seen::queries, at.slab, rotary, 0);
}

template <typename T, AttentionPrepareParams P, typename X>
HYBRID_DEVICE void attentionPrepare(int64_t item, X x, const T *rotary,
                                    TileElement<productsOf<T>(P.bf16), T> *out) {
  constexpr AttentionParams A = P.rotation();
  constexpr Side side = P.rotaryDims == 0 ? Side::Other : P.isKey ? Side::Key : Side::Query;
  constexpr int wide = packWidth<T, P.alignment>;
  constexpr int64_t packs = P.columns / wide; // of a row
  constexpr int each = static_cast<int>(attentionPrepareEach<T>(P));
  HYBRID_UNROLL
  for (int part = 0; part < each; ++part) {
    const int64_t pack = (item * each + part) * attentionPrepareThreads + threadIdx.x;
    if (pack >= attentionPreparePacks<T>(P))
      return;
    const int column = static_cast<int>(pack % packs) * wide;
    const int64_t row = pack / packs % P.rows, head = pack / packs / P.rows % P.heads,
                  batch = pack / packs / P.rows / P.heads;
    const auto *from = readable<T>(x) + (batch * P.rows + row) * P.stride + head * P.headSize;
    Pack<T, wide> values;
    HYBRID_UNROLL
    for (int i = 0; i < wide; ++i)
      values[i] = T(0);
    if (column < P.headSize) {
      values = widened<T>(loadPack<wide>(from + column));
      if constexpr (side != Side::Other)
        rotatePack<A, side, false>(values, column, rotary + (row + P.shift) * (2 * P.rotaryDims),
                                   from);
    }
    storeElements(out + pack * wide, values);
  }
}

/// Each part's output counts as much as its keys do in all of them.
template <typename T, AttentionCombineParams P, typename O>
HYBRID_DEVICE void attentionCombine(int64_t item, const T *oParts, const T *lseParts,
                                    O outputBuffer, T *lse) {
  constexpr int64_t rows = P.batch * P.heads * P.length, width = P.heads * P.valueSize;
  const int64_t row = item * attentionCombineRows + warpOfThread(); // of [batch, heads, length]
  if (row >= rows)                                                  // of every lane of the warp
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
  auto *o = writable<T>(outputBuffer) + query * P.oStride + head * P.valueSize;
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
      put(o[column], value);
  }
}

} // namespace hybrid::cuda
