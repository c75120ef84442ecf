//===- EmbeddingParams.h - constants of the gradient of a table -------------===//
#pragma once
#include "codegen/kernels/Kernels.h"

namespace hybrid::cuda {

/// embedding_backward: item = part * classes + class; partial[item, :] = sum of the rows of dy in
/// this part whose id is the class. buffers: ids, dy, partial [parts * classes, columns].
struct EmbeddingGradParams {
  int64_t rows, columns, classes, dyStride, rowsPerPart;
};

constexpr int64_t embeddingGradThreads = 128;
/// Bytes: the rows found, and how many each warp found.
constexpr int64_t embeddingGradShared = (embeddingGradThreads + embeddingGradThreads / 32) * 4;

/// Parts of the rows: many blocks even for few classes, but no more than sums are cheap for.
constexpr int64_t embeddingGradParts(int64_t rows, int64_t classes) {
  constexpr int64_t blocks = 1024, leastRows = 256;
  int64_t parts = ceilDiv(blocks, classes), most = ceilDiv(rows, leastRows);
  return parts < most ? parts : most;
}

} // namespace hybrid::cuda
