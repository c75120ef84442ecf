//===- Replay.h - training on given arrays, step by step --------------------------===//
//
// The updates of a training run from parameters and batches that are given, with everything that
// happens written down: for comparing a training run with another implementation's. The gradients
// come from the model's own output `loss`, or, when it has none, from program `train`; the update
// and the schedule are those of a training run.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/OptimizerOptions.h"
#include "training/compile/ModelSpec.h"

namespace hybrid::rt {

struct ReplayOptions {
  ModelSpec model;
  OptimizerOptions optimizer;       // `schedule.total`: steps that the schedule spans
  std::string parameters;           // .safetensors
  std::optional<uint64_t> seed;     // draws the parameters instead
  std::vector<std::string> inputs;  // as TensorInput: the same at every step
  std::vector<std::string> perStep; // the same; row i is the input of step i
  int64_t steps = 1;
  bool trajectory = false; // writes the parameters after every step, too
  std::string out;         // folder for loss, grad_norm, lr and final.NAME, m.NAME, v.NAME (.npy)
  int threads = 0;
};

Result<void> replayTraining(const ReplayOptions &options);

} // namespace hybrid::rt
