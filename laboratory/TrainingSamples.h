//===- TrainingSamples.h - what a model writes while it is trained -------------------===//
#pragma once
#include "training/LanguageModel.h"
#include "training/TextContinuation.h"
#include "training/Trainer.h"

namespace hybrid::rt::lab {

struct SampleOptions {
  std::vector<std::string> prompts; // none: nothing is written
  ContinuationOptions text;         // the seed of every one: texts differ by the parameters alone
};

/// A sampler that goes on with each prompt by the parameters of the run: the model is compiled once
/// more, to decode. Fails for data that is no text.
Result<std::shared_ptr<TrainingSampler>> makeSampler(const ModelSpec &model, const Source &data,
                                                     const SampleOptions &options, int threads);

} // namespace hybrid::rt::lab
