//===- Evaluate.cpp - scoring a model on test instances ----------------------===//
#include "runtime/train/Evaluate.h"
#include "runtime/train/Scorer.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt {

constexpr uint64_t defaultExamples = 1280;

double roundedLoss(double loss) { return std::round(loss * 1e6) / 1e6; }

void padRow(std::span<int32_t> tokens, std::span<int32_t> targets, int64_t positions) {
  auto from = static_cast<size_t>(positions);
  std::fill(tokens.begin() + static_cast<int64_t>(from), tokens.end(), 0);
  std::fill(targets.begin() + static_cast<int64_t>(from), targets.end(), ignoredTarget);
}

uint64_t examplesFor(const Source &source, uint64_t count) {
  uint64_t most = source.testExamples();
  if (count == 0)
    return most ? most : defaultExamples;
  return most ? std::min(count, most) : count;
}

void MacroAccuracy::add(int32_t target, int32_t predicted) {
  ++counts[static_cast<size_t>(target)].targets;
  ++counts[static_cast<size_t>(predicted)].predictions;
  counts[static_cast<size_t>(target)].hits += target == predicted;
}

double MacroAccuracy::value() const {
  double sum = 0;
  uint64_t classes = 0;
  for (const Counts &count : counts) {
    if (count.targets + count.predictions == 0)
      continue;
    ++classes;
    if (count.targets)
      sum += static_cast<double>(count.hits) / static_cast<double>(count.targets);
  }
  return classes ? sum / static_cast<double>(classes) : 0;
}

void MacroAccuracy::clear() { std::fill(counts.begin(), counts.end(), Counts{}); }

Result<void> checkFits(const StepRunner &runner, const Source &source) {
  if (source.positions() > runner.length() ||
      (source.takesNoPadding() && source.positions() != runner.length()))
    return Error{fmt::format("the instances have {} positions, but the model was compiled for {}: "
                             "compile it with --length {}",
                             source.positions(), runner.length(), source.positions())};
  if (runner.vocabulary() && runner.vocabulary() < source.vocabulary())
    return vocabularyError(source.vocabulary(), runner.vocabulary());
  return {};
}

Error vocabularyError(int64_t ofData, int64_t ofModel) {
  return Error{fmt::format("the data has a vocabulary of {}, but the model's logits have {} "
                           "classes: compile it with --set vocab={}",
                           ofData, ofModel, ofData)};
}

/// What the model says at the scored positions of the row of the last batch that holds `targets`.
static void collectAnswers(const StepRunner &runner, int64_t firstRow,
                           std::span<const int32_t> targets, std::vector<Answer> &answers) {
  std::vector<double> logits(static_cast<size_t>(runner.vocabulary()));
  answers.clear();
  for (size_t t = 0; t < targets.size(); ++t)
    if (targets[t] != ignoredTarget) {
      runner.logits(firstRow + static_cast<int64_t>(t), logits);
      answers.push_back(answerOf(logits, targets[t]));
    }
}

Result<EvaluationScore> evaluate(StepRunner &runner, const Source &source, uint64_t count) {
  count = examplesFor(source, count);
  auto batch = static_cast<uint64_t>(runner.batch()),
       length = static_cast<uint64_t>(runner.length());
  auto positions = static_cast<uint64_t>(source.positions());
  Scorer scorer(runner.vocabulary());
  std::vector<Answer> answers;
  BatchScore total;
  std::vector<int32_t> kept(batch * length);
  for (uint64_t first = 0; first < count; first += batch) {
    std::span<int32_t> tokens = runner.tokens(false), targets = runner.targets(false);
    for (uint64_t row = 0; row < batch; ++row) {
      std::span<int32_t> in = tokens.subspan(row * length, length);
      std::span<int32_t> out = targets.subspan(row * length, length);
      bool used = first + row < count;
      if (used)
        source.test(first + row, count, in.first(positions), out.first(positions));
      padRow(in, out, used ? source.positions() : 0);
    }
    std::copy(targets.begin(), targets.end(), kept.begin());
    Result<BatchScore> result = runner.evaluate();
    if (!result)
      return result.error();
    total.loss += result->loss * result->weight;
    total.weight += result->weight;
    total.correct += result->correct;
    if (runner.vocabulary())
      for (uint64_t row = 0; row < batch && first + row < count; ++row) {
        collectAnswers(runner, static_cast<int64_t>(row * length),
                       std::span<const int32_t>(kept).subspan(row * length, positions), answers);
        scorer.addInstance(answers);
      }
  }
  if (runner.vocabulary())
    return scorer.finish();
  EvaluationScore score;
  score.examples = count;
  score.scored = total.weight;
  score.loss = total.weight > 0 ? roundedLoss(total.loss / total.weight) : 0;
  score.accuracy = total.weight > 0 ? total.correct / total.weight : 0;
  return score;
}

} // namespace hybrid::rt
