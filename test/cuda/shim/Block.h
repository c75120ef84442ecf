//===- Block.h - what a thread of a CUDA block finds on the CPU -------------===//
//
// The threads of a block are fibers of one CPU thread. Their stacks lie in one region whose address
// is a multiple of its size, and the region begins with the block's data: a kernel finds them from
// its stack pointer alone. So a code image for the tests' driver needs no symbol of the driver.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>

namespace hybrid::shim {

/// Grows when Block, or what calls a kernel, changes. Every image exports it as hybrid_shim_abi.
constexpr int abiVersion = 2;

constexpr int maximumThreads = 1024;
/// Of a block on sm_90: 228 KB less one that the system takes.
constexpr int64_t maximumSharedBytes = 227 * 1024;

/// Bytes of address space for one fiber: room for the block's data in the first, a guard that no
/// access survives, then the stack.
constexpr uintptr_t fiberBytes = 256 * 1024;
constexpr uintptr_t regionBytes = maximumThreads * fiberBytes;

/// Where a thread can wait for others, or end. All lanes of a warp must come to the same. After the
/// last three a block does not go on.
enum class Stop : int {
  Returned,
  BlockBarrier,
  WarpBarrier,
  Shuffle,
  Matrix,
  Misaligned,
  OutOfBounds,
  Race
};

/// What the lanes of a warp show to each other in one exchange.
union alignas(64) Exchange {
  uint64_t values[32];
  /// Operands of a matrix product, rows of a and columns of b with k innermost.
  struct {
    float a[16][16], b[8][16];
  } matrix;
};

struct Block {
  /// The thread that runs now. Set again whenever a thread goes on after a stop.
  uint32_t thread;
  uint32_t threads;
  uint32_t index, blocks; ///< along x of the grid
  uint32_t row, rows;     ///< along y
  unsigned char *sharedMemory;
  /// Of the warp that runs now. Stays readable for a lane until its next stop, and is not used for
  /// the exchange after this one.
  Exchange *exchange;
  /// Lets the other threads run up to the same stop. Does not return when they do not reach it.
  void (*stop)(Block &, Stop);
  /// Called before accesses of memory by kernels compiled to find races.
  void (*access)(Block &, const void *address, uint32_t bytes, bool write);
  /// Copies of the running thread: starts one, and ends all but those of the last `pending` groups.
  void (*startCopy)(Block &, void *to, const void *from, uint32_t bytes);
  void (*commitCopies)(Block &);
  void (*waitCopies)(Block &, uint32_t pending);
};

/// The block of the calling fiber.
__attribute__((always_inline)) inline Block &block() {
  return *reinterpret_cast<Block *>(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) &
                                    ~(regionBytes - 1));
}

} // namespace hybrid::shim
