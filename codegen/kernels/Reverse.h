//===- Reverse.h - contract of a dimension backwards ------------------------===//
#pragma once
#include "codegen/kernels/Threads.h"

namespace hybrid {

/// y[o, count-1-i, :] = x[o, i, :], both [outer, count, inner] and dense.
struct ReverseParams {
  int64_t outer, count, inner;
  HYBRID_FIELDS(outer, count, inner)
};

/// Buffers: x, y. An item is a row of `inner` elements.
struct Reverse {
  using Params = ReverseParams;
  static constexpr const char *name() { return "reverse"; }
  template <typename T> static constexpr Grid onCpu(const Params &p) { return {p.outer * p.count}; }
  template <typename T> static constexpr Grid onCuda(const Params &p) {
    return {p.outer * p.count, cuda::rowThreads(p.inner)};
  }
};

} // namespace hybrid
