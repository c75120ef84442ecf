//===- FFTConvToeplitz.h - contract of convolutions as matrix products ------===//
//
// On CUDA, of short sequences in programs that may round operands; and the rule that chooses
// between all ways.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/FFTConv.h"

namespace hybrid {

/// splits: parts of the batch; each is walked by one block, and its gradient of the filter is
/// summed apart. alignment: elements that divide where rows of activations begin, the channels and
/// the strides; lanes: channels of a block.
///
/// x and gates may be results of a short convolution (ShortConv.h, without segments and states)
/// that nobody has stored: hasShortX and so on say which. Their buffers and strides are those of
/// its input, they begin at its channel xChannel and so on, and it has shortTaps and `repeats`.
struct ToeplitzConvParams {
  int64_t batch, length, channels, taps, splits;
  int64_t xStride, gateInStride, gateOutStride, yStride /* also dy */, dxStride, dGateInStride,
      dGateOutStride;
  int64_t hasSkip, hasGateIn, hasGateOut, alignment, lanes;
  int64_t hasShortX, hasShortGateIn, hasShortGateOut, hasShortBias;
  int64_t shortTaps, repeats, xChannel, gateInChannel, gateOutChannel;
  HYBRID_FIELDS(batch, length, channels, taps, splits, xStride, gateInStride, gateOutStride,
                yStride, dxStride, dGateInStride, dGateOutStride, hasSkip, hasGateIn, hasGateOut,
                alignment, lanes, hasShortX, hasShortGateIn, hasShortGateOut, hasShortBias,
                shortTaps, repeats, xChannel, gateInChannel, gateOutChannel)
};

/// An operand of them: 0 x, 1 gateIn, 2 gateOut.
struct ToeplitzOperand {
  int64_t stride, isShort, channel;
};
constexpr ToeplitzOperand toeplitzOperand(const ToeplitzConvParams &p, int index) {
  return index == 0   ? ToeplitzOperand{p.xStride, p.hasShortX, p.xChannel}
         : index == 1 ? ToeplitzOperand{p.gateInStride, p.hasShortGateIn, p.gateInChannel}
                      : ToeplitzOperand{p.gateOutStride, p.hasShortGateOut, p.gateOutChannel};
}

namespace cuda {

/// The longest sequences that are multiplied by a Toeplitz matrix.
///
/// What it takes is in docs/decisions/046. Before it was built, by count, in microseconds of an
/// H200 (4.3 TB/s, 500 TFLOP/s of mma.sync, 33 TFLOP/s of f32, 33 TB/s of shared memory), of a
/// gated convolution of 8M values with 512 channels; "all" are predictions, with what a block's
/// steps do not hide of each other:
///
///                           memory | Toeplitz: units, shared, all | transforms: f32, shared, all
///   L = 128, B = 128  forward   31 |              5       8    36 |              20      16   50
///                     backward  55 |             12      19    70 |              43      36  115
///   L = 256, B = 64   forward   31 |              9      15    40 |              23      16   52
///                     backward  55 |             23      33    90 |              50      36  120
///   L = 512, B = 32   backward  55 |             45      61   130 |              56      36  125
///
/// units: 2 (L + 16) FLOP a value forward, 2.6 times that backward. Also, a program has one launch
/// less each way: no spectrum, and the filter's gradient is a plain sum. From 512 on the sums of
/// the filter's gradient would not fit into registers.
///
/// In f32 programs three products of bf16 leave 5e-6 of a result, too near to the 1e-5 that such
/// programs are held to. Three of tf32 are as good as transforms, but are 3 times the units and
/// twice the shared memory: 42 against 50 forward and 100 against 115 backward at 128, and behind
/// at 256. That is within what counts are off by, so f32 keeps transforms until a GPU says
/// otherwise.
constexpr int64_t longestToeplitz = 256;

/// Channels of a block: a sector of memory, of f32 or of bf16. More take a block of 16 warps to
/// itself, for which sums of the filter's gradient must be few.
constexpr int64_t fewToeplitzLanes = 8, manyToeplitzLanes = 16;
constexpr int64_t toeplitzRows = 8; // sequences that a block takes at a time: a fragment's columns

/// Taps of a short convolution whose results are computed where they are read: they and a bias are
/// a vector of shared memory. More also load more positions in front of those that a thread has.
constexpr int64_t mostShortTaps = 3;

//===-- Tiles of 16 positions, and panels of tiles -----------------------------===//

/// Tiles of a panel: what a warp holds in registers of a signal, and of a result. A word of the
/// filter is read once for as many products. Four, where a sequence is not padded for them.
constexpr int64_t panelTiles(const ToeplitzConvParams &p) {
  return p.length <= 16 ? 1 : (p.length + 31) / 32 % 2 != 0 ? 2 : 4;
}
constexpr int64_t panelLength(const ToeplitzConvParams &p) { return 16 * panelTiles(p); }
constexpr int64_t panels(const ToeplitzConvParams &p) {
  return (p.length + panelLength(p) - 1) / panelLength(p);
}
constexpr int64_t paddedLength(const ToeplitzConvParams &p) { return panels(p) * panelLength(p); }

/// Words of a sequence in a panel, two positions each. An odd multiple of four: lanes of a warp are
/// in different banks whether they read along sequences or along positions.
constexpr int64_t signalWords(const ToeplitzConvParams &p) { return panelLength(p) / 2 + 4; }
/// Of a result, f32.
constexpr int64_t resultWords(const ToeplitzConvParams &p) { return panelLength(p) + 4; }
/// Channels that a thread moves together, if they are aligned; else one. Sums of the gradient of a
/// long filter leave registers to few.
constexpr int64_t toeplitzWidth(const ToeplitzConvParams &p) {
  return p.alignment % 4 != 0 ? 1 : paddedLength(p) > 128 ? 2 : 4;
}
/// Of a panel of one channel, that holds a signal and later a result.
constexpr int64_t panelWords(const ToeplitzConvParams &p) {
  return toeplitzRows * (signalWords(p) > resultWords(p) ? signalWords(p) : resultWords(p));
}
/// Threads that share a block's channels at a position.
constexpr int64_t toeplitzThreadsOfPlace(const ToeplitzConvParams &p) {
  return p.lanes / toeplitzWidth(p);
}
/// For 16 x 8 sums of the filter's gradient that a warp adds along diagonals, at the end: rows are
/// in different banks.
constexpr int64_t toeplitzScratch = 16 * 9;
/// Of a channel's panels, in the order in which a warp's threads have them: first one of each
/// thread that shares a position. Their words at a position are as many banks apart as a warp has
/// positions, so that they are in different ones.
constexpr int64_t channelWords(const ToeplitzConvParams &p) {
  const int64_t words = panels(p) * panelWords(p),
                least = ceilDiv(32 + toeplitzScratch, 32) * 32; // what one tile needs at the end
  return (words > least ? words : least) + 32 / toeplitzThreadsOfPlace(p);
}
/// A channel's filter: from so many words in front of the first tap as the lowest fragment begins
/// at, to the last position.
constexpr int64_t toeplitzFront = 14;
constexpr int64_t filterWords(const ToeplitzConvParams &p) {
  return paddedLength(p) + toeplitzFront;
}
/// Four banks less than a multiple of all.
constexpr int64_t filterStride(const ToeplitzConvParams &p) { return 2 * filterWords(p); }

constexpr int64_t sharedBytes(const ToeplitzConvParams &p, int64_t signals) {
  return p.lanes * (filterStride(p) + signals * channelWords(p)) * 4;
}

//===-- Launches ---------------------------------------------------------------===//

/// Warps of a channel: backward two where one would have too many sums of the filter's gradient.
constexpr int toeplitzWarps(const ToeplitzConvParams &p, bool backward) {
  return backward && paddedLength(p) > 128 ? 2 : 1;
}
constexpr int toeplitzThreads(const ToeplitzConvParams &p, bool backward) {
  return 32 * static_cast<int>(p.lanes) * toeplitzWarps(p, backward);
}
constexpr int64_t toeplitzGroups(const ToeplitzConvParams &p) {
  return (p.channels + p.lanes - 1) / p.lanes;
}
constexpr int64_t toeplitzRowTiles(const ToeplitzConvParams &p) {
  return (p.batch + toeplitzRows - 1) / toeplitzRows;
}
/// Rows of the batch that a block walks over.
constexpr int64_t rowsOfSplit(const ToeplitzConvParams &p) {
  return (toeplitzRowTiles(p) + p.splits - 1) / p.splits * toeplitzRows;
}
/// Forward: two steps a block, which share the filter's fragments, once blocks are many.
constexpr int64_t toeplitzForwardSplits(const ToeplitzConvParams &p) {
  const int64_t tiles = toeplitzRowTiles(p), half = (tiles + 1) / 2;
  return toeplitzGroups(p) * half >= 8 * gridProcessors ? half : tiles;
}
constexpr int64_t toeplitzBackwardSplits(const ToeplitzConvParams &p) {
  return fftconvSplits(toeplitzRowTiles(p), toeplitzGroups(p),
                       fftconvBlocksAtOnce(toeplitzThreads(p, true), sharedBytes(p, 2)));
}

} // namespace cuda

/// Channels of a block, forward and backward: as many as fill a sector in bf16 where that many are
/// there, threads have several, and they fit, with one warp a channel.
struct ToeplitzLanes {
  template <typename T>
  static constexpr int64_t onCuda(ToeplitzConvParams p, bool backward, int64_t mostShared) {
    p.lanes = cuda::manyToeplitzLanes;
    const bool fits = cuda::sharedBytes(p, backward ? 2 : 1) <= mostShared &&
                      cuda::toeplitzWarps(p, backward) == 1;
    return fits && cuda::toeplitzWidth(p) > 1 && p.channels % p.lanes == 0 ? cuda::manyToeplitzLanes
                                                                           : cuda::fewToeplitzLanes;
  }
};

/// Splits of the batch, forward and backward.
struct ToeplitzSplits {
  template <typename T>
  static constexpr int64_t onCuda(const ToeplitzConvParams &p, bool backward) {
    return backward ? cuda::toeplitzBackwardSplits(p) : cuda::toeplitzForwardSplits(p);
  }
};

/// Buffers: x, filter, skip (optional), gateIn (optional), gateOut (optional), the short
/// convolution's weight [its channels, its taps] (optional) and bias (optional), y, a store.
struct ToeplitzConvForward : KernelOf<ToeplitzConvParams, "toeplitz_conv_forward"> {
  HYBRID_ACTIVATIONS(0, 3, 4, 7)
  HYBRID_ON_CUDA(cuda::toeplitzGroups(p) * p.splits, cuda::toeplitzThreads(p, false),
                 cuda::sharedBytes(p, 1))
};

/// Buffers: the first seven of forward, dy, dx, partial [splits, taps, channels], dGateIn
/// (optional), dGateOut (optional). The gradient of the skip term is that of the first tap; those
/// of x and gates are with respect to a short convolution's results.
struct ToeplitzConvBackward : KernelOf<ToeplitzConvParams, "toeplitz_conv_backward", 8, 9, 10, 11> {
  HYBRID_ACTIVATIONS(0, 3, 4, 7, 8, 10, 11)
  HYBRID_ON_CUDA(cuda::toeplitzGroups(p) * p.splits, cuda::toeplitzThreads(p, true),
                 cuda::sharedBytes(p, 2))
};

/// How a convolution is computed.
enum class ConvAlgorithm {
  Toeplitz,
  Blocks, // FFTConv.h
  Parts,  // FFTConvParts.h
};

namespace cuda {
/// The rule. p: with the lanes of fftconvLanes(); signals: 1 forward, 2 backward; rounds: whether
/// products may round their operands to bf16; mostShared: bytes a block may have.
constexpr ConvAlgorithm convAlgorithm(const FFTConvParams &p, int64_t signals, bool rounds,
                                      int64_t mostShared) {
  ToeplitzConvParams toeplitz{};
  toeplitz.length = p.length, toeplitz.lanes = fewToeplitzLanes;
  // A segment's matrix would be another one for each sequence.
  if (rounds && !p.hasSegments && p.length <= longestToeplitz &&
      sharedBytes(toeplitz, signals) <= mostShared)
    return ConvAlgorithm::Toeplitz;
  return p.lanes > 0 ? ConvAlgorithm::Blocks : ConvAlgorithm::Parts;
}
} // namespace cuda

/// The one place that chooses; sets `lanes`.
struct ChooseConvolution {
  template <typename T>
  static constexpr ConvAlgorithm onCpu(FFTConvParams &, int64_t /*signals*/, bool /*rounds*/,
                                       int64_t /*mostShared*/) {
    return ConvAlgorithm::Blocks;
  }
  template <typename T>
  static constexpr ConvAlgorithm onCuda(FFTConvParams &p, int64_t signals, bool rounds,
                                        int64_t mostShared) {
    p.lanes = cuda::fftconvLanes(p, signals, fftconvElements(sizeof(T), rounds), mostShared);
    return cuda::convAlgorithm(p, signals, rounds && sizeof(T) == 4, mostShared);
  }
};

} // namespace hybrid
