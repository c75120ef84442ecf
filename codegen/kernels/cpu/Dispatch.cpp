//===- Dispatch.cpp - rows to experts and back ------------------------------===//
#include "codegen/kernels/Dispatch.h"
#include "Activation.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

template <typename T>
HYBRID_INLINE void copyRow(Activation<T> from, Activation<T> to, int64_t columns) {
  for (int64_t c = 0; c < columns; c += lanes<T>) {
    int64_t count = lanesAt<T>(c, columns);
    storePart(to + c, loadPart(from + c, count), count);
  }
}

template <typename T>
HYBRID_INLINE void dispatch(int64_t row, Buffers buffers, const DispatchParams &params) {
  const int32_t *slots = buffers.at<const int32_t>(1);
  int64_t slot = slots[row];
  if (slot < 0 || slot >= params.rows)
    return;
  copyRow(activationAt<T>(buffers, 0) + (row / params.choices * params.tokenStride +
                                         row % params.choices * params.choiceStride),
          activationAt<T>(buffers, 2) + slot * params.yStride, params.columns);
}

template <typename T>
HYBRID_INLINE void collect(int64_t row, Buffers buffers, const DispatchParams &params) {
  const int32_t *slots = buffers.at<const int32_t>(1);
  int64_t slot = slots[row];
  const Activation<T> y = activationAt<T>(buffers, 2) + row * params.yStride;
  if (slot >= 0 && slot < params.rows)
    copyRow(activationAt<T>(buffers, 0) + slot * params.tokenStride, y, params.columns);
  else
    for (int64_t c = 0; c < params.columns; c += lanes<T>)
      storePart(y + c, Vector<T>(static_cast<T>(__builtin_nan(""))), lanesAt<T>(c, params.columns));
}

} // namespace

HYBRID_KERNEL(dispatch, DispatchParams)
HYBRID_KERNEL(collect, DispatchParams)
