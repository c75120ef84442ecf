//===- Permutation.h - the order of a finite training set --------------------===//
//
// One definition for the host, which draws batches, and for the GPU, which gathers them
// (codegen/kernels/cuda/GatherExamples.cuh). Integers only: the same order everywhere.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>

namespace hybrid {

/// The finalizer of splitmix64: a bijection that spreads every bit. Used to derive keys and splits.
constexpr uint64_t mixBits(uint64_t value) {
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

/// Bits that write `value`: 0 of 0.
constexpr int bitWidth(uint64_t value) {
  int width = 0;
  for (int step = 32; step > 0; step /= 2)
    if (value >> step) {
      width += step;
      value >>= step;
    }
  return width + (value ? 1 : 0);
}

/// Where `i` < size goes under a permutation chosen by `key`: Feistel rounds, walked until inside.
/// Four mix well enough to shuffle an epoch; where each number must go everywhere equally often
/// over all keys, and `size` is small, ten or more do.
constexpr uint64_t permuted(uint64_t i, uint64_t size, uint64_t key, uint64_t rounds = 4) {
  if (size < 2)
    return 0;
  const int bits = (bitWidth(size - 1) + 1) / 2, half = bits < 1 ? 1 : bits;
  const uint64_t mask = (uint64_t{1} << half) - 1;
  // The cipher's domain is less than four times `size`, so the walk is short.
  do {
    uint64_t left = i >> half, right = i & mask;
    for (uint64_t round = 0; round < rounds; ++round) {
      const uint64_t mixed = left ^ (mixBits(key ^ mixBits(right * rounds + round)) & mask);
      left = right;
      right = mixed;
    }
    i = left << half | right;
  } while (i >= size);
  return i;
}

/// Which of `size` >= 1 examples comes as number `number` of a run that goes through all of them
/// again and again, each epoch in another order. `seed` is the run's.
constexpr uint64_t shuffledExample(uint64_t number, uint64_t size, uint64_t seed) {
  return permuted(number % size, size, mixBits(mixBits(seed) ^ (number / size)));
}

} // namespace hybrid
