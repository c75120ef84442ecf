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

//===-- Transforms in two passes (FFTConvParts.cuh) ------------------------------===//

/// The outer transforms of `batch` sequences of some channels: points = parts * inner points.
/// A work item takes partsLanes neighbouring channels of `tile` neighbouring inner points.
/// stride: of x or y; hasFactor: y, or x, is multiplied by another activation; hasSecond: the
/// merged values times yet another one are a second result; hasFirst: so is the first row.
struct FFTConvPartsParams {
  int64_t batch, length, channels, points, parts, tile, blockThreads;
  int64_t stride, factorStride, secondStride, secondFactorStride;
  int64_t hasFactor, hasSecond, hasFirst;
};
constexpr int64_t partsLanes = 8; // channels: a sector of memory in f32
constexpr int threads(const FFTConvPartsParams &p) { return static_cast<int>(p.blockThreads); }
constexpr int64_t blocks(const FFTConvPartsParams &p) {
  return p.batch * (p.points / p.parts / p.tile) * ((p.channels + partsLanes - 1) / partsLanes);
}
template <typename T> constexpr int64_t sharedBytes(const FFTConvPartsParams &p) {
  return fftElements(p.parts, p.tile * partsLanes) * 2 * static_cast<int64_t>(sizeof(T));
}
/// Factors e^(-2 pi i q / (4 points)), q < 4 points, are products of two from short tables, the
/// fine one with q below this, and a coarse one. One table behind the other.
constexpr int64_t fineFactors(int64_t points) {
  int64_t count = 1;
  while (count * count < 4 * points)
    count *= 2;
  return count;
}

/// The inner transforms: one a block, of `points` points. splits as in FFTConvBlockParams; scale:
/// points of the whole transform.
struct FFTConvInnerParams {
  int64_t batch, channels, parts, points, splits, scale, hasSkip, hasGateOut;
};
constexpr int threads(const FFTConvInnerParams &p) {
  return static_cast<int>(p.points < 512 ? 32 : p.points / 16);
}
template <typename T> constexpr int64_t sharedBytes(const FFTConvInnerParams &p, int64_t signals) {
  return signals * fftElements(p.points, 1) * 2 * static_cast<int64_t>(sizeof(T));
}

} // namespace hybrid::cuda
