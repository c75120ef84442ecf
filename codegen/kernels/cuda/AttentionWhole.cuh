//===- AttentionWhole.cuh - attention of small heads of short sequences -------===//
//
// A block has neighbouring heads of a sequence whole (AttentionWhole says of which). Its threads
// ask for all they need at once, rows of all heads in one access into shared memory; then a head
// is computed by warps of its own, and results go back by the same way. Operands of products come
// out of row major tiles by ldmatrix.
//
// The gradients: a warp goes through its head's queries, 16 at a time, and for these through the
// keys that they see. Scores and their gradients have keys as rows, so that as they lie in
// registers they are left operands for dv and dk, of which a warp has all rows in registers;
// transposed they are for dq. Nothing is computed twice, and nothing summed over warps.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/AttentionStore.cuh"
#include "codegen/kernels/cuda/Lanes.cuh"

namespace hybrid::cuda {

/// A lane has neighbouring columns of a fragment of its own, as mma.sync leaves them.
struct WholeColumns {
  static constexpr int adjacent = 1;
};

/// What a block has in shared memory, and where a thread stands in it.
template <AttentionParams P, AttentionPass pass, typename T> struct WholeHeads {
  static constexpr int heads = static_cast<int>(P.wholeHeads), size = static_cast<int>(P.headSize),
                       chunks = size / 8;
  static constexpr int warps = static_cast<int>(wholeWarps(pass)), threads = 32 * heads * warps;
  static constexpr int stride = static_cast<int>(wholeStride(P));
  static constexpr int queryRows = static_cast<int>(wholeRows(P.length)),
                       keyRows = static_cast<int>(wholeRows(P.keyLength));
  static constexpr int tableRow = static_cast<int>(wholeTableRow(P));
  /// Elements of a head's tile of so many rows.
  template <int rows> static constexpr int tileOf = static_cast<int>(wholeTile(P, rows));
  static constexpr auto groups = static_cast<uint32_t>(P.heads / P.wholeHeads);
  using Seen = Visibility<P>;

  int64_t batch, first;     // head
  int head, warp;           // of the block, and of the head
  int lanePlace, halfPlace; // the row of 32, and of 16, that a lane points to
  bf16 *queries, *keys, *values;
  bf16 *cotangents, *outputs; // for gradients
  T *statistics;              // of each query largest score and sum, for gradients log and delta
  T *rotary;

  HYBRID_DEVICE explicit WholeHeads(int64_t item)
      : batch(static_cast<uint32_t>(item) / groups),
        first(static_cast<uint32_t>(item) % groups * static_cast<uint32_t>(heads)),
        head(warpOfThread() / warps), warp(warpOfThread() % warps), lanePlace(laneIndex() * stride),
        halfPlace(laneIndex() % 16 * stride), queries(sharedMemory<bf16>()),
        keys(queries + heads * tileOf<queryRows>), values(keys + heads * tileOf<keyRows>),
        cotangents(values + heads * tileOf<keyRows>),
        outputs(cotangents + heads * tileOf<queryRows>),
        statistics(sharedMemory<T>(wholeTileBytes(P, pass))),
        rotary(sharedMemory<T>(wholeTileBytes(P, pass) + wholeStatisticsBytes<T>(P))) {}

  /// The head's own of tiles of queries, and of keys.
  HYBRID_DEVICE bf16 *ofQueries(bf16 *tiles) const { return tiles + head * tileOf<queryRows>; }
  HYBRID_DEVICE bf16 *ofKeys(bf16 *tiles) const { return tiles + head * tileOf<keyRows>; }
  /// The first row of the first head in a buffer.
  template <typename Memory>
  HYBRID_DEVICE Memory *in(Memory *buffer, int64_t rows, int64_t rowStride) const {
    return buffer + batch * rows * rowStride + first * size;
  }
  /// Where the first head's queries begin among those of all heads.
  HYBRID_DEVICE int64_t rowsBefore() const { return (batch * P.heads + first) * P.length; }

  /// visit(i) for each thread's share of [0, count), which begins with thread `begin`. Unsigned, as
  /// divisions by constants are cheap then.
  template <int count, uint32_t begin = 0, typename Visit>
  static HYBRID_DEVICE void share(Visit &&visit) {
    const uint32_t thread = (threadIdx.x + threads - begin) % threads;
    HYBRID_UNROLL
    for (int start = 0; start < count; start += threads)
      if (const uint32_t i = static_cast<uint32_t>(start) + thread;
          count % threads == 0 || i < static_cast<uint32_t>(count))
        visit(i);
  }
  /// visit(row, which eight elements of it, where they are in tiles of `rows`): of all rows of a
  /// thread the same elements.
  template <int rows, typename Visit> static HYBRID_DEVICE void sharePacks(Visit &&visit) {
    constexpr int perRow = heads * chunks, apart = threads / perRow;
    const int first = static_cast<int>(threadIdx.x / static_cast<uint32_t>(perRow)),
              part = static_cast<int>(threadIdx.x % static_cast<uint32_t>(perRow));
    const int place = part / chunks * tileOf<rows> + first * stride + part % chunks * 8;
    HYBRID_UNROLL
    for (int start = 0; start < rows; start += apart)
      if (rows % apart == 0 || start + first < rows)
        visit(start + first, part, place + start * stride);
  }

  // ---- to shared memory: what is started is there behind waitCopies() and a barrier ----

  /// `count` rows of all heads to tiles of `rows`; those behind become 0.
  template <int rows, int count, typename Memory>
  static HYBRID_DEVICE void start(bf16 *tiles, const Memory *from, int64_t rowStride) {
    sharePacks<rows>([&](int row, int part, int place) {
      const bool there = rows == count || row < count;
      const Memory *source = from + (there ? row : 0) * rowStride + part * 8;
      if constexpr (sizeof(Memory) == sizeof(bf16)) {
        copyAsync<16>(tiles + place, source, there);
      } else {
        const Pack<T, 8> loaded = loadEight(source);
        storeElements(tiles + place, there ? loaded : Pack<T, 8>{});
      }
    });
  }
  /// A number of each query of all heads to its statistics.
  HYBRID_DEVICE void startStatistic(int which, const T *from) const {
    constexpr uint32_t rows = queryRows, count = Seen::queries;
    share<heads * queryRows>([&](uint32_t i) {
      const uint32_t row = i % rows;
      const bool there = rows == count || row < count;
      copyAsync<sizeof(T)>(statistics + 2 * i + which,
                           from + rowsBefore() + (there ? i / rows * count + row : 0), there);
    });
  }
  HYBRID_DEVICE void startRotary(const T *table) const {
    constexpr uint32_t wide = 16 / sizeof(T), perRow = 2 * P.rotaryDims / wide;
    constexpr int packs = Seen::keys * static_cast<int>(perRow);
    if constexpr (packs > 0)
      share<packs>([&](uint32_t i) {
        copyAsync<16>(rotary + i / perRow * static_cast<uint32_t>(tableRow) + i % perRow * wide,
                      table + i * wide, true);
      });
  }

  static HYBRID_DEVICE Pack<T, 8> loadEight(const T *from) {
    Pack<T, 8> all;
    readVectors(from, all.elements);
    return all;
  }
  static HYBRID_DEVICE Pack<T, 8> loadEight(const bf16 *from) {
    const auto words = loadPack<4>(reinterpret_cast<const uint32_t *>(from));
    Pack<T, 8> all;
    HYBRID_UNROLL
    for (int i = 0; i < 4; ++i)
      all[2 * i] = fromBits(words[i] << 16), all[2 * i + 1] = fromBits(words[i] & 0xffff0000u);
    return all;
  }

  /// Rotates a row of a tile by the factors of its position.
  static HYBRID_DEVICE void rotate(bf16 *row, const T *factors) {
    constexpr int half = static_cast<int>(P.rotaryDims) / 2;
    T numbers[size];
    HYBRID_UNROLL
    for (int i = 0; i < size; i += 8) {
      const Pack<T, 8> eight = loadEight(row + i);
      HYBRID_UNROLL
      for (int j = 0; j < 8; ++j)
        numbers[i + j] = eight[j];
    }
    HYBRID_UNROLL
    for (int pair = 0; pair < half; ++pair) {
      const int one = P.rotaryInterleaved ? 2 * pair : pair,
                other = P.rotaryInterleaved ? one + 1 : pair + half;
      const T x = numbers[one], y = numbers[other], cosine = factors[pair],
              sine = factors[half + pair];
      numbers[one] = multiplyAdd(x, cosine, y * -sine);
      numbers[other] = multiplyAdd(y, cosine, x * sine);
    }
    HYBRID_UNROLL
    for (int i = 0; i < size; i += 8) {
      Pack<T, 8> eight;
      HYBRID_UNROLL
      for (int j = 0; j < 8; ++j)
        eight[j] = numbers[i + j];
      storeElements(row + i, eight);
    }
  }
  /// Rotates rows of all heads: a thread a row, whose factors serve all heads.
  template <Side side, int rows, int count, uint32_t begin>
  HYBRID_DEVICE void rotateRows(bf16 *tiles, int shift) const {
    constexpr int dims = static_cast<int>(P.rotaryDims), wide = dims % 4 == 0 ? 4 : 2;
    share<rows, begin>([&](uint32_t i) {
      const int row = static_cast<int>(i);
      const T *from =
          rotary + (minimum(row, count - 1) + shift) * tableRow + (side == Side::Key ? dims : 0);
      T factors[dims];
      HYBRID_UNROLL
      for (int start = 0; start < dims; start += wide) {
        const auto some = loadPack<wide>(from + start);
        HYBRID_UNROLL
        for (int j = 0; j < wide; ++j)
          factors[start + j] = some[j];
      }
      HYBRID_UNROLL
      for (int of = 0; of < heads; ++of)
        rotate(tiles + of * tileOf<rows> + row * stride, factors);
    });
  }
  /// Rotates queries and keys, which are the first of two groups of copies, while the second one
  /// arrives.
  HYBRID_DEVICE void rotateAll() const {
    if constexpr (P.rotaryDims > 0) {
      waitCopies<1>();
      blockBarrier();
      constexpr bool apart = threads >= queryRows + keyRows; // threads for keys, too
      rotateRows<Side::Query, queryRows, Seen::queries, 0>(queries, Seen::shift);
      rotateRows<Side::Key, keyRows, Seen::keys, apart ? queryRows : 0>(keys, 0);
    }
    waitCopies<0>();
    blockBarrier();
  }

  // ---- products ----

  /// sum += a b', the contraction along all columns: words [first, first + 2) of each chunk are the
  /// two halves of 16 rows of a, word `of` 8 rows of b.
  static HYBRID_DEVICE void multiply(T (&sum)[4], const uint32_t (&a)[chunks][4], int first,
                                     const uint32_t (&b)[chunks][4], int of) {
    if constexpr (chunks == 1) {
      const uint32_t left[2] = {a[0][first], a[0][first + 1]}, right[1] = {b[0][of]};
      mmaBf16(sum, left, right);
    } else {
      HYBRID_UNROLL
      for (int chunk = 0; chunk < chunks; chunk += 2) {
        const uint32_t left[4] = {a[chunk][first], a[chunk][first + 1], a[chunk + 1][first],
                                  a[chunk + 1][first + 1]},
                       right[2] = {b[chunk][of], b[chunk + 1][of]};
        mmaBf16(sum, left, right);
      }
    }
  }
  /// sums += a b, a of 16 columns: words [first, first + 2) of each chunk are the rows of b.
  static HYBRID_DEVICE void accumulate(T (&sums)[chunks][4], const uint32_t (&a)[4],
                                       const uint32_t (&b)[chunks][4], int first) {
    HYBRID_UNROLL
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const uint32_t right[2] = {b[chunk][first], b[chunk][first + 1]};
      mmaBf16(sums[chunk], a, right);
    }
  }
  /// All columns of the rows that lanes point to.
  template <bool transposed>
  static HYBRID_DEVICE void load(uint32_t (&words)[chunks][4], const bf16 *row) {
    HYBRID_UNROLL
    for (int chunk = 0; chunk < chunks; ++chunk)
      loadMatrices<transposed>(words[chunk], row + chunk * 8);
  }
  /// 16 x 16 sums as a left operand.
  static HYBRID_DEVICE void round(uint32_t (&left)[4], const T (&upper)[4], const T (&lower)[4]) {
    left[0] = packBf16(upper[0], upper[1]), left[1] = packBf16(upper[2], upper[3]);
    left[2] = packBf16(lower[0], lower[1]), left[3] = packBf16(lower[2], lower[3]);
  }

  // ---- to memory ----

  /// Sums of 16 rows from `row` on, multiplied by a factor of each half of them and rotated back:
  /// to memory, or if that holds bf16 to their place in the head's tile, for finish().
  template <Side side, typename Memory>
  HYBRID_DEVICE void store(T (&sums)[chunks][4], T upper, T lower, bf16 *tile, Memory *to,
                           int64_t rowStride, int row, int count, int shift) const {
    HYBRID_UNROLL
    for (int chunk = 0; chunk < chunks; ++chunk)
      HYBRID_UNROLL
    for (int i = 0; i < 4; ++i)
      sums[chunk][i] *= i < 2 ? upper : lower;
    if constexpr (sizeof(Memory) == sizeof(bf16))
      storeFromLanes<P, side, WholeColumns>(sums, tile, stride, row, count, 0, rotary, shift,
                                            tableRow);
    else
      storeFromLanes<P, side, WholeColumns>(sums, to + head * size, rowStride, row, count, 0,
                                            rotary, shift, tableRow);
  }
  template <int rows, int count, typename Memory>
  static HYBRID_DEVICE void finish(Memory *to, const bf16 *tiles, int64_t rowStride) {
    if constexpr (sizeof(Memory) == sizeof(bf16))
      sharePacks<rows>([&](int row, int part, int place) {
        if (rows == count || row < count)
          storeGlobal(to + row * rowStride + part * 8, loadPack<8>(tiles + place));
      });
  }
};

template <typename T, AttentionParams P, typename Q, typename K, typename V, typename O>
HYBRID_DEVICE void attentionForwardWhole(int64_t item, Q queryBuffer, K keyBuffer, V valueBuffer,
                                         const int32_t *segments, const T *rotary, O outputBuffer,
                                         T *lse) {
  using Whole = WholeHeads<P, AttentionPass::Forward, T>;
  using Seen = typename Whole::Seen;
  constexpr int chunks = Whole::chunks, stride = Whole::stride, queryRows = Whole::queryRows,
                keyRows = Whole::keyRows;
  const Whole at(item);
  at.template start<queryRows, Seen::queries>(
      at.queries, at.in(readable<T>(queryBuffer), P.length, P.qStride), P.qStride);
  at.template start<keyRows, Seen::keys>(
      at.keys, at.in(readable<T>(keyBuffer), P.keyLength, P.kStride), P.kStride);
  at.startRotary(rotary);
  commitCopies();
  at.template start<keyRows, Seen::keys>(
      at.values, at.in(readable<T>(valueBuffer), P.keyLength, P.vStride), P.vStride);
  commitCopies();
  at.rotateAll();

  const int g = rowOfLane(), t = columnOfLane();
  bf16 *queries = at.ofQueries(at.queries);
  const bf16 *keys = at.ofKeys(at.keys), *values = at.ofKeys(at.values);
  auto *o = at.in(writable<T>(outputBuffer), P.length, P.oStride);
  const Seen visibility{P.hasSegments ? segments + at.batch * P.keyLength : nullptr};
  // Scores are multiplied by `factor` on their way to the exponential if that keeps their order.
  constexpr bool factorLast = P.scale > 0;
  constexpr T scale = static_cast<T>(P.scale * log2OfE), factor = factorLast ? scale : T(1);
  // Tiles that see many keys and tiles that see few for each warp: 0 3 4 7, 1 2 5 6.
  HYBRID_NO_UNROLL
  for (int i = 0; i * Whole::warps * 16 < Seen::queries; ++i) {
    const int warpFirst = (i * Whole::warps + ((i & 1) ^ at.warp)) * 16, row = warpFirst + g;
    if (warpFirst >= Seen::queries)
      continue;
    uint32_t ownQueries[chunks][4];
    Whole::template load<false>(ownQueries, queries + warpFirst * stride + at.halfPlace);
    T output[chunks][4], top[2] = {-infinity<T>(), -infinity<T>()}, sum[2] = {T(0), T(0)};
    clearFragments(output);
    const int low = Seen::position(warpFirst), high = low + 15;
    const typename Seen::Range seenKeys[2] = {visibility.keysOf(row), visibility.keysOf(row + 8)};
    auto take = [&]<int blocks>(int key) {
      constexpr int step = 8 * blocks;
      const int place = key * stride + (blocks == 4 ? at.lanePlace : at.halfPlace);
      uint32_t some[chunks][4];
      Whole::template load<false>(some, keys + place);
      T scores[blocks][4];
      clearFragments(scores);
      HYBRID_UNROLL
      for (int block = 0; block < blocks; ++block)
        Whole::multiply(scores[block], ownQueries, 0, some, block);
      Whole::template load<true>(some, values + place);
      if constexpr (!factorLast) {
        HYBRID_UNROLL
        for (int block = 0; block < blocks; ++block)
          HYBRID_UNROLL
        for (int j = 0; j < 4; ++j)
          scores[block][j] *= scale;
      }
      if (!Seen::isWhole(low, high, key, key + step - 1))
        visibility.template hide<Seen::keysBegin, Seen::keysEnd(step)>(scores, -infinity<T>(),
                                                                       seenKeys, row, key);
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
        const T keep = exponential2(multiplyAdd(top[half], factor, base));
        top[half] = most;
        T more = T(0);
        HYBRID_UNROLL
        for (int block = 0; block < blocks; ++block) {
          T(&four)[4] = scores[block];
          four[2 * half] = exponential2(multiplyAdd(four[2 * half], factor, base));
          four[2 * half + 1] = exponential2(multiplyAdd(four[2 * half + 1], factor, base));
          more += four[2 * half] + four[2 * half + 1];
        }
        sum[half] = multiplyAdd(sum[half], keep, more);
        HYBRID_UNROLL
        for (int chunk = 0; chunk < chunks; ++chunk) {
          output[chunk][2 * half] *= keep;
          output[chunk][2 * half + 1] *= keep;
        }
      }
      HYBRID_UNROLL
      for (int block = 0; block < blocks; block += 2) {
        uint32_t left[4];
        Whole::round(left, scores[block], scores[block + 1]);
        Whole::accumulate(output, left, some, block);
      }
    };
    const int end = Seen::endOfKeys(high);
    int key = Seen::firstKey(low) / 16 * 16;
    HYBRID_NO_UNROLL
    for (; key + 16 < end; key += 32)
      take.template operator()<4>(key);
    if (key < end)
      take.template operator()<2>(key);
    T inverse[2];
    HYBRID_UNROLL
    for (int half = 0; half < 2; ++half) {
      sum[half] = rowSum(sum[half]);
      inverse[half] = sum[half] == T(0) ? T(0) : approximateReciprocal(sum[half]);
      if (t == 0)
        storePack(at.statistics + (at.head * queryRows + row + half * 8) * 2,
                  Pack<T, 2>{top[half], sum[half]});
    }
    warpBarrier(); // the tile's queries are read
    at.template store<Side::Other>(output, inverse[0], inverse[1], queries, o, P.oStride, warpFirst,
                                   Seen::queries, 0);
  }
  blockBarrier();
  at.template finish<queryRows, Seen::queries>(o, at.queries, P.oStride);
  Whole::template share<Whole::heads * queryRows>([&](uint32_t i) {
    constexpr uint32_t rows = queryRows, count = Seen::queries;
    const auto pair = loadPack<2>(at.statistics + 2 * i);
    if (rows == count || i % rows < count)
      lse[at.rowsBefore() + i / rows * count + i % rows] =
          pair[1] == T(0)
              ? -infinity<T>()
              : multiplyAdd(pair[0] * factor, static_cast<T>(naturalLogOf2), logarithm(pair[1]));
  });
}

template <typename T, AttentionParams P, typename Q, typename K, typename V, typename O,
          typename DO, typename DQ, typename DK, typename DV>
HYBRID_DEVICE void attentionBackwardWhole(int64_t item, Q queryBuffer, K keyBuffer, V valueBuffer,
                                          const int32_t *segments, const T *rotary, O outputBuffer,
                                          const T *lse, DO cotangentBuffer, const T *dLse,
                                          DQ queryGradientBuffer, DK keyGradientBuffer,
                                          DV valueGradientBuffer) {
  using Whole = WholeHeads<P, AttentionPass::BackwardKeys, T>;
  using Seen = typename Whole::Seen;
  constexpr int chunks = Whole::chunks, stride = Whole::stride, queryRows = Whole::queryRows,
                keyRows = Whole::keyRows, step = 16, keySteps = keyRows / step, blocks = step / 8;
  const Whole at(item);
  at.template start<queryRows, Seen::queries>(
      at.queries, at.in(readable<T>(queryBuffer), P.length, P.qStride), P.qStride);
  at.template start<keyRows, Seen::keys>(
      at.keys, at.in(readable<T>(keyBuffer), P.keyLength, P.kStride), P.kStride);
  at.startRotary(rotary);
  commitCopies();
  at.template start<keyRows, Seen::keys>(
      at.values, at.in(readable<T>(valueBuffer), P.keyLength, P.vStride), P.vStride);
  at.template start<queryRows, Seen::queries>(
      at.cotangents, at.in(readable<T>(cotangentBuffer), P.length, P.oStride), P.oStride);
  at.template start<queryRows, Seen::queries>(
      at.outputs, at.in(readable<T>(outputBuffer), P.length, P.oStride), P.oStride);
  at.startStatistic(0, lse);
  if constexpr (P.hasLseGradient != 0)
    at.startStatistic(1, dLse);
  commitCopies();
  at.rotateAll();

  bf16 *queries = at.ofQueries(at.queries), *keys = at.ofKeys(at.keys),
       *values = at.ofKeys(at.values);
  const bf16 *cotangents = at.ofQueries(at.cotangents), *outputs = at.ofQueries(at.outputs);
  T *statistics = at.statistics + at.head * queryRows * 2;
  HYBRID_UNROLL
  for (int start = 0; start < queryRows; start += warpSize) {
    const int row = start + laneIndex();
    // Negative, as they are added.
    T delta = P.hasLseGradient != 0 ? -statistics[2 * row + 1] : T(0);
    HYBRID_UNROLL
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const auto left = Whole::loadEight(outputs + row * stride + chunk * 8),
                 right = Whole::loadEight(cotangents + row * stride + chunk * 8);
      HYBRID_UNROLL
      for (int i = 0; i < 8; ++i)
        delta = multiplyAdd(left[i], right[i], delta);
    }
    // Rows that saw nothing, and those behind the last, get probability 0 for every key.
    T log = statistics[2 * row] * static_cast<T>(-log2OfE);
    if (row >= Seen::queries || log == infinity<T>())
      log = -infinity<T>();
    storePack(statistics + 2 * row, Pack<T, 2>{log, -delta});
  }
  warpBarrier();

  const int g = rowOfLane(), t = columnOfLane();
  // Two tiles at a time: the first lanes point to one, the others to the other.
  const bool ofFirst = laneIndex() < 16;
  const bf16 *someQueries = (ofFirst ? queries : cotangents) + at.halfPlace,
             *someKeys = (ofFirst ? keys : values) + at.halfPlace, *laneKeys = keys + at.lanePlace;
  auto *dq = at.in(writable<T>(queryGradientBuffer), P.length, P.dqStride);
  auto *dk = at.in(writable<T>(keyGradientBuffer), P.keyLength, P.dkStride);
  auto *dv = at.in(writable<T>(valueGradientBuffer), P.keyLength, P.dvStride);
  const Seen visibility{P.hasSegments ? segments + at.batch * P.keyLength : nullptr};
  constexpr T factor = static_cast<T>(P.scale * log2OfE), scale = static_cast<T>(P.scale);
  T dKeys[keySteps][chunks][4], dValues[keySteps][chunks][4];
  HYBRID_UNROLL
  for (int i = 0; i < keySteps; ++i) {
    clearFragments(dKeys[i]);
    clearFragments(dValues[i]);
  }
  HYBRID_NO_UNROLL
  for (int query = 0; query < Seen::queries; query += step) {
    uint32_t rows[chunks][4], columns[chunks][4]; // of queries, and behind them of cotangents
    Whole::template load<false>(rows, someQueries + query * stride);
    Whole::template load<true>(columns, someQueries + query * stride);
    T pairs[blocks][4]; // of two queries: log and delta of each
    HYBRID_UNROLL
    for (int block = 0; block < blocks; ++block)
      readVectors(statistics + (query + block * 8 + 2 * t) * 2, pairs[block]);
    T dQueries[chunks][4];
    clearFragments(dQueries);
    const int low = Seen::position(query), high = low + step - 1;
    const int begin = Seen::firstKey(low), end = Seen::endOfKeys(high);
    HYBRID_UNROLL
    for (int pair = 0; pair < keySteps; pair += 2) {
      if ((pair + 2) * step <= begin || pair * step >= end)
        continue;
      uint32_t keyColumns[chunks][4]; // of two tiles
      Whole::template load<true>(keyColumns, laneKeys + pair * step * stride);
      HYBRID_UNROLL
      for (int i = pair; i < pair + 2; ++i) {
        const int key = i * step, row = key + g;
        if (key + step <= begin || key >= end)
          continue;
        uint32_t ofRows[chunks][4]; // of keys, and behind them of values
        Whole::template load<false>(ofRows, someKeys + key * stride);
        T powers[blocks][4], gradients[blocks][4];
        clearFragments(powers);
        clearFragments(gradients);
        HYBRID_UNROLL
        for (int block = 0; block < blocks; ++block) {
          Whole::multiply(powers[block], ofRows, 0, rows, block);
          Whole::multiply(gradients[block], ofRows, 2, rows, 2 + block);
          HYBRID_UNROLL
          for (int j = 0; j < 4; ++j)
            powers[block][j] = multiplyAdd(powers[block][j], factor, pairs[block][j % 2 * 2]);
        }
        if (!Seen::isWhole(low, high, key, key + step - 1)) {
          // Nobody sees keys behind the last: dq sums over them.
          auto seen = [](int of) {
            return of < Seen::keys ? Seen::queriesOf(of) : typename Seen::Range{0, 0};
          };
          const typename Seen::Range seenBy[2] = {seen(row), seen(row + 8)};
          visibility
              .template hide<Seen::queriesBegin, Seen::queriesEnd(step) || Seen::keys % step != 0>(
                  powers, -infinity<T>(), seenBy, row, query);
        }
        HYBRID_UNROLL
        for (int block = 0; block < blocks; ++block)
          HYBRID_UNROLL
        for (int j = 0; j < 4; ++j) {
          powers[block][j] = exponential2(powers[block][j]);
          gradients[block][j] =
              powers[block][j] * (gradients[block][j] + pairs[block][j % 2 * 2 + 1]);
        }
        uint32_t left[4];
        Whole::round(left, powers[0], powers[1]);
        Whole::accumulate(dValues[i], left, columns, 2);
        Whole::round(left, gradients[0], gradients[1]);
        Whole::accumulate(dKeys[i], left, columns, 0);
        const uint32_t turned[4] = {transposeMatrix(left[0]), transposeMatrix(left[2]),
                                    transposeMatrix(left[1]), transposeMatrix(left[3])};
        Whole::accumulate(dQueries, turned, keyColumns, 2 * (i - pair));
      }
    }
    warpBarrier(); // all lanes have read these queries, and behind the last all keys
    at.template store<Side::Query>(dQueries, scale, scale, queries, dq, P.dqStride, query,
                                   Seen::queries, Seen::shift);
  }
  HYBRID_UNROLL
  for (int i = 0; i < keySteps; ++i) {
    at.template store<Side::Key>(dKeys[i], scale, scale, keys, dk, P.dkStride, i * step, Seen::keys,
                                 0);
    at.template store<Side::Other>(dValues[i], T(1), T(1), values, dv, P.dvStride, i * step,
                                   Seen::keys, 0);
  }
  blockBarrier();
  at.template finish<queryRows, Seen::queries>(dq, at.queries, P.dqStride);
  at.template finish<keyRows, Seen::keys>(dk, at.keys, P.dkStride);
  at.template finish<keyRows, Seen::keys>(dv, at.values, P.dvStride);
}

} // namespace hybrid::cuda
