//===- Generate.h - text from a language model -----------------------------------===//
//
// Runs the forward program over a window of the compiled length for every token: the model is
// causal, so what follows the text in the window does not matter. Once the text is longer than the
// window, the window slides.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/Sampler.h"
#include "training/compile/ModelSpec.h"

namespace hybrid::rt {

struct GenerateOptions {
  ModelSpec model;
  std::string checkpoint, prompt;
  std::string tokenizer;         // by name; empty: the one that the checkpoint carries
  int64_t tokens = 200;          // to add
  std::vector<std::string> stop; // texts; generating ends before the first of them
  bool goesPastEnd = false;      // whether the end-of-text token does not end it
  SamplerOptions sampler;
  uint64_t seed = 0;
  int threads = 0;
  bool json = false; // a line a token, with its log-probability
};

/// Prints the prompt and, as it comes, what follows. A .hyx that computes several rows is compiled
/// again for one where the compiler is there.
Result<void> generateText(GenerateOptions options);

} // namespace hybrid::rt
