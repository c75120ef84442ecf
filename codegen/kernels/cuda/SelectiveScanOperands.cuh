//===- SelectiveScanOperands.cuh - what a block of the scan reads -----------===//
//
// A block's share of the work, its tiles on their way from memory to shared memory, and the step
// that takes states from a token to the next.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/SelectiveScan.h"
#include "codegen/kernels/cuda/Lanes.cuh"
#include "codegen/kernels/cuda/Logistic.cuh"

namespace hybrid::cuda {

/// What a block of the scan works on, and its tiles in shared memory.
template <typename T, SelectiveScanParams p> struct SelectiveScanBlock {
  static constexpr int rows = selectiveScanRows<T>(p), states = static_cast<int>(p.states),
                       perThread = selectiveScanStates(p), splits = selectiveScanSplits(p),
                       padded = perThread * splits,
                       channels = static_cast<int>(32 * p.blocksPerItem),
                       threads = selectiveScanThreads(p);
  /// Channels whose states a thread takes down the sequence, and all of those states: the i-th is
  /// state i % perThread of channel i / perThread.
  static constexpr int channelsHeld = selectiveScanChannels(p), held = selectiveScanHeld(p),
                       slots = selectiveScanSlots(p);
  /// Activations are loaded, and results are stored, a channel a lane: rows of a tile that a thread
  /// takes of it; and values of each map.
  static constexpr int rowThreads = threads / channels,
                       ownRows = (rows + rowThreads - 1) / rowThreads,
                       ownMap = (rows * states + threads - 1) / threads;
  static constexpr bool inRegisters = selectiveScanInRegisters<T>(p, rows);
  static constexpr int plane = rows * channels, tile = inRegisters ? 0 : plane /* shared */,
                       mapTile = rows * padded;
  /// No tile ends behind the last row, and no block behind the last channel.
  static constexpr bool wholeRows = p.length % rows == 0 && p.blockRows % rows == 0,
                        wholeChannels = p.channels / p.groups % channels == 0;
  static constexpr double log2e = 1.4426950408889634, ln2 = 0.6931471805599453;

  int thread, lane /* channel in the block of what it loads */, ownRow;
  int heldLane /* first channel in the block whose states it has */, split, firstState;
  int64_t batch, time, group, indexInGroup, channel, heldChannel;
  int from, to; // rows, in few registers
  bool active;  // loads a channel

  HYBRID_DEVICE explicit SelectiveScanBlock(int64_t item) {
    static_assert(p.length < int64_t(1) << 31);
    constexpr int64_t groupBlocks = selectiveScanGroupBlocks(p);
    indexInGroup = item % groupBlocks, item /= groupBlocks;
    group = item % p.groups, item /= p.groups;
    time = item % p.timeBlocks, batch = item / p.timeBlocks;
    thread = static_cast<int>(threadIdx.x);
    lane = thread % channels, ownRow = thread / channels;
    heldLane = thread % slots * channelsHeld;
    split = thread / slots, firstState = split * perThread;
    const int64_t inGroup = indexInGroup * channels + lane;
    active = wholeChannels || inGroup < p.channels / p.groups;
    channel = group * (p.channels / p.groups) + inGroup, heldChannel = channel - lane + heldLane;
    from = static_cast<int>(time * p.blockRows);
    to = static_cast<int>(minimum(time * p.blockRows + p.blockRows, p.length));
  }

  HYBRID_DEVICE int tiles() const { return (to - from + rows - 1) / rows; }
  HYBRID_DEVICE bool hasState(int i) const {
    return (states % perThread == 0 || firstState + i % perThread < states) &&
           (wholeChannels ||
            indexInGroup * channels + heldLane + i / perThread < p.channels / p.groups);
  }

  /// [channels, states]
  HYBRID_DEVICE void readStates(const T *values, T scale, T (&to)[held]) const {
    HYBRID_UNROLL
    for (int i = 0; i < held; ++i)
      to[i] = hasState(i) ? values[stateAt(i)] * scale : T(0);
  }
  HYBRID_DEVICE int64_t stateAt(int i) const {
    return (heldChannel + i / perThread) * p.states + firstState + i % perThread;
  }
  /// Of [batch, channels, states], or with `divided` of [timeBlocks, batch, channels, states].
  HYBRID_DEVICE int64_t stateOffset(bool divided) const {
    return ((divided ? time * p.batch : 0) + batch) * p.channels * p.states;
  }
  /// The states that the block of rows starts from.
  HYBRID_DEVICE void readInitial(const T *initialState, T (&to)[held]) const {
    HYBRID_UNROLL
    for (int i = 0; i < held; ++i)
      to[i] = T(0);
    if constexpr (p.hasState)
      readStates(initialState + stateOffset(true), T(1), to);
  }
  HYBRID_DEVICE void writeStates(const T (&values)[held], T *to) const {
    HYBRID_UNROLL
    for (int i = 0; i < held; ++i)
      if (hasState(i))
        to[stateAt(i)] = values[i];
  }
  /// [states, channels]
  HYBRID_DEVICE void writeTransposed(const T (&values)[held], T *to) const {
    HYBRID_UNROLL
    for (int i = 0; i < held; ++i)
      if (hasState(i))
        to[(firstState + i % perThread) * p.channels + heldChannel + i / perThread] = values[i];
  }

  /// Loads this thread's rows of a tile of an activation; zero where there are none.
  template <typename A>
  HYBRID_DEVICE void load(const A *activation, int64_t stride, int first,
                          A (&values)[ownRows]) const {
    const A *at = activation + (batch * p.length + first + ownRow) * stride + channel;
    HYBRID_UNROLL
    for (int j = 0; j < ownRows; ++j)
      values[j] = active && hasRow(first, j) ? at[j * rowThreads * stride] : A{};
  }
  template <typename A>
  HYBRID_DEVICE void store(const T (&values)[ownRows], A *activation, int64_t stride,
                           int first) const {
    A *at = activation + (batch * p.length + first + ownRow) * stride + channel;
    HYBRID_UNROLL
    for (int j = 0; j < ownRows; ++j)
      if (active && hasRow(first, j))
        put(at[j * rowThreads * stride], values[j]);
  }
  template <typename Store>
  HYBRID_DEVICE void storeRows(const T (&values)[ownRows], int first, Store write) const {
    HYBRID_UNROLL
    for (int j = 0; j < ownRows; ++j)
      if (active && hasRow(first, j))
        write(batch * p.length + first + ownRow + j * rowThreads, channel, values[j]);
  }
  /// Whether the j-th row of this thread is in the tile, and in the sequence.
  HYBRID_DEVICE bool owns(int j) const {
    return rows % rowThreads == 0 || ownRow + j * rowThreads < rows;
  }
  HYBRID_DEVICE bool hasRow(int first, int j) const {
    return owns(j) && (wholeRows || first + ownRow + j * rowThreads < to);
  }
  HYBRID_DEVICE int at(int j) const { return (ownRow + j * rowThreads) * channels + lane; }

  HYBRID_DEVICE void loadMap(const T *map, int64_t stride, int first, T (&values)[ownMap]) const {
    const T *at = map + (batch * p.length + first) * stride + group * p.states;
    HYBRID_UNROLL
    for (int j = 0; j < ownMap; ++j) {
      const int i = thread + j * threads, row = i / states;
      values[j] = hasMapRow(first, row) ? at[row * stride + i % states] : T(0);
    }
  }
  HYBRID_DEVICE bool hasMapRow(int first, int row) const {
    return (rows * states % threads == 0 || row < rows) && (wholeRows || first + row < to);
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
  HYBRID_DEVICE bool startsSegment(const int32_t *segments, int row) const {
    const int32_t *ids = segments + batch * p.length;
    return row > 0 && row < to && ids[row] != ids[row - 1];
  }
};

/// `width` values of each channel of a block and each row of a tile; or `splits` times as many,
/// whose sums are wanted. In shared memory, or in registers: rows are constants then.
template <typename T, SelectiveScanParams p, int width, int splits = 1> struct SelectiveScanTile {
  using Block = SelectiveScanBlock<T, p>;
  static constexpr int channelsHeld = Block::channelsHeld, size = width * Block::tile;
  using Values = Pack<T, width>;
  /// Those of the channels whose states a thread has, of one and then of the next.
  using Held = Pack<T, channelsHeld * width>;
  T *shared;
  Values own[Block::inRegisters ? Block::rows : 1];

  HYBRID_DEVICE explicit SelectiveScanTile(T *shared) : shared(shared) {}
  /// Of the channel and the j-th row that the thread loads.
  HYBRID_DEVICE void put(const Block &block, int j, const Values &values) {
    if constexpr (Block::inRegisters)
      own[j] = values;
    else
      storePack(shared + block.at(j) * width, values);
  }
  HYBRID_DEVICE Values total(const Block &block, int j) const {
    if constexpr (Block::inRegisters)
      return own[j];
    Values sum = loadPack<width>(shared + block.at(j) * width);
    HYBRID_UNROLL
    for (int s = 1; s < splits; ++s) {
      const Values share = loadPack<width>(shared + s * size + block.at(j) * width);
      HYBRID_UNROLL
      for (int i = 0; i < width; ++i)
        sum[i] += share[i];
    }
    return sum;
  }
  HYBRID_DEVICE Held read(const Block &block, int row) const {
    if constexpr (Block::inRegisters)
      return own[row];
    else
      return loadPack<channelsHeld * width>(at(block, row));
  }
  HYBRID_DEVICE void write(const Block &block, int row, const Held &values) {
    if constexpr (Block::inRegisters)
      own[row] = values;
    else
      storePack(at(block, row) + (splits > 1 ? block.split * size : 0), values);
  }

private:
  HYBRID_DEVICE T *at(const Block &block, int row) const {
    return shared + (row * Block::channels + block.heldLane) * width;
  }
};

/// The operands of all kernels, and what a thread keeps of them.
template <typename T, SelectiveScanParams p, typename X, typename Raw, typename Gate,
          typename Dy = T>
struct SelectiveScanOperands {
  using Block = SelectiveScanBlock<T, p>;
  static constexpr int perThread = Block::perThread, held = Block::held,
                       channelsHeld = Block::channelsHeld, ownRows = Block::ownRows,
                       ownMap = Block::ownMap;
  /// A value of each of the thread's channels.
  using Channels = Pack<T, channelsHeld>;
  static constexpr const Dy *noCotangent = nullptr;
  /// Tiles on their way while one is computed. Of forward walks one is too short for memory to
  /// answer, unless there are many warps, which have few registers as well.
  static constexpr int ahead = Block::threads <= 256 ? 2 : 1;
  const X *x;
  const Raw *raw;
  const T *b, *c;
  const Gate *gate;
  const int32_t *segments;
  T stepBias;
  T constantB[held], constantC[held];

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
  struct Tile {
    SelectiveScanTile<T, p, 2> inputs; // dt, dt x
    SelectiveScanTile<T, p, 1> dy;
    T *b, *c; // shared
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
  HYBRID_DEVICE void load(const Block &block, int first, const Dy *dy, Loads &loads) const {
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
  HYBRID_DEVICE T step(const Block &block, const Loads &loads, int first, int j, T &slope) const {
    T value = number(loads.raw[j]) + stepBias;
    slope = T(1);
    if constexpr (p.softplusStep)
      value = softplus(value, slope);
    return block.hasRow(first, j) ? value : T(0);
  }

  /// Makes steps, inputs and maps of the loads.
  template <bool reads>
  HYBRID_DEVICE void share(const Block &block, const Loads &loads, int first, Tile &tile) const {
    HYBRID_UNROLL
    for (int j = 0; j < ownRows; ++j)
      if (block.owns(j)) {
        T slope;
        const T dt = step(block, loads, first, j, slope);
        tile.inputs.put(block, j, {{dt, dt * number(loads.x[j])}});
      }
    if constexpr (!p.constantB)
      block.shareMap(loads.b, tile.b);
    if constexpr (reads && !p.constantC)
      block.shareMap(loads.c, tile.c);
    if constexpr (p.hasSegments)
      if (block.thread < Block::rows)
        tile.starts[block.thread] = loads.starts;
  }

  HYBRID_DEVICE static void readMap(const T *from, T (&to)[perThread]) {
    if constexpr (perThread * sizeof(T) >= 16) {
      readVectors<perThread>(from, to);
    } else {
      const Pack<T, perThread> vector = loadPack<perThread>(from);
      HYBRID_UNROLL
      for (int i = 0; i < perThread; ++i)
        to[i] = vector[i];
    }
  }
  /// The maps of the thread's states, the same for all its channels where they depend on the token.
  static constexpr int heldB = p.constantB ? held : perThread,
                       heldC = p.constantC ? held : perThread;
  HYBRID_DEVICE void mapB(const Block &block, const Tile &tile, int row, T (&to)[heldB]) const {
    if constexpr (p.constantB) {
      HYBRID_UNROLL
      for (int i = 0; i < held; ++i)
        to[i] = constantB[i];
    } else {
      readMap(tile.b + row * Block::padded + block.firstState, to);
    }
  }
  HYBRID_DEVICE void mapC(const Block &block, const Tile &tile, int row, T (&to)[heldC]) const {
    if constexpr (p.constantC) {
      HYBRID_UNROLL
      for (int i = 0; i < held; ++i)
        to[i] = constantC[i];
    } else {
      readMap(tile.c + row * Block::padded + block.firstState, to);
    }
  }
  HYBRID_DEVICE static bool starts(const Tile &tile, int row) {
    if constexpr (p.hasSegments)
      return tile.starts[row] != 0;
    else
      return false;
  }

  /// Takes the thread's states down `count` rows of a tile; visit(row, decay, h) after each.
  template <int count, typename Visit>
  HYBRID_DEVICE void walk(const Block &block, const Tile &tile, int first, const T (&rate)[held],
                          T (&h)[held], Visit visit) const {
    constexpr int together = Block::inRegisters            ? count
                             : count % 4 == 0 && held <= 8 ? 4
                             : count % 2 == 0              ? 2
                                                           : 1;
    HYBRID_NO_UNROLL
    for (int start = 0; start < count; start += together) {
      HYBRID_UNROLL
      for (int i = 0; i < together; ++i) {
        T decay[held];
        step(block, tile, first + start + i, rate, h, decay);
        visit(first + start + i, decay, h);
      }
    }
  }
  template <int count>
  HYBRID_DEVICE void walk(const Block &block, const Tile &tile, int first, const T (&rate)[held],
                          T (&h)[held]) const {
    walk<count>(block, tile, first, rate, h, [](int, const T(&)[held], const T(&)[held]) {});
  }
  /// The decay is zero where a segment starts.
  HYBRID_DEVICE void step(const Block &block, const Tile &tile, int row, const T (&rate)[held],
                          T (&h)[held], T (&decay)[held]) const {
    const auto inputs = tile.inputs.read(block, row);
    T map[heldB];
    mapB(block, tile, row, map);
    const bool start = starts(tile, row);
    HYBRID_UNROLL
    for (int i = 0; i < held; ++i) {
      const T dt = inputs[i / perThread * 2], input = inputs[i / perThread * 2 + 1];
      decay[i] = start ? T(0) : exponential2(dt * rate[i]);
      h[i] = decay[i] * (start ? T(0) : h[i]) + input * map[i % heldB];
    }
  }
};

/// Gradients of the maps, summed over the channels of a block. Those of a thread's states come row
/// by row, from the last of a step to its first. A warp leaves those of some rows in shared memory,
/// where each lane adds up a part of a row's; or, of other numbers of states, keeps them in
/// registers and folds them over its lanes.
template <typename T, SelectiveScanParams p> struct SelectiveScanMapSums {
  using Block = SelectiveScanBlock<T, p>;
  static constexpr int rows = Block::rows, perThread = Block::perThread, padded = Block::padded,
                       foldRows = static_cast<int>(selectiveScanFoldRows<T>(p, rows)),
                       chunks = static_cast<int>(selectiveScanFoldChunks<T>(p, rows)),
                       parts = static_cast<int>(selectiveScanFoldLanes<T>(p, rows)),
                       chunkVectors = warpSize + parts, foldedLanes = selectiveScanFoldedLanes(p),
                       count = selectiveScanMapSums(p),
                       values = selectiveScanSteps<T>(p) * perThread;
  static constexpr int elements =
      2 * count * Block::mapTile + static_cast<int>(selectiveScanFoldElements<T>(p, rows));
  T *sums;    // [2][count][row][state]
  T *vectors; // of the warp: [map][row][chunkVectors][state]
  int lane;   // of those that have the same states

  HYBRID_DEVICE SelectiveScanMapSums(const Block &block, T *shared)
      : sums(shared), vectors(shared + 2 * count * Block::mapTile +
                              block.thread / warpSize * chunks * chunkVectors * perThread),
        lane(block.thread % foldedLanes) {}

  template <bool isC> static constexpr bool summed = isC ? !p.constantC : !p.constantB;
  HYBRID_DEVICE T *place(const Block &block, bool isC, int row) const {
    return sums +
           (((isC ? count : 0) + block.thread % Block::slots / foldedLanes) * rows + row) * padded +
           block.firstState;
  }

  /// The i-th row of a step, which is this one of the tile, is in `gradients`.
  template <bool isC>
  HYBRID_DEVICE void add(const Block &block, int i, int row, const T (&gradients)[values]) const {
    if constexpr (foldRows > 0 && summed<isC>) {
      Pack<T, perThread> vector;
      HYBRID_UNROLL
      for (int k = 0; k < perThread; ++k)
        vector[k] = gradients[i * perThread + k];
      const int chunk = (isC && !p.constantB ? foldRows : 0) + i % foldRows;
      storePack(vectors + (chunk * chunkVectors + block.thread % warpSize) * perThread, vector);
      if (i % foldRows == 0 && (isC || p.constantC))
        addUp(block, row);
    }
  }
  /// All rows of a step, the first of which is this one of the tile, are.
  template <bool isC>
  HYBRID_DEVICE void fold(const Block &block, int row, T (&gradients)[values]) const {
    if constexpr (foldRows == 0 && summed<isC>) {
      foldLanes<values, foldedLanes / 2>(gradients);
      constexpr int left = values > foldedLanes ? values / foldedLanes : 1;
      const int value = foldedValue<values, foldedLanes>(lane);
      T *const to = place(block, isC, row);
      if (hasFoldedValue<values, foldedLanes>(lane)) {
        HYBRID_UNROLL
        for (int i = 0; i < left; ++i)
          to[(value + i) / perThread * padded + (value + i) % perThread] = gradients[i];
      }
    }
  }
  HYBRID_DEVICE T total(bool isC, int row, int state) const {
    T sum = T(0);
    HYBRID_UNROLL
    for (int s = 0; s < count; ++s)
      sum += sums[(((isC ? count : 0) + s) * rows + row) * padded + state];
    return sum;
  }

private:
  HYBRID_DEVICE void addUp(const Block &block, int row) const {
    const int chunk = lane / parts, part = lane % parts;
    const T *const from =
        vectors + (chunk * chunkVectors + block.thread % warpSize - lane + part) * perThread;
    warpBarrier();
    T result[perThread] = {};
    HYBRID_UNROLL
    for (int j = 0; j < foldedLanes / parts; ++j) {
      const Pack<T, perThread> vector = loadPack<perThread>(from + j * parts * perThread);
      HYBRID_UNROLL
      for (int k = 0; k < perThread; ++k)
        result[k] += vector[k];
    }
    foldLanes<perThread, parts / 2>(result);
    constexpr int left = perThread > parts ? perThread / parts : 1;
    const int value = foldedValue<perThread, parts>(part);
    const bool isC = p.constantB || chunk >= foldRows;
    T *const to = place(block, isC, row + chunk % foldRows);
    if (hasFoldedValue<perThread, parts>(part)) {
      HYBRID_UNROLL
      for (int k = 0; k < left; ++k)
        to[value + k] = result[k];
    }
    warpBarrier();
  }
};

} // namespace hybrid::cuda
