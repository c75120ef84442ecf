//===- SelectiveScan.cpp - Mamba's scan (Gu and Dao 2023, section 3) -------===//
//
// Lanes are channels. An item walks one block of channels down its sequence in chunks; within a
// chunk a few states at a time stay in registers, so that their chains of dependent operations
// overlap, and the output is summed in a buffer of one row of lanes a token. The decay exp(dt a) is
// 2^(dt a / ln 2).
//
// The backward pass walks forward first, keeping the state at each chunk's entry, then takes the
// chunks from the last to the first: a chunk's states and decays are computed again into a buffer
// that stays in the first-level cache, and the gradient of the state walks back over them. Products
// of decays are never divided by.
//
//===----------------------------------------------------------------------===//
#include "SelectiveScan.h"
#include "Vector.h"

using namespace hybrid::cpu;

namespace {

constexpr int64_t chunkRows = selectiveScanChunk, tileStates = selectiveScanTile;
constexpr double ln2 = 0.6931471805599453;

/// 2^v for any v: 0 far below, infinity far above. A decay is below 1 unless the step is negative.
HYBRID_INLINE Vector<float> decayOf(Vector<float> v) {
  return powerOfTwo(v > 128.0f ? splat(128.0f) : v);
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

/// Input or output map of a block: a number for each token and state, or a vector for each state.
template <typename T> struct Map {
  const T *rows;       // at the sequence's first token and the block's group
  Vector<T> *constant; // null when given for each token
  int64_t stride;

  __attribute__((always_inline)) Vector<T> at(int64_t t, int64_t n) const {
    return constant ? constant[n] : splat(rows[t * stride + n]);
  }
};

/// One block of channels of one sequence.
template <typename T> struct Block {
  const SelectiveScanParams &params;
  int64_t batch, group, blockInGroup, channel, count;
  const T *x, *dt; // at the sequence's first token and the block's first channel
  const int32_t *segments;
  Vector<T> *rates, *states; // a / ln 2 and the current state, one vector a state
  Vector<T> *steps, *inputs; // dt and dt x of a chunk, one vector a row
  Map<T> b, c;

  __attribute__((always_inline)) Block(const SelectiveScanParams &params, int64_t item,
                                       void *const *buffers, Vector<T> *&scratch)
      : params(params) {
    const int64_t perGroup = selectiveScanGroupBlocks<T>(params),
                  width = params.channels / params.groups;
    batch = item / (params.groups * perGroup);
    group = item / perGroup % params.groups, blockInGroup = item % perGroup;
    channel = group * width + blockInGroup * lanes<T>;
    count = lanesAt<T>(blockInGroup * lanes<T>, width);
    x = static_cast<const T *>(buffers[0]) + batch * params.length * params.xStride + channel;
    dt = static_cast<const T *>(buffers[1]) + batch * params.length * params.dtStride + channel;
    segments = params.hasSegments ? static_cast<const int32_t *>(buffers[5]) + batch * params.length
                                  : nullptr;
    auto take = [&](int64_t vectors) {
      Vector<T> *from = scratch;
      scratch += vectors;
      return from;
    };
    rates = take(params.states), states = take(params.states);
    gatherStates(static_cast<const T *>(buffers[2]) + channel * params.states, params.states, count,
                 rates);
    for (int64_t n = 0; n < params.states; ++n)
      rates[n] *= T(1 / ln2);
    if (params.hasState)
      gatherStates(static_cast<const T *>(buffers[6]) + stateOffset(), params.states, count,
                   states);
    else
      for (int64_t n = 0; n < params.states; ++n)
        states[n] = splat(T(0));
    b = map(buffers[3], params.constantB, params.bStride, take(params.states));
    c = map(buffers[4], params.constantC, params.cStride, take(params.states));
    steps = take(chunkRows), inputs = take(chunkRows);
  }

  /// Where the block's states are in a [batch, channels, states] tensor.
  __attribute__((always_inline)) int64_t stateOffset() const {
    return (batch * params.channels + channel) * params.states;
  }

  __attribute__((always_inline)) Map<T> map(const void *from, bool constant, int64_t stride,
                                            Vector<T> *memory) {
    const T *values = static_cast<const T *>(from);
    if (!constant)
      return {values + batch * params.length * stride + group * params.states, nullptr, stride};
    gatherStates(values + channel * params.states, params.states, count, memory);
    return {nullptr, memory, 0};
  }

  __attribute__((always_inline)) bool startsSegment(int64_t t) const {
    return params.hasSegments && t > 0 && segments[t] != segments[t - 1];
  }

  __attribute__((always_inline)) void loadChunk(int64_t first, int64_t end) {
    for (int64_t t = first; t < end; ++t) {
      steps[t - first] = loadPart(dt + t * params.dtStride, count);
      inputs[t - first] = steps[t - first] * loadPart(x + t * params.xStride, count);
    }
  }

  /// Takes the states n, ..., n + S - 1 from row `first` to `end`; visit(t, k, before, decay,
  /// after) sees each step of state n + k.
  template <int64_t S, typename Visit>
  __attribute__((always_inline)) void walk(int64_t n, int64_t first, int64_t end, Visit visit) {
    Vector<T> h[S], rate[S];
    HYBRID_UNROLL
    for (int64_t k = 0; k < S; ++k)
      h[k] = states[n + k], rate[k] = rates[n + k];
    for (int64_t t = first; t < end; ++t) {
      const Vector<T> step = steps[t - first], input = inputs[t - first];
      const bool starts = startsSegment(t);
      HYBRID_UNROLL
      for (int64_t k = 0; k < S; ++k) {
        Vector<T> before = starts ? splat(T(0)) : h[k];
        Vector<T> decay = decayOf(step * rate[k]);
        h[k] = decay * before + input * b.at(t, n + k);
        visit(t, k, before, starts ? splat(T(0)) : decay, h[k]);
      }
    }
    HYBRID_UNROLL
    for (int64_t k = 0; k < S; ++k)
      states[n + k] = h[k];
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
HYBRID_INLINE void selective_scan_forward(int64_t lo, int64_t hi, void *const *buffers,
                                          void *scratch, const SelectiveScanParams &params) {
  for (int64_t item = lo; item < hi; ++item) {
    auto *memory = static_cast<Vector<T> *>(scratch);
    Block<T> block(params, item, buffers, memory);
    Vector<T> *sums = memory;
    T *y =
        static_cast<T *>(buffers[7]) + block.batch * params.length * params.yStride + block.channel;
    for (int64_t first = 0; first < params.length; first += chunkRows) {
      const int64_t end = minimum(first + chunkRows, params.length);
      block.loadChunk(first, end);
      for (int64_t i = 0; i < end - first; ++i)
        sums[i] = splat(T(0));
      forTiles(params.states, [&](int64_t n, auto tile) {
        constexpr int64_t S = decltype(tile)::value;
        block.template walk<S>(n, first, end,
                               [&](int64_t t, int64_t k, Vector<T>, Vector<T>, Vector<T> after) {
                                 sums[t - first] += block.c.at(t, n + k) * after;
                               });
      });
      for (int64_t t = first; t < end; ++t)
        storePart(y + t * params.yStride, sums[t - first], block.count);
    }
    if (params.hasFinalState)
      scatterStates(block.states, params.states, block.count,
                    static_cast<T *>(buffers[8]) + block.stateOffset());
  }
}

/// to[k] = sum over the lanes of v[k], k < 4: the vectors are folded into one another, which takes
/// a third of the operations of four separate sums.
HYBRID_INLINE void storeLaneSums(const Vector<float> *v, float *to) {
  auto halves = [](Vector<float> a, Vector<float> b) -> Vector<float> {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
           __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30,
                                   31);
  };
  Vector<float> a = halves(v[0], v[1]), b = halves(v[2], v[3]);
  Vector<float> sum =
      __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
      __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
  sum += __builtin_shufflevector(sum, sum, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
  sum += __builtin_shufflevector(sum, sum, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
  to[0] = sum[0], to[1] = sum[4], to[2] = sum[8], to[3] = sum[12];
}
HYBRID_INLINE void storeLaneSums(const Vector<double> *v, double *to) {
  auto halves = [](Vector<double> a, Vector<double> b) -> Vector<double> {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
  };
  Vector<double> a = halves(v[0], v[1]), b = halves(v[2], v[3]);
  Vector<double> sum = __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13) +
                       __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15);
  sum += __builtin_shufflevector(sum, sum, 1, 0, 3, 2, 5, 4, 7, 6);
  to[0] = sum[0], to[1] = sum[2], to[2] = sum[4], to[3] = sum[6];
}

/// Adds one row's gradient of a map: over its lanes when it is given for each token, else over
/// time.
template <typename T, int64_t S>
HYBRID_INLINE void addMapGradient(const Vector<T> *values, T *perToken, Vector<T> *constant) {
  static_assert(S == 1 || S == 4);
  if (!perToken) {
    HYBRID_UNROLL
    for (int64_t k = 0; k < S; ++k)
      constant[k] += values[k];
  } else if constexpr (S == 4) {
    storeLaneSums(values, perToken);
  } else {
    perToken[0] = sumOfLanes(values[0]);
  }
}

/// The gradient's buffers beside those of Block.
template <typename T> struct Gradients {
  Vector<T> *carry;               // decay times gradient of the state, of the row after
  Vector<T> *rates, *b, *c;       // sums over time, for partialA and constant maps
  Vector<T> *dy, *inputs, *steps; // rows of a chunk: dy, sum of λ b, sum of λ before decay a / ln 2
  Vector<T> *before, *decays;     // [row][state of the tile]
  T *partialB, *partialC;         // at the block's first token and group, when given for each token
  int64_t mapStride;
};

/// Walks the states n, ..., n + S - 1 of one chunk back.
template <typename T, int64_t S>
HYBRID_INLINE void walkBack(const Block<T> &block, const Gradients<T> &g, int64_t n, int64_t first,
                            int64_t end) {
  Vector<T> carry[S], rate[S], rateSum[S];
  HYBRID_UNROLL
  for (int64_t k = 0; k < S; ++k)
    carry[k] = g.carry[n + k], rate[k] = block.rates[n + k], rateSum[k] = g.rates[n + k];
  for (int64_t t = end - 1; t >= first; --t) {
    const int64_t i = t - first;
    const Vector<T> dy = g.dy[i], input = block.inputs[i], step = block.steps[i];
    Vector<T> inputSum = g.inputs[i], stepSum = g.steps[i], dB[S], dC[S];
    HYBRID_UNROLL
    for (int64_t k = 0; k < S; ++k) {
      const Vector<T> before = g.before[i * tileStates + k], decay = g.decays[i * tileStates + k];
      const Vector<T> b = block.b.at(t, n + k);
      const Vector<T> dState = carry[k] + block.c.at(t, n + k) * dy; // λ_t
      dC[k] = dy * (decay * before + input * b), dB[k] = dState * input;
      inputSum += dState * b;
      carry[k] = dState * decay;
      const Vector<T> dExponent = carry[k] * before;
      stepSum += dExponent * rate[k];
      rateSum[k] += dExponent * step;
    }
    g.inputs[i] = inputSum, g.steps[i] = stepSum;
    const int64_t at = t * g.mapStride + n;
    addMapGradient<T, S>(dB, g.partialB ? g.partialB + at : nullptr, g.b + n);
    addMapGradient<T, S>(dC, g.partialC ? g.partialC + at : nullptr, g.c + n);
  }
  HYBRID_UNROLL
  for (int64_t k = 0; k < S; ++k)
    g.carry[n + k] = carry[k], g.rates[n + k] = rateSum[k];
}

template <typename T>
HYBRID_INLINE void selective_scan_backward(int64_t lo, int64_t hi, void *const *buffers,
                                           void *scratch, const SelectiveScanParams &params) {
  const int64_t states = params.states, length = params.length;
  for (int64_t item = lo; item < hi; ++item) {
    auto *memory = static_cast<Vector<T> *>(scratch);
    Block<T> block(params, item, buffers, memory);
    const int64_t count = block.count;
    auto take = [&](int64_t vectors) {
      Vector<T> *from = memory;
      memory += vectors;
      return from;
    };
    auto zeros = [&](int64_t vectors) {
      Vector<T> *from = take(vectors);
      for (int64_t i = 0; i < vectors; ++i)
        from[i] = splat(T(0));
      return from;
    };
    Gradients<T> g{};
    g.carry = zeros(states), g.rates = zeros(states), g.b = zeros(states), g.c = zeros(states);
    g.dy = take(chunkRows), g.inputs = take(chunkRows), g.steps = take(chunkRows);
    g.before = take(chunkRows * tileStates), g.decays = take(chunkRows * tileStates);
    Vector<T> *entries = memory; // the state at each chunk's entry
    g.mapStride = params.groups * states;
    auto partial = [&](void *buffer, bool constant) -> T * {
      if (constant)
        return nullptr;
      return static_cast<T *>(buffer) +
             (block.blockInGroup * params.batch + block.batch) * length * g.mapStride +
             block.group * states;
    };
    g.partialB = partial(buffers[13], params.constantB);
    g.partialC = partial(buffers[14], params.constantC);
    const T *dy =
        static_cast<const T *>(buffers[7]) + block.batch * length * params.yStride + block.channel;
    T *dx = static_cast<T *>(buffers[9]) + block.batch * length * params.dxStride + block.channel;
    T *ddt =
        static_cast<T *>(buffers[10]) + block.batch * length * params.ddtStride + block.channel;
    if (params.hasFinalState)
      gatherStates(static_cast<const T *>(buffers[8]) + block.stateOffset(), states, count,
                   g.carry);

    const int64_t chunks = ceilDiv(length, chunkRows);
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      for (int64_t n = 0; n < states; ++n)
        entries[chunk * states + n] = block.states[n];
      if (chunk == chunks - 1)
        break;
      const int64_t first = chunk * chunkRows, end = first + chunkRows;
      block.loadChunk(first, end);
      forTiles(states, [&](int64_t n, auto tile) {
        block.template walk<decltype(tile)::value>(
            n, first, end, [](int64_t, int64_t, Vector<T>, Vector<T>, Vector<T>) {});
      });
    }
    for (int64_t chunk = chunks - 1; chunk >= 0; --chunk) {
      const int64_t first = chunk * chunkRows, end = minimum(first + chunkRows, length);
      for (int64_t n = 0; n < states; ++n)
        block.states[n] = entries[chunk * states + n];
      block.loadChunk(first, end);
      for (int64_t i = 0; i < end - first; ++i) {
        g.dy[i] = loadPart(dy + (first + i) * params.yStride, count);
        g.inputs[i] = g.steps[i] = splat(T(0));
      }
      forTiles(states, [&](int64_t n, auto tile) {
        constexpr int64_t S = decltype(tile)::value;
        block.template walk<S>(
            n, first, end, [&](int64_t t, int64_t k, Vector<T> before, Vector<T> decay, Vector<T>) {
              g.before[(t - first) * tileStates + k] = before;
              g.decays[(t - first) * tileStates + k] = decay;
            });
        walkBack<T, S>(block, g, n, first, end);
      });
      for (int64_t t = first; t < end; ++t) {
        const int64_t i = t - first;
        Vector<T> value = loadPart(block.x + t * params.xStride, count);
        storePart(dx + t * params.dxStride, block.steps[i] * g.inputs[i], count);
        storePart(ddt + t * params.ddtStride, value * g.inputs[i] + g.steps[i] * T(ln2), count);
      }
    }

    if (params.hasState)
      scatterStates(g.carry, states, count, static_cast<T *>(buffers[11]) + block.stateOffset());
    auto storeSums = [&](void *buffer, const Vector<T> *sums) {
      T *to = static_cast<T *>(buffer) + block.batch * states * params.channels + block.channel;
      for (int64_t n = 0; n < states; ++n)
        storePart(to + n * params.channels, sums[n], count);
    };
    storeSums(buffers[12], g.rates);
    if (params.constantB)
      storeSums(buffers[13], g.b);
    if (params.constantC)
      storeSums(buffers[14], g.c);
  }
}

} // namespace

HYBRID_KERNEL(selective_scan_forward, SelectiveScanParams)
HYBRID_KERNEL(selective_scan_backward, SelectiveScanParams)
