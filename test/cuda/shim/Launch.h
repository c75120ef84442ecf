//===- Launch.h - runs the blocks of a CUDA kernel on the CPU ---------------===//
#pragma once
#include "test/cuda/shim/Block.h"
#include <string>
#include <string_view>

namespace hybrid::shim {

/// A grid: `body(context, block)` is called by every thread of every block, on a fiber.
struct Grid {
  std::string_view kernel; ///< for messages
  int64_t blocks;
  int threads;         ///< of a block: a multiple of 32, at most 1024
  int64_t sharedBytes; ///< of a block, at most 227 KB
  void (*body)(void *context, int64_t block);
  void *context;
  int64_t rows = 1; ///< along y, each of `blocks`
};

/// Runs all blocks. Empty, or what a GPU would do wrong or never finish, naming kernel and block:
/// threads that part at a barrier or an exchange, writes beyond the shared memory, a launch that no
/// GPU takes. The blocks after a failed one do not run.
///
/// Shared memory begins as bytes 0xff, not a number in every format. HYBRID_SHIM_ORDER is the order
/// in which threads run from one stop to the next: forward, reverse, or a number that seeds a
/// shuffle of warps and lanes. Results must not depend on it.
[[nodiscard]] std::string run(const Grid &grid);

/// The block that the calling CPU thread runs, or null.
Block *runningBlock();

/// run() for a callable `body(int64_t block)`.
template <typename Body>
[[nodiscard]] std::string launch(std::string_view kernel, int64_t blocks, int threads,
                                 int64_t sharedBytes, Body &&body, int64_t rows = 1) {
  auto call = [](void *context, int64_t block) {
    (*static_cast<__remove_reference_t(Body) *>(context))(block);
  };
  return run({kernel, blocks, threads, sharedBytes, call,
              const_cast<void *>(static_cast<const volatile void *>(&body)), rows});
}

} // namespace hybrid::shim
