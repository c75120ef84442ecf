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

Result<Arena> Arena::allocate(uint64_t bytes, std::string_view purpose) {
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
  if (arena.bytes >= (uint64_t(4) << 20))
    madvise(memory, arena.bytes, MADV_HUGEPAGE); // advice only: failure changes nothing but speed
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

Arena::~Arena() {
  if (memory)
    munmap(memory, bytes);
}

} // namespace hybrid::rt
