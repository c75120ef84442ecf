//===- PipelineTokenizer.h - the tokenizers of Hugging Face's library -------===//
#pragma once
#include "training/tokenizers/Tokenizer.h"
#include <nlohmann/json.hpp>

namespace hybrid::rt {

/// A tokenizer.json. What it asks for and is not known here is refused with its place in the
/// document. `name` is for messages.
Result<std::unique_ptr<Tokenizer>> makePipelineTokenizer(const nlohmann::json &document,
                                                         const std::string &name);

/// encoder.json and vocab.bpe of GPT-2, or vocab.json and merges.txt, as a tokenizer.json.
Result<nlohmann::json> gpt2Document(std::string_view encoder, std::string_view merges,
                                    const std::string &name);

} // namespace hybrid::rt
