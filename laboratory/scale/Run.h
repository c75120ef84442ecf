//===- Run.h - a scaling study from its plan to its laws ------------------------------===//
#pragma once
#include "laboratory/scale/Fit.h"
#include "laboratory/scale/Plan.h"

namespace hybrid::rt::lab::scale {

struct ScaleOptions {
  std::string version; // of the program
  PlanOptions plan;
  int64_t evalTokens = 131072; // of the held-out part
  FitOptions fit;
  std::string out;           // the folder of the study
  int jobs = 1, threads = 0; // processes that train; threads of each, 0: an equal share
  bool worker = false;       // only train runs of the study that another process began
  bool commands = false;     // printScalePlan: the commands that train
  bool json = false, quiet = false;
};

/// Prints every run with its size, tokens, batch, memory and time, and the total. Times are those
/// of the plan's device, or with data what a few steps of each shape predict.
Result<void> printScalePlan(ScaleOptions options);

/// Trains the plan's runs, or goes on with those of the study in the folder, which grows by what is
/// new. Writes points.csv, study.json and report.html as runs come to their ends, and prints what
/// was fitted.
Result<void> runScale(ScaleOptions options);

} // namespace hybrid::rt::lab::scale
