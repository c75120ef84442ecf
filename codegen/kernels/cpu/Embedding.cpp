//===- Embedding.cpp - rows of a table, and the adjoint -----------------===//
//
// The gradient is scattered in row order by whoever owns a block of columns: no two items touch the
// same element, and equal ids always add in the same order. Bound by memory.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/Embedding.h"
#include "Vector.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

template <typename T>
HYBRID_INLINE void embedding_forward(int64_t row, Buffers buffers, const EmbeddingParams &params) {
  const T *table = buffers.at<const T>(0);
  const int32_t *ids = buffers.at<const int32_t>(1);
  T *y = buffers.at<T>(2) + row * params.yStride;
  int64_t id = ids[row];
  bool known = id >= 0 && id < params.classes;
  const T *from = table + (known ? id * params.columns : 0);
  for (int64_t c = 0; c < params.columns; c += lanes<T>) {
    int64_t count = lanesAt<T>(c, params.columns);
    Vector<T> value = known ? loadPart(from + c, count) : splat(static_cast<T>(__builtin_nan("")));
    storePart(y + c, value, count);
  }
}

template <typename T>
HYBRID_INLINE void embedding_backward(int64_t item, Buffers buffers,
                                      const EmbeddingGradParams &params) {
  const int32_t *ids = buffers.at<const int32_t>(0);
  const T *dy = buffers.at<const T>(1);
  T *dTable = buffers.at<T>(2);
  int64_t column = item * lanes<T>, count = lanesAt<T>(column, params.columns);
  for (int64_t id = 0; id < params.classes; ++id)
    storePart(dTable + id * params.columns + column, splat(T(0)), count);
  for (int64_t row = 0; row < params.rows; ++row) {
    int64_t id = ids[row];
    if (id < 0 || id >= params.classes)
      continue;
    T *at = dTable + id * params.columns + column;
    storePart(at, loadPart(at, count) + loadPart(dy + row * params.dyStride + column, count),
              count);
  }
}

} // namespace

HYBRID_KERNEL(embedding_forward, EmbeddingParams)
HYBRID_KERNEL(embedding_backward, EmbeddingGradParams)
