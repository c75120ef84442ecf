//===- ModalFilter.h - contract of filters that are sums of exponentials ----===//
#pragma once
#include "codegen/kernels/Kernel.h"

namespace hybrid {

/// y[t, c] = sum over s of Re((re + i im)[s, c] e^((decay + i angle)[s, c] t)), all [states,
/// channels]. Powers are computed in double, afresh every block of positions.
struct ModalFilterParams {
  int64_t length, channels, states;
  HYBRID_FIELDS(length, channels, states)
};

namespace cpu {
constexpr int64_t modalFilterBlock = 64; // positions
} // namespace cpu

namespace cuda {
/// Positions of a warp, and of a block of 8.
constexpr int modalStretch = 32;
constexpr int64_t modalPositions = 256, modalThreads = 256;
} // namespace cuda

/// Blocks of positions.
struct ModalFilterBlocks {
  template <typename T> static constexpr int64_t onCpu(const ModalFilterParams &p) {
    return ceilDiv(p.length, cpu::modalFilterBlock);
  }
  template <typename T> static constexpr int64_t onCuda(const ModalFilterParams &p) {
    return ceilDiv(p.length, cuda::modalPositions);
  }
};

/// Buffers: decay, angle, re, im, y [length, channels]. An item is a block of positions of a few
/// channels.
struct ModalFilter : KernelOf<ModalFilterParams, "modal_filter", 4> {
  HYBRID_ON_CPU(ModalFilterBlocks::onCpu<T>(p) * ceilDiv(p.channels, lanes<double>))
  HYBRID_ON_CUDA(ModalFilterBlocks::onCuda<T>(p) * ceilDiv(p.channels, 32), cuda::modalThreads)
};

/// Buffers: decay, angle, re, im, dy, partial [blocks, 4, states, channels]: sums of ddecay,
/// dangle, dre, dim over a block of positions. Items as forward.
struct ModalFilterBackward : KernelOf<ModalFilterParams, "modal_filter_backward", 5> {
  HYBRID_ON_CPU(ModalFilter::onCpu<T>(p))
  template <typename T> static constexpr Grid onCuda(const Params &p) {
    Grid grid = ModalFilter::onCuda<T>(p);
    grid.bytes = cuda::modalThreads * 4 * 8; // four sums of every thread
    return grid;
  }
};

} // namespace hybrid
