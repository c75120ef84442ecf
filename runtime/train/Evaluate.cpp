//===- Evaluate.cpp - scoring a model on test instances ----------------------===//
#include "runtime/train/Evaluate.h"
#include "runtime/cpu/Parallel.h"
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

int threadsForBatch(const StepRunner &runner) {
  constexpr int64_t leastPositions = 8192; // some 50 microseconds of work
  return runner.batch() * runner.length() < leastPositions ? 1 : runner.threads();
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

/// What the logits say about one instance.
struct InstanceScore {
  double loss = 0, correct = 0, scored = 0;
  std::vector<std::pair<int32_t, int32_t>> answers; // target and prediction
};

InstanceScore scoreInstance(const StepRunner &runner, int64_t firstRow,
                            std::span<const int32_t> targets) {
  InstanceScore score;
  std::vector<double> row(static_cast<size_t>(runner.vocabulary()));
  for (size_t t = 0; t < targets.size(); ++t) {
    const int32_t target = targets[t];
    if (target == ignoredTarget)
      continue;
    runner.logits(firstRow + static_cast<int64_t>(t), row);
    auto best = std::max_element(row.begin(), row.end());
    double sum = 0;
    for (double value : row)
      sum += std::exp(value - *best);
    score.loss += std::log(sum) + *best - row[static_cast<size_t>(target)];
    auto predicted = static_cast<int32_t>(best - row.begin());
    score.answers.emplace_back(target, predicted);
    score.correct += target == predicted;
    ++score.scored;
  }
  return score;
}

/// Sums over instances, in their order.
class Scorer {
public:
  explicit Scorer(int64_t classes) : macro(classes) {}

  void add(const InstanceScore &score) {
    loss += score.loss, correct += score.correct, scored += score.scored;
    for (auto [target, predicted] : score.answers)
      macro.add(target, predicted);
    if (++instances == madBatch)
      closeBatch();
  }
  void closeBatch() {
    macroSum += macro.value() * static_cast<double>(instances);
    macro.clear();
    instances = 0;
  }

  double loss = 0, correct = 0, scored = 0, macroSum = 0;

private:
  MacroAccuracy macro;
  uint64_t instances = 0;
};

/// One replica's evaluation while it goes on.
class Evaluation {
public:
  Evaluation(StepRunner &runner, const EvaluationJob &job)
      : runner(runner), replica(job.replica), source(*job.source),
        count(examplesFor(source, job.count)), scorer(runner.vocabulary()),
        kept(static_cast<size_t>(runner.batch() * runner.length())) {}

  uint64_t examples() const { return count; }
  void fill(uint64_t first);
  /// Of the batch that was filled.
  void add(uint64_t first, const BatchScore &score);
  EvaluationScore close();

private:
  StepRunner &runner;
  int64_t replica;
  const Source &source;
  uint64_t count;
  Scorer scorer;
  BatchScore total;
  std::vector<int32_t> kept; // targets: the program reuses its inputs' memory
};

void Evaluation::fill(uint64_t first) {
  const auto length = static_cast<uint64_t>(runner.length());
  const auto positions = static_cast<uint64_t>(source.positions());
  BatchMemory memory = runner.evaluationBatch(replica);
  parallelFor(runner.batch(), threadsForBatch(runner), [&](int64_t low, int64_t high, int) {
    for (auto row = static_cast<uint64_t>(low); row < static_cast<uint64_t>(high); ++row) {
      std::span<int32_t> in = memory.tokens.subspan(row * length, length);
      std::span<int32_t> out = memory.targets.subspan(row * length, length);
      bool used = first + row < count;
      if (used)
        source.test(first + row, count, in.first(positions), out.first(positions));
      padRow(in, out, used ? source.positions() : 0);
    }
  });
  std::copy(memory.targets.begin(), memory.targets.end(), kept.begin());
}

void Evaluation::add(uint64_t first, const BatchScore &score) {
  const auto length = static_cast<uint64_t>(runner.length());
  total.loss += score.loss * score.weight;
  total.weight += score.weight;
  total.correct += score.correct;
  if (!runner.vocabulary())
    return;
  runner.showLogits(replica);
  const auto used = std::min(static_cast<uint64_t>(runner.batch()), count - first);
  std::vector<InstanceScore> scores(used);
  parallelFor(
      static_cast<int64_t>(used), threadsForBatch(runner), [&](int64_t low, int64_t high, int) {
        for (auto row = static_cast<uint64_t>(low); row < static_cast<uint64_t>(high); ++row)
          scores[row] = scoreInstance(runner, static_cast<int64_t>(row * length),
                                      std::span<const int32_t>(kept).subspan(
                                          row * length, static_cast<uint64_t>(source.positions())));
      });
  for (const InstanceScore &each : scores)
    scorer.add(each);
}

EvaluationScore Evaluation::close() {
  EvaluationScore score;
  score.examples = count;
  if (runner.vocabulary()) {
    scorer.closeBatch();
    total = {scorer.loss, scorer.scored, scorer.correct};
    score.madAccuracy = scorer.macroSum / static_cast<double>(count);
  }
  score.scored = total.weight;
  // To six decimals: the matrix library may sum in another order for another batch size, and what
  // is beyond is then the noise of f32 logits, not a property of the model.
  score.loss = total.weight > 0 ? std::round(total.loss / total.weight * 1e6) / 1e6 : 0;
  score.accuracy = total.weight > 0 ? total.correct / total.weight : 0;
  return score;
}

} // namespace

Result<std::vector<EvaluationScore>> evaluate(StepRunner &runner,
                                              std::span<const EvaluationJob> jobs) {
  std::vector<Evaluation> evaluations;
  uint64_t most = 0;
  for (const EvaluationJob &job : jobs) {
    evaluations.emplace_back(runner, job);
    most = std::max(most, evaluations.back().examples());
  }
  for (uint64_t first = 0; first < most; first += static_cast<uint64_t>(runner.batch())) {
    for (Evaluation &evaluation : evaluations)
      evaluation.fill(first);
    Result<std::vector<BatchScore>> scores = runner.evaluate();
    if (!scores)
      return scores.error();
    for (size_t i = 0; i < jobs.size(); ++i)
      if (first < evaluations[i].examples())
        evaluations[i].add(first, (*scores)[static_cast<size_t>(jobs[i].replica)]);
  }
  std::vector<EvaluationScore> results;
  for (Evaluation &evaluation : evaluations)
    results.push_back(evaluation.close());
  return results;
}

Result<EvaluationScore> evaluate(StepRunner &runner, const Source &source, uint64_t count) {
  const EvaluationJob job{0, &source, count};
  auto scores = evaluate(runner, std::span(&job, 1));
  if (!scores)
    return scores.error();
  return scores->front();
}

} // namespace hybrid::rt
