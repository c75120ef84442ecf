//===- ModalFilterLaunch.h - the grid of modal filters ----------------------===//
#pragma once
#include "codegen/kernels/Kernels.h"

namespace hybrid::cuda {

/// Positions of a warp, and of a block of 8.
constexpr int modalStretch = 32;
constexpr int64_t modalPositions = 256;
constexpr int threads(const ModalFilterParams &) { return 256; }
constexpr int64_t modalBlocks(const ModalFilterParams &p) {
  return ceilDiv(p.length, modalPositions);
}
constexpr int64_t blocks(const ModalFilterParams &p) {
  return modalBlocks(p) * ceilDiv(p.channels, 32);
}
/// Of modal_filter_backward: four sums of every thread.
constexpr int64_t modalBackwardShared = 256 * 4 * 8;

} // namespace hybrid::cuda
