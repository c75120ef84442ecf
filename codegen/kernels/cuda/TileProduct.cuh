//===- TileProduct.cuh - products of tiles in shared memory, by warps ---------===//
//
// A warp multiplies 16 rows. Its sums are fragments of 16 x 8: with g = lane / 4 and t = lane % 4 a
// lane holds sum[0..1] of row g and sum[2..3] of row g + 8, at columns 2t and 2t + 1 (the layout of
// mma.sync). The order of a contraction is free as long as both operands have it, and so is the
// order of output columns: both are chosen so that a lane reads up to 16 contiguous bytes.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/TileProduct.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// Elements that are moved at once where `alignment` divides everything.
template <typename T, int64_t alignment>
constexpr int packWidth = static_cast<int>(alignment * static_cast<int64_t>(sizeof(T)) > 16
                                               ? 16 / static_cast<int64_t>(sizeof(T))
                                               : alignment);

template <Products products, typename T> struct TileElementOf {
  using type = T;
};
template <typename T> struct TileElementOf<Products::Bf16, T> {
  using type = bf16;
};
/// What a tile in shared memory holds.
template <Products products, typename T>
using TileElement = typename TileElementOf<products, T>::type;

/// Elements to a tile; bf16 in pairs where there are several.
template <typename T, int count>
HYBRID_DEVICE void storeElements(T *to, const Pack<T, count> &from) {
  storePack(to, from);
}
template <int count> HYBRID_DEVICE void storeElements(bf16 *to, const Pack<float, count> &from) {
  if constexpr (count == 1) {
    *to = toBf16(from[0]);
  } else {
    Pack<uint32_t, count / 2> words;
    HYBRID_UNROLL
    for (int i = 0; i < count / 2; ++i)
      words[i] = packBf16(from[2 * i], from[2 * i + 1]);
    storePack(reinterpret_cast<uint32_t *>(to), words);
  }
}

/// Operand of a matrix unit: `count` words a lane.
template <Products products, int count> struct Operand {
  uint32_t words[count];
  HYBRID_DEVICE void set(int i, uint32_t word) { words[i] = word; }
  /// Of 16 rows the upper (0) or lower (1) eight.
  HYBRID_DEVICE void setHalf(int half, const Operand<products, 2> &from) {
    words[half] = from.words[0], words[2 + half] = from.words[1];
  }
};
/// x = high + low up to 2^-21 of x: high is rounded here, low by the matrix unit, which takes the
/// upper 19 bits of a word.
template <int count> struct Operand<Products::Tf32x3, count> {
  uint32_t words[count], low[count];
  HYBRID_DEVICE void set(int i, uint32_t word) {
    words[i] = (word + 0x1000u) & 0xffffe000u;
    low[i] = bitsOf(fromBits(word) - fromBits(words[i]));
  }
  HYBRID_DEVICE void setHalf(int half, const Operand<Products::Tf32x3, 2> &from) {
    words[half] = from.words[0], words[2 + half] = from.words[1];
    low[half] = from.low[0], low[2 + half] = from.low[1];
  }
};

template <Products products>
HYBRID_DEVICE void multiplyAddUnit(float (&sum)[4], const Operand<products, 4> &a,
                                   const Operand<products, 2> &b) {
  if constexpr (products == Products::Bf16) {
    mmaBf16(sum, a.words, b.words);
  } else {
    // The small terms first.
    mmaTf32(sum, a.low, b.words);
    mmaTf32(sum, a.words, b.low);
    mmaTf32(sum, a.words, b.words);
  }
}

/// Products of tiles of `columns` columns (a value of tileColumns()). A lane reads at most
/// `mostAdjacent` columns of a row at once where rows are contracted.
template <Products products, typename T, int columns, int mostAdjacent = 8> struct TileProduct {
  using Element = TileElement<products, T>;
  static constexpr int stride = static_cast<int>(tileStride(products, sizeof(T), columns));
  static constexpr bool plain = products == Products::Plain;
  /// Words of a row that a lane reads for a group of 4 * laneWords words.
  static constexpr int rowWords = columns * static_cast<int>(sizeof(Element)) / 4;
  static constexpr int laneWords = rowWords % 32 == 0 ? 8 : rowWords % 16 == 0 ? 4 : 2;
  static constexpr int pieceWords = laneWords < 4 ? laneWords : 4;
  /// Adjacent columns that belong to the same lane.
  static constexpr int widest = products == Products::Bf16 ? laneWords : (laneWords + 1) / 2;
  static constexpr int adjacent = plain ? 1 : widest < mostAdjacent ? widest : mostAdjacent;
  static constexpr int contraction = products == Products::Bf16 ? 16 : 8;

  /// Column of the output that column `column` of fragment `block` stands for.
  static HYBRID_DEVICE int columnOf(int block, int column) {
    return block / adjacent * 8 * adjacent + column * adjacent + block % adjacent;
  }

  /// Words [first, first + pieceWords) of a lane's part of a group of columns.
  static HYBRID_DEVICE Pack<uint32_t, pieceWords> readPiece(const Element *tile, int row, int group,
                                                            int first) {
    return loadPack<pieceWords>(reinterpret_cast<const uint32_t *>(tile + row * stride) +
                                (group * 4 + laneIndex() % 4) * laneWords + first);
  }

  /// sum(i, j) += a b', the contraction along columns: 16 * rowBlocks rows of a, 8 * blocks rows of
  /// b; sum(i, j) is a fragment.
  template <int rowBlocks, int blocks, typename Sum>
  static HYBRID_DEVICE void alongColumns(Sum &&sum, const Element *a, const Element *b) {
    const int g = laneIndex() / 4, t = laneIndex() % 4;
    if constexpr (plain) {
      HYBRID_NO_UNROLL
      for (int c = 0; c < columns; ++c) {
        HYBRID_UNROLL
        for (int i = 0; i < rowBlocks; ++i) {
          const T upper = a[(i * 16 + g) * stride + c], lower = a[(i * 16 + g + 8) * stride + c];
          HYBRID_UNROLL
          for (int block = 0; block < blocks; ++block)
            multiplyAddPlain(sum(i, block), upper, lower, b[(block * 8 + 2 * t) * stride + c],
                             b[(block * 8 + 2 * t + 1) * stride + c]);
        }
      }
    } else {
      constexpr int steps = pieceWords / 2;
      // Piece by piece: more at a time costs registers that several rows do not leave.
      HYBRID_NO_UNROLL
      for (int piece = 0; piece < rowWords / (4 * pieceWords); ++piece) {
        constexpr int pieces = laneWords / pieceWords;
        const int group = piece / pieces, first = piece % pieces * pieceWords;
        Operand<products, 4> left[rowBlocks][steps];
        HYBRID_UNROLL
        for (int i = 0; i < rowBlocks; ++i) {
          const auto upper = readPiece(a, i * 16 + g, group, first),
                     lower = readPiece(a, i * 16 + g + 8, group, first);
          HYBRID_UNROLL
          for (int step = 0; step < steps; ++step) {
            left[i][step].set(0, upper[2 * step]);
            left[i][step].set(1, lower[2 * step]);
            left[i][step].set(2, upper[2 * step + 1]);
            left[i][step].set(3, lower[2 * step + 1]);
          }
        }
        HYBRID_UNROLL
        for (int block = 0; block < blocks; ++block) {
          const auto words = readPiece(b, block * 8 + g, group, first);
          HYBRID_UNROLL
          for (int step = 0; step < steps; ++step) {
            Operand<products, 2> right;
            right.set(0, words[2 * step]);
            right.set(1, words[2 * step + 1]);
            HYBRID_UNROLL
            for (int i = 0; i < rowBlocks; ++i)
              multiplyAddUnit<products>(sum(i, block), left[i][step], right);
          }
        }
      }
    }
  }
  template <int blocks>
  static HYBRID_DEVICE void alongColumns(T (&sums)[blocks][4], const Element *a, const Element *b) {
    alongColumns<1, blocks>([&](int, int block) -> T(&)[4] { return sums[block]; }, a, b);
  }

  // ---- contractions along rows: `contraction` rows of a tile at a time, a step ----

  /// Columns of fragments [first, first + adjacent) as right operands, rows of step i.
  static HYBRID_DEVICE void readColumns(Operand<products, 2> (&right)[adjacent],
                                        const Element *tile, int i, int first) {
    const int g = laneIndex() / 4, t = laneIndex() % 4;
    const Element *at = tile + (i * contraction + 2 * t) * stride + g * adjacent + first * 8;
    if constexpr (products == Products::Bf16) {
      constexpr int words = adjacent / 2;
      auto read = [&](int row) {
        return loadPack<words>(reinterpret_cast<const uint32_t *>(at + row * stride));
      };
      const Pack<uint32_t, words> r0 = read(0), r1 = read(1), r8 = read(8), r9 = read(9);
      HYBRID_UNROLL
      for (int w = 0; w < words; ++w) {
        // Words hold two columns of a row; an operand holds two rows of a column.
        right[2 * w].set(0, (r0[w] & 0xffffu) | r1[w] << 16);
        right[2 * w].set(1, (r8[w] & 0xffffu) | r9[w] << 16);
        right[2 * w + 1].set(0, r0[w] >> 16 | (r1[w] & 0xffff0000u));
        right[2 * w + 1].set(1, r8[w] >> 16 | (r9[w] & 0xffff0000u));
      }
    } else {
      const Pack<T, adjacent> upper = loadPack<adjacent>(at),
                              lower = loadPack<adjacent>(at + stride);
      HYBRID_UNROLL
      for (int w = 0; w < adjacent; ++w) {
        right[w].set(0, bitsOf(upper[w]));
        right[w].set(1, bitsOf(lower[w]));
      }
    }
  }

  /// sum(i, j) += left(i) b for step `step` of the contraction: fragments j in the order of
  /// columnOf().
  template <int rowBlocks, int blocks, typename Sum>
  static HYBRID_DEVICE void stepAlongRows(Sum &&sum, const Operand<products, 4> (&left)[rowBlocks],
                                          const Element *b, int step) {
    static_assert(blocks % adjacent == 0);
    HYBRID_UNROLL
    for (int first = 0; first < blocks; first += adjacent) {
      Operand<products, 2> right[adjacent];
      readColumns(right, b, step, first);
      HYBRID_UNROLL
      for (int w = 0; w < adjacent; ++w)
        HYBRID_UNROLL
      for (int i = 0; i < rowBlocks; ++i)
        multiplyAddUnit<products>(sum(i, first + w), left[i], right[w]);
    }
  }

  /// sums += a b: a is fragments of 16 x (8 * depth), sums those of 16 x (8 * blocks).
  template <int blocks, int depth>
  static HYBRID_DEVICE void alongRows(T (&sums)[blocks][4], const T (&a)[depth][4],
                                      const Element *b) {
    static_assert(depth * 8 % contraction == 0);
    const int t = laneIndex() % 4;
    if constexpr (plain) {
      HYBRID_UNROLL
      for (int i = 0; i < depth; ++i)
        HYBRID_NO_UNROLL
      for (int source = 0; source < 4; ++source) {
        HYBRID_UNROLL
        for (int odd = 0; odd < 2; ++odd) {
          const T upper = shuffle(a[i][odd], laneIndex() - t + source),
                  lower = shuffle(a[i][2 + odd], laneIndex() - t + source);
          const T *row = b + (i * 8 + 2 * source + odd) * stride + 2 * t;
          HYBRID_UNROLL
          for (int block = 0; block < blocks; ++block)
            multiplyAddPlain(sums[block], upper, lower, row[block * 8], row[block * 8 + 1]);
        }
      }
    } else {
      HYBRID_UNROLL
      for (int i = 0; i < depth * 8 / contraction; ++i) {
        Operand<products, 4> left[1];
        if constexpr (products == Products::Bf16) {
          left[0].set(0, packBf16(a[2 * i][0], a[2 * i][1]));
          left[0].set(1, packBf16(a[2 * i][2], a[2 * i][3]));
          left[0].set(2, packBf16(a[2 * i + 1][0], a[2 * i + 1][1]));
          left[0].set(3, packBf16(a[2 * i + 1][2], a[2 * i + 1][3]));
        } else {
          left[0].set(0, bitsOf(a[i][0]));
          left[0].set(1, bitsOf(a[i][2]));
          left[0].set(2, bitsOf(a[i][1]));
          left[0].set(3, bitsOf(a[i][3]));
        }
        stepAlongRows<1, blocks>([&](int, int block) -> T(&)[4] { return sums[block]; }, left, b,
                                 i);
      }
    }
  }

  /// sum(i, j) += a b for `depth` rows of b: a is 16 * rowBlocks rows of a tile of `depth` columns.
  template <int rowBlocks, int blocks, int depth, typename Sum>
  static HYBRID_DEVICE void rowsTimesRows(Sum &&sum, const Element *a, const Element *b) {
    using Left = TileProduct<products, T, depth>;
    const int g = laneIndex() / 4, t = laneIndex() % 4;
    if constexpr (plain) {
      HYBRID_NO_UNROLL
      for (int k = 0; k < depth; ++k)
        HYBRID_UNROLL
      for (int i = 0; i < rowBlocks; ++i) {
        const T upper = a[(i * 16 + g) * Left::stride + k],
                lower = a[(i * 16 + g + 8) * Left::stride + k];
        HYBRID_UNROLL
        for (int block = 0; block < blocks; ++block)
          multiplyAddPlain(sum(i, block), upper, lower, b[k * stride + block * 8 + 2 * t],
                           b[k * stride + block * 8 + 2 * t + 1]);
      }
    } else {
      HYBRID_NO_UNROLL
      for (int step = 0; step < depth / contraction; ++step) {
        Operand<products, 4> left[rowBlocks];
        HYBRID_UNROLL
        for (int i = 0; i < rowBlocks; ++i)
          HYBRID_UNROLL
        for (int half = 0; half < 2; ++half) {
          // Two adjacent columns are two words, or one word of bf16 and the next four words on.
          const uint32_t *row =
              reinterpret_cast<const uint32_t *>(a + (i * 16 + g + 8 * half) * Left::stride) +
              step * 8;
          if constexpr (products == Products::Bf16) {
            left[i].set(half, row[t]);
            left[i].set(2 + half, row[t + 4]);
          } else {
            const auto words = loadPack<2>(row + 2 * t);
            left[i].set(half, words[0]);
            left[i].set(2 + half, words[1]);
          }
        }
        stepAlongRows<rowBlocks, blocks>(sum, left, b, step);
      }
    }
  }

  /// sum(i, j) += a' b for `depth` rows of both; a has the layout of Left, and fragment row r of
  /// block i is its column Left::columnOf(2 i + r / 8, r % 8).
  template <typename Left, int rowBlocks, int blocks, int depth, typename Sum>
  static HYBRID_DEVICE void columnsTimesRows(Sum &&sum, const Element *a, const Element *b) {
    const int g = laneIndex() / 4, t = laneIndex() % 4;
    if constexpr (plain) {
      HYBRID_NO_UNROLL
      for (int k = 0; k < depth; ++k)
        HYBRID_UNROLL
      for (int i = 0; i < rowBlocks; ++i) {
        const T upper = a[k * Left::stride + i * 16 + g],
                lower = a[k * Left::stride + i * 16 + g + 8];
        HYBRID_UNROLL
        for (int block = 0; block < blocks; ++block)
          multiplyAddPlain(sum(i, block), upper, lower, b[k * stride + block * 8 + 2 * t],
                           b[k * stride + block * 8 + 2 * t + 1]);
      }
    } else {
      static_assert(2 * rowBlocks % Left::adjacent == 0);
      HYBRID_NO_UNROLL
      for (int step = 0; step < depth / contraction; ++step) {
        Operand<products, 4> left[rowBlocks];
        HYBRID_UNROLL
        for (int first = 0; first < 2 * rowBlocks; first += Left::adjacent) {
          Operand<products, 2> read[Left::adjacent];
          Left::readColumns(read, a, step, first);
          HYBRID_UNROLL
          for (int w = 0; w < Left::adjacent; ++w)
            left[(first + w) / 2].setHalf((first + w) % 2, read[w]);
        }
        stepAlongRows<rowBlocks, blocks>(sum, left, b, step);
      }
    }
  }

private:
  static HYBRID_DEVICE void multiplyAddPlain(T (&sum)[4], T upper, T lower, T left, T right) {
    sum[0] = multiplyAdd(upper, left, sum[0]);
    sum[1] = multiplyAdd(upper, right, sum[1]);
    sum[2] = multiplyAdd(lower, left, sum[2]);
    sum[3] = multiplyAdd(lower, right, sum[3]);
  }
};

template <typename T, int blocks> HYBRID_DEVICE void clearFragments(T (&sums)[blocks][4]) {
  HYBRID_UNROLL
  for (int block = 0; block < blocks; ++block)
    HYBRID_UNROLL
  for (int i = 0; i < 4; ++i)
    sums[block][i] = T(0);
}

} // namespace hybrid::cuda
