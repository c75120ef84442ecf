//===- SumPartials.cpp - adds up what the items of a grid left ----------===//
//
// Pairwise over the items: eight at a time in order, then a binary counter of sums, so that the
// error grows with the logarithm of their number and the order depends on that number alone.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/SumPartials.h"
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

template <typename T>
HYBRID_INLINE void sum_partials(int64_t item, Buffers buffers, const SumPartialsParams &params) {
  const T *partial = buffers.at<const T>(0);
  T *out = buffers.at<T>(1);
  int64_t column = item * lanes<T>, count = lanesAt<T>(column, params.columns);
  // pending[k] holds the sum of 8 * 2^k partials if bit k of `groups` is set.
  Vector<T> pending[60];
  int64_t groups = 0;
  for (int64_t first = 0; first < params.count; first += 8) {
    Vector<T> sum = splat(T(0));
    int64_t end = minimum(first + 8, params.count);
    for (int64_t i = first; i < end; ++i)
      sum += loadPart(partial + i * params.stride + column, count);
    int64_t level = 0;
    for (; groups >> level & 1; ++level)
      sum = pending[level] + sum;
    pending[level] = sum;
    ++groups;
  }
  Vector<T> total = splat(T(0));
  for (int64_t level = 0; groups >> level; ++level)
    if (groups >> level & 1)
      total = pending[level] + total;
  storePart(out + column, total, count);
}

} // namespace

HYBRID_KERNEL(sum_partials, SumPartialsParams)
