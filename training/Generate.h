//===- Generate.h - text from a language model -----------------------------------===//
#pragma once
#include "training/LanguageModel.h"
#include "training/TextContinuation.h"

namespace hybrid::rt {

struct GenerateOptions {
  LanguageModelChoice model;
  std::string prompt;
  ContinuationOptions text;
  bool json = false; // a line a token, with its log-probability
};

/// Prints the prompt and, as it comes, what follows.
Result<void> generateText(GenerateOptions options);

} // namespace hybrid::rt
