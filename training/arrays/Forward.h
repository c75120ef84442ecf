//===- Forward.h - a model run once on arrays -------------------------------------===//
#pragma once
#include "training/compile/ModelSpec.h"

namespace hybrid::rt {

struct ForwardOptions {
  ModelSpec model;
  std::string parameters;       // .safetensors
  std::optional<uint64_t> seed; // draws the parameters instead
  std::string saved;            // where the parameters that are used are written; empty: nowhere
  std::vector<std::string> inputs, cotangents; // as TensorInput; cotangents are of outputs
  std::string out;                             // folder of output.NAME.npy and grad.NAME.npy
  int threads = 0;
};

/// Runs program `forward`, or with cotangents `vjp`, and writes outputs and gradients.
Result<void> runForward(const ForwardOptions &options);

} // namespace hybrid::rt
