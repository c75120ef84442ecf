//===- Generate.h - text from a byte-level model ----------------------------------===//
//
// Runs the forward program over a window of the compiled length for every byte: the model is
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
  int64_t tokens = 200; // bytes to add
  SamplerOptions sampler;
  uint64_t seed = 0;
  int threads = 0;
};

/// Prints the prompt and, as it comes, what follows.
Result<void> generateText(GenerateOptions options);

} // namespace hybrid::rt
