//===- FewRows.cpp - products of a few rows with weights --------------------===//
//
// Bound by the rate at which the weights are read, which is why they are bf16: they become f32 in
// registers, by a shift, on CPUs without instructions for bf16 as well. One column after the other:
// on an EPYC of the third generation, one core, weights of 50256 x 768, that reads 14 GB/s where a
// loop that only adds up reads 15.5, and four rows of weights side by side read 10.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/FewRows.h"
#include "Activation.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

template <typename T>
HYBRID_INLINE void few_rows_product(int64_t item, Buffers buffers, const FewRowsParams &params) {
  constexpr int64_t side = 4; // sums that do not wait for one another
  const Activation<T> x{buffers[0], true}, weight{buffers[1], true};
  const T *bias = buffers.at<const T>(2);
  T *y = buffers.at<T>(3), *factors = buffers.scratch<T>();
  const int64_t end = minimum((item + 1) * fewRowsColumns, params.columns);
  const int64_t whole = params.inner / lanes<T> * lanes<T>;
  const int64_t steps = params.inner / (side * lanes<T>)*(side * lanes<T>);
  for (int64_t row = 0; row < params.rows; ++row) {
    const Activation<T> of = x + row * params.xStride;
    for (int64_t k = 0; k < whole; k += lanes<T>)
      store(factors + k, load(of + k));
    for (int64_t k = whole; k < params.inner; ++k)
      factors[k] = of[k];
    for (int64_t column = item * fewRowsColumns; column < end; ++column) {
      const Activation<T> weights = weight + column * params.weightStride;
      Vector<T> sum[side];
      HYBRID_UNROLL
      for (int64_t i = 0; i < side; ++i)
        sum[i] = splat(T(0));
      for (int64_t k = 0; k < steps; k += side * lanes<T>) {
        HYBRID_UNROLL
        for (int64_t i = 0; i < side; ++i)
          sum[i] += load(factors + k + i * lanes<T>) * load(weights + (k + i * lanes<T>));
      }
      for (int64_t k = steps; k < whole; k += lanes<T>)
        sum[0] += load(factors + k) * load(weights + k);
      T total = sumOfLanes((sum[0] + sum[1]) + (sum[2] + sum[3]));
      for (int64_t k = whole; k < params.inner; ++k)
        total += factors[k] * weights[k];
      y[row * params.yStride + column] = params.hasBias ? total + bias[column] : total;
    }
  }
}

} // namespace

HYBRID_ENTRY(few_rows_product, float, hybrid_few_rows_product_f32, FewRowsParams)
