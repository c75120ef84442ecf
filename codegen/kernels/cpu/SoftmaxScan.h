//===- SoftmaxScan.h - contract of the softmax scan's kernels --------------===//
//
// Conventions as in Kernels.h.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernels.h"

namespace hybrid::cpu {

/// y_t = sum over s <= t of p_ts v_s, p_t the softmax over s of k_s + r(t-s); r(l) = taps[l] for l
/// < S = taps, (l - S) decay beyond. v, y: [batch, length, channels]; k, lse: [batch, length,
/// keys], one key for channels / keys contiguous channels; taps [S, keys], decay [keys], absent
/// when S = 0 or hasDecay = 0. lse is the log of the denominators. A state is [batch, max(S, 1),
/// channels + keys]: in each row an average of values and the log of its weight, about -1e30 for
/// none. Row 0 is what has lag S or more as seen from the next token, rows 1 to S - 1 are the last
/// S - 1 tokens, oldest first. With segments (int32 [batch, length]) history starts anew where the
/// id changes; the initial state belongs to the segment of t = 0. Items are blocks of channels of
/// one sequence: with a key for each channel any block, otherwise a block within the channels of
/// one key. grid = batch * softmaxScanBlocks(). softmax_scan_forward: buffers: k, v, taps (opt),
/// decay (opt), segments (opt), initialState (opt), y, lse, finalState (opt). lse and the states
/// are dense. No scratch. softmax_scan_backward: buffers: k, v, taps (opt), decay (opt), segments
/// (opt), initialState (opt), y, lse, dy, finalState (opt), dFinalState (opt), dk, dv,
/// dInitialState (opt), partialTaps (opt), partialDecay (opt), partialWeights (opt). Scratch:
/// softmaxScanBackwardScratch(). With K = softmaxScanKeyBlocks() blocks a key: dk is [K, batch,
/// length, keys], its rows dkStride apart; partialTaps [K, batch, S, keys], partialDecay [K, batch,
/// keys] (sum over the first two); partialWeights [K, batch, max(S, 1), keys] are the gradients of
/// the initial log weights, of which dInitialState receives nothing.
struct SoftmaxScanParams {
  int64_t batch, length, channels, keys, taps;
  int64_t kStride, vStride, yStride /* forward: y, backward: y and dy */, dkStride, dvStride;
  int64_t hasDecay, hasSegments, hasState, hasFinalState;
};

constexpr int64_t softmaxScanStateRows(const SoftmaxScanParams &p) {
  return p.taps > 1 ? p.taps : 1;
}
/// Blocks of the channels of one key; 1 with a key for each channel.
template <typename T> constexpr int64_t softmaxScanKeyBlocks(const SoftmaxScanParams &p) {
  return p.keys == p.channels ? 1 : ceilDiv(p.channels / p.keys, lanes<T>);
}
template <typename T> constexpr int64_t softmaxScanBlocks(const SoftmaxScanParams &p) {
  return p.keys == p.channels ? ceilDiv(p.channels, lanes<T>) : p.keys * softmaxScanKeyBlocks<T>(p);
}
/// Bytes a thread.
template <typename T> constexpr int64_t softmaxScanBackwardScratch(const SoftmaxScanParams &p) {
  return 64 * (p.taps > 1 ? p.taps : 1);
}

} // namespace hybrid::cpu
