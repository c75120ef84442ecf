//===- SoftmaxScan.h - contract of the softmax scan -------------------------===//
//
// y_t = sum over s <= t of p_ts v_s, p_t the softmax over s of k_s + r(t-s); r(l) = taps[l] for l
// < S = taps, (l - S) decay beyond. v, y: [batch, length, channels]; k, lse: [batch, length,
// keys], one key for channels / keys contiguous channels; taps [S, keys], decay [keys], absent
// when S = 0 or hasDecay = 0. lse is the log of the denominators. A state is [batch, max(S, 1),
// channels + keys]: in each row an average of values and the log of its weight, about -1e30 for
// none. Row 0 is what has lag S or more as seen from the next token, rows 1 to S - 1 are the last
// S - 1 tokens, oldest first. With segments (int32 [batch, length]) history starts anew where the
// id changes; the initial state belongs to the segment of t = 0. lse and the states are dense.
//
// An item is blockRows rows of a block of channels of one sequence: with a key for each channel any
// block, otherwise a block within the channels of one key. A block is a vector on the CPU, a warp
// on CUDA, where a sequence may be divided over time: with timeBlocks > 1 what blocks of rows start
// from is found first, and read from entries, [timeBlocks, values, batch, channels] with 3 values
// of the tail forwards and 5 backwards.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernel.h"

namespace hybrid {

struct SoftmaxScanParams {
  int64_t batch, length, channels, keys, taps;
  int64_t kStride, vStride, yStride /* forward: y, backward: y and dy */, dkStride, dvStride;
  int64_t hasDecay, hasSegments, hasState, hasFinalState;
  int64_t timeBlocks, blockRows;
  HYBRID_FIELDS(batch, length, channels, keys, taps, kStride, vStride, yStride, dkStride, dvStride,
                hasDecay, hasSegments, hasState, hasFinalState, timeBlocks, blockRows)
};

constexpr int64_t softmaxScanTailValues = 3, softmaxScanGradientValues = 5;

constexpr int64_t softmaxScanStateRows(const SoftmaxScanParams &p) {
  return p.taps > 1 ? p.taps : 1;
}
/// Blocks of the channels of one key, blocks of `width` channels; 1 with a key for each channel.
constexpr int64_t softmaxScanKeyBlocks(const SoftmaxScanParams &p, int64_t width) {
  return p.keys == p.channels ? 1 : ceilDiv(p.channels / p.keys, width);
}
/// Blocks of channels of a sequence.
constexpr int64_t softmaxScanBlocks(const SoftmaxScanParams &p, int64_t width) {
  return p.keys == p.channels ? ceilDiv(p.channels, width)
                              : p.keys * softmaxScanKeyBlocks(p, width);
}

namespace cuda {

constexpr int softmaxScanThreads = 32, softmaxScanEntriesThreads = 256;

constexpr Grid softmaxScanGrid(const SoftmaxScanParams &p, int64_t bytes = 0) {
  return {p.batch * p.timeBlocks * softmaxScanBlocks(p, softmaxScanThreads), softmaxScanThreads,
          bytes};
}
/// Shared memory for gradients of the taps, of which a thread has registers for few; none where
/// that would leave a multiprocessor few warps: then they are added up in memory.
template <typename T> constexpr int64_t softmaxScanTapBytes(const SoftmaxScanParams &p) {
  const int64_t bytes = p.taps * softmaxScanThreads * static_cast<int64_t>(sizeof(T));
  return bytes <= 48 << 10 ? bytes : 0;
}
constexpr Grid softmaxScanEntriesGrid(const SoftmaxScanParams &p) {
  return {ceilDiv(p.batch * p.channels, softmaxScanEntriesThreads), softmaxScanEntriesThreads};
}

} // namespace cuda

//===-- What a device decides --------------------------------------------------===//

/// Divides a sequence over time: on CUDA where there are not warps for half of what hides the
/// latency of the recurrence on 132 multiprocessors.
struct SoftmaxScanDivision {
  template <typename T> static constexpr void onCpu(SoftmaxScanParams &p) {
    p.timeBlocks = 1, p.blockRows = p.length;
  }
  template <typename T> static constexpr void onCuda(SoftmaxScanParams &p) {
    constexpr int64_t wantedWarps = 132 * 8, leastRows = 32;
    p.timeBlocks = 1, p.blockRows = p.length;
    const int64_t warps = cuda::softmaxScanGrid(p).items;
    if (2 * warps > wantedWarps || p.length < 2 * leastRows)
      return;
    const int64_t wanted = ceilDiv(wantedWarps, warps), most = p.length / leastRows;
    p.blockRows = ceilDiv(ceilDiv(p.length, wanted < most ? wanted : most), 8) * 8;
    p.timeBlocks = ceilDiv(p.length, p.blockRows);
  }
};

/// Blocks that share a key, in which its gradient has parts.
struct SoftmaxScanKeyParts {
  template <typename T> static constexpr int64_t onCpu(const SoftmaxScanParams &p) {
    return softmaxScanKeyBlocks(p, lanes<T>);
  }
  template <typename T> static constexpr int64_t onCuda(const SoftmaxScanParams &p) {
    return softmaxScanKeyBlocks(p, cuda::softmaxScanThreads);
  }
};

//===-- Kernels ----------------------------------------------------------------===//

/// Buffers: k, v, taps (optional), decay (optional), segments (optional), initialState (optional),
/// y, lse, finalState (optional), entries (optional).
struct SoftmaxScanForward : KernelOf<SoftmaxScanParams, "softmax_scan_forward", 6, 7, 8> {
  HYBRID_ON_CPU(p.batch *softmaxScanBlocks(p, lanes<T>))
  HYBRID_ON_CUDA(cuda::softmaxScanGrid(p))
};

/// Buffers: the first six of forward, y, lse, dy, finalState (optional), dFinalState (optional),
/// dk, dv, dInitialState (optional), partialTaps (optional), partialDecay (optional),
/// partialWeights (optional), entries (optional). With K blocks that share a key: dk is [K, batch,
/// length, keys], its rows dkStride apart; partialTaps [timeBlocks, K, batch, S, keys],
/// partialDecay [timeBlocks, K, batch, keys] (sum over all but the last dimensions); partialWeights
/// [K, batch, max(S, 1), keys] are the gradients of the initial log weights, of which dInitialState
/// receives nothing.
struct SoftmaxScanBackward
    : KernelOf<SoftmaxScanParams, "softmax_scan_backward", 11, 12, 13, 14, 15, 16> {
  HYBRID_ON_CPU(p.batch *softmaxScanBlocks(p, lanes<T>), 0, 64 * softmaxScanStateRows(p))
  HYBRID_ON_CUDA(cuda::softmaxScanGrid(p, cuda::softmaxScanTapBytes<T>(p)))
};

/// On CUDA. Buffers: the first six of forward, summaries: what rows make of an empty tail, and
/// whether a tail goes through them, [timeBlocks, 4, batch, channels].
struct SoftmaxScanSummary : KernelOf<SoftmaxScanParams, "softmax_scan_summary", 6> {
  HYBRID_ON_CUDA(cuda::softmaxScanGrid(p))
};
/// On CUDA. Buffers: decay, initialState, summaries, entries. An item is a stretch of channels of
/// all sequences.
struct SoftmaxScanEntries : KernelOf<SoftmaxScanParams, "softmax_scan_entries", 3> {
  HYBRID_ON_CUDA(cuda::softmaxScanEntriesGrid(p))
};

/// The same backwards. Buffers: decay, segments, y, lse, dy, finalState, dFinalState, summaries
/// [timeBlocks, 6, batch, channels].
struct SoftmaxScanGradientSummary
    : KernelOf<SoftmaxScanParams, "softmax_scan_gradient_summary", 7> {
  HYBRID_ON_CUDA(cuda::softmaxScanGrid(p))
};
/// Buffers: decay, summaries, entries.
struct SoftmaxScanGradientEntries
    : KernelOf<SoftmaxScanParams, "softmax_scan_gradient_entries", 2> {
  HYBRID_ON_CUDA(cuda::softmaxScanEntriesGrid(p))
};

} // namespace hybrid
