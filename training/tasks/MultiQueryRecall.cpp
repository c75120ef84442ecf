//===- MultiQueryRecall.cpp - recall of many pairs, as in zoology ----------===//
//
// Multi-query associative recall (Arora et al. 2023, "Zoology", section 4 and appendix; the form of
// its public code): `pairs` distinct keys, each with a distinct value; then every key once more, at
// an even distance behind the pairs that is drawn without replacement with chances j^(power - 1):
// most questions come soon. The value is the target at the key's own place, and is never an input
// again. With `distractors` all other places behind the pairs are any tokens, otherwise 0. Ids: 0
// is no key, keys from 1, values from vocab/2.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/MultiQueryRecall.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/Instance.h"
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace hybrid::rt {
namespace {

struct MultiQueryRecallConfig {
  int64_t vocab = 8192, length = 64, pairs = 4;
  double power = 0.01;
  bool distractors = true;

  int64_t firstValue() const { return vocab / 2; }
  int64_t keys() const { return firstValue() - 1; }
  int64_t places() const { return (length - 2 * pairs) / 2; }
};

class MultiQueryRecall final : public ConfiguredTask<MultiQueryRecallConfig> {
public:
  MultiQueryRecall(std::string name, Settings settings, const MultiQueryRecallConfig &config)
      : ConfiguredTask(std::move(name), std::move(settings), config) {
    // Whole numbers, so that a difference in the last bit of pow() changes no instance.
    for (int64_t j = 1; j <= config.places(); ++j)
      chances.push_back(static_cast<uint64_t>(
          std::llround(std::pow(static_cast<double>(j), config.power - 1) * 0x1p32)));
  }

  int64_t answers() const override { return config.vocab - config.firstValue(); }
  uint64_t epochExamples() const override { return 100000; }
  void draw(Instance &instance) const override;
  std::string spell(int32_t token) const override {
    return token == 0 ? "_" : fmt::format("{}{}", token < config.firstValue() ? 'k' : 'v', token);
  }

private:
  std::vector<uint64_t> chances; // of the places behind the pairs
};

void MultiQueryRecall::draw(Instance &instance) const {
  auto &[seed, split, rng, inputs, targets] = instance;
  const auto pairs = static_cast<size_t>(config.pairs);
  const std::vector<int32_t> keys = drawDistinct(rng, 1, config.keys(), config.pairs);
  const std::vector<int32_t> values =
      drawDistinct(rng, config.firstValue(), config.vocab - config.firstValue(), config.pairs);
  for (size_t i = 0; i < pairs; ++i) {
    inputs[2 * i] = keys[i];
    inputs[2 * i + 1] = values[i];
  }
  std::vector<uint64_t> left = chances;
  uint64_t total = std::accumulate(left.begin(), left.end(), uint64_t{0});
  for (size_t t = 2 * pairs; t < inputs.size(); ++t)
    inputs[t] = config.distractors ? drawToken(rng, 0, config.vocab) : 0;
  for (size_t i = 0; i < pairs; ++i) {
    uint64_t number = rng.below(total);
    size_t place = 0;
    while (number >= left[place])
      number -= left[place++];
    total -= left[place];
    left[place] = 0;
    inputs[2 * (pairs + place)] = keys[i];
    targets[2 * (pairs + place)] = values[i];
  }
}

} // namespace

Result<std::unique_ptr<Task>> createMultiQueryRecall(TaskParameters &parameters, Convention) {
  MultiQueryRecallConfig config;
  config.vocab = parameters.integer("vocab", config.vocab, 4, int64_t{1} << 24);
  config.length = parameters.integer("length", config.length, 4, int64_t{1} << 24);
  config.pairs = parameters.integer("pairs", config.pairs, 1, int64_t{1} << 22);
  config.power = parameters.number("power", config.power, 0, 1);
  config.distractors = parameters.boolean("distractors", config.distractors);
  if (config.length % 2 != 0 || 4 * config.pairs > config.length)
    parameters.refuse(fmt::format("length={} must be even and at least 4 times pairs={}: each is "
                                  "shown and asked, in places of two",
                                  config.length, config.pairs));
  if (config.pairs > config.keys())
    parameters.refuse(fmt::format("vocab={} has {} keys, fewer than pairs={}", config.vocab,
                                  config.keys(), config.pairs));
  return finishTask<MultiQueryRecall>(parameters, config);
}

} // namespace hybrid::rt
