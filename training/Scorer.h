//===- Scorer.h - what logits say about instances ----------------------------===//
#pragma once
#include "training/Evaluate.h"

namespace hybrid::rt {

/// A scored position: what was asked, what the model says, and the cross-entropy.
struct Answer {
  int32_t target = 0, predicted = 0;
  double loss = 0;
};
Answer answerOf(std::span<const double> logits, int32_t target);

/// Collects the answers of instances, one instance after another.
class Scorer {
public:
  explicit Scorer(int64_t classes) : macro(classes) {}
  void addInstance(std::span<const Answer> answers);
  /// The score of all instances.
  EvaluationScore finish();

private:
  void closeBatch();

  MacroAccuracy macro;
  double loss = 0, correct = 0, scored = 0, macroSum = 0, wholeInstances = 0;
  uint64_t instances = 0, batchInstances = 0;
};

} // namespace hybrid::rt
