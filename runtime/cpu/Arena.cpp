//===- Arena.cpp - one aligned allocation ------------------------------------===//
#include "runtime/cpu/Arena.h"
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <utility>

namespace hybrid::rt {

Result<Arena> Arena::allocate(uint64_t bytes, std::string_view purpose) {
  Arena arena;
  arena.bytes = bytes < 64 ? 64 : bytes;
  void *memory =
      mmap(nullptr, arena.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Error{fmt::format("cannot allocate {} bytes ({:.2f} GiB) for {}: {}; compile with a "
                             "smaller --batch or --length",
                             arena.bytes, static_cast<double>(arena.bytes) / (1 << 30), purpose,
                             std::strerror(errno))};
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
