//===- FFTConv.h - contract of long convolutions ----------------------------===//
//
// y = (conv(x*gateIn, h) + skip*(x*gateIn)) * gateOut, by transforms of whole sequences in a cache
// or in shared memory. With segments, a row's runs of equal segment id are convolved independently
// (each with the first `run` taps). FFTConvParts.h has sequences that do not fit there on CUDA,
// FFTConvToeplitz.h short ones, and the rule that chooses.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/FFT.h"
#include "codegen/kernels/Threads.h"

namespace hybrid {

struct FFTConvParams {
  int64_t batch, length, channels, taps, points /* convolutionPoints() */;
  // On CUDA: `lanes` neighbouring channels of a sequence are a work item. splits: parts of the
  // batch whose gradients of the filter are summed apart; wide: as of fftRadices().
  int64_t lanes, splits, blockThreads, wide;
  int64_t xStride, gateInStride, gateOutStride, yStride /* also dy */, dxStride, dGateInStride,
      dGateOutStride;
  int64_t hasSkip, hasGateIn, hasGateOut, hasSegments;
  HYBRID_FIELDS(batch, length, channels, taps, points, lanes, splits, blockThreads, wide, xStride,
                gateInStride, gateOutStride, yStride, dxStride, dGateInStride, dGateOutStride,
                hasSkip, hasGateIn, hasGateOut, hasSegments)
};

namespace cpu {
/// Blocks of channels.
template <typename T> constexpr int64_t fftconvBlocks(const FFTConvParams &p) {
  return ceilDiv(p.channels, lanes<T>);
}
/// Bytes of `signals` transforms.
template <typename T> constexpr int64_t fftconvScratch(const FFTConvParams &p, int64_t signals) {
  return signals * p.points * 2 * lanes<T> * static_cast<int64_t>(sizeof(T));
}
} // namespace cpu

/// Bytes of an element of filters, spectra and sums, and of activations, which may be rounded.
struct FFTConvElements {
  int64_t bytes, activationBytes;
};
constexpr FFTConvElements fftconvElements(int64_t bytes, bool rounds) {
  return {bytes, rounds && bytes == 4 ? 2 : bytes};
}

namespace cuda {

constexpr int threads(const FFTConvParams &p) { return static_cast<int>(p.blockThreads); }
/// Groups of `lanes` channels.
constexpr int64_t channelGroups(const FFTConvParams &p) {
  return (p.channels + p.lanes - 1) / p.lanes;
}
/// Neighbouring groups whose spectra are used together: 64 channels, so that memory is read in
/// whole lines, and few enough that their spectra stay in L2 from one sequence to the next.
constexpr int64_t groupsInBand(const FFTConvParams &p) {
  const int64_t band = p.lanes < 64 ? 64 / p.lanes : 1, groups = channelGroups(p);
  return band < groups ? band : groups;
}
/// Of `signals` transforms at once, and of the search for the ends of segments.
template <typename T> constexpr int64_t sharedBytes(const FFTConvParams &p, int64_t signals) {
  return signals * fftElements(p.points, p.lanes) * 2 * static_cast<int64_t>(sizeof(T)) +
         (p.hasSegments ? 32 * 4 : 0);
}

/// Channels of a block, `signals` transforms each; 0 where there is no room for enough of them to
/// be worth it, and two passes over memory are cheaper.
///
/// A block's transforms take up to 128 KB (in f32 a thread keeps no more than 16 sums then); more
/// than 8 channels of f32, a sector of memory, only where transforms are short. A block that reads
/// fewer channels leaves the rest of each sector to its neighbours, through L2: 32 / (4 lanes)
/// times the bytes of f32. Two channels of f32 take more time than two passes, four less; of bf16
/// twice as many (on an H100 gradients of 2048 positions take 2.1 ms in two passes, 2.9 in blocks).
constexpr int64_t fftconvLanes(const FFTConvParams &p, int64_t signals, FFTConvElements elements,
                               int64_t sharedBytes) {
  const int64_t most = sharedBytes - 128 < (136LL << 10) ? sharedBytes - 128 : 136LL << 10;
  auto fits = [&](int64_t lanes) {
    return signals * fftElements(p.points, lanes) * 2 * elements.bytes <= most;
  };
  int64_t lanes = 1;
  while (lanes < p.channels && fits(2 * lanes) &&
         (lanes < 8 || (lanes < 32 && 2 * lanes * p.points <= 4096)))
    lanes *= 2;
  const bool isWorthIt =
      lanes * elements.activationBytes >= 16 || lanes >= p.channels || p.hasSegments;
  // Few sequences: rather more blocks than whole sectors.
  while (lanes > 2 && p.batch * ((p.channels + lanes - 1) / lanes) < gridProcessors)
    lanes /= 2;
  return fits(lanes) && isWorthIt ? lanes : 0;
}
/// Two rounds of butterflies a thread forward, one backward, where the sums of a round are kept.
constexpr int64_t fftconvThreads(const FFTConvParams &p, int64_t signals) {
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

} // namespace cuda

/// Elements of T: of a filter's spectrum, whose layout is private to the kernels, and of one split
/// of a filter's gradient.
struct FFTConvSpectrumElements {
  template <typename T> static constexpr int64_t onCpu(const FFTConvParams &p) {
    return cpu::fftconvBlocks<T>(p) * p.points * 2 * lanes<T>;
  }
  template <typename T> static constexpr int64_t onCuda(const FFTConvParams &p) {
    return 2 * cuda::channelGroups(p) * p.lanes * p.points;
  }
};

/// Divides the work, once `lanes` are known; of the backward pass the batch too.
struct FFTConvDivision {
  template <typename T> static constexpr void onCpu(FFTConvParams &, int64_t /*signals*/) {}
  template <typename T> static constexpr void onCuda(FFTConvParams &p, int64_t signals) {
    p.blockThreads = cuda::fftconvThreads(p, signals);
    if (signals == 1)
      p.wide = 1;
    else
      p.splits = cuda::fftconvSplits(
          p.batch, cuda::channelGroups(p),
          cuda::fftconvBlocksAtOnce(cuda::threads(p), cuda::sharedBytes<T>(p, signals)));
  }
};

/// What fftconv_spectrum and fftconv_filter_gradient read of it, so that they are the same for all
/// uses of a filter shape.
struct FFTConvFilterSizes {
  template <typename T> static constexpr FFTConvParams onCpu(const FFTConvParams &p) {
    FFTConvParams f{};
    f.channels = p.channels, f.taps = p.taps, f.points = p.points;
    return f;
  }
  template <typename T> static constexpr FFTConvParams onCuda(const FFTConvParams &p) {
    FFTConvParams f = onCpu<T>(p);
    f.batch = 1, f.length = p.taps, f.lanes = p.lanes, f.splits = p.splits, f.wide = p.wide;
    f.hasSkip = p.hasSkip, f.blockThreads = cuda::fftconvThreads(f, 1);
    return f;
  }
};

/// Buffers: filter [taps, channels] (time-major, dense), twiddles, spectrum. An item is a block of
/// channels.
struct FFTConvSpectrum : KernelOf<FFTConvParams, "fftconv_spectrum", 2> {
  HYBRID_ON_CPU(cpu::fftconvBlocks<T>(p))
  HYBRID_ON_CUDA(cuda::channelGroups(p), cuda::threads(p), cuda::sharedBytes<T>(p, 1))
};

/// Buffers: x, spectrum, twiddles, skip, gateIn, gateOut, segments (all four optional), on the CPU
/// filter, y, a store. An item is a block of channels of a sequence.
struct FFTConvForward : KernelOf<FFTConvParams, "fftconv_forward"> {
  static constexpr bool isActivation(int64_t buffer, bool onCpu) {
    return isAmong<0, 4, 5>(buffer) || buffer == (onCpu ? 8 : 7);
  }
  HYBRID_ON_CPU(cpu::fftconvBlocks<T>(p) * p.batch, 0,
                cpu::fftconvScratch<T>(p, p.hasSegments ? 2 : 1))
  HYBRID_ON_CUDA(cuda::channelGroups(p) * p.batch, cuda::threads(p), cuda::sharedBytes<T>(p, 1))
};

/// Buffers: the first of forward up to segments; on the CPU filter, dy, dx, dFilter, dSkip
/// (optional), where an item is a block of channels, which sums the whole batch in a fixed order,
/// in the frequency domain; on CUDA dy, dx, partial [splits, spectrum], where an item is a block of
/// channels of a split; then dGateIn (optional), dGateOut (optional).
struct FFTConvBackward : KernelOf<FFTConvParams, "fftconv_backward"> {
  static constexpr bool writes(int64_t buffer, bool onCpu) { return buffer >= (onCpu ? 9 : 8); }
  static constexpr bool isActivation(int64_t buffer, bool onCpu) {
    return onCpu ? isAmong<0, 4, 5, 8, 9, 12, 13>(buffer) : isAmong<0, 4, 5, 7, 8, 10, 11>(buffer);
  }
  HYBRID_ON_CPU(cpu::fftconvBlocks<T>(p), 0, cpu::fftconvScratch<T>(p, p.hasSegments ? 5 : 3))
  HYBRID_ON_CUDA(cuda::channelGroups(p) * p.splits, cuda::threads(p), cuda::sharedBytes<T>(p, 2))
};

/// Buffers: partial, twiddles, dFilter, dSkip (optional).
struct FFTConvFilterGradient : KernelOf<FFTConvParams, "fftconv_filter_gradient", 2, 3> {
  HYBRID_ON_CUDA(cuda::channelGroups(p), cuda::threads(p), cuda::sharedBytes<T>(p, 1))
};

} // namespace hybrid
