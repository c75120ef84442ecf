//===- SelectiveScanParams.h - shapes of the selective scan's launches ------===//
//
// Plain C++20: read by the lowering and by the kernels.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernels.h"

namespace hybrid::cuda {

/// h_t = exp(dt_t a) h_{t-1} + dt_t x_t b_t, y_t = (sum over n of c_t[n] h_t[n] + skip x_t)
/// silu(gate_t). Tensors, optional operands and the meaning of all fields as in the CPU's contract
/// (codegen/kernels/cpu/SelectiveScan.h), except for how the work is divided: a block takes 32 *
/// channelWarps channels of one group of one sequence, and blockRows of its rows.
///
/// Work items: selectiveScanItems(). timeBlocks > 1: the states in and out of blocks of rows are
/// [timeBlocks, batch, channels, states].
///   selectiveScanForward: x, raw, a, b, c, segments, initialState, stepBias, skip, gate, y,
///     finalState (of the last block of rows).
///   selectiveScanSummary: the first ten of forward, dy (opt), decay, offset, carry (opt): what
///     rows do to a state, h -> decay h + offset, and to its gradient, g -> decay g + carry.
///   selectiveScanEntries: decay, offset (or carry), initialState (opt), entries; 256 elements of a
///     state an item.
///   selectiveScanBackward: the first ten of forward, dy, dFinalState (opt), dx, dRaw,
///     dInitialState (opt), dGate (opt), partialA, partialB, partialC, partialStepBias (opt),
///     partialSkip (opt), checkpoints (selectiveScanCheckpoints() elements). Partial sums:
///     [timeBlocks * batch, states, channels] for A and constant maps, [timeBlocks * batch,
///     channels] for stepBias and skip, [blocks of a group, batch, length, groups * states] for
///     maps given for each token.
struct SelectiveScanShape {
  int64_t batch, length, channels, states, groups;
  int64_t xStride, dtStride, bStride, cStride, gateStride, yStride /* also dy */, dxStride,
      ddtStride, dGateStride;
  int64_t constantB, constantC, hasSegments, hasState, hasFinalState;
  int64_t hasStepBias, softplusStep, hasSkip, hasGate;
  int64_t stateGradient /* dInitialState is wanted */, summariseGradient;
  int64_t timeBlocks, blockRows, channelWarps;
};

struct SelectiveScanEntriesShape {
  int64_t elements /* batch * channels * states */, timeBlocks, hasState, reverse;
};

/// States in the registers of a thread, a power of two. Four hide the latency of the exponentials
/// and share the loads of a token; of few states fewer, which leaves more threads.
constexpr int selectiveScanStates(const SelectiveScanShape &p) {
  return p.states <= 1     ? 1
         : p.states <= 4   ? 2
         : p.states <= 32  ? 4
         : p.states <= 64  ? 8
         : p.states <= 512 ? 16
                           : 32;
}
/// Warps that share a channel's states.
constexpr int selectiveScanSplits(const SelectiveScanShape &p) {
  return static_cast<int>(ceilDiv(p.states, selectiveScanStates(p)));
}
constexpr int selectiveScanThreads(const SelectiveScanShape &p) {
  return static_cast<int>(32 * p.channelWarps) * selectiveScanSplits(p);
}
constexpr int64_t selectiveScanGroupBlocks(const SelectiveScanShape &p) {
  return ceilDiv(p.channels / p.groups, 32 * p.channelWarps);
}
constexpr int64_t selectiveScanItems(const SelectiveScanShape &p) {
  return p.batch * p.timeBlocks * p.groups * selectiveScanGroupBlocks(p);
}

/// Elements of shared memory when tiles have so many rows. `arrays`: values a channel and row;
/// `sums`: values a channel and row that the warps of a channel add up.
constexpr int64_t selectiveScanElements(const SelectiveScanShape &p, int64_t rows, int64_t arrays,
                                        int64_t sums, int64_t mapSums) {
  const int64_t splits = selectiveScanSplits(p), padded = splits * selectiveScanStates(p);
  return rows *
         (32 * p.channelWarps * (arrays + sums * splits) + padded * (2 + mapSums * p.channelWarps));
}
/// Rows, of so many of a tile, whose states and decays the backward pass holds in registers: 64
/// registers, or 32 where a thread has fewer or needs more.
template <typename T>
constexpr int64_t selectiveScanStepsOf(const SelectiveScanShape &p, int64_t rows) {
  const bool narrow =
      sizeof(T) > 4 || selectiveScanThreads(p) > 256 || p.states % selectiveScanStates(p) != 0;
  const int64_t wanted = (narrow ? 16 : 32) / selectiveScanStates(p),
                steps = wanted > 1 ? wanted : 1;
  return steps < rows ? steps : rows;
}
/// Elements of the backward pass, with the states that tiles of fewer steps start from.
template <typename T>
constexpr int64_t selectiveScanBackwardElements(const SelectiveScanShape &p, int64_t rows) {
  const int64_t entries = (rows / selectiveScanStepsOf<T>(p, rows) - 1) * selectiveScanStates(p) *
                          selectiveScanThreads(p);
  return selectiveScanElements(p, rows, 6, 3, 2) + entries;
}
/// Rows of a tile, in both directions the same: few enough that a thread has registers for the ones
/// that are on their way from memory, and that there is room for two blocks.
template <typename T> constexpr int selectiveScanRows(const SelectiveScanShape &p) {
  int rows = selectiveScanSplits(p) <= 3 ? 8 : 16;
  while (rows > 1 &&
         selectiveScanBackwardElements<T>(p, rows) * static_cast<int64_t>(sizeof(T)) > 96 * 1024)
    rows /= 2;
  return rows;
}
template <typename T> constexpr int selectiveScanSteps(const SelectiveScanShape &p) {
  return static_cast<int>(selectiveScanStepsOf<T>(p, selectiveScanRows<T>(p)));
}
constexpr int64_t selectiveScanStartBytes = 64; // where segments start, at the end

template <typename T> constexpr int64_t selectiveScanForwardBytes(const SelectiveScanShape &p) {
  return selectiveScanElements(p, selectiveScanRows<T>(p), 2, 1, 0) *
             static_cast<int64_t>(sizeof(T)) +
         selectiveScanStartBytes;
}
template <typename T> constexpr int64_t selectiveScanSummaryBytes(const SelectiveScanShape &p) {
  return selectiveScanElements(p, selectiveScanRows<T>(p), 3, 0, 0) *
             static_cast<int64_t>(sizeof(T)) +
         selectiveScanStartBytes;
}
template <typename T> constexpr int64_t selectiveScanBackwardBytes(const SelectiveScanShape &p) {
  return selectiveScanBackwardElements<T>(p, selectiveScanRows<T>(p)) *
             static_cast<int64_t>(sizeof(T)) +
         selectiveScanStartBytes;
}
/// Elements of the states that the backward pass keeps, one a tile.
template <typename T> constexpr int64_t selectiveScanCheckpoints(const SelectiveScanShape &p) {
  return selectiveScanItems(p) * ceilDiv(p.blockRows, selectiveScanRows<T>(p)) *
         selectiveScanStates(p) * selectiveScanThreads(p);
}

constexpr int selectiveScanEntriesThreads = 256;

/// Divides the work: into blocks of more channels, which share the maps, where many blocks are
/// left, and over time where there are not enough warps for half a GPU (132 multiprocessors, 8
/// warps each): the exponentials are then computed twice.
constexpr void divideSelectiveScan(SelectiveScanShape &p) {
  constexpr int64_t wantedWarps = 132 * 8, wantedBlocks = 132 * 6, leastRows = 64;
  p.timeBlocks = 1, p.blockRows = p.length;
  for (p.channelWarps = 4; p.channelWarps > 1; p.channelWarps /= 2)
    if (selectiveScanThreads(p) <= 256 && selectiveScanItems(p) >= wantedBlocks &&
        p.channels / p.groups >= 32 * p.channelWarps)
      break;
  const int64_t warps = selectiveScanItems(p) * selectiveScanThreads(p) / 32;
  if (2 * warps > wantedWarps || p.length < 2 * leastRows)
    return;
  const int64_t wanted = ceilDiv(wantedWarps, warps), most = p.length / leastRows,
                blocks = wanted < most ? wanted : most;
  p.blockRows = ceilDiv(ceilDiv(p.length, blocks), 16) * 16;
  p.timeBlocks = ceilDiv(p.length, p.blockRows);
}

} // namespace hybrid::cuda
