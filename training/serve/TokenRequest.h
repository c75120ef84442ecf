//===- TokenRequest.h - what a client asks of the tokenizer ------------------------===//
//
// As lm-evaluation-harness asks a server that knows its tokenizer (0.4.13: GET /tokenizer_info,
// POST /tokenize and /detokenize), so that it needs none of its own.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/serve/CompletionRequest.h"
#include <nlohmann/json.hpp>

namespace hybrid::rt {

/// The texts of the tokens that stand around a text; null where there is none.
nlohmann::json tokenizerInfo(const Tokenizer &tokenizer);

/// Answers {"prompt": text, "add_special_tokens": bool} with {"tokens": [numbers]}. A text is at
/// most as long as the body. Special tokens that are spelled out are these tokens.
std::optional<RequestFault> answerTokenize(std::string_view body, const Tokenizer &tokenizer,
                                           nlohmann::json &answer);
/// Answers {"tokens": [numbers]} with {"prompt": text}.
std::optional<RequestFault> answerDetokenize(std::string_view body, const Tokenizer &tokenizer,
                                             nlohmann::json &answer);

} // namespace hybrid::rt
