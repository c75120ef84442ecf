//===- Normalizer.h - what is done to text before it is split ---------------===//
#pragma once
#include "runtime/Result.h"
#include "training/tokenizers/JsonNode.h"
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt {

/// One step; the text it makes. `atStart`, whether the text begins where the whole one did, becomes
/// false when the step leaves out its first characters. Several threads may use one.
using TextStep = std::function<Result<std::string>(std::string_view, bool &atStart)>;

/// The steps of a tokenizer.json's `normalizer`, none of null. Faults are noted in the document.
std::vector<TextStep> readNormalizer(const JsonNode &node);

/// What `pattern` {"String": …} or {"Regex": …} finds becomes `content`; also a decoder.
TextStep readReplace(const JsonNode &node);

/// A text that a step made longer than is believable: files from outside say what is inserted.
bool isOvergrown(size_t made, size_t given);
Error overgrown(size_t given);

} // namespace hybrid::rt
