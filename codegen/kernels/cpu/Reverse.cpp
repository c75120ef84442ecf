//===- Reverse.cpp - a dimension from its end to its start ------------------===//
#include "codegen/kernels/Reverse.h"
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

template <typename T>
HYBRID_INLINE void reverse(int64_t item, Buffers buffers, const ReverseParams &params) {
  int64_t outer = item / params.count, i = item % params.count;
  const T *x = buffers.at<const T>(0) + item * params.inner;
  T *y = buffers.at<T>(1) + (outer * params.count + params.count - 1 - i) * params.inner;
  for (int64_t c = 0; c < params.inner; c += lanes<T>) {
    int64_t count = lanesAt<T>(c, params.inner);
    storePart(y + c, loadPart(x + c, count), count);
  }
}

} // namespace

HYBRID_KERNEL(reverse, ReverseParams)
