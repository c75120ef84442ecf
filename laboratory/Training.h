//===- Training.h - a single training with its page -------------------------------===//
#pragma once
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
  int threads = 0;
  bool json = false; // the summary as JSON
};

/// Trains a model, writes report.html of its run, and prints the summary.
Result<void> trainAndReport(TrainingOptions options);

} // namespace hybrid::rt::lab
