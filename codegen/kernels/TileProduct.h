//===- TileProduct.h - sizes of the tiles of cuda/TileProduct.cuh -----------===//
//
// Included by lowerings and kernels.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernel.h"

namespace hybrid::cuda {

/// How the products of tiles are computed.
enum class Products : int64_t {
  Plain,  // multiply-adds of the element type
  Tf32x3, // matrix units; a number is the sum of two of 11 bits, without the product of the low
          // ones
  Bf16,   // matrix units; operands rounded to bf16
};

template <typename T> constexpr Products productsOf(bool bf16) {
  return sizeof(T) == 8 ? Products::Plain : bf16 ? Products::Bf16 : Products::Tf32x3;
}

constexpr int64_t tileElementBytes(Products products, int64_t elementBytes) {
  return products == Products::Bf16 ? 2 : elementBytes;
}
/// Columns of a tile: as many as the matrix units take, the rest zeros.
constexpr int64_t tileColumns(Products products, int64_t columns) {
  if (columns <= 8 && products != Products::Bf16)
    return 8;
  return columns <= 16 ? 16 : (columns + 31) / 32 * 32;
}
/// Elements from one row of a tile to the next: 16 bytes more than its columns, so that neither a
/// warp's access along rows nor the one along columns meets a bank twice.
constexpr int64_t tileStride(Products products, int64_t elementBytes, int64_t columns) {
  return tileColumns(products, columns) + 16 / tileElementBytes(products, elementBytes);
}
constexpr int64_t tileBytes(Products products, int64_t elementBytes, int64_t rows,
                            int64_t columns) {
  return rows * tileStride(products, elementBytes, columns) *
         tileElementBytes(products, elementBytes);
}

} // namespace hybrid::cuda
