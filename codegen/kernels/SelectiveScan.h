//===- SelectiveScan.h - contract of the selective scan ---------------------===//
//
// h_t = exp(dt_t a) h_{t-1} + dt_t x_t b_t, y_t = (sum over n of c_t[n] h_t[n] + skip x_t)
// silu(gate_t), for N = states states a channel. The step dt is raw + stepBias, or its softplus if
// softplusStep; without a skip or a gate their terms are left out. x, raw, gate, y: [batch, length,
// channels]; stepBias, skip: [channels]; a: [channels, states]; b and c: [batch, length, groups *
// states] with strides, or [channels, states] if constantB, constantC. A channel's group is channel
// / (channels / groups); groups is 1 when both are constant. States are [batch, channels, states].
// With segments (int32 [batch, length]) the state starts at zero where the id changes; the initial
// state belongs to the segment of t = 0.
//
// An item is blockRows rows of blocksPerItem blocks of channels of one group of one sequence; a
// block of channels is a vector on the CPU, a warp on CUDA. With timeBlocks > 1, when a sequence is
// divided over time, initialState and dFinalState are [timeBlocks, batch, channels, states], a
// state for each block of rows, which selective_scan_summary and selective_scan_entries find.
// finalState is of the last block, dInitialState of the first.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernel.h"

namespace hybrid {

struct SelectiveScanParams {
  int64_t batch, length, channels, states, groups, blocksPerItem, timeBlocks, blockRows;
  int64_t xStride, dtStride, bStride, cStride, gateStride, yStride /* also dy */, dxStride,
      ddtStride, dGateStride;
  int64_t constantB, constantC, hasSegments, hasState, hasFinalState;
  int64_t hasStepBias, softplusStep, hasSkip, hasGate;
  int64_t stateGradient /* dInitialState is wanted */, summariseGradient;
  HYBRID_FIELDS(batch, length, channels, states, groups, blocksPerItem, timeBlocks, blockRows,
                xStride, dtStride, bStride, cStride, gateStride, yStride, dxStride, ddtStride,
                dGateStride, constantB, constantC, hasSegments, hasState, hasFinalState,
                hasStepBias, softplusStep, hasSkip, hasGate, stateGradient, summariseGradient)
};

struct SelectiveScanEntriesParams {
  int64_t elements /* batch * channels * states */, timeBlocks, hasState, reverse;
  HYBRID_FIELDS(elements, timeBlocks, hasState, reverse)
};

//===-- On the CPU -------------------------------------------------------------===//

namespace cpu {

/// Rows that are taken together, and rows between two states that the backward pass keeps.
constexpr int64_t selectiveScanChunk = 32;
/// States that are walked down a chunk together, in registers.
constexpr int64_t selectiveScanTile = 4;

/// Blocks of channels of one group.
template <typename T> constexpr int64_t selectiveScanGroupBlocks(const SelectiveScanParams &p) {
  return ceilDiv(p.channels / p.groups, lanes<T>);
}
/// Items of one group of one sequence.
template <typename T> constexpr int64_t selectiveScanGroupItems(const SelectiveScanParams &p) {
  return ceilDiv(selectiveScanGroupBlocks<T>(p), p.blocksPerItem);
}
/// Items of one sequence.
template <typename T> constexpr int64_t selectiveScanItems(const SelectiveScanParams &p) {
  return p.groups * selectiveScanGroupItems<T>(p);
}
/// `vectors` of memory a thread.
template <typename T>
constexpr Grid selectiveScanGrid(const SelectiveScanParams &p, int64_t vectors) {
  return {p.batch * p.timeBlocks * selectiveScanItems<T>(p), 0, 64 * vectors};
}

} // namespace cpu

//===-- On CUDA ----------------------------------------------------------------===//

namespace cuda {

/// Warps below which a sequence is divided over time: 4 for each of half of 132 multiprocessors.
constexpr int64_t selectiveScanLeastWarps = 132 * 4 / 2;
/// Whether threads of eight states would be enough not to divide over time, but fewer than two
/// warps for each scheduler, too few to hide what they wait for.
constexpr bool selectiveScanHasFewWarps(const SelectiveScanParams &p) {
  const int64_t warps = p.batch * p.channels * p.states / (32 * 8);
  return warps > selectiveScanLeastWarps && warps < 4 * selectiveScanLeastWarps;
}
/// States of a channel in the registers of a thread, a power of two. Four share the loads of a
/// token; of few states fewer, and where there are few warps, which leaves more threads.
constexpr int selectiveScanStates(const SelectiveScanParams &p) {
  return p.states <= 1                                                         ? 1
         : p.states <= 2                                                       ? 2
         : p.states > 4 && p.states <= 32 && selectiveScanHasFewWarps(p)       ? 2
         : p.states <= 32 || (p.states <= 64 && ceilDiv(p.states, 4) % 2 == 0) ? 4
         : p.states <= 64                                                      ? 8
         : p.states <= 512                                                     ? 16
                                                                               : 32;
}
/// Threads that share a channel's states.
constexpr int selectiveScanSplits(const SelectiveScanParams &p) {
  return static_cast<int>(ceilDiv(p.states, selectiveScanStates(p)));
}
/// Channels of a thread, next to each other. Two read the maps of a token once, and add up what
/// goes to their gradients; half of the threads must still be whole warps.
constexpr int selectiveScanChannels(const SelectiveScanParams &p) {
  return selectiveScanStates(p) % 2 == 0 && selectiveScanStates(p) <= 4 &&
                 selectiveScanSplits(p) % 2 == 0
             ? 2
             : 1;
}
/// States of all its channels.
constexpr int selectiveScanHeld(const SelectiveScanParams &p) {
  return selectiveScanStates(p) * selectiveScanChannels(p);
}
/// Threads that have the same states of different channels.
constexpr int selectiveScanSlots(const SelectiveScanParams &p) {
  return static_cast<int>(32 * p.blocksPerItem) / selectiveScanChannels(p);
}
constexpr int selectiveScanThreads(const SelectiveScanParams &p) {
  return selectiveScanSlots(p) * selectiveScanSplits(p);
}
/// Lanes of a warp over which the gradients of maps are summed in registers, and the sums of a
/// block that are left.
constexpr int selectiveScanFoldedLanes(const SelectiveScanParams &p) {
  return selectiveScanSlots(p) < 32 ? selectiveScanSlots(p) : 32;
}
constexpr int selectiveScanMapSums(const SelectiveScanParams &p) {
  return selectiveScanSlots(p) / selectiveScanFoldedLanes(p);
}
constexpr int64_t selectiveScanGroupBlocks(const SelectiveScanParams &p) {
  return ceilDiv(p.channels / p.groups, 32 * p.blocksPerItem);
}
constexpr int64_t selectiveScanItems(const SelectiveScanParams &p) {
  return p.batch * p.timeBlocks * p.groups * selectiveScanGroupBlocks(p);
}

/// Rows, of so many of a tile, whose states and decays the backward pass holds in registers: 64
/// registers a channel, or 32 where a thread has fewer or needs more.
template <typename T>
constexpr int64_t selectiveScanStepsOf(const SelectiveScanParams &p, int64_t rows) {
  const bool narrow = selectiveScanThreads(p) > 128 || p.states % selectiveScanStates(p) != 0;
  const int64_t wanted = sizeof(T) > 4 ? 8 / selectiveScanHeld(p)
                                       : (narrow ? 16 : 32) / selectiveScanStates(p),
                steps = wanted > 1 ? wanted : 1;
  return steps < rows ? steps : rows;
}
/// Whether a thread takes the states of the channel that it loads: tiles of activations are then in
/// its registers.
template <typename T>
constexpr bool selectiveScanInRegisters(const SelectiveScanParams &p, int64_t rows) {
  return selectiveScanSplits(p) == 1 && selectiveScanChannels(p) == 1 &&
         selectiveScanStepsOf<T>(p, rows) == rows;
}
/// Elements of shared memory when tiles have so many rows. `arrays`: values a channel and row;
/// `sums`: values a channel and row that the threads of a channel add up; `mapSums`: maps whose
/// gradients are summed.
template <typename T>
constexpr int64_t selectiveScanElements(const SelectiveScanParams &p, int64_t rows, int64_t arrays,
                                        int64_t sums, int64_t mapSums) {
  const int64_t splits = selectiveScanSplits(p), padded = splits * selectiveScanStates(p);
  const int64_t shared = selectiveScanInRegisters<T>(p, rows) ? 0 : arrays + sums * splits;
  return rows * (32 * p.blocksPerItem * shared + padded * (2 + mapSums * selectiveScanMapSums(p)));
}
/// Rows whose gradients of maps are summed over the lanes of a warp at once, through shared memory,
/// where a thread's states are at most 16 bytes of each map. Otherwise 0: by exchanges.
template <typename T>
constexpr int64_t selectiveScanFoldRows(const SelectiveScanParams &p, int64_t rows) {
  const int64_t steps = selectiveScanStepsOf<T>(p, rows);
  return selectiveScanStates(p) * sizeof(T) > 16 ? 0 : steps < 4 ? steps : 4;
}
/// Vectors of a warp for that, one a row, map and lane; and lanes that add up those of a row and
/// map, which then differ in the bank of what they read.
template <typename T>
constexpr int64_t selectiveScanFoldChunks(const SelectiveScanParams &p, int64_t rows) {
  return selectiveScanFoldRows<T>(p, rows) * ((p.constantB ? 0 : 1) + (p.constantC ? 0 : 1));
}
template <typename T>
constexpr int64_t selectiveScanFoldLanes(const SelectiveScanParams &p, int64_t rows) {
  const int64_t chunks = selectiveScanFoldChunks<T>(p, rows);
  return chunks == 0 ? 1 : selectiveScanFoldedLanes(p) / chunks;
}
template <typename T>
constexpr int64_t selectiveScanFoldElements(const SelectiveScanParams &p, int64_t rows) {
  const int64_t vectors = selectiveScanThreads(p) / 32 * selectiveScanFoldChunks<T>(p, rows) *
                          (32 + selectiveScanFoldLanes<T>(p, rows));
  return ceilDiv(vectors * selectiveScanStates(p), 4) * 4; // what follows is aligned
}
/// Values a channel and row that the backward pass keeps with those of tiles, those that it keeps
/// in shared memory in any case, which leaves registers to others, and sums.
constexpr int64_t selectiveScanKept = 4;
constexpr int64_t selectiveScanSlopes(const SelectiveScanParams &p) {
  return (p.softplusStep ? 1 : 0) + (p.hasGate ? 1 : 0);
}
constexpr int64_t selectiveScanSums(const SelectiveScanParams &p) { return p.hasGate ? 3 : 2; }
/// Elements of the backward pass, with the states that tiles of fewer steps start from.
template <typename T>
constexpr int64_t selectiveScanBackwardElements(const SelectiveScanParams &p, int64_t rows) {
  const int64_t entries = (rows / selectiveScanStepsOf<T>(p, rows) - 1) * selectiveScanHeld(p) *
                          selectiveScanThreads(p);
  return selectiveScanElements<T>(p, rows, selectiveScanKept, selectiveScanSums(p), 2) + entries +
         rows * 32 * p.blocksPerItem * selectiveScanSlopes(p) +
         selectiveScanFoldElements<T>(p, rows);
}
/// Rows of a tile, in both directions the same: few enough that a thread has registers for the ones
/// that are on their way from memory, and that there is room for two blocks.
template <typename T> constexpr int selectiveScanRows(const SelectiveScanParams &p) {
  int rows = 8;
  while (rows > 1 &&
         selectiveScanBackwardElements<T>(p, rows) * static_cast<int64_t>(sizeof(T)) > 96 * 1024)
    rows /= 2;
  return rows;
}
template <typename T> constexpr int selectiveScanSteps(const SelectiveScanParams &p) {
  return static_cast<int>(selectiveScanStepsOf<T>(p, selectiveScanRows<T>(p)));
}
constexpr int64_t selectiveScanStartBytes = 64; // where segments start, at the end

/// Of a kernel that needs so many elements of shared memory.
template <typename T>
constexpr Grid selectiveScanGrid(const SelectiveScanParams &p, int64_t elements) {
  return {selectiveScanItems(p), selectiveScanThreads(p),
          elements * static_cast<int64_t>(sizeof(T)) + selectiveScanStartBytes};
}
constexpr int selectiveScanEntriesThreads = 256;

} // namespace cuda

//===-- What a device decides --------------------------------------------------===//

/// Divides the work, into blocks of channels side by side and over time.
struct SelectiveScanDivision {
  /// Blocks side by side: rows are then read in longer runs, and the gradients of the maps are
  /// summed over the blocks at once; few enough to leave 16 items. Over time where there are too
  /// few items to keep several cores busy. The summaries cost nearly as much again as the scan, so
  /// that with 8 items and more it does not pay before there are four times as many cores. Decided
  /// by sizes alone: results have the same bits for any number of threads.
  template <typename T> static constexpr void onCpu(SelectiveScanParams &p) {
    constexpr int64_t enough = 8, wanted = 32, leastRows = 256;
    for (p.blocksPerItem = 4; p.blocksPerItem > 1; p.blocksPerItem /= 2)
      if (p.batch * cpu::selectiveScanItems<T>(p) >= 16 &&
          cpu::selectiveScanGroupBlocks<T>(p) >= p.blocksPerItem)
        break;
    const int64_t items = p.batch * cpu::selectiveScanItems<T>(p);
    int64_t blocks = 1;
    if (items < enough && p.length >= 2 * leastRows)
      blocks = ceilDiv(wanted, items) < p.length / leastRows ? ceilDiv(wanted, items)
                                                             : p.length / leastRows;
    constexpr int64_t chunk = cpu::selectiveScanChunk;
    p.blockRows = ceilDiv(ceilDiv(p.length, blocks), chunk) * chunk;
    p.timeBlocks = ceilDiv(p.length, p.blockRows);
  }
  /// More blocks side by side, which share the maps, where many items are left; over time where
  /// there are not enough warps for half a GPU (132 multiprocessors, 4 warps each): the
  /// exponentials are then computed twice.
  template <typename T> static constexpr void onCuda(SelectiveScanParams &p) {
    constexpr int64_t wantedWarps = 2 * cuda::selectiveScanLeastWarps, wantedBlocks = 132 * 6,
                      leastRows = 64;
    p.timeBlocks = 1, p.blockRows = p.length;
    for (p.blocksPerItem = 4; p.blocksPerItem > 1; p.blocksPerItem /= 2)
      if (cuda::selectiveScanThreads(p) * cuda::selectiveScanChannels(p) <= 256 &&
          cuda::selectiveScanItems(p) >= wantedBlocks &&
          p.channels / p.groups >= 32 * p.blocksPerItem)
        break;
    const int64_t warps = cuda::selectiveScanItems(p) * cuda::selectiveScanThreads(p) / 32;
    if (2 * warps > wantedWarps || p.length < 2 * leastRows)
      return;
    const int64_t wanted = ceilDiv(wantedWarps, warps), most = p.length / leastRows,
                  blocks = wanted < most ? wanted : most;
    p.blockRows = ceilDiv(ceilDiv(p.length, blocks), 16) * 16;
    p.timeBlocks = ceilDiv(p.length, p.blockRows);
  }
};

/// Items that share the channels of a group, whose gradients of maps are summed.
struct SelectiveScanGroupItems {
  template <typename T> static constexpr int64_t onCpu(const SelectiveScanParams &p) {
    return cpu::selectiveScanGroupItems<T>(p);
  }
  template <typename T> static constexpr int64_t onCuda(const SelectiveScanParams &p) {
    return cuda::selectiveScanGroupBlocks(p);
  }
};

/// Elements of the states that the backward pass keeps in memory, one a tile.
struct SelectiveScanCheckpoints {
  template <typename T> static constexpr int64_t onCpu(const SelectiveScanParams &) { return 0; }
  template <typename T> static constexpr int64_t onCuda(const SelectiveScanParams &p) {
    return cuda::selectiveScanItems(p) * ceilDiv(p.blockRows, cuda::selectiveScanRows<T>(p)) *
           cuda::selectiveScanHeld(p) * cuda::selectiveScanThreads(p);
  }
};

//===-- Kernels ----------------------------------------------------------------===//

/// Buffers: x, raw, a, b, c, segments (optional), initialState (optional), stepBias (optional),
/// skip (optional), gate (optional), finalState (optional), y, a store.
struct SelectiveScanForward : KernelOf<SelectiveScanParams, "selective_scan_forward", 10> {
  HYBRID_ACTIVATIONS(0, 1, 9, 11)
  HYBRID_ON_CPU(cpu::selectiveScanGrid<T>(p, 4 * p.states * p.blocksPerItem +
                                                 4 * cpu::selectiveScanChunk))
  HYBRID_ON_CUDA(cuda::selectiveScanGrid<T>(
      p, cuda::selectiveScanElements<T>(p, cuda::selectiveScanRows<T>(p), 2, 1, 0)))
};

/// Buffers: the first ten of forward, dy, dFinalState (optional), dx, dRaw, dInitialState
/// (optional), dGate (optional), partialA, partialB, partialC, partialStepBias (optional),
/// partialSkip (optional), on CUDA checkpoints. Partial sums, to be reduced by sum_partials over
/// the first dimension: partialA [timeBlocks * batch, states, channels]; partialB and partialC the
/// same when constant, otherwise [items of a group, batch, length, groups * states];
/// partialStepBias and partialSkip [timeBlocks * batch, channels].
struct SelectiveScanBackward : KernelOf<SelectiveScanParams, "selective_scan_backward", 12, 13, 14,
                                        15, 16, 17, 18, 19, 20, 21> {
  HYBRID_ACTIVATIONS(0, 1, 9, 10, 12, 13, 15)
  HYBRID_ON_CPU(cpu::selectiveScanGrid<T>(
      p, ((8 + ceilDiv(p.blockRows, cpu::selectiveScanChunk)) * p.states + 2) * p.blocksPerItem +
             (8 + 2 * cpu::selectiveScanTile) * cpu::selectiveScanChunk))
  HYBRID_ON_CUDA(cuda::selectiveScanGrid<T>(
      p, cuda::selectiveScanBackwardElements<T>(p, cuda::selectiveScanRows<T>(p))))
};

/// What a block of rows does to a state, h -> decay h + offset, and with summariseGradient also to
/// its gradient, g -> decay g + carry. Buffers: the first ten of forward, dy (optional), decay,
/// offset, carry (optional), all [timeBlocks, batch, channels, states].
struct SelectiveScanSummary : KernelOf<SelectiveScanParams, "selective_scan_summary", 11, 12, 13> {
  HYBRID_ACTIVATIONS(0, 1, 9, 10)
  HYBRID_ON_CPU(cpu::selectiveScanGrid<T>(p, 6 * p.states * p.blocksPerItem +
                                                 3 * cpu::selectiveScanChunk))
  HYBRID_ON_CUDA(cuda::selectiveScanGrid<T>(
      p, cuda::selectiveScanElements<T>(p, cuda::selectiveScanRows<T>(p), 3, 0, 0)))
};

/// The states from which blocks start, the first from initialState or zero; reverse: their
/// gradients at the end, the last from it. Buffers: decay, offset (or carry), initialState
/// (optional), entries. An item is a stretch of elements.
struct SelectiveScanEntries : KernelOf<SelectiveScanEntriesParams, "selective_scan_entries", 3> {
  HYBRID_ON_CPU(ceilDiv(p.elements, lanes<T>))
  HYBRID_ON_CUDA(ceilDiv(p.elements, cuda::selectiveScanEntriesThreads),
                 cuda::selectiveScanEntriesThreads)
};

} // namespace hybrid
