//===- AttentionTile.cuh - what the attention kernels share -------------------===//
//
// Tiles of rows of one head on their way to shared memory and back, rotated by position, and who
// sees whom. Queries and keys are rotated on the way in, their gradients back on the way out.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Attention.h"
#include "codegen/kernels/cuda/TileProduct.cuh"

namespace hybrid::cuda {

constexpr double log2OfE = 1.4426950408889634074, naturalLogOf2 = 0.69314718055994530942;

/// Who sees whom; positions and keys fit in 31 bits.
template <AttentionParams A> struct Visibility {
  static constexpr int shift = static_cast<int>(A.keyLength - A.length);
  static constexpr int keys = static_cast<int>(A.keyLength), queries = static_cast<int>(A.length);
  static constexpr int window =
      static_cast<int>(A.window < A.keyLength + A.length ? A.window : A.keyLength + A.length);
  const int32_t *segments; // of this batch row
  int hidden = 0;          // keys at the start that there are not yet

  /// Of query t.
  static HYBRID_DEVICE int position(int t) { return t + shift; }
  /// Keys [firstKey, endOfKeys) hold every key that queries at positions [low, high] see.
  static HYBRID_DEVICE int firstKey(int low) {
    return A.window >= 0 ? maximum(0, low - window) : 0;
  }
  static HYBRID_DEVICE int endOfKeys(int high) {
    if (A.causal)
      return minimum(keys, high + 1);
    return A.window >= 0 ? minimum(keys, high + window + 1) : keys;
  }
  /// Queries [firstQuery, endOfQueries) hold every query that sees a key of [low, high].
  static HYBRID_DEVICE int firstQuery(int low) {
    if (A.causal)
      return maximum(0, low - shift);
    return A.window >= 0 ? maximum(0, low - window - shift) : 0;
  }
  static HYBRID_DEVICE int endOfQueries(int high) {
    return A.window >= 0 ? minimum(queries, high + window - shift + 1) : queries;
  }
  /// Does each query at positions [low, high] see each key of [first, last]? Rows behind the last
  /// query and keys behind the last count as seen by nobody.
  static HYBRID_DEVICE bool isWhole(int low, int high, int first, int last) {
    if (A.hasSegments || last >= keys || high - shift >= queries || (A.causal && last > low))
      return false;
    return A.window < 0 || (first >= high - window && (A.causal || last <= low + window));
  }
  /// Keys that query t sees, or queries that see a key: [first, end), segments aside.
  struct Range {
    int first, end;
  };
  HYBRID_DEVICE Range keysOf(int t) const {
    return {maximum(hidden, firstKey(position(t))), endOfKeys(position(t))};
  }
  static HYBRID_DEVICE Range queriesOf(int key) { return {firstQuery(key), endOfQueries(key)}; }
  /// Whether ranges of keys, or of queries, do not all begin at 0, and whether they end before the
  /// last step of so many.
  static constexpr bool keysBegin = A.window >= 0 || A.past > 0,
                        queriesBegin = A.causal || A.window >= 0;
  static constexpr bool keysEnd(int step) {
    return A.causal || A.window >= 0 || A.keyLength % step != 0;
  }
  static constexpr bool queriesEnd(int step) { return A.window >= 0 || A.length % step != 0; }

  /// Replaces what the two rows of a lane, `own` and `own` + 8, do not see of the columns from
  /// `first` on.
  template <bool begins, bool ends, int blocks, typename T>
  HYBRID_DEVICE void hide(T (&scores)[blocks][4], T as, const Range (&of)[2], int own,
                          int first) const {
    const int column = first + 2 * columnOfLane();
    HYBRID_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int from = of[half].first - column, end = of[half].end - column;
      HYBRID_UNROLL
      for (int block = 0; block < blocks; ++block)
        HYBRID_UNROLL
      for (int odd = 0; odd < 2; ++odd) {
        const int at = block * 8 + odd;
        T &score = scores[block][2 * half + odd];
        score = (!ends || at < end) && (!begins || at >= from) ? score : as;
      }
    }
    if constexpr (A.hasSegments) {
      const int32_t segment[2] = {segments[minimum(own, keys - 1)],
                                  segments[minimum(own + 8, keys - 1)]};
      HYBRID_UNROLL
      for (int block = 0; block < blocks; ++block)
        HYBRID_UNROLL
      for (int odd = 0; odd < 2; ++odd) {
        const int32_t other = segments[minimum(column + block * 8 + odd, keys - 1)];
        HYBRID_UNROLL
        for (int half = 0; half < 2; ++half)
          if (other != segment[half])
            scores[block][2 * half + odd] = as;
      }
    }
  }
};

/// The numbers of a pack of an activation.
template <typename T, typename Memory, int wide>
HYBRID_DEVICE Pack<T, wide> widened(const Pack<Memory, wide> &from) {
  if constexpr (sizeof(Memory) == sizeof(T)) {
    return from;
  } else {
    Pack<T, wide> to;
    HYBRID_UNROLL
    for (int i = 0; i < wide; ++i)
      to[i] = T(number(from[i]));
    return to;
  }
}

/// Whose rows: those of values, of results and their gradients are Other.
enum class Side { Query, Key, Other };

/// Channels of a head of that side.
template <AttentionParams A> constexpr int64_t headSizeOf(Side side) {
  return side == Side::Other ? A.valueSize : A.headSize;
}

/// The element at `column` of a row of a head, rotated if it is a query's or key's; `back` applies
/// the transposed rotation. `table` is the row of the position: cosines and sines of all pairs for
/// queries, then for keys.
template <AttentionParams A, Side side, bool back, typename T, typename Read>
HYBRID_DEVICE T rotated(T own, int column, const T *table, Read &&read) {
  constexpr int dims = static_cast<int>(A.rotaryDims), half = dims / 2;
  if (side == Side::Other || column >= dims)
    return own;
  const int pair = A.rotaryInterleaved ? column / 2 : column % half;
  const bool second = A.rotaryInterleaved ? column % 2 == 1 : column >= half;
  const int partner = A.rotaryInterleaved ? column ^ 1 : second ? column - half : column + half;
  const T *factors = table + pair + (side == Side::Key ? dims : 0);
  const T sine = second == back ? -factors[half] : factors[half];
  return multiplyAdd(own, factors[0], read(partner) * sine);
}

/// The same for a pack of a row, which begins at `column`; `row` has the others.
template <AttentionParams A, Side side, bool back, int wide, typename T, typename Memory>
HYBRID_DEVICE void rotatePack(Pack<T, wide> &own, int column, const T *table, const Memory *row) {
  constexpr int dims = static_cast<int>(A.rotaryDims), half = dims / 2;
  if constexpr (side == Side::Other || dims == 0) {
    return;
  } else if constexpr (!A.rotaryInterleaved && half % wide == 0) {
    if (dims != headSizeOf<A>(side) && column >= dims)
      return;
    const bool second = column >= half;
    const T *factors = table + (second ? column - half : column) + (side == Side::Key ? dims : 0);
    const auto partner = loadPack<wide>(row + (second ? column - half : column + half));
    const Pack<T, wide> cosines = loadPack<wide>(factors), sines = loadPack<wide>(factors + half);
    HYBRID_UNROLL
    for (int i = 0; i < wide; ++i)
      own[i] = multiplyAdd(own[i], cosines[i],
                           T(number(partner[i])) * (second == back ? -sines[i] : sines[i]));
  } else {
    T turned[wide];
    HYBRID_UNROLL
    for (int i = 0; i < wide; ++i)
      turned[i] = rotated<A, side, back>(own[i], column + i, table, [&](int partner) {
        if constexpr (A.rotaryInterleaved && wide % 2 == 0)
          return own[i ^ 1];
        else if constexpr (dims <= wide) // all in the pack at column 0
          return own[i < half ? i + half : i < dims ? i - half : i];
        else
          return T(number(row[partner]));
      });
    HYBRID_UNROLL
    for (int i = 0; i < wide; ++i)
      own[i] = turned[i];
  }
}

/// Rows of a head at one distance.
template <typename T> struct EvenRows {
  using Memory = T;
  const T *from;
  int64_t stride;
  HYBRID_DEVICE const T *operator()(int row) const { return from + row * stride; }
};
template <typename T> EvenRows(const T *, int64_t) -> EvenRows<T>;
/// Those of a ring, from the oldest on, and behind them the others.
template <typename T, int past> struct RowsBehindRing {
  using Memory = T;
  const T *own;
  int64_t stride;
  const T *ring;
  int64_t ringStride;
  int oldest; // its row
  HYBRID_DEVICE const T *operator()(int row) const {
    const int at = oldest + row;
    return row >= past ? own + (row - past) * stride
                       : ring + (at < past ? at : at - past) * ringStride;
  }
};

/// The tiles of a head's rows.
template <AttentionParams P, typename T>
using TileOf = TileProduct<productsOf<T>(P.bf16), T, static_cast<int>(attentionColumns<T>(P)), 8,
                           TileRows::Spread>;

/// Which packs of a tile of `rows` rows a thread of a block moves: those of every row, `perRow`, in
/// turn.
template <int threadCount, int rows, int perRow> struct PacksOfThread {
  static constexpr int count = (rows * perRow + threadCount - 1) / threadCount;
  static constexpr bool even = threadCount % perRow == 0; // always the same column
  const int thread = static_cast<int>(threadIdx.x);
  HYBRID_DEVICE int row(int i) const {
    if constexpr (even)
      return static_cast<int>(threadIdx.x / static_cast<unsigned>(perRow)) +
             i * (threadCount / perRow);
    else
      return (thread + i * threadCount) / perRow;
  }
  /// Where in the tile that row is.
  template <typename Tile> HYBRID_DEVICE int place(int i) const {
    constexpr int apart = threadCount / perRow;
    if constexpr (even && apart % 8 == 0)
      return placeOfRow<Tile::spread>(row(0)) + i * apart;
    else
      return placeOfRow<Tile::spread>(row(i));
  }
  HYBRID_DEVICE int column(int i) const {
    if constexpr (even)
      return static_cast<int>(threadIdx.x % static_cast<unsigned>(perRow));
    else
      return (thread + i * threadCount) % perRow;
  }
};

/// Clears the columns of a tile behind those of a head.
template <AttentionParams P, int rows, Side side, typename T, typename Element>
HYBRID_DEVICE void clearPadding(Element *tile) {
  constexpr int threadCount = threads(P), size = static_cast<int>(headSizeOf<P>(side));
  constexpr int columns = static_cast<int>(attentionColumns<T>(P));
  constexpr int wide = packWidth<T, P.alignment>, perRow = (columns - size) / wide;
  using Tile = TileOf<P, T>;
  if constexpr (perRow > 0) {
    const PacksOfThread<threadCount, rows, perRow> packs;
    HYBRID_NO_UNROLL
    for (int i = 0; i < packs.count; ++i)
      if (packs.row(i) < rows)
        storePack(tile + packs.row(i) * Tile::stride + size + packs.column(i) * wide,
                  Pack<Element, wide>{});
  }
}

/// Starts to bring rows [first, first + rows) of one head to a tile, by all threads; what is not
/// there becomes 0. `from` gives a row of the head, of which there are `count`; row i stands at
/// position i + shift; `first` is a multiple of `rows`. The tile is whole behind waitCopies() and a
/// barrier, but for columns behind those of the head.
template <AttentionParams P, int rows, int count, Side side, typename T, typename Element,
          typename Rows>
HYBRID_DEVICE void startRows(Element *tile, const Rows &from, int first, const T *table,
                             int shift) {
  constexpr int threadCount = threads(P), size = static_cast<int>(headSizeOf<P>(side));
  constexpr int wide = packWidth<T, P.alignment>, perRow = size / wide;
  using Tile = TileOf<P, T>;
  using Packs = PacksOfThread<threadCount, rows, perRow>;
  constexpr int batch = Packs::count < 4 ? Packs::count : 4;
  constexpr bool rotates = side != Side::Other && P.rotaryDims > 0;
  using Memory = typename Rows::Memory;
  constexpr bool copies =
      sizeof(Element) == sizeof(Memory) && !rotates && wide * sizeof(Memory) >= 4;
  constexpr bool full = rows * perRow % (batch * threadCount) == 0, whole = count % rows == 0;
  const Packs packs;
  HYBRID_NO_UNROLL
  for (int start = 0; start < Packs::count; start += batch) {
    // All loads first, none behind a branch.
    Pack<T, wide> loaded[batch];
    HYBRID_UNROLL
    for (int i = 0; i < batch; ++i) {
      const int row = packs.row(start + i), column = packs.column(start + i) * wide;
      const bool inTile = full || row < rows, there = inTile && (whole || first + row < count);
      const Memory *source = from(there ? first + row : 0);
      if constexpr (copies) {
        if (inTile)
          copyAsync<wide *static_cast<int>(sizeof(Memory))>(
              tile + packs.template place<Tile>(start + i) * Tile::stride + column, source + column,
              there);
      } else {
        loaded[i] = widened<T>(loadPack<wide>(source + column));
        if constexpr (rotates)
          rotatePack<P, side, false>(
              loaded[i], column, table + ((there ? first + row : 0) + shift) * (2 * P.rotaryDims),
              source);
        if constexpr (!full || !whole) {
          HYBRID_UNROLL
          for (int j = 0; j < wide; ++j)
            loaded[i][j] = there ? loaded[i][j] : T(0);
        }
      }
    }
    if constexpr (!copies) {
      HYBRID_UNROLL
      for (int i = 0; i < batch; ++i) {
        const int row = packs.row(start + i), column = packs.column(start + i) * wide;
        if (full || row < rows)
          storeElements(tile + packs.template place<Tile>(start + i) * Tile::stride + column,
                        loaded[i]);
      }
    }
  }
  commitCopies();
}

/// What a tensor of the column side holds in memory.
template <typename T, AttentionParams P, bool prepared> struct StreamedOf {
  using type = T;
};
template <typename T, AttentionParams P> struct StreamedOf<T, P, true> {
  using type = TileElement<productsOf<T>(P.bf16), T>;
};
template <typename T, AttentionParams P>
using FirstStreamed = typename StreamedOf<T, P, (P.preparedFirst != 0)>::type;
template <typename T, AttentionParams P>
using SecondStreamed = typename StreamedOf<T, P, (P.preparedSecond != 0)>::type;

/// Where a head of a tensor of the column side begins; `rows` of a batch row.
template <AttentionParams P, Side side, bool prepared, typename T, typename Memory>
HYBRID_DEVICE const Memory *streamOf(const Memory *tensor, int64_t batch, int64_t heads,
                                     int64_t head, int64_t rows, int64_t stride) {
  if constexpr (prepared)
    return tensor + (batch * heads + head) * rows * attentionColumns<T>(P);
  else
    return tensor + batch * rows * stride + head * headSizeOf<P>(side);
}
/// startRows() for the column side.
template <AttentionParams P, int rows, int count, Side side, bool prepared, typename T,
          typename Element, typename Memory>
HYBRID_DEVICE void startStreamed(Element *tile, const Memory *from, int64_t stride, int first,
                                 const T *table, int shift) {
  if constexpr (prepared) {
    constexpr int columns = static_cast<int>(attentionColumns<T>(P)), threadCount = threads(P);
    constexpr int wide = 16 / static_cast<int>(sizeof(Element));
    using Tile = TileOf<P, T>;
    const PacksOfThread<threadCount, rows, columns / wide> packs;
    HYBRID_UNROLL
    for (int i = 0; i < packs.count; ++i) {
      const int row = packs.row(i), column = packs.column(i) * wide;
      const bool there = count % rows == 0 || first + row < count;
      if (rows * (columns / wide) % threadCount == 0 || row < rows)
        copyAsync<16>(tile + packs.template place<Tile>(i) * Tile::stride + column,
                      from + (there ? first + row : 0) * columns + column, there);
    }
    commitCopies();
  } else {
    startRows<P, rows, count, side>(tile, EvenRows{from, stride}, first, table, shift);
  }
}
/// clearPadding() for it: what is prepared has it.
template <AttentionParams P, int rows, Side side, bool prepared, typename T, typename Element>
HYBRID_DEVICE void clearStreamed(Element *tile) {
  if constexpr (!prepared)
    clearPadding<P, rows, side, T>(tile);
}

/// Goes through the tiles of the column side, which has `count` rows, that hold some of [begin,
/// end): start(first, buffer) starts to bring one to a buffer, compute(first, buffer) takes it. Two
/// buffers take turns if tiles are to come ahead.
template <AttentionParams P, int count, typename Start, typename Compute>
HYBRID_DEVICE void forTiles(int begin, int end, Start &&start, Compute &&compute) {
  constexpr int tile = static_cast<int>(P.columnTile);
  if constexpr (count <= tile && P.keySplits == 1) {
    start(0, 0);
    waitCopies<0>();
    blockBarrier();
    compute(0, 0);
  } else {
    constexpr bool ahead = P.ahead != 0;
    int first = begin / tile * tile, buffer = 0;
    if (first < end)
      start(first, 0);
    HYBRID_NO_UNROLL
    for (; first < end; first += tile) {
      const bool more = first + tile < end;
      waitCopies<0>();
      blockBarrier();
      if (ahead && more)
        start(first + tile, 1 - buffer);
      compute(first, buffer);
      if (!ahead && more) {
        blockBarrier(); // the tile is done with
        start(first + tile, 0);
      }
      buffer = ahead ? 1 - buffer : 0;
    }
  }
}

/// The sum, or the largest, over the four lanes that hold a row of a fragment.
template <typename T> HYBRID_DEVICE T rowSum(T value) {
  value += shuffleXor(value, 1);
  return value + shuffleXor(value, 2);
}
template <typename T> HYBRID_DEVICE T rowMax(T value) {
  value = maximumNumber(value, shuffleXor(value, 1));
  return maximumNumber(value, shuffleXor(value, 2));
}

/// Where head `head` of batch row `batch` begins in a buffer of rows.
template <AttentionParams A, Side side, typename T>
HYBRID_DEVICE T *headOf(T *buffer, int64_t batch, int64_t rows, int64_t stride, int64_t head) {
  return buffer + batch * rows * stride + head * headSizeOf<A>(side);
}

/// No function: scores are logits.
struct NoFunction {
  template <typename T> static HYBRID_DEVICE void apply(const T *, T *) {}
};

/// A model's own score of a head: its terms, and its function and gradient, each of which is called
/// with a number for each argument.
template <typename T, AttentionParams P, typename Score, typename Gradient = NoFunction>
struct Scoring {
  static constexpr int queryTerms = static_cast<int>(P.queryTerms),
                       keyTerms = static_cast<int>(P.keyTerms), count = 4 + queryTerms + keyTerms,
                       gradients = 1 + queryTerms + keyTerms;
  const T *ofQueries, *ofKeys; // of the head
  T head;
  T first = 0; // position of key 0

  HYBRID_DEVICE Scoring(const T *queries, const T *keys, int64_t batch, int64_t head)
      : ofQueries(queryTerms ? queries + (batch * P.queryTerms * P.heads + head) * P.length
                             : nullptr),
        ofKeys(keyTerms ? keys + (batch * P.keyTerms * P.heads + head) * P.keyLength : nullptr),
        head(static_cast<T>(head)) {}

  HYBRID_DEVICE void arguments(T *x, T score, int query, int key) const {
    constexpr int64_t queryStride = P.heads * P.length, keyStride = P.heads * P.keyLength;
    using Seen = Visibility<P>;
    x[0] = score, x[1] = static_cast<T>(Seen::position(query)), x[2] = static_cast<T>(key);
    x[3] = head;
    if constexpr (P.past > 0)
      x[1] += first, x[2] += first;
    HYBRID_UNROLL
    for (int m = 0; m < queryTerms; ++m)
      x[4 + m] = ofQueries[m * queryStride + minimum(query, Seen::queries - 1)];
    HYBRID_UNROLL
    for (int m = 0; m < keyTerms; ++m)
      x[4 + queryTerms + m] = ofKeys[m * keyStride + minimum(key, Seen::keys - 1)];
  }
  /// In powers of two, as the softmax takes it, of the product of a query and a key.
  HYBRID_DEVICE T logit(T product, int query, int key) const {
    if constexpr (P.score == 0) {
      return product * static_cast<T>(P.scale * log2OfE);
    } else {
      T x[count], y[1];
      arguments(x, product * static_cast<T>(P.scale), query, key);
      Score::apply(x, y);
      return y[0] * static_cast<T>(log2OfE);
    }
  }
  /// The logit less the log of all, which is given as a negative number.
  HYBRID_DEVICE T power(T product, T log, int query, int key) const {
    if constexpr (P.score == 0)
      return multiplyAdd(product, static_cast<T>(P.scale * log2OfE), log);
    else
      return logit(product, query, key) + log;
  }
  /// The gradients of the score and of the terms, of that of the logit. Where that is 0 they are,
  /// whatever the slope of a logit that nobody sees.
  HYBRID_DEVICE void gradient(T (&y)[gradients], T product, T dLogit, int query, int key) const {
    T x[count + 1];
    arguments(x, product * static_cast<T>(P.scale), query, key);
    x[count] = dLogit;
    Gradient::apply(x, y);
    HYBRID_UNROLL
    for (int m = 0; m < gradients; ++m)
      y[m] = dLogit == T(0) ? T(0) : y[m];
  }
};

/// One sum a term for rows g and g + 8 of a warp; row i of a head of `rows`.
template <typename T, int terms> struct TermSums {
  T sums[2][terms > 0 ? terms : 1] = {};

  HYBRID_DEVICE void add(int half, const T *gradients) {
    HYBRID_UNROLL
    for (int m = 0; m < terms; ++m)
      sums[half][m] += gradients[m];
  }
  /// Adds up the lanes of a row and stores, one row `stride` behind the other term's.
  HYBRID_DEVICE void store(T *to, int64_t stride, int row, int count, bool isOwner) {
    HYBRID_UNROLL
    for (int half = 0; half < 2; ++half)
      HYBRID_UNROLL
    for (int m = 0; m < terms; ++m) {
      const T sum = rowSum(sums[half][m]);
      const int own = row + half * 8;
      if (isOwner && columnOfLane() == 0 && own < count)
        to[m * stride + own] = sum;
      sums[half][m] = T(0);
    }
  }
};

} // namespace hybrid::cuda
