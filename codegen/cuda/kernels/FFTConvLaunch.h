//===- FFTConvLaunch.h - sizes and launch shapes of long convolutions -------===//
//
// Constants of the kernels of FFTConv.cuh and FFTConvSplit.cuh, and the rules that choose between
// them. Included by the lowering and by the kernels.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/cuda/kernels/FFTLaunch.h"

namespace hybrid::cuda {

/// A table of count factors e^(-2 pi i step q / period).
struct FFTTwiddleParams {
  int64_t count, step, period;
};
constexpr int threads(const FFTTwiddleParams &) { return 256; }
constexpr int64_t blocks(const FFTTwiddleParams &p) { return (p.count + 255) / 256; }

/// Complex points that a right-angle convolution of two real signals takes.
constexpr int64_t fftconvPoints(int64_t length, int64_t taps) {
  int64_t points = 32;
  while (2 * points < length + taps - 1)
    points *= 2;
  return points;
}

//===-- Whole transforms in shared memory (FFTConv.cuh) ------------------------===//

/// `lanes` neighbouring channels of a sequence are a work item. splits: parts of the batch whose
/// gradients of the filter are summed apart.
struct FFTConvBlockParams {
  int64_t batch, length, channels, taps, points, lanes, splits, blockThreads;
  int64_t xStride, gateInStride, gateOutStride, yStride /* also dy */, dxStride, dGateInStride,
      dGateOutStride;
  int64_t hasSkip, hasGateIn, hasGateOut, hasSegments;
};
constexpr int threads(const FFTConvBlockParams &p) { return static_cast<int>(p.blockThreads); }
/// Groups of `lanes` channels.
constexpr int64_t channelGroups(const FFTConvBlockParams &p) {
  return (p.channels + p.lanes - 1) / p.lanes;
}
/// Elements of T: of a filter spectrum, and of one split of a filter gradient.
constexpr int64_t spectrumElements(const FFTConvBlockParams &p) {
  return 2 * channelGroups(p) * p.lanes * p.points;
}
/// Of `signals` transforms at once, and of the search for the ends of segments.
template <typename T> constexpr int64_t sharedBytes(const FFTConvBlockParams &p, int64_t signals) {
  return signals * fftElements(p.points, p.lanes) * 2 * static_cast<int64_t>(sizeof(T)) +
         (p.hasSegments ? 32 * 4 : 0);
}

} // namespace hybrid::cuda
