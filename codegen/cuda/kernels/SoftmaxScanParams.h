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
/// contract (codegen/cpu/kernels/SoftmaxScan.h), but for the blocks: a work item is 32 channels of
/// one sequence, with a key for each channel any, otherwise channels of one key. Items: batch *
/// softmaxScanBlocks().
///   softmaxScanForward: k, v, taps, decay, segments, initialState, y, lse, finalState.
///   softmaxScanBackward: the first six, y, lse, dy, finalState, dFinalState, dk, dv,
///     dInitialState, partialTaps, partialDecay, partialWeights, with softmaxScanKeyBlocks() blocks
///     a key.
struct SoftmaxScanShape {
  int64_t batch, length, channels, keys, taps;
  int64_t kStride, vStride, yStride /* forward: y, backward: y and dy */, dkStride, dvStride;
  int64_t hasDecay, hasSegments, hasState, hasFinalState;
};

constexpr int softmaxScanThreads = 32;

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
/// Gradients of the taps, of which a thread has registers for few.
template <typename T> constexpr int64_t softmaxScanBackwardBytes(const SoftmaxScanShape &p) {
  return p.taps * softmaxScanThreads * static_cast<int64_t>(sizeof(T));
}

} // namespace hybrid::cuda
