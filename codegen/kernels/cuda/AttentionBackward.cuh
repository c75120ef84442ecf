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

namespace hybrid::cuda {

/// Sums over the columns of o do for the 16 rows of a warp: of rows g and g + 8 for each lane.
template <AttentionParams A, typename T>
HYBRID_DEVICE void rowDeltas(T (&deltas)[2], const T *o, const T *dO, int first, int count) {
  constexpr int size = static_cast<int>(A.valueSize);
  constexpr int lanesPerRow = size > 16 ? 32 : size > 8 ? 16 : 8, rowsAtOnce = 32 / lanesPerRow;
  const int lane = laneIndex(), g = lane / 4;
  deltas[0] = deltas[1] = T(0);
  HYBRID_UNROLL
  for (int start = 0; start < 16; start += rowsAtOnce) {
    const int row = first + start + lane / lanesPerRow;
    T sum = T(0);
    if (row < count)
      HYBRID_UNROLL
    for (int c = 0; c < size; c += lanesPerRow) {
      const int column = c + lane % lanesPerRow;
      if (column < size)
        sum = multiplyAdd(o[row * A.oStride + column], dO[row * A.oStride + column], sum);
    }
    HYBRID_UNROLL
    for (int mask = lanesPerRow / 2; mask > 0; mask /= 2)
      sum += shuffleXor(sum, mask);
    const T own = shuffle(sum, g % rowsAtOnce * lanesPerRow);
    if (g / rowsAtOnce == start / rowsAtOnce)
      deltas[0] = own;
    if ((g + 8) / rowsAtOnce == start / rowsAtOnce)
      deltas[1] = own;
  }
}

template <typename T, AttentionParams P, typename Score = NoFunction,
          typename ScoreGradient = NoFunction>
HYBRID_DEVICE void attentionBackwardQueries(int64_t item, const T *q, const FirstStreamed<T, P> *k,
                                            const SecondStreamed<T, P> *v, const int32_t *segments,
                                            const T *rotary, const T *queryTerms, const T *keyTerms,
                                            const T *o, const T *lse, const T *dO, const T *dLse,
                                            T *dq, T *deltas, T *dQueryTerms) {
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
  k = streamOf<P, Side::Key, preparedFirst, T>(k, at.batch, P.kvHeads, kvHead, P.keyLength,
                                               P.kStride);
  v = streamOf<P, Side::Other, preparedSecond, T>(v, at.batch, P.kvHeads, kvHead, P.keyLength,
                                                  P.vStride);
  dO = headOf<P, Side::Other>(dO, at.batch, P.length, P.oStride, at.head);
  const Scoring<T, P, Score, ScoreGradient> scoring(queryTerms, keyTerms, at.batch, at.head);
  const int64_t rowsBefore = (at.batch * P.heads + at.head) * P.length;
  const Seen visibility{P.hasSegments ? segments + at.batch * P.keyLength : nullptr};

  Element *queries = sharedMemory<Element>();
  Element *dOutputs = queries + rowTile * Tile::stride, *keys = dOutputs + rowTile * Tile::stride;
  Element *values = keys + keyTile * Tile::stride;
  startRows<P, rowTile, Side::Query>(queries, EvenRows<T>{q, P.qStride}, first, Seen::queries,
                                     rotary, Seen::shift);
  startRows<P, rowTile, Side::Other>(dOutputs, EvenRows<T>{dO, P.oStride}, first, Seen::queries,
                                     rotary, 0);

  const int lane = laneIndex(), g = lane / 4, t = lane % 4;
  const int warpFirst = first + warpIndex() * 16, row = warpFirst + g;
  const Element *ownQueries = queries + warpIndex() * 16 * Tile::stride;
  const Element *ownGradients = dOutputs + warpIndex() * 16 * Tile::stride;
  T delta[2], logs[2];
  rowDeltas<P>(delta, headOf<P, Side::Other>(o, at.batch, P.length, P.oStride, at.head), dO,
               warpFirst, Seen::queries);
  HYBRID_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int query = row + half * 8;
    if constexpr (P.hasLseGradient != 0)
      if (query < Seen::queries)
        delta[half] -= dLse[rowsBefore + query];
    // Rows that saw nothing get probability 0 for every key.
    logs[half] = query < Seen::queries ? lse[rowsBefore + query] : -infinity<T>();
    logs[half] =
        logs[half] == -infinity<T>() ? infinity<T>() : logs[half] * static_cast<T>(log2OfE);
    if (at.slab == 0 && t == 0 && query < Seen::queries)
      deltas[rowsBefore + query] = delta[half];
  }
  T dQueries[sums][4];
  clearFragments(dQueries);
  TermSums<T, Scoring<T, P, Score>::queryTerms> dTerms;

  const int low = Seen::position(first);
  const int high = Seen::position(minimum(first + rowTile, Seen::queries) - 1);
  const int warpLow = Seen::position(warpFirst), warpHigh = warpLow + 15;
  const int end = Seen::endOfKeys(high);
  HYBRID_NO_UNROLL
  for (int s = Seen::firstKey(low) / keyTile * keyTile; s < end; s += keyTile) {
    blockBarrier();
    startStreamed<P, keyTile, Side::Key, preparedFirst>(keys, k, P.kStride, s, Seen::keys, rotary,
                                                        0);
    startStreamed<P, keyTile, Side::Other, preparedSecond>(values, v, P.vStride, s, Seen::keys,
                                                           rotary, 0);
    waitCopies<0>();
    blockBarrier();
    if (warpFirst >= Seen::queries || s >= Seen::endOfKeys(warpHigh) ||
        s + keyTile <= Seen::firstKey(warpLow))
      continue;
    T scores[blocks][4], gradients[blocks][4];
    clearFragments(scores);
    Tile::template alongColumns<blocks>(scores, ownQueries, keys);
    clearFragments(gradients);
    Tile::template alongColumns<blocks>(gradients, ownGradients, values);
    const bool whole = Seen::isWhole(warpLow, warpHigh, s, s + keyTile - 1);
    HYBRID_UNROLL
    for (int block = 0; block < blocks; ++block)
      HYBRID_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int query = row + i / 2 * 8, key = s + block * 8 + 2 * t + i % 2;
      T power;
      if constexpr (P.score == 0)
        power = multiplyAdd(scores[block][i], static_cast<T>(P.scale * log2OfE), -logs[i / 2]);
      else
        power = scoring.logit(scores[block][i], query, key) - logs[i / 2];
      if (!whole && !visibility.seen(query, key))
        power = -infinity<T>();
      gradients[block][i] = exponential2(power) * (gradients[block][i] - delta[i / 2]);
      if constexpr (P.score != 0) {
        T parts[Scoring<T, P, Score>::gradients];
        scoring.gradient(parts, scores[block][i], gradients[block][i], query, key);
        gradients[block][i] = parts[0];
        dTerms.add(i / 2, parts + 1);
      }
    }
    Tile::template alongRows<sums, blocks>(dQueries, gradients, keys + at.slab);
  }
  waitCopies<0>();
  blockBarrier();
  storeRows<P, Side::Query, Tile>(
      dQueries, static_cast<T>(P.scale), static_cast<T>(P.scale),
      sharedMemory<T>() + warpIndex() * 16 * (static_cast<int>(P.slab) + 4),
      headOf<P, Side::Query>(dq, at.batch, P.length, P.dqStride, at.head), P.dqStride, warpFirst,
      Seen::queries, at.slab, rotary, Seen::shift);
  if constexpr (P.queryTerms > 0)
    dTerms.store(dQueryTerms + (at.batch * P.queryTerms * P.heads + at.head) * P.length,
                 P.heads * P.length, row, Seen::queries, at.slab == 0);
}

template <typename T, AttentionParams P, typename Score = NoFunction,
          typename ScoreGradient = NoFunction>
HYBRID_DEVICE void attentionBackwardKeys(int64_t item, const FirstStreamed<T, P> *q, const T *k,
                                         const T *v, const int32_t *segments, const T *rotary,
                                         const T *queryTerms, const T *keyTerms, const T *lse,
                                         const SecondStreamed<T, P> *dO, const T *deltas, T *dk,
                                         T *dv, T *dKeyTerms) {
  constexpr bool preparedFirst = P.preparedFirst != 0, preparedSecond = P.preparedSecond != 0;
  constexpr Products products = productsOf<T>(P.bf16);
  constexpr int columns = static_cast<int>(attentionColumns<T>(P));
  constexpr int rowTile = static_cast<int>(P.rowTile), queryTile = static_cast<int>(P.columnTile);
  constexpr int blocks = queryTile / 8, sums = static_cast<int>(P.slab) / 8;
  constexpr int64_t group = P.heads / P.kvHeads;
  using Tile = TileProduct<products, T, columns>;
  using Element = typename Tile::Element;
  using Seen = Visibility<P>;

  AttentionItem<P, T> at(item, P.kvHeads, ceilDiv(P.keyLength, P.rowTile));
  const int first = at.tile * rowTile;
  const Seen visibility{P.hasSegments ? segments + at.batch * P.keyLength : nullptr};
  Element *keys = sharedMemory<Element>();
  Element *values = keys + rowTile * Tile::stride, *queries = values + rowTile * Tile::stride;
  Element *dOutputs = queries + queryTile * Tile::stride;
  startRows<P, rowTile, Side::Key>(
      keys,
      EvenRows<T>{headOf<P, Side::Key>(k, at.batch, P.keyLength, P.kStride, at.head), P.kStride},
      first, Seen::keys, rotary, 0);
  startRows<P, rowTile, Side::Other>(
      values,
      EvenRows<T>{headOf<P, Side::Other>(v, at.batch, P.keyLength, P.vStride, at.head), P.vStride},
      first, Seen::keys, rotary, 0);

  const int lane = laneIndex(), g = lane / 4, t = lane % 4;
  const int warpFirst = first + warpIndex() * 16, row = warpFirst + g;
  const Element *ownKeys = keys + warpIndex() * 16 * Tile::stride;
  const Element *ownValues = values + warpIndex() * 16 * Tile::stride;
  T dKeys[sums][4], dValues[sums][4];
  clearFragments(dKeys);
  clearFragments(dValues);

  const int last = minimum(first + rowTile, Seen::keys) - 1, warpLast = warpFirst + 15;
  const int begin = Seen::firstQuery(first) / queryTile * queryTile;
  const int end = Seen::endOfQueries(last);
  HYBRID_NO_UNROLL
  for (int64_t head = at.head * group; head < (at.head + 1) * group; ++head) {
    const auto *headQueries =
        streamOf<P, Side::Query, preparedFirst, T>(q, at.batch, P.heads, head, P.length, P.qStride);
    const auto *headGradients = streamOf<P, Side::Other, preparedSecond, T>(
        dO, at.batch, P.heads, head, P.length, P.oStride);
    const int64_t rowsBefore = (at.batch * P.heads + head) * P.length;
    const Scoring<T, P, Score, ScoreGradient> scoring(queryTerms, keyTerms, at.batch, head);
    TermSums<T, Scoring<T, P, Score>::keyTerms> dTerms;
    HYBRID_NO_UNROLL
    for (int query = begin; query < end; query += queryTile) {
      blockBarrier();
      startStreamed<P, queryTile, Side::Query, preparedFirst>(
          queries, headQueries, P.qStride, query, Seen::queries, rotary, Seen::shift);
      startStreamed<P, queryTile, Side::Other, preparedSecond>(dOutputs, headGradients, P.oStride,
                                                               query, Seen::queries, rotary, 0);
      waitCopies<0>();
      blockBarrier();
      if (warpFirst >= Seen::keys || query + queryTile <= Seen::firstQuery(warpFirst) ||
          query >= Seen::endOfQueries(warpLast))
        continue;
      T scores[blocks][4], gradients[blocks][4], products[P.score == 0 ? 1 : blocks][4];
      clearFragments(scores);
      Tile::template alongColumns<blocks>(scores, ownKeys, queries);
      const bool whole = Seen::isWhole(Seen::position(query), Seen::position(query + queryTile - 1),
                                       warpFirst, warpLast);
      HYBRID_UNROLL
      for (int block = 0; block < blocks; ++block)
        HYBRID_UNROLL
      for (int odd = 0; odd < 2; ++odd) {
        const int other = query + block * 8 + 2 * t + odd;
        T log = other < Seen::queries ? lse[rowsBefore + other] : -infinity<T>();
        // Rows that saw nothing get probability 0 for every key.
        log = log == -infinity<T>() ? infinity<T>() : log * static_cast<T>(log2OfE);
        HYBRID_UNROLL
        for (int i = odd; i < 4; i += 2) {
          T power;
          if constexpr (P.score == 0) {
            power = multiplyAdd(scores[block][i], static_cast<T>(P.scale * log2OfE), -log);
          } else {
            products[block][i] = scores[block][i];
            power = scoring.logit(scores[block][i], other, row + i / 2 * 8) - log;
          }
          if (!whole && !visibility.seen(other, row + i / 2 * 8))
            power = -infinity<T>();
          scores[block][i] = exponential2(power);
        }
      }
      Tile::template alongRows<sums, blocks>(dValues, scores, dOutputs + at.slab);
      clearFragments(gradients);
      Tile::template alongColumns<blocks>(gradients, ownValues, dOutputs);
      HYBRID_UNROLL
      for (int block = 0; block < blocks; ++block)
        HYBRID_UNROLL
      for (int odd = 0; odd < 2; ++odd) {
        const int other = query + block * 8 + 2 * t + odd;
        const T delta = other < Seen::queries ? deltas[rowsBefore + other] : T(0);
        HYBRID_UNROLL
        for (int i = odd; i < 4; i += 2) {
          gradients[block][i] = scores[block][i] * (gradients[block][i] - delta);
          if constexpr (P.score != 0) {
            T parts[Scoring<T, P, Score>::gradients];
            scoring.gradient(parts, products[block][i], gradients[block][i], other,
                             row + i / 2 * 8);
            gradients[block][i] = parts[0];
            dTerms.add(i / 2, parts + 1 + P.queryTerms);
          }
        }
      }
      Tile::template alongRows<sums, blocks>(dKeys, gradients, queries + at.slab);
    }
    if constexpr (P.keyTerms > 0)
      dTerms.store(dKeyTerms + (at.batch * P.keyTerms * P.heads + head) * P.keyLength,
                   P.heads * P.keyLength, row, Seen::keys, at.slab == 0);
  }
  waitCopies<0>();
  blockBarrier();
  T *room = sharedMemory<T>() + warpIndex() * 16 * (static_cast<int>(P.slab) + 4);
  storeRows<P, Side::Key, Tile>(
      dKeys, static_cast<T>(P.scale), static_cast<T>(P.scale), room,
      headOf<P, Side::Key>(dk, at.batch, P.keyLength, P.dkStride, at.head), P.dkStride, warpFirst,
      Seen::keys, at.slab, rotary, 0);
  storeRows<P, Side::Other, Tile>(
      dValues, T(1), T(1), room,
      headOf<P, Side::Other>(dv, at.batch, P.keyLength, P.dvStride, at.head), P.dvStride, warpFirst,
      Seen::keys, at.slab, rotary, 0);
}

} // namespace hybrid::cuda
