//===- OwnedMemory.cpp - memory of which each rank owns a part ---------------===//
#include "runtime/cpu/OwnedMemory.h"
#include "executable/OptimizerShards.h"
#include "runtime/cpu/Arena.h"

namespace hybrid::rt {

OwnedValues ownedValues(std::span<const fb::BufferRef> buffers, int ranks,
                        const AddressOfBuffer &addressOf) {
  OwnedValues owned(static_cast<size_t>(ranks));
  for (const fb::BufferRef &buffer : buffers) {
    std::byte *const begin = addressOf(buffer);
    forShards(buffer.offset(), buffer.bytes(), ranks, [&](uint64_t at, uint64_t bytes, int rank) {
      owned[static_cast<size_t>(rank)].emplace_back(begin + (at - buffer.offset()), bytes);
    });
  }
  return owned;
}

void releaseOthers(std::span<const fb::BufferRef> buffers, int rank, int ranks,
                   const AddressOfBuffer &addressOf) {
  for (const fb::BufferRef &buffer : buffers) {
    std::byte *const begin = addressOf(buffer);
    uint64_t from = buffer.offset(), to = from; // what lies side by side
    auto giveUp = [&] { releasePages(begin + (from - buffer.offset()), to - from); };
    forShards(buffer.offset(), buffer.bytes(), ranks, [&](uint64_t at, uint64_t bytes, int owner) {
      if (owner != rank) {
        to = at + bytes;
        return;
      }
      giveUp();
      from = to = at + bytes;
    });
    giveUp();
  }
}

} // namespace hybrid::rt
