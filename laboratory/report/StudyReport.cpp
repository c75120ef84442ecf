//===- StudyReport.cpp - a study as data and a page --------------------------------===//
#include "laboratory/Names.h"
#include "laboratory/Verdict.h"
#include "laboratory/report/Page.h"
#include "laboratory/report/Report.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/Json.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

namespace hybrid::rt::lab {
using json = nlohmann::ordered_json;
using report::page;
namespace {

using RunsById = std::unordered_map<int64_t, const Run *>;

/// Of a curve: as many digits as a picture shows.
double rounded(double value) { return std::round(value * 1e5) / 1e5; }

json curveOf(const Run &run) {
  json steps = json::array(), losses = json::array(), micro = json::array(), macro = json::array();
  for (const CurvePoint &point : run.curve) {
    steps.push_back(point.step);
    losses.push_back(rounded(point.loss));
    micro.push_back(rounded(point.accuracy));
    macro.push_back(rounded(point.madAccuracy));
  }
  return {{"step", std::move(steps)},
          {"loss", std::move(losses)},
          {"accuracy", std::move(micro)},
          {"mad_accuracy", std::move(macro)}};
}

json settingOf(const SettingScore &score, const RunsById &runs, double chance) {
  json setting = {{"setting", score.setting}, {"title", settingTitle(score.axis, score.axisValue)},
                  {"axis", score.axis},       {"value", score.axisValue},
                  {"chance", chance},         {"accuracy", nullptr},
                  {"deviation", nullptr},     {"mad_accuracy", nullptr},
                  {"mad_deviation", nullptr}, {"lr", nullptr},
                  {"weight_decay", nullptr},  {"best_run", score.bestRun},
                  {"seeds", score.seeds},     {"runs", score.runs},
                  {"done", score.done},       {"diverged", score.diverged},
                  {"failed", score.failed}};
  if (!score.bestRun)
    return setting;
  setting["accuracy"] = score.accuracy;
  setting["mad_accuracy"] = score.madAccuracy;
  if (score.seeds > 1) {
    setting["deviation"] = score.deviation;
    setting["mad_deviation"] = score.madDeviation;
  }
  setting["lr"] = score.learningRate;
  setting["weight_decay"] = score.weightDecay;
  if (auto run = runs.find(score.bestRun); run != runs.end()) {
    setting["best_step"] = run->second->bestStep;
    setting["best_loss"] = run->second->loss;
    setting["seconds"] = run->second->seconds;
    setting["curve"] = curveOf(*run->second);
  }
  return setting;
}

struct Counts {
  int64_t runs = 0, done = 0, diverged = 0, failed = 0;
  double seconds = 0;
  json toJson() const {
    return {{"runs", runs},         {"done", done},
            {"failed", failed},     {"open", runs - done - diverged - failed},
            {"diverged", diverged}, {"seconds", seconds}};
  }
};

Counts countsOf(const Study &study, const std::string *architecture) {
  Counts counts;
  for (const Run &run : study.runs) {
    if (architecture && run.architecture != *architecture)
      continue;
    ++counts.runs;
    counts.done += run.status == "done";
    counts.diverged += run.diverged;
    counts.failed += run.status == "failed" && !run.diverged;
    counts.seconds += std::isfinite(run.seconds) ? run.seconds : 0;
  }
  return counts;
}

/// Failed runs by what they say, with one of them as an example.
json failuresOf(const Study &study) {
  std::map<std::pair<bool, std::string>, std::pair<int64_t, const Run *>> failures;
  for (const Run &run : study.runs)
    if (run.status == "failed") {
      auto &[count, example] = failures[{run.diverged, run.error}];
      ++count;
      example = example ? example : &run;
    }
  json list = json::array();
  for (const auto &[what, where] : failures)
    list.push_back({{"diverged", what.first},
                    {"error", what.second},
                    {"runs", where.first},
                    {"architecture", where.second->architecture},
                    {"setting", where.second->setting},
                    {"lr", where.second->learningRate},
                    {"weight_decay", where.second->weightDecay},
                    {"seed", where.second->seed}});
  return list;
}

/// Fixed and growing, at the length of the first setting; null where the compiler cannot tell.
json stateJson(const std::optional<StateSize> &state) {
  return state ? json(state->total()) : json();
}

/// A mean, or nothing where it is one of none.
json meanOf(double mean, int64_t count) { return count > 0 ? json(mean) : json(); }

json architectureOf(const ArchitectureScore &score, const Architecture &architecture,
                    const Study &study, const Scoreboard &board, const RunsById &runs,
                    const std::map<std::string, double> &chances) {
  json tasks = json::object();
  for (const TaskScore &task : score.tasks) {
    json settings = json::array();
    for (const SettingScore &setting : board.settings)
      if (setting.architecture == score.architecture && setting.task == task.task)
        settings.push_back(settingOf(setting, runs, chances.at(setting.setting)));
    json both = {{"accuracy", nullptr}, {"mad_accuracy", nullptr}};
    if (task.scored)
      both = {{"accuracy", task.accuracy},
              {"mad_accuracy", task.madAccuracy},
              {"baseline_accuracy", meanOf(task.baselineAccuracy, task.hasBaseline)},
              {"baseline_mad_accuracy", meanOf(task.baselineMadAccuracy, task.hasBaseline)}};
    both["settings"] = std::move(settings);
    tasks[task.task] = std::move(both);
  }
  return {{"architecture", score.architecture},
          {"path", architecture.path},
          {"settings", architecture.settings},
          {"accuracy", meanOf(score.accuracy, score.scored)},
          {"mad_accuracy", meanOf(score.madAccuracy, score.scored)},
          {"baseline_accuracy", meanOf(score.baselineAccuracy, score.baselines)},
          {"baseline_mad_accuracy", meanOf(score.baselineMadAccuracy, score.baselines)},
          {"complete", score.complete},
          {"counts", countsOf(study, &score.architecture).toJson()},
          {"cost",
           {{"parameters", architecture.parameters},
            {"flops_per_token", architecture.flopsPerToken},
            {"state_elements", stateJson(architecture.state)},
            {"counted_state_elements", stateJson(architecture.countedState)}}},
          {"tasks", std::move(tasks)},
          {"source", architecture.source}};
}

json verdictJson(const Verdict &verdict, const Study &study) {
  json standing = json::array(), overridden = json::array();
  for (const Standing &each : verdict.standing)
    standing.push_back({{"architecture", study.architectures[each.architecture].name},
                        {"score", each.score},
                        {"low", each.low()},
                        {"high", each.high()},
                        {"assumed", each.assumed}});
  for (const Override &each : verdict.overridden)
    overridden.push_back({{"name", each.name}, {"value", each.value}, {"usual", each.usual}});
  return {{"tied", verdict.tied},
          {"standing", std::move(standing)},
          {"overridden", std::move(overridden)}};
}

} // namespace

json studyJson(const Study &study, const Scoreboard &board) {
  const Verdict verdict = verdictOf(study, board);
  RunsById runs;
  std::map<std::string, double> chances; // by setting
  std::set<uint64_t> seeds;
  std::set<std::pair<double, double>> points;
  for (const Run &run : study.runs) {
    runs.try_emplace(run.id, &run);
    chances.try_emplace(run.setting, run.chance);
    seeds.insert(run.seed);
    points.insert({run.learningRate, run.weightDecay});
  }
  json options = json::object(), tasks = json::array(), architectures = json::array();
  for (const auto &[name, value] : study.options)
    options[name] = value;
  for (const std::string &task : board.tasks)
    tasks.push_back({{"name", task}, {"title", taskTitle(task)}, {"word", taskWord(task)}});
  for (size_t i = 0; i < board.architectures.size(); ++i)
    architectures.push_back(architectureOf(board.architectures[i], study.architectures[i], study,
                                           board, runs, chances));
  return {{"kind", "study"},
          {"title", verdict.title},
          {"text", verdict.text},
          {"convention", study.convention},
          {"suite", study.suite},
          {"scored_by", study.convention == "mad-lab" ? "mad_accuracy" : "accuracy"},
          {"version", study.version},
          {"command", study.command},
          {"seed", study.seed},
          {"seeds", seeds},
          {"grid", points},
          {"options", std::move(options)},
          {"verdict", verdictJson(verdict, study)},
          {"counts", countsOf(study, nullptr).toJson()},
          {"failures", failuresOf(study)},
          {"tasks", std::move(tasks)},
          {"architectures", std::move(architectures)}};
}

static void eraseKeys(json &value, const std::set<std::string> &keys) {
  if (value.is_object())
    for (const std::string &key : keys)
      value.erase(key);
  if (value.is_structured())
    for (json &each : value)
      eraseKeys(each, keys);
}

json scoresJson(const Study &study, const Scoreboard &board) {
  json scores = studyJson(study, board);
  eraseKeys(scores, {"source", "curve", "seconds", "command"});
  return scores;
}

Result<void> writeReport(const Study &study, const Scoreboard &scores, const std::string &folder) {
  const json data = studyJson(study, scores);
  if (auto done = writeFileAtomically(folder + "/study.json", jsonLine(data) + "\n"); !done)
    return done;
  return writeFileAtomically(folder + "/report.html", page(data));
}

} // namespace hybrid::rt::lab
