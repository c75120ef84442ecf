//===- Arena.h - one aligned allocation --------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hybrid::rt {

/// Zeroed memory, 64-byte aligned, from the operating system directly so that a refusal is an error
/// and not a kill. Memory that is not touched takes none of the machine's.
class Arena {
public:
  /// Large: huge pages for large ones, which are faster. Small: for what is touched in parts.
  enum class Pages { Large, Small };
  Arena() = default;
  /// `purpose` is used in the error ("the arena", "parameters").
  static Result<Arena> allocate(uint64_t bytes, std::string_view purpose,
                                Pages pages = Pages::Large);
  Arena(Arena &&other) noexcept;
  Arena &operator=(Arena &&other) noexcept;
  ~Arena();

  std::byte *data() const { return memory; }
  uint64_t size() const { return bytes; }
  explicit operator bool() const { return memory != nullptr; }
  /// Makes it as it was when it was allocated: zero, and not touched.
  void clear();

private:
  std::byte *memory = nullptr;
  uint64_t bytes = 0;
};

/// Gives the whole pages of a stretch of an arena back to the operating system: they are zero where
/// they are touched again.
void releasePages(std::byte *memory, uint64_t bytes);

} // namespace hybrid::rt
