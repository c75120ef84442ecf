//===- SelectiveScanOperands.cuh - what a block of the scan reads -----------===//
//
// A block's share of the work, its tiles on their way from memory to shared memory, and the step
// that takes states from a token to the next.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/SelectiveScan.h"
#include "codegen/kernels/cuda/Lanes.cuh"

namespace hybrid::cuda {

/// What a block of the scan works on, and its tiles in shared memory.
template <typename T, SelectiveScanParams p> struct SelectiveScanBlock {
  static constexpr int rows = selectiveScanRows<T>(p), states = static_cast<int>(p.states),
                       perThread = selectiveScanStates(p), splits = selectiveScanSplits(p),
                       padded = perThread * splits,
                       channels = static_cast<int>(32 * p.blocksPerItem),
                       threads = selectiveScanThreads(p);
  /// Rows of a tile that a thread loads of its channel, and values of each map.
  static constexpr int ownRows = (rows + splits - 1) / splits,
                       ownMap = (rows * states + threads - 1) / threads;
  static constexpr int tile = rows * channels, mapTile = rows * padded;
  static constexpr double log2e = 1.4426950408889634, ln2 = 0.6931471805599453;

  int thread, lane /* channel in the block */, split, firstState;
  int64_t batch, time, group, indexInGroup, channel, from, to;
  bool active; // has a channel

  HYBRID_DEVICE explicit SelectiveScanBlock(int64_t item) {
    constexpr int64_t groupBlocks = selectiveScanGroupBlocks(p);
    indexInGroup = item % groupBlocks, item /= groupBlocks;
    group = item % p.groups, item /= p.groups;
    time = item % p.timeBlocks, batch = item / p.timeBlocks;
    thread = static_cast<int>(threadIdx.x);
    lane = thread % channels, split = thread / channels, firstState = split * perThread;
    const int64_t inGroup = indexInGroup * channels + lane;
    active = inGroup < p.channels / p.groups;
    channel = group * (p.channels / p.groups) + inGroup;
    from = time * p.blockRows, to = minimum(from + p.blockRows, p.length);
  }

  HYBRID_DEVICE int64_t tiles() const { return (to - from + rows - 1) / rows; }
  HYBRID_DEVICE bool hasState(int k) const { return active && firstState + k < states; }

  /// [channels, states]
  HYBRID_DEVICE void readStates(const T *values, T scale, T (&to)[perThread]) const {
    HYBRID_UNROLL
    for (int k = 0; k < perThread; ++k)
      to[k] = hasState(k) ? values[channel * p.states + firstState + k] * scale : T(0);
  }
  /// Of [batch, channels, states], or with `divided` of [timeBlocks, batch, channels, states].
  HYBRID_DEVICE int64_t stateOffset(bool divided) const {
    return ((divided ? time * p.batch : 0) + batch) * p.channels * p.states;
  }
  /// The states that the block of rows starts from.
  HYBRID_DEVICE void readInitial(const T *initialState, T (&to)[perThread]) const {
    HYBRID_UNROLL
    for (int k = 0; k < perThread; ++k)
      to[k] = T(0);
    if constexpr (p.hasState)
      readStates(initialState + stateOffset(true), T(1), to);
  }
  HYBRID_DEVICE void writeStates(const T (&values)[perThread], T *to) const {
    HYBRID_UNROLL
    for (int k = 0; k < perThread; ++k)
      if (hasState(k))
        to[channel * p.states + firstState + k] = values[k];
  }
  /// [states, channels]
  HYBRID_DEVICE void writeTransposed(const T (&values)[perThread], T *to) const {
    HYBRID_UNROLL
    for (int k = 0; k < perThread; ++k)
      if (hasState(k))
        to[(firstState + k) * p.channels + channel] = values[k];
  }

  /// Loads this thread's rows of a tile of an activation; zero where there are none.
  template <typename A>
  HYBRID_DEVICE void load(const A *activation, int64_t stride, int64_t first,
                          A (&values)[ownRows]) const {
    const A *at = activation + (batch * p.length + first + split) * stride + channel;
    const int64_t left = to - first - split;
    HYBRID_UNROLL
    for (int j = 0; j < ownRows; ++j)
      values[j] = active && owns(j) && j * splits < left ? at[j * splits * stride] : A{};
  }
  template <typename A>
  HYBRID_DEVICE void store(const T (&values)[ownRows], A *activation, int64_t stride,
                           int64_t first) const {
    A *at = activation + (batch * p.length + first + split) * stride + channel;
    const int64_t left = to - first - split;
    HYBRID_UNROLL
    for (int j = 0; j < ownRows; ++j)
      if (active && owns(j) && j * splits < left)
        put(at[j * splits * stride], values[j]);
  }
  template <typename Store>
  HYBRID_DEVICE void storeRows(const T (&values)[ownRows], int64_t first, Store write) const {
    const int64_t left = to - first - split;
    HYBRID_UNROLL
    for (int j = 0; j < ownRows; ++j)
      if (active && owns(j) && j * splits < left)
        write(batch * p.length + first + split + j * splits, channel, values[j]);
  }
  /// Whether the j-th row of this thread is in the tile.
  HYBRID_DEVICE bool owns(int j) const { return rows % splits == 0 || split + j * splits < rows; }
  HYBRID_DEVICE int at(int j) const { return (split + j * splits) * channels + lane; }

  HYBRID_DEVICE void loadMap(const T *map, int64_t stride, int64_t first,
                             T (&values)[ownMap]) const {
    const T *at = map + (batch * p.length + first) * stride + group * p.states;
    const int64_t left = to - first;
    HYBRID_UNROLL
    for (int j = 0; j < ownMap; ++j) {
      const int i = thread + j * threads, row = i / states;
      values[j] = row < rows && row < left ? at[row * stride + i % states] : T(0);
    }
  }
  HYBRID_DEVICE void shareMap(const T (&values)[ownMap], T *shared) const {
    HYBRID_UNROLL
    for (int j = 0; j < ownMap; ++j)
      if (const int i = thread + j * threads, row = i / states; row < rows)
        shared[row * padded + i % states] = values[j];
  }
  /// The states that are not there have no influence.
  HYBRID_DEVICE void clearMap(T *shared) const {
    if constexpr (padded != states)
      for (int i = thread; i < mapTile; i += threads)
        if (i % padded >= states)
          shared[i] = T(0);
  }

  /// Whether the row before `row` belongs to another segment.
  HYBRID_DEVICE bool startsSegment(const int32_t *segments, int64_t row) const {
    const int32_t *ids = segments + batch * p.length;
    return row > 0 && row < to && ids[row] != ids[row - 1];
  }
};

/// The operands of all kernels, and what a thread keeps of them.
template <typename T, SelectiveScanParams p, typename X, typename Raw, typename Gate,
          typename Dy = T>
struct SelectiveScanOperands {
  using Block = SelectiveScanBlock<T, p>;
  static constexpr int perThread = Block::perThread, ownRows = Block::ownRows,
                       ownMap = Block::ownMap;
  static constexpr const Dy *noCotangent = nullptr;
  const X *x;
  const Raw *raw;
  const T *b, *c;
  const Gate *gate;
  const int32_t *segments;
  T stepBias;
  T constantB[perThread], constantC[perThread];

  /// A tile on its way from memory to shared memory; activations as they lie in memory, as what
  /// turns them into numbers waits for them.
  struct Loads {
    X x[ownRows];
    Raw raw[ownRows];
    Gate gate[ownRows];
    Dy dy[ownRows];
    T b[ownMap], c[ownMap];
    bool starts;
  };
  /// The tile in shared memory.
  struct Tile {
    T *steps, *inputs, *dy, *b, *c;
    int32_t *starts;
  };

  HYBRID_DEVICE SelectiveScanOperands(const Block &block, const X *x, const Raw *raw, const T *b,
                                      const T *c, const int32_t *segments, const T *bias,
                                      const Gate *gate)
      : x(x), raw(raw), b(b), c(c), gate(gate), segments(segments) {
    stepBias = p.hasStepBias && block.active ? bias[block.channel] : T(0);
    if constexpr (p.constantB)
      block.readStates(b, T(1), constantB);
    if constexpr (p.constantC)
      block.readStates(c, T(1), constantC);
  }

  template <bool reads, bool gates>
  HYBRID_DEVICE void load(const Block &block, int64_t first, const Dy *dy, Loads &loads) const {
    block.load(x, p.xStride, first, loads.x);
    block.load(raw, p.dtStride, first, loads.raw);
    if constexpr (!p.constantB)
      block.loadMap(b, p.bStride, first, loads.b);
    if constexpr (reads && !p.constantC)
      block.loadMap(c, p.cStride, first, loads.c);
    if constexpr (gates && p.hasGate)
      block.load(gate, p.gateStride, first, loads.gate);
    if (dy)
      block.load(dy, p.yStride, first, loads.dy);
    if constexpr (p.hasSegments)
      loads.starts =
          block.thread < Block::rows && block.startsSegment(segments, first + block.thread);
  }

  /// dt of the j-th row of the thread, and its derivative; zero behind the last row.
  HYBRID_DEVICE T step(const Block &block, const Loads &loads, int64_t first, int j,
                       T &slope) const {
    T value = number(loads.raw[j]) + stepBias;
    slope = T(1);
    if constexpr (p.softplusStep) {
      slope = sigmoid(value);
      value = softplus(value);
    }
    return first + block.split + j * Block::splits < block.to ? value : T(0);
  }

  /// Makes steps, inputs and maps of the loads.
  template <bool reads>
  HYBRID_DEVICE void share(const Block &block, const Loads &loads, int64_t first,
                           const Tile &tile) const {
    HYBRID_UNROLL
    for (int j = 0; j < ownRows; ++j)
      if (block.owns(j)) {
        T slope;
        const T dt = step(block, loads, first, j, slope);
        tile.steps[block.at(j)] = dt, tile.inputs[block.at(j)] = dt * number(loads.x[j]);
      }
    if constexpr (!p.constantB)
      block.shareMap(loads.b, tile.b);
    if constexpr (reads && !p.constantC)
      block.shareMap(loads.c, tile.c);
    if constexpr (p.hasSegments)
      if (block.thread < Block::rows)
        tile.starts[block.thread] = loads.starts;
  }

  HYBRID_DEVICE void mapB(const Block &block, const Tile &tile, int row, T (&to)[perThread]) const {
    if constexpr (p.constantB) {
      HYBRID_UNROLL
      for (int k = 0; k < perThread; ++k)
        to[k] = constantB[k];
    } else {
      readVectors<perThread>(tile.b + row * Block::padded + block.firstState, to);
    }
  }
  HYBRID_DEVICE void mapC(const Block &block, const Tile &tile, int row, T (&to)[perThread]) const {
    if constexpr (p.constantC) {
      HYBRID_UNROLL
      for (int k = 0; k < perThread; ++k)
        to[k] = constantC[k];
    } else {
      readVectors<perThread>(tile.c + row * Block::padded + block.firstState, to);
    }
  }
  HYBRID_DEVICE static bool starts(const Tile &tile, int row) {
    if constexpr (p.hasSegments)
      return tile.starts[row] != 0;
    else
      return false;
  }

  /// Takes the thread's states down `count` rows of a tile; visit(row, before, decay, after).
  template <int count, typename Visit>
  HYBRID_DEVICE void walk(const Block &block, const Tile &tile, int first,
                          const T (&rate)[perThread], T (&h)[perThread], Visit visit) const {
    constexpr int together = count % 4 == 0 && perThread <= 4 ? 4 : count % 2 == 0 ? 2 : 1;
    HYBRID_NO_UNROLL
    for (int start = 0; start < count; start += together) {
      HYBRID_UNROLL
      for (int i = 0; i < together; ++i)
        step(block, tile, first + start + i, rate, h, visit);
    }
  }
  template <typename Visit>
  HYBRID_DEVICE void step(const Block &block, const Tile &tile, int row, const T (&rate)[perThread],
                          T (&h)[perThread], Visit visit) const {
    const T dt = tile.steps[row * Block::channels + block.lane],
            input = tile.inputs[row * Block::channels + block.lane];
    T map[perThread], before[perThread], decay[perThread];
    mapB(block, tile, row, map);
    const bool start = starts(tile, row);
    HYBRID_UNROLL
    for (int k = 0; k < perThread; ++k) {
      before[k] = start ? T(0) : h[k];
      decay[k] = start ? T(0) : exponential2(dt * rate[k]);
      h[k] = decay[k] * before[k] + input * map[k];
    }
    visit(row, before, decay, h);
  }
};

} // namespace hybrid::cuda
