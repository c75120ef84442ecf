//===- SoftmaxScanParams.h - shapes of the softmax scan's launches ----------===//
//
// Plain C++20: read by the lowering and by the kernels.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernels.h"

namespace hybrid::cuda {

/// y_t = sum over s <= t of p_ts v_s, p_t the softmax over s of k_s + r(t-s); r(l) = taps[l] for l
/// < S = taps, (l - S) decay beyond. Tensors, states and the meaning of all fields as in the CPU's
/// contract (codegen/kernels/cpu/SoftmaxScan.h), but for the blocks: a work item is 32 channels of
/// one sequence, with a key for each channel any, otherwise channels of one key, and blockRows rows
/// of it. Items: softmaxScanItems().
///   softmaxScanForward: k, v, taps, decay, segments, initialState, y, lse, finalState, entries
///     (opt).
///   softmaxScanBackward: the first six, y, lse, dy, finalState, dFinalState, dk, dv,
///     dInitialState, partialTaps, partialDecay, partialWeights, entries (opt), with
///     softmaxScanKeyBlocks() blocks a key. partialTaps and partialDecay have a leading dimension
///     over blocks of rows.
/// timeBlocks > 1: what blocks of rows start from is found first, and read from entries,
/// [timeBlocks, values, batch, channels] with 3 values of the tail forwards and 5 backwards.
///   softmaxScanSummary: the first six of forward, summaries: what rows make of an empty tail, and
///     whether a tail goes through them, [timeBlocks, 4, batch, channels].
///   softmaxScanGradientSummary: decay, segments, y, lse, dy, finalState, dFinalState, summaries:
///     the same backwards, [timeBlocks, 6, batch, channels].
///   softmaxScanEntries: decay, initialState, summaries, entries; softmaxScanGradientEntries:
///   decay,
///     summaries, entries; 256 channels of all sequences an item.
struct SoftmaxScanShape {
  int64_t batch, length, channels, keys, taps;
  int64_t kStride, vStride, yStride /* forward: y, backward: y and dy */, dkStride, dvStride;
  int64_t hasDecay, hasSegments, hasState, hasFinalState;
  int64_t timeBlocks, blockRows;
};

constexpr int softmaxScanThreads = 32, softmaxScanEntriesThreads = 256;
constexpr int64_t softmaxScanTailValues = 3, softmaxScanGradientValues = 5;

constexpr int64_t softmaxScanStateRows(const SoftmaxScanShape &p) {
  return p.taps > 1 ? p.taps : 1;
}
/// Blocks of the channels of one key; 1 with a key for each channel.
constexpr int64_t softmaxScanKeyBlocks(const SoftmaxScanShape &p) {
  return p.keys == p.channels ? 1 : ceilDiv(p.channels / p.keys, softmaxScanThreads);
}
constexpr int64_t softmaxScanBlocks(const SoftmaxScanShape &p) {
  return p.keys == p.channels ? ceilDiv(p.channels, softmaxScanThreads)
                              : p.keys * softmaxScanKeyBlocks(p);
}
constexpr int64_t softmaxScanItems(const SoftmaxScanShape &p) {
  return p.batch * p.timeBlocks * softmaxScanBlocks(p);
}
/// Divides a sequence over time where there are not warps for half of what hides the latency of the
/// recurrence on 132 multiprocessors.
constexpr void divideSoftmaxScan(SoftmaxScanShape &p) {
  constexpr int64_t wantedWarps = 132 * 8, leastRows = 32;
  p.timeBlocks = 1, p.blockRows = p.length;
  const int64_t warps = softmaxScanItems(p);
  if (2 * warps > wantedWarps || p.length < 2 * leastRows)
    return;
  const int64_t wanted = ceilDiv(wantedWarps, warps), most = p.length / leastRows;
  p.blockRows = ceilDiv(ceilDiv(p.length, wanted < most ? wanted : most), 8) * 8;
  p.timeBlocks = ceilDiv(p.length, p.blockRows);
}
/// Gradients of the taps, of which a thread has registers for few.
template <typename T> constexpr int64_t softmaxScanBackwardBytes(const SoftmaxScanShape &p) {
  return p.taps * softmaxScanThreads * static_cast<int64_t>(sizeof(T));
}

} // namespace hybrid::cuda
