//===- Take.cpp - values at indices, and back -------------------------------===//
#include "codegen/kernels/Take.h"
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

template <typename T>
HYBRID_INLINE void take(int64_t row, Buffers buffers, const TakeParams &params) {
  const T *x = buffers.at<const T>(0) + row * params.xStride;
  const int32_t *indices = buffers.at<const int32_t>(1) + row * params.count;
  T *y = buffers.at<T>(2) + row * params.yStride;
  for (int64_t j = 0; j < params.count; ++j) {
    int64_t i = indices[j];
    y[j] = i >= 0 && i < params.columns ? x[i] : static_cast<T>(__builtin_nan(""));
  }
}

template <typename T>
HYBRID_INLINE void scatter(int64_t row, Buffers buffers, const TakeParams &params) {
  const T *x = buffers.at<const T>(0) + row * params.xStride;
  const int32_t *indices = buffers.at<const int32_t>(1) + row * params.count;
  T *y = buffers.at<T>(2) + row * params.yStride;
  for (int64_t i = 0; i < params.columns; ++i)
    y[i] = T(0);
  for (int64_t j = 0; j < params.count; ++j) {
    int64_t i = indices[j];
    if (i >= 0 && i < params.columns)
      y[i] += x[j];
  }
}

} // namespace

HYBRID_KERNEL(take, TakeParams)
HYBRID_KERNEL(scatter, TakeParams)
