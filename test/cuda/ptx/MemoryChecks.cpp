//===- MemoryChecks.cpp - whether accesses of memory are right --------------===//
#include "test/cuda/ptx/MemoryChecks.h"
#include "test/cuda/ptx/Lanes.h"
#include <algorithm>

namespace hybrid::ptx {

LaneAddresses addressesOf(Warp &warp, const Instruction &in, size_t operand, size_t which,
                          bool narrow) {
  LaneAddresses to;
  const auto offset = static_cast<uint64_t>(in.offset[which]);
  if (narrow) {
    const uint32_t *from = warp.cells<uint32_t>(in.at[operand]);
    for (size_t lane = 0; lane < warpLanes; ++lane)
      to[lane] = from[lane] + offset;
  } else {
    const uint64_t *from = warp.cells<uint64_t>(in.at[operand]);
    for (size_t lane = 0; lane < warpLanes; ++lane)
      to[lane] = from[lane] + offset;
  }
  return to;
}

static std::string describe(const Warp &warp, int lane) {
  const Block &block = *warp.block;
  std::string text = "thread " + std::to_string(warp.number * warpLanes + lane) + " of block " +
                     std::to_string(block.x);
  return block.launch->blocksY > 1 ? text + ", " + std::to_string(block.y) : text;
}

/// Lanes whose address is a multiple of what they access.
static uint32_t aligned(Warp &warp, const Instruction &in, uint32_t mask,
                        const LaneAddresses &addresses, uint64_t bytes) {
  uint64_t any = 0;
  forLanes(mask, [&](int lane) { any |= addresses[static_cast<size_t>(lane)]; });
  if (!(any & (bytes - 1)))
    return mask;
  uint32_t good = mask;
  forLanes(mask, [&](int lane) {
    if (addresses[static_cast<size_t>(lane)] & (bytes - 1))
      good &= ~(1u << lane);
  });
  const int lane = std::countr_zero(mask & ~good);
  warp.block->report(Finding::Kind::Misaligned, in,
                     describe(warp, lane) + " accesses " + std::to_string(bytes) +
                         " bytes at an address that is " +
                         std::to_string(addresses[static_cast<size_t>(lane)] % bytes) +
                         " more than a multiple");
  return good;
}

/// Says what stands behind a conflict.
static void reportConflict(Warp &warp, const Instruction &in, int lane, Conflict conflict,
                           Shadow::Access access, const Stamp &other, const std::string &where) {
  const std::string who = describe(warp, lane);
  const std::string does = access == Shadow::Access::Read ? " reads " : " writes ";
  const std::string thread = "thread " + std::to_string(Shadow::threadOf(other));
  switch (conflict) {
  case Conflict::WithThread:
    return warp.block->report(Finding::Kind::Race, in,
                              who + does + where + " that " + thread +
                                  " uses with no barrier between");
  case Conflict::WithBlock:
    return warp.block->report(Finding::Kind::BlockRace, in,
                              who + does + where + " that " + thread + " of another block uses");
  case Conflict::Pending:
    return warp.block->report(Finding::Kind::PendingCopy, in,
                              who + does + where + " to which " + thread +
                                  "'s asynchronous copy is not done");
  default:
    return;
  }
}

static const Region *regionOf(const Block &block, Sources sources, uint64_t begin, uint64_t end,
                              size_t &traffic) {
  auto inside = [&](const Region &region) {
    return begin >= region.begin && end <= region.end && begin < end;
  };
  const bool anything = sources == 0;
  for (size_t i = 0; i < block.regions.size(); ++i)
    if ((anything || sources >> i & 1) && inside(block.regions[i])) {
      traffic = i;
      return &block.regions[i];
    }
  traffic = block.regions.size();
  if (anything || (sources & sourceOfVariables))
    for (const Region &region : block.variables)
      if (inside(region))
        return &region;
  return nullptr;
}

/// How far back a block has read what a warp loads; a line as far as the farthest of its sectors.
static void countReuse(Warp &warp, const uint64_t *sectors, size_t count) {
  Block &block = *warp.block;
  size_t ofLine = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t reach = block.reuse.read(sectors[i]);
    ++block.counts->sectorReaches[reach];
    ofLine = std::max(ofLine, reach);
    if (i + 1 < count && sectors[i + 1] / 4 == sectors[i] / 4)
      continue;
    ++block.counts->lineReaches[ofLine];
    ofLine = 0;
  }
}

/// Different parts of 32 bytes, and of 128.
static void countSectors(Warp &warp, uint32_t mask, const LaneAddresses &addresses, size_t traffic,
                         bool isStore) {
  std::array<uint64_t, warpLanes * 2> sectors;
  size_t count = 0;
  uint64_t last = UINT64_MAX;
  bool sorted = true;
  forLanes(mask, [&](int lane) {
    const uint64_t sector = addresses[static_cast<size_t>(lane)] / 32; // no access crosses one
    if (sector == last)
      return;
    sorted &= count == 0 || sector > last;
    sectors[count++] = last = sector;
  });
  if (!sorted) {
    std::sort(sectors.begin(), sectors.begin() + static_cast<long>(count));
    count = static_cast<size_t>(
        std::unique(sectors.begin(), sectors.begin() + static_cast<long>(count)) - sectors.begin());
  }
  uint64_t lines = 0;
  for (size_t i = 0; i < count; ++i)
    lines += i == 0 || sectors[i] / 4 != sectors[i - 1] / 4;
  Counts &counts = *warp.block->counts;
  (isStore ? counts.storeLines : counts.loadLines) += lines;
  ++(isStore ? counts.storeRequests : counts.loadRequests);
  (isStore ? counts.storeSectors : counts.loadSectors) += count;
  if (warp.block->options->reuse && !isStore)
    countReuse(warp, sectors.data(), count);
  if (auto &touched = warp.block->touched; !touched.empty()) {
    std::vector<uint64_t> &of = touched[traffic][isStore];
    of.insert(of.end(), sectors.begin(), sectors.begin() + static_cast<long>(count));
  }
}

/// How often the 32 banks of 4 bytes are asked: lanes go 32, 16 or 8 at a time so that no more than
/// 128 bytes are asked for, and of a bank's words one each time.
static void countWavefronts(Warp &warp, uint32_t mask, const LaneAddresses &addresses,
                            uint64_t bytes) {
  const int together = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  const uint64_t words = std::max<uint64_t>(bytes / 4, 1);
  Counts &counts = *warp.block->counts;
  ++counts.sharedRequests;
  for (int first = 0; first < warpLanes; first += together) {
    std::array<uint64_t, warpLanes> seen;
    size_t count = 0;
    std::array<uint8_t, 32> banks{};
    uint8_t most = 0;
    const uint32_t part = mask & (together == 32 ? allLanes : ((1u << together) - 1) << first);
    for (uint32_t left = part; left; left &= left - 1)
      for (uint64_t i = 0; i < words; ++i) {
        const uint64_t word = addresses[static_cast<size_t>(std::countr_zero(left))] / 4 + i;
        if (std::find(seen.begin(), seen.begin() + static_cast<long>(count), word) !=
            seen.begin() + static_cast<long>(count))
          continue;
        if (count < seen.size())
          seen[count++] = word;
        most = std::max(most, ++banks[word % 32]);
      }
    counts.sharedWavefronts += most;
  }
}

/// Of a launch's buffers, not of the module's variables, which nobody writes.
static bool isParameter(const Block &block, const Region &region) {
  return std::any_of(block.regions.begin(), block.regions.end(),
                     [&](const Region &other) { return &other == &region; });
}

/// Lanes that may access global memory there.
uint32_t checkGlobal(Warp &warp, const Instruction &in, uint32_t mask,
                     const LaneAddresses &addresses, uint64_t bytes, bool isStore) {
  Block &block = *warp.block;
  uint32_t good = aligned(warp, in, mask, addresses, bytes);
  if (const uint32_t early = good & warp.early)
    block.report(Finding::Kind::Early, in,
                 describe(warp, std::countr_zero(early)) + (isStore ? " writes" : " reads") +
                     " memory of which the launch before may not be done");
  Moment now = block.now;
  now.epoch = warp.epoch;
  const Region *region = nullptr;
  size_t traffic = 0;
  uint64_t moved = 0;
  forLanes(good, [&](int lane) {
    const uint64_t address = addresses[static_cast<size_t>(lane)];
    if (!region || address < region->begin || address + bytes > region->end) {
      region = regionOf(block, in.sources, address, address + bytes, traffic);
      if (!region) {
        good &= ~(1u << lane);
        uint64_t nearest = UINT64_MAX;
        size_t which = 0;
        for (size_t i = 0; i < block.regions.size(); ++i)
          if ((!in.sources || in.sources >> i & 1) &&
              block.regions[i].begin < block.regions[i].end) {
            const uint64_t far = address < block.regions[i].begin
                                     ? block.regions[i].begin - address
                                     : address - block.regions[i].begin;
            if (far < nearest)
              nearest = far, which = i;
          }
        std::string where = "an address of no buffer";
        if (nearest != UINT64_MAX)
          where = "byte " +
                  std::to_string(static_cast<int64_t>(address - block.regions[which].begin)) +
                  " of parameter " + std::to_string(which) + ", which has " +
                  std::to_string(block.regions[which].end - block.regions[which].begin);
        block.report(Finding::Kind::Bounds, in,
                     describe(warp, lane) + (isStore ? " writes " : " reads ") + where);
        return;
      }
    }
    moved += bytes;
    if (!in.coherent && (warp.unordered >> lane & 1) && isParameter(block, *region))
      block.report(Finding::Kind::Early, in,
                   describe(warp, lane) + " reads with .nc, which no branch keeps behind "
                                          "griddepcontrol.wait");
    if (!block.options->races || !region->shadow)
      return;
    now.thread = static_cast<uint16_t>(warp.number * warpLanes + lane);
    if (!in.coherent && region->shadow->isWritten(address, now))
      block.report(Finding::Kind::ReadOnly, in,
                   describe(warp, lane) + " reads with .nc what this launch has written");
    Stamp other;
    const Shadow::Access access = isStore ? Shadow::Access::Write : Shadow::Access::Read;
    const Conflict conflict =
        region->shadow->access(address, static_cast<uint32_t>(bytes), access, now, false, other);
    if (conflict != Conflict::None)
      reportConflict(warp, in, lane, conflict, access, other, "global memory");
  });
  Counts::Traffic &of = block.counts->traffic[traffic];
  (isStore ? of.written : of.read) += moved;
  of.isKept[isStore] |= !in.streams;
  if (block.options->counts)
    countSectors(warp, mask, addresses, traffic, isStore);
  return good;
}

static void noteWrite(Block &block, uint64_t address, uint64_t bytes, unsigned thread) {
  for (uint64_t i = address / 2; i <= (address + bytes - 1) / 2; ++i)
    block.lastWrites[i] = block.issued << 10 | thread;
}

/// Lanes that may access shared memory there, and those that read what was never written.
uint32_t checkShared(Warp &warp, const Instruction &in, uint32_t mask,
                     const LaneAddresses &addresses, uint64_t bytes, Shadow::Access access,
                     uint32_t &poison) {
  Block &block = *warp.block;
  uint32_t good = aligned(warp, in, mask, addresses, bytes);
  Moment now = block.now;
  now.epoch = warp.epoch;
  const uint32_t poisonedValues = poison;
  poison = 0;
  forLanes(good, [&](int lane) {
    const uint64_t address = addresses[static_cast<size_t>(lane)];
    if (address > block.sharedBytes || bytes > block.sharedBytes - address) {
      good &= ~(1u << lane);
      block.report(Finding::Kind::Bounds, in,
                   describe(warp, lane) + " accesses byte " +
                       std::to_string(static_cast<int64_t>(address)) + " of " +
                       std::to_string(block.sharedBytes) + " of shared memory");
      return;
    }
    now.thread = static_cast<uint16_t>(warp.number * warpLanes + lane);
    Stamp other;
    const bool gives = poisonedValues >> lane & 1;
    const Shadow::Access how =
        gives && access == Shadow::Access::Write ? Shadow::Access::WritePoison : access;
    const Conflict conflict =
        block.sharedShadow->access(address, static_cast<uint32_t>(bytes), how, now, true, other);
    if (conflict == Conflict::Unwritten || conflict == Conflict::Poison)
      poison |= 1u << lane;
    else if (conflict != Conflict::None && (block.options->races || conflict == Conflict::Pending))
      reportConflict(warp, in, lane, conflict, access, other,
                     "byte " + std::to_string(address) + " of shared memory");
    if (access != Shadow::Access::Read && !block.lastWrites.empty())
      noteWrite(block, address, bytes, now.thread);
  });
  if (block.options->counts && access != Shadow::Access::EndCopy)
    countWavefronts(warp, mask, addresses, bytes);
  return good;
}

uint32_t checkLocal(Warp &warp, const Instruction &in, uint32_t mask,
                    const LaneAddresses &addresses, uint64_t bytes) {
  uint32_t good = aligned(warp, in, mask, addresses, bytes);
  const uint64_t frame = warp.framesPoison.size();
  forLanes(good, [&](int lane) {
    const uint64_t address = addresses[static_cast<size_t>(lane)];
    if (address <= frame && bytes <= frame - address)
      return;
    good &= ~(1u << lane);
    warp.block->report(Finding::Kind::Bounds, in,
                       describe(warp, lane) + " accesses local memory that it does not have");
  });
  return good;
}

//===- wgmma ----------------------------------------------------------------===//

constexpr uint64_t unitBytes = 16;

/// Whether a fence of the thread that wrote is between: one that the warp knows of, as it is of its
/// own or in front of a barrier.
static bool isFenced(const Warp &warp, uint64_t write) {
  const Block &block = *warp.block;
  const uint64_t when = write >> 10, thread = write & 1023;
  const Block::ProxyFence &fence = block.proxyFences[thread];
  const bool isKnown = fence.interval < block.now.interval ||
                       thread / warpLanes == static_cast<uint64_t>(warp.number);
  return fence.before > when || (isKnown && fence.last > when);
}

/// The first of the numbers of 2 bytes there whose last write `isBad`; nothing when none is.
template <typename IsBad>
static std::optional<uint64_t> findWrite(const Block &block, uint64_t address, IsBad isBad) {
  if (!block.lastWrites.empty())
    for (uint64_t i = address / 2; i < (address + unitBytes) / 2; ++i)
      if (block.lastWrites[i] && isBad(block.lastWrites[i]))
        return i;
  return std::nullopt;
}

static Conflict readUnit(Warp &warp, const Instruction &in, uint64_t address, uint16_t epoch) {
  Block &block = *warp.block;
  Moment now = block.now;
  now.epoch = epoch, now.thread = static_cast<uint16_t>(warp.number * warpLanes);
  Stamp other;
  const Conflict found =
      block.sharedShadow->access(address, unitBytes, Shadow::Access::Read, now, true, other);
  if (found != Conflict::None && (block.options->races || found == Conflict::Pending))
    reportConflict(warp, in, 0, found, Shadow::Access::Read, other,
                   "byte " + std::to_string(address) + " of shared memory");
  return found;
}

bool checkOperands(Warp &warp, const Instruction &in, const std::vector<uint32_t> &units) {
  Block &block = *warp.block;
  const std::string who = "warp " + std::to_string(warp.number);
  for (uint64_t address : units)
    if (address + unitBytes > block.sharedBytes) {
      block.report(Finding::Kind::Bounds, in,
                   who + " multiplies byte " + std::to_string(address) + " of " +
                       std::to_string(block.sharedBytes) + " of shared memory");
      return false;
    }
  for (uint64_t address : units) {
    const Conflict found = readUnit(warp, in, address, warp.epoch);
    if (found == Conflict::Unwritten || found == Conflict::Poison) {
      block.report(Finding::Kind::Uninitialized, in,
                   who + " multiplies byte " + std::to_string(address) +
                       " of shared memory, which was never written");
      return false;
    }
    if (found != Conflict::None)
      continue;
    if (auto at = findWrite(block, address, [&](uint64_t it) { return !isFenced(warp, it); }))
      block.report(Finding::Kind::Warpgroup, in,
                   who + " multiplies byte " + std::to_string(*at * 2) +
                       " of shared memory that thread " +
                       std::to_string(block.lastWrites[*at] & 1023) +
                       " has written, without its fence.proxy.async between");
  }
  return true;
}

void checkKept(Warp &warp, const PendingProduct &product) {
  Block &block = *warp.block;
  for (uint64_t address : product.units)
    if (auto at = findWrite(block, address, [&](uint64_t it) { return it >> 10 > product.when; })) {
      block.report(Finding::Kind::Race, *product.issued,
                   "byte " + std::to_string(*at * 2) + " of shared memory that a wgmma of warp " +
                       std::to_string(warp.number) + " reads was overwritten by thread " +
                       std::to_string(block.lastWrites[*at] & 1023) + " before it was waited for");
      return;
    }
  // It may have read until now: other warps need a barrier before they write there. This one does
  // not, so it reads in an epoch of its own.
  for (uint64_t address : product.units)
    readUnit(warp, *product.issued, address, static_cast<uint16_t>(warp.epoch + 0x8000));
}

} // namespace hybrid::ptx
