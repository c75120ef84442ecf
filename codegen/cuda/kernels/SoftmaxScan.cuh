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
// Rows are on their way from memory while the ones before them are computed.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/cuda/kernels/Prelude.cuh"
#include "codegen/cuda/kernels/SoftmaxScanParams.h"

namespace hybrid::cuda {

/// Log weight of nothing: low enough that its exponential is zero beside any key, high enough that
/// differences stay finite.
constexpr double softmaxScanNothing = -1e30;
/// One block of channels of one sequence.
template <typename T, SoftmaxScanShape p> struct SoftmaxScanBlock {
  /// A key for each channel?
  static constexpr bool ownKeys = p.keys == p.channels;
  static constexpr int64_t width = p.channels + p.keys, stateRows = softmaxScanStateRows(p);
  /// Rows that are loaded together, as many as there are registers for.
  static constexpr int rows = p.hasSegments || p.hasState || p.taps > 1 ? 4 : 8;

  int64_t batch, key, blockOfKey, channel;
  bool active; // has a channel
  const T *k, *v, *taps, *state;
  const int32_t *segments;
  T decay;

  HYBRID_DEVICE SoftmaxScanBlock(int64_t item, const T *keys, const T *values, const T *tapBiases,
                                 const T *decays, const int32_t *ids, const T *initialState) {
    constexpr int64_t blocks = softmaxScanBlocks(p), keyBlocks = softmaxScanKeyBlocks(p);
    batch = item / blocks;
    const int64_t block = item % blocks;
    if constexpr (ownKeys) {
      channel = block * softmaxScanThreads + laneIndex(), active = channel < p.channels;
      key = channel, blockOfKey = 0;
    } else {
      constexpr int64_t group = p.channels / p.keys;
      key = block / keyBlocks, blockOfKey = block % keyBlocks;
      const int64_t inGroup = blockOfKey * softmaxScanThreads + laneIndex();
      channel = key * group + inGroup, active = inGroup < group;
    }
    k = keys + batch * p.length * p.kStride + key;
    v = values + batch * p.length * p.vStride + channel;
    taps = tapBiases + key;
    decay = p.hasDecay ? keyed(decays + key) : T(0);
    segments = ids + (p.hasSegments ? batch * p.length : 0);
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
  /// Is there a token s (> -S when negative) in the segment that starts at `start`?
  HYBRID_DEVICE bool exists(int64_t s, int64_t start) const {
    return s >= start || (start == 0 && p.hasState && s > -p.taps);
  }
};

/// A weighted sum of values and the sum of weights, both divided by exp(maximum).
template <typename T> struct WeightedAverage {
  T maximum = T(softmaxScanNothing), numerator = T(0), denominator = T(0);

  HYBRID_DEVICE void absorb(T logit, T value) {
    const T next = hybrid::cuda::maximum(maximum, logit), old = exponential(maximum - next),
            weight = exponential(logit - next);
    numerator = old * numerator + weight * value;
    denominator = old * denominator + weight;
    maximum = next;
  }
};

template <typename T, SoftmaxScanShape p>
HYBRID_DEVICE void softmaxScanForward(int64_t item, const T *k, const T *v, const T *tapBiases,
                                      const T *decays, const int32_t *segments,
                                      const T *initialState, T *y, T *lse, T *finalState) {
  using Block = SoftmaxScanBlock<T, p>;
  constexpr int64_t taps = p.taps, length = p.length;
  constexpr int rows = Block::rows;
  const Block block(item, k, v, tapBiases, decays, segments, initialState);
  y += block.batch * length * p.yStride + block.channel;
  lse += block.batch * length * p.keys + block.key;
  WeightedAverage<T> tail;
  if constexpr (p.hasState)
    tail = {block.keyed(block.state + p.channels + block.key),
            block.read(block.state + block.channel), T(1)};
  const T firstTap = taps > 0 ? block.tap(0) : T(0);
  int64_t start = 0; // of the segment

  T keys[rows], values[rows], nextKeys[rows], nextValues[rows];
  auto load = [&](int64_t first) {
    HYBRID_UNROLL
    for (int i = 0; i < rows; ++i) {
      const bool there = first + i < length;
      nextKeys[i] = there ? block.keyAt(first + i) : T(0);
      nextValues[i] = there ? block.valueAt(first + i) : T(0);
    }
  };
  auto step = [&](int64_t t, T key, T value) {
    if (block.startsSegment(t))
      start = t, tail = {};
    if constexpr (taps == 0)
      tail.absorb(key, value);
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
    // The tail as the next token sees it: a step older, with the token that leaves the taps.
    tail.maximum += block.decay;
    if constexpr (taps == 1)
      tail.absorb(key, value);
    else if constexpr (taps > 1)
      if (const int64_t s = t + 1 - taps; block.exists(s, start))
        tail.absorb(block.keyAt(s), block.valueAt(s));
  };
  load(0);
  HYBRID_NO_UNROLL
  for (int64_t first = 0; first < length; first += rows) {
    HYBRID_UNROLL
    for (int i = 0; i < rows; ++i)
      keys[i] = nextKeys[i], values[i] = nextValues[i];
    load(first + rows);
    HYBRID_UNROLL
    for (int i = 0; i < rows; ++i)
      if (first + i < length)
        step(first + i, keys[i], values[i]);
  }

  if constexpr (p.hasFinalState) {
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

/// Sums over the tokens t that see a token in their tail, divided by exp(maximum): of weight dy_t,
/// weight dy_t y_t, and the same times the number of decays between.
template <typename T> struct TailGradient {
  T maximum = T(softmaxScanNothing), values = T(0), products = T(0), agedValues = T(0),
    agedProducts = T(0);

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

template <typename T, SoftmaxScanShape p>
HYBRID_DEVICE void
softmaxScanBackward(int64_t item, const T *k, const T *v, const T *tapBiases, const T *decays,
                    const int32_t *segments, const T *initialState, const T *y, const T *lse,
                    const T *dy, const T *finalState, const T *dFinalState, T *dk, T *dv,
                    T *dInitialState, T *partialTaps, T *partialDecay, T *partialWeights) {
  using Block = SoftmaxScanBlock<T, p>;
  constexpr int64_t taps = p.taps, length = p.length;
  constexpr int rows = Block::rows;
  const Block block(item, k, v, tapBiases, decays, segments, initialState);
  const int64_t firstRow = block.batch * length,
                partialRow = block.blockOfKey * p.batch + block.batch;
  y += firstRow * p.yStride + block.channel, dy += firstRow * p.yStride + block.channel;
  lse += firstRow * p.keys + block.key;
  if constexpr (p.hasFinalState)
    finalState += block.stateOffset(0), dFinalState += block.stateOffset(0);
  dk += partialRow * length * p.dkStride + block.key;
  dv += firstRow * p.dvStride + block.channel;
  T *const dTaps = sharedMemory<T>() + laneIndex(); // [taps][lane], a column for each thread
  for (int64_t lag = 1; lag < taps; ++lag)
    dTaps[lag * softmaxScanThreads] = T(0);
  T dFirstTap = T(0), dDecay = T(0);
  const T firstTap = taps > 0 ? block.tap(0) : T(0);
  TailGradient<T> tail;
  int64_t end = length; // of the segment

  /// What row t hands back.
  struct Row {
    T lse, y, dy;
  };
  auto rowAt = [&](int64_t t) {
    return Row{block.keyed(lse + t * p.keys), block.read(y + t * p.yStride),
               block.read(dy + t * p.yStride)};
  };
  auto absorb = [&](const Row &row) { tail.absorb(-row.lse, row.dy, row.dy * row.y); };
  // The final state is row `length`.
  auto absorbFinal = [&] {
    if constexpr (p.hasFinalState) {
      const T g = block.read(dFinalState + block.channel);
      tail.absorb(-block.keyed(finalState + p.channels + block.key), g,
                  g * block.read(finalState + block.channel) -
                      block.keyedOnce(dFinalState + p.channels + block.key));
    }
  };
  // The row t that begins to see token t - S in its tail.
  auto addRow = [&](int64_t t, const Row *row) {
    if (t < end)
      absorb(row ? *row : rowAt(t));
    else if (t == length && end == length)
      absorbFinal();
  };
  // The gradients of token s with all that sees it in its tail.
  auto tailGradients = [&](T logit, T value, T &dLogit, T &dValue) {
    const T weight = exponential(logit + tail.maximum);
    dValue = weight * tail.values;
    dLogit = weight * (value * tail.values - tail.products);
    if constexpr (p.hasDecay)
      dDecay += weight * (value * tail.agedValues - tail.agedProducts);
  };
  // Token s; `row` is row s, `later` row s + 1 where there are taps.
  auto step = [&](int64_t s, T logit, T value, const Row &row, const Row &later) {
    if (s + 1 < length && block.startsSegment(s + 1))
      end = s + 1, tail = {};
    tail.age(block.decay);
    addRow(s + taps, taps == 0 ? &row : taps == 1 ? &later : nullptr);
    T dLogit, dValue;
    tailGradients(logit, value, dLogit, dValue);
    auto addTap = [&](T bias, const Row &at, T &dTap) {
      T g = exponential(logit + bias - at.lse) * at.dy;
      dValue += g;
      g *= value - at.y;
      dLogit += g, dTap += g;
    };
    if (taps > 0 && s >= 0)
      addTap(firstTap, row, dFirstTap);
    HYBRID_NO_UNROLL
    for (int64_t lag = s < 0 ? -s : 1; lag < taps; ++lag)
      if (s + lag < end)
        addTap(block.tap(lag), rowAt(s + lag), dTaps[lag * softmaxScanThreads]);
    // Rows 1 to S - 1 of the final state are tokens.
    if constexpr (p.hasFinalState && taps > 1)
      if (const int64_t at = s - (length - taps); at >= 1 && end == length) {
        dValue += block.read(dFinalState + at * Block::width + block.channel);
        dLogit += block.keyedOnce(dFinalState + at * Block::width + p.channels + block.key);
      }
    if (s >= 0) {
      block.store(dv + s * p.dvStride, dValue);
      block.storeKeySum(dk + s * p.dkStride, dLogit);
    } else if constexpr (p.hasState) {
      block.store(dInitialState + block.stateOffset(s + taps) + block.channel, dValue);
      block.storeKeySum(
          partialWeights + (partialRow * Block::stateRows + s + taps) * p.keys + block.key, dLogit);
    }
  };

  if constexpr (taps == 0)
    absorbFinal();
  T keys[rows], values[rows], nextKeys[rows], nextValues[rows];
  Row own[rows], nextOwn[rows], later{};
  auto load = [&](int64_t first) {
    HYBRID_UNROLL
    for (int i = 0; i < rows; ++i) {
      const bool there = first + i >= 0 && first + i < length;
      nextKeys[i] = there ? block.keyAt(first + i) : T(0);
      nextValues[i] = there ? block.valueAt(first + i) : T(0);
      nextOwn[i] = there ? rowAt(first + i) : Row{};
    }
  };
  const int64_t last = (length - 1) / rows * rows;
  load(last);
  HYBRID_NO_UNROLL
  for (int64_t first = last; first >= 0; first -= rows) {
    HYBRID_UNROLL
    for (int i = 0; i < rows; ++i)
      keys[i] = nextKeys[i], values[i] = nextValues[i], own[i] = nextOwn[i];
    load(first - rows);
    HYBRID_UNROLL
    for (int i = rows - 1; i >= 0; --i)
      if (first + i < length) {
        step(first + i, keys[i], values[i], own[i], later);
        later = own[i];
      }
  }
  if constexpr (p.hasState) {
    // Tokens of the initial state are s = -1, ..., -(S-1); row 0 is as old as token -S, or without
    // taps as token 0.
    HYBRID_NO_UNROLL
    for (int64_t s = -1; s > -taps; --s) {
      step(s, block.keyAt(s), block.valueAt(s), Row{}, later);
    }
    if constexpr (taps > 0) {
      tail.age(block.decay);
      addRow(0, nullptr);
    }
    T dLogit, dValue;
    tailGradients(block.keyed(block.state + p.channels + block.key),
                  block.read(block.state + block.channel), dLogit, dValue);
    block.store(dInitialState + block.stateOffset(0) + block.channel, dValue);
    block.storeKeySum(partialWeights + partialRow * Block::stateRows * p.keys + block.key, dLogit);
  }
  for (int64_t lag = 0; lag < taps; ++lag)
    block.storeKeySum(partialTaps + (partialRow * taps + lag) * p.keys + block.key,
                      lag == 0 ? dFirstTap : dTaps[lag * softmaxScanThreads]);
  if constexpr (p.hasDecay)
    block.storeKeySum(partialDecay + partialRow * p.keys + block.key, dDecay);
}

} // namespace hybrid::cuda
