//===- SelectiveScan.h - contract of the selective scan's kernels ----------===//
//
// Conventions as in Kernels.h.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernels.h"

namespace hybrid::cpu {

/// h_t = exp(dt_t a) h_{t-1} + dt_t x_t b_t, y_t = (sum over n of c_t[n] h_t[n] + skip x_t)
/// silu(gate_t), for N = states states a channel. The step dt is raw + stepBias, or its softplus if
/// softplusStep; without a skip or a gate their terms are left out. x, raw, gate, y: [batch,
/// length, channels]; stepBias, skip: [channels]; a: [channels, states]; b and c: [batch, length,
/// groups * states] with strides, or [channels, states] if constantB, constantC. A channel's group
/// is channel / (channels / groups); groups is 1 when both are constant. States are [batch,
/// channels, states]. With segments (int32 [batch, length]) the state starts at zero where the id
/// changes; the initial state belongs to the segment of t = 0. Items are blocksPerItem blocks of
/// channels within one group of one sequence: grid = batch * selectiveScanItems().
///
/// selective_scan_forward: buffers: x, raw, a, b, c, segments (opt), initialState (opt), stepBias
/// (opt), skip (opt), gate (opt), y, finalState (opt). Scratch: selectiveScanForwardScratch().
/// selective_scan_backward: buffers: the first ten of forward, dy, dFinalState (opt), dx, dRaw,
/// dInitialState (opt), dGate (opt), partialA, partialB, partialC, partialStepBias (opt),
/// partialSkip (opt). Scratch: selectiveScanBackwardScratch(). Partial sums, to be reduced by
/// sum_partials over the first dimension: partialA [batch, states, channels]; partialB and partialC
/// the same when constant, otherwise [items of a group, batch, length, groups * states];
/// partialStepBias and partialSkip [batch, channels].
///
/// With timeBlocks > 1 a sequence is divided over time, for which the kernels below find out what
/// every block of rows starts from: initialState and dFinalState are then [timeBlocks, batch,
/// channels, states], a state for each block of rows, hasState and hasFinalState are set
/// accordingly, and so is the leading dimension of all partial sums but those given for each token,
/// [timeBlocks * batch]. finalState is of the last block, dInitialState of the first.
/// selective_scan_summary: what a block of rows does to a state, h -> decay h + offset, and with
/// summariseGradient also to its gradient, g -> decay g + carry. buffers: the first ten of forward,
/// dy (opt), decay, offset, carry (opt), all [timeBlocks, batch, channels, states]. grid as
/// forward. Scratch: selectiveScanSummaryScratch(). selective_scan_entries: the states from which
/// blocks start, the first from initialState or zero; reverse: their gradients at the end, the last
/// from it. buffers: decay, offset (or carry), initialState (opt), entries. grid = ceilDiv(batch *
/// channels * states, lanes).
struct SelectiveScanParams {
  int64_t batch, length, channels, states, groups, blocksPerItem, timeBlocks, blockRows;
  int64_t xStride, dtStride, bStride, cStride, gateStride, yStride /* also dy */, dxStride,
      ddtStride, dGateStride;
  int64_t constantB, constantC, hasSegments, hasState, hasFinalState;
  int64_t hasStepBias, softplusStep, hasSkip, hasGate;
  int64_t stateGradient /* dInitialState is wanted */, summariseGradient;
};

struct SelectiveScanEntriesParams {
  int64_t elements /* batch * channels * states */, timeBlocks, hasState, reverse;
};

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
/// Blocks that one item takes side by side: rows are then read in longer runs, and the gradients of
/// the maps are summed over the blocks at once. Few enough to leave 16 items.
template <typename T> constexpr int64_t selectiveScanBlocksPerItem(SelectiveScanParams p) {
  for (p.blocksPerItem = 4; p.blocksPerItem > 1; p.blocksPerItem /= 2)
    if (p.batch * selectiveScanItems<T>(p) >= 16 &&
        selectiveScanGroupBlocks<T>(p) >= p.blocksPerItem)
      break;
  return p.blocksPerItem;
}
/// Divides a sequence over time where there are too few items to keep several cores busy. The
/// summaries cost nearly as much again as the scan, so that with 8 items and more it does not pay
/// before there are four times as many cores. Decided by sizes alone: results have the same bits
/// for any number of threads.
template <typename T> constexpr void divideSelectiveScan(SelectiveScanParams &p) {
  constexpr int64_t enough = 8, wanted = 32, leastRows = 256;
  const int64_t items = p.batch * selectiveScanItems<T>(p);
  int64_t blocks = 1;
  if (items < enough && p.length >= 2 * leastRows)
    blocks = ceilDiv(wanted, items) < p.length / leastRows ? ceilDiv(wanted, items)
                                                           : p.length / leastRows;
  p.blockRows = ceilDiv(ceilDiv(p.length, blocks), selectiveScanChunk) * selectiveScanChunk;
  p.timeBlocks = ceilDiv(p.length, p.blockRows);
}
/// Bytes a thread.
template <typename T> constexpr int64_t selectiveScanSummaryScratch(const SelectiveScanParams &p) {
  return 64 * (6 * p.states * p.blocksPerItem + 3 * selectiveScanChunk);
}
template <typename T> constexpr int64_t selectiveScanForwardScratch(const SelectiveScanParams &p) {
  return 64 * (4 * p.states * p.blocksPerItem + 4 * selectiveScanChunk);
}
template <typename T> constexpr int64_t selectiveScanBackwardScratch(const SelectiveScanParams &p) {
  return 64 * (((8 + ceilDiv(p.blockRows, selectiveScanChunk)) * p.states + 2) * p.blocksPerItem +
               (8 + 2 * selectiveScanTile) * selectiveScanChunk);
}

} // namespace hybrid::cpu
