//===- RaceCheck.cpp - finds races in the shared memory of a block ----------===//
#include "test/cuda/shim/RaceCheck.h"

using namespace hybrid::shim;

bool RaceCheck::ordered(const Access &before, uint32_t thread) const {
  if (before.thread == none || before.epoch != epoch || before.thread == thread)
    return true;
  return before.warp == thread / 32 && before.warpEpoch != warpEpochs[thread / 32];
}

/// Accesses that are ordered before this one need not be kept: what races with them later, races
/// with this one as well.
void RaceCheck::remember(Access &record, uint32_t thread) {
  auto warp = static_cast<uint16_t>(thread / 32);
  Access now = {static_cast<uint16_t>(thread), warp, epoch, warpEpochs[warp]};
  if (!ordered(record, thread)) {
    now.thread = several;
    if (record.warp != warp)
      now.warp = several;
  }
  record = now;
}

std::string RaceCheck::access(uint32_t thread, int64_t byte, uint32_t bytes, bool write) {
  if (memory.empty())
    memory.resize(static_cast<size_t>(maximumSharedBytes));
  for (int64_t at = byte; at < byte + bytes && at < maximumSharedBytes; ++at) {
    Byte &record = memory[static_cast<size_t>(at)];
    bool afterWrite = !ordered(record.write, thread);
    if (afterWrite || (write && !ordered(record.read, thread))) {
      const Access &other = afterWrite ? record.write : record.read;
      std::string who = other.thread == several ? std::string("several threads")
                                                : "thread " + std::to_string(other.thread);
      return "race: thread " + std::to_string(thread) + (write ? " writes" : " reads") + " byte " +
             std::to_string(at) + " of shared memory, which " + who +
             (afterWrite ? " wrote" : " read") + " with no barrier between";
    }
    remember(write ? record.write : record.read, thread);
  }
  return "";
}
