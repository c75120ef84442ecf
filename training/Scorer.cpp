//===- Scorer.cpp - what logits say about instances --------------------------===//
#include "training/Scorer.h"
#include <algorithm>
#include <cmath>

namespace hybrid::rt {

constexpr uint64_t madBatch = 128;

Answer answerOf(std::span<const double> logits, int32_t target) {
  auto best = std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (double value : logits)
    sum += std::exp(value - *best);
  return {target, static_cast<int32_t>(best - logits.begin()),
          std::log(sum) + *best - logits[static_cast<size_t>(target)]};
}

void Scorer::addInstance(std::span<const Answer> answers) {
  bool whole = true;
  for (const Answer &answer : answers) {
    loss += answer.loss;
    macro.add(answer.target, answer.predicted);
    correct += answer.target == answer.predicted;
    whole &= answer.target == answer.predicted;
    ++scored;
  }
  wholeInstances += whole;
  ++instances;
  if (++batchInstances == madBatch)
    closeBatch();
}

void Scorer::closeBatch() {
  macroSum += macro.value() * static_cast<double>(batchInstances);
  macro.clear();
  batchInstances = 0;
}

EvaluationScore Scorer::finish() {
  closeBatch();
  EvaluationScore score;
  auto count = static_cast<double>(instances);
  score.examples = instances;
  score.scored = scored;
  score.loss = scored > 0 ? roundedLoss(loss / scored) : 0;
  score.accuracy = scored > 0 ? correct / scored : 0;
  score.madAccuracy = instances > 0 ? macroSum / count : 0;
  score.sequenceAccuracy = instances > 0 ? wholeInstances / count : 0;
  return score;
}

} // namespace hybrid::rt
