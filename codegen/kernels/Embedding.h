//===- Embedding.h - contract of tables -------------------------------------===//
#pragma once
#include "codegen/kernels/Threads.h"

namespace hybrid {

struct EmbeddingParams {
  int64_t rows, columns, classes, yStride, rowsPerItem;
  HYBRID_FIELDS(rows, columns, classes, yStride, rowsPerItem)
};

/// y[r] = table[ids[r]]. Buffers: table [classes, columns], ids (int32), y, a store. An item is a
/// row. An id outside [0, classes) gives NaN in its row (the loss then names it), never a read out
/// of bounds.
struct EmbeddingForward : KernelOf<EmbeddingParams, "embedding_forward"> {
  HYBRID_ON_CPU(p.rows)
  HYBRID_ON_CUDA(cuda::rowGrid<T>(p.rows, p.columns, p.rowsPerItem))
};

/// partial[part, class, :] = sum of the rows of dy in this part, rowsPerPart rows, whose id is the
/// class, in order (deterministic). Ids out of range are skipped.
struct EmbeddingGradParams {
  int64_t rows, columns, classes, dyStride, rowsPerPart;
  HYBRID_FIELDS(rows, columns, classes, dyStride, rowsPerPart)
};

/// Parts of the rows. On CUDA many blocks even for few classes, but no more than sums are cheap
/// for.
struct EmbeddingGradParts {
  template <typename T> static constexpr int64_t onCpu(const EmbeddingGradParams &) { return 1; }
  template <typename T> static constexpr int64_t onCuda(const EmbeddingGradParams &p) {
    constexpr int64_t blocks = 1024, leastRows = 256;
    int64_t parts = ceilDiv(blocks, p.classes), most = ceilDiv(p.rows, leastRows);
    return parts < most ? parts : most;
  }
};

namespace cuda {
constexpr int64_t embeddingGradThreads = 128;
/// Bytes: the rows found, and how many each warp found.
constexpr int64_t embeddingGradShared = (embeddingGradThreads + embeddingGradThreads / 32) * 4;
} // namespace cuda

/// Buffers: ids, dy, partial. An item is a vector of columns on the CPU, a class of a part on CUDA:
/// part * classes + class.
struct EmbeddingBackward : KernelOf<EmbeddingGradParams, "embedding_backward", 2> {
  HYBRID_ON_CPU(ceilDiv(p.columns, lanes<T>))
  HYBRID_ON_CUDA(ceilDiv(p.rows, p.rowsPerPart) * p.classes, cuda::embeddingGradThreads,
                 cuda::embeddingGradShared)
};

} // namespace hybrid
