//===- RfftLaunch.h - the grid of transforms of any size --------------------===//
#pragma once
#include "codegen/kernels/Kernels.h"

namespace hybrid::cuda {

/// A thread makes one result of this many channels; a block has 128 threads, and takes up
/// rfftTile inputs of its channels at a time.
constexpr int rfftChannels = 8, rfftTile = 64;
constexpr int threads(const RfftParams &) { return 128; }
constexpr int64_t blocks(const RfftParams &p, int64_t outputs) {
  return ceilDiv(outputs, 128) * ceilDiv(p.channels, rfftChannels);
}
/// Of `parts` real inputs: rfft 1, irfft 2.
template <typename T> constexpr int64_t rfftShared(int64_t parts) {
  return parts * rfftTile * rfftChannels * static_cast<int64_t>(sizeof(T));
}

} // namespace hybrid::cuda
