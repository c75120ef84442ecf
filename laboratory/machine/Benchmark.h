//===- Benchmark.h - how long a program takes -------------------------------------===//
#pragma once
#include "training/compile/ModelSpec.h"

namespace hybrid::rt::lab {

struct BenchmarkOptions {
  ModelSpec model;
  std::string program = "train"; // with the optimizer's update
  int steps = 20, warmup = 3;    // runs measured, and runs before
  int64_t tokens = 1000;         // of program step: one after another; of prefill: of a prompt
  bool readRate = false;         // of program step: also how fast its weights could be read
  int burst = 1;                 // on a GPU: steps that run as one graph
  int threads = 0;
  bool profile = false; // also the time of each kind of op
  bool json = false;
};

/// Measures and prints it.
Result<void> benchmark(const BenchmarkOptions &options);

} // namespace hybrid::rt::lab
