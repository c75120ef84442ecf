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
  HYBRID_DEVICE bool seen(int t, int key) const {
    const int at = position(t);
    bool result = t < queries && key < keys;
    if constexpr (A.past > 0)
      result = result && key >= hidden;
    if (A.causal)
      result = result && key <= at;
    if (A.window >= 0)
      result = result && key >= at - window && (A.causal || key <= at + window);
    if constexpr (A.hasSegments)
      result = result && segments[minimum(t, keys - 1)] == segments[minimum(key, keys - 1)];
    return result;
  }
};

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

/// Rows of a head at one distance.
template <typename T> struct EvenRows {
  const T *from;
  int64_t stride;
  HYBRID_DEVICE const T *operator()(int row) const { return from + row * stride; }
};
/// Those of a ring, from the oldest on, and behind them the others.
template <typename T, int past> struct RowsBehindRing {
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

/// Starts to bring rows [first, first + rows) of one head to a tile, by all threads; what is not
/// there becomes 0. `from` gives a row of the head, of which there are `count`; row i stands at
/// position i + shift. The tile is whole behind waitCopies() and a barrier.
template <AttentionParams P, int rows, Side side, typename T, typename Element, typename Rows>
HYBRID_DEVICE void startRows(Element *tile, const Rows &from, int first, int count, const T *table,
                             int shift) {
  constexpr int threadCount = threads(P), size = static_cast<int>(headSizeOf<P>(side));
  constexpr int columns = static_cast<int>(attentionColumns<T>(P));
  constexpr int wide = packWidth<T, P.alignment>;
  constexpr int tileRow =
      static_cast<int>(tileStride(productsOf<T>(P.bf16), sizeof(T), P.widestHead()));
  constexpr int packs = rows * columns / wide, batch = 4;
  constexpr bool rotates = side != Side::Other && P.rotaryDims > 0;
  HYBRID_NO_UNROLL
  for (int start = static_cast<int>(threadIdx.x); start < packs; start += batch * threadCount) {
    Pack<T, wide> loaded[batch];
    HYBRID_UNROLL
    for (int i = 0; i < batch; ++i) {
      const int pack = start + i * threadCount;
      const int row = pack / (columns / wide), column = pack % (columns / wide) * wide;
      const bool there = pack < packs && first + row < count && column < size;
      const T *source = from(there ? first + row : 0);
      if constexpr (sizeof(Element) == sizeof(T) && !rotates) {
        if (pack < packs)
          copyAsync<wide *static_cast<int>(sizeof(T))>(tile + row * tileRow + column,
                                                       source + (there ? column : 0), there);
      } else if (there) {
        loaded[i] = loadPack<wide>(source + column);
        if constexpr (rotates) {
          const T *angles = table + (first + row + shift) * (2 * P.rotaryDims);
          HYBRID_UNROLL
          for (int j = 0; j < wide; ++j)
            loaded[i][j] = rotated<P, side, false>(loaded[i][j], column + j, angles,
                                                   [&](int partner) { return source[partner]; });
        }
      } else {
        HYBRID_UNROLL
        for (int j = 0; j < wide; ++j)
          loaded[i][j] = T(0);
      }
    }
    if constexpr (sizeof(Element) != sizeof(T) || rotates) {
      HYBRID_UNROLL
      for (int i = 0; i < batch; ++i) {
        const int pack = start + i * threadCount;
        if (pack < packs)
          storeElements(tile + pack / (columns / wide) * tileRow + pack % (columns / wide) * wide,
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
template <AttentionParams P, int rows, Side side, bool prepared, typename T, typename Element,
          typename Memory>
HYBRID_DEVICE void startStreamed(Element *tile, const Memory *from, int64_t stride, int first,
                                 int count, const T *table, int shift) {
  if constexpr (prepared) {
    constexpr int columns = static_cast<int>(attentionColumns<T>(P)), threadCount = threads(P);
    constexpr int wide = 16 / static_cast<int>(sizeof(Element)), packs = rows * columns / wide;
    constexpr int tileRow =
        static_cast<int>(tileStride(productsOf<T>(P.bf16), sizeof(T), P.widestHead()));
    static_assert(packs % 32 == 0 && columns % wide == 0);
    HYBRID_UNROLL
    for (int i = 0; i < (packs + threadCount - 1) / threadCount; ++i) {
      const int pack = static_cast<int>(threadIdx.x) + i * threadCount;
      const int row = pack / (columns / wide), column = pack % (columns / wide) * wide;
      const bool there = first + row < count;
      if (pack < packs)
        copyAsync<16>(tile + row * tileRow + column,
                      from + (there ? first + row : 0) * columns + column, there);
    }
    commitCopies();
  } else {
    startRows<P, rows, side>(tile, EvenRows<T>{from, stride}, first, count, table, shift);
  }
}

/// A warp's 16 rows of sums to memory: columns [slab, slab + P.slab) of the head. Rows from `first`
/// on, of which there are `count` in all; sums are multiplied by factors of their two rows. `room`
/// is shared memory of this warp for 16 rows.
template <AttentionParams P, Side side, typename Tile, typename T, int blocks>
HYBRID_DEVICE void storeRows(T (&sums)[blocks][4], T upper, T lower, T *room, T *to, int64_t stride,
                             int first, int count, int slab, const T *table, int shift) {
  constexpr int size = static_cast<int>(headSizeOf<P>(side)),
                roomRow = static_cast<int>(P.slab) + 4;
  const int lane = laneIndex(), g = lane / 4, t = lane % 4;
  HYBRID_UNROLL
  for (int block = 0; block < blocks; ++block)
    HYBRID_UNROLL
  for (int i = 0; i < 4; ++i)
    room[(i < 2 ? g : g + 8) * roomRow + Tile::columnOf(block, 2 * t + i % 2)] =
        sums[block][i] * (i < 2 ? upper : lower);
  warpBarrier();
  constexpr int width = static_cast<int>(P.slab);
  constexpr bool rotates = side != Side::Other && P.rotaryDims > 0;
  // A rotation takes its partner from the same slab, or the head is one slab.
  constexpr int wide = packWidth<T, P.alignment>;
  HYBRID_NO_UNROLL
  for (int pack = lane; pack < 16 * width / wide; pack += warpSize) {
    const int row = pack / (width / wide), column = pack % (width / wide) * wide;
    if (first + row >= count || slab + column >= size)
      continue;
    const T *source = room + row * roomRow;
    Pack<T, wide> values;
    HYBRID_UNROLL
    for (int j = 0; j < wide; ++j) {
      values[j] = source[column + j];
      if constexpr (rotates)
        values[j] = rotated<P, side, true>(values[j], slab + column + j,
                                           table + (first + row + shift) * (2 * P.rotaryDims),
                                           [&](int partner) { return source[partner - slab]; });
    }
    storePack(to + (first + row) * stride + slab + column, values);
  }
  warpBarrier();
}

/// The sum, or the largest, over the four lanes that hold a row of a fragment.
template <typename T> HYBRID_DEVICE T rowSum(T value) {
  value += shuffleXor(value, 1);
  return value + shuffleXor(value, 2);
}
template <typename T> HYBRID_DEVICE T rowMax(T value) {
  value = maximum(value, shuffleXor(value, 1));
  return maximum(value, shuffleXor(value, 2));
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
      if (isOwner && laneIndex() % 4 == 0 && own < count)
        to[m * stride + own] = sum;
      sums[half][m] = T(0);
    }
  }
};

} // namespace hybrid::cuda
