//===- Protocol.h - how a study trains, scores and chooses -------------------===//
//
// All that the paper and its code say, or disagree about, in one place: every option has its name,
// its value in each convention and suite, and is stored and shown with the results. The paper
// (Poli et al. 2024, table B.1) trains 200 epochs with batches of 128, AdamW with betas 0.9 and
// 0.98 and a cosine to 1e-6; its released code (`mad-lab`) in effect keeps the rate constant, with
// betas 0.9 and 0.999, and scores macro accuracy a batch, of the checkpoint with the least
// perplexity on the test set. Both stop early when the test accuracy is above 0.999.
//
// Which evaluation chooses: in `paper`, the weights at the end of training count, so that the test
// set chooses nothing but the point of the grid (as in the paper) and when a solved run may end. In
// `mad-lab` it chooses the checkpoint too, as there.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/Results.h"
#include "laboratory/Suite.h"
#include "training/Schedule.h"
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hybrid::rt::lab {

struct Protocol {
  Convention convention = Convention::Paper;
  std::string suite = "smoke";    // of suiteNames()
  std::vector<std::string> tasks; // empty: MAD's six
  std::vector<double> learningRates, weightDecays;
  int64_t seeds = 1;
  uint64_t seed = 0; // of the first; the next is one more
  int64_t batch = 128;
  double epochs = 200;
  int64_t steps = 0;  // instead of epochs; 0: by epochs, in short suites by task
  double share = 1;   // of that length: rungs of a search train for less
  bool fresh = false; // instances for ever instead of sets
  uint64_t testExamples = 1280;
  int64_t evaluations = 100; // of a run, evenly; 0: one an epoch
  ScheduleKind schedule = ScheduleKind::Cosine;
  double warmup = 0; // share of a run's updates in which the rate rises from 0
  double leastRate = 1e-6, beta1 = 0.9, beta2 = 0.98, epsilon = 1e-8;
  double stopAbove = 0.999;    // accuracy of an evaluation; 0: never
  bool bestCheckpoint = false; // of least test loss; otherwise the last
  bool macro = false;          // MAD's accuracy chooses and stops; otherwise micro accuracy
  uint64_t dataSeed = defaultDataSeed;
  std::string precision = "f32"; // of the compiled model
  std::string device = "cpu";

  /// What a suite and a convention are before options change them.
  static Protocol named(const std::string &suite, Convention convention);

  /// Updates of a setting.
  int64_t stepsOf(const Setting &setting) const;
  int64_t wholeStepsOf(const Setting &setting) const; // whatever the share
  int64_t evalEveryOf(const Setting &setting) const;
  Result<std::vector<Setting>> settings() const;
  /// A run of a setting as it is planned, without its architecture and what that costs.
  Run plannedRun(const Setting &setting, double learningRate, double weightDecay,
                 uint64_t runSeed) const;

  /// For people: names and values, in the order to be shown.
  std::vector<std::pair<std::string, std::string>> options() const;
  /// For workers: through a database and back.
  nlohmann::json toJson() const;
  static Result<Protocol> fromJson(const nlohmann::json &json);
};

} // namespace hybrid::rt::lab
