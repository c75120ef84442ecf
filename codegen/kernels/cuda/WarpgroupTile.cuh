//===- WarpgroupTile.cuh - matrices in shared memory as warpgroups read them --===//
//
// A warpgroup's products read operands from shared memory by descriptors (PTX ISA, "Asynchronous
// Warpgroup Level Matrix Shared Memory Layout"). Here all tiles have the swizzle of 128 bytes: a
// tile is panels of 64 columns, a row of a panel is 128 bytes, and piece p of 16 bytes of row r
// lies at p ^ r % 8, which keeps rows and columns out of each other's banks. A tile begins at a
// multiple of 1024 bytes.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

template <int rows, int columns> struct WarpgroupTile {
  static constexpr int panelColumns = 64, rowBytes = 128, alignment = 1024;
  static constexpr int bytes = rows * columns * 2;
  static_assert(rows % 8 == 0 && columns % panelColumns == 0 && bytes % alignment == 0);

  /// Begins to copy a matrix whose rows are `stride` elements apart, of 16 bytes each; rows from
  /// `present` on are 0, where not `whole`.
  template <int threadCount, bool whole>
  static HYBRID_DEVICE void copy(bf16 *tile, const bf16 *matrix, int64_t stride, int present) {
    constexpr int pieces = panelColumns / 8, step = threadCount / pieces; // rows at a time
    static_assert(threadCount % pieces == 0 && step % 8 == 0 && rows % step == 0);
    const int thread = static_cast<int>(threadIdx.x), row = thread / pieces,
              piece = thread % pieces;
    bf16 *to = tile + row * panelColumns + (piece ^ row % 8) * 8;
    const bf16 *from = matrix + row * stride + piece * 8;
    HYBRID_UNROLL
    for (int panel = 0; panel < columns; panel += panelColumns)
      HYBRID_UNROLL
    for (int down = 0; down < rows; down += step) {
      bf16 *into = to + panel * rows + down * panelColumns;
      if constexpr (whole) {
        copyAsync<16>(into, from + down * stride + panel);
      } else {
        const bool there = row + down < present;
        copyAsync<16>(into, there ? from + down * stride + panel : matrix, there);
      }
    }
  }

  /// A warp's left operand in registers: 16 rows from `row` on and 16 columns from `column` on.
  static HYBRID_DEVICE void load(uint32_t (&words)[4], const bf16 *tile, int row, int column) {
    const int lane = laneIndex(), of = row + lane % 16, piece = column / 8 % 8 + lane / 16;
    loadMatrices<false>(words, tile + (column / panelColumns * rows + of) * panelColumns +
                                   (piece ^ of % 8) * 8);
  }

  /// Descriptors of operands in a tile that begins at `place`, in units of 16 bytes of shared
  /// memory. One whose contraction is along columns: 16 of them from `column` on, and rows from
  /// `row` on, a multiple of 8.
  static HYBRID_DEVICE uint64_t alongColumns(uint32_t place, int row, int column) {
    return descriptor(place,
                      (column / panelColumns * rows + row) * rowBytes + column % panelColumns * 2);
  }
  /// One whose contraction is along rows: 16 of them from `row` on, a multiple of 8, and all
  /// columns.
  static HYBRID_DEVICE uint64_t alongRows(uint32_t place, int row) {
    return descriptor(place, row * rowBytes);
  }

private:
  /// In units of 16 bytes: where the operand begins, from panel to panel (read where it crosses
  /// them), and from eight rows to the next; and the kind of swizzle. A block's shared memory has
  /// addresses of 18 bits, so the first has 14 as it should.
  static HYBRID_DEVICE uint64_t descriptor(uint32_t place, int byteOffset) {
    constexpr uint64_t swizzleOf128 = uint64_t(1) << 62,
                       eightRows = uint64_t(8 * rowBytes / 16) << 32,
                       panel = uint64_t(rows * rowBytes / 16) << 16;
    return swizzleOf128 + eightRows + panel + place + static_cast<uint32_t>(byteOffset) / 16;
  }
};

/// keepInOrder() of all registers of an array.
template <typename T, int count> HYBRID_DEVICE void keepInOrder(T (&all)[count]) {
  HYBRID_UNROLL
  for (T &each : all)
    keepInOrder(each);
}

/// Where a tile begins for a descriptor.
HYBRID_DEVICE uint32_t placeForWarpgroups(const bf16 *tile) { return sharedAddress(tile) / 16; }

} // namespace hybrid::cuda
