//===- SelectiveScan.cpp - Mamba's scan (Gu and Dao 2023, section 3) -------===//
//
// Lanes are channels. An item walks a few blocks of channels side by side down its sequence in
// chunks; within a chunk a few states at a time stay in registers, so that their chains of
// dependent operations overlap, and the output is summed in a buffer of one row of lanes a token.
// The decay exp(dt a) is 2^(dt a / ln 2); it is most of the work.
//
// The backward pass walks forward first, keeping the state at each chunk's entry, then takes the
// chunks from the last to the first: a chunk's states and decays are computed again into a buffer
// that stays in the first-level cache, and the gradient of the state walks back over them. Products
// of decays are never divided by.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/SelectiveScan.h"
#include "Activation.h"
#include "Gates.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

constexpr int64_t chunkRows = selectiveScanChunk, tileStates = selectiveScanTile;
constexpr double ln2 = 0.6931471805599453;

/// 2^v for any v: 0 below -127, infinity from 128 on. Relative error below 1.6e-7, which is less
/// than the rounding of v = dt a / ln 2 leaves for |v| > 3.
HYBRID_INLINE Vector<float> decayOf(Vector<float> v) {
  Vector<float> x = v < -127.0f ? splat(-127.0f) : v; // comparisons are false for NaN, which stays
  x = x > 128.0f ? splat(128.0f) : x;
  // Rounds to the nearest integer n, and leaves n + 127 in the low bits.
  const float shift = 12582912.0f + 127.0f;
  Vector<float> rounded = x + shift;
  Integers<float> exponent = __builtin_bit_cast(Integers<float>, rounded) << 23;
  Vector<float> r = x - (rounded - shift);
  Vector<float> q = splat(0.001326472731307149f);
  q = q * r + 0.009671512991189957f;
  q = q * r + 0.05550733581185341f;
  q = q * r + 0.24022242426872253f;
  q = q * r + 0.6931470036506653f;
  q = q * r + 1.0f;
  return q * __builtin_bit_cast(Vector<float>, exponent);
}
HYBRID_INLINE Vector<double> decayOf(Vector<double> v) { return powerOfTwo(v); }

/// [channels, states] of a block, one vector a state.
template <typename T>
HYBRID_INLINE void gatherStates(const T *from, int64_t states, int64_t count, Vector<T> *to) {
  for (int64_t n = 0; n < states; ++n) {
    T values[lanes<T>] = {};
    for (int64_t i = 0; i < count; ++i)
      values[i] = from[i * states + n];
    to[n] = load(values);
  }
}
template <typename T>
HYBRID_INLINE void scatterStates(const Vector<T> *from, int64_t states, int64_t count, T *to) {
  for (int64_t n = 0; n < states; ++n) {
    T values[lanes<T>];
    store(values, from[n]);
    for (int64_t i = 0; i < count; ++i)
      to[i * states + n] = values[i];
  }
}
template <typename T> HYBRID_INLINE void clear(Vector<T> *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = splat(T(0));
}

/// Hands out parts of the scratch memory.
template <typename T> struct Scratch {
  Vector<T> *next;

  __attribute__((always_inline)) Vector<T> *take(int64_t vectors) {
    Vector<T> *from = next;
    next += vectors;
    return from;
  }
};

/// Which channels and rows of which sequence an item takes.
template <typename T> struct Item {
  int64_t batch, group, indexInGroup, blocks, time, from, to;

  __attribute__((always_inline)) Item(const SelectiveScanParams &params, int64_t item) {
    const int64_t perGroup = selectiveScanGroupItems<T>(params);
    time = item % params.timeBlocks, item /= params.timeBlocks;
    from = time * params.blockRows, to = minimum(from + params.blockRows, params.length);
    batch = item / (params.groups * perGroup);
    group = item / perGroup % params.groups, indexInGroup = item % perGroup;
    blocks = minimum(params.blocksPerItem,
                     selectiveScanGroupBlocks<T>(params) - indexInGroup * params.blocksPerItem);
  }
};

/// The first ten buffers of both kernels.
enum Buffer { X, RawStep, A, B, C, Segments, InitialState, StepBias, Skip, Gate, Own };

/// One block of channels of one sequence.
template <typename T> struct Block {
  int64_t channel, count, row0; // row0: the sequence's first row
  Vector<T> *rates, *states;    // a / ln 2 and the current state, one vector a state
  Vector<T> *constantB, *constantC;

  __attribute__((always_inline)) Block(const SelectiveScanParams &params, const Item<T> &item,
                                       int64_t index, Vector<T> *memory) {
    const int64_t width = params.channels / params.groups;
    const int64_t inGroup = (item.indexInGroup * params.blocksPerItem + index) * lanes<T>;
    channel = item.group * width + inGroup, count = lanesAt<T>(inGroup, width);
    row0 = item.batch * params.length;
    memory += index * 4 * params.states;
    rates = memory, states = rates + params.states, constantB = states + params.states;
    constantC = constantB + params.states;
  }

  /// Where the block's states are in a [batch, channels, states] tensor.
  __attribute__((always_inline)) int64_t stateOffset(const SelectiveScanParams &params,
                                                     const Item<T> &item) const {
    return (item.batch * params.channels + channel) * params.states;
  }
  /// The same with a leading dimension over blocks of rows.
  __attribute__((always_inline)) int64_t timeStateOffset(const SelectiveScanParams &params,
                                                         const Item<T> &item) const {
    return item.time * params.batch * params.channels * params.states + stateOffset(params, item);
  }

  __attribute__((always_inline)) void prepare(const SelectiveScanParams &params,
                                              const Item<T> &item, Buffers buffers) const {
    auto gather = [&](int64_t buffer, int64_t offset, Vector<T> *to) HYBRID_INLINE_LAMBDA {
      gatherStates(buffers.at<const T>(buffer) + offset, params.states, count, to);
    };
    gather(A, channel * params.states, rates);
    for (int64_t n = 0; n < params.states; ++n)
      rates[n] *= T(1 / ln2);
    if (params.hasState)
      gather(InitialState, timeStateOffset(params, item), states);
    else
      clear<T>(states, params.states);
    if (params.constantB)
      gather(B, channel * params.states, constantB);
    if (params.constantC)
      gather(C, channel * params.states, constantC);
  }

  /// One vector of a channel's values.
  __attribute__((always_inline)) Vector<T> channelValues(Buffers buffers, int64_t buffer) const {
    return loadPart(buffers.at<const T>(buffer) + channel, count);
  }
};

/// Rows [first, end) of a sequence, with what the walk over a block's states reads.
template <typename T> struct Chunk {
  int64_t first, end;
  Vector<T> *steps, *inputs; // dt and dt x, one vector a row
  const T *b, *c;            // at the chunk's first row and the item's group
  const int32_t *segments;   // of the sequence

  __attribute__((always_inline)) Chunk(const SelectiveScanParams &params, const Item<T> &item,
                                       int64_t first, Buffers buffers, Vector<T> *steps,
                                       Vector<T> *inputs)
      : first(first), end(minimum(first + chunkRows, item.to)), steps(steps), inputs(inputs) {
    auto map = [&](int64_t buffer, int64_t stride) HYBRID_INLINE_LAMBDA {
      return buffers.at<const T>(buffer) + (item.batch * params.length + first) * stride +
             item.group * params.states;
    };
    b = params.constantB ? nullptr : map(B, params.bStride);
    c = params.constantC ? nullptr : map(C, params.cStride);
    segments = params.hasSegments ? buffers.at<const int32_t>(Segments) + item.batch * params.length
                                  : nullptr;
  }

  /// Loads the rows of a block; visit(i, x, slope) sees each of them, slope being
  /// the derivative of the step.
  template <typename Visit>
  __attribute__((always_inline)) void load(const SelectiveScanParams &params, const Block<T> &block,
                                           Buffers buffers, Visit visit) const {
    const Activation<T> x = activationAt<T>(buffers, X) +
                            ((block.row0 + first) * params.xStride + block.channel),
                        raw = activationAt<T>(buffers, RawStep) +
                              ((block.row0 + first) * params.dtStride + block.channel);
    const Vector<T> bias =
        params.hasStepBias ? block.channelValues(buffers, StepBias) : splat(T(0));
    for (int64_t i = 0; i < end - first; ++i) {
      const Vector<T> value = loadPart(x + i * params.xStride, block.count);
      Vector<T> step = loadPart(raw + i * params.dtStride, block.count);
      if (params.hasStepBias)
        step += bias;
      Vector<T> slope = splat(T(1));
      if (params.softplusStep)
        step = softplus<T>(step, slope);
      steps[i] = step, inputs[i] = step * value;
      visit(i, value, slope);
    }
  }

  __attribute__((always_inline)) bool startsSegment(const SelectiveScanParams &params,
                                                    int64_t i) const {
    return params.hasSegments && first + i > 0 && segments[first + i] != segments[first + i - 1];
  }
  __attribute__((always_inline)) Vector<T> mapB(const SelectiveScanParams &params,
                                                const Block<T> &block, int64_t i, int64_t n) const {
    return params.constantB ? block.constantB[n] : splat(b[i * params.bStride + n]);
  }
  __attribute__((always_inline)) Vector<T> mapC(const SelectiveScanParams &params,
                                                const Block<T> &block, int64_t i, int64_t n) const {
    return params.constantC ? block.constantC[n] : splat(c[i * params.cStride + n]);
  }

  /// Takes the states n, ..., n + S - 1 down the chunk; visit(i, before, decays, after) sees each
  /// row, S vectors each.
  template <int64_t S, typename Visit>
  __attribute__((always_inline)) void walk(const SelectiveScanParams &params, const Block<T> &block,
                                           int64_t n, Visit visit) const {
    Vector<T> h[S], rate[S];
    HYBRID_UNROLL
    for (int64_t k = 0; k < S; ++k)
      h[k] = block.states[n + k], rate[k] = block.rates[n + k];
    for (int64_t i = 0; i < end - first; ++i) {
      const Vector<T> step = steps[i], input = inputs[i];
      const bool starts = startsSegment(params, i);
      Vector<T> before[S], decay[S];
      HYBRID_UNROLL
      for (int64_t k = 0; k < S; ++k) {
        before[k] = starts ? splat(T(0)) : h[k];
        decay[k] = decayOf(step * rate[k]);
        h[k] = decay[k] * before[k] + input * mapB(params, block, i, n + k);
        decay[k] = starts ? splat(T(0)) : decay[k];
      }
      visit(i, before, decay, h);
    }
    HYBRID_UNROLL
    for (int64_t k = 0; k < S; ++k)
      block.states[n + k] = h[k];
  }
};

/// Calls body(n, S) for tiles that cover all states; S is a compile-time constant.
template <int64_t S> struct Constant {
  static constexpr int64_t value = S;
};
template <typename Body> HYBRID_INLINE void forTiles(int64_t states, Body body) {
  int64_t n = 0;
  for (; n + tileStates <= states; n += tileStates)
    body(n, Constant<tileStates>());
  for (; n < states; ++n)
    body(n, Constant<1>());
}

template <typename T>
HYBRID_INLINE void selective_scan_forward(int64_t index, Buffers buffers,
                                          const SelectiveScanParams &params) {
  const Item<T> item(params, index);
  Scratch<T> memory{buffers.scratch<Vector<T>>()};
  Vector<T> *const blocks = memory.take(params.blocksPerItem * 4 * params.states);
  Vector<T> *const steps = memory.take(chunkRows), *const inputs = memory.take(chunkRows),
                   *const sums = memory.take(chunkRows);
  for (int64_t j = 0; j < item.blocks; ++j)
    Block<T>(params, item, j, blocks).prepare(params, item, buffers);
  for (int64_t first = item.from; first < item.to; first += chunkRows) {
    const Chunk<T> chunk(params, item, first, buffers, steps, inputs);
    for (int64_t j = 0; j < item.blocks; ++j) {
      const Block<T> block(params, item, j, blocks);
      const Vector<T> skip = params.hasSkip ? block.channelValues(buffers, Skip) : splat(T(0));
      chunk.load(params, block, buffers,
                 [&](int64_t i, Vector<T> x, Vector<T>)
                     HYBRID_INLINE_LAMBDA { sums[i] = skip * x; });
      forTiles(params.states, [&](int64_t n, auto tile) HYBRID_INLINE_LAMBDA {
        constexpr int64_t S = decltype(tile)::value;
        chunk.template walk<S>(params, block, n,
                               [&](int64_t i, const Vector<T> *, const Vector<T> *,
                                   const Vector<T> *after) HYBRID_INLINE_LAMBDA {
                                 Vector<T> sum = sums[i];
                                 HYBRID_UNROLL
                                 for (int64_t k = 0; k < S; ++k)
                                   sum += chunk.mapC(params, block, i, n + k) * after[k];
                                 sums[i] = sum;
                               });
      });
      const Activation<T> y = activationAt<T>(buffers, Own + 1) +
                              ((block.row0 + first) * params.yStride + block.channel),
                          gate = activationAt<T>(buffers, Gate) +
                                 ((block.row0 + first) * params.gateStride + block.channel);
      for (int64_t i = 0; i < chunk.end - first; ++i) {
        Vector<T> value = sums[i];
        if (params.hasGate) {
          const Vector<T> z = loadPart(gate + i * params.gateStride, block.count);
          value *= z * logistic<T>(z);
        }
        storePart(y + i * params.yStride, value, block.count);
      }
    }
  }
  if (params.hasFinalState && item.time == params.timeBlocks - 1)
    for (int64_t j = 0; j < item.blocks; ++j) {
      const Block<T> block(params, item, j, blocks);
      scatterStates(block.states, params.states, block.count,
                    buffers.at<T>(Own) + block.stateOffset(params, item));
    }
}

template <typename T> struct FourLanes;
template <> struct FourLanes<float> {
  typedef float Values __attribute__((ext_vector_type(4)));
  typedef float Unaligned __attribute__((ext_vector_type(4), aligned(4), may_alias));
};
template <> struct FourLanes<double> {
  typedef double Values __attribute__((ext_vector_type(4)));
  typedef double Unaligned __attribute__((ext_vector_type(4), aligned(8), may_alias));
};

/// The sums over the lanes of each of four vectors: they are folded into one another, which takes a
/// third of the operations of four separate sums.
HYBRID_INLINE FourLanes<float>::Values laneSums(const Vector<float> *v) {
  auto halves = [](Vector<float> a, Vector<float> b) HYBRID_INLINE_LAMBDA -> Vector<float> {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
           __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30,
                                   31);
  };
  Vector<float> a = halves(v[0], v[1]), b = halves(v[2], v[3]);
  Vector<float> sum =
      __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
      __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
  typedef float Eight __attribute__((ext_vector_type(8)));
  Eight half = __builtin_shufflevector(sum, sum, 0, 1, 4, 5, 8, 9, 12, 13) +
               __builtin_shufflevector(sum, sum, 2, 3, 6, 7, 10, 11, 14, 15);
  return __builtin_shufflevector(half, half, 0, 2, 4, 6) +
         __builtin_shufflevector(half, half, 1, 3, 5, 7);
}
HYBRID_INLINE FourLanes<double>::Values laneSums(const Vector<double> *v) {
  auto halves = [](Vector<double> a, Vector<double> b) HYBRID_INLINE_LAMBDA -> Vector<double> {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
  };
  Vector<double> a = halves(v[0], v[1]), b = halves(v[2], v[3]);
  Vector<double> sum = __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13) +
                       __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15);
  return __builtin_shufflevector(sum, sum, 0, 2, 4, 6) +
         __builtin_shufflevector(sum, sum, 1, 3, 5, 7);
}

/// Stores one row's gradient of a map for S states: the sums over its lanes, on top of those of the
/// item's blocks before.
template <typename T, int64_t S>
HYBRID_INLINE void storeMapGradient(const Vector<T> *values, T *to, bool firstBlock) {
  static_assert(S == 1 || S == 4);
  if constexpr (S == 4) {
    auto *place = reinterpret_cast<typename FourLanes<T>::Unaligned *>(to);
    typename FourLanes<T>::Values sums = laneSums(values);
    if (!firstBlock)
      sums += *place;
    *place = sums;
  } else {
    *to = firstBlock ? sumOfLanes(values[0]) : *to + sumOfLanes(values[0]);
  }
}

/// What the backward pass keeps beside the blocks.
template <typename T> struct Gradients {
  Vector<T> *carry;               // decay times gradient of the state, of the row after
  Vector<T> *rates, *b, *c;       // sums over time, for partialA and constant maps
  Vector<T> *stepBias, *skip;     // the same
  Vector<T> *dy, *inputs, *steps; // rows of a chunk: dy, sum of λ b, sum of λ before decay a / ln 2
  Vector<T> *sums;                // rows of a chunk: y before the gate
  Vector<T> *stepSlopes, *slopes; // rows of a chunk: slope of the step; dy silu'(gate)
  Vector<T> *before, *decays;     // [row][state of the tile]
  T *partialB, *partialC;         // at the chunk's first row and the group, if given for each token
  int64_t mapStride;

  __attribute__((always_inline)) void ofBlock(const SelectiveScanParams &params, Vector<T> *memory,
                                              int64_t index) {
    memory += index * (4 * params.states + 2);
    carry = memory, rates = carry + params.states, b = rates + params.states;
    c = b + params.states, stepBias = c + params.states, skip = stepBias + 1;
  }
};

/// Walks the states n, ..., n + S - 1 of one chunk back.
template <typename T, int64_t S>
HYBRID_INLINE void walkBack(const SelectiveScanParams &params, const Block<T> &block,
                            const Chunk<T> &chunk, const Gradients<T> &g, int64_t n,
                            bool firstBlock) {
  Vector<T> carry[S], rate[S], rateSum[S];
  HYBRID_UNROLL
  for (int64_t k = 0; k < S; ++k)
    carry[k] = g.carry[n + k], rate[k] = block.rates[n + k], rateSum[k] = g.rates[n + k];
  for (int64_t i = chunk.end - chunk.first - 1; i >= 0; --i) {
    const Vector<T> dy = g.dy[i], input = chunk.inputs[i], step = chunk.steps[i];
    Vector<T> inputSum = g.inputs[i], stepSum = g.steps[i], sum = splat(T(0)), dB[S], dC[S];
    HYBRID_UNROLL
    for (int64_t k = 0; k < S; ++k) {
      const Vector<T> before = g.before[i * tileStates + k], decay = g.decays[i * tileStates + k];
      const Vector<T> b = chunk.mapB(params, block, i, n + k),
                      c = chunk.mapC(params, block, i, n + k);
      const Vector<T> dState = carry[k] + c * dy; // λ_t
      const Vector<T> after = decay * before + input * b;
      dC[k] = dy * after, dB[k] = dState * input;
      if (params.hasGate)
        sum += c * after;
      inputSum += dState * b;
      carry[k] = dState * decay;
      const Vector<T> dExponent = carry[k] * before;
      stepSum += dExponent * rate[k];
      rateSum[k] += dExponent * step;
    }
    g.inputs[i] = inputSum, g.steps[i] = stepSum;
    if (params.hasGate)
      g.sums[i] += sum;
    auto addGradient = [&](bool constant, const Vector<T> *values, Vector<T> *overTime,
                           T *perToken) HYBRID_INLINE_LAMBDA {
      if (constant) {
        HYBRID_UNROLL
        for (int64_t k = 0; k < S; ++k)
          overTime[k] += values[k];
      } else {
        storeMapGradient<T, S>(values, perToken + i * g.mapStride + n, firstBlock);
      }
    };
    addGradient(params.constantB, dB, g.b + n, g.partialB);
    addGradient(params.constantC, dC, g.c + n, g.partialC);
  }
  HYBRID_UNROLL
  for (int64_t k = 0; k < S; ++k)
    g.carry[n + k] = carry[k], g.rates[n + k] = rateSum[k];
}

/// Takes one block back over one chunk, whose states at the entry are in block.states.
template <typename T>
HYBRID_INLINE void backChunk(const SelectiveScanParams &params, const Block<T> &block,
                             const Chunk<T> &chunk, const Gradients<T> &g, Buffers buffers,
                             bool firstBlock) {
  const int64_t rows = chunk.end - chunk.first, row = block.row0 + chunk.first;
  auto at = [&](int64_t buffer, int64_t stride) HYBRID_INLINE_LAMBDA {
    return activationAt<T>(buffers, buffer) + (row * stride + block.channel);
  };
  const Activation<T> dy = at(Own, params.yStride);
  const Vector<T> skip = params.hasSkip ? block.channelValues(buffers, Skip) : splat(T(0));
  chunk.load(params, block, buffers,
             [&](int64_t i, Vector<T> x, Vector<T> slope) HYBRID_INLINE_LAMBDA {
               Vector<T> gradient = loadPart(dy + i * params.yStride, block.count);
               if (params.hasGate) {
                 const Vector<T> z = loadPart(at(Gate, params.gateStride) + i * params.gateStride,
                                              block.count),
                                 s = logistic<T>(z);
                 g.slopes[i] = gradient * s * (T(1) + z * (T(1) - s));
                 gradient *= z * s;
                 g.sums[i] = skip * x;
               }
               g.dy[i] = gradient, g.inputs[i] = g.steps[i] = splat(T(0));
               if (params.softplusStep)
                 g.stepSlopes[i] = slope;
             });
  forTiles(params.states, [&](int64_t n, auto tile) HYBRID_INLINE_LAMBDA {
    constexpr int64_t S = decltype(tile)::value;
    chunk.template walk<S>(params, block, n,
                           [&](int64_t i, const Vector<T> *before, const Vector<T> *decay,
                               const Vector<T> *) HYBRID_INLINE_LAMBDA {
                             HYBRID_UNROLL
                             for (int64_t k = 0; k < S; ++k) {
                               g.before[i * tileStates + k] = before[k];
                               g.decays[i * tileStates + k] = decay[k];
                             }
                           });
    walkBack<T, S>(params, block, chunk, g, n, firstBlock);
  });
  const Activation<T> x = at(X, params.xStride), dx = at(Own + 2, params.dxStride),
                      dRaw = at(Own + 3, params.ddtStride);
  Vector<T> stepBias = splat(T(0)), skipSum = splat(T(0));
  for (int64_t i = 0; i < rows; ++i) {
    const Vector<T> value = loadPart(x + i * params.xStride, block.count);
    Vector<T> dValue = chunk.steps[i] * g.inputs[i];
    if (params.hasSkip)
      dValue += skip * g.dy[i], skipSum += value * g.dy[i];
    storePart(dx + i * params.dxStride, dValue, block.count);
    Vector<T> dStep = value * g.inputs[i] + g.steps[i] * T(ln2);
    if (params.softplusStep)
      dStep *= g.stepSlopes[i];
    if (params.hasStepBias)
      stepBias += dStep;
    storePart(dRaw + i * params.ddtStride, dStep, block.count);
    if (params.hasGate)
      storePart(at(Own + 5, params.dGateStride) + i * params.dGateStride, g.slopes[i] * g.sums[i],
                block.count);
  }
  if (params.hasStepBias)
    *g.stepBias += stepBias;
  if (params.hasSkip)
    *g.skip += skipSum;
}

template <typename T>
HYBRID_INLINE void selective_scan_backward(int64_t index, Buffers buffers,
                                           const SelectiveScanParams &params) {
  const int64_t states = params.states, length = params.length;
  const Item<T> item(params, index);
  Scratch<T> memory{buffers.scratch<Vector<T>>()};
  Vector<T> *const blocks = memory.take(params.blocksPerItem * 4 * states);
  Vector<T> *const steps = memory.take(chunkRows), *const inputs = memory.take(chunkRows);
  const int64_t sums = params.blocksPerItem * (4 * states + 2);
  Vector<T> *const gradients = memory.take(sums);
  Gradients<T> g;
  g.dy = memory.take(chunkRows), g.inputs = memory.take(chunkRows);
  g.steps = memory.take(chunkRows), g.sums = memory.take(chunkRows);
  g.stepSlopes = memory.take(chunkRows), g.slopes = memory.take(chunkRows);
  g.before = memory.take(chunkRows * tileStates), g.decays = memory.take(chunkRows * tileStates);
  Vector<T> *const entries = memory.next; // [chunk][block][state], at each chunk's entry
  auto entry = [&](int64_t chunk, int64_t j) HYBRID_INLINE_LAMBDA {
    return entries + (chunk * params.blocksPerItem + j) * states;
  };
  g.mapStride = params.groups * states;

  clear<T>(gradients, sums);
  for (int64_t j = 0; j < item.blocks; ++j) {
    const Block<T> block(params, item, j, blocks);
    block.prepare(params, item, buffers);
    g.ofBlock(params, gradients, j);
    if (params.hasFinalState)
      gatherStates(static_cast<const T *>(buffers[Own + 1]) + block.timeStateOffset(params, item),
                   states, block.count, g.carry);
  }

  const int64_t chunks = ceilDiv(item.to - item.from, chunkRows);
  for (int64_t c = 0; c < chunks; ++c) {
    const Chunk<T> chunk(params, item, item.from + c * chunkRows, buffers, steps, inputs);
    for (int64_t j = 0; j < item.blocks; ++j) {
      const Block<T> block(params, item, j, blocks);
      for (int64_t n = 0; n < states; ++n)
        entry(c, j)[n] = block.states[n];
      if (c == chunks - 1)
        continue;
      chunk.load(params, block, buffers, [](int64_t, Vector<T>, Vector<T>) {});
      forTiles(states, [&](int64_t n, auto tile) HYBRID_INLINE_LAMBDA {
        chunk.template walk<decltype(tile)::value>(
            params, block, n,
            [](int64_t, const Vector<T> *, const Vector<T> *, const Vector<T> *) {});
      });
    }
  }
  for (int64_t c = chunks - 1; c >= 0; --c) {
    const Chunk<T> chunk(params, item, item.from + c * chunkRows, buffers, steps, inputs);
    auto partial = [&](int64_t buffer) HYBRID_INLINE_LAMBDA {
      return buffers.at<T>(buffer) +
             ((item.indexInGroup * params.batch + item.batch) * length + chunk.first) *
                 g.mapStride +
             item.group * states;
    };
    g.partialB = params.constantB ? nullptr : partial(Own + 7);
    g.partialC = params.constantC ? nullptr : partial(Own + 8);
    for (int64_t j = 0; j < item.blocks; ++j) {
      const Block<T> block(params, item, j, blocks);
      g.ofBlock(params, gradients, j);
      for (int64_t n = 0; n < states; ++n)
        block.states[n] = entry(c, j)[n];
      backChunk(params, block, chunk, g, buffers, j == 0);
    }
  }

  for (int64_t j = 0; j < item.blocks; ++j) {
    const Block<T> block(params, item, j, blocks);
    g.ofBlock(params, gradients, j);
    if (params.stateGradient && item.time == 0)
      scatterStates(g.carry, states, block.count,
                    static_cast<T *>(buffers[Own + 4]) + block.stateOffset(params, item));
    auto storeSums = [&](int64_t buffer, const Vector<T> *sum, int64_t rows) HYBRID_INLINE_LAMBDA {
      T *to = buffers.at<T>(buffer) +
              (item.time * params.batch + item.batch) * rows * params.channels + block.channel;
      for (int64_t n = 0; n < rows; ++n)
        storePart(to + n * params.channels, sum[n], block.count);
    };
    storeSums(Own + 6, g.rates, states);
    if (params.constantB)
      storeSums(Own + 7, g.b, states);
    if (params.constantC)
      storeSums(Own + 8, g.c, states);
    if (params.hasStepBias)
      storeSums(Own + 9, g.stepBias, 1);
    if (params.hasSkip)
      storeSums(Own + 10, g.skip, 1);
  }
}

//===-- division over time -----------------------------------------------------===//

template <typename T>
HYBRID_INLINE void selective_scan_summary(int64_t index, Buffers buffers,
                                          const SelectiveScanParams &params) {
  const bool gradient = params.summariseGradient;
  const Item<T> item(params, index);
  Scratch<T> memory{buffers.scratch<Vector<T>>()};
  Vector<T> *const blocks = memory.take(params.blocksPerItem * 4 * params.states);
  Vector<T> *const products = memory.take(params.blocksPerItem * params.states),
                   *const carries = memory.take(params.blocksPerItem * params.states);
  Vector<T> *const steps = memory.take(chunkRows), *const inputs = memory.take(chunkRows),
                   *const dy = memory.take(chunkRows);
  for (int64_t j = 0; j < item.blocks; ++j) {
    const Block<T> block(params, item, j, blocks);
    block.prepare(params, item, buffers);
    for (int64_t n = 0; n < params.states; ++n) {
      block.states[n] = carries[j * params.states + n] = splat(T(0));
      products[j * params.states + n] = splat(T(1));
    }
  }
  for (int64_t first = item.from; first < item.to; first += chunkRows) {
    const Chunk<T> chunk(params, item, first, buffers, steps, inputs);
    for (int64_t j = 0; j < item.blocks; ++j) {
      const Block<T> block(params, item, j, blocks);
      auto row = [&](int64_t buffer, int64_t stride, int64_t i) HYBRID_INLINE_LAMBDA {
        return loadPart(activationAt<T>(buffers, buffer) +
                            ((block.row0 + first + i) * stride + block.channel),
                        block.count);
      };
      chunk.load(params, block, buffers, [&](int64_t i, Vector<T>, Vector<T>) HYBRID_INLINE_LAMBDA {
        if (!gradient)
          return;
        dy[i] = row(Own, params.yStride, i);
        if (params.hasGate) {
          const Vector<T> z = row(Gate, params.gateStride, i);
          dy[i] *= z * logistic<T>(z);
        }
      });
      forTiles(params.states, [&](int64_t n, auto tile) HYBRID_INLINE_LAMBDA {
        constexpr int64_t S = decltype(tile)::value;
        Vector<T> *const product = products + j * params.states + n, *const carry =
                                                                         carries +
                                                                         j * params.states + n;
        chunk.template walk<S>(params, block, n,
                               [&](int64_t i, const Vector<T> *, const Vector<T> *decay,
                                   const Vector<T> *) HYBRID_INLINE_LAMBDA {
                                 HYBRID_UNROLL
                                 for (int64_t k = 0; k < S; ++k) {
                                   product[k] *= decay[k];
                                   if (gradient)
                                     carry[k] +=
                                         product[k] * chunk.mapC(params, block, i, n + k) * dy[i];
                                 }
                               });
      });
    }
  }
  for (int64_t j = 0; j < item.blocks; ++j) {
    const Block<T> block(params, item, j, blocks);
    auto put = [&](int64_t buffer, const Vector<T> *values) HYBRID_INLINE_LAMBDA {
      scatterStates(values, params.states, block.count,
                    buffers.at<T>(buffer) + block.timeStateOffset(params, item));
    };
    put(Own + 1, products + j * params.states), put(Own + 2, block.states);
    if (gradient)
      put(Own + 3, carries + j * params.states);
  }
}

template <typename T>
HYBRID_INLINE void selective_scan_entries(int64_t index, Buffers buffers,
                                          const SelectiveScanEntriesParams &params) {
  const T *decay = buffers.at<const T>(0), *offset = buffers.at<const T>(1),
          *state = buffers.at<const T>(2);
  T *entries = buffers.at<T>(3);
  const int64_t at = index * lanes<T>, count = lanesAt<T>(at, params.elements);
  Vector<T> value = params.hasState ? loadPart(state + at, count) : splat(T(0));
  for (int64_t i = 0; i < params.timeBlocks; ++i) {
    const int64_t block = (params.reverse ? params.timeBlocks - 1 - i : i) * params.elements + at;
    storePart(entries + block, value, count);
    value = loadPart(decay + block, count) * value + loadPart(offset + block, count);
  }
}

} // namespace

HYBRID_KERNEL(selective_scan_summary, SelectiveScanParams)
HYBRID_KERNEL(selective_scan_entries, SelectiveScanEntriesParams)
HYBRID_KERNEL(selective_scan_forward, SelectiveScanParams)
HYBRID_KERNEL(selective_scan_backward, SelectiveScanParams)
