//===- Suite.h - which settings of which tasks -------------------------------===//
//
// The MAD suite (Poli et al. 2024, section 3.1, table B.1): six tasks, each at a baseline and with
// one thing made harder at a time, 66 settings in all. Beside it what mixers are judged with since:
// recall of more and more pairs, and the tracking of a state beyond the lengths of training.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/tasks/Task.h"
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt::lab {

/// "smoke", "baseline", "full" of MAD's tasks; "recall", "state".
const std::vector<std::string> &suiteNames();
/// What a suite of this name is, for people; nothing of another.
std::string_view describeSuite(std::string_view suite);
/// Whether a suite trains each task once and shortly on instances that don't repeat.
bool isShort(std::string_view suite);
/// The tasks of a suite, for suiteSettings; none for one of MAD's.
std::vector<std::string> tasksOfSuite(std::string_view suite);

struct Setting {
  std::string task;           // "in-context-recall"
  std::string spec;           // of createTask, every parameter with its value
  std::string axis;           // what differs from the baseline, or "baseline"
  double axisValue = 0;       // of the baseline: its length
  uint64_t trainExamples = 0; // size of the training set; 0: fresh instances for ever
  int64_t vocabulary = 0, positions = 0;
  int64_t longest = 0;   // what filters are made for: the task's length
  bool fromLast = false; // the model must tell the whole sequence from its last position
  double chance = 0;     // accuracy of guessing among legal answers

  /// "SPEC;train_examples=N": all that says what is learned.
  std::string key() const;
  /// The other way round. The error says what is wrong with it.
  static Result<Setting> parse(const std::string &key, Convention convention);
};

/// "in-context-recall", ... in the order of the suite.
const std::vector<std::string> &madTasks();

/// The settings of the tasks wanted (all of them if none is named), baselines first. A name of
/// another task, or one with parameters (`NAME:key=value`), is a baseline of its own; a task asked
/// for again with another number of one parameter (S4 after S3 is one) is a setting along it.
/// `sweeps`: the harder settings too. `fresh`: endless training instances instead of MAD's sets.
Result<std::vector<Setting>> suiteSettings(const std::vector<std::string> &tasks, bool sweeps,
                                           bool fresh, Convention convention);

} // namespace hybrid::rt::lab
