//===- TileProduct.cuh - products of tiles in shared memory, by warps ---------===//
//
// A warp multiplies 16 rows. Its sums are fragments of 16 x 8: with g = lane / 4 and t = lane % 4 a
// lane holds sum[0..1] of row g and sum[2..3] of row g + 8, at columns 2t and 2t + 1 (the layout of
// mma.sync). The order of a contraction is free as long as both operands have it, and so is the
// order of output columns: both are chosen so that a lane reads up to 16 contiguous bytes.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/cuda/kernels/Prelude.cuh"
#include "codegen/cuda/kernels/TileProductParams.h"

namespace hybrid::cuda {

/// `count` elements read or written at once.
template <typename T, int count> struct alignas(sizeof(T) * count) Pack {
  T values[count];
};
template <int count, typename T> HYBRID_DEVICE Pack<T, count> loadPack(const T *from) {
  return *reinterpret_cast<const Pack<T, count> *>(from);
}
template <int count, typename T> HYBRID_DEVICE void storePack(T *to, const Pack<T, count> &pack) {
  *reinterpret_cast<Pack<T, count> *>(to) = pack;
}

template <Products products, typename T> struct TileElementOf {
  using type = T;
};
template <typename T> struct TileElementOf<Products::Bf16, T> {
  using type = bf16;
};
/// What a tile in shared memory holds.
template <Products products, typename T>
using TileElement = typename TileElementOf<products, T>::type;

/// Operand of a matrix unit: `count` words a lane.
template <Products products, int count> struct Operand {
  uint32_t words[count];
  HYBRID_DEVICE void set(int i, uint32_t word) { words[i] = word; }
};
/// x = high + low up to 2^-21 of x: high is rounded here, low by the matrix unit, which takes the
/// upper 19 bits of a word.
template <int count> struct Operand<Products::Tf32x3, count> {
  uint32_t words[count], low[count];
  HYBRID_DEVICE void set(int i, uint32_t word) {
    words[i] = (word + 0x1000u) & 0xffffe000u;
    low[i] = bitsOf(fromBits(word) - fromBits(words[i]));
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

/// Products of tiles of `columns` columns (a value of tileColumns()).
template <Products products, typename T, int columns> struct TileProduct {
  using Element = TileElement<products, T>;
  static constexpr int stride = static_cast<int>(tileStride(products, sizeof(T), columns));
  static constexpr bool plain = products == Products::Plain;
  /// Words of a row that a lane reads for a group of 4 * laneWords words.
  static constexpr int rowWords = columns * static_cast<int>(sizeof(Element)) / 4;
  static constexpr int laneWords = rowWords % 32 == 0 ? 8 : rowWords % 16 == 0 ? 4 : 2;
  static constexpr int pieceWords = laneWords < 4 ? laneWords : 4;
  /// Adjacent columns that belong to the same lane.
  static constexpr int adjacent = plain                        ? 1
                                  : products == Products::Bf16 ? laneWords
                                                               : (laneWords + 1) / 2;
  static constexpr int contraction = products == Products::Bf16 ? 16 : 8;

  /// Column of the output that column `column` of fragment `block` stands for.
  static HYBRID_DEVICE int columnOf(int block, int column) {
    return block / adjacent * 8 * adjacent + column * adjacent + block % adjacent;
  }

  static HYBRID_DEVICE void readWords(uint32_t (&words)[laneWords], const Element *tile, int row,
                                      int group) {
    const uint32_t *from = reinterpret_cast<const uint32_t *>(tile + row * stride) +
                           (group * 4 + laneIndex() % 4) * laneWords;
    HYBRID_UNROLL
    for (int piece = 0; piece < laneWords; piece += pieceWords) {
      Pack<uint32_t, pieceWords> pack = loadPack<pieceWords>(from + piece);
      HYBRID_UNROLL
      for (int i = 0; i < pieceWords; ++i)
        words[piece + i] = pack.values[i];
    }
  }

  /// sums[i] += a b', the contraction along columns: 16 rows of a, 8 * blocks rows of b.
  template <int blocks>
  static HYBRID_DEVICE void alongColumns(T (&sums)[blocks][4], const Element *a, const Element *b) {
    const int g = laneIndex() / 4, t = laneIndex() % 4;
    if constexpr (plain) {
      HYBRID_NO_UNROLL
      for (int c = 0; c < columns; ++c) {
        T upper = a[g * stride + c], lower = a[(g + 8) * stride + c];
        HYBRID_UNROLL
        for (int block = 0; block < blocks; ++block) {
          T left = b[(block * 8 + 2 * t) * stride + c],
            right = b[(block * 8 + 2 * t + 1) * stride + c];
          sums[block][0] = multiplyAdd(upper, left, sums[block][0]);
          sums[block][1] = multiplyAdd(upper, right, sums[block][1]);
          sums[block][2] = multiplyAdd(lower, left, sums[block][2]);
          sums[block][3] = multiplyAdd(lower, right, sums[block][3]);
        }
      }
    } else {
      constexpr int steps = laneWords / 2;
      HYBRID_NO_UNROLL
      for (int group = 0; group < rowWords / (4 * laneWords); ++group) {
        uint32_t upper[laneWords], lower[laneWords];
        readWords(upper, a, g, group);
        readWords(lower, a, g + 8, group);
        Operand<products, 4> left[steps];
        HYBRID_UNROLL
        for (int step = 0; step < steps; ++step) {
          left[step].set(0, upper[2 * step]);
          left[step].set(1, lower[2 * step]);
          left[step].set(2, upper[2 * step + 1]);
          left[step].set(3, lower[2 * step + 1]);
        }
        HYBRID_UNROLL
        for (int block = 0; block < blocks; ++block) {
          uint32_t words[laneWords];
          readWords(words, b, block * 8 + g, group);
          HYBRID_UNROLL
          for (int step = 0; step < steps; ++step) {
            Operand<products, 2> right;
            right.set(0, words[2 * step]);
            right.set(1, words[2 * step + 1]);
            multiplyAddUnit<products>(sums[block], left[step], right);
          }
        }
      }
    }
  }

  /// sums += a b, the contraction along the rows of b: a is fragments of 16 x (8 * depth), sums
  /// those of 16 x (8 * blocks) with columns in the order of columnOf().
  template <int blocks, int depth>
  static HYBRID_DEVICE void alongRows(T (&sums)[blocks][4], const T (&a)[depth][4],
                                      const Element *b) {
    static_assert(blocks % adjacent == 0 && depth * 8 % contraction == 0);
    const int g = laneIndex() / 4, t = laneIndex() % 4;
    if constexpr (plain) {
      HYBRID_UNROLL
      for (int i = 0; i < depth; ++i)
        HYBRID_NO_UNROLL
      for (int source = 0; source < 4; ++source) {
        HYBRID_UNROLL
        for (int odd = 0; odd < 2; ++odd) {
          T upper = shuffle(a[i][odd], laneIndex() - t + source),
            lower = shuffle(a[i][2 + odd], laneIndex() - t + source);
          const T *row = b + (i * 8 + 2 * source + odd) * stride + 2 * t;
          HYBRID_UNROLL
          for (int block = 0; block < blocks; ++block) {
            T left = row[block * 8], right = row[block * 8 + 1];
            sums[block][0] = multiplyAdd(upper, left, sums[block][0]);
            sums[block][1] = multiplyAdd(upper, right, sums[block][1]);
            sums[block][2] = multiplyAdd(lower, left, sums[block][2]);
            sums[block][3] = multiplyAdd(lower, right, sums[block][3]);
          }
        }
      }
    } else {
      HYBRID_UNROLL
      for (int i = 0; i < depth * 8 / contraction; ++i) {
        Operand<products, 4> left;
        if constexpr (products == Products::Bf16) {
          left.set(0, packBf16(a[2 * i][0], a[2 * i][1]));
          left.set(1, packBf16(a[2 * i][2], a[2 * i][3]));
          left.set(2, packBf16(a[2 * i + 1][0], a[2 * i + 1][1]));
          left.set(3, packBf16(a[2 * i + 1][2], a[2 * i + 1][3]));
        } else {
          left.set(0, bitsOf(a[i][0]));
          left.set(1, bitsOf(a[i][2]));
          left.set(2, bitsOf(a[i][1]));
          left.set(3, bitsOf(a[i][3]));
        }
        const Element *rows = b + (i * contraction + 2 * t) * stride + g * adjacent;
        HYBRID_UNROLL
        for (int first = 0; first < blocks; first += adjacent) {
          const Element *at = rows + first * 8;
          if constexpr (products == Products::Bf16) {
            constexpr int words = adjacent / 2;
            auto read = [&](int row) {
              return loadPack<words>(reinterpret_cast<const uint32_t *>(at + row * stride));
            };
            Pack<uint32_t, words> r0 = read(0), r1 = read(1), r8 = read(8), r9 = read(9);
            HYBRID_UNROLL
            for (int w = 0; w < words; ++w) {
              // Words hold two columns of a row; an operand holds two rows of a column.
              Operand<products, 2> even, odd;
              even.set(0, (r0.values[w] & 0xffffu) | r1.values[w] << 16);
              even.set(1, (r8.values[w] & 0xffffu) | r9.values[w] << 16);
              odd.set(0, r0.values[w] >> 16 | (r1.values[w] & 0xffff0000u));
              odd.set(1, r8.values[w] >> 16 | (r9.values[w] & 0xffff0000u));
              multiplyAddUnit<products>(sums[first + 2 * w], left, even);
              multiplyAddUnit<products>(sums[first + 2 * w + 1], left, odd);
            }
          } else {
            Pack<T, adjacent> upper = loadPack<adjacent>(at),
                              lower = loadPack<adjacent>(at + stride);
            HYBRID_UNROLL
            for (int w = 0; w < adjacent; ++w) {
              Operand<products, 2> right;
              right.set(0, bitsOf(upper.values[w]));
              right.set(1, bitsOf(lower.values[w]));
              multiplyAddUnit<products>(sums[first + w], left, right);
            }
          }
        }
      }
    }
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
