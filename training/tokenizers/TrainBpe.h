//===- TrainBpe.h - learning a byte-level BPE from text ---------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hybrid::rt {

struct TrainBpeOptions {
  int64_t vocabulary = 0;         // tokens in all: special ones, 256 bytes, the rest merges
  uint64_t least = 2;             // times that a pair must occur to be merged
  std::string splitting = "gpt2"; // or "llama3"
  std::vector<std::string> special = {"<|endoftext|>"};
};

/// Text is added in parts; words never reach from one part into the next. The same parts give the
/// same tokenizer: of pairs that are equally frequent the one with smaller numbers goes first.
class BpeTrainer {
public:
  static Result<std::unique_ptr<BpeTrainer>> create(const TrainBpeOptions &options);
  Result<void> add(std::string_view text);
  /// A tokenizer.json that this and Hugging Face's library read. It has fewer tokens than asked if
  /// the text has no more pairs.
  Result<std::string> train() const;
  ~BpeTrainer();

private:
  struct Splitter;
  BpeTrainer() = default;
  TrainBpeOptions options;
  std::unique_ptr<Splitter> splitter;
  std::unordered_map<std::string, uint64_t> words; // how often each piece occurs
};

} // namespace hybrid::rt
