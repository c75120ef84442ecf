//===- Generate.h - text from a language model -----------------------------------===//
#pragma once
#include "training/LanguageModel.h"
#include "training/TextContinuation.h"

namespace hybrid::rt {

struct GenerateOptions {
  LanguageModelChoice model;
  std::string prompt;
  std::string prompts; // a file of prompts in place of one: .jsonl with "prompt", or a line each
  bool interactive = false; // in place of a prompt: lines from standard input go on with the text
  ContinuationOptions text;
  bool json = false; // a line a token, with its log-probability
};

/// Lets the model, which is to read it anew, go on with a text until that is done; what was added.
Result<std::string> goOnWith(LanguageModel &model, TextContinuation &text);

/// Prints the prompt and, as it comes, what follows; of a file of prompts a line of JSON each,
/// which says what the prompt alone would give.
Result<void> generateText(GenerateOptions options);

} // namespace hybrid::rt
