//===- FuzzCompletion.cpp - no request crashes the server's reader ------------------===//
//
// What is read without a fault can be begun; nothing else is promised of what has one.
//
//===----------------------------------------------------------------------===//
#include "training/serve/CompletionSequence.h"
#include "training/serve/TokenRequest.h"
#include "training/tokenizers/SimpleTokenizers.h"
#include <cstdlib>

using namespace hybrid::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static LanguageModel model(nullptr, makeByteTokenizer(), "fuzz");
  CompletionRequest request;
  const std::string_view body(reinterpret_cast<const char *>(data), size);
  for (auto *read : {answerTokenize, answerDetokenize}) {
    nlohmann::json answer;
    if (!read(body, model.tokenizer(), answer) && answer.is_null())
      std::abort();
  }
  auto fault = readCompletionRequest(body, model, "fuzz", {}, 0, request);
  if (fault)
    return fault->message.empty() ? (std::abort(), 0) : 0;
  if (request.sequences() < 1 || request.prompts.size() != request.promptTexts.size())
    std::abort();
  for (const auto &prompt : request.prompts)
    if (prompt.empty())
      std::abort();
  if (!CompletionSequence::begin(request, request.sequences() - 1, model.tokenizer()))
    std::abort();
  return 0;
}
