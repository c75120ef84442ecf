//===- Protocol.cpp - how a study trains, scores and chooses -----------------===//
#include "laboratory/Protocol.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hybrid::rt::lab {
namespace {

/// Updates of the suites of short trainings, measured: see docs/book/mad.md.
struct ShortSteps {
  const char *task;
  int64_t steps;
};
constexpr ShortSteps shortSteps[] = {
    {"in-context-recall", 2500},
    {"noisy-in-context-recall", 2500},
    {"fuzzy-in-context-recall", 1500},
    {"selective-copying", 1000},
    {"compression", 5000},
    {"memorization", 1000},
    {"multi-query-recall", 4000},
    {"joint-recall", 4000},
    {"parity", 5000},
    {"modular-arithmetic", 10000},
    {"word-problem", 5000},
    {"mano", 5000},
    {"depo", 5000},
};
constexpr int64_t otherShortSteps = 1000;

} // namespace

Protocol Protocol::named(const std::string &suite, Convention convention) {
  Protocol protocol;
  protocol.suite = suite;
  protocol.convention = convention;
  protocol.learningRates = {1e-4, 5e-4, 1e-3};
  protocol.weightDecays = {0, 0.1};
  if (convention == Convention::MadLab) {
    protocol.schedule = ScheduleKind::Constant;
    protocol.beta2 = 0.999;
    protocol.evaluations = 0;
    protocol.bestCheckpoint = true;
    protocol.macro = true;
    protocol.seed = defaultDataSeed;
  }
  if (isShort(suite)) {
    protocol.learningRates = {1e-3};
    protocol.weightDecays = {0.1};
    protocol.warmup = 0.1;
    protocol.batch = 16;
    protocol.fresh = true;
    protocol.testExamples = 256;
    protocol.evaluations = 25;
    protocol.precision = "bf16";
  }
  protocol.tasks = tasksOfSuite(suite);
  if (!protocol.tasks.empty()) {
    protocol.batch = 64;
    protocol.precision = suite == "state" ? "f32" : "bf16"; // products of many transitions
  }
  return protocol;
}

int64_t Protocol::stepsOf(const Setting &setting) const {
  auto whole = static_cast<double>(wholeStepsOf(setting));
  return std::max<int64_t>(1, std::llround(std::ceil(whole * share - 1e-9)));
}

int64_t Protocol::wholeStepsOf(const Setting &setting) const {
  if (steps > 0)
    return steps;
  if (isShort(suite) && fresh) {
    for (const ShortSteps &each : shortSteps)
      if (setting.task == each.task)
        return each.steps;
    return otherShortSteps;
  }
  // The last batch of an epoch is kept and so counts as an update; ours is filled with the
  // beginning of the next.
  uint64_t examples = setting.trainExamples ? setting.trainExamples : 12800;
  double perEpoch = std::ceil(static_cast<double>(examples) / static_cast<double>(batch));
  return std::max<int64_t>(1, std::llround(std::ceil(epochs * perEpoch)));
}

int64_t Protocol::evalEveryOf(const Setting &setting) const {
  if (evaluations > 0)
    return std::max<int64_t>(1, (stepsOf(setting) + evaluations - 1) / evaluations);
  uint64_t examples = setting.trainExamples ? setting.trainExamples : 12800;
  return std::max<int64_t>(1, (static_cast<int64_t>(examples) + batch - 1) / batch);
}

Result<std::vector<Setting>> Protocol::settings() const {
  return suiteSettings(tasks, suite == "full", fresh, convention);
}

Run Protocol::plannedRun(const Setting &setting, double learningRate, double weightDecay,
                         uint64_t runSeed) const {
  Run run;
  run.task = setting.task;
  run.setting = setting.key();
  run.axis = setting.axis;
  run.axisValue = setting.axisValue;
  run.learningRate = learningRate;
  run.weightDecay = weightDecay;
  run.seed = runSeed;
  run.chance = setting.chance;
  run.batch = batch;
  run.steps = stepsOf(setting);
  return run;
}

std::vector<std::pair<std::string, std::string>> Protocol::options() const {
  bool lab = convention == Convention::MadLab;
  std::string part = share == 1 ? "" : fmt::format(", {:.3g} of it", share);
  std::string length = steps > 0                 ? fmt::format("{} updates", steps)
                       : isShort(suite) && fresh ? std::string("by task")
                                                 : fmt::format("{} epochs", epochs);
  return {
      {"suite", suite},
      {"convention", std::string(nameOf(convention))},
      {"tasks", tasks.empty() ? "all six" : fmt::format("{}", fmt::join(tasks, ", "))},
      {"learning rates", fmt::format("{}", fmt::join(learningRates, ", "))},
      {"weight decays", fmt::format("{}", fmt::join(weightDecays, ", "))},
      {"weight decay applies to", "parameters that the model declares so"},
      {"seeds", fmt::format("{} from {}", seeds, seed)},
      {"length", length + part},
      {"batch", std::to_string(batch)},
      {"training set", fresh ? "fresh instances for ever" : "MAD's sizes, shuffled each epoch"},
      {"training targets of recall",
       lab ? "every token (mad-lab)" : "values, the first of a key included (paper)"},
      {"test instances", std::to_string(testExamples)},
      {"data seed", std::to_string(dataSeed)},
      {"evaluations",
       evaluations > 0 ? fmt::format("{} a run", evaluations) : std::string("every epoch")},
      {"optimizer", fmt::format("AdamW, betas {} and {}, eps {}", beta1, beta2, epsilon)},
      {"schedule", schedule == ScheduleKind::Constant
                       ? std::string("constant")
                       : fmt::format("{} to {}", nameOf(schedule), leastRate)},
      {"warm-up", warmup > 0 ? fmt::format("{:.3g} of the updates", warmup) : std::string("no")},
      {"early stop", stopAbove > 0
                         ? fmt::format("{} accuracy above {}", macro ? "macro" : "micro", stopAbove)
                         : std::string("no")},
      {"checkpoint", bestCheckpoint ? "least loss on the test instances" : "the last"},
      {"chosen by", macro ? "macro accuracy, a mean over batches of 128 (mad_accuracy)"
                          : "micro accuracy over scored tokens (accuracy)"},
      {"precision", precision},
      {"device", device},
  };
}

nlohmann::json Protocol::toJson() const {
  return {{"convention", std::string(nameOf(convention))},
          {"suite", suite},
          {"tasks", tasks},
          {"learning_rates", learningRates},
          {"weight_decays", weightDecays},
          {"seeds", seeds},
          {"seed", seed},
          {"batch", batch},
          {"epochs", epochs},
          {"steps", steps},
          {"share", share},
          {"fresh", fresh},
          {"test_examples", testExamples},
          {"evaluations", evaluations},
          {"schedule", std::string(nameOf(schedule))},
          {"warmup", warmup},
          {"least_rate", leastRate},
          {"beta1", beta1},
          {"beta2", beta2},
          {"epsilon", epsilon},
          {"stop_above", stopAbove},
          {"best_checkpoint", bestCheckpoint},
          {"macro", macro},
          {"data_seed", dataSeed},
          {"precision", precision},
          {"device", device}};
}

Result<Protocol> Protocol::fromJson(const nlohmann::json &json) {
  Protocol protocol;
  std::string fault;
  auto read = [&](const char *name, auto &value) {
    using Value = std::remove_reference_t<decltype(value)>;
    auto found = json.is_object() ? json.find(name) : json.end();
    bool good = json.is_object() && found != json.end();
    if constexpr (std::is_same_v<Value, std::string>)
      good = good && found->is_string();
    else if constexpr (std::is_same_v<Value, bool>)
      good = good && found->is_boolean();
    else if constexpr (std::is_arithmetic_v<Value>)
      good = good && found->is_number();
    else if constexpr (std::is_same_v<Value, std::vector<double>>)
      good = good && found->is_array() &&
             std::all_of(found->begin(), found->end(), [](const auto &v) { return v.is_number(); });
    else
      good = good && found->is_array() &&
             std::all_of(found->begin(), found->end(), [](const auto &v) { return v.is_string(); });
    if (good)
      value = found->template get<Value>();
    else if (fault.empty())
      fault = name;
  };
  std::string convention, schedule;
  read("convention", convention);
  read("suite", protocol.suite);
  read("tasks", protocol.tasks);
  read("learning_rates", protocol.learningRates);
  read("weight_decays", protocol.weightDecays);
  read("seeds", protocol.seeds);
  read("seed", protocol.seed);
  read("batch", protocol.batch);
  read("epochs", protocol.epochs);
  read("steps", protocol.steps);
  read("share", protocol.share);
  read("fresh", protocol.fresh);
  read("test_examples", protocol.testExamples);
  read("evaluations", protocol.evaluations);
  read("schedule", schedule);
  read("warmup", protocol.warmup);
  read("least_rate", protocol.leastRate);
  read("beta1", protocol.beta1);
  read("beta2", protocol.beta2);
  read("epsilon", protocol.epsilon);
  read("stop_above", protocol.stopAbove);
  read("best_checkpoint", protocol.bestCheckpoint);
  read("macro", protocol.macro);
  read("data_seed", protocol.dataSeed);
  read("precision", protocol.precision);
  read("device", protocol.device);
  if (!fault.empty())
    return Error{fmt::format("the study's protocol lacks a legal '{}'", fault)};
  protocol.convention = convention == "mad-lab" ? Convention::MadLab : Convention::Paper;
  auto kind = scheduleKind(schedule);
  if (!kind)
    return kind.error();
  protocol.schedule = *kind;
  return protocol;
}

} // namespace hybrid::rt::lab
