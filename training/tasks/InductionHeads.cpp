//===- InductionHeads.cpp - what followed the trigger the first time --------===//
//
// Two forms of one question: a trigger stands somewhere in random tokens and once more at the end,
// where the token that followed it the first time is to be said.
//
// induction-heads (Gu and Dao 2023, section 4.1.2 and appendix E.1; what the paper leaves open as
// its authors told users): `length` tokens, of which the last is the trigger; only the last
// position is a target, in training too. Ids: ordinary from 0, the trigger vocab-1. Trained at
// length 256, tested at lengths from 64 to 2^20.
//
// safari-induction (the code released with Fu et al. 2023 and Poli et al. 2023): `length` random
// tokens, one of them overwritten by the trigger, then the trigger: `length` + 1 positions.
// Training instances ask every next token, test instances the last. Ids: 0 is never used, content
// 1 .. vocab-2, the trigger vocab-1.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/InductionHeads.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/Instance.h"
#include "training/tasks/KeyValues.h"
#include <algorithm>

namespace hybrid::rt {
namespace {

constexpr int64_t longest = int64_t{1} << 24;

class InductionHeads final : public ConfiguredTask<VocabularyAndLength> {
public:
  using ConfiguredTask::ConfiguredTask;

  /// What the paper calls an epoch: 8192 steps of 8 instances.
  uint64_t epochExamples() const override { return 65536; }
  void draw(Instance &instance) const override {
    auto &[seed, split, rng, inputs, targets] = instance;
    // Two ordinary tokens at least stand between the triggers, the answer included.
    size_t first = rng.below(inputs.size() - 3);
    for (int32_t &token : inputs)
      token = drawToken(rng, 0, config.vocab - 1);
    inputs[first] = inputs.back() = static_cast<int32_t>(config.vocab - 1);
    targets.back() = inputs[first + 1];
  }
};

struct SafariInductionConfig : VocabularyAndLength {
  bool asksAll;
};

class SafariInduction final : public ConfiguredTask<SafariInductionConfig> {
public:
  using ConfiguredTask::ConfiguredTask;

  int64_t positions() const override { return config.length + 1; }
  uint64_t epochExamples() const override { return 5000; }
  void draw(Instance &instance) const override {
    auto &[seed, split, rng, inputs, targets] = instance;
    for (int32_t &token : inputs)
      token = drawToken(rng, 1, config.vocab - 2);
    size_t first = rng.below(inputs.size() - 3); // below length - 2
    inputs[first] = inputs.back() = static_cast<int32_t>(config.vocab - 1);
    if (config.asksAll && split == Split::Train)
      std::copy(inputs.begin() + 1, inputs.end(), targets.begin());
    targets.back() = inputs[first + 1];
  }
};

} // namespace

Result<std::unique_ptr<Task>> createInductionHeads(TaskParameters &parameters, Convention) {
  int64_t vocab = parameters.integer("vocab", 16, 2, int64_t{1} << 30);
  int64_t length = parameters.integer("length", 256, 4, longest);
  return finishTask<InductionHeads>(parameters, VocabularyAndLength{vocab, length});
}

Result<std::unique_ptr<Task>> createSafariInduction(TaskParameters &parameters, Convention) {
  int64_t vocab = parameters.integer("vocab", 20, 3, int64_t{1} << 30);
  int64_t length = parameters.integer("length", 30, 3, longest);
  bool asksAll = asksWholeSequence(parameters);
  return finishTask<SafariInduction>(parameters, SafariInductionConfig{{vocab, length}, asksAll});
}

} // namespace hybrid::rt
