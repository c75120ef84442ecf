//===- StudyView.h - a study in the order of its page --------------------------===//
//
// What the sections of a report ask of a study, answered once: the ranking, the score of an
// architecture on a setting, the settings along an axis, names for people. A score that does not
// exist yet is a number that is none.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/Results.h"
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt::lab::report {

/// "in-context-recall" is "In-context recall"; other names with spaces for dashes.
std::string taskTitle(std::string_view task);
/// The same in one word where there is little room.
std::string taskWord(std::string_view task);
/// "train_examples" is "training examples".
std::string axisTitle(std::string_view axis);
/// The value of `key` in a canonical setting, if it is there and a number.
std::optional<double> valueIn(std::string_view setting, std::string_view key);

/// Both accuracies of something, in one order: what the convention scores by is not fixed here.
struct Accuracies {
  double micro, macro;
};

struct Setting {
  std::string task, name, axis; // name: the canonical specification
  double axisValue = 0, chance = 0;
  bool isBaseline() const { return axis == "baseline"; }
  /// "baseline", "vocabulary 32".
  std::string title() const;
  /// The scores by architecture; null where none has a run there.
  std::vector<const SettingScore *> scores;
};

struct Axis {
  std::string name;
  std::vector<size_t> settings; // by value; the baseline among them where it has a place
  std::vector<double> values;
};

struct Task {
  std::string name;
  std::vector<size_t> settings; // the baseline first
  std::vector<Axis> axes;
  double chance = 0; // of the baseline
};

class StudyView {
public:
  StudyView(const Study &study, const Scoreboard &scores);

  const Study &study;
  const Scoreboard &board;
  std::vector<Task> tasks;
  std::vector<Setting> settings;
  std::vector<size_t> ranking; // architectures, the best first, those without a score last
  bool byMacro;                // what the convention scores by
  bool hasSweeps = false;      // anything besides baselines
  int64_t seeds = 0;           // of the most repeated point of a grid
  std::set<uint64_t> runSeeds; // of all runs

  size_t count() const { return study.architectures.size(); }
  const std::string &name(size_t architecture) const;
  /// The convention's accuracy.
  double scored(Accuracies both) const { return byMacro ? both.macro : both.micro; }
  Accuracies overall(size_t architecture) const;
  Accuracies overallBaseline(size_t architecture) const;
  Accuracies onTask(size_t architecture, size_t task) const;
  Accuracies onBaseline(size_t architecture, size_t task) const;
  Accuracies onSetting(size_t architecture, size_t setting) const;
  /// The best of all architectures on a task.
  double bestOnTask(size_t task) const;
  const Run *run(int64_t id) const;

  struct Counts {
    int64_t runs = 0, done = 0, diverged = 0, failed = 0;
    int64_t open() const { return runs - done - diverged - failed; }
  };
  Counts counts(std::optional<size_t> architecture = {}) const;

private:
  std::vector<const ArchitectureScore *> byArchitecture;
  std::map<int64_t, const Run *> byId;
};

} // namespace hybrid::rt::lab::report
