//===- Generate.h - text from a language model -----------------------------------===//
#pragma once
#include "training/Sampler.h"
#include "training/compile/ModelSpec.h"

namespace hybrid::rt {

struct GenerateOptions {
  ModelSpec model;
  std::string checkpoint, prompt;
  bool average = false;          // takes the average of the parameters that its run has kept
  std::string tokenizer;         // by name; empty: the one that the checkpoint carries
  int64_t tokens = 200;          // to add
  int64_t context = 0;           // positions that are kept; 0: as many as the model has
  std::vector<std::string> stop; // texts; generating ends before the first of them
  bool goesPastEnd = false;      // whether the end-of-text token does not end it
  SamplerOptions sampler;
  uint64_t seed = 0;
  int threads = 0;
  bool json = false; // a line a token, with its log-probability
};

/// Prints the prompt and, as it comes, what follows.
Result<void> generateText(GenerateOptions options);

} // namespace hybrid::rt
