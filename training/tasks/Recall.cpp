//===- Recall.cpp - in-context recall, plain and noisy ----------------------===//
//
// MAD's (multi-query) associative recall (Poli et al. 2024, section 3.1 and appendix B): a sequence
// of key-value pairs with a new random map from keys to values each, ending with a probe key that
// was shown before. Content ids are split in halves, keys below values; then noise ids; the copy
// prefix of the single-query form is the top id.
//
// As the paper has it (noise=tokens), single tokens of noise stand between pairs, in a random
// order, and are `frac_noise` of the tokens before the probe. In the public code (noise=pairs)
// noise replaces whole pairs, so keys stay at even places; the slot that may never be noise is
// drawn among the slots before the probe, so that the probe always has a key to ask for.
// map=shuffle: no two keys of a sequence share a value; map=drawn, as the code has it: they may.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/Recall.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/Instance.h"
#include "training/tasks/KeyValues.h"
#include "training/tasks/SequenceWriter.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace hybrid::rt {
namespace {

struct RecallConfig {
  int64_t vocab = 16, length = 128;
  bool multiQuery = true;
  double noiseShare = 0;
  int64_t noiseVocab = 0;
  bool noiseTokens = true, shuffles = true; // noise=tokens, map=shuffle
  TrainTargets trainTargets = TrainTargets::Values;

  int64_t content() const { return vocab - noiseVocab - (multiQuery ? 0 : 1); }
  KeyValueIds ids() const { return {content()}; }
  int64_t positions() const { return multiQuery ? length - 1 : length; }
};

class Recall final : public ConfiguredTask<RecallConfig> {
public:
  using ConfiguredTask::ConfiguredTask;

  int64_t positions() const override { return config.positions(); }
  int64_t answers() const override { return config.ids().values(); }
  void draw(Instance &instance) const override;
  std::string spell(int32_t token) const override;

private:
  std::vector<int64_t> drawNoise(Rng &rng) const;
};

/// Of each pair and each run of noise before the probe, in order: 0 for a pair, or the tokens of
/// the run.
std::vector<int64_t> Recall::drawNoise(Rng &rng) const {
  int64_t slots = config.length / 2 - 1;
  std::vector<int64_t> noise(static_cast<size_t>(slots));
  if (!config.noiseTokens) {
    uint64_t kept = rng.below(static_cast<uint64_t>(slots));
    for (size_t slot = 0; slot < noise.size(); ++slot)
      if (config.noiseShare > 0 && slot != kept && rng.uniform() < config.noiseShare)
        noise[slot] = 2;
    return noise;
  }
  // As many tokens as two noise tokens for a pair leave room for; one pair at least.
  int64_t tokens =
      2 * std::min<int64_t>(slots - 1, std::lround(config.noiseShare * static_cast<double>(slots)));
  int64_t pairs = slots - tokens / 2;
  noise.clear();
  for (; tokens + pairs > 0;) {
    bool isNoise = rng.below(static_cast<uint64_t>(tokens + pairs)) < static_cast<uint64_t>(tokens);
    noise.push_back(isNoise);
    --(isNoise ? tokens : pairs);
  }
  return noise;
}

void Recall::draw(Instance &instance) const {
  auto &[seed, split, rng, inputs, targets] = instance;
  SequenceWriter sequence(inputs, targets);
  RecallScoring scoring(split, config.trainTargets, config.multiQuery);
  KeyValueIds ids = config.ids();

  std::vector<int32_t> valueOf(static_cast<size_t>(ids.keys()), -1);
  std::vector<int32_t> seen, unused(static_cast<size_t>(config.shuffles ? ids.values() : 0));
  std::iota(unused.begin(), unused.end(), static_cast<int32_t>(ids.firstValue()));
  for (int64_t noise : drawNoise(rng)) {
    for (int64_t i = 0; i < noise; ++i)
      sequence.emit(drawToken(rng, ids.content, config.noiseVocab), scoring.other());
    if (noise > 0)
      continue;
    int32_t key = drawToken(rng, 0, ids.keys());
    int32_t &value = valueOf[static_cast<size_t>(key)];
    bool known = value >= 0;
    if (!known && config.shuffles) {
      std::swap(unused[rng.below(unused.size())], unused.back());
      value = unused.back();
      unused.pop_back();
    } else if (!known) {
      value = drawToken(rng, ids.firstValue(), ids.values());
    }
    if (!known)
      seen.push_back(key);
    sequence.emit(key, scoring.other());
    sequence.emit(value, scoring.value(known));
  }
  int32_t probe = seen[rng.below(seen.size())];
  if (!config.multiQuery)
    sequence.emit(static_cast<int32_t>(config.vocab - 1), scoring.other());
  sequence.emit(probe, scoring.other());
  sequence.emit(valueOf[static_cast<size_t>(probe)], scoring.answer());
}

std::string Recall::spell(int32_t token) const {
  if (token < config.content())
    return config.ids().spell(token);
  return token < config.content() + config.noiseVocab ? fmt::format("~{}", token) : "=>";
}

Result<std::unique_ptr<Task>> create(TaskParameters &parameters, Convention convention,
                                     RecallConfig config) {
  constexpr int64_t largest = int64_t{1} << 30;
  config.vocab = parameters.integer("vocab", config.vocab, 2, largest);
  config.length = parameters.integer("length", config.length, 4, int64_t{1} << 24);
  config.multiQuery = parameters.boolean("multi_query", config.multiQuery);
  config.noiseShare = parameters.number("frac_noise", config.noiseShare, 0, 1);
  config.noiseVocab = parameters.integer("noise_vocab", config.noiseVocab, 0, largest);
  bool paper = convention == Convention::Paper;
  const std::array<std::string, 2> noises = {"tokens", "pairs"}, maps = {"shuffle", "drawn"};
  config.noiseTokens = parameters.choice("noise", noises[paper ? 0 : 1], noises) == "tokens";
  config.shuffles = parameters.choice("map", maps[paper ? 0 : 1], maps) == "shuffle";
  config.trainTargets = trainTargetsOf(parameters, convention);

  if (config.length % 2 != 0)
    parameters.refuse(fmt::format("length must be even, it counts the tokens of key-value pairs, "
                                  "not {}",
                                  config.length));
  if (config.noiseShare >= 1)
    parameters.refuse(fmt::format("frac_noise must be below 1, not {}", config.noiseShare));
  if (config.noiseShare > 0 && config.noiseVocab == 0)
    parameters.refuse("frac_noise > 0 needs noise_vocab > 0, the number of noise tokens");
  if (config.content() < 2)
    parameters.refuse(fmt::format(
        "vocab={} leaves {} ids for keys and values after {} noise ids{}; one key and one value "
        "need 2",
        config.vocab, std::max<int64_t>(0, config.content()), config.noiseVocab,
        config.multiQuery ? "" : " and the copy prefix"));
  return finishTask<Recall>(parameters, config);
}

} // namespace

Result<std::unique_ptr<Task>> createInContextRecall(TaskParameters &parameters,
                                                    Convention convention) {
  return create(parameters, convention, {});
}

Result<std::unique_ptr<Task>> createNoisyInContextRecall(TaskParameters &parameters,
                                                         Convention convention) {
  RecallConfig config;
  config.vocab = 32;
  config.noiseVocab = 16;
  config.noiseShare = 0.2;
  return create(parameters, convention, config);
}

} // namespace hybrid::rt
