//===- RaceCheck.h - finds races in the shared memory of a block ------------===//
#pragma once
#include "test/cuda/shim/Block.h"
#include <string>
#include <vector>

namespace hybrid::shim {

/// Remembers who read and wrote each byte of shared memory last. Two accesses, one of them a write,
/// by different threads are a race unless a block barrier lies between, or a warp barrier when both
/// threads are of one warp. As on a GPU, shuffles and matrix products order no memory.
class RaceCheck {
public:
  /// Called when all threads have passed a block barrier, and before each block.
  void blockBarrier() { ++epoch; }
  void warpBarrier(uint32_t warp) { ++warpEpochs[warp]; }
  /// Whether kernels report accesses at all.
  bool active() const { return !memory.empty(); }
  /// Says what is wrong with this access, or nothing.
  std::string access(uint32_t thread, int64_t byte, uint32_t bytes, bool write);

private:
  static constexpr uint16_t none = 0xffff, several = 0xfffe;
  struct Access {
    uint16_t thread = none, warp = none; ///< the last, or several that nothing orders
    uint32_t epoch = 0, warpEpoch = 0;
  };
  struct Byte {
    Access read, write;
  };
  bool ordered(const Access &before, uint32_t thread) const;
  void remember(Access &record, uint32_t thread);

  uint32_t epoch = 0;
  uint32_t warpEpochs[maximumThreads / 32] = {};
  std::vector<Byte> memory;
};

} // namespace hybrid::shim
