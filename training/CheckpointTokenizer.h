//===- CheckpointTokenizer.h - the tokenizer that a checkpoint carries ---------===//
#pragma once
#include "training/tokenizers/Tokenizer.h"

namespace hybrid::rt {

/// Where it lies in the metadata of a safetensors file, as Tokenizer::serialized() gave it.
inline constexpr const char *tokenizerKey = "tokenizer";

/// Null: the checkpoint carries none. The error names the file, and what is damaged or not known.
Result<std::unique_ptr<Tokenizer>> tokenizerOfCheckpoint(const std::string &path);

/// loadTokenizer(), or by the name of a checkpoint (.safetensors) the one that it carries.
Result<std::unique_ptr<Tokenizer>> namedTokenizer(const std::string &name);

} // namespace hybrid::rt
