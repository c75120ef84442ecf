//===- Route.cpp - pairs of tokens and experts, by expert -------------------===//
//
// A few integers a token beside matrix products of thousands of multiplications: written for
// determinism, in stable order and without atomics.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/Route.h"
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

template <typename T>
HYBRID_INLINE void route(int64_t, Buffers buffers, const RouteParams &params) {
  const int32_t *choices = buffers.at<const int32_t>(0);
  int32_t *slots = buffers.at<int32_t>(1), *offsets = buffers.at<int32_t>(2);
  // Entry `experts` counts the pairs that nobody takes.
  int64_t *next = buffers.scratch<int64_t>(), *left = next + params.experts + 1;
  for (int64_t e = 0; e <= params.experts; ++e)
    next[e] = 0, left[e] = params.capacity > 0 ? params.capacity : params.pairs;
  auto expertOf = [&](int64_t pair) {
    int64_t e = choices[pair];
    bool taken = e >= 0 && e < params.experts && left[e] > 0;
    left[taken ? e : params.experts] -= 1;
    return taken ? e : params.experts;
  };
  for (int64_t pair = 0; pair < params.pairs; ++pair)
    ++next[expertOf(pair)];
  int64_t start = 0;
  for (int64_t e = 0; e <= params.experts; ++e) {
    int64_t count = next[e];
    offsets[e] = static_cast<int32_t>(start);
    next[e] = start;
    start += count;
    left[e] = params.capacity > 0 ? params.capacity : params.pairs;
  }
  for (int64_t pair = 0; pair < params.pairs; ++pair)
    slots[pair] = static_cast<int32_t>(next[expertOf(pair)]++);
}

} // namespace

HYBRID_KERNEL(route, RouteParams)
