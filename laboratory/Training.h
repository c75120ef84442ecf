//===- Training.h - a single training with its page -------------------------------===//
#pragma once
#include "laboratory/LengthWarmup.h"
#include "laboratory/TrainingRanks.h"
#include "laboratory/TrainingSamples.h"
#include "laboratory/paper/Preset.h"
#include "training/Trainer.h"
#include "training/data/DataChoice.h"
#include <optional>

namespace hybrid::rt::lab {

struct TrainingOptions {
  std::string version; // of the program
  ModelSpec model;
  DataChoice data;
  TrainOptions run; // an empty `out`: runs/MODEL-DATA-TIME
  std::optional<int64_t> steps;
  std::optional<double> epochs; // instead of steps
  int64_t accumulate = 1;       // batches whose gradients an update is of
  std::optional<Preset> preset; // decides what was not given
  std::set<std::string> given;  // flags of the command line
  nlohmann::json kept;          // these with their values, as config.json shall have them
  std::string command;          // in full, where what was typed leaves things out; else empty
  std::string repeated;         // the run whose flags these are, where it is another; else empty
  int threads = 0;
  bool json = false;         // the summary as JSON
  LengthWarmup lengthWarmup; // empty: all sequences have --length
  bool overfitBatch = false; // all steps are of the first one's batch
  std::string profile;       // the file of a trace; empty: none
  int64_t profileSteps = 10; // whose operations it has
  SampleOptions samples;     // what is written every run.sampleEvery steps
  RankOptions ranks;         // where several processes were started together
};

/// Trains a model, writes report.html of its run, and prints the summary.
Result<void> trainAndReport(TrainingOptions options);

} // namespace hybrid::rt::lab
