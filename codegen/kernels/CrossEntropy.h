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
/// Forward: rows have lanes of their own where they are short, otherwise the block.
constexpr int64_t crossEntropyThreads(const CrossEntropyParams &p) {
  return p.classes <= longestWarpRow ? 128 : 256;
}
constexpr int64_t crossEntropyTeam(const CrossEntropyParams &p) {
  return threadsOfRow(p.classes, longestWarpRow, crossEntropyThreads(p));
}
/// Bytes: three sums in double for every team, and one number for every warp.
constexpr int64_t crossEntropyShared(const CrossEntropyParams &p) {
  const int64_t threads = crossEntropyThreads(p), sums = 3 * threads / crossEntropyTeam(p);
  return 8 * (sums < threads / 32 ? threads / 32 : sums);
}
} // namespace cuda

/// Buffers: logits, targets, weights (optional), partial [items, 3]: sum of weight*loss, sum of
/// weight, sum of weight*(argmax == target) (first maximum wins). An item is rowsPerItem rows.
struct CrossEntropyForward : KernelOf<CrossEntropyParams, "cross_entropy_forward", 3> {
  HYBRID_ON_CPU(ceilDiv(p.rows, p.rowsPerItem))
  template <typename T> static constexpr Grid onCuda(const Params &p) {
    return {ceilDiv(p.rows, p.rowsPerItem), cuda::crossEntropyThreads(p),
            cuda::crossEntropyShared(p)};
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
  HYBRID_ON_CUDA(cuda::rowGrid<T>(p.rows, p.classes, p.rowsPerItem))
};

} // namespace hybrid
