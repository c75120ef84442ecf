//===- ShortConv.h - contract of short convolutions -------------------------===//
//
// y[t,c] = b[c] + sum_j w[c,j] x[t-(K-1)+j, c]; x at t<0 comes from initialState [batch, K-1,
// channels] (oldest first) if hasState, else 0. With segments (int32 [batch, length]) a tap counts
// only where segments[t-(K-1)+j] == segments[t]; the state belongs to the segment of t = 0.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernel.h"

namespace hybrid {

struct ShortConvParams {
  int64_t batch, length, channels, taps, xStride, yStride /* also dy */, dxStride, rowsPerItem;
  int64_t hasBias, hasSegments, hasState, hasFinalState;
  int64_t activation;  // 1: SiLU applied to y (backward recomputes the pre-activation)
  int64_t repeats;     // CUDA: > 0: x has only the first so many channels, the others repeat them
  int64_t sumsRepeats; // CUDA, backward, without states: so has dx, their sums
  int64_t together;    // CUDA: 2: neighbouring channels that a thread moves at once
  HYBRID_FIELDS(batch, length, channels, taps, xStride, yStride, dxStride, rowsPerItem, hasBias,
                hasSegments, hasState, hasFinalState, activation, repeats, sumsRepeats, together)
};

/// Stretches of rowsPerItem rows of a sequence.
constexpr int64_t shortConvItems(const ShortConvParams &p) {
  return p.batch * ceilDiv(p.length, p.rowsPerItem);
}

namespace cuda {
/// Taps up to which windows are kept in registers; longer filters read inputs again, from L1.
constexpr int64_t shortConvWindow = 8;

/// Channels of a thread: neighbours, and those whose gradients it adds up.
constexpr int64_t neighboursOfThread(const ShortConvParams &p) { return p.together > 1 ? 2 : 1; }
constexpr int64_t repeatsOfThread(const ShortConvParams &p) {
  return p.sumsRepeats ? p.channels / p.repeats : 1;
}
/// Threads for the channels of a row.
constexpr int64_t threadsOfChannels(const ShortConvParams &p) {
  return ceilDiv(p.channels / repeatsOfThread(p), neighboursOfThread(p));
}
/// A block takes the channels of so many threads, of the rows of an item: all blocks of about as
/// many, as those that are left over would be idle. Items are numbered with blocks of channels
/// fastest.
constexpr int64_t channelBlocks(const ShortConvParams &p) {
  return ceilDiv(threadsOfChannels(p), 256);
}
constexpr int threads(const ShortConvParams &p) {
  return static_cast<int>(ceilDiv(ceilDiv(threadsOfChannels(p), channelBlocks(p)), 32) * 32);
}
constexpr Grid shortConvGrid(const ShortConvParams &p) {
  return {shortConvItems(p) * channelBlocks(p), threads(p)};
}
} // namespace cuda

/// rowsPerItem: on the CPU long enough that the taps' halo is small, short enough for many items.
/// On CUDA the K - 1 rows an item reads beside its own, and the partial sums of the backward pass
/// (K + 1 rows of them), should be few against its own; but a GPU is full with about a thousand
/// blocks only.
struct ShortConvRows {
  template <typename T> static constexpr int64_t onCpu(const ShortConvParams &p) {
    return p.length < 128 ? p.length : 128;
  }
  template <typename T> static constexpr int64_t onCuda(const ShortConvParams &p) {
    int64_t rows = 64;
    auto blocks = [&](int64_t rows) {
      return p.batch * ceilDiv(p.length, rows) * cuda::channelBlocks(p);
    };
    while (rows > 16 && blocks(rows) * cuda::repeatsOfThread(p) < 1024)
      rows /= 2;
    return rows < p.length ? rows : p.length;
  }
};

/// together, of rows that `alignment` channels at a time can be moved of. Longer filters take a
/// channel a thread, and so do gradients of many repeats, which have its registers.
struct ShortConvTogether {
  template <typename T> static constexpr int64_t onCpu(const ShortConvParams &, int64_t) {
    return 1;
  }
  template <typename T>
  static constexpr int64_t onCuda(const ShortConvParams &p, int64_t alignment) {
    return p.taps <= cuda::shortConvWindow && alignment > 1 && p.repeats % 2 == 0 &&
                   cuda::repeatsOfThread(p) <= 2
               ? 2
               : 1;
  }
};

/// Buffers: x, w [channels, taps], b (optional), segments (optional), initialState (optional),
/// finalState (optional, [batch, K-1, channels]), y, a store. An item is a stretch of rows, on CUDA
/// of a block of channels. finalState holds the last K-1 inputs, zero where their segment is not
/// that of the last row.
struct ShortConvForward : KernelOf<ShortConvParams, "short_conv_forward", 5> {
  HYBRID_ACTIVATIONS(0, 6)
  HYBRID_ON_CPU(shortConvItems(p))
  HYBRID_ON_CUDA(cuda::shortConvGrid(p))
};

/// Buffers: x, w, segments (optional), initialState (optional), dy, dFinalState (optional),
/// dInitialState (optional), partial, bias (read only if activation and hasBias), dx, a store.
/// Items as forward; partial is [stretches, taps + 1, channels]: dw sums tap by tap, then db sums
/// (reduced by sum_partials; a small transpose brings [taps, channels] to [channels, taps]).
struct ShortConvBackward : KernelOf<ShortConvParams, "short_conv_backward", 6, 7> {
  HYBRID_ACTIVATIONS(0, 4, 9)
  HYBRID_ON_CPU(shortConvItems(p))
  HYBRID_ON_CUDA(cuda::shortConvGrid(p))
};

} // namespace hybrid
