//===- TopK.cpp - the places of the largest values --------------------------===//
#include "codegen/kernels/TopK.h"
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

/// Repeatedly the largest that is left: k is small.
template <typename T>
HYBRID_INLINE void top_k(int64_t row, Buffers buffers, const TopKParams &params) {
  const T *x = buffers.at<const T>(0) + row * params.xStride;
  int32_t *chosen = buffers.at<int32_t>(1) + row * params.k;
  for (int64_t j = 0; j < params.k; ++j) {
    int64_t best = -1;
    for (int64_t i = 0; i < params.columns; ++i) {
      bool taken = false;
      for (int64_t before = 0; before < j; ++before)
        taken |= chosen[before] == i;
      // A number beats NaN, and whatever stands first beats its equals.
      if (!taken && (best < 0 || x[i] > x[best] || (x[best] != x[best] && x[i] == x[i])))
        best = i;
    }
    chosen[j] = static_cast<int32_t>(best);
  }
}

} // namespace

HYBRID_KERNEL(top_k, TopKParams)
