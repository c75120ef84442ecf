//===- RotaryTable.h - contract of the angles of rotary positions -----------===//
#pragma once
#include "codegen/kernels/Threads.h"

namespace hybrid {

/// table[p][n][i] for p in [0, positions), n in [0, 4), i in [0, dims/2): theta = base^(-2i/dims),
/// angle p*theta/positionScale; n stands for cos*s, sin*s (of queries), cos/s, sin/s (of keys) with
/// s = 1, or with xposScaleBase > 0: zeta_i = (2i + 0.4 dims)/(1.4 dims),
/// s = zeta^((p - positions/2)/xposScaleBase). Computed in double.
struct RotaryTableParams {
  int64_t positions, dims;
  double base, positionScale, xposScaleBase;
  HYBRID_FIELDS(positions, dims, base, positionScale, xposScaleBase)
};

/// Buffers: table. An item is a position.
struct RotaryTable : KernelOf<RotaryTableParams, "rotary_table", 0> {
  HYBRID_ON_CPU(p.positions)
  HYBRID_ON_CUDA(p.positions, cuda::rowThreads(p.dims / 2))
};

} // namespace hybrid
