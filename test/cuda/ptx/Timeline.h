//===- Timeline.h - how long a block takes alone ----------------------------===//
//
// When each instruction of a warp can go at the earliest: after what it reads is there. Within a
// stretch without branches the assembler moves instructions as dependences allow, but no load in
// front of a store that may be to its address; no instruction goes before one in front of a
// branch. So the time of a block that has a multiprocessor, all its
// units included, to itself: what more blocks cannot shorten, and what too few blocks leave
// waiting.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "test/cuda/ptx/Program.h"

namespace hybrid::ptx {

/// Cycles from an instruction to one that reads its result. Global memory twice: where all of it is
/// in the L2 cache, and where none of it is.
struct Latencies {
  uint32_t fma, alu, fp64, xu, shared, tensor, parameter, branch, barrier;
  std::array<uint32_t, 2> global;
};
/// Of the H100: Luo et al., "Dissecting the NVIDIA Hopper Architecture through Microbenchmarking
/// and Multiple Level Analysis" (arXiv 2501.12084), rounded; branch and barrier are estimates.
constexpr Latencies hopperLatencies{4, 4, 8, 18, 29, 33, 8, 10, 20, {270, 560}};

using Cycles = std::array<uint64_t, 2>; ///< as Latencies::global

/// Of a warp.
class Timeline {
public:
  void begin(const Program &program);
  /// `active`: whether it does anything in some lane.
  void issue(const Instruction &in, bool active);
  /// All warps of the block are at a barrier, the last of them at `when`.
  void resume(Cycles when);
  /// When it is at the barrier that it went to last: loads that nobody waits for yet do not hold
  /// it.
  Cycles arrived() const { return start; }
  /// When all that was begun is there.
  Cycles last() const;

private:
  void closeStretch(Cycles atLeast);
  /// All groups but the last so many are there.
  void waitFor(std::vector<Cycles> &all, size_t but, Cycles when);
  /// Waits for the stores of a stretch in front of a load, and notes stores.
  void keepOrder(const Instruction &in, Cycles &when);
  /// When the last store of a stretch to one kind of memory goes: with this register as its
  /// address, from which the assembler tells offsets apart, and with any other.
  struct Stores {
    uint32_t base = 0;
    Cycles withBase{}, others{};
  };
  const Program *program = nullptr;
  std::vector<Cycles> ready; ///< by index of a row
  Cycles start{};            ///< of the stretch: nothing of it goes before
  Cycles latest{};           ///< when the last instruction so far goes
  uint64_t issued = 0;       ///< instructions of the stretch: one a cycle
  Cycles done{}, copied{};   ///< when results, and copies of no group yet, are there
  std::vector<Cycles> groups;
  /// wgmma: when the matrix units have taken what was begun, and when sums of no group yet, and of
  /// groups, are there.
  Cycles taken{}, multiplied{};
  std::vector<Cycles> productGroups;
  std::array<Stores, 2> stores; ///< to global memory; to shared and local
};

} // namespace hybrid::ptx
