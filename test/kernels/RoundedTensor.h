//===- RoundedTensor.h - numbers of bf16 --------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/Prelude.cuh"
#include "test/kernels/Launch.h"

namespace hybrid::test {

/// Rounded numbers, and what they are in memory.
struct RoundedTensor {
  Doubles values;
  std::vector<cuda::bf16> memory;

  RoundedTensor(int64_t count, unsigned seed) : values(randomDoubles(count, seed)) {
    for (double &value : values) {
      memory.push_back(cuda::toBf16(static_cast<float>(value)));
      value = static_cast<double>(cuda::fromBf16(memory.back()));
    }
  }
};

} // namespace hybrid::test
