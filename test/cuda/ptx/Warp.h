//===- Warp.h - 32 threads that go together ---------------------------------===//
#pragma once
#include "test/cuda/ptx/Timeline.h"
#include <cstring>

namespace hybrid::ptx {

struct Block;

constexpr int warpLanes = 32;
constexpr uint32_t allLanes = 0xffffffffu;

/// Lanes on a path: they run from `next` and are done with it at `join`.
struct Path {
  uint32_t next, join, lanes;
};

/// Bytes that cp.async is to copy, of one lane.
struct PendingCopy {
  int lane;
  uint32_t group; ///< the lane's commits before it
  uint64_t shared, global;
  int bytes, read;
  const Instruction *issued;
};

/// A wgmma that is not waited for: what it reads must stay, and its sums are not there.
struct PendingProduct {
  const Instruction *issued;
  uint32_t group;              ///< the warp's commits before it
  uint64_t when;               ///< Block::issued
  std::vector<uint32_t> units; ///< of 16 bytes of shared memory that it reads
  std::array<std::array<uint32_t, warpLanes>, 4> rows; ///< what registers of A have
};

/// wgmma of a warp.
struct WarpProducts {
  std::vector<PendingProduct> pending;
  std::vector<uint32_t> sums; ///< by index of a row: how many pending ones add to it
  uint32_t commits = 0;
  bool fenced = false;               ///< since it last waited
  const Instruction *last = nullptr; ///< that was begun
  uint64_t history = 0;              ///< of what all have multiplied
};

/// Its registers are rows. A lane of a register is poison when its value depends on what was never
/// written; poison is copied, and an error where it decides something: in an address, a branch, an
/// exchange, a product of matrices or a store to global memory.
struct Warp {
  Block *block = nullptr;
  int number = 0;
  std::byte *rows = nullptr;
  std::vector<uint32_t> poison; ///< by index of a row, a bit a lane
  uint32_t carry = 0, carryPoison = 0;
  std::vector<Path> paths;            ///< the last one runs
  uint32_t present = 0;               ///< lanes that the block has
  uint32_t left = 0;                  ///< lanes that have returned
  uint32_t early = 0;                 ///< lanes that have not waited for the launch before
  uint32_t unordered = 0;             ///< lanes that have met no condition behind that wait
  bool waits = false;                 ///< at a barrier
  uint16_t epoch = 0;                 ///< barriers of the warp
  std::vector<std::byte> frames;      ///< local memory, a lane after the other
  std::vector<uint32_t> framesPoison; ///< by byte of a frame, a bit a lane
  std::vector<PendingCopy> copies;
  std::array<uint32_t, warpLanes> commits{};
  WarpProducts products;
  Timeline timeline;

  template <typename T> T *cells(Row row) { return reinterpret_cast<T *>(rows + row.offset); }
  uint32_t bits(Row row) { return *cells<uint32_t>(row); }
  void setBits(Row row, uint32_t mask, uint32_t bits) {
    uint32_t *to = cells<uint32_t>(row);
    *to = (*to & ~mask) | (bits & mask);
  }
  void setPoison(Row row, uint32_t mask, uint32_t bits) {
    uint32_t &to = poison[row.index];
    to = (to & ~mask) | (bits & mask);
  }
  /// Complains when one of these lanes of a register is poison.
  bool requireDefined(const Instruction &in, Row row, uint32_t mask, const char *use);
  /// Complains when not all lanes that it is for take part in an exchange.
  bool requireTogether(const Instruction &in, uint32_t mask, uint32_t members);

  void begin(const Program &program, int threads);
  /// Until it returns, waits at a barrier, has run `most` instructions, or the launch stops.
  void run(const Program &program, uint64_t most);
  bool isDone() const { return paths.empty(); }

private:
  bool branch(const Instruction &in, uint32_t taken);
  void leaveFinishedPaths();
};

} // namespace hybrid::ptx
