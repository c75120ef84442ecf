//===- BatchOrder.h - which examples are the batch of a step -----------------===//
//
// Written by the runtime, read by the executable's kernel that gathers batches (ExampleGather in
// Executable.fbs).
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>

namespace hybrid {

/// The batch of a step: the examples number first, first + 1, ... of a run, as shuffledExample()
/// has them (Permutation.h). Places are bytes, multiples of 16.
struct BatchOrder {
  uint64_t first, seed;
  uint64_t size;            // of the set; 0: nothing is copied
  uint64_t examples;        // where the set lies: examples, each its inputs and then its targets
  uint64_t inputs, targets; // where rows go in the table
};

} // namespace hybrid
