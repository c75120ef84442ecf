//===- ContentHash.h - what tells data from other data ----------------------===//
#pragma once
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <xxhash.h>

namespace hybrid::rt {

/// XXH3 of 64 bits over all that is added.
class ContentHash {
public:
  ContentHash() : state(XXH3_createState()) { XXH3_64bits_reset(state); }
  ContentHash(const ContentHash &) = delete;
  ContentHash &operator=(const ContentHash &) = delete;
  ~ContentHash() { XXH3_freeState(state); }
  void add(std::string_view bytes) { XXH3_64bits_update(state, bytes.data(), bytes.size()); }
  /// Sixteen hexadecimal digits.
  std::string text() const { return fmt::format("{:016x}", XXH3_64bits_digest(state)); }

private:
  XXH3_state_t *state;
};

} // namespace hybrid::rt
