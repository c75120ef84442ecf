//===- Attention.cpp - softmax attention without a matrix in memory -------===//
//
// Queries, keys and values of one head are transposed once into blocks [dimension][lane] of 16
// (f32) or 8 (f64) rows. A block is then both a set of vectors, when its rows are lanes, and a set
// of scalars to broadcast, when the other side's rows are. No inner loop reduces over lanes,
// whatever the head size. Rotation happens on transposed blocks, where a pair of dimensions is a
// pair of vectors.
//
// Forward: lanes are queries; scores of a block of keys stay in registers, the softmax is online,
// in powers of two (log2 e is folded into the scale). Only the output and the log of the sum are
// kept. Backward: lanes are keys; scores are recomputed once, dk and dv grow lane by lane, and dq
// takes the block of score gradients transposed in registers: 5 products a pair instead of 7 in two
// passes. Blocks of keys that no query of a block sees are skipped. The few queries of a step of
// decoding are taken one by one: lanes are dimensions, and rows of keys and values are read as they
// lie. Bound by FMAs for heads of 32 or more, by the exponential below. Dao et al. 2022 for the
// recomputation; Milakov and Gimelshein 2018 for the online softmax.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/Attention.h"
#include "AttentionVisibility.h"
#include "Transpose.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

/// What is generated of a model's expression: of vectors, one an argument and one a result.
template <typename T> using ScoreFunction = void(const Vector<T> *x, Vector<T> *y);

constexpr double log2OfE = 1.4426950408889634074, naturalLogOf2 = 0.69314718055994530942;

template <typename T> constexpr T minusInfinity = -static_cast<T>(__builtin_inf());

/// What a score's function is given, a vector an argument: that of a query and a key, of which
/// either is a vector of rows, or one row for all lanes. A memory of its own: a function that is
/// not known to leave anything else alone must not hide what is constant.
template <typename T> using ScoreArguments = Vector<T>[5 + 2 * mostScoreTerms];

/// A model's own score of a head.
template <typename T> struct Scoring {
  const AttentionParams &params;
  const T *queryTerms, *keyTerms; // of the head
  T first = 0;                    // position of key 0

  Scoring(const AttentionParams &params, Buffers buffers, int64_t batch, int64_t head)
      : params(params), queryTerms(nullptr), keyTerms(nullptr) {
    if (params.past)
      first = buffers.at<const T>(11)[batch] - static_cast<T>(params.past);
    if (params.queryTerms)
      queryTerms = buffers.at<const T>(5) +
                   (batch * params.queryTerms * params.heads + head) * params.length;
    if (params.keyTerms)
      keyTerms = buffers.at<const T>(6) +
                 (batch * params.keyTerms * params.heads + head) * params.keyLength;
  }

  int64_t count() const { return 4 + params.queryTerms + params.keyTerms; }
  Vector<T> *ofKey(Vector<T> *x) const { return x + 4 + params.queryTerms; }

  static void setHead(Vector<T> *x, int64_t head) { x[3] = splat(static_cast<T>(head)); }
  void setQueries(Vector<T> *x, Integers<T> positions, int64_t t, int64_t rows) const {
    x[1] = __builtin_convertvector(positions, Vector<T>) + first;
    for (int64_t m = 0; m < params.queryTerms; ++m)
      x[4 + m] = loadPart(queryTerms + m * params.heads * params.length + t, rows);
  }
  void setQuery(Vector<T> *x, int64_t position, int64_t t) const {
    x[1] = splat(static_cast<T>(position) + first);
    for (int64_t m = 0; m < params.queryTerms; ++m)
      x[4 + m] =
          splat(queryTerms[m * params.heads * params.length + minimum(t, params.length - 1)]);
  }
  void setKeys(Vector<T> *x, Integers<T> numbers, int64_t s, int64_t rows) const {
    x[2] = __builtin_convertvector(numbers, Vector<T>) + first;
    for (int64_t m = 0; m < params.keyTerms; ++m)
      ofKey(x)[m] = loadPart(keyTerms + m * params.heads * params.keyLength + s, rows);
  }
  void setKey(Vector<T> *x, int64_t s) const {
    x[2] = splat(static_cast<T>(s) + first);
    for (int64_t m = 0; m < params.keyTerms; ++m)
      ofKey(x)[m] =
          splat(keyTerms[m * params.heads * params.keyLength + minimum(s, params.keyLength - 1)]);
  }

  /// In powers of two, as the softmax takes it.
  Vector<T> logit(Vector<T> *x, Vector<T> score) const {
    Vector<T> y;
    x[0] = score;
    reinterpret_cast<ScoreFunction<T> *>(params.score)(x, &y);
    return y * static_cast<T>(log2OfE);
  }
  /// The gradients of the score and of the terms, of that of the logit. Where that is 0 they are,
  /// whatever the slope of a logit that nobody sees.
  void gradients(Vector<T> *x, Vector<T> score, Vector<T> dLogit, Vector<T> *y) const {
    x[0] = score, x[count()] = dLogit;
    reinterpret_cast<ScoreFunction<T> *>(params.scoreGradient)(x, y);
    for (int64_t m = 0; m < count() - 3; ++m)
      y[m] = dLogit == T(0) ? splat(T(0)) : y[m];
  }
};

/// Rotates transposed rows by the angles of their positions; `back` applies the transposed map.
/// `table` is transposed too: cosines of all pairs of dimensions, and their sines.
template <typename T>
HYBRID_NOINLINE void rotate(T *rows, const T *table, int64_t rotaryDims, int64_t interleaved,
                            bool back) {
  const int64_t width = lanes<T>, half = rotaryDims / 2;
  for (int64_t i = 0; i < half; ++i) {
    T *first = rows + (interleaved ? 2 * i : i) * width;
    T *second = rows + (interleaved ? 2 * i + 1 : i + half) * width;
    Vector<T> cosine = load(table + i * width), sine = load(table + (half + i) * width);
    if (back)
      sine = -sine;
    Vector<T> a = load(first), b = load(second);
    store<T>(first, a * cosine - b * sine);
    store<T>(second, b * cosine + a * sine);
  }
}

/// Loads, transposes and rotates blocks of rows, and back.
template <typename T> struct Blocks {
  const AttentionParams &params;
  const T *table;
  T *turned; // room for a transposed block of the table

  /// Rows from `first` on, `rows` of them valid, the first at `position`.
  void load(T *out, Activation<T> in, int64_t stride, int64_t rows, int64_t size) const {
    loadTransposed<T>(out, in, stride, rows, size);
  }
  void rotateBlock(T *block, int64_t position, int64_t rows, bool isKey, bool back) const {
    if (params.rotaryDims <= 0)
      return;
    loadTransposed<T>(turned, anglesOf(position, isKey), 2 * params.rotaryDims, rows,
                      params.rotaryDims);
    rotate<T>(block, turned, params.rotaryDims, params.rotaryInterleaved, back);
  }
  /// Cosines of all pairs of dimensions, and behind them the sines.
  const T *anglesOf(int64_t position, bool isKey) const {
    return table + (2 * position + (isKey ? 1 : 0)) * params.rotaryDims;
  }
  void scale(T *block, T factor) const {
    for (int64_t d = 0; d < params.headSize; ++d)
      store<T>(block + d * lanes<T>, hybrid::cpu::load<T>(block + d * lanes<T>) * factor);
  }
};

/// products[i] = sum over d of vectors[d] * scalars[d][i].
template <typename T>
HYBRID_INLINE void multiply(Vector<T> *products, const T *vectors, const T *scalars,
                            int64_t headSize) {
  HYBRID_UNROLL
  for (int i = 0; i < lanes<T>; ++i)
    products[i] = splat(T(0));
  for (int64_t d = 0; d < headSize; ++d) {
    Vector<T> v = load(vectors + d * lanes<T>);
    HYBRID_UNROLL
    for (int i = 0; i < lanes<T>; ++i)
      products[i] += v * scalars[d * lanes<T> + i];
  }
}

/// sums[d] = sums[d] * keep + sum over i of weights[i] * scalars[d][i].
template <typename T>
HYBRID_INLINE void accumulate(T *sums, Vector<T> keep, const Vector<T> *weights, const T *scalars,
                              int64_t headSize) {
  for (int64_t d = 0; d < headSize; ++d) {
    // Two chains, so that additions overlap.
    Vector<T> even = load(sums + d * lanes<T>) * keep, odd = splat(T(0));
    HYBRID_UNROLL
    for (int i = 0; i < lanes<T>; i += 2) {
      even += weights[i] * scalars[d * lanes<T> + i];
      odd += weights[i + 1] * scalars[d * lanes<T> + i + 1];
    }
    store<T>(sums + d * lanes<T>, even + odd);
  }
}

template <typename T> HYBRID_INLINE void clear(T *at, int64_t vectors) {
  for (int64_t i = 0; i < vectors; ++i)
    store<T>(at + i * lanes<T>, splat(T(0)));
}

/// One head of one batch row of a buffer [batch * rows][heads * headSize].
template <typename T>
HYBRID_INLINE Activation<T> headOf(Activation<T> buffer, int64_t batch, int64_t rows,
                                   int64_t stride, int64_t head, int64_t headSize) {
  return buffer + (batch * rows * stride + head * headSize);
}

/// The keys or values of a head: those of a ring, from the oldest on, and behind them the op's own.
template <typename T> struct KeyRows {
  Activation<T> own;
  int64_t stride;
  Activation<T> ring = {}; // in full
  int64_t past = 0, ringStride = 0, oldest = 0 /* its row */;

  Activation<T> row(int64_t s) const {
    if (s >= past)
      return own + (s - past) * stride;
    const int64_t at = oldest + s;
    return ring + (at < past ? at : at - past) * ringStride;
  }
  /// How many rows from s on lie at one distance.
  int64_t run(int64_t s, int64_t end) const {
    if (s >= past)
      return end - s;
    return minimum(end, s < past - oldest ? past - oldest : past) - s;
  }
  int64_t strideAt(int64_t s) const { return s < past ? ringStride : stride; }

  /// A transposed block; `room` for one as it lies, where the rows are in several runs.
  void load(T *out, T *room, int64_t s, int64_t rows, int64_t size) const {
    if (run(s, s + rows) == rows)
      return loadTransposed<T>(out, row(s), strideAt(s), rows, size);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t c = 0; c < size; c += lanes<T>) {
        const int64_t count = minimum(lanes<T>, size - c);
        storePart(room + i * size + c, loadPart(row(s + i) + c, count), count);
      }
    loadTransposed<T>(out, room, size, rows, size);
  }
};

template <typename T, std::size_t... lane>
HYBRID_INLINE Vector<T> eachTwice(Vector<T> v, std::index_sequence<lane...>) {
  return __builtin_shufflevector(v, v, int(lane / 2)...);
}
template <typename T, std::size_t... lane>
HYBRID_INLINE Vector<T> neighboursOf(Vector<T> v, std::index_sequence<lane...>) {
  return __builtin_shufflevector(v, v, int(lane ^ 1)...);
}

/// Queries that would leave most lanes idle if lanes were queries.
constexpr int64_t mostFewQueries = 4;
/// How many rows before its turn a row is asked for: rows of a head are far from one another, so
/// that no hardware sees what comes next.
constexpr int64_t rowsAhead = 16;

/// Every weight of one query, in memory, then the sum of the values by them.
template <typename T> struct OneQuery {
  const AttentionParams &params;
  const Visibility<T> &visibility;
  const Scoring<T> &scoring;
  const Blocks<T> &blocks;
  const KeyRows<T> &k, &v;
  T *query;   // as it lies, rotated and scaled
  T *weights; // room for all

  static constexpr int64_t width = lanes<T>;

  /// The products of query and key, dimension by dimension, with sums of some of them.
  HYBRID_INLINE_LAMBDA Vector<T> products(int64_t s) const {
    const Activation<T> key = k.row(s), next = k.row(minimum(s + rowsAhead, params.keyLength - 1));
    const int64_t size = params.headSize, dims = maximum(0, params.rotaryDims), half = dims / 2;
    const T *cosines = dims > 0 ? blocks.anglesOf(s, true) : nullptr, *sines = cosines + half;
    for (int64_t d = 0; d < size; d += width)
      prefetch(next + d);
    Vector<T> sum = splat(T(0));
    if (params.rotaryInterleaved) {
      using Lanes = std::make_index_sequence<lanes<T>>;
      for (int64_t d = 0; d < dims; d += width) {
        const int64_t count = lanesAt<T>(d, dims);
        const Vector<T> own = loadPart(key + d, count),
                        cosine = eachTwice<T>(loadPart(cosines + d / 2, count / 2), Lanes()),
                        sine = eachTwice<T>(loadPart(sines + d / 2, count / 2), Lanes()),
                        turned = neighboursOf<T>(own, Lanes()) * sine;
        sum += loadPart(query + d, count) *
               (own * cosine + ((VectorTraits<T>::laneNumbers & 1) != 0 ? turned : -turned));
      }
    } else {
      for (int64_t i = 0; i < half; i += width) {
        const int64_t count = lanesAt<T>(i, half);
        const Vector<T> a = loadPart(key + i, count), b = loadPart(key + half + i, count),
                        cosine = loadPart(cosines + i, count), sine = loadPart(sines + i, count);
        sum += loadPart(query + i, count) * (a * cosine - b * sine) +
               loadPart(query + half + i, count) * (b * cosine + a * sine);
      }
    }
    for (int64_t d = dims; d < size; d += width) {
      const int64_t count = lanesAt<T>(d - dims, size - dims);
      sum += loadPart(query + d, count) * loadPart(key + d, count);
    }
    return sum;
  }

  /// The logits of query t, and the largest.
  T score(Vector<T> *x, int64_t t, int64_t first, int64_t end) const {
    const int64_t position = visibility.position(t);
    if (params.score)
      scoring.setQuery(x, position, t);
    Vector<T> top = splat(minusInfinity<T>);
    for (int64_t s = first; s < end; s += width) {
      const int64_t rows = minimum(width, params.keyLength - s);
      Vector<T> sums[lanes<T>];
      for (int64_t i = 0; i < width; ++i)
        sums[i] = i < rows ? products(s + i) : splat(T(0));
      Vector<T> logits = sumsOfLanes<T>(sums);
      const Integers<T> numbers = countFrom<T>(s);
      if (params.score) {
        scoring.setKeys(x, numbers, s, rows);
        logits = scoring.logit(x, logits);
      }
      if (!visibility.isWhole(position, position, s))
        logits = visibility.seen(every<T>(position), numbers, every<T>(visibility.segmentOf(t)),
                                 visibility.segmentsFrom(s))
                     ? logits
                     : splat(minusInfinity<T>);
      top = larger<T>(logits, top);
      store<T>(weights + s, logits);
    }
    return largestLane<T>(top);
  }

  /// Turns logits into powers of two, and returns their sum.
  T exponentiate(T base, int64_t first, int64_t end) const {
    Vector<T> sum = splat(T(0));
    for (int64_t s = first; s < end; s += width) {
      const Vector<T> weight = powerOfTwo(load(weights + s) - base);
      store<T>(weights + s, weight);
      sum += weight;
    }
    return sumOfLanes(sum);
  }

  void sumValues(Activation<T> o, T factor, int64_t first, int64_t end) const {
    constexpr int64_t side = 4;
    for (int64_t column = 0; column < params.valueSize; column += side * width) {
      const int64_t left = params.valueSize - column;
      Vector<T> sum[side];
      HYBRID_UNROLL
      for (int64_t i = 0; i < side; ++i)
        sum[i] = splat(T(0));
      for (int64_t s = first; s < end;) {
        Activation<T> row = v.row(s) + column;
        const int64_t stride = v.strideAt(s), behind = s + v.run(s, end);
        for (; s < behind; ++s, row = row + stride) {
          HYBRID_UNROLL
          for (int64_t i = 0; i < side; ++i)
            if (i * width < left) {
              prefetch(row + (rowsAhead * stride + i * width));
              sum[i] += loadPart(row + i * width, left - i * width) * weights[s];
            }
        }
      }
      HYBRID_UNROLL
      for (int64_t i = 0; i < side; ++i)
        if (i * width < left)
          storePart(o + (column + i * width), sum[i] * factor, left - i * width);
    }
  }
};

template <typename T>
HYBRID_INLINE void attention_forward(int64_t item, Buffers buffers, const AttentionParams &params) {
  const int64_t width = lanes<T>, size = params.headSize, valueSize = params.valueSize;
  const int64_t blockSize = size * width, valueBlock = valueSize * width;
  const int64_t keyBlocks = ceilDiv(params.keyLength, width);
  T *keys = buffers.scratch<T>(), *values = keys + keyBlocks * blockSize;
  T *query = values + keyBlocks * valueBlock, *output = query + blockSize;
  Blocks<T> blocks{params, buffers.at<const T>(4), output + valueBlock};
  T *room = blocks.turned + 2 * size * width;
  const int64_t batch = item / params.heads, head = item % params.heads;
  const int64_t kvHead = head / (params.heads / params.kvHeads);
  const int64_t past = params.past, own = params.keyLength - past;
  const Activation<T> q =
      headOf(activationAt<T>(buffers, 0), batch, params.length, params.qStride, head, size);
  KeyRows<T> k{headOf(activationAt<T>(buffers, 1), batch, own, params.kStride, kvHead, size),
               params.kStride},
      v{headOf(activationAt<T>(buffers, 2), batch, own, params.vStride, kvHead, valueSize),
        params.vStride};
  const Activation<T> o =
      headOf(activationAt<T>(buffers, 7), batch, params.length, params.oStride, head, valueSize);
  T *lse = buffers.at<T>(8) + item * params.length;
  Visibility<T> visibility{params, params.hasSegments
                                       ? buffers.at<const int32_t>(3) + batch * params.keyLength
                                       : nullptr};
  if (past > 0) {
    const int64_t seen = static_cast<int64_t>(buffers.at<const T>(11)[batch]);
    auto behind = [&](KeyRows<T> &rows, int64_t buffer, int64_t headSize) {
      rows.ringStride = params.kvHeads * headSize;
      rows.ring =
          headOf(activationAt<T>(buffers, buffer), batch, past, rows.ringStride, kvHead, headSize);
      rows.past = past, rows.oldest = seen % past;
    };
    behind(k, 9, size), behind(v, 10, valueSize);
    visibility.hidden = maximum(0, past - seen);
  }
  const Scoring<T> scoring(params, buffers, batch, head);
  ScoreArguments<T> x;
  scoring.setHead(x, head);
  const T scale = static_cast<T>(params.score ? params.scale : params.scale * log2OfE);
  if (params.length <= mostFewQueries) {
    const OneQuery<T> one{params, visibility, scoring, blocks, k, v, keys, values};
    for (int64_t t = 0; t < params.length; ++t) {
      const int64_t position = visibility.position(t), end = visibility.endOfKeys(position),
                    first = visibility.firstKey(position) / width * width;
      blocks.load(query, q + t * params.qStride, params.qStride, 1, size);
      blocks.rotateBlock(query, position, 1, false, false);
      blocks.scale(query, scale);
      for (int64_t d = 0; d < size; ++d)
        keys[d] = query[d * width];
      const T top = one.score(x, t, first, end);
      const T sum = one.exponentiate(top == minusInfinity<T> ? T(0) : top, first, end);
      one.sumValues(o + t * params.oStride, sum == T(0) ? T(0) : T(1) / sum, first, end);
      lse[t] = sum == T(0) ? minusInfinity<T>
                           : top * static_cast<T>(naturalLogOf2) + logarithm(splat(sum))[0];
    }
    return;
  }
  for (int64_t block = visibility.hidden / width; block < keyBlocks; ++block) {
    int64_t s = block * width, rows = minimum(width, params.keyLength - s);
    k.load(keys + block * blockSize, room, s, rows, size);
    blocks.rotateBlock(keys + block * blockSize, s, rows, true, false);
    v.load(values + block * valueBlock, room, s, rows, valueSize);
  }
  for (int64_t t = 0; t < params.length; t += width) {
    int64_t rows = minimum(width, params.length - t);
    int64_t low = visibility.position(t), high = low + rows - 1;
    blocks.load(query, q + t * params.qStride, params.qStride, rows, size);
    blocks.rotateBlock(query, low, rows, false, false);
    blocks.scale(query, scale);
    clear(output, valueSize);
    Vector<T> top = splat(minusInfinity<T>), sum = splat(T(0));
    Integers<T> positions = countFrom<T>(low), segments = visibility.segmentsFrom(t);
    if (params.score)
      scoring.setQueries(x, positions, t, rows);
    int64_t end = visibility.endOfKeys(high);
    for (int64_t block = visibility.firstKey(low) / width; block * width < end; ++block) {
      Vector<T> scores[lanes<T>];
      multiply<T>(scores, query, keys + block * blockSize, size);
      if (params.score) {
        HYBRID_UNROLL
        for (int i = 0; i < lanes<T>; ++i) {
          scoring.setKey(x, block * width + i);
          scores[i] = scoring.logit(x, scores[i]);
        }
      }
      if (!visibility.isWhole(low, high, block * width)) {
        HYBRID_UNROLL
        for (int i = 0; i < lanes<T>; ++i) {
          int64_t s = block * width + i;
          scores[i] =
              visibility.seen(positions, every<T>(s), segments, every<T>(visibility.segmentOf(s)))
                  ? scores[i]
                  : splat(minusInfinity<T>);
        }
      }
      Vector<T> newTop = top;
      HYBRID_UNROLL
      for (int i = 0; i < lanes<T>; ++i)
        newTop = larger<T>(scores[i], newTop);
      // A query that has seen nothing yet keeps sum 0.
      Vector<T> base = newTop == minusInfinity<T> ? splat(T(0)) : newTop;
      Vector<T> keep = powerOfTwo(top - base), more = splat(T(0));
      HYBRID_UNROLL
      for (int i = 0; i < lanes<T>; ++i) {
        scores[i] = powerOfTwo(scores[i] - base);
        more += scores[i];
      }
      accumulate<T>(output, keep, scores, values + block * valueBlock, valueSize);
      sum = sum * keep + more;
      top = newTop;
    }
    Vector<T> inverse = sum == T(0) ? splat(T(0)) : T(1) / sum;
    for (int64_t d = 0; d < valueSize; ++d)
      store<T>(output + d * width, load(output + d * width) * inverse);
    storeTransposed(o + t * params.oStride, params.oStride, output, rows, valueSize);
    Vector<T> logs = top * static_cast<T>(naturalLogOf2) + logarithm(sum);
    storePart<T>(lse + t, sum == T(0) ? splat(minusInfinity<T>) : logs, rows);
  }
}

template <typename T>
HYBRID_INLINE void attention_backward(int64_t item, Buffers buffers,
                                      const AttentionParams &params) {
  const int64_t width = lanes<T>, size = params.headSize, valueSize = params.valueSize;
  const int64_t blockSize = size * width, valueBlock = valueSize * width;
  const int64_t keyBlocks = ceilDiv(params.keyLength, width);
  const int64_t queryBlocks = ceilDiv(params.length, width);
  const int64_t group = params.heads / params.kvHeads;
  T *keys = buffers.scratch<T>(), *values = keys + keyBlocks * blockSize;
  T *dKeys = values + keyBlocks * valueBlock, *dValues = dKeys + keyBlocks * blockSize;
  T *queries = dValues + keyBlocks * valueBlock, *dOutputs = queries + queryBlocks * blockSize;
  T *dQueries = dOutputs + queryBlocks * valueBlock, *logs = dQueries + queryBlocks * blockSize;
  T *deltas = logs + queryBlocks * width, *dQueryTerms = deltas + queryBlocks * width;
  T *output = dQueryTerms + queryBlocks * width * params.queryTerms;
  Blocks<T> blocks{params, buffers.at<const T>(4), output + valueBlock};
  const int64_t batch = item / params.kvHeads, kvHead = item % params.kvHeads;
  const int64_t length = params.length, keyLength = params.keyLength;
  const Activation<T> k =
      headOf(activationAt<T>(buffers, 1), batch, keyLength, params.kStride, kvHead, size);
  const Activation<T> v =
      headOf(activationAt<T>(buffers, 2), batch, keyLength, params.vStride, kvHead, valueSize);
  Visibility<T> visibility{
      params, params.hasSegments ? buffers.at<const int32_t>(3) + batch * keyLength : nullptr};
  for (int64_t block = 0; block < keyBlocks; ++block) {
    int64_t s = block * width, rows = minimum(width, keyLength - s);
    blocks.load(keys + block * blockSize, k + s * params.kStride, params.kStride, rows, size);
    blocks.rotateBlock(keys + block * blockSize, s, rows, true, false);
    blocks.load(values + block * valueBlock, v + s * params.vStride, params.vStride, rows,
                valueSize);
  }
  clear(dKeys, keyBlocks * size);
  clear(dValues, keyBlocks * valueSize);

  for (int64_t head = kvHead * group; head < (kvHead + 1) * group; ++head) {
    const Activation<T> q =
        headOf(activationAt<T>(buffers, 0), batch, length, params.qStride, head, size);
    const Activation<T> o =
        headOf(activationAt<T>(buffers, 7), batch, length, params.oStride, head, valueSize);
    const int64_t rowsBefore = (batch * params.heads + head) * length;
    const T *lse = buffers.at<T>(8) + rowsBefore;
    const Activation<T> dO =
        headOf(activationAt<T>(buffers, 9), batch, length, params.oStride, head, valueSize);
    const T *dLse = params.hasLseGradient ? buffers.at<const T>(10) + rowsBefore : nullptr;
    const Activation<T> dq =
        headOf(activationAt<T>(buffers, 11), batch, length, params.dqStride, head, size);
    const Scoring<T> scoring(params, buffers, batch, head);
    ScoreArguments<T> x;
    scoring.setHead(x, head);
    for (int64_t block = 0; block < queryBlocks; ++block) {
      int64_t t = block * width, rows = minimum(width, length - t);
      T *query = queries + block * blockSize, *dOutput = dOutputs + block * valueBlock;
      blocks.load(query, q + t * params.qStride, params.qStride, rows, size);
      blocks.rotateBlock(query, visibility.position(t), rows, false, false);
      blocks.scale(query, static_cast<T>(params.score ? params.scale : params.scale * log2OfE));
      blocks.load(dOutput, dO + t * params.oStride, params.oStride, rows, valueSize);
      blocks.load(output, o + t * params.oStride, params.oStride, rows, valueSize);
      Vector<T> delta = splat(T(0));
      if (params.hasLseGradient)
        delta = -loadPart(dLse + t, rows);
      for (int64_t d = 0; d < valueSize; ++d)
        delta += load(dOutput + d * width) * load(output + d * width);
      store<T>(deltas + t, delta);
      // Rows that saw nothing, and those behind the last, get probability 0 for every key.
      Vector<T> known = loadPart(lse + t, rows);
      Integers<T> valid = (countFrom<T>(0) < every<T>(rows)) & (known != minusInfinity<T>);
      store<T>(logs + t, valid ? known * static_cast<T>(log2OfE) : splat(-minusInfinity<T>));
    }
    clear(dQueries, queryBlocks * size);
    clear(dQueryTerms, queryBlocks * params.queryTerms);

    for (int64_t keyBlock = 0; keyBlock < keyBlocks; ++keyBlock) {
      const int64_t s = keyBlock * width;
      const T *key = keys + keyBlock * blockSize, *value = values + keyBlock * valueBlock;
      Integers<T> keyNumbers = countFrom<T>(s), keySegments = visibility.segmentsFrom(s);
      const int64_t keyRows = minimum(width, keyLength - s);
      Vector<T> dKeyTerms[mostScoreTerms]{};
      if (params.score)
        scoring.setKeys(x, keyNumbers, s, keyRows);
      for (int64_t block = 0; block < queryBlocks; ++block) {
        const int64_t t = block * width, low = visibility.position(t);
        const int64_t high = low + minimum(width, length - t) - 1;
        if (s + width <= visibility.firstKey(low) || s >= visibility.endOfKeys(high))
          continue;
        const T *query = queries + block * blockSize, *dOutput = dOutputs + block * valueBlock;
        Vector<T> p[lanes<T>], dS[lanes<T>], scores[lanes<T>];
        multiply<T>(p, key, query, size);
        if (params.score) {
          HYBRID_UNROLL
          for (int j = 0; j < lanes<T>; ++j) {
            scores[j] = p[j];
            scoring.setQuery(x, low + j, t + j);
            // Rows behind the last have no numbers that a logit could be made of.
            p[j] = logs[t + j] == -minusInfinity<T> ? splat(minusInfinity<T>)
                                                    : scoring.logit(x, scores[j]);
          }
        }
        if (!visibility.isWhole(low, high, s)) {
          HYBRID_UNROLL
          for (int j = 0; j < lanes<T>; ++j)
            p[j] = visibility.seen(every<T>(low + j), keyNumbers,
                                   every<T>(visibility.segmentOf(t + j)), keySegments)
                       ? p[j]
                       : splat(minusInfinity<T>);
        }
        HYBRID_UNROLL
        for (int j = 0; j < lanes<T>; ++j)
          p[j] = powerOfTwo(p[j] - logs[t + j]);
        accumulate<T>(dValues + keyBlock * valueBlock, splat(T(1)), p, dOutput, valueSize);
        multiply<T>(dS, value, dOutput, valueSize);
        HYBRID_UNROLL
        for (int j = 0; j < lanes<T>; ++j)
          dS[j] = p[j] * (dS[j] - deltas[t + j]);
        if (params.score) {
          HYBRID_UNROLL
          for (int j = 0; j < lanes<T>; ++j) {
            Vector<T> gradients[1 + 2 * mostScoreTerms];
            scoring.setQuery(x, low + j, t + j);
            scoring.gradients(x, scores[j], dS[j], gradients);
            dS[j] = gradients[0];
            for (int64_t m = 0; m < params.queryTerms; ++m)
              dQueryTerms[m * queryBlocks * width + t + j] += sumOfLanes(gradients[1 + m]);
            for (int64_t m = 0; m < params.keyTerms; ++m)
              dKeyTerms[m] += gradients[1 + params.queryTerms + m];
          }
        }
        accumulate<T>(dKeys + keyBlock * blockSize, splat(T(1)), dS, query, size);
        transpose<T>(dS);
        accumulate<T>(dQueries + block * blockSize, splat(T(1)), dS, key, size);
      }
      for (int64_t m = 0; m < params.keyTerms; ++m)
        storePart(buffers.at<T>(15) +
                      ((batch * params.keyTerms + m) * params.heads + head) * keyLength + s,
                  dKeyTerms[m], keyRows);
    }
    for (int64_t m = 0; m < params.queryTerms; ++m)
      for (int64_t t = 0; t < length; ++t)
        buffers.at<T>(14)[((batch * params.queryTerms + m) * params.heads + head) * length + t] =
            dQueryTerms[m * queryBlocks * width + t];
    for (int64_t block = 0; block < queryBlocks; ++block) {
      int64_t t = block * width, rows = minimum(width, length - t);
      T *dQuery = dQueries + block * blockSize;
      blocks.scale(dQuery, static_cast<T>(params.scale));
      blocks.rotateBlock(dQuery, visibility.position(t), rows, false, true);
      storeTransposed(dq + t * params.dqStride, params.dqStride, dQuery, rows, size);
    }
  }

  const Activation<T> dk =
      headOf(activationAt<T>(buffers, 12), batch, keyLength, params.dkStride, kvHead, size);
  const Activation<T> dv =
      headOf(activationAt<T>(buffers, 13), batch, keyLength, params.dvStride, kvHead, valueSize);
  for (int64_t block = 0; block < keyBlocks; ++block) {
    int64_t s = block * width, rows = minimum(width, keyLength - s);
    T *dKey = dKeys + block * blockSize;
    if (!params.score) // the queries carry scale * log2 e
      blocks.scale(dKey, static_cast<T>(naturalLogOf2));
    blocks.rotateBlock(dKey, s, rows, true, true);
    storeTransposed(dk + s * params.dkStride, params.dkStride, dKey, rows, size);
    storeTransposed(dv + s * params.dvStride, params.dvStride, dValues + block * valueBlock, rows,
                    valueSize);
  }
}

} // namespace

HYBRID_KERNEL(attention_forward, AttentionParams)
HYBRID_KERNEL(attention_backward, AttentionParams)
