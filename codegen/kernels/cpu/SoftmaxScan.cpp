//===- SoftmaxScan.cpp - softmax-weighted averages of the past -------------===//
//
// RWKV-4's wkv (Peng et al. 2023) and AFT (Zhai et al. 2021) in one kernel. Lanes are channels. The
// tail, everything of lag S and more, is a numerator and a denominator scaled by a running maximum
// of the exponents; the S latest tokens are looked up. Nothing is exponentiated that is above zero.
//
// The backward pass walks from the last token to the first. The sums over the tokens that see
// token s in their tail, of exp((t-s-S) decay - lse_t) dy_t and the like, have a running maximum of
// their own; since lse_t bounds every logit of row t, that maximum plus k_s is at most zero too.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/SoftmaxScan.h"
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

/// Log weight of nothing: low enough that its exponential is zero beside any key, high enough that
/// differences stay finite.
constexpr double nothing = -1e30;

/// One block of channels of one sequence.
template <typename T> struct Block {
  const SoftmaxScanParams &params;
  int64_t batch, key, blockOfKey, channel, count; // count: valid lanes
  const T *k, *v, *taps, *state;
  const int32_t *segments;
  Vector<T> decay;

  __attribute__((always_inline)) Block(const SoftmaxScanParams &params, int64_t item,
                                       Buffers buffers)
      : params(params) {
    const int64_t blocks = softmaxScanBlocks(params, lanes<T>),
                  keyBlocks = softmaxScanKeyBlocks(params, lanes<T>);
    batch = item / blocks;
    int64_t block = item % blocks;
    if (ownKeys()) {
      channel = block * lanes<T>, count = lanesAt<T>(channel, params.channels);
      key = channel, blockOfKey = 0;
    } else {
      const int64_t width = params.channels / params.keys;
      key = block / keyBlocks, blockOfKey = block % keyBlocks;
      channel = key * width + blockOfKey * lanes<T>;
      count = lanesAt<T>(blockOfKey * lanes<T>, width);
    }
    k = buffers.at<const T>(0) + batch * params.length * params.kStride + key;
    v = buffers.at<const T>(1) + batch * params.length * params.vStride + channel;
    taps = params.taps ? buffers.at<const T>(2) + key : nullptr;
    decay = params.hasDecay ? keyed(buffers.at<const T>(3) + key) : splat(T(0));
    segments = params.hasSegments ? buffers.at<const int32_t>(4) + batch * params.length : nullptr;
    state = params.hasState ? buffers.at<const T>(5) + stateOffset(0) : nullptr;
  }

  /// A key for each channel?
  __attribute__((always_inline)) bool ownKeys() const { return params.keys == params.channels; }

  /// What belongs to the keys of the lanes.
  __attribute__((always_inline)) Vector<T> keyed(const T *from) const {
    return ownKeys() ? loadPart(from, count) : splat(*from);
  }
  /// The same as a term that must count once: all of a key's lanes and blocks are summed.
  __attribute__((always_inline)) Vector<T> keyedOnce(const T *from) const {
    if (ownKeys())
      return loadPart(from, count);
    Vector<T> value = splat(T(0));
    if (blockOfKey == 0)
      value[0] = *from;
    return value;
  }
  /// Stores what is equal in all lanes and blocks of a key.
  __attribute__((always_inline)) void storeKeyed(T *to, Vector<T> value) const {
    if (ownKeys())
      storePart(to, value, count);
    else if (blockOfKey == 0)
      *to = value[0];
  }
  /// Stores the sum over the lanes of a key; lanes without a channel must hold zero.
  __attribute__((always_inline)) void storeKeySum(T *to, Vector<T> value) const {
    if (ownKeys())
      storePart(to, value, count);
    else
      *to = sumOfLanes(value);
  }

  /// Of a row of [batch, state rows, channels + keys], at the sequence and the row's first element.
  __attribute__((always_inline)) int64_t stateOffset(int64_t row) const {
    return (batch * softmaxScanStateRows(params) + row) * (params.channels + params.keys);
  }
  /// Row s + S of the initial state is token s < 0.
  __attribute__((always_inline)) const T *stateRow(int64_t s) const {
    return state + (s + params.taps) * (params.channels + params.keys);
  }

  __attribute__((always_inline)) Vector<T> keyAt(int64_t s) const {
    return s >= 0 ? keyed(k + s * params.kStride) : keyed(stateRow(s) + params.channels + key);
  }
  __attribute__((always_inline)) Vector<T> valueAt(int64_t s) const {
    return loadPart(s >= 0 ? v + s * params.vStride : stateRow(s) + channel, count);
  }
  __attribute__((always_inline)) Vector<T> tap(int64_t lag) const {
    return keyed(taps + lag * params.keys);
  }

  __attribute__((always_inline)) bool startsSegment(int64_t t) const {
    return params.hasSegments && t > 0 && segments[t] != segments[t - 1];
  }
  /// Is there a token s (> -S when negative) in the segment that starts at `start`?
  __attribute__((always_inline)) bool exists(int64_t s, int64_t start) const {
    return s >= start || (start == 0 && params.hasState && s > -params.taps);
  }
};

/// A weighted sum of values and the sum of weights, both divided by exp(maximum).
template <typename T> struct Average {
  Vector<T> maximum, numerator, denominator;

  __attribute__((always_inline)) static Average empty() {
    return {splat(T(nothing)), splat(T(0)), splat(T(0))};
  }
  __attribute__((always_inline)) void absorb(Vector<T> logit, Vector<T> value) {
    Vector<T> next = larger<T>(maximum, logit);
    Vector<T> old = exponential(maximum - next), weight = exponential(logit - next);
    numerator = old * numerator + weight * value;
    denominator = old * denominator + weight;
    maximum = next;
  }
};

template <typename T>
HYBRID_INLINE void softmax_scan_forward(int64_t item, Buffers buffers,
                                        const SoftmaxScanParams &params) {
  const int64_t taps = params.taps, length = params.length;
  Block<T> block(params, item, buffers);
  const int64_t count = block.count;
  T *y = buffers.at<T>(6) + block.batch * length * params.yStride + block.channel;
  T *lse = buffers.at<T>(7) + block.batch * length * params.keys + block.key;
  Average<T> tail = Average<T>::empty();
  if (params.hasState)
    tail = {block.keyed(block.state + params.channels + block.key),
            loadPart(block.state + block.channel, count), splat(T(1))};
  int64_t start = 0; // of the segment
  for (int64_t t = 0; t < length; ++t) {
    if (block.startsSegment(t)) {
      start = t;
      tail = Average<T>::empty();
    }
    if (taps == 0)
      tail.absorb(block.keyAt(t), block.valueAt(t));
    Average<T> all = tail;
    for (int64_t lag = 0; lag < taps; ++lag)
      if (block.exists(t - lag, start))
        all.maximum = larger<T>(all.maximum, block.keyAt(t - lag) + block.tap(lag));
    const Vector<T> scale = exponential(tail.maximum - all.maximum);
    all.numerator *= scale, all.denominator *= scale;
    for (int64_t lag = 0; lag < taps; ++lag)
      if (block.exists(t - lag, start)) {
        Vector<T> weight = exponential(block.keyAt(t - lag) + block.tap(lag) - all.maximum);
        all.numerator += weight * block.valueAt(t - lag), all.denominator += weight;
      }
    storePart(y + t * params.yStride, all.numerator / all.denominator, count);
    block.storeKeyed(lse + t * params.keys, all.maximum + logarithm(all.denominator));
    // The tail as the next token sees it: a step older, with the token that leaves the taps.
    tail.maximum += block.decay;
    if (int64_t s = t + 1 - taps; taps > 0 && block.exists(s, start))
      tail.absorb(block.keyAt(s), block.valueAt(s));
  }
  if (!params.hasFinalState)
    return;
  T *final = buffers.at<T>(8) + block.stateOffset(0);
  auto storeRow = [&](int64_t row, Vector<T> value, Vector<T> weight) {
    T *to = final + row * (params.channels + params.keys);
    storePart(to + block.channel, value, count);
    block.storeKeyed(to + params.channels + block.key, weight);
  };
  const auto some = tail.denominator > T(0);
  const Vector<T> denominator = some ? tail.denominator : splat(T(1));
  storeRow(0, tail.numerator / denominator,
           some ? tail.maximum + logarithm(denominator) : splat(T(nothing)));
  for (int64_t row = 1; row < taps; ++row) {
    int64_t s = length - taps + row;
    bool present = block.exists(s, start);
    storeRow(row, present ? block.valueAt(s) : splat(T(0)),
             present ? block.keyAt(s) : splat(T(nothing)));
  }
}

/// Sums over the tokens t that see a token in their tail, divided by exp(maximum): of weight dy_t,
/// weight dy_t y_t, and the same times the number of decays between.
template <typename T> struct TailGradient {
  Vector<T> maximum, values, products, agedValues, agedProducts;

  __attribute__((always_inline)) static TailGradient empty() {
    Vector<T> zero = splat(T(0));
    return {splat(T(nothing)), zero, zero, zero, zero};
  }
  /// One decay more for all.
  __attribute__((always_inline)) void age(Vector<T> decay) {
    agedValues += values, agedProducts += products;
    maximum += decay;
  }
  __attribute__((always_inline)) void absorb(Vector<T> logWeight, Vector<T> value,
                                             Vector<T> product) {
    Vector<T> next = larger<T>(maximum, logWeight);
    Vector<T> old = exponential(maximum - next), weight = exponential(logWeight - next);
    values = old * values + weight * value, products = old * products + weight * product;
    agedValues *= old, agedProducts *= old;
    maximum = next;
  }
};

template <typename T>
HYBRID_INLINE void softmax_scan_backward(int64_t item, Buffers buffers,
                                         const SoftmaxScanParams &params) {
  const int64_t taps = params.taps, length = params.length;
  const int64_t width = params.channels + params.keys;
  Block<T> block(params, item, buffers);
  const int64_t count = block.count;
  const int64_t firstRow = block.batch * length,
                partialRow = block.blockOfKey * params.batch + block.batch;
  const T *y = buffers.at<const T>(6) + firstRow * params.yStride + block.channel;
  const T *lse = buffers.at<const T>(7) + firstRow * params.keys + block.key;
  const T *dy = buffers.at<const T>(8) + firstRow * params.yStride + block.channel;
  const T *final = buffers.at<const T>(9), *dFinal = buffers.at<const T>(10);
  if (params.hasFinalState)
    final += block.stateOffset(0), dFinal += block.stateOffset(0);
  T *dk = buffers.at<T>(11) + partialRow * length * params.dkStride + block.key;
  T *dv = buffers.at<T>(12) + firstRow * params.dvStride + block.channel;
  auto *dTaps = buffers.scratch<Vector<T>>();
  for (int64_t lag = 0; lag < taps; ++lag)
    dTaps[lag] = splat(T(0));
  Vector<T> dDecay = splat(T(0));
  TailGradient<T> tail = TailGradient<T>::empty();

  int64_t end = length; // of the segment
  // The row t that begins to see token t - S in its tail; the final state is row `length`.
  auto addRow = [&](int64_t t) {
    if (t < end) {
      Vector<T> g = loadPart(dy + t * params.yStride, count);
      tail.absorb(-block.keyed(lse + t * params.keys), g,
                  g * loadPart(y + t * params.yStride, count));
    } else if (t == length && end == length && params.hasFinalState) {
      Vector<T> g = loadPart(dFinal + block.channel, count);
      tail.absorb(-block.keyed(final + params.channels + block.key), g,
                  g * loadPart(final + block.channel, count) -
                      block.keyedOnce(dFinal + params.channels + block.key));
    }
  };
  // The gradients of token s with all that sees it in its tail.
  auto tailGradients = [&](Vector<T> logit, Vector<T> value, Vector<T> &dLogit, Vector<T> &dValue) {
    Vector<T> weight = exponential(logit + tail.maximum);
    dValue = weight * tail.values;
    dLogit = weight * (value * tail.values - tail.products);
    if (params.hasDecay)
      dDecay += weight * (value * tail.agedValues - tail.agedProducts);
  };

  if (taps == 0)
    addRow(length);
  // Tokens of the initial state are s = -1, ..., -(S-1).
  for (int64_t s = length - 1; s >= (params.hasState ? minimum(0, 1 - taps) : 0); --s) {
    if (s + 1 < length && block.startsSegment(s + 1)) {
      end = s + 1;
      tail = TailGradient<T>::empty();
    }
    tail.age(block.decay);
    addRow(s + taps);
    const Vector<T> logit = block.keyAt(s), value = block.valueAt(s);
    Vector<T> dLogit, dValue;
    tailGradients(logit, value, dLogit, dValue);
    for (int64_t lag = s < 0 ? -s : 0; lag < taps && s + lag < end; ++lag) {
      const int64_t t = s + lag;
      Vector<T> g = exponential(logit + block.tap(lag) - block.keyed(lse + t * params.keys)) *
                    loadPart(dy + t * params.yStride, count);
      dValue += g;
      g *= value - loadPart(y + t * params.yStride, count);
      dLogit += g, dTaps[lag] += g;
    }
    // Rows 1 to S - 1 of the final state are tokens.
    if (int64_t row = s - (length - taps); params.hasFinalState && row >= 1 && end == length) {
      dValue += loadPart(dFinal + row * width + block.channel, count);
      dLogit += block.keyedOnce(dFinal + row * width + params.channels + block.key);
    }
    if (s >= 0) {
      storePart(dv + s * params.dvStride, dValue, count);
      block.storeKeySum(dk + s * params.dkStride, dLogit);
    } else {
      T *dState = buffers.at<T>(13) + block.stateOffset(s + taps);
      T *dWeights =
          buffers.at<T>(16) + (partialRow * softmaxScanStateRows(params) + s + taps) * params.keys;
      storePart(dState + block.channel, dValue, count);
      block.storeKeySum(dWeights + block.key, dLogit);
    }
  }
  if (params.hasState) {
    // Row 0 is as old as token -S; without taps it is as old as token 0.
    if (taps > 0) {
      tail.age(block.decay);
      addRow(0);
    }
    Vector<T> dLogit, dValue;
    tailGradients(block.keyed(block.state + params.channels + block.key),
                  loadPart(block.state + block.channel, count), dLogit, dValue);
    T *dState = buffers.at<T>(13) + block.stateOffset(0);
    T *dWeights = buffers.at<T>(16) + partialRow * softmaxScanStateRows(params) * params.keys;
    storePart(dState + block.channel, dValue, count);
    block.storeKeySum(dWeights + block.key, dLogit);
  }
  for (int64_t lag = 0; lag < taps; ++lag)
    block.storeKeySum(buffers.at<T>(14) + (partialRow * taps + lag) * params.keys + block.key,
                      dTaps[lag]);
  if (params.hasDecay)
    block.storeKeySum(buffers.at<T>(15) + partialRow * params.keys + block.key, dDecay);
}

} // namespace

HYBRID_KERNEL(softmax_scan_forward, SoftmaxScanParams)
HYBRID_KERNEL(softmax_scan_backward, SoftmaxScanParams)
