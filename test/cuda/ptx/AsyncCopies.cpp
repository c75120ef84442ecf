//===- AsyncCopies.cpp - cp.async and its groups ----------------------------===//
//
// Bytes arrive as late as they may: in the wait for their group. Until then a read of them, or a
// write over them, is a finding.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/Lanes.h"
#include "test/cuda/ptx/MemoryChecks.h"
#include <algorithm>

namespace hybrid::ptx {

static void issueCopy(Warp &warp, const Instruction &in, uint32_t mask) {
  for (size_t i = 0; i < 4; ++i)
    warp.requireDefined(in, in.at[i], mask, "copies by");
  const LaneAddresses to = addressesOf(warp, in, 0, 0, in.narrow[0]),
                      from = addressesOf(warp, in, 1, 1, in.narrow[1]);
  const int lane = std::countr_zero(mask);
  const uint64_t bytes = warp.cells<uint32_t>(in.at[2])[lane];
  const uint32_t *read = warp.cells<uint32_t>(in.at[3]);
  uint32_t reading = 0, poison = 0;
  forLanes(mask, [&](int i) { reading |= static_cast<uint32_t>(read[i] != 0) << i; });
  uint32_t good = checkShared(warp, in, mask, to, bytes, Shadow::Access::BeginCopy, poison);
  if (reading)
    good &= ~reading | checkGlobal(warp, in, reading, from, bytes, false);
  forLanes(good, [&](int i) {
    const auto at = static_cast<size_t>(i);
    warp.copies.push_back({i, warp.commits[at], to[at], from[at], static_cast<int>(bytes),
                           static_cast<int>(std::min<uint64_t>(read[i], bytes)), &in});
  });
}
const Instruction::Run copyAsync = &issueCopy;

static void commit(Warp &warp, const Instruction &, uint32_t mask) {
  forLanes(mask, [&](int lane) { ++warp.commits[static_cast<size_t>(lane)]; });
}

/// All groups of a lane but the last so many.
static void complete(Warp &warp, const Instruction &in, uint32_t mask, uint32_t but) {
  auto isDue = [&](const PendingCopy &copy) {
    return (mask >> copy.lane & 1) &&
           copy.group + but < warp.commits[static_cast<size_t>(copy.lane)];
  };
  for (const PendingCopy &copy : warp.copies) {
    if (!isDue(copy))
      continue;
    LaneAddresses to{};
    to[static_cast<size_t>(copy.lane)] = copy.shared;
    uint32_t poison = 0;
    checkShared(warp, in, 1u << copy.lane, to, static_cast<uint64_t>(copy.bytes),
                Shadow::Access::EndCopy, poison);
    std::byte *shared = warp.block->shared + copy.shared;
    std::memset(shared, 0, static_cast<size_t>(copy.bytes));
    std::memcpy(shared, reinterpret_cast<const void *>(copy.global),
                static_cast<size_t>(copy.read));
  }
  std::erase_if(warp.copies, isDue);
}

static void waitForGroups(Warp &warp, const Instruction &in, uint32_t mask) {
  complete(warp, in, mask, warp.cells<uint32_t>(in.at[0])[std::countr_zero(mask)]);
}

static void waitForAll(Warp &warp, const Instruction &in, uint32_t mask) {
  commit(warp, in, mask);
  complete(warp, in, mask, 0);
}

void addCopies(Operations &all) {
  all["cp.async.commit_group"] = {&commit, Pipe::Memory, {}};
  all["cp.async.wait_group"] = {&waitForGroups, Pipe::Memory, {Width::Word}};
  all["cp.async.wait_all"] = {&waitForAll, Pipe::Memory, {}};
}

} // namespace hybrid::ptx
