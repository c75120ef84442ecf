//===- ScoreCheckpoint.h - the score of a checkpoint ------------------------------===//
#pragma once
#include "training/data/DataChoice.h"

namespace hybrid::rt {

struct ScoreOptions {
  ModelSpec model;
  DataChoice data;
  std::string checkpoint;   // parameters (.safetensors)
  bool average = false;     // takes the average of them that its run has kept
  uint64_t examples = 1280; // test instances; 0: all
  int64_t chunk = 0;        // positions of a part of a sequence, taken one after another; 0: whole
  int threads = 0;
  bool json = false;
};

/// Scores it and prints the score.
Result<void> scoreCheckpoint(ScoreOptions options);

} // namespace hybrid::rt
