//===- KernelTest.h - calling kernels on vectors, comparing with references -===//
//
// A kernel is called as the runtime calls it: over a grid, in one piece and in uneven pieces, whose
// results must have the same bits. References are written in double, term by term, in the tests.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernel.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace hybrid::cpu::test {

template <typename Params>
using Kernel = void(int64_t, int64_t, void *const *, void *, const Params *, uint64_t rounded);

#define HYBRID_DECLARE_KERNEL(name, Params)                                                        \
  extern "C" hybrid::cpu::test::Kernel<Params> hybrid_##name##_f32, hybrid_##name##_f64;           \
  template <typename T>                                                                            \
  constexpr auto *name = std::is_same_v<T, float> ? hybrid_##name##_f32 : hybrid_##name##_f64;

using Doubles = std::vector<double>;

/// Reproducible numbers that are exact in f32, roughly normal.
inline Doubles randomDoubles(int64_t count, unsigned seed, double scale = 1) {
  std::mt19937 generator(seed * 7919 + 17);
  Doubles values(static_cast<size_t>(count));
  for (double &value : values) {
    double sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += static_cast<double>(generator() % 65536) / 65536 - 0.5;
    value = static_cast<double>(static_cast<float>(sum * 1.7 * scale));
  }
  return values;
}

/// A tensor of T with guard elements around it; `stride` > columns leaves gaps that must survive.
template <typename T> class Tensor {
public:
  static constexpr int64_t guard = 64;

  Tensor() = default;
  Tensor(int64_t rows, int64_t columns, int64_t stride = 0)
      : rows(rows), columns(columns), stride(stride ? stride : columns),
        storage(static_cast<size_t>(rows * this->stride + 2 * guard), marker()) {}
  Tensor(const Doubles &values, int64_t rows, int64_t columns, int64_t stride = 0)
      : Tensor(rows, columns, stride) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        at(r, c) = static_cast<T>(values[static_cast<size_t>(r * columns + c)]);
  }

  T &at(int64_t r, int64_t c) { return storage[static_cast<size_t>(guard + r * stride + c)]; }
  T *data() { return storage.empty() ? nullptr : storage.data() + guard; }
  Doubles values() {
    Doubles result;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        result.push_back(static_cast<double>(at(r, c)));
    return result;
  }
  /// Everything outside rows x columns is as it was.
  bool guardsIntact() {
    for (int64_t i = 0; i < static_cast<int64_t>(storage.size()); ++i) {
      int64_t inside = i - guard;
      bool ours = inside >= 0 && inside < rows * stride && inside % stride < columns;
      T value = storage[static_cast<size_t>(i)], expected = marker();
      if (!ours && std::memcmp(&value, &expected, sizeof(T)) != 0)
        return false;
    }
    return true;
  }
  /// The elements of a tensor of the same size; data() stays where it is.
  void assign(const Tensor &other) {
    std::copy(other.storage.begin(), other.storage.end(), storage.begin());
  }
  bool sameBits(const Tensor &other) const {
    return storage.size() == other.storage.size() &&
           (storage.empty() ||
            std::memcmp(storage.data(), other.storage.data(), storage.size() * sizeof(T)) == 0);
  }

  int64_t rows = 0, columns = 0, stride = 0;

private:
  /// NaN: a read of it shows in every result.
  static T marker() {
    if constexpr (std::is_integral_v<T>)
      return std::numeric_limits<T>::min();
    else
      return static_cast<T>(std::nan(""));
  }
  std::vector<T> storage;
};

/// Largest error relative to the largest reference value (or to 1, if that is smaller than 1e-30).
inline double relativeError(const Doubles &actual, const Doubles &expected) {
  if (actual.size() != expected.size())
    return INFINITY;
  double error = 0, largest = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    double difference = std::fabs(actual[i] - expected[i]);
    if (!(difference <= error))
      error = std::isnan(difference) ? INFINITY : difference;
    largest = std::fmax(largest, std::fabs(expected[i]));
  }
  return error / (largest > 1e-30 ? largest : 1);
}

/// The bound in f32 and its counterpart in f64, about 1e-12: the references add up naively.
template <typename T> double tolerance(double single) {
  return std::is_same_v<T, float> ? single : single * 1e-6;
}

/// 64-byte aligned scratch memory, full of NaN.
class Scratch {
public:
  explicit Scratch(int64_t bytes) : size(static_cast<size_t>((bytes + 127) / 64 * 64)) {
    memory = std::aligned_alloc(64, size);
    std::memset(memory, 0xFF, size);
  }
  ~Scratch() { std::free(memory); }
  Scratch(const Scratch &) = delete;
  void *get() { return memory; }
  /// Nothing was written behind the bytes asked for.
  bool intact(int64_t bytes) const {
    for (size_t i = static_cast<size_t>(bytes); i < size; ++i)
      if (static_cast<const unsigned char *>(memory)[i] != 0xFF)
        return false;
    return true;
  }

private:
  size_t size;
  void *memory;
};

template <typename Params>
void callWhole(Kernel<Params> *kernel, int64_t grid, const std::vector<void *> &buffers,
               const Params &params, int64_t scratchBytes = 0) {
  Scratch scratch(scratchBytes);
  kernel(0, grid, buffers.data(), scratch.get(), &params, 0);
  EXPECT_TRUE(scratch.intact(scratchBytes)) << "scratch overrun";
}

/// Work items of a kernel, and bytes of scratch memory.
template <typename Contract, typename T> int64_t itemsOf(const typename Contract::Params &params) {
  return Contract::template onCpu<T>(params).items;
}
template <typename Contract, typename T>
int64_t scratchOf(const typename Contract::Params &params) {
  return Contract::template onCpu<T>(params).bytes;
}

/// In pieces of 1, 2, 3, 1, ... items, last piece first.
template <typename Params>
void callInPieces(Kernel<Params> *kernel, int64_t grid, const std::vector<void *> &buffers,
                  const Params &params, int64_t scratchBytes = 0) {
  std::vector<int64_t> bounds{0};
  for (int64_t i = 0; bounds.back() < grid; ++i)
    bounds.push_back(std::min(grid, bounds.back() + 1 + i % 3));
  for (size_t i = bounds.size() - 1; i > 0; --i) {
    Scratch scratch(scratchBytes);
    kernel(bounds[i - 1], bounds[i], buffers.data(), scratch.get(), &params, 0);
    EXPECT_TRUE(scratch.intact(scratchBytes)) << "scratch overrun";
  }
}

using Scalars = ::testing::Types<float, double>;

} // namespace hybrid::cpu::test
