//===- Scores.cpp - from runs to scores ---------------------------------------===//
#include "laboratory/Results.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace hybrid::rt::lab {
namespace {

/// A point of the grid: its runs differ by their seed.
struct Point {
  double learningRate, weightDecay;
  std::vector<const Run *> runs; // with a score
};

double accuracyOf(const Run &run) { return run.diverged ? run.chance : run.accuracy; }
double madAccuracyOf(const Run &run) { return run.diverged ? run.chance : run.madAccuracy; }
double lossOf(const Run &run) {
  return run.diverged ? std::numeric_limits<double>::quiet_NaN() : run.loss;
}

std::pair<double, double> meanAndDeviation(const std::vector<const Run *> &runs,
                                           double (*value)(const Run &)) {
  double sum = 0, squares = 0;
  for (const Run *run : runs)
    sum += value(*run);
  double count = static_cast<double>(runs.size()), mean = sum / count;
  for (const Run *run : runs)
    squares += (value(*run) - mean) * (value(*run) - mean);
  return {mean, runs.size() > 1 ? std::sqrt(squares / (count - 1)) : 0};
}

/// Points with more seeds first: the mean of one lucky seed does not beat a finished point.
/// `measure` is the accuracy that the convention goes by.
void choose(const std::vector<Point> &points, double (*measure)(const Run &), SettingScore &score) {
  size_t most = 0;
  for (const Point &point : points)
    most = std::max(most, point.runs.size());
  double best = -1;
  for (const Point &point : points) {
    if (most == 0 || point.runs.size() < most)
      continue;
    double mean = meanAndDeviation(point.runs, measure).first;
    if (!(mean > best))
      continue;
    best = mean;
    std::tie(score.accuracy, score.deviation) = meanAndDeviation(point.runs, accuracyOf);
    std::tie(score.madAccuracy, score.madDeviation) = meanAndDeviation(point.runs, madAccuracyOf);
    score.loss = meanAndDeviation(point.runs, lossOf).first;
    score.learningRate = point.learningRate;
    score.weightDecay = point.weightDecay;
    score.seeds = static_cast<int64_t>(point.runs.size());
    const Run *top = point.runs.front();
    for (const Run *run : point.runs)
      if (measure(*run) > measure(*top))
        top = run;
    score.bestRun = top->id;
  }
}

SettingScore scoreSetting(const std::vector<const Run *> &runs, double (*measure)(const Run &)) {
  const Run &any = *runs.front();
  SettingScore score;
  score.architecture = any.architecture;
  score.task = any.task;
  score.setting = any.setting;
  score.axis = any.axis;
  score.axisValue = any.axisValue;
  std::vector<Point> points;
  for (const Run *run : runs) {
    auto same = std::find_if(points.begin(), points.end(), [&](const Point &point) {
      return point.learningRate == run->learningRate && point.weightDecay == run->weightDecay;
    });
    if (same == points.end())
      same = points.insert(points.end(), {run->learningRate, run->weightDecay, {}});
    ++score.runs;
    if (run->status == "done")
      ++score.done;
    else if (run->diverged)
      ++score.diverged;
    else if (run->status == "failed")
      ++score.failed;
    if (run->status == "done" || run->diverged)
      same->runs.push_back(run);
  }
  choose(points, measure, score);
  return score;
}

TaskScore scoreTask(const std::string &task, const std::string &architecture,
                    const std::vector<SettingScore> &settings) {
  TaskScore score;
  score.task = task;
  for (const SettingScore &setting : settings) {
    if (setting.architecture != architecture || setting.task != task)
      continue;
    ++score.settings;
    score.runs += setting.runs;
    score.done += setting.done;
    score.diverged += setting.diverged;
    score.failed += setting.failed;
    if (!setting.bestRun)
      continue;
    ++score.scored;
    score.accuracy += setting.accuracy;
    score.madAccuracy += setting.madAccuracy;
    if (setting.axis == "baseline") {
      score.hasBaseline = true;
      score.baselineAccuracy = setting.accuracy;
      score.baselineMadAccuracy = setting.madAccuracy;
    }
  }
  if (score.scored) {
    score.accuracy /= static_cast<double>(score.scored);
    score.madAccuracy /= static_cast<double>(score.scored);
  }
  return score;
}

ArchitectureScore scoreArchitecture(const std::string &name, const Scoreboard &board) {
  ArchitectureScore score;
  score.architecture = name;
  score.complete = true;
  for (const std::string &task : board.tasks) {
    TaskScore each = scoreTask(task, name, board.settings);
    score.complete = score.complete && each.done + each.diverged == each.runs;
    score.scored += each.scored > 0;
    score.accuracy += each.accuracy;
    score.madAccuracy += each.madAccuracy;
    score.baselines += each.hasBaseline;
    score.baselineAccuracy += each.baselineAccuracy;
    score.baselineMadAccuracy += each.baselineMadAccuracy;
    score.tasks.push_back(std::move(each));
  }
  const auto scored = static_cast<double>(std::max<int64_t>(1, score.scored)),
             baselines = static_cast<double>(std::max<int64_t>(1, score.baselines));
  score.accuracy /= scored, score.madAccuracy /= scored;
  score.baselineAccuracy /= baselines, score.baselineMadAccuracy /= baselines;
  return score;
}

} // namespace

Scoreboard scoreStudy(const Study &study) {
  Scoreboard board;
  // In the order of the runs, which is the suite's.
  std::vector<std::pair<std::tuple<std::string, std::string>, std::vector<const Run *>>> groups;
  std::map<std::tuple<std::string, std::string>, size_t> places;
  for (const Run &run : study.runs) {
    if (std::find(board.tasks.begin(), board.tasks.end(), run.task) == board.tasks.end())
      board.tasks.push_back(run.task);
    auto key = std::make_tuple(run.architecture, run.setting);
    auto [place, isNew] = places.try_emplace(key, groups.size());
    if (isNew)
      groups.push_back({key, {}});
    groups[place->second].second.push_back(&run);
  }
  for (const auto &group : groups)
    board.settings.push_back(
        scoreSetting(group.second, study.convention == "mad-lab" ? madAccuracyOf : accuracyOf));
  for (const Architecture &architecture : study.architectures)
    board.architectures.push_back(scoreArchitecture(architecture.name, board));
  return board;
}

} // namespace hybrid::rt::lab
