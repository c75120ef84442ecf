//===- RotaryTable.cuh - angles of rotary position encoding -----------------===//
#pragma once
#include "codegen/kernels/RotaryTable.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

template <typename T, RotaryTableParams P> HYBRID_DEVICE void rotaryTable(int64_t item, T *table) {
  constexpr double dims = static_cast<double>(P.dims);
  constexpr int64_t pairs = P.dims / 2;
  for (int64_t i = threadIdx.x; i < pairs; i += rowThreads(pairs)) {
    double theta = exponential(-2.0 * static_cast<double>(i) / dims * logarithm(P.base));
    double angle = static_cast<double>(item) * theta / P.positionScale, scale = 1;
    if constexpr (P.xposScaleBase > 0) {
      double zeta = (2.0 * static_cast<double>(i) + 0.4 * dims) / (1.4 * dims);
      double exponent = static_cast<double>(item - P.positions / 2) / P.xposScaleBase;
      scale = exponential(exponent * logarithm(zeta));
    }
    T *row = table + item * 2 * P.dims + i;
    row[0] = static_cast<T>(cosine(angle) * scale);
    row[pairs] = static_cast<T>(sine(angle) * scale);
    row[2 * pairs] = static_cast<T>(cosine(angle) / scale);
    row[3 * pairs] = static_cast<T>(sine(angle) / scale);
  }
}

} // namespace hybrid::cuda
