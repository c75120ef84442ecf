//===- Results.h - what a laboratory study found -----------------------------===//
//
// A study trains each architecture on each setting of its suite, once for every point of a grid of
// learning rates and weight decays and for every seed. Here is what its database holds, read as a
// whole, and the scores that follow from it. Of a setting the best point of the grid counts, by the
// mean over seeds of the accuracy that the convention goes by (micro; mad-lab: macro); a task
// scores the mean over its settings, the baseline being one of them; an architecture the mean over
// tasks (Poli et al. 2024, section 3.3).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hybrid::rt::lab {

/// Scalars that a sequence leaves behind for its next token.
struct StateSize {
  int64_t fixed = 0, growing = 0; // with the sequence; at the length of the setting
  int64_t total() const { return fixed + growing; }
  bool operator==(const StateSize &) const = default;
};

/// A model file with its settings. What it costs is that of the study's first setting; every run
/// says its own.
struct Architecture {
  std::string name;                            // "striped-hyena-swiglu"
  std::string path, source;                    // as given; the whole text of the file
  std::map<std::string, std::string> settings; // what was set beside vocabulary, length and head
  int64_t parameters = 0;
  double flopsPerToken = 0; // forward
  /// What decoding carries, and what MAD counts (Poli et al. 2024, appendix B.3.2), by which
  /// architectures are compared; nothing where the compiler cannot tell.
  std::optional<StateSize> state, countedState;
};

/// An evaluation while training, over all test instances.
struct CurvePoint {
  int64_t step = 0;
  double loss = 0, accuracy = 0, madAccuracy = 0;
};

/// One training.
struct Run {
  int64_t id = 0;
  std::string architecture, task;
  /// "TASK:vocab=16,length=128,...;train_examples=12800": all that says what is learned. Without
  /// train_examples, instances are fresh ones for ever.
  std::string setting;
  /// What differs from the task's baseline: "baseline", "vocab", "length", "train_examples",
  /// "frac_noise", "tokens_to_copy"; and its value (of the baseline: its length).
  std::string axis;
  double axisValue = 0;
  double learningRate = 0, weightDecay = 0;
  uint64_t seed = 0;
  std::string status;    // "pending", "running", "done", "failed"
  std::string error;     // of a failed run
  bool diverged = false; // failed because a loss or gradient was no number; scored at `chance`. Of
                         // one of scaling that is done: trained again with half the rate
  int attempts = 0;
  double chance = 0;            // accuracy of guessing among the legal answers
  int64_t batch = 0, steps = 0; // planned
  int64_t stepsDone = 0, bestStep = 0;
  /// Of the checkpoint that the convention chooses, at bestStep.
  double loss = 0, accuracy = 0, madAccuracy = 0;
  double seconds = 0;
  int64_t parameters = 0;
  std::optional<int64_t> stateElements; // what decoding carries; nothing: not known
  double flopsPerToken = 0;
  std::vector<CurvePoint> curve;
};

struct Study {
  std::string convention; // "paper", "mad-lab"
  std::string suite;      // of suiteNames()
  std::string version, command;
  uint64_t seed = 0;
  /// Options in force, by name: "betas" -> "0.9, 0.98". In the order to be shown.
  std::vector<std::pair<std::string, std::string>> options;
  std::string protocol; // the same for workers: Protocol::toJson
  std::vector<Architecture> architectures;
  std::vector<Run> runs;
};

/// Reads a database. One of a newer version, of another program, or damaged is an error that says
/// so.
Result<Study> readStudy(const std::string &databasePath);

/// A setting of an architecture. Accuracies are means over seeds of the best point of the grid.
struct SettingScore {
  std::string architecture, task, setting, axis;
  double axisValue = 0;
  double accuracy = 0, deviation = 0; // standard deviation over seeds; 0 with one seed
  double madAccuracy = 0, madDeviation = 0;
  double loss = 0; // mean over the seeds; no number where one of them diverged
  double learningRate = 0, weightDecay = 0;             // the best point
  int64_t bestRun = 0;                                  // its best run's id; 0: none yet
  int64_t seeds = 0;                                    // of the best point, with a score
  int64_t runs = 0, done = 0, diverged = 0, failed = 0; // failed: not by diverging
  bool complete() const { return done + diverged == runs; }
};

struct TaskScore {
  std::string task;
  double accuracy = 0, madAccuracy = 0;                 // mean over settings with a score
  double baselineAccuracy = 0, baselineMadAccuracy = 0; // of the baseline alone
  int64_t settings = 0, scored = 0;                     // in the suite; with a score
  bool hasBaseline = false;                             // with a score
  int64_t runs = 0, done = 0, diverged = 0, failed = 0;
};

struct ArchitectureScore {
  std::string architecture;
  double accuracy = 0, madAccuracy = 0;                 // mean over tasks with a score
  double baselineAccuracy = 0, baselineMadAccuracy = 0; // mean over those whose baseline has one
  int64_t scored = 0, baselines = 0;                    // so many tasks; 0: a mean of none
  bool complete = false;                                // every run is done or diverged
  std::vector<TaskScore> tasks;                         // in the order of Scoreboard::tasks
};

struct Scoreboard {
  std::vector<std::string> tasks; // in the order of the suite
  std::vector<SettingScore> settings;
  std::vector<ArchitectureScore> architectures; // in the order given
};

Scoreboard scoreStudy(const Study &study);

} // namespace hybrid::rt::lab
