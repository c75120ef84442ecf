//===- Limits.h - what an executable may be ----------------------------------===//
//
// Bounds that hybridc keeps to and the loader insists on: what was compiled is never refused for
// its size. No sane executable meets them; they keep a hostile one from costing memory or time.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>

namespace hybrid {

/// The format that hybridc writes and the newest that a runtime reads (Executable.fbs).
constexpr unsigned formatMajor = 8;

/// Bytes of a space, over all replicas.
constexpr uint64_t mostSpaceBytes = uint64_t(1) << 40;
/// Buffers over all kernel launches.
constexpr uint64_t mostBuffers = uint64_t(1) << 24;
/// Buffers of one kernel launch on the CPU.
constexpr unsigned mostLaunchBuffers = 4096;
/// The same on a GPU, where they are parameters of the kernel, and what a block of it may have.
constexpr unsigned mostBlockBuffers = 64;
constexpr int mostBlockThreads = 1024;
constexpr uint64_t mostSharedBytes = 227 << 10;
/// Work items of a launch, and rows of a loop.
constexpr int64_t mostItems = int64_t(1) << 48;
/// Blocks of a launch on a GPU.
constexpr int64_t mostBlocks = (int64_t(1) << 31) - 1;
/// Launches of tiles on a GPU, over all loops.
constexpr int64_t mostTileSteps = int64_t(1) << 20;
constexpr int64_t mostAttentionSize = int64_t(1) << 31;
/// Points of a transform by a library, and transforms side by side.
constexpr int64_t mostTransformSize = int64_t(1) << 31;
/// Ranks that have parts of one sequence.
constexpr int mostRanks = 1 << 16;
/// Branches of a program on a GPU.
constexpr unsigned mostBranches = 3;
constexpr unsigned mostNameBytes = 512, mostRank = 16;

} // namespace hybrid
