//===- Distill.h - free filters become recurrences -----------------------------===//
#pragma once
#include "training/compile/ModelSpec.h"

namespace hybrid::rt {

struct DistillOptions {
  ModelSpec model;
  std::string checkpoint;
  bool average = false; // takes the average of the parameters that its run has kept
  int64_t states = 16;  // of each filter: complex numbers that a step keeps
  std::string out;      // folder for model.hyb and model.safetensors
  bool json = false;
};

/// Fits every long filter of a trained model that is no recurrence by a sum of damped oscillations
/// (ModalFit.h), prints how near 1, 2, 4, ... and `states` of them come, and writes the model with
/// those of `states` in their place, and its parameters.
Result<void> distillFilters(const DistillOptions &options);

} // namespace hybrid::rt
