//===- RingRows.cpp - new positions to their places in a ring -----------------===//
#include "codegen/kernels/RingRows.h"
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

template <typename T>
HYBRID_INLINE void ring_rows(int64_t item, Buffers buffers, const RingRowsParams &params) {
  const int64_t batch = item / params.written(),
                t = item % params.written() + params.length - params.written(),
                row = (static_cast<int64_t>(buffers.at<const T>(1)[batch]) + t) % params.rows;
  const T *x = buffers.at<const T>(0) + (batch * params.length + t) * params.stride;
  T *ring = buffers.at<T>(2) + (batch * params.rows + row) * params.columns;
  for (int64_t c = 0; c < params.columns; c += lanes<T>) {
    const int64_t count = lanesAt<T>(c, params.columns);
    storePart(ring + c, loadPart(x + c, count), count);
  }
}

} // namespace

HYBRID_KERNEL(ring_rows, RingRowsParams)
