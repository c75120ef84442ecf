//===- RotaryTable.cpp - cosines and sines of rotary embeddings ---------===//
//
// Computed in double, once, when a program is set up. Su et al. 2021; xPos scales of Sun et al.
// 2022.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/RotaryTable.h"
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

template <typename T>
HYBRID_INLINE void rotary_table(int64_t position, Buffers buffers,
                                const RotaryTableParams &params) {
  const double dims = static_cast<double>(params.dims), logBase = __builtin_log(params.base);
  const int64_t pairs = params.dims / 2;
  T *row = buffers.at<T>(0) + position * 4 * pairs;
  for (int64_t i = 0; i < pairs; ++i) {
    double theta = __builtin_exp(-2.0 * static_cast<double>(i) / dims * logBase);
    double angle = static_cast<double>(position) * theta / params.positionScale;
    double scale = 1;
    if (params.xposScaleBase > 0) {
      double zeta = (2.0 * static_cast<double>(i) + 0.4 * dims) / (1.4 * dims);
      double power = static_cast<double>(position - params.positions / 2) / params.xposScaleBase;
      scale = __builtin_exp(power * __builtin_log(zeta));
    }
    double cosine = __builtin_cos(angle), sine = __builtin_sin(angle);
    row[i] = static_cast<T>(cosine * scale);
    row[pairs + i] = static_cast<T>(sine * scale);
    row[2 * pairs + i] = static_cast<T>(cosine / scale);
    row[3 * pairs + i] = static_cast<T>(sine / scale);
  }
}

} // namespace

HYBRID_KERNEL(rotary_table, RotaryTableParams)
