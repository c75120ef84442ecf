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
/// Where rows of a tile lie. Spread: those of 32 and 64 bytes in an order of their own within
/// eight, since no distance alone keeps both kinds of access away from a bank that they have met.
enum class TileRows { InOrder, Spread };

constexpr bool isSpread(TileRows order, Products products, int64_t elementBytes, int64_t columns) {
  const int64_t bytes = tileColumns(products, columns) * tileElementBytes(products, elementBytes);
  return order == TileRows::Spread && products != Products::Plain && (bytes == 32 || bytes == 64);
}
/// Elements from one row of a tile to the next: 16 bytes more than its columns, so that neither a
/// warp's access along rows nor the one along columns meets a bank twice. With rows that are spread
/// four next to each other in their order begin in all quarters of the banks.
constexpr int64_t tileStride(Products products, int64_t elementBytes, int64_t columns,
                             TileRows order = TileRows::InOrder) {
  const int64_t all = tileColumns(products, columns),
                element = tileElementBytes(products, elementBytes);
  if (isSpread(order, products, elementBytes, columns))
    return all * element == 32 ? all : all + 32 / element;
  return all + 16 / element;
}
constexpr int64_t tileBytes(Products products, int64_t elementBytes, int64_t rows, int64_t columns,
                            TileRows order = TileRows::InOrder) {
  return rows * tileStride(products, elementBytes, columns, order) *
         tileElementBytes(products, elementBytes);
}

} // namespace hybrid::cuda
