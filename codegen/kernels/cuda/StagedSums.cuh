//===- StagedSums.cuh - a block's sums on their way to a store ----------------===//
//
// Fragments of matrix units lie in eight rows by four pairs of columns. They pass shared memory, so
// that neighbouring threads store neighbouring columns, whatever is computed there.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/TileProduct.cuh"

namespace hybrid::cuda {

/// rowTile x columnTile sums of a block of `threads`; stride: elements from one row to the next in
/// shared memory. wholeRows, wholeColumns: no tile has fewer; wholePacks: columns are a multiple of
/// 8.
struct StagedTile {
  int rowTile, columnTile, threads, stride;
  bool wholeRows, wholeColumns, wholePacks;
};

/// A store of whole rows that computes something of each first, by the lanes that have it: as
/// NormGradientRows (Norm.cuh).
template <typename Store>
concept RowFunction = requires { Store::isRowFunction; };

template <typename T, StagedTile S> struct StagedSums {
  static constexpr int stride = S.stride;
  T *shared;                 // rowTile * stride elements
  int rowCount, columnCount; // what the tile has of the result; more is not stored

  HYBRID_DEVICE bool hasRow(int row) const { return S.wholeRows || row < rowCount; }

  /// What a thread has of the tile for a store, and what that reads for it: `together` neighbouring
  /// columns of some rows, 16 bytes of the widest that it moves, so that neighbours fill sectors of
  /// memory together. (firstRow, firstColumn) of the result is the tile's first element. As many
  /// rows as eight registers hold are on their way before the products, and all, or some at a time
  /// if they are many, before sums pass shared memory: loaded behind that, they are a third to half
  /// of the time that an H100 takes for a SwiGLU.
  template <typename Store> struct Ahead {
    static constexpr int together = Store::width < 8 ? 4 : 8,
                         threadsOfRow = S.columnTile / together,
                         rowsAtOnce = S.threads / threadsOfRow,
                         rowsOfThread = S.rowTile / rowsAtOnce;
    static_assert(S.rowTile % rowsAtOnce == 0);
    using Operands = NeighboursOperands<Store, together>;
    static constexpr int bytes = static_cast<int>(sizeof(Operands)),
                         rows = bytes * rowsOfThread <= 128 ? rowsOfThread
                                : bytes <= 16               ? 4
                                                            : 2,
                         early = bytes <= 16   ? 2
                                 : bytes <= 32 ? 1
                                               : 0;
    static_assert(rowsOfThread % rows == 0 && early <= rows);
    Operands operands[rows];

    HYBRID_DEVICE static int ownRow(int i) {
      return static_cast<int>(threadIdx.x) / threadsOfRow + i * rowsAtOnce;
    }
    HYBRID_DEVICE static int ownColumn() {
      return static_cast<int>(threadIdx.x) % threadsOfRow * together;
    }
    HYBRID_DEVICE static bool hasPack(const StagedSums &tile) {
      if constexpr (S.wholeColumns)
        return true;
      return S.wholePacks ? ownColumn() < tile.columnCount
                          : ownColumn() + together <= tile.columnCount;
    }

    HYBRID_DEVICE void loadFirst(const StagedSums &tile, const Store &store, int64_t firstRow,
                                 int64_t firstColumn) {
      load<0, early>(tile, store, firstRow, firstColumn, 0);
    }
    /// Of `rows` rows from `first` on, those of which `begin` to `end`.
    template <int begin, int end>
    HYBRID_DEVICE void load(const StagedSums &tile, const Store &store, int64_t firstRow,
                            int64_t firstColumn, int first) {
      HYBRID_UNROLL
      for (int i = begin; i < end; ++i)
        if (tile.hasRow(ownRow(first + i)) && hasPack(tile))
          operands[i].load(store, firstRow + ownRow(first + i), firstColumn + ownColumn());
    }
  };

  /// Stores the tile; stage() writes a warp's sums to shared memory.
  template <typename Store, typename Stage>
  HYBRID_DEVICE void store(const Store &write, int64_t firstRow, int64_t firstColumn,
                           Ahead<Store> &operands, Stage stage) const {
    using Own = Ahead<Store>;
    constexpr int rows = Own::rows, together = Own::together;
    operands.template load<Own::early, rows>(*this, write, firstRow, firstColumn, 0);
    stage();
    blockBarrier();
    constexpr int staged = 16 / static_cast<int>(sizeof(T));
    const int column = Own::ownColumn();
    [[maybe_unused]] auto ofRows = [&] {
      if constexpr (RowFunction<Store>)
        return write.template columns<together>(firstColumn + column);
      else
        return 0;
    }();
    // All lanes of a row take part, and so all of a warp.
    static_assert(!RowFunction<Store> || (S.wholeRows && S.wholeColumns && S.wholePacks));
    HYBRID_NO_UNROLL
    for (int first = 0; first < Own::rowsOfThread; first += rows) {
      if (first > 0)
        operands.template load<0, rows>(*this, write, firstRow, firstColumn, first);
      HYBRID_UNROLL
      for (int i = 0; i < rows; ++i) {
        const int row = Own::ownRow(first + i);
        if (!hasRow(row))
          continue;
        const T *from = shared + row * S.stride + column;
        if (Own::hasPack(*this)) {
          Pack<T, together> sums;
          HYBRID_UNROLL
          for (int k = 0; k < together; k += staged) {
            const auto some = loadPack<staged>(from + k);
            HYBRID_UNROLL
            for (int l = 0; l < staged; ++l)
              sums[k + l] = some[l];
          }
          if constexpr (RowFunction<Store>)
            write.template store<Own::threadsOfRow>(firstRow + row, firstColumn + column, sums,
                                                    operands.operands[i].operands[0], ofRows);
          else
            operands.operands[i].store(write, firstRow + row, firstColumn + column, sums);
        } else if constexpr (!S.wholePacks) {
          for (int k = 0; column + k < columnCount; ++k)
            write(firstRow + row, firstColumn + column + k, from[k]);
        }
      }
    }
    if constexpr (RowFunction<Store>)
      write.template finish<S.rowTile, Own::rowsAtOnce, S.threads>(ofRows, firstRow, Own::ownRow(0),
                                                                   column, shared);
  }
};

} // namespace hybrid::cuda
