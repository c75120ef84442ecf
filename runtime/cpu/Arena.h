//===- Arena.h - one aligned allocation --------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hybrid::rt {

/// Zeroed memory, 64-byte aligned, from the operating system directly so that a refusal is an error
/// and not a kill. Large ones ask for huge pages.
class Arena {
public:
  Arena() = default;
  /// `purpose` is used in the error ("the arena", "parameters").
  static Result<Arena> allocate(uint64_t bytes, std::string_view purpose);
  Arena(Arena &&other) noexcept;
  Arena &operator=(Arena &&other) noexcept;
  ~Arena();

  std::byte *data() const { return memory; }
  uint64_t size() const { return bytes; }
  explicit operator bool() const { return memory != nullptr; }

private:
  std::byte *memory = nullptr;
  uint64_t bytes = 0;
};

} // namespace hybrid::rt
