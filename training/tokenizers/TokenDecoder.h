//===- TokenDecoder.h - tokens back into text -------------------------------===//
#pragma once
#include "runtime/Result.h"
#include "training/tokenizers/JsonNode.h"
#include <functional>
#include <string>
#include <vector>

namespace hybrid::rt {

/// One step on the tokens of a text. `asText`: bytes that make no character become U+FFFD as the
/// format says; otherwise they stay.
using DecodeStep = std::function<Result<void>(std::vector<std::string> &tokens, bool asText)>;

/// The steps of a tokenizer.json's `decoder`, none of null. Faults are noted in the document.
std::vector<DecodeStep> readDecoder(const JsonNode &node);

} // namespace hybrid::rt
