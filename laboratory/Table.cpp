//===- Table.cpp - a study on a terminal --------------------------------------===//
#include "laboratory/Table.h"
#include "laboratory/Columns.h"
#include "laboratory/Suite.h"
#include "training/record/Progress.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::lab {
namespace {

std::string shortTask(const std::string &task) {
  static const std::map<std::string, std::string> names = {
      {"in-context-recall", "recall"},      {"noisy-in-context-recall", "noisy"},
      {"fuzzy-in-context-recall", "fuzzy"}, {"selective-copying", "copying"},
      {"compression", "compression"},       {"memorization", "memorization"}};
  auto known = names.find(task);
  return known == names.end() ? task : known->second;
}

std::string percent(double value, double deviation) {
  return deviation > 0 ? fmt::format("{:.1f}±{:.1f}", 100 * value, 100 * deviation)
                       : fmt::format("{:.1f}", 100 * value);
}

int64_t positionsOf(const Run &run) {
  static std::map<std::string, int64_t> known;
  auto [place, isNew] = known.try_emplace(run.setting, 0);
  if (isNew)
    if (auto setting = Setting::parse(run.setting, Convention::Paper))
      place->second = setting->positions;
  return place->second;
}

bool isOver(const Run &run) { return run.status == "done" || run.status == "failed"; }

std::string pointOf(const Run &run) {
  std::string where = run.axis == "baseline" ? "" : fmt::format(" {}={}", run.axis, run.axisValue);
  return fmt::format("{} {}{}, lr {}, wd {}, seed {}", run.architecture, run.task, where,
                     run.learningRate, run.weightDecay, run.seed);
}

/// Rows of one kind of accuracy.
std::string scoreRows(const Scoreboard &board, bool mad, int width) {
  std::vector<std::vector<std::string>> rows(1);
  rows[0].emplace_back("architecture");
  bool sweeps = std::any_of(board.settings.begin(), board.settings.end(),
                            [](const SettingScore &each) { return each.axis != "baseline"; });
  for (const std::string &task : board.tasks)
    rows[0].push_back(shortTask(task));
  rows[0].emplace_back("mean");
  if (sweeps)
    rows[0].emplace_back("baselines");
  for (const ArchitectureScore &architecture : board.architectures) {
    std::vector<std::string> row{architecture.architecture};
    bool any = false;
    for (const TaskScore &task : architecture.tasks) {
      double deviation = 0;
      for (const SettingScore &setting : board.settings) // of a task with one setting
        if (task.settings == 1 && setting.task == task.task &&
            setting.architecture == architecture.architecture)
          deviation = mad ? setting.madDeviation : setting.deviation;
      any = any || task.scored > 0;
      bool partial = task.done + task.diverged < task.runs;
      row.push_back(task.scored == 0 ? "-"
                                     : percent(mad ? task.madAccuracy : task.accuracy, deviation) +
                                           (partial ? "*" : ""));
    }
    row.push_back(any ? percent(mad ? architecture.madAccuracy : architecture.accuracy, 0) +
                            (architecture.complete ? "" : "*")
                      : "-");
    if (sweeps)
      row.push_back(
          architecture.baselines > 0
              ? percent(mad ? architecture.baselineMadAccuracy : architecture.baselineAccuracy, 0)
              : "-");
    rows.push_back(std::move(row));
  }
  return alignColumns(rows, width);
}

} // namespace

double trainingFlops(const Run &run) {
  return 3 * run.flopsPerToken * static_cast<double>(run.steps) * static_cast<double>(run.batch) *
         static_cast<double>(std::max<int64_t>(1, positionsOf(run)));
}

double secondsLeft(const Study &study, const std::string &task) {
  // Of the task's own runs if there are any: tasks differ in what a FLOP costs.
  double seconds = 0, work = 0, taskSeconds = 0, taskWork = 0, left = 0;
  int64_t running = 0;
  for (const Run &run : study.runs) {
    bool ours = task.empty() || run.task == task;
    running += run.status == "running";
    if (run.status == "done" && run.steps > 0) {
      double share = static_cast<double>(run.stepsDone) / static_cast<double>(run.steps);
      seconds += run.seconds;
      work += trainingFlops(run) * share;
      if (ours) {
        taskSeconds += run.seconds;
        taskWork += trainingFlops(run) * share;
      }
    } else if (ours && !isOver(run)) {
      double share =
          run.steps > 0 ? static_cast<double>(run.stepsDone) / static_cast<double>(run.steps) : 0;
      left += trainingFlops(run) * (1 - share);
    }
  }
  if (left <= 0)
    return 0;
  double rate = taskSeconds > 0 ? taskWork / taskSeconds : seconds > 0 ? work / seconds : 0;
  if (rate <= 0)
    return -1;
  return left / rate / static_cast<double>(std::max<int64_t>(1, running));
}

std::string progressTable(const Study &study, int width) {
  Scoreboard board = scoreStudy(study);
  std::vector<std::vector<std::string>> rows{
      {"task", "done", "running", "left", "best", "time left", ""}};
  int64_t allDone = 0, allRunning = 0;
  for (const std::string &task : board.tasks) {
    int64_t done = 0, running = 0, all = 0;
    for (const Run &run : study.runs)
      if (run.task == task) {
        ++all;
        done += isOver(run);
        running += run.status == "running";
      }
    const SettingScore *best = nullptr;
    for (const SettingScore &setting : board.settings)
      if (setting.task == task && setting.axis == "baseline" && setting.bestRun &&
          (!best || setting.accuracy > best->accuracy))
        best = &setting;
    double seconds = secondsLeft(study, task);
    rows.push_back({task, std::to_string(done), running ? std::to_string(running) : "",
                    std::to_string(all - done - running),
                    best ? percent(best->accuracy, best->deviation) : "",
                    seconds < 0 ? "?" : clockText(seconds), best ? best->architecture : ""});
    allDone += done;
    allRunning += running;
  }
  double seconds = secondsLeft(study, "");
  rows.push_back({"all", std::to_string(allDone), allRunning ? std::to_string(allRunning) : "",
                  std::to_string(static_cast<int64_t>(study.runs.size()) - allDone - allRunning),
                  "", seconds < 0 ? "?" : clockText(seconds), ""});
  return alignColumns(rows, width);
}

std::string scoreTable(const Study &study, const Scoreboard &board, int width) {
  bool macro = study.convention == "mad-lab";
  std::string text = fmt::format("accuracy, %, micro over scored tokens{}\n",
                                 macro ? "" : " (by which the best runs are chosen)");
  text += scoreRows(board, false, width);
  text += fmt::format("\nmad_accuracy, %, macro over classes, mean over batches of 128{}\n",
                      macro ? " (by which the best runs are chosen)" : "");
  text += scoreRows(board, true, width);
  int64_t over = 0, diverged = 0;
  std::map<std::string, int64_t> failures; // by message
  for (const Run &run : study.runs) {
    over += isOver(run);
    diverged += run.diverged;
    if (run.status == "failed" && !run.diverged)
      ++failures[run.error];
  }
  text += "\n";
  auto all = static_cast<int64_t>(study.runs.size());
  if (over < all)
    text += fmt::format("* {} of {} runs are not done: scores are of those that are\n", all - over,
                        all);
  if (diverged)
    text += fmt::format("{} of {} runs diverged; they count as guessing\n", diverged, all);
  for (const auto &[error, count] : failures)
    text += fmt::format("{} of {} runs failed and have no score: {}\n", count, all, error);
  text += fmt::format("suite {}: {}\nconvention {}: {}\n", study.suite, describeSuite(study.suite),
                      study.convention,
                      macro ? "tasks, training and scores as in mad-lab's code"
                            : "tasks and scores as the paper describes them");
  return text;
}

std::string runLine(const Study &study, const Run &run, size_t number) {
  std::string head = fmt::format("[{}/{}] {}: ", number, study.runs.size(), pointOf(run));
  if (run.status == "failed")
    return head + (run.diverged ? "diverged: " : "failed: ") + run.error;
  return head + fmt::format("accuracy {:.4f}, mad_accuracy {:.4f}, {} steps, {}", run.accuracy,
                            run.madAccuracy, run.stepsDone, clockText(run.seconds));
}

} // namespace hybrid::rt::lab
