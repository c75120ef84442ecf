//===- SoftmaxScan.cuh - softmax-weighted averages of the past --------------===//
//
// RWKV-4's wkv (Peng et al. 2023) and AFT (Zhai et al. 2021) in one kernel. A thread has a channel.
// The tail, everything of lag S and more, is a numerator and a denominator scaled by a running
// maximum of the exponents; the S latest tokens are looked up. Nothing is exponentiated that is
// above zero.
//
// The backward pass walks from the last token to the first. The sums over the tokens that see
// token s in their tail, of exp((t-s-S) decay - lse_t) dy_t and the like, have a running maximum of
// their own; since lse_t bounds every logit of row t, that maximum plus k_s is at most zero too.
//
// Rows are on their way from memory while the ones before them are computed. Where there are few
// channels a sequence is divided over time: tails compose, since rows only add to what is in them
// and let it age.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/SoftmaxScan.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// Log weight of nothing: low enough that its exponential is zero beside any key, high enough that
/// differences stay finite.
constexpr double softmaxScanNothing = -1e30;
/// One block of channels of one sequence.
template <typename T, SoftmaxScanParams p> struct SoftmaxScanBlock {
  /// A key for each channel?
  static constexpr bool ownKeys = p.keys == p.channels;
  static constexpr int64_t width = p.channels + p.keys, stateRows = softmaxScanStateRows(p);
  /// Rows that are loaded together, as many as there are registers for.
  static constexpr int rows = p.hasSegments || p.hasState || p.taps > 1 ? 4 : 8;

  int64_t batch, key, blockOfKey, channel, time, from, to; // rows of the sequence
  bool active;                                             // has a channel
  const T *k, *v, *taps, *state;
  const int32_t *segments;
  T decay;

  /// In a pass that reads no keys and values.
  HYBRID_DEVICE SoftmaxScanBlock(int64_t item, const T *decays, const int32_t *ids)
      : k(nullptr), v(nullptr), taps(nullptr), state(nullptr) {
    constexpr int64_t blocks = softmaxScanBlocks(p, softmaxScanThreads),
                      keyBlocks = softmaxScanKeyBlocks(p, softmaxScanThreads);
    const int64_t block = item % blocks;
    item /= blocks;
    time = item % p.timeBlocks, batch = item / p.timeBlocks;
    from = time * p.blockRows, to = minimum(from + p.blockRows, p.length);
    if constexpr (ownKeys) {
      channel = block * softmaxScanThreads + laneIndex(), active = channel < p.channels;
      key = channel, blockOfKey = 0;
    } else {
      constexpr int64_t group = p.channels / p.keys;
      key = block / keyBlocks, blockOfKey = block % keyBlocks;
      const int64_t inGroup = blockOfKey * softmaxScanThreads + laneIndex();
      channel = key * group + inGroup, active = inGroup < group;
    }
    decay = p.hasDecay ? keyed(decays + key) : T(0);
    segments = ids + (p.hasSegments ? batch * p.length : 0);
  }
  HYBRID_DEVICE SoftmaxScanBlock(int64_t item, const T *keys, const T *values, const T *tapBiases,
                                 const T *decays, const int32_t *ids, const T *initialState)
      : SoftmaxScanBlock(item, decays, ids) {
    k = keys + batch * p.length * p.kStride + key;
    v = values + batch * p.length * p.vStride + channel;
    taps = tapBiases + (p.taps > 0 ? key : 0);
    state = initialState + (p.hasState ? stateOffset(0) : 0);
  }

  HYBRID_DEVICE T read(const T *from) const { return active ? *from : T(0); }
  /// What belongs to the key of the channel.
  HYBRID_DEVICE T keyed(const T *from) const { return !ownKeys || active ? *from : T(0); }
  /// The same as a term that must count once: all of a key's lanes and blocks are summed.
  HYBRID_DEVICE T keyedOnce(const T *from) const {
    return ownKeys ? read(from) : blockOfKey == 0 && laneIndex() == 0 ? *from : T(0);
  }
  HYBRID_DEVICE void store(T *to, T value) const {
    if (active)
      *to = value;
  }
  /// Stores what is equal in all lanes and blocks of a key.
  HYBRID_DEVICE void storeKeyed(T *to, T value) const {
    if (ownKeys ? active : blockOfKey == 0 && laneIndex() == 0)
      *to = value;
  }
  /// Stores the sum over the lanes of a key; lanes without a channel must hold zero.
  HYBRID_DEVICE void storeKeySum(T *to, T value) const {
    if constexpr (ownKeys) {
      store(to, value);
    } else {
      value = warpSum(value);
      if (laneIndex() == 0)
        *to = value;
    }
  }
  /// Adds it to what is there.
  HYBRID_DEVICE void addKeySum(T *to, T value) const {
    if constexpr (!ownKeys)
      value = warpSum(value);
    if (ownKeys ? active : laneIndex() == 0)
      *to += value;
  }

  /// Of a row of [batch, state rows, channels + keys], at the sequence and the row's first element.
  HYBRID_DEVICE int64_t stateOffset(int64_t row) const { return (batch * stateRows + row) * width; }
  /// Row s + S of the initial state is token s < 0.
  HYBRID_DEVICE const T *stateRow(int64_t s) const { return state + (s + p.taps) * width; }
  HYBRID_DEVICE T keyAt(int64_t s) const {
    return s >= 0 ? keyed(k + s * p.kStride) : keyed(stateRow(s) + p.channels + key);
  }
  HYBRID_DEVICE T valueAt(int64_t s) const {
    return read(s >= 0 ? v + s * p.vStride : stateRow(s) + channel);
  }
  HYBRID_DEVICE T tap(int64_t lag) const { return keyed(taps + lag * p.keys); }

  HYBRID_DEVICE bool startsSegment(int64_t t) const {
    if constexpr (p.hasSegments)
      return t > 0 && segments[t] != segments[t - 1];
    else
      return false;
  }
  /// Start of the segment of row `from`, if a tap of it or of a later row can meet it.
  HYBRID_DEVICE int64_t segmentStart() const {
    const int64_t first = maximum<int64_t>(from - p.taps, 0);
    int64_t start = p.hasSegments ? from : first;
    while (start > first && !startsSegment(start))
      --start;
    return start;
  }
  /// End of the segment of row to - 1, if a row that has one of these rows in its taps can meet it.
  HYBRID_DEVICE int64_t segmentEnd() const {
    const int64_t last = minimum(to + p.taps, p.length);
    int64_t end = p.hasSegments ? to : last;
    while (end < last && !startsSegment(end))
      ++end;
    return end;
  }
  /// Value i of this block of rows and channel in [timeBlocks, values, batch, channels].
  HYBRID_DEVICE int64_t valueOffset(int64_t values, int64_t i) const {
    return ((time * values + i) * p.batch + batch) * p.channels + channel;
  }
  /// Is there a token s (> -S when negative) in the segment that starts at `start`?
  HYBRID_DEVICE bool exists(int64_t s, int64_t start) const {
    return s >= start || (start == 0 && p.hasState && s > -p.taps);
  }
};

/// A weighted sum of values and the sum of weights, both divided by exp(maximum).
template <typename T> struct WeightedAverage {
  T maximum = T(softmaxScanNothing), numerator = T(0), denominator = T(0);

  HYBRID_DEVICE void add(const WeightedAverage &other) {
    const T most = hybrid::cuda::maximum(maximum, other.maximum),
            scale = exponential(maximum - most), otherScale = exponential(other.maximum - most);
    numerator = scale * numerator + otherScale * other.numerator;
    denominator = scale * denominator + otherScale * other.denominator;
    maximum = most;
  }

  HYBRID_DEVICE void absorb(T logit, T value) {
    const T next = hybrid::cuda::maximum(maximum, logit), old = exponential(maximum - next),
            weight = exponential(logit - next);
    numerator = old * numerator + weight * value;
    denominator = old * denominator + weight;
    maximum = next;
  }
};

/// Takes the tail down the rows of a block; step(t, key, value) is called for each row, with the
/// tail as the row finds it, and the start of its segment.
template <typename T, SoftmaxScanParams p, typename Step>
HYBRID_DEVICE void softmaxScanWalk(const SoftmaxScanBlock<T, p> &block, WeightedAverage<T> &tail,
                                   int64_t &start, Step step) {
  constexpr int64_t taps = p.taps;
  constexpr int rows = SoftmaxScanBlock<T, p>::rows;
  T keys[rows], values[rows], nextKeys[rows], nextValues[rows];
  auto load = [&](int64_t first) {
    HYBRID_UNROLL
    for (int i = 0; i < rows; ++i) {
      const bool there = first + i < block.to;
      nextKeys[i] = there ? block.keyAt(first + i) : T(0);
      nextValues[i] = there ? block.valueAt(first + i) : T(0);
    }
  };
  auto take = [&](int64_t t, T key, T value) {
    if (block.startsSegment(t))
      start = t, tail = {};
    if constexpr (taps == 0)
      tail.absorb(key, value);
    step(t, key, value);
    // The tail as the next token sees it: a step older, with the token that leaves the taps.
    tail.maximum += block.decay;
    if constexpr (taps == 1)
      tail.absorb(key, value);
    else if constexpr (taps > 1)
      if (const int64_t s = t + 1 - taps; block.exists(s, start))
        tail.absorb(block.keyAt(s), block.valueAt(s));
  };
  load(block.from);
  HYBRID_NO_UNROLL
  for (int64_t first = block.from; first < block.to; first += rows) {
    HYBRID_UNROLL
    for (int i = 0; i < rows; ++i)
      keys[i] = nextKeys[i], values[i] = nextValues[i];
    load(first + rows);
    HYBRID_UNROLL
    for (int i = 0; i < rows; ++i)
      if (first + i < block.to)
        take(first + i, keys[i], values[i]);
  }
}

template <typename T, SoftmaxScanParams p>
HYBRID_DEVICE void softmaxScanForward(int64_t item, const T *k, const T *v, const T *tapBiases,
                                      const T *decays, const int32_t *segments,
                                      const T *initialState, T *y, T *lse, T *finalState,
                                      const T *entries) {
  using Block = SoftmaxScanBlock<T, p>;
  constexpr int64_t taps = p.taps, length = p.length;
  const Block block(item, k, v, tapBiases, decays, segments, initialState);
  y += block.batch * length * p.yStride + block.channel;
  lse += block.batch * length * p.keys + block.key;
  WeightedAverage<T> tail;
  if constexpr (p.timeBlocks > 1) {
    auto entry = [&](int64_t i) {
      return block.read(entries + block.valueOffset(softmaxScanTailValues, i));
    };
    tail = {entry(0), entry(1), entry(2)};
  } else if constexpr (p.hasState) {
    tail = {block.keyed(block.state + p.channels + block.key),
            block.read(block.state + block.channel), T(1)};
  }
  const T firstTap = taps > 0 ? block.tap(0) : T(0);
  int64_t start = block.segmentStart();
  softmaxScanWalk<T, p>(block, tail, start, [&](int64_t t, T key, T value) {
    WeightedAverage<T> all = tail;
    if constexpr (taps > 0)
      all.maximum = maximum(all.maximum, key + firstTap);
    HYBRID_NO_UNROLL
    for (int64_t lag = 1; lag < taps; ++lag)
      if (block.exists(t - lag, start))
        all.maximum = maximum(all.maximum, block.keyAt(t - lag) + block.tap(lag));
    const T scale = exponential(tail.maximum - all.maximum);
    all.numerator *= scale, all.denominator *= scale;
    if constexpr (taps > 0) {
      const T weight = exponential(key + firstTap - all.maximum);
      all.numerator += weight * value, all.denominator += weight;
    }
    HYBRID_NO_UNROLL
    for (int64_t lag = 1; lag < taps; ++lag)
      if (block.exists(t - lag, start)) {
        const T weight = exponential(block.keyAt(t - lag) + block.tap(lag) - all.maximum);
        all.numerator += weight * block.valueAt(t - lag), all.denominator += weight;
      }
    block.store(y + t * p.yStride, all.numerator / all.denominator);
    block.storeKeyed(lse + t * p.keys, all.maximum + logarithm(all.denominator));
  });

  if (p.hasFinalState && block.to == length) {
    T *const final = finalState + block.stateOffset(0);
    auto storeRow = [&](int64_t row, T value, T weight) {
      T *to = final + row * Block::width;
      block.store(to + block.channel, value);
      block.storeKeyed(to + p.channels + block.key, weight);
    };
    const bool some = tail.denominator > T(0);
    const T denominator = some ? tail.denominator : T(1);
    storeRow(0, tail.numerator / denominator,
             some ? tail.maximum + logarithm(denominator) : T(softmaxScanNothing));
    for (int64_t row = 1; row < taps; ++row) {
      const int64_t s = length - taps + row;
      const bool present = block.exists(s, start);
      storeRow(row, present ? block.valueAt(s) : T(0),
               present ? block.keyAt(s) : T(softmaxScanNothing));
    }
  }
}

template <typename T, SoftmaxScanParams p>
HYBRID_DEVICE void softmaxScanSummary(int64_t item, const T *k, const T *v, const T *tapBiases,
                                      const T *decays, const int32_t *segments,
                                      const T *initialState, T *summaries) {
  const SoftmaxScanBlock<T, p> block(item, k, v, tapBiases, decays, segments, initialState);
  WeightedAverage<T> tail;
  int64_t start = block.segmentStart();
  bool through = true;
  softmaxScanWalk<T, p>(block, tail, start,
                        [&](int64_t t, T, T) { through = through && !block.startsSegment(t); });
  auto store = [&](int64_t i, T value) {
    block.store(summaries + block.valueOffset(softmaxScanTailValues + 1, i), value);
  };
  store(0, tail.maximum), store(1, tail.numerator), store(2, tail.denominator);
  store(3, through ? T(1) : T(0));
}

/// Where a thread of the kernels below has its channel of a sequence, in 0, ..., batch * channels.
struct SoftmaxScanColumn {
  int64_t index;
  HYBRID_DEVICE explicit SoftmaxScanColumn(int64_t item)
      : index(item * softmaxScanEntriesThreads + static_cast<int64_t>(threadIdx.x)) {}
};

template <typename T, SoftmaxScanParams p>
HYBRID_DEVICE void softmaxScanEntries(int64_t item, const T *decays, const T *initialState,
                                      const T *summaries, T *entries) {
  constexpr int64_t columns = p.batch * p.channels, values = softmaxScanTailValues,
                    stateRows = softmaxScanStateRows(p);
  const int64_t column = SoftmaxScanColumn(item).index;
  if (column < columns) {
    const int64_t batch = column / p.channels, channel = column % p.channels,
                  key = channel / (p.channels / p.keys);
    WeightedAverage<T> tail;
    if constexpr (p.hasState) {
      const T *state = initialState + batch * stateRows * (p.channels + p.keys);
      tail = {state[p.channels + key], state[channel], T(1)};
    }
    for (int64_t i = 0; i < p.timeBlocks; ++i) {
      auto summary = [&](int64_t j) {
        return summaries[(i * (values + 1) + j) * columns + column];
      };
      T *to = entries + i * values * columns + column;
      to[0] = tail.maximum, to[columns] = tail.numerator, to[2 * columns] = tail.denominator;
      const WeightedAverage<T> own{summary(0), summary(1), summary(2)};
      if (p.hasDecay)
        tail.maximum += static_cast<T>(p.blockRows) * decays[key];
      if (summary(3) != T(0))
        tail.add(own);
      else
        tail = own;
    }
  }
}

/// Sums over the tokens t that see a token in their tail, divided by exp(maximum): of weight dy_t,
/// weight dy_t y_t, and the same times the number of decays between.
template <typename T> struct TailGradient {
  T maximum = T(softmaxScanNothing), values = T(0), products = T(0), agedValues = T(0),
    agedProducts = T(0);

  HYBRID_DEVICE void add(const TailGradient &other) {
    const T most = hybrid::cuda::maximum(maximum, other.maximum), own = exponential(maximum - most),
            its = exponential(other.maximum - most);
    values = own * values + its * other.values;
    products = own * products + its * other.products;
    agedValues = own * agedValues + its * other.agedValues;
    agedProducts = own * agedProducts + its * other.agedProducts;
    maximum = most;
  }

  /// One decay more for all.
  HYBRID_DEVICE void age(T decay) {
    agedValues += values, agedProducts += products;
    maximum += decay;
  }
  HYBRID_DEVICE void absorb(T logWeight, T value, T product) {
    const T next = hybrid::cuda::maximum(maximum, logWeight), old = exponential(maximum - next),
            weight = exponential(logWeight - next);
    values = old * values + weight * value, products = old * products + weight * product;
    agedValues *= old, agedProducts *= old;
    maximum = next;
  }
};

/// What rows hand back to the tokens they see, and the walk over them from the last to the first.
template <typename T, SoftmaxScanParams p> struct SoftmaxScanGradient {
  using Block = SoftmaxScanBlock<T, p>;
  static constexpr int64_t taps = p.taps, length = p.length;

  struct Row {
    T lse, y, dy;
  };
  const Block &block;
  const T *lse, *y, *dy, *finalState, *dFinalState;
  TailGradient<T> tail;
  int64_t end;         // of the segment
  bool through = true; // no segment starts in the rows or right behind them

  HYBRID_DEVICE SoftmaxScanGradient(const Block &block, const T *outputs, const T *logSums,
                                    const T *cotangent, const T *state, const T *stateCotangent)
      : block(block), lse(logSums + block.batch * length * p.keys + block.key),
        y(outputs + block.batch * length * p.yStride + block.channel),
        dy(cotangent + block.batch * length * p.yStride + block.channel),
        finalState(state + (p.hasFinalState ? block.stateOffset(0) : 0)),
        dFinalState(stateCotangent + (p.hasFinalState ? block.stateOffset(0) : 0)),
        end(block.segmentEnd()) {}

  HYBRID_DEVICE Row rowAt(int64_t t) const {
    return {block.keyed(lse + t * p.keys), block.read(y + t * p.yStride),
            block.read(dy + t * p.yStride)};
  }
  /// The final state is row `length`.
  HYBRID_DEVICE void absorbFinal() {
    if constexpr (p.hasFinalState) {
      const T g = block.read(dFinalState + block.channel);
      tail.absorb(-block.keyed(finalState + p.channels + block.key), g,
                  g * block.read(finalState + block.channel) -
                      block.keyedOnce(dFinalState + p.channels + block.key));
    }
  }
  /// The row t that begins to see token t - S in its tail.
  HYBRID_DEVICE void addRow(int64_t t, const Row &row) {
    if (t < end)
      tail.absorb(-row.lse, row.dy, row.dy * row.y);
    else if (t == length && end == length)
      absorbFinal();
  }
  /// Brings the tail to token s, with rows s and s + 1 where they are needed.
  HYBRID_DEVICE void enter(int64_t s, const Row &row, const Row &later) {
    if (s + 1 < length && block.startsSegment(s + 1))
      end = s + 1, tail = {}, through = false;
    tail.age(block.decay);
    if constexpr (taps == 0)
      addRow(s, row);
    else if constexpr (taps == 1)
      addRow(s + 1, later);
    else
      addRow(s + taps, s + taps < end ? rowAt(s + taps) : Row{});
  }

  /// Walks over the tokens of the block; step(s, row, key, value) is called for each, with the tail
  /// as it finds it. Without `tokens` there are no keys and values.
  template <bool tokens, typename Step> HYBRID_DEVICE void walk(Step step) {
    constexpr int rows = Block::rows;
    if (taps == 0 && block.to == length)
      absorbFinal();
    T keys[rows], values[rows], nextKeys[rows], nextValues[rows];
    Row own[rows], nextOwn[rows], later{};
    if (taps == 1 && block.to < length)
      later = rowAt(block.to);
    auto load = [&](int64_t first) {
      HYBRID_UNROLL
      for (int i = 0; i < rows; ++i) {
        const bool there = first + i >= block.from && first + i < block.to;
        nextKeys[i] = tokens && there ? block.keyAt(first + i) : T(0);
        nextValues[i] = tokens && there ? block.valueAt(first + i) : T(0);
        nextOwn[i] = there ? rowAt(first + i) : Row{};
      }
    };
    const int64_t last = block.from + (block.to - block.from - 1) / rows * rows;
    load(last);
    HYBRID_NO_UNROLL
    for (int64_t first = last; first >= block.from; first -= rows) {
      HYBRID_UNROLL
      for (int i = 0; i < rows; ++i)
        keys[i] = nextKeys[i], values[i] = nextValues[i], own[i] = nextOwn[i];
      load(first - rows);
      HYBRID_UNROLL
      for (int i = rows - 1; i >= 0; --i)
        if (first + i < block.to) {
          enter(first + i, own[i], later);
          step(first + i, own[i], keys[i], values[i]);
          later = own[i];
        }
    }
  }
};

template <typename T, SoftmaxScanParams p>
HYBRID_DEVICE void softmaxScanBackward(int64_t item, const T *k, const T *v, const T *tapBiases,
                                       const T *decays, const int32_t *segments,
                                       const T *initialState, const T *y, const T *lse, const T *dy,
                                       const T *finalState, const T *dFinalState, T *dk, T *dv,
                                       T *dInitialState, T *partialTaps, T *partialDecay,
                                       T *partialWeights, const T *entries) {
  using Block = SoftmaxScanBlock<T, p>;
  using Gradient = SoftmaxScanGradient<T, p>;
  using Row = typename Gradient::Row;
  constexpr int64_t taps = p.taps, length = p.length;
  const Block block(item, k, v, tapBiases, decays, segments, initialState);
  Gradient gradient(block, y, lse, dy, finalState, dFinalState);
  TailGradient<T> &tail = gradient.tail;
  if constexpr (p.timeBlocks > 1) {
    auto entry = [&](int64_t i) {
      return block.read(entries + block.valueOffset(softmaxScanGradientValues, i));
    };
    tail = {entry(0), entry(1), entry(2), entry(3), entry(4)};
  }
  constexpr int64_t keyBlocks = softmaxScanKeyBlocks(p, softmaxScanThreads);
  const int64_t keyRow = block.blockOfKey * p.batch + block.batch,
                partialRow = block.time * keyBlocks * p.batch + keyRow;
  dk += keyRow * length * p.dkStride + block.key;
  dv += block.batch * length * p.dvStride + block.channel;
  // Of each lag but the first: in shared memory a column for each thread, in memory where it ends.
  constexpr bool sharesTaps = softmaxScanTapBytes<T>(p) > 0;
  T *const ownTaps = partialTaps + (taps > 0 ? partialRow * taps * p.keys + block.key : 0);
  constexpr int64_t tapStride = sharesTaps ? softmaxScanThreads : p.keys;
  T *const dTaps = sharesTaps ? sharedMemory<T>() + laneIndex() : ownTaps;
  for (int64_t lag = 1; lag < taps; ++lag)
    if constexpr (sharesTaps)
      dTaps[lag * tapStride] = T(0);
    else
      block.storeKeySum(dTaps + lag * tapStride, T(0));
  auto addToTap = [&](int64_t lag, T value) {
    T *const to = dTaps + lag * tapStride;
    if constexpr (sharesTaps)
      *to += value;
    else
      block.addKeySum(to, value);
  };
  T dFirstTap = T(0), dDecay = T(0);
  const T firstTap = taps > 0 ? block.tap(0) : T(0);

  // The gradients of a token with all that sees it in its tail.
  auto tailGradients = [&](T logit, T value, T &dLogit, T &dValue) {
    const T weight = exponential(logit + tail.maximum);
    dValue = weight * tail.values;
    dLogit = weight * (value * tail.values - tail.products);
    if constexpr (p.hasDecay)
      dDecay += weight * (value * tail.agedValues - tail.agedProducts);
  };
  auto step = [&](int64_t s, const Row &row, T logit, T value) {
    T dLogit, dValue;
    tailGradients(logit, value, dLogit, dValue);
    auto seenBy = [&](T bias, const Row &at) { // what the tap's gradient gets
      T g = exponential(logit + bias - at.lse) * at.dy;
      dValue += g;
      g *= value - at.y;
      dLogit += g;
      return g;
    };
    if (taps > 0 && s >= 0)
      dFirstTap += seenBy(firstTap, row);
    HYBRID_NO_UNROLL
    for (int64_t lag = s < 0 ? -s : 1; lag < taps; ++lag)
      if (s + lag < gradient.end)
        addToTap(lag, seenBy(block.tap(lag), gradient.rowAt(s + lag)));
    // Rows 1 to S - 1 of the final state are tokens.
    if constexpr (p.hasFinalState && taps > 1)
      if (const int64_t at = s - (length - taps); at >= 1 && gradient.end == length) {
        const T *state = gradient.dFinalState + at * Block::width;
        dValue += block.read(state + block.channel);
        dLogit += block.keyedOnce(state + p.channels + block.key);
      }
    if (s >= 0) {
      block.store(dv + s * p.dvStride, dValue);
      block.storeKeySum(dk + s * p.dkStride, dLogit);
    } else if constexpr (p.hasState) {
      block.store(dInitialState + block.stateOffset(s + taps) + block.channel, dValue);
      block.storeKeySum(
          partialWeights + (keyRow * Block::stateRows + s + taps) * p.keys + block.key, dLogit);
    }
  };
  gradient.template walk<true>(step);
  if (p.hasState && block.from == 0) {
    // Tokens of the initial state are s = -1, ..., -(S-1); row 0 is as old as token -S, or without
    // taps as token 0.
    HYBRID_NO_UNROLL
    for (int64_t s = -1; s > -taps; --s) {
      gradient.enter(s, Row{}, Row{});
      step(s, Row{}, block.keyAt(s), block.valueAt(s));
    }
    if constexpr (taps > 0) {
      tail.age(block.decay);
      gradient.addRow(0, gradient.rowAt(0));
    }
    T dLogit, dValue;
    tailGradients(block.keyed(block.state + p.channels + block.key),
                  block.read(block.state + block.channel), dLogit, dValue);
    block.store(dInitialState + block.stateOffset(0) + block.channel, dValue);
    block.storeKeySum(partialWeights + keyRow * Block::stateRows * p.keys + block.key, dLogit);
  }
  if constexpr (taps > 0)
    block.storeKeySum(ownTaps, dFirstTap);
  if constexpr (sharesTaps)
    for (int64_t lag = 1; lag < taps; ++lag)
      block.storeKeySum(ownTaps + lag * p.keys, dTaps[lag * tapStride]);
  if constexpr (p.hasDecay)
    block.storeKeySum(partialDecay + partialRow * p.keys + block.key, dDecay);
}

template <typename T, SoftmaxScanParams p>
HYBRID_DEVICE void softmaxScanGradientSummary(int64_t item, const T *decays,
                                              const int32_t *segments, const T *y, const T *lse,
                                              const T *dy, const T *finalState,
                                              const T *dFinalState, T *summaries) {
  using Gradient = SoftmaxScanGradient<T, p>;
  const SoftmaxScanBlock<T, p> block(item, decays, segments);
  Gradient gradient(block, y, lse, dy, finalState, dFinalState);
  gradient.template walk<false>([](int64_t, const typename Gradient::Row &, T, T) {});
  auto store = [&](int64_t i, T value) {
    block.store(summaries + block.valueOffset(softmaxScanGradientValues + 1, i), value);
  };
  const TailGradient<T> &tail = gradient.tail;
  store(0, tail.maximum), store(1, tail.values), store(2, tail.products);
  store(3, tail.agedValues), store(4, tail.agedProducts), store(5, gradient.through ? T(1) : T(0));
}

template <typename T, SoftmaxScanParams p>
HYBRID_DEVICE void softmaxScanGradientEntries(int64_t item, const T *decays, const T *summaries,
                                              T *entries) {
  constexpr int64_t columns = p.batch * p.channels, values = softmaxScanGradientValues;
  const int64_t column = SoftmaxScanColumn(item).index;
  if (column < columns) {
    const int64_t key = column % p.channels / (p.channels / p.keys);
    TailGradient<T> tail;
    for (int64_t i = p.timeBlocks - 1; i >= 0; --i) {
      auto summary = [&](int64_t j) {
        return summaries[(i * (values + 1) + j) * columns + column];
      };
      T *to = entries + i * values * columns + column;
      to[0] = tail.maximum, to[columns] = tail.values, to[2 * columns] = tail.products;
      to[3 * columns] = tail.agedValues, to[4 * columns] = tail.agedProducts;
      const TailGradient<T> own{summary(0), summary(1), summary(2), summary(3), summary(4)};
      const auto rows = static_cast<T>(minimum(p.blockRows, p.length - i * p.blockRows));
      if (p.hasDecay)
        tail.maximum += rows * decays[key];
      tail.agedValues += rows * tail.values, tail.agedProducts += rows * tail.products;
      if (summary(5) != T(0))
        tail.add(own);
      else
        tail = own;
    }
  }
}

} // namespace hybrid::cuda
