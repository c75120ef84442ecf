//===- FewRows.cpp - products of a few rows with weights --------------------===//
//
// Bound by the rate at which the weights are read, which is why they are bf16: they become f32 in
// registers, by a shift, on CPUs without instructions for bf16 as well. One column after the other:
// on an EPYC of the third generation, one core, weights of 50256 x 768, that reads 14 GB/s where a
// loop that only adds up reads 15.5, and four rows of weights side by side read 10.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/FewRows.h"
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

typedef uint16_t Halves __attribute__((ext_vector_type(16), aligned(2), may_alias));

HYBRID_INLINE Vector<float> widened(const uint16_t *from) {
  const Halves bits = *reinterpret_cast<const Halves *>(from);
  return __builtin_bit_cast(Vector<float>, __builtin_convertvector(bits, Integers<float>) << 16);
}
HYBRID_INLINE float widenedOne(uint16_t bits) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
}

template <typename T>
HYBRID_INLINE void few_rows_product(int64_t item, Buffers buffers, const FewRowsParams &params) {
  constexpr int64_t side = 4; // sums that do not wait for one another
  const uint16_t *x = buffers.at<const uint16_t>(0), *weight = buffers.at<const uint16_t>(1);
  const T *bias = buffers.at<const T>(2);
  T *y = buffers.at<T>(3), *factors = buffers.scratch<T>();
  const int64_t end = minimum((item + 1) * fewRowsColumns, params.columns);
  const int64_t whole = params.inner / lanes<T> * lanes<T>;
  const int64_t steps = params.inner / (side * lanes<T>)*(side * lanes<T>);
  for (int64_t row = 0; row < params.rows; ++row) {
    const uint16_t *of = x + row * params.xStride;
    for (int64_t k = 0; k < whole; k += lanes<T>)
      store(factors + k, widened(of + k));
    for (int64_t k = whole; k < params.inner; ++k)
      factors[k] = widenedOne(of[k]);
    for (int64_t column = item * fewRowsColumns; column < end; ++column) {
      const uint16_t *weights = weight + column * params.weightStride;
      Vector<T> sum[side];
      HYBRID_UNROLL
      for (int64_t i = 0; i < side; ++i)
        sum[i] = splat(T(0));
      for (int64_t k = 0; k < steps; k += side * lanes<T>) {
        HYBRID_UNROLL
        for (int64_t i = 0; i < side; ++i)
          sum[i] += load(factors + k + i * lanes<T>) * widened(weights + k + i * lanes<T>);
      }
      for (int64_t k = steps; k < whole; k += lanes<T>)
        sum[0] += load(factors + k) * widened(weights + k);
      T total = sumOfLanes((sum[0] + sum[1]) + (sum[2] + sum[3]));
      for (int64_t k = whole; k < params.inner; ++k)
        total += factors[k] * widenedOne(weights[k]);
      y[row * params.yStride + column] = params.hasBias ? total + bias[column] : total;
    }
  }
}

} // namespace

HYBRID_ENTRY(few_rows_product, float, hybrid_few_rows_product_f32, FewRowsParams)
