//===- Rfft.h - contract of transforms of filters ---------------------------===//
#pragma once
#include "codegen/kernels/FFT.h"

namespace hybrid {

/// Transforms of `points` real points a channel, any number of them. On the CPU by Bluestein's
/// algorithm, as a convolution with a chirp, of transformSize points; on CUDA sums as they are
/// defined, or by a library (Transforms.h says when), whose spectra have re and im side by side.
struct RfftParams {
  int64_t points, channels, transformSize /* on the CPU */, weighted;
  HYBRID_FIELDS(points, channels, transformSize, weighted)
};

struct RfftTransformSize {
  template <typename T> static constexpr int64_t onCpu(const RfftParams &p) {
    int64_t n = 32;
    while (n < p.points + p.points / 2)
      n *= 2;
    return n;
  }
  template <typename T> static constexpr int64_t onCuda(const RfftParams &) { return 0; }
};

namespace cpu {
/// Items are blocks of channels.
template <typename T> constexpr Grid rfftGrid(const RfftParams &p) {
  return {ceilDiv(p.channels, lanes<T>), 0,
          2 * p.transformSize * 2 * lanes<T> * static_cast<int64_t>(sizeof(T))};
}
} // namespace cpu

namespace cuda {
/// A thread makes one result of this many channels; a block takes up rfftTile inputs of its
/// channels at a time.
constexpr int rfftChannels = 8, rfftTile = 64, rfftThreads = 128;
/// Of `parts` real inputs.
template <typename T> constexpr Grid rfftGrid(const RfftParams &p, int64_t outputs, int64_t parts) {
  return {ceilDiv(outputs, rfftThreads) * ceilDiv(p.channels, rfftChannels), rfftThreads,
          parts * rfftTile * rfftChannels * static_cast<int64_t>(sizeof(T))};
}
constexpr int64_t spectrumThreads = 256;
/// A thread has a complex number.
constexpr Grid spectrumGrid(const RfftParams &p) {
  return {ceilDiv((p.points / 2 + 1) * p.channels, spectrumThreads), spectrumThreads};
}
} // namespace cuda

/// Buffers: x [points, channels], re, im [points/2 + 1, channels], all dense; on the CPU also
/// twiddles (FFT.h).
struct Rfft : KernelOf<RfftParams, "rfft", 1, 2> {
  HYBRID_ON_CPU(cpu::rfftGrid<T>(p))
  HYBRID_ON_CUDA(cuda::rfftGrid<T>(p, p.points / 2 + 1, 1))
};

/// Buffers: re, im, x; on the CPU also twiddles.
struct Irfft : KernelOf<RfftParams, "irfft", 2> {
  HYBRID_ON_CPU(cpu::rfftGrid<T>(p))
  HYBRID_ON_CUDA(cuda::rfftGrid<T>(p, p.points, 2))
};

/// What a library transformed, to re and im, weighted. Buffers: spectrum [points/2 + 1, channels,
/// 2], re, im.
struct RfftSplit : KernelOf<RfftParams, "rfft_split", 1, 2> {
  HYBRID_ON_CUDA(cuda::spectrumGrid(p))
};

/// What a library makes x of: of its sum over all bins, ours is over half of them. Buffers: re, im,
/// spectrum.
struct IrfftJoin : KernelOf<RfftParams, "irfft_join", 2> {
  HYBRID_ON_CUDA(cuda::spectrumGrid(p))
};

} // namespace hybrid
