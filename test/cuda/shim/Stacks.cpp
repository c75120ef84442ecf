//===- Stacks.cpp - the memory that a block's fibers run on -----------------===//
#include "test/cuda/shim/Stacks.h"
#include <cstring>
#include <sys/mman.h>

using namespace hybrid::shim;

#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
void SwitchRecord::leave(const SwitchRecord &to) {
  __sanitizer_start_switch_fiber(&fakeStack, to.bottom, to.bytes);
}
void SwitchRecord::comeBack() { __sanitizer_finish_switch_fiber(fakeStack, nullptr, nullptr); }
void SwitchRecord::begin(SwitchRecord &from) {
  __sanitizer_finish_switch_fiber(nullptr, &from.bottom, &from.bytes);
}
#else
void SwitchRecord::leave(const SwitchRecord &) {}
void SwitchRecord::comeBack() {}
void SwitchRecord::begin(SwitchRecord &) {}
#endif

namespace {
/// Of a fiber's bytes: the first part holds the Block in the first fiber and nothing in others, the
/// second stops a stack that overflows. Multiples of every page size there is.
constexpr uintptr_t headBytes = 64 * 1024, guardBytes = 64 * 1024;
constexpr uintptr_t stackBytes = fiberBytes - headBytes - guardBytes;

/// Stacks that began at equal addresses modulo a power of two would fight for the same cache lines.
uintptr_t colour(int stack) { return static_cast<uintptr_t>(stack) * 192 % 16384; }
} // namespace

Stacks::Stacks() {
  void *space =
      mmap(nullptr, 2 * regionBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED)
    return;
  auto *begin = static_cast<unsigned char *>(space);
  uintptr_t before = -reinterpret_cast<uintptr_t>(space) % regionBytes;
  if (before)
    munmap(begin, before);
  munmap(begin + before + regionBytes, regionBytes - before);
  if (mprotect(begin + before, headBytes, PROT_READ | PROT_WRITE)) {
    munmap(begin + before, regionBytes);
    return;
  }
  region = begin + before;
}

Stacks::~Stacks() {
  if (region)
    munmap(region, regionBytes);
}

void Stacks::setOwner(void *owner) { std::memcpy(region + sizeof(Block), &owner, sizeof(owner)); }

void *Stacks::owner(const Block *block) {
  void *owner;
  std::memcpy(&owner, block + 1, sizeof(owner));
  return owner;
}

int Stacks::take() {
  int stack = taken++;
  if (stack == opened) {
    mprotect(region + static_cast<uintptr_t>(stack) * fiberBytes + headBytes + guardBytes,
             stackBytes, PROT_READ | PROT_WRITE);
    ++opened;
  }
  return stack;
}

void *Stacks::top(int stack) const {
  return region + static_cast<uintptr_t>(stack + 1) * fiberBytes - 64 - colour(stack);
}
size_t Stacks::usableBytes(int stack) const { return stackBytes - 64 - colour(stack); }

SwitchRecord Stacks::record(int stack) const {
  return {nullptr, static_cast<unsigned char *>(top(stack)) - usableBytes(stack),
          usableBytes(stack)};
}

SwitchRecord Stacks::recordOfCaller() const {
#if __has_feature(address_sanitizer)
  auto address = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return record(static_cast<int>((address - reinterpret_cast<uintptr_t>(region)) / fiberBytes));
#else
  return {};
#endif
}
