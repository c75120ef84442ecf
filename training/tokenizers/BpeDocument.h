//===- BpeDocument.h - a byte-level BPE as a tokenizer.json ---------------------===//
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace hybrid::rt {

struct BpeDocument {
  nlohmann::ordered_json vocabulary; // {"token": id, ...}
  nlohmann::ordered_json merges;     // [["left", "right"], ...], the first learnt first
  std::vector<std::pair<uint64_t, std::string>> special; // id and text
  bool splitsAsLlama3 = false;                           // else as GPT-2
};

/// The form that Hugging Face's library writes and this one reads.
nlohmann::ordered_json tokenizerDocument(BpeDocument bpe);

} // namespace hybrid::rt
