//===- RoundedLinear.h - contract of products with more behind them ----------===//
//
// On CUDA, of bf16. A library multiplies as well, but what is computed with the result, element for
// element or row for row, then reads it from memory again; a kernel of ours has a store for that.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/RowsProduct.h"
#include "codegen/kernels/Threads.h"

namespace hybrid {

/// transposed: the weight is [inputs, outputs], not [outputs, inputs]. Strides: elements from a row
/// to the next.
struct RoundedLinearParams {
  int64_t rows, inputs, outputs, transposed, xStride, weightStride, yStride;
  int64_t rowTile, columnTile;
  HYBRID_FIELDS(rows, inputs, outputs, transposed, xStride, weightStride, yStride, rowTile,
                columnTile)
};

namespace cuda {

constexpr int64_t roundedLinearAlignment = 8; // elements: 16 bytes
constexpr RowsProductParams rowsProductOf(const RoundedLinearParams &p) {
  return {p.inputs,
          p.transposed,
          1,
          p.inputs > 32 ? 64 : 32,
          p.rowTile,
          p.columnTile,
          p.rows % p.rowTile == 0,
          p.outputs % p.columnTile == 0,
          p.outputs % 8 == 0};
}
constexpr int threads(const RoundedLinearParams &p) { return threads(rowsProductOf(p)); }

} // namespace cuda

/// Whether a product should have its region behind it, or a function of its rows (ofRows): where
/// the contraction is so short that memory, which that saves, takes the time and not the matrix
/// units, which a library knows better; and where rows are whole packs. A tile has rows of a
/// function in whole, which pays on GPUs with much shared memory for a block: by the model an A100,
/// with fewer multiprocessors than there are tiles, takes as long without.
struct PaysRoundedLinear {
  template <typename T> static constexpr bool onCpu(const RoundedLinearParams &, bool, int64_t) {
    return false;
  }
  template <typename T>
  static constexpr bool onCuda(const RoundedLinearParams &p, bool ofRows, int64_t sharedBytes) {
    const int64_t longest = ofRows ? 640 : 256;
    if (ofRows && (!cuda::hasMuchShared(sharedBytes) || p.rows % 32 != 0 ||
                   (p.outputs != 32 && p.outputs != 64 && p.outputs != 128)))
      return false;
    const int64_t sizes[] = {p.inputs, p.outputs, p.xStride, p.weightStride};
    for (int64_t size : sizes)
      if (size % cuda::roundedLinearAlignment != 0)
        return false;
    return sizeof(T) == 4 && p.inputs <= longest;
  }
};

/// Tiles that give each of about 130 multiprocessors two blocks, where there are rows for that. Of
/// 128 x 128 there is one block at a time on a multiprocessor: an H200 takes 3 % less for a step of
/// attention with SwiGLU with two of half the columns. Those of a function of rows have all
/// columns, and read the whole weight each.
struct RoundedLinearTiles {
  template <typename T>
  static constexpr RoundedLinearParams onCuda(RoundedLinearParams p, bool ofRows) {
    auto items = [&p] { return ceilDiv(p.rows, p.rowTile) * ceilDiv(p.outputs, p.columnTile); };
    p.rowTile = 128;
    p.columnTile = ofRows ? p.outputs : p.outputs <= 32 ? 32 : 64;
    while (p.rowTile > 32 && (items() < (ofRows ? 128 : 264) || (ofRows && p.rows % p.rowTile)))
      p.rowTile /= 2;
    return p;
  }
};

/// y[r] = x[r] weight'. Buffers: x and weight, both bf16 in memory, y, a store. An item is a tile
/// of y; the tiles of the same rows are neighbours.
struct RoundedLinear : KernelOf<RoundedLinearParams, "rounded_linear"> {
  HYBRID_ACTIVATIONS(2)
  HYBRID_ON_CUDA(ceilDiv(p.rows, p.rowTile) * ceilDiv(p.outputs, p.columnTile), cuda::threads(p),
                 cuda::rowsProductShared<T>(cuda::rowsProductOf(p)))
  HYBRID_STORES_ROWS(p.rows % p.rowTile == 0 && p.outputs == p.columnTile)
};

} // namespace hybrid
