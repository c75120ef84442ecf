//===- TrainTokenizer.h - a tokenizer learnt from data ----------------------===//
#pragma once
#include "training/tokenizers/TrainBpe.h"
#include <cstdint>
#include <span>
#include <string>

namespace hybrid::rt {

struct TrainedTokenizer {
  std::string json; // a tokenizer.json
  uint64_t documents = 0, bytes = 0;
};

/// Learns a byte-level BPE from the documents of text: and jsonl:PATH[,option=value].
Result<TrainedTokenizer> trainTokenizer(std::span<const std::string> specs,
                                        const TrainBpeOptions &options);

} // namespace hybrid::rt
