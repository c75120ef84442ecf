//===- Topology.h - the papers' notation of layer orders -----------------------===//
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace hybrid::dsl {

/// The letters that "(2H:4A:4H:2A) x 2" stands for, in order, and where each stands in the text.
struct Topology {
  std::string letters;
  std::vector<uint32_t> positions; // byte in the text of each letter
  std::string error;               // empty: fine
  uint32_t errorPosition = 0;
};

/// Reads `text`: letters, counts before a letter or group (`2H`), groups in parentheses, repetition
/// after them (`x 2` or `×2`);
/// `:`, `,`, `-` and spaces only separate. At most 10 000 letters.
Topology readTopology(llvm::StringRef text);

} // namespace hybrid::dsl
