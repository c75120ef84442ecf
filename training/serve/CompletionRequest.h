//===- CompletionRequest.h - what a client asks to be completed ------------------===//
#pragma once
#include "training/LanguageModel.h"
#include "training/TextContinuation.h"
#include <optional>

namespace hybrid::rt {

/// A fault of the client's, for its eyes.
struct RequestFault {
  int status = 400; // of HTTP
  std::string field, message;
};

struct CompletionLimits {
  uint64_t tokens = 4096;          // that one completion may add
  uint64_t sequences = 1024;       // completions of a request
  uint64_t promptTokens = 1 << 20; // of a request, all together
};

struct CompletionRequest {
  std::vector<std::vector<int32_t>> prompts; // none is empty
  std::vector<std::string> promptTexts;      // what an echo begins with
  uint64_t choices = 1;                      // of each prompt
  ContinuationOptions text;
  bool echo = false, stream = false;
  std::optional<uint64_t> logprobs; // likeliest tokens to name at each place

  size_t sequences() const { return prompts.size() * choices; }
};

/// The most tokens that "logprobs" may name, and stop texts with their bytes.
inline constexpr uint64_t mostLogprobs = 20, mostStopTexts = 16, mostStopBytes = 1024;

/// Reads the body of POST /v1/completions. A field that is not known, or asks for what is not done,
/// is a fault that names it; `name` is that of the model, and `seed` for who gives none.
std::optional<RequestFault> readCompletionRequest(std::string_view body, const LanguageModel &model,
                                                  const std::string &name,
                                                  const CompletionLimits &limits, uint64_t seed,
                                                  CompletionRequest &request);

/// The text of a token: as JSON can hold it, "bytes:\xe2" for a part of a character.
std::string namedToken(const Tokenizer &tokenizer, int32_t token);

} // namespace hybrid::rt
