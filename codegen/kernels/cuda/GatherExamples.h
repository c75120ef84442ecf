//===- GatherExamples.h - batches from a set that is on the device -----------===//
//
// Included by the compiler and by the kernel.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/BatchOrder.h"
#include "executable/Permutation.h"
#include <cstdint>

namespace hybrid::cuda {

/// gather_examples: for every step of a block and each of its `rows`, a row of an example's inputs
/// and one of its targets, words of 4 bytes, from a set to where the batch of the step waits.
/// buffers: orders, BatchOrder [steps, replicas], from the replica's first on; examples; table.
/// grid = steps * gatherExamplesItems(): a warp has a row.
struct GatherExamplesParams {
  int64_t rows, inputWords, targetWords, replicas;
};

constexpr int64_t gatherExamplesThreads = 128;
/// Blocks a step.
constexpr int64_t gatherExamplesItems(const GatherExamplesParams &p) {
  constexpr int64_t rows = gatherExamplesThreads / 32;
  return (p.rows + rows - 1) / rows;
}
/// Words of one copy: 16 bytes where rows are multiples of them.
constexpr int64_t gatherExamplesWidth(const GatherExamplesParams &p) {
  const int64_t words = p.inputWords | p.targetWords;
  return words % 4 == 0 ? 4 : words % 2 == 0 ? 2 : 1;
}

} // namespace hybrid::cuda
