//===- Arena.cpp - one aligned allocation ------------------------------------===//
#include "runtime/cpu/Arena.h"
#include "executable/SessionMemory.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace hybrid::rt {

Result<Arena> Arena::allocate(uint64_t bytes, std::string_view purpose, Pages pages) {
  Arena arena;
  arena.bytes = std::max(bytes, leastAllocation);
  auto refuse = [&](const std::string &why) {
    return Error{fmt::format("cannot allocate {} bytes ({:.2f} GiB) for {}: {}; compile with a "
                             "smaller --batch or --length",
                             arena.bytes, static_cast<double>(arena.bytes) / (1 << 30), purpose,
                             why)};
  };
  // Linux may promise more than the machine has and kill us when we use it: refuse that here.
  uint64_t machine =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (arena.bytes > machine)
    return refuse(
        fmt::format("this machine has {:.2f} GiB", static_cast<double>(machine) / (1 << 30)));
  void *memory =
      mmap(nullptr, arena.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return refuse(std::strerror(errno));
  // Advice only: failure changes nothing but speed, or memory.
  if (pages == Pages::Small)
    madvise(memory, arena.bytes, MADV_NOHUGEPAGE);
  else if (arena.bytes >= (uint64_t(4) << 20))
    madvise(memory, arena.bytes, MADV_HUGEPAGE);
  arena.memory = static_cast<std::byte *>(memory);
  return arena;
}

Arena::Arena(Arena &&other) noexcept
    : memory(std::exchange(other.memory, nullptr)), bytes(std::exchange(other.bytes, 0)) {}

Arena &Arena::operator=(Arena &&other) noexcept {
  std::swap(memory, other.memory);
  std::swap(bytes, other.bytes);
  return *this;
}

void Arena::clear() {
  if (madvise(memory, bytes, MADV_DONTNEED) != 0)
    std::memset(memory, 0, bytes);
}

Arena::~Arena() {
  if (memory)
    munmap(memory, bytes);
}

void releasePages(std::byte *memory, uint64_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t from = (address + page - 1) / page * page, to = (address + bytes) / page * page;
  if (from < to)
    madvise(reinterpret_cast<void *>(from), to - from, MADV_DONTNEED);
}

} // namespace hybrid::rt
