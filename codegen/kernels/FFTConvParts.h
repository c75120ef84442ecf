//===- FFTConvParts.h - contract of long convolutions in two passes ---------===//
//
// On CUDA, of sequences whose transform does not fit into shared memory: points = parts * inner
// points.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/FFTConv.h"

namespace hybrid {

/// The outer transforms of `batch` sequences of some channels; an item takes `lanes` of them, and
/// `tile` inner points. stride: of x or y; hasFactor: y, or x, is multiplied by another activation;
/// hasSecond: the merged values times yet another one are a second result; hasFirst: so is the
/// first row.
struct FFTConvPartsParams {
  int64_t batch, length, channels, points, parts, lanes, tile, blockThreads;
  int64_t stride, factorStride, secondStride, secondFactorStride;
  int64_t hasFactor, hasSecond, hasFirst;
  HYBRID_FIELDS(batch, length, channels, points, parts, lanes, tile, blockThreads, stride,
                factorStride, secondStride, secondFactorStride, hasFactor, hasSecond, hasFirst)
};

/// The inner transforms, of `points` points: a block walks over one part of a channel, or forward
/// over `walks` parts, of one of the `splits` of the batch. scale: what the whole transform
/// multiplies by, there and back; goesOn: to the sums of the filter's gradient of other sequences
/// these are added.
struct FFTConvInnerParams {
  int64_t batch, channels, parts, points, splits, walks, scale, hasSkip, hasGateOut, goesOn;
  HYBRID_FIELDS(batch, channels, parts, points, splits, walks, scale, hasSkip, hasGateOut, goesOn)
};

namespace cuda {

constexpr int threads(const FFTConvPartsParams &p) { return static_cast<int>(p.blockThreads); }
/// Whether a thread does an outer transform by itself, in registers: no block waits then, and all
/// loads are on their way at once. More parts go through shared memory.
constexpr bool partsInRegisters(int64_t parts) { return parts <= 32; }
/// Neighbouring channels of an item: 128 bytes of the activations, a line of the cache, or half of
/// it of those rounded to half of f32's; in shared memory, where there is no room for more inner
/// points, 8.
constexpr int64_t partsLanes(int64_t parts, int64_t elementBytes) {
  return partsInRegisters(parts) ? 128 / elementBytes : 8;
}
/// Points of `pointBytes` from a channel's of a tile in shared memory to the next one's. A warp has
/// up to 32 neighbouring channels of as few inner points.
template <int64_t pointBytes> constexpr int partsChannelStride(const FFTConvPartsParams &p) {
  return static_cast<int>(p.tile + (pointBytes == 4 && p.lanes < 32 ? 32 / p.lanes : 1));
}
template <typename T> constexpr Grid partsGrid(const FFTConvPartsParams &p) {
  const int64_t elements = partsInRegisters(p.parts)
                               ? p.parts * p.lanes * partsChannelStride<2 * sizeof(T)>(p)
                               : fftElements(p.parts, p.tile * p.lanes);
  return {p.batch * (p.points / p.parts / p.tile) * ceilDiv(p.channels, p.lanes), threads(p),
          elements * 2 * static_cast<int64_t>(sizeof(T))};
}
/// Factors e^(-2 pi i q / (4 points)), q < 4 points, are products of two from short tables, the
/// fine one with q below this, and a coarse one.
constexpr int64_t fineFactors(int64_t points) {
  int64_t count = 1;
  while (count * count < 4 * points)
    count *= 2;
  return count;
}
/// Parts of a transform: few, but so many that two inner transforms take no more than 64 KB of f32;
/// inner ones of more than 512 points only where there are 16 parts, which take no longer than 8.
/// Of fewer than 512 points they would leave threads of a warp idle, so 2048 points have 4 parts.
constexpr int64_t fftconvParts(int64_t points) {
  int64_t parts = points < 4096 ? 4 : 8;
  while (points / parts > (parts < 16 ? 512 : 4096) && parts < 512)
    parts *= 2;
  return parts;
}
/// Positions and taps but one, together, of the longest sequences: whose two inner transforms, of
/// the backward pass, fit into shared memory. 2^23 in f32 where a block has 139 KB, in f64 half.
constexpr int64_t longestInParts(int64_t elementBytes, int64_t mostShared) {
  int64_t points = 32;
  auto fits = [&](int64_t count) {
    return 2 * fftElements(count / fftconvParts(count), 1) * 2 * elementBytes <= mostShared;
  };
  while (fits(2 * points))
    points *= 2;
  return 2 * points;
}
/// Of a block of outer transforms: in registers so that its parts take up to 74 KB of shared memory
/// (a thread of 32 parts takes twice the registers of others).
constexpr int64_t fftconvPartsThreads(int64_t parts, int64_t elementBytes) {
  return partsInRegisters(parts) ? (parts == 32 ? 1024 : 2048) / elementBytes : 256;
}
/// Inner points of a tile: one a thread where transforms are in registers, otherwise 64 KB.
constexpr int64_t fftconvTile(int64_t parts, int64_t elementBytes) {
  return partsInRegisters(parts)
             ? fftconvPartsThreads(parts, elementBytes) / partsLanes(parts, elementBytes)
             : 4096 / elementBytes / parts;
}
/// What is convolved at a time.
struct FFTConvStretch {
  int64_t batch, channels;
};
/// Stretches of a forward pass take turns in so many rooms for their parts, so that one is split or
/// merged while another is transformed. Backward the sequences of some channels follow one another,
/// as they sum the gradient of their filter, and other channels have rooms of their own.
constexpr int64_t fftconvRooms = 2;
/// What lies between the passes is written and read twice, so it had better stay in L2 (40 MB on an
/// A100, 50 MB on an H100 and H200, of which not all is kept, and some of which activations take as
/// they pass through): `signals` transforms of each sequence, 1 forward, in all rooms, and 2
/// backward, and what sequences share of a channel, its spectrum and backward its gradient's. With
/// 42 MB in two rooms an H100 takes a tenth longer than with 21, with 29 in three a fortieth.
/// A stretch takes a divisor of the batch: all have one size, and share their code. Its channels
/// are 256 bytes of a row, or, where then fewer than 4 sequences would fit, which share a spectrum,
/// down to those of an item: of rows from which 128 bytes were taken at a time an H100 read a tenth
/// slower. Where the whole batch fits it takes more channels.
constexpr FFTConvStretch fftconvStretch(int64_t batch, int64_t points, int64_t channels,
                                        int64_t signals, FFTConvElements elements) {
  constexpr int64_t resident = 32LL << 20;
  const int64_t perSequence = (signals == 1 ? fftconvRooms : signals) * elements.activationBytes;
  auto fits = [&](int64_t b, int64_t c) {
    return (b * perSequence + signals * elements.bytes) * c * points * 2 <= resident;
  };
  FFTConvStretch stretch{batch, channels};
  for (int64_t together = 256 / elements.activationBytes; together >= partsLanes(8, elements.bytes);
       together /= 2) {
    stretch = {batch, together < channels ? together : channels};
    while (stretch.batch > 1 && (batch % stretch.batch || !fits(stretch.batch, stretch.channels)))
      --stretch.batch;
    if (fits(stretch.batch, stretch.channels) && (stretch.batch == batch || stretch.batch >= 4))
      break;
  }
  while (stretch.batch == batch && stretch.channels < channels) {
    const int64_t more = 2 * stretch.channels < channels ? 2 * stretch.channels : channels;
    if (!fits(batch, more))
      break;
    stretch.channels = more;
  }
  return stretch;
}

/// Coefficients of the remainders at which an inner transform ends, of the polynomial whose
/// coefficients are its points. Of 512 they are two, so that even points and odd ones are
/// transformed by themselves, in two stages of radix 16. Down to one it would be another stage each
/// way, of radix 2, through shared memory.
constexpr int64_t innerRemainder(int64_t points) { return points == 512 ? 2 : 1; }
/// Complex elements of shared memory of an inner transform.
constexpr int64_t innerElements(int64_t points) {
  return fftElements(points / innerRemainder(points), innerRemainder(points));
}
constexpr int threads(const FFTConvInnerParams &p) {
  return static_cast<int>(p.points < 512 ? 32 : p.points / 16);
}
template <typename T> constexpr int64_t sharedBytes(const FFTConvInnerParams &p, int64_t signals) {
  return signals * innerElements(p.points) * 2 * static_cast<int64_t>(sizeof(T));
}
/// A block for each part of a channel.
template <typename T> constexpr Grid innerGrid(const FFTConvInnerParams &p) {
  return {p.channels * p.parts, threads(p), sharedBytes<T>(p, 1)};
}
/// With the filter's spectrum beside a signal, or, of remainders, with their first coefficient and
/// what both are crossed with.
template <typename T> constexpr Grid innerForwardGrid(const FFTConvInnerParams &p) {
  const int64_t spectrum = (innerRemainder(p.points) == 1 ? 2 : 3) * threads(p) * 16;
  return {ceilDiv(p.channels * p.parts, p.walks) * p.splits, threads(p),
          sharedBytes<T>(p, 1) + spectrum * static_cast<int64_t>(sizeof(T))};
}
template <typename T> constexpr Grid innerBackwardGrid(const FFTConvInnerParams &p) {
  return {p.channels * p.parts * p.splits, threads(p), sharedBytes<T>(p, 2)};
}

} // namespace cuda

/// Divides the work of a forward (signals: 1) or backward pass (2) among as many blocks as run at a
/// time while `beside` stretches share the GPU: the batch, or, of a forward pass with more parts
/// than these, parts. Then blocks of what another stretch has to do find room beside them.
struct FFTConvInnerDivision {
  template <typename T>
  static constexpr void onCuda(FFTConvInnerParams &p, int64_t signals, int64_t beside) {
    const int64_t parts = p.channels * p.parts,
                  atOnce = cuda::fftconvBlocksAtOnce(cuda::threads(p),
                                                     cuda::sharedBytes<T>(p, signals)) /
                           beside;
    p.splits = cuda::fftconvSplits(p.batch, parts, atOnce);
    if (signals == 1 && beside > 1)
      p.walks = ceilDiv(parts * p.splits, atOnce);
  }
};

/// Buffers: x, gate (optional), twiddles (where transforms are not in registers), fine factors,
/// coarse factors, parts.
struct FFTConvSplit : KernelOf<FFTConvPartsParams, "fftconv_split", 5> {
  HYBRID_ACTIVATIONS(0, 1, 5)
  HYBRID_ON_CUDA(cuda::partsGrid<T>(p))
};

/// Buffers: parts, gate (optional), second factor (optional), twiddles as above, fine factors,
/// coarse factors, y, second result (optional).
struct FFTConvMerge : KernelOf<FFTConvPartsParams, "fftconv_merge", 6, 7> {
  HYBRID_ACTIVATIONS(0, 1, 2, 6, 7)
  HYBRID_ON_CUDA(cuda::partsGrid<T>(p))
};

/// The same of the filter, which is no activation. Buffers: filter, twiddles as above, fine
/// factors, coarse factors, parts.
struct FFTConvSplitFilter : KernelOf<FFTConvPartsParams, "fftconv_split_filter", 4> {
  HYBRID_ON_CUDA(cuda::partsGrid<T>(p))
};

/// Buffers: parts, twiddles as above, fine factors, coarse factors, gradient of the filter, its
/// first row (optional).
struct FFTConvMergeFilter : KernelOf<FFTConvPartsParams, "fftconv_merge_filter", 4, 5> {
  HYBRID_ON_CUDA(cuda::partsGrid<T>(p))
};

/// Buffers: parts of the filter, twiddles, spectrum.
struct FFTConvInnerSpectrum : KernelOf<FFTConvInnerParams, "fftconv_inner_spectrum", 2> {
  HYBRID_ON_CUDA(cuda::innerGrid<T>(p))
};

/// Buffers: spectrum, skip (optional), twiddles, signal, in place.
struct FFTConvInnerForward : KernelOf<FFTConvInnerParams, "fftconv_inner_forward", 3> {
  HYBRID_ACTIVATIONS(3)
  HYBRID_ON_CUDA(cuda::innerForwardGrid<T>(p))
};

/// Buffers: spectrum, skip (optional), twiddles, signal and cotangent, both in place, partial, in
/// place where it goes on.
struct FFTConvInnerBackward : KernelOf<FFTConvInnerParams, "fftconv_inner_backward", 3, 4, 5> {
  HYBRID_ACTIVATIONS(3, 4)
  HYBRID_ON_CUDA(cuda::innerBackwardGrid<T>(p))
};

/// Buffers: partial, twiddles, parts of the filter's gradient.
struct FFTConvInnerGradient : KernelOf<FFTConvInnerParams, "fftconv_inner_gradient", 2> {
  HYBRID_ON_CUDA(cuda::innerGrid<T>(p))
};

} // namespace hybrid
