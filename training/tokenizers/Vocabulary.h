//===- Vocabulary.h - tokens and their numbers ------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt {

/// Tokens are looked up in both directions; a token has one number, a number one token.
class Vocabulary {
public:
  /// Numbers are at most this: what is made as long as the greatest stays small.
  static constexpr uint32_t greatestId = (1u << 24) - 1;

  /// The last word on a token counts; false if the number is another token's.
  bool add(std::string_view token, uint32_t id);
  void reserve(size_t tokens);
  /// -1: there is none.
  int32_t find(std::string_view token) const;
  bool has(uint32_t id) const { return id < tokenOf.size() && tokenOf[id] != none; }
  /// Empty of a number without a token.
  std::string_view operator[](uint32_t id) const;
  size_t tokens() const { return entries.size(); }
  /// One more than the greatest number.
  uint32_t size() const { return static_cast<uint32_t>(tokenOf.size()); }

private:
  static constexpr uint32_t none = 0xFFFFFFFF;
  struct Entry {
    uint64_t place; // in `text`
    uint32_t bytes, id;
  };
  struct Slot {
    uint32_t hash = 0, entry = none;
  };
  std::string_view textOf(const Entry &entry) const {
    return std::string_view(text).substr(entry.place, entry.bytes);
  }
  size_t slotOf(std::string_view token, uint32_t hash) const;
  void grow(size_t slots);

  std::string text;
  std::vector<Entry> entries;
  std::vector<Slot> table; // a power of two, at most half full
  std::vector<uint32_t> tokenOf;
};

} // namespace hybrid::rt
