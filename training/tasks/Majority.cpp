//===- Majority.cpp - the most frequent token -------------------------------===//
//
// Majority (Poli et al. 2023, section 4.1; the paper gives examples, no generator): `length` random
// tokens of which one is more frequent than every other, then the query token, at which it is to be
// said. Draws with several leaders are mended: as long as the top is shared, one token that does
// not lead becomes a leader chosen at random. Ids: content from 0, the query vocab-1.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/Majority.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/Instance.h"
#include <algorithm>

namespace hybrid::rt {
namespace {

class Majority final : public ConfiguredTask<VocabularyAndLength> {
public:
  using ConfiguredTask::ConfiguredTask;

  int64_t positions() const override { return config.length + 1; }
  uint64_t epochExamples() const override { return 2000; }
  void draw(Instance &instance) const override;
};

void Majority::draw(Instance &instance) const {
  auto &[seed, split, rng, inputs, targets] = instance;
  std::span<int32_t> prompt = inputs.first(inputs.size() - 1);
  std::vector<int64_t> counts(static_cast<size_t>(config.vocab - 1));
  auto countOf = [&](int32_t token) -> int64_t & { return counts[static_cast<size_t>(token)]; };
  for (int32_t &token : prompt)
    ++countOf(token = drawToken(rng, 0, config.vocab - 1));

  std::vector<int32_t> leaders;
  std::vector<size_t> others; // places of tokens that do not lead
  for (;;) {
    int64_t top = *std::max_element(counts.begin(), counts.end());
    leaders.clear();
    for (size_t token = 0; token < counts.size(); ++token)
      if (counts[token] == top)
        leaders.push_back(static_cast<int32_t>(token));
    if (leaders.size() == 1)
      break;
    others.clear();
    for (size_t t = 0; t < prompt.size(); ++t)
      if (countOf(prompt[t]) < top)
        others.push_back(t);
    if (others.empty()) { // all tokens there are lead: any place will do
      others.resize(prompt.size());
      for (size_t t = 0; t < prompt.size(); ++t)
        others[t] = t;
    }
    int32_t winner = leaders[rng.below(leaders.size())];
    int32_t &changed = prompt[others[rng.below(others.size())]];
    --countOf(changed);
    ++countOf(changed = winner);
  }
  inputs.back() = static_cast<int32_t>(config.vocab - 1);
  targets.back() = leaders.front();
}

} // namespace

Result<std::unique_ptr<Task>> createMajority(TaskParameters &parameters, Convention) {
  int64_t vocab = parameters.integer("vocab", 10, 2, int64_t{1} << 24);
  int64_t length = parameters.integer("length", 128, 1, int64_t{1} << 24);
  return finishTask<Majority>(parameters, VocabularyAndLength{vocab, length});
}

} // namespace hybrid::rt
