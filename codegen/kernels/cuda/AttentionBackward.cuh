//===- AttentionBackward.cuh - gradients of softmax attention -----------------===//
//
// Scores are computed again from the log of their sum: once in a pass whose blocks own queries, for
// dq, and once in a pass whose blocks own keys, for dk and dv. Each sum has one owner, so that the
// order of addition is fixed, and 7 products instead of 5 need no exchange between blocks. In both
// a warp owns 16 rows, and the gradients of its scores stay in registers. Dao et al. 2022.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/AttentionForward.cuh"
#include "codegen/kernels/cuda/Lanes.cuh"

namespace hybrid::cuda {

/// Sums over the columns of o do for the 16 rows of a warp: of rows g and g + 8 for each lane.
template <AttentionParams A, typename T, typename O, typename DO>
HYBRID_DEVICE void rowDeltas(T (&deltas)[2], const O *o, const DO *dO, int first, int count) {
  constexpr int size = static_cast<int>(A.valueSize), wide = packWidth<T, A.alignment>;
  const int g = rowOfLane(), t = columnOfLane();
  HYBRID_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int64_t row = minimum(first + g + half * 8, count - 1) * A.oStride;
    T sum = T(0);
    HYBRID_UNROLL
    for (int start = 0; start < size; start += 4 * wide) {
      const int column = start + t * wide, there = minimum(column, size - wide);
      const auto left = widened<T>(loadPack<wide>(o + row + there)),
                 right = widened<T>(loadPack<wide>(dO + row + there));
      T more = T(0);
      HYBRID_UNROLL
      for (int i = 0; i < wide; ++i)
        more = multiplyAdd(left[i], right[i], more);
      sum += column < size ? more : T(0);
    }
    deltas[half] = rowSum(sum);
  }
}

template <typename T, AttentionParams P, typename Score = NoFunction,
          typename ScoreGradient = NoFunction, typename Q, typename K, typename V, typename O,
          typename DO, typename DQ>
HYBRID_DEVICE void attentionBackwardQueries(int64_t item, Q queryBuffer, K keyBuffer, V valueBuffer,
                                            const int32_t *segments, const T *rotary,
                                            const T *queryTerms, const T *keyTerms, O outputBuffer,
                                            const T *lse, DO cotangentBuffer, const T *dLse,
                                            DQ gradientBuffer, T *statistics, T *dQueryTerms) {
  using First = FirstStreamed<T, P>;
  using Second = SecondStreamed<T, P>;
  constexpr bool preparedFirst = P.preparedFirst != 0, preparedSecond = P.preparedSecond != 0;
  constexpr int rowTile = static_cast<int>(P.rowTile), keyTile = static_cast<int>(P.columnTile);
  constexpr int step = static_cast<int>(attentionStep<T>(P, AttentionPass::BackwardQueries));
  constexpr int blocks = step / 8, sums = static_cast<int>(P.slab) / 8, buffers = P.ahead ? 2 : 1;
  constexpr int64_t queryTiles = ceilDiv(P.length, P.rowTile);
  using Tile = TileOf<P, T>;
  using Element = typename Tile::Element;
  using Seen = Visibility<P>;

  AttentionItem<P, T> at(item, P.heads, queryTiles);
  const int first = static_cast<int>(queryTiles - 1 - at.tile) * rowTile;
  const int64_t kvHead = at.head / (P.heads / P.kvHeads);
  const auto *q =
      headOf<P, Side::Query>(readable<T>(queryBuffer), at.batch, P.length, P.qStride, at.head);
  const auto *k = streamOf<P, Side::Key, preparedFirst, T>(
      readable<First>(keyBuffer), at.batch, P.kvHeads, kvHead, P.keyLength, P.kStride);
  const auto *v = streamOf<P, Side::Other, preparedSecond, T>(
      readable<Second>(valueBuffer), at.batch, P.kvHeads, kvHead, P.keyLength, P.vStride);
  const auto *o =
      headOf<P, Side::Other>(readable<T>(outputBuffer), at.batch, P.length, P.oStride, at.head);
  const auto *dO =
      headOf<P, Side::Other>(readable<T>(cotangentBuffer), at.batch, P.length, P.oStride, at.head);
  const Scoring<T, P, Score, ScoreGradient> scoring(queryTerms, keyTerms, at.batch, at.head);
  const int64_t rowsBefore = (at.batch * P.heads + at.head) * P.length;
  const Seen visibility{P.hasSegments ? segments + at.batch * P.keyLength : nullptr};

  Element *queries = sharedMemory<Element>();
  Element *dOutputs = queries + rowTile * Tile::stride, *keys = dOutputs + rowTile * Tile::stride;
  Element *values = keys + buffers * keyTile * Tile::stride;
  clearPadding<P, rowTile, Side::Query, T>(queries);
  clearPadding<P, rowTile, Side::Other, T>(dOutputs);
  clearStreamed<P, buffers * keyTile, Side::Key, preparedFirst, T>(keys);
  clearStreamed<P, buffers * keyTile, Side::Other, preparedSecond, T>(values);
  startRows<P, rowTile, Seen::queries, Side::Query>(queries, EvenRows{q, P.qStride}, first, rotary,
                                                    Seen::shift);
  startRows<P, rowTile, Seen::queries, Side::Other>(dOutputs, EvenRows{dO, P.oStride}, first,
                                                    rotary, 0);

  const int g = rowOfLane(), t = columnOfLane();
  const int warpFirst = first + warpOfThread() * 16, row = warpFirst + g;
  const Element *ownQueries = queries + warpOfThread() * 16 * Tile::stride;
  const Element *ownGradients = dOutputs + warpOfThread() * 16 * Tile::stride;
  // Negative, as they are added.
  T delta[2], logs[2];
  rowDeltas<P>(delta, o, dO, warpFirst, Seen::queries);
  HYBRID_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int query = row + half * 8;
    const int64_t there = rowsBefore + minimum(query, Seen::queries - 1);
    if constexpr (P.hasLseGradient != 0)
      delta[half] -= dLse[there];
    delta[half] = -delta[half];
    // Rows that saw nothing, and those behind the last, get probability 0 for every key.
    logs[half] = lse[there] * static_cast<T>(-log2OfE);
    if (query >= Seen::queries || logs[half] == infinity<T>())
      logs[half] = -infinity<T>();
    if (at.slab == 0 && t == 0 && query < Seen::queries)
      storePack(statistics + 2 * there, Pack<T, 2>{logs[half], delta[half]});
  }
  T dQueries[sums][4];
  clearFragments(dQueries);
  TermSums<T, Scoring<T, P, Score>::queryTerms> dTerms;

  const int low = Seen::position(first);
  const int high = Seen::position(minimum(first + rowTile, Seen::queries) - 1);
  const int warpLow = Seen::position(warpFirst), warpHigh = warpLow + 15;
  const typename Seen::Range seenKeys[2] = {visibility.keysOf(row), visibility.keysOf(row + 8)};
  const int warpBegin = Seen::firstKey(warpLow) / step * step,
            warpEnd = warpFirst < Seen::queries ? Seen::endOfKeys(warpHigh) : 0;
  auto startTile = [&](int first, int buffer) {
    startStreamed<P, keyTile, Seen::keys, Side::Key, preparedFirst, T>(
        keys + buffer * keyTile * Tile::stride, k, P.kStride, first, rotary, 0);
    startStreamed<P, keyTile, Seen::keys, Side::Other, preparedSecond, T>(
        values + buffer * keyTile * Tile::stride, v, P.vStride, first, rotary, 0);
  };
  forTiles<P, Seen::keys>(
      Seen::firstKey(low), Seen::endOfKeys(high), startTile, [&](int tile, int buffer) {
        const int offset = buffer * keyTile - tile;
        const typename Tile::Lane lane;
        const typename Tile::Rows queryRows(ownQueries, lane), gradientRows(ownGradients, lane);
        HYBRID_NO_UNROLL
        for (int key = maximum(tile, warpBegin); key < minimum(tile + keyTile, warpEnd);
             key += step) {
          const Element *someKeys = keys + (offset + key) * Tile::stride,
                        *someValues = values + (offset + key) * Tile::stride;
          T scores[blocks][4], powers[blocks][4], gradients[blocks][4];
          clearFragments(scores);
          Tile::template alongColumns<blocks>(scores, queryRows, someKeys, lane);
          fillFragments(gradients, delta[0], delta[1]);
          Tile::template alongColumns<blocks>(gradients, gradientRows, someValues, lane);
          HYBRID_UNROLL
          for (int block = 0; block < blocks; ++block)
            HYBRID_UNROLL
          for (int i = 0; i < 4; ++i)
            powers[block][i] = scoring.power(scores[block][i], logs[i / 2], row + i / 2 * 8,
                                             key + block * 8 + 2 * t + i % 2);
          if (!Seen::isWhole(warpLow, warpHigh, key, key + step - 1))
            visibility.template hide<Seen::keysBegin, Seen::keysEnd(step)>(powers, -infinity<T>(),
                                                                           seenKeys, row, key);
          HYBRID_UNROLL
          for (int block = 0; block < blocks; ++block)
            HYBRID_UNROLL
          for (int i = 0; i < 4; ++i) {
            gradients[block][i] *= exponential2(powers[block][i]);
            if constexpr (P.score != 0) {
              T parts[Scoring<T, P, Score>::gradients];
              scoring.gradient(parts, scores[block][i], gradients[block][i], row + i / 2 * 8,
                               key + block * 8 + 2 * t + i % 2);
              gradients[block][i] = parts[0];
              dTerms.add(i / 2, parts + 1);
            }
          }
          Tile::template alongRows<sums, blocks>(dQueries, gradients, someKeys + at.slab, lane);
        }
      });
  waitCopies<0>();
  storeRows<P, Side::Query, Tile>(
      dQueries, static_cast<T>(P.scale), static_cast<T>(P.scale),
      sharedMemory<T>() + warpOfThread() * 16 * (static_cast<int>(P.slab) + 4),
      headOf<P, Side::Query>(writable<T>(gradientBuffer), at.batch, P.length, P.dqStride, at.head),
      P.dqStride, warpFirst, Seen::queries, at.slab, rotary, Seen::shift);
  if constexpr (P.queryTerms > 0)
    dTerms.store(dQueryTerms + (at.batch * P.queryTerms * P.heads + at.head) * P.length,
                 P.heads * P.length, row, Seen::queries, at.slab == 0);
}

template <typename T, AttentionParams P, typename Score = NoFunction,
          typename ScoreGradient = NoFunction, typename Q, typename K, typename V, typename DO,
          typename DK, typename DV>
HYBRID_DEVICE void attentionBackwardKeys(int64_t item, Q queryBuffer, K keyBuffer, V valueBuffer,
                                         const int32_t *segments, const T *rotary,
                                         const T *queryTerms, const T *keyTerms, DO cotangentBuffer,
                                         const T *statistics, DK keyGradientBuffer,
                                         DV valueGradientBuffer, T *dKeyTerms) {
  using First = FirstStreamed<T, P>;
  using Second = SecondStreamed<T, P>;
  constexpr bool preparedFirst = P.preparedFirst != 0, preparedSecond = P.preparedSecond != 0;
  constexpr int rowTile = static_cast<int>(P.rowTile), queryTile = static_cast<int>(P.columnTile);
  constexpr int step = static_cast<int>(attentionStep<T>(P, AttentionPass::BackwardKeys));
  constexpr int blocks = step / 8, sums = static_cast<int>(P.slab) / 8, buffers = P.ahead ? 2 : 1;
  constexpr int64_t group = P.heads / P.kvHeads;
  using Tile = TileOf<P, T>;
  using Element = typename Tile::Element;
  using Seen = Visibility<P>;

  AttentionItem<P, T> at(item, P.kvHeads, ceilDiv(P.keyLength, P.rowTile));
  const int first = at.tile * rowTile;
  const Seen visibility{P.hasSegments ? segments + at.batch * P.keyLength : nullptr};
  Element *keys = sharedMemory<Element>();
  Element *values = keys + rowTile * Tile::stride, *queries = values + rowTile * Tile::stride;
  Element *dOutputs = queries + buffers * queryTile * Tile::stride;
  T *ofQueries = sharedMemory<T>(attentionTileBytes<T>(P, AttentionPass::BackwardKeys));
  clearPadding<P, rowTile, Side::Key, T>(keys);
  clearPadding<P, rowTile, Side::Other, T>(values);
  clearStreamed<P, buffers * queryTile, Side::Query, preparedFirst, T>(queries);
  clearStreamed<P, buffers * queryTile, Side::Other, preparedSecond, T>(dOutputs);
  startRows<P, rowTile, Seen::keys, Side::Key>(
      keys,
      EvenRows{
          headOf<P, Side::Key>(readable<T>(keyBuffer), at.batch, P.keyLength, P.kStride, at.head),
          P.kStride},
      first, rotary, 0);
  startRows<P, rowTile, Seen::keys, Side::Other>(
      values,
      EvenRows{headOf<P, Side::Other>(readable<T>(valueBuffer), at.batch, P.keyLength, P.vStride,
                                      at.head),
               P.vStride},
      first, rotary, 0);

  const int g = rowOfLane(), t = columnOfLane();
  const int warpFirst = first + warpOfThread() * 16, row = warpFirst + g;
  const Element *ownKeys = keys + warpOfThread() * 16 * Tile::stride;
  const Element *ownValues = values + warpOfThread() * 16 * Tile::stride;
  T dKeys[sums][4], dValues[sums][4];
  clearFragments(dKeys);
  clearFragments(dValues);

  const int last = minimum(first + rowTile, Seen::keys) - 1, warpLast = warpFirst + 15;
  const typename Seen::Range seenBy[2] = {Seen::queriesOf(row), Seen::queriesOf(row + 8)};
  const int warpBegin = Seen::firstQuery(warpFirst) / step * step,
            warpEnd = warpFirst < Seen::keys ? Seen::endOfQueries(warpLast) : 0;
  HYBRID_NO_UNROLL
  for (int64_t head = at.head * group; head < (at.head + 1) * group; ++head) {
    const auto *headQueries = streamOf<P, Side::Query, preparedFirst, T>(
        readable<First>(queryBuffer), at.batch, P.heads, head, P.length, P.qStride);
    const auto *headGradients = streamOf<P, Side::Other, preparedSecond, T>(
        readable<Second>(cotangentBuffer), at.batch, P.heads, head, P.length, P.oStride);
    const T *headStatistics = statistics + (at.batch * P.heads + head) * P.length * 2;
    const Scoring<T, P, Score, ScoreGradient> scoring(queryTerms, keyTerms, at.batch, head);
    TermSums<T, Scoring<T, P, Score>::keyTerms> dTerms;
    auto startTile = [&](int first, int buffer) {
      HYBRID_UNROLL
      for (int i = 0; i < (queryTile + threads(P) - 1) / threads(P); ++i) {
        const int own = static_cast<int>(threadIdx.x) + i * threads(P);
        const bool there = P.length % queryTile == 0 || first + own < Seen::queries;
        if (queryTile % threads(P) == 0 || own < queryTile)
          copyAsync<2 * sizeof(T)>(ofQueries + (buffer * queryTile + own) * 2,
                                   headStatistics + (there ? first + own : 0) * 2, there);
      }
      startStreamed<P, queryTile, Seen::queries, Side::Query, preparedFirst, T>(
          queries + buffer * queryTile * Tile::stride, headQueries, P.qStride, first, rotary,
          Seen::shift);
      startStreamed<P, queryTile, Seen::queries, Side::Other, preparedSecond, T>(
          dOutputs + buffer * queryTile * Tile::stride, headGradients, P.oStride, first, rotary, 0);
    };
    if (group > 1)
      blockBarrier(); // the tiles of the head before are done with
    forTiles<P, Seen::queries>(
        Seen::firstQuery(first), Seen::endOfQueries(last), startTile, [&](int tile, int buffer) {
          const int offset = buffer * queryTile - tile;
          const typename Tile::Lane lane;
          const typename Tile::Rows keyRows(ownKeys, lane), valueRows(ownValues, lane);
          HYBRID_NO_UNROLL
          for (int query = maximum(tile, warpBegin); query < minimum(tile + queryTile, warpEnd);
               query += step) {
            const Element *someQueries = queries + (offset + query) * Tile::stride,
                          *someGradients = dOutputs + (offset + query) * Tile::stride;
            T scores[blocks][4], powers[blocks][4], gradients[blocks][4];
            // Of two queries: log and delta of each.
            T pairs[blocks][4];
            HYBRID_UNROLL
            for (int block = 0; block < blocks; ++block)
              readVectors(ofQueries + (offset + query + block * 8 + 2 * t) * 2, pairs[block]);
            clearFragments(scores);
            Tile::template alongColumns<blocks>(scores, keyRows, someQueries, lane);
            HYBRID_UNROLL
            for (int block = 0; block < blocks; ++block)
              HYBRID_UNROLL
            for (int i = 0; i < 4; ++i)
              powers[block][i] = scoring.power(scores[block][i], pairs[block][i % 2 * 2],
                                               query + block * 8 + 2 * t + i % 2, row + i / 2 * 8);
            if (!Seen::isWhole(Seen::position(query), Seen::position(query + step - 1), warpFirst,
                               warpLast))
              visibility.template hide<Seen::queriesBegin, Seen::queriesEnd(step)>(
                  powers, -infinity<T>(), seenBy, row, query);
            HYBRID_UNROLL
            for (int block = 0; block < blocks; ++block)
              HYBRID_UNROLL
            for (int i = 0; i < 4; ++i)
              powers[block][i] = exponential2(powers[block][i]);
            Tile::template alongRows<sums, blocks>(dValues, powers, someGradients + at.slab, lane);
            clearFragments(gradients);
            Tile::template alongColumns<blocks>(gradients, valueRows, someGradients, lane);
            HYBRID_UNROLL
            for (int block = 0; block < blocks; ++block)
              HYBRID_UNROLL
            for (int i = 0; i < 4; ++i) {
              gradients[block][i] =
                  powers[block][i] * (gradients[block][i] + pairs[block][i % 2 * 2 + 1]);
              if constexpr (P.score != 0) {
                T parts[Scoring<T, P, Score>::gradients];
                scoring.gradient(parts, scores[block][i], gradients[block][i],
                                 query + block * 8 + 2 * t + i % 2, row + i / 2 * 8);
                gradients[block][i] = parts[0];
                dTerms.add(i / 2, parts + 1 + P.queryTerms);
              }
            }
            Tile::template alongRows<sums, blocks>(dKeys, gradients, someQueries + at.slab, lane);
          }
        });
    if constexpr (P.keyTerms > 0)
      dTerms.store(dKeyTerms + (at.batch * P.keyTerms * P.heads + head) * P.keyLength,
                   P.heads * P.keyLength, row, Seen::keys, at.slab == 0);
  }
  waitCopies<0>();
  T *room = sharedMemory<T>() + warpOfThread() * 16 * (static_cast<int>(P.slab) + 4);
  storeRows<P, Side::Key, Tile>(dKeys, static_cast<T>(P.scale), static_cast<T>(P.scale), room,
                                headOf<P, Side::Key>(writable<T>(keyGradientBuffer), at.batch,
                                                     P.keyLength, P.dkStride, at.head),
                                P.dkStride, warpFirst, Seen::keys, at.slab, rotary, 0);
  storeRows<P, Side::Other, Tile>(dValues, T(1), T(1), room,
                                  headOf<P, Side::Other>(writable<T>(valueGradientBuffer), at.batch,
                                                         P.keyLength, P.dvStride, at.head),
                                  P.dvStride, warpFirst, Seen::keys, at.slab, rotary, 0);
}

} // namespace hybrid::cuda
