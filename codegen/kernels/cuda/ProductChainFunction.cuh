//===- ProductChainFunction.cuh - what lies between a chain's products --------===//
#pragma once
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// The function of `firsts` products at two neighbouring columns, rounded, a word a result.
/// at(k, odd): the sum of product k at the even or the odd column.
template <typename Of, int firsts, int results, typename At>
HYBRID_DEVICE void roundedResults(uint32_t (&words)[results], At at) {
  float made[2][results];
  HYBRID_UNROLL
  for (int odd = 0; odd < 2; ++odd) {
    float given[firsts];
    HYBRID_UNROLL
    for (int k = 0; k < firsts; ++k)
      given[k] = at(k, odd);
    Of::apply(given, made[odd]);
  }
  HYBRID_UNROLL
  for (int k = 0; k < results; ++k)
    words[k] = packBf16(made[0][k], made[1][k]);
}

} // namespace hybrid::cuda
