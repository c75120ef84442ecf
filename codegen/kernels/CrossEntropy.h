//===- CrossEntropy.h - contract of losses ----------------------------------===//
//
// Mean over scored positions, logits [rows, classes], targets int32. A row with target ==
// ignoreIndex has weight 0, otherwise weights[row] (optional, T) or 1. A target outside [0,
// classes) that is not ignoreIndex makes the loss NaN. Label smoothing e: target (1-e) onehot +
// e/classes.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Threads.h"

namespace hybrid {

struct CrossEntropyParams {
  int64_t rows, classes, logitsStride, dLogitsStride, rowsPerItem;
  int64_t ignoreIndex, hasWeights;
  double labelSmoothing;
  HYBRID_FIELDS(rows, classes, logitsStride, dLogitsStride, rowsPerItem, ignoreIndex, hasWeights,
                labelSmoothing)
};

namespace cuda {
/// A warp a row where rows are short, otherwise the whole block.
constexpr int64_t crossEntropyThreads(const CrossEntropyParams &p) {
  return p.classes <= 1024 ? 128 : 256;
}
/// Bytes: three sums in double for every warp.
constexpr int64_t crossEntropyShared(int64_t threads) { return threads / 32 * 4 * 8; }
} // namespace cuda

/// Buffers: logits, targets, weights (optional), partial [items, 3]: sum of weight*loss, sum of
/// weight, sum of weight*(argmax == target) (first maximum wins). An item is rowsPerItem rows.
struct CrossEntropyForward : KernelOf<CrossEntropyParams, "cross_entropy_forward", 3> {
  HYBRID_ON_CPU(ceilDiv(p.rows, p.rowsPerItem))
  template <typename T> static constexpr Grid onCuda(const Params &p) {
    const int64_t threads = cuda::crossEntropyThreads(p);
    return {ceilDiv(p.rows, p.rowsPerItem), threads, cuda::crossEntropyShared(threads)};
  }
};

/// loss = sum / weight, 0 if weight is 0. Buffers: partial, loss, weight, correct (scalars). One
/// item.
struct CrossEntropyFinish : KernelOf<CrossEntropyParams, "cross_entropy_finish", 1, 2, 3> {
  HYBRID_ON_CPU(1)
  HYBRID_ON_CUDA(1, cuda::sumThreads, cuda::sumShared)
};

/// dLogits = dLoss * weight/totalWeight * (softmax - target), 0 on ignored rows and when
/// totalWeight is 0. Buffers: logits, targets, weights (optional), totalWeight, dLoss, dLogits, a
/// store. An item is a row.
struct CrossEntropyBackward : KernelOf<CrossEntropyParams, "cross_entropy_backward"> {
  HYBRID_ON_CPU(p.rows)
  template <typename T> static constexpr Grid onCuda(const Params &p) {
    const int64_t threads = cuda::rowThreads(p.classes);
    return {p.rows, threads, cuda::crossEntropyShared(threads)};
  }
};

} // namespace hybrid
