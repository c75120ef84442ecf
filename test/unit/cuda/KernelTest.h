//===- KernelTest.h - what the tests of CUDA kernels share ------------------===//
#pragma once
#include "codegen/kernels/cuda/Prelude.cuh"
#include "test/cuda/shim/Launch.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace hybrid::cuda::test {

/// Runs `body(item)` in every thread of `blocks` blocks; a failure fails the test.
template <typename Body>
void run(std::string_view kernel, int64_t blocks, int threads, int64_t sharedBytes, Body &&body) {
  std::string problem = shim::launch(kernel, blocks, threads, sharedBytes, body);
  EXPECT_EQ(problem, "");
}

/// Another order of threads while it lives.
class ScopedOrder {
public:
  explicit ScopedOrder(const char *order) {
    const char *old = std::getenv("HYBRID_SHIM_ORDER");
    before = old ? old : "";
    setenv("HYBRID_SHIM_ORDER", order, 1);
  }
  ~ScopedOrder() { setenv("HYBRID_SHIM_ORDER", before.c_str(), 1); }
  ScopedOrder(const ScopedOrder &) = delete;
  ScopedOrder &operator=(const ScopedOrder &) = delete;

private:
  std::string before;
};

/// Normally distributed, the same on every call with the same seed.
template <typename T> std::vector<T> randomValues(int64_t count, uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<T> values(static_cast<size_t>(count));
  for (T &value : values)
    value = static_cast<T>(normal(engine));
  return values;
}

} // namespace hybrid::cuda::test
