//===- FFTConvLaunch.h - sizes and launch shapes of long convolutions -------===//
//
// Constants of the kernels of FFTConv.cuh and FFTConvSplit.cuh, and the rules that choose between
// them. Included by the lowering and by the kernels.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/FFTLaunch.h"

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
/// gradients of the filter are summed apart; wide: as of fftRadices().
struct FFTConvBlockParams {
  int64_t batch, length, channels, taps, points, lanes, splits, blockThreads, wide;
  int64_t xStride, gateInStride, gateOutStride, yStride /* also dy */, dxStride, dGateInStride,
      dGateOutStride;
  int64_t hasSkip, hasGateIn, hasGateOut, hasSegments;
};
constexpr int threads(const FFTConvBlockParams &p) { return static_cast<int>(p.blockThreads); }
/// Groups of `lanes` channels.
constexpr int64_t channelGroups(const FFTConvBlockParams &p) {
  return (p.channels + p.lanes - 1) / p.lanes;
}
/// Neighbouring groups whose spectra are used together: 64 channels, so that memory is read in
/// whole lines, and few enough that their spectra stay in L2 from one sequence to the next.
constexpr int64_t groupsInBand(const FFTConvBlockParams &p) {
  const int64_t band = p.lanes < 64 ? 64 / p.lanes : 1, groups = channelGroups(p);
  return band < groups ? band : groups;
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

/// Multiprocessors of the GPU that grids are made for: an H200.
constexpr int64_t gridProcessors = 132;

/// Channels of a block, `signals` transforms each; 0 where there is no room for enough of them to
/// be worth it, and two passes over memory are cheaper.
///
/// A block's transforms take up to 128 KB (in f32 a thread keeps no more than 16 sums then); more
/// than 8 channels of f32, a sector of memory, only where transforms are short. A block that reads
/// fewer channels leaves the rest of each sector to its neighbours, through L2: 32 / (4 lanes)
/// times the bytes. With two channels that costs what two passes cost, with one twice that.
constexpr int64_t fftconvLanes(const FFTConvBlockParams &p, int64_t signals, int64_t elementBytes,
                               int64_t sharedBytes) {
  const int64_t most = sharedBytes - 128 < (136LL << 10) ? sharedBytes - 128 : 136LL << 10;
  auto fits = [&](int64_t lanes) {
    return signals * fftElements(p.points, lanes) * 2 * elementBytes <= most;
  };
  int64_t lanes = 1;
  while (lanes < p.channels && fits(2 * lanes) &&
         (lanes < 8 || (lanes < 32 && 2 * lanes * p.points <= 4096)))
    lanes *= 2;
  // Few sequences: rather more blocks than whole sectors.
  while (lanes > 2 && p.batch * ((p.channels + lanes - 1) / lanes) < gridProcessors)
    lanes /= 2;
  const bool isWorthIt = lanes * elementBytes >= 8 || lanes == p.channels || p.hasSegments;
  return fits(lanes) && isWorthIt ? lanes : 0;
}
/// Two rounds of butterflies a thread forward, one backward, where the sums of a round are kept.
constexpr int64_t fftconvThreads(const FFTConvBlockParams &p, int64_t signals) {
  int64_t threads = p.points * p.lanes / (signals == 1 ? 32 : 16);
  return threads < 32 ? 32 : threads > 512 ? 512 : threads;
}
/// Blocks of a backward kernel that a GPU runs at a time: bound by shared memory, and by registers,
/// of which its threads have 128.
constexpr int64_t fftconvBlocksAtOnce(int64_t threads, int64_t sharedBytes) {
  const int64_t byMemory = (227LL << 10) / (sharedBytes + 1024), byRegisters = 512 / threads;
  const int64_t blocks = byMemory < byRegisters ? byMemory : byRegisters;
  return gridProcessors * (blocks < 1 ? 1 : blocks);
}
/// Into how many splits the batch is divided for `groups` blocks each, `atOnce` of which run at a
/// time: as many as make the fewest sequences one after another. A split costs about half a
/// sequence, for its sums.
constexpr int64_t fftconvSplits(int64_t batch, int64_t groups, int64_t atOnce) {
  int64_t best = 1, bestCost = 0;
  for (int64_t splits = 1; splits <= batch && splits <= 64; ++splits) {
    int64_t waves = (groups * splits + atOnce - 1) / atOnce;
    int64_t cost = 2 * waves * ((batch + splits - 1) / splits) + splits;
    if (splits == 1 || cost < bestCost)
      best = splits, bestCost = cost;
  }
  return best;
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
/// fine one with q below this, and a coarse one.
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

/// Parts of a transform: few, so that the outer transforms of a tile need little memory, but so
/// many that two inner transforms take no more than 64 KB of f32.
constexpr int64_t fftconvParts(int64_t points) {
  int64_t parts = 32;
  while (points / parts > 4096 && parts < 512)
    parts *= 2;
  return parts;
}
/// Inner points of a tile: 64 KB.
constexpr int64_t fftconvTile(int64_t parts, int64_t elementBytes) {
  return 4096 / elementBytes / parts;
}
/// Channels that are convolved at a time: what lies between the passes stays within a quarter of a
/// gigabyte, unless that would be fewer than 32 channels: memory is read in lines of so many.
constexpr int64_t fftconvChannelsAtOnce(int64_t batch, int64_t points, int64_t channels,
                                        int64_t elementBytes) {
  constexpr int64_t fewest = 32;
  const int64_t most = (256LL << 20) / (batch * points * 2 * elementBytes) / fewest * fewest;
  const int64_t wanted = most < fewest ? fewest : most;
  return wanted < channels ? wanted : channels;
}

} // namespace hybrid::cuda
