//===- Evaluate.cpp - scoring a model on test instances ----------------------===//
#include "training/Evaluate.h"
#include "runtime/cpu/Team.h"
#include "training/Ranks.h"
#include "training/Scorer.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt {

constexpr uint64_t defaultExamples = 1280;

double roundedLoss(double loss) { return std::round(loss * 1e6) / 1e6; }

BatchRow::BatchRow(const BatchMemory &memory, const StepRunner &runner, const Source &source,
                   uint64_t row)
    : source(source) {
  auto inputs = static_cast<uint64_t>(runner.length() * source.inputWords()),
       targets = static_cast<uint64_t>(runner.length() * source.targetWords());
  wholeInputs = memory.tokens.subspan(row * inputs, inputs);
  wholeTargets = memory.targets.subspan(row * targets, targets);
}

std::span<int32_t> BatchRow::inputs() const {
  return wholeInputs.first(static_cast<size_t>(source.positions() * source.inputWords()));
}

std::span<int32_t> BatchRow::targets() const {
  return wholeTargets.first(static_cast<size_t>(source.positions() * source.targetWords()));
}

void BatchRow::padFrom(int64_t positions) const {
  std::fill(wholeInputs.begin() + positions * source.inputWords(), wholeInputs.end(), 0);
  std::fill(wholeTargets.begin() + positions * source.targetWords(), wholeTargets.end(),
            source.inputNumbers() > 0 ? 0 : ignoredTarget); // a weight of 0
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

static std::string inputText(int64_t numbers) {
  return numbers > 0 ? fmt::format("{} numbers at each position", numbers) : "tokens";
}

Result<void> checkFits(const StepRunner &runner, const Source &source) {
  if (source.positions() > runner.length() ||
      (source.takesNoPadding() && source.positions() != runner.length()))
    return Error{fmt::format("the instances have {} positions, but the model was compiled for {}: "
                             "compile it with --length {}",
                             source.positions(), runner.length(), source.positions())};
  if (runner.inputNumbers() != source.inputNumbers())
    return Error{fmt::format("the data has {}, but the model takes {}",
                             inputText(source.inputNumbers()), inputText(runner.inputNumbers()))};
  return checkVocabulary(source, runner.vocabulary(), runner.tokenIds());
}

Result<void> checkVocabulary(const Source &source, int64_t classes, int64_t tokenIds) {
  const int64_t tokens = source.vocabulary(), answers = source.answers();
  if (classes && classes < answers && answers != tokens)
    return Error{fmt::format("the data has {} classes, but the model's logits have {}: compile it "
                             "with --set classes={}",
                             answers, classes, answers)};
  std::string lacks;
  if (classes && classes < answers)
    lacks = fmt::format("the model's logits have {} classes", classes);
  else if (tokenIds && tokenIds < tokens)
    lacks = fmt::format("the model takes tokens from 0 to {}", tokenIds - 1);
  if (lacks.empty())
    return {};
  return Error{fmt::format("the data has a vocabulary of {}, but {}: compile it with --set "
                           "vocab={}",
                           tokens, lacks, tokens)};
}

namespace {

/// What the logits say at the scored positions of one instance.
std::vector<Answer> answersOf(const StepRunner &runner, int64_t firstRow,
                              std::span<const int32_t> targets) {
  std::vector<double> logits(static_cast<size_t>(runner.vocabulary()));
  std::vector<Answer> answers;
  for (size_t t = 0; t < targets.size(); ++t)
    if (targets[t] != ignoredTarget) {
      runner.logits(firstRow + static_cast<int64_t>(t), logits);
      answers.push_back(answerOf(logits, targets[t]));
    }
  return answers;
}

/// One replica's evaluation while it goes on.
class Evaluation {
public:
  Evaluation(StepRunner &runner, const EvaluationJob &job)
      : runner(runner), replica(job.replica), source(*job.source),
        count(examplesFor(source, job.count)), scorer(runner.vocabulary()) {}

  uint64_t examples() const { return count; }
  void fill(uint64_t first);
  /// Of the batch that was filled, and those of other ranks.
  Result<void> add(uint64_t first, BatchScore score);
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

/// `first`: of the batches of all ranks.
static uint64_t firstOfRank(const StepRunner &runner, uint64_t first) {
  return first + static_cast<uint64_t>(placeOf(runner).rank * runner.batch());
}

void Evaluation::fill(uint64_t all) {
  const uint64_t first = firstOfRank(runner, all);
  BatchMemory memory = runner.evaluationBatch(replica);
  parallelFor(runner.batch(), threadsForBatch(runner), [&](int64_t low, int64_t high, int) {
    for (auto row = static_cast<uint64_t>(low); row < static_cast<uint64_t>(high); ++row) {
      BatchRow place(memory, runner, source, row);
      bool used = first + row < count;
      if (used)
        source.test(first + row, count, place.inputs(), place.targets());
      place.padFrom(used ? source.positions() : 0);
    }
  });
  kept.resize(memory.targets.size());
  std::copy(memory.targets.begin(), memory.targets.end(), kept.begin());
}

Result<void> Evaluation::add(uint64_t all, BatchScore score) {
  const auto length = static_cast<uint64_t>(runner.length());
  const uint64_t first = firstOfRank(runner, all);
  const auto used =
      first < count ? std::min(static_cast<uint64_t>(runner.batch()), count - first) : 0;
  if (runner.vocabulary() && used > 0)
    if (auto shown = runner.showLogits(replica); !shown)
      return shown.error();
  const bool answersHere = runner.vocabulary() && placeOf(runner).part == 0;
  std::vector<std::vector<Answer>> answers(answersHere ? used : 0);
  parallelFor(std::ssize(answers), threadsForBatch(runner), [&](int64_t low, int64_t high, int) {
    for (auto row = static_cast<uint64_t>(low); row < static_cast<uint64_t>(high); ++row)
      answers[row] = answersOf(runner, static_cast<int64_t>(row * length),
                               std::span<const int32_t>(kept).subspan(
                                   row * length, static_cast<uint64_t>(source.positions())));
  });
  auto gathered = gatherAnswers(runner, std::move(answers), score);
  if (!gathered)
    return gathered.error();
  total.loss += score.loss * score.weight;
  total.weight += score.weight;
  total.correct += score.correct;
  for (const std::vector<Answer> &each : *gathered)
    scorer.addInstance(each);
  return {};
}

EvaluationScore Evaluation::close() {
  if (runner.vocabulary())
    return scorer.finish();
  EvaluationScore score;
  score.examples = count;
  score.scored = total.weight;
  score.loss = total.weight > 0 ? roundedLoss(total.loss / total.weight) : 0;
  score.accuracy = total.weight > 0 ? total.correct / total.weight : 0;
  return score;
}

} // namespace

Result<std::vector<EvaluationScore>> evaluate(StepRunner &runner,
                                              std::span<const EvaluationJob> jobs,
                                              const std::function<bool()> &stop) {
  std::vector<Evaluation> evaluations;
  uint64_t most = 0;
  for (const EvaluationJob &job : jobs) {
    evaluations.emplace_back(runner, job);
    most = std::max(most, evaluations.back().examples());
  }
  const auto batch = static_cast<uint64_t>(runner.batch() * placeOf(runner).count);
  for (uint64_t first = 0; first < most; first += batch) {
    if (stop && stop())
      return std::vector<EvaluationScore>();
    for (Evaluation &evaluation : evaluations)
      evaluation.fill(first);
    Result<std::vector<BatchScore>> scores = runner.evaluate();
    if (!scores)
      return scores.error();
    for (size_t i = 0; i < jobs.size(); ++i)
      if (first < evaluations[i].examples())
        if (auto done = evaluations[i].add(first, (*scores)[static_cast<size_t>(jobs[i].replica)]);
            !done)
          return done.error();
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
