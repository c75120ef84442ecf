//===- Counting.cpp - how often the last token occurred ---------------------===//
//
// Counting (Poli et al. 2023, section 4.1; the paper gives an example, no generator): how often the
// last token occurs in the sequence, itself included. The answer is uniform in 1 .. `most`, the
// token that is asked for is uniform, and so are the places of its other occurrences; what is left
// are other tokens. Ids: content from 0; behind it the counts 0 .. `most`, the last of which is
// vocab-1. Counts are never inputs.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/Counting.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/Instance.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

struct CountingConfig {
  int64_t vocab = 43, length = 128, most = 32;

  int64_t content() const { return vocab - most - 1; }
};

class Counting final : public ConfiguredTask<CountingConfig> {
public:
  using ConfiguredTask::ConfiguredTask;

  uint64_t epochExamples() const override { return 2000; }
  void draw(Instance &instance) const override {
    auto &[seed, split, rng, inputs, targets] = instance;
    uint64_t answer = 1 + rng.below(static_cast<uint64_t>(config.most));
    int32_t asked = drawToken(rng, 0, config.content());
    inputs.back() = asked;
    // From left to right, each with the share still missing: every set of places is equally likely.
    uint64_t missing = answer - 1, places = inputs.size() - 1;
    for (size_t t = 0; t + 1 < inputs.size(); ++t, --places)
      if (rng.below(places) < missing) {
        inputs[t] = asked;
        --missing;
      } else {
        int32_t other = drawToken(rng, 0, config.content() - 1);
        inputs[t] = other + (other >= asked);
      }
    targets.back() = static_cast<int32_t>(config.content() + static_cast<int64_t>(answer));
  }
  std::string spell(int32_t token) const override {
    if (token < config.content())
      return fmt::format("c{}", token);
    return fmt::format("#{}", token - config.content());
  }
};

} // namespace

Result<std::unique_ptr<Task>> createCounting(TaskParameters &parameters, Convention) {
  CountingConfig config;
  config.vocab = parameters.integer("vocab", config.vocab, 4, int64_t{1} << 30);
  config.length = parameters.integer("length", config.length, 1, int64_t{1} << 24);
  config.most = parameters.integer("most", config.most, 1, int64_t{1} << 24);
  if (config.content() < 2)
    parameters.refuse(fmt::format("vocab={} leaves {} ids beside the counts 0 to most={}; one "
                                  "token to count and one other need 2",
                                  config.vocab, std::max<int64_t>(0, config.content()),
                                  config.most));
  if (config.most > config.length)
    parameters.refuse(fmt::format("most={} is more than a sequence of length={} can hold",
                                  config.most, config.length));
  return finishTask<Counting>(parameters, config);
}

} // namespace hybrid::rt
