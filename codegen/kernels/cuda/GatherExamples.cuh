//===- GatherExamples.cuh - batches from a set that is on the device ---------===//
#pragma once
#include "codegen/kernels/cuda/GatherExamples.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// From memory to memory: a pack that goes through a variable is stored by elements.
template <int count, typename T> HYBRID_DEVICE void copyPack(const T *from, T *to) {
  *reinterpret_cast<Pack<T, count> *>(to) = *reinterpret_cast<const Pack<T, count> *>(from);
}

template <typename T, GatherExamplesParams P>
HYBRID_DEVICE void gatherExamples(int64_t item, const BatchOrder *orders, const T *examples,
                                  T *table) {
  constexpr int64_t items = gatherExamplesItems(P), words = P.inputWords + P.targetWords;
  constexpr int wide = static_cast<int>(gatherExamplesWidth(P));
  const int64_t row = item % items * (gatherExamplesThreads / warpSize) + warpIndex();
  const BatchOrder &order = orders[item / items * P.replicas];
  const uint64_t size = order.size;
  if (row >= P.rows || size == 0)
    return; // there is no barrier
  const uint64_t example =
      shuffledExample(order.first + static_cast<uint64_t>(row), size, order.seed);
  const T *from = examples + order.examples / sizeof(T) + example * words;
  const int64_t inputs = static_cast<int64_t>(order.inputs / sizeof(T)) + row * P.inputWords,
                targets = static_cast<int64_t>(order.targets / sizeof(T)) + row * P.targetWords -
                          P.inputWords;
  constexpr int packs = static_cast<int>(words / wide);
  constexpr int atOnce = packs > 2 * warpSize ? 4 : packs > warpSize ? 2 : 1;
  HYBRID_NO_UNROLL // it would take all registers
      for (int first = 0; first < packs; first += atOnce * warpSize) {
    HYBRID_UNROLL
    for (int k = 0; k < atOnce; ++k)
      if (const int at = first + k * warpSize + laneIndex(); at < packs)
        copyPack<wide>(from + at * wide,
                       table + (at * wide < P.inputWords ? inputs : targets) + at * wide);
  }
}

} // namespace hybrid::cuda
