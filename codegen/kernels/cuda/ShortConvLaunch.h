//===- ShortConvLaunch.h - the grid of short convolutions -------------------===//
#pragma once
#include "codegen/kernels/Kernels.h"

namespace hybrid::cuda {

/// A block takes this many channels of the rows of an item, one a thread. Items are numbered with
/// blocks of channels fastest: their number is batch * ceilDiv(length, rowsPerItem) *
/// channelBlocks().
constexpr int threads(const ShortConvParams &p) {
  return static_cast<int>(p.channels >= 256 ? 256 : ceilDiv(p.channels, 32) * 32);
}
constexpr int64_t channelBlocks(const ShortConvParams &p) {
  return ceilDiv(p.channels, threads(p));
}
/// Rows an item: the K - 1 rows it reads beside its own, and the partial sums of the backward pass
/// (K + 1 rows of them), should be few against its own; but a GPU is full with about a thousand
/// blocks only.
constexpr int64_t shortConvRows(const ShortConvParams &p) {
  int64_t rows = 64;
  while (rows > 16 && p.batch * ceilDiv(p.length, rows) * channelBlocks(p) < 1024)
    rows /= 2;
  return rows < p.length ? rows : p.length;
}

} // namespace hybrid::cuda
