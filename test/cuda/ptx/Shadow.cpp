//===- Shadow.cpp - who used which memory last ------------------------------===//
#include "test/cuda/ptx/Shadow.h"
#include <algorithm>
#include <sys/mman.h>

namespace hybrid::ptx {

// Flags of a writer, and of readers: several lanes of one warp, several warps, another block.
static constexpr uint16_t split = 0x8000, pending = 0x4000, poison = 0x2000;
static constexpr uint16_t manyLanes = 0x4000, manyWarps = 0x2000, otherBlock = 0x1000;
static constexpr uint16_t threadBits = 0x3ff;

static void *reserve(size_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
              -1, 0);
}

Shadow::Shadow(uint64_t base, uint64_t bytes)
    : base(base & ~uint64_t(3)), size((base + bytes - this->base + 3) / 4 * 4),
      words(static_cast<Entry *>(reserve(std::max<size_t>(size / 4 * sizeof(Entry), 1)))),
      bytes(static_cast<Entry *>(reserve(std::max<size_t>(size * sizeof(Entry), 1)))) {}

Shadow::~Shadow() {
  munmap(words, std::max<size_t>(size / 4 * sizeof(Entry), 1));
  munmap(bytes, std::max<size_t>(size * sizeof(Entry), 1));
}

static bool sameWarp(unsigned a, unsigned b) { return a / 32 == b / 32; }

Conflict Shadow::use(Entry &entry, Access access, const Moment &now, bool within, Stamp &other) {
  const uint32_t first = within ? now.blockFirst : now.launchFirst;
  Stamp &write = entry.write, &read = entry.read;
  Conflict found = Conflict::None;
  // Against the last writer.
  const unsigned writer = write.thread & threadBits;
  if (write.interval >= first && write.interval != 0) {
    if (write.interval < now.blockFirst)
      found = Conflict::WithBlock;
    else if ((write.thread & pending) && access != Access::EndCopy)
      found = Conflict::Pending;
    else if (write.interval == now.interval && writer != now.thread &&
             (!sameWarp(writer, now.thread) || write.epoch == now.epoch))
      found = Conflict::WithThread;
    else if (access == Access::Read && (write.thread & poison))
      found = Conflict::Poison;
  } else if (within && access == Access::Read) {
    found = Conflict::Unwritten;
  }
  if (found != Conflict::None)
    other = write;
  // Against readers, or as one of them.
  const unsigned reader = read.thread & threadBits;
  const bool readInLaunch = read.interval >= first && read.interval != 0;
  if (access == Access::Read) {
    uint16_t flags = 0;
    if (readInLaunch) {
      flags = read.thread & otherBlock;
      if (read.interval < now.blockFirst)
        flags = otherBlock;
      else if (read.interval == now.interval) {
        const bool ordered = sameWarp(reader, now.thread) && read.epoch != now.epoch;
        flags |= read.thread & (ordered ? manyWarps : manyWarps | manyLanes);
        if (!sameWarp(reader, now.thread))
          flags |= manyWarps;
        else if (!ordered && reader != now.thread)
          flags |= manyLanes;
      }
    }
    read = {now.interval, static_cast<uint16_t>(now.thread | flags), now.epoch};
    return found;
  }
  if (found == Conflict::None && readInLaunch) {
    if (read.interval < now.blockFirst || (read.thread & otherBlock))
      found = Conflict::WithBlock;
    else if (read.interval == now.interval &&
             ((read.thread & manyWarps) || !sameWarp(reader, now.thread) ||
              (read.epoch == now.epoch && ((read.thread & manyLanes) || reader != now.thread))))
      found = Conflict::WithThread;
    if (found != Conflict::None)
      other = read;
  }
  const uint16_t flags = access == Access::BeginCopy     ? pending
                         : access == Access::WritePoison ? poison
                                                         : uint16_t(0);
  write = {now.interval, static_cast<uint16_t>(now.thread | flags), now.epoch};
  read = {};
  return found;
}

Conflict Shadow::access(uint64_t address, uint32_t count, Access access, const Moment &now,
                        bool within, Stamp &other) {
  Conflict worst = Conflict::None;
  auto add = [&](Entry &entry) {
    Stamp by;
    const Conflict found = use(entry, access, now, within, by);
    if (found != Conflict::None && (worst == Conflict::None || worst > found))
      worst = found, other = by;
  };
  const uint64_t at = address - base;
  if (count < 4) {
    Entry &word = words[at / 4];
    if (!(word.write.thread & split)) {
      std::fill_n(bytes + at / 4 * 4, 4, word);
      word.write.thread = split;
    }
    for (uint64_t i = at; i < at + count; ++i)
      add(bytes[i]);
    return worst;
  }
  for (uint64_t i = at / 4; i < (at + count) / 4; ++i) {
    if (!(words[i].write.thread & split)) {
      add(words[i]);
      continue;
    }
    for (uint64_t j = i * 4; j < i * 4 + 4; ++j)
      add(bytes[j]);
    if (access != Access::Read) // the four are alike again
      words[i] = bytes[i * 4];
  }
  return worst;
}

bool Shadow::isWritten(uint64_t address, const Moment &now) const {
  const uint64_t at = address - base;
  const Entry &word = words[at / 4];
  const Stamp &write = word.write.thread & split ? bytes[at].write : word.write;
  return write.interval >= now.launchFirst && write.interval != 0;
}

} // namespace hybrid::ptx
