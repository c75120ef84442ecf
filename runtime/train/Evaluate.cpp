//===- Evaluate.cpp - scoring a model on test instances ----------------------===//
#include "runtime/train/Evaluate.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt {

constexpr uint64_t madBatch = 128, defaultExamples = 1280;

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
    return Error{
        fmt::format("the data has a vocabulary of {}, but the model's logits have {} classes: "
                    "compile it with --set vocab={}",
                    source.vocabulary(), runner.vocabulary(), source.vocabulary())};
  return {};
}

namespace {

/// Collects what the logits say about the instances, one by one.
class Scorer {
public:
  explicit Scorer(int64_t classes) : macro(classes), row(static_cast<size_t>(classes)) {}

  void addInstance(const StepRunner &runner, int64_t firstRow, std::span<const int32_t> targets) {
    bool whole = true;
    for (size_t t = 0; t < targets.size(); ++t) {
      int32_t target = targets[t];
      if (target == ignoredTarget)
        continue;
      runner.logits(firstRow + static_cast<int64_t>(t), row);
      auto best = std::max_element(row.begin(), row.end());
      double sum = 0;
      for (double value : row)
        sum += std::exp(value - *best);
      loss += std::log(sum) + *best - row[static_cast<size_t>(target)];
      auto predicted = static_cast<int32_t>(best - row.begin());
      macro.add(target, predicted);
      correct += target == predicted;
      whole &= target == predicted;
      ++scored;
    }
    wholeInstances += whole;
    if (++instances == madBatch)
      closeBatch();
  }
  void closeBatch() {
    macroSum += macro.value() * static_cast<double>(instances);
    macro.clear();
    instances = 0;
  }

  double loss = 0, correct = 0, scored = 0, macroSum = 0, wholeInstances = 0;

private:
  MacroAccuracy macro;
  std::vector<double> row;
  uint64_t instances = 0;
};

} // namespace

Result<EvaluationScore> evaluate(StepRunner &runner, const Source &source, uint64_t count) {
  count = examplesFor(source, count);
  EvaluationScore score;
  score.examples = count;
  auto batch = static_cast<uint64_t>(runner.batch()),
       length = static_cast<uint64_t>(runner.length());
  auto positions = static_cast<uint64_t>(source.positions());
  Scorer scorer(runner.vocabulary());
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
      for (uint64_t row = 0; row < batch && first + row < count; ++row)
        scorer.addInstance(runner, static_cast<int64_t>(row * length),
                           std::span<const int32_t>(kept).subspan(row * length, positions));
  }
  if (runner.vocabulary()) {
    scorer.closeBatch();
    total = {scorer.loss, scorer.scored, scorer.correct};
    score.madAccuracy = scorer.macroSum / static_cast<double>(count);
    score.sequenceAccuracy = scorer.wholeInstances / static_cast<double>(count);
  }
  score.scored = total.weight;
  // To six decimals: the matrix library may sum in another order for another batch size, and what
  // is beyond is then the noise of f32 logits, not a property of the model.
  score.loss = total.weight > 0 ? std::round(total.loss / total.weight * 1e6) / 1e6 : 0;
  score.accuracy = total.weight > 0 ? total.correct / total.weight : 0;
  return score;
}

} // namespace hybrid::rt
