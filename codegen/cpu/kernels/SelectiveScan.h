//===- SelectiveScan.h - contract of the selective scan's kernels ----------===//
//
// Conventions as in Kernels.h.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "Kernels.h"

namespace hybrid::cpu {

/// h_t = exp(dt_t a) h_{t-1} + dt_t x_t b_t, y_t = sum over n of c_t[n] h_t[n], for N = states
/// states a channel. x, dt, y: [batch, length, channels]; a: [channels, states]; b and c: [batch,
/// length, groups * states] with strides, or [channels, states] if constantB, constantC. A
/// channel's group is channel / (channels / groups); groups is 1 when both are constant. States are
/// [batch, channels, states]. With segments (int32 [batch, length]) the state starts at zero where
/// the id changes; the initial state belongs to the segment of t = 0. Items are blocks of channels
/// within one group of one sequence: grid = batch * selectiveScanBlocks(). selective_scan_forward:
/// buffers: x, dt, a, b, c, segments (opt), initialState (opt), y, finalState (opt). Scratch:
/// selectiveScanForwardScratch(). selective_scan_backward: buffers: x, dt, a, b, c, segments (opt),
/// initialState (opt), dy, dFinalState (opt), dx, ddt, dInitialState (opt), partialA, partialB,
/// partialC. Scratch: selectiveScanBackwardScratch(). Partial sums, to be reduced by sum_partials
/// over the first dimension: partialA [batch, states, channels]; partialB and partialC the same
/// when constant, otherwise [blocks of a group, batch, length, groups * states].
struct SelectiveScanParams {
  int64_t batch, length, channels, states, groups;
  int64_t xStride, dtStride, bStride, cStride, yStride /* also dy */, dxStride, ddtStride;
  int64_t constantB, constantC, hasSegments, hasState, hasFinalState;
};

/// Rows between two states that the backward pass keeps.
constexpr int64_t selectiveScanChunk = 32;
/// States that are walked down a chunk together, in registers.
constexpr int64_t selectiveScanTile = 4;

/// Blocks of channels of one group.
template <typename T> constexpr int64_t selectiveScanGroupBlocks(const SelectiveScanParams &p) {
  return ceilDiv(p.channels / p.groups, lanes<T>);
}
template <typename T> constexpr int64_t selectiveScanBlocks(const SelectiveScanParams &p) {
  return p.groups * selectiveScanGroupBlocks<T>(p);
}
/// Bytes a thread.
template <typename T> constexpr int64_t selectiveScanForwardScratch(const SelectiveScanParams &p) {
  return 64 * (4 * p.states + 3 * selectiveScanChunk);
}
template <typename T> constexpr int64_t selectiveScanBackwardScratch(const SelectiveScanParams &p) {
  return 64 * ((8 + ceilDiv(p.length, selectiveScanChunk)) * p.states +
               (5 + 2 * selectiveScanTile) * selectiveScanChunk);
}

} // namespace hybrid::cpu
