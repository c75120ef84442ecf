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

/// g, t and a lane's warp. Unsigned: where a sign is possible the compiler gives up moving several
/// elements at once.
HYBRID_DEVICE int rowOfLane() { return static_cast<int>(threadIdx.x % 32u / 4u); }
HYBRID_DEVICE int columnOfLane() { return static_cast<int>(threadIdx.x % 4u); }
HYBRID_DEVICE int warpOfThread() { return static_cast<int>(threadIdx.x / 32u); }

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

/// Where row `row` of a tile lies: of eight that are spread at 0, 2, 1, 3, 6, 4, 7, 5, so that of
/// rows 0 to 3, of 4 to 7, of the even and of the odd ones each is in a quarter of the banks of its
/// own, and 2i and 2i + 1 are two quarters apart.
template <bool spread> HYBRID_DEVICE int placeOfRow(int row) {
  if constexpr (spread)
    return (row & ~3) | (((row << 1 & 2) | (row >> 1 & 1)) ^ (row >> 1 & 2));
  else
    return row;
}

/// Products of tiles of `columns` columns (a value of tileColumns()). A lane reads at most
/// `mostAdjacent` columns of a row at once where rows are contracted.
template <Products products, typename T, int columns, int mostAdjacent = 8,
          TileRows order = TileRows::InOrder>
struct TileProduct {
  using Element = TileElement<products, T>;
  static constexpr int stride = static_cast<int>(tileStride(products, sizeof(T), columns, order));
  static constexpr bool spread = isSpread(order, products, sizeof(T), columns);
  static constexpr bool plain = products == Products::Plain;
  /// Words of a row that a lane reads for a group of 4 * laneWords words.
  static constexpr int rowWords = columns * static_cast<int>(sizeof(Element)) / 4;
  static constexpr int elementsOfWord = sizeof(Element) < 4 ? 2 : 1;
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

  /// Where a lane reads in any tile: the begin of its part of row g in words, and its columns of
  /// rows 2t and 2t + 1 in elements. What it reads is at constants behind that.
  struct Lane {
    int row, even, odd;
    HYBRID_DEVICE Lane() {
      const int g = rowOfLane(), t = columnOfLane();
      row = kept(placeOfRow<spread>(g) * (stride / elementsOfWord) + t * laneWords);
      even = kept(placeOfRow<spread>(2 * t) * stride + g * adjacent);
      odd = kept(placeOfRow<spread>(2 * t + 1) * stride + g * adjacent);
    }
    static HYBRID_DEVICE int kept(int place) { return spread ? inRegister(place) : place; }
  };
  static HYBRID_DEVICE const uint32_t *laneRow(const Element *tile, const Lane &lane) {
    return reinterpret_cast<const uint32_t *>(tile) + lane.row;
  }
  /// Words [first, first + pieceWords) of a lane's part of a group of columns, `row` rows on.
  static HYBRID_DEVICE Pack<uint32_t, pieceWords> readPiece(const uint32_t *lane, int row,
                                                            int group, int first) {
    return loadPack<pieceWords>(lane + row * (stride / elementsOfWord) + group * 4 * laneWords +
                                first);
  }

  /// A piece of 16 rows as left operands.
  template <int steps>
  static HYBRID_DEVICE void readLeft(Operand<products, 4> (&left)[steps], const uint32_t *lane,
                                     int group, int first) {
    const auto upper = readPiece(lane, 0, group, first), lower = readPiece(lane, 8, group, first);
    HYBRID_UNROLL
    for (int step = 0; step < steps; ++step) {
      left[step].set(0, upper[2 * step]);
      left[step].set(1, lower[2 * step]);
      left[step].set(2, upper[2 * step + 1]);
      left[step].set(3, lower[2 * step + 1]);
    }
  }

  /// sum(i, j) += a b', the contraction along columns: 16 * rowBlocks rows of a, 8 * blocks rows of
  /// b; sum(i, j) is a fragment.
  template <int rowBlocks, int blocks, typename Sum>
  static HYBRID_DEVICE void alongColumns(Sum &&sum, const Element *a, const Element *b) {
    if constexpr (plain) {
      const int g = rowOfLane(), t = columnOfLane();
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
      const Lane lane;
      const uint32_t *ofA = laneRow(a, lane), *ofB = laneRow(b, lane);
      // Piece by piece: more at a time costs registers that several rows do not leave.
      HYBRID_NO_UNROLL
      for (int piece = 0; piece < rowWords / (4 * pieceWords); ++piece) {
        constexpr int pieces = laneWords / pieceWords;
        const int group = piece / pieces, first = piece % pieces * pieceWords;
        Operand<products, 4> left[rowBlocks][steps];
        HYBRID_UNROLL
        for (int i = 0; i < rowBlocks; ++i)
          readLeft(left[i], ofA + i * 16 * (stride / elementsOfWord), group, first);
        HYBRID_UNROLL
        for (int block = 0; block < blocks; ++block) {
          const auto words = readPiece(ofB, block * 8, group, first);
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

  /// 16 rows that are multiplied by many others: in registers where they are few.
  struct Rows {
    static constexpr int steps = pieceWords / 2;
    static constexpr bool kept =
        !plain && rowWords == 4 * pieceWords && steps * (products == Products::Bf16 ? 4 : 8) <= 8;
    const Element *tile;
    Operand<products, 4> left[kept ? steps : 1];

    HYBRID_DEVICE Rows(const Element *tile, const Lane &lane) : tile(tile) {
      if constexpr (kept)
        readLeft(left, laneRow(tile, lane), 0, 0);
    }
  };
  template <int blocks>
  static HYBRID_DEVICE void alongColumns(T (&sums)[blocks][4], const Rows &a, const Element *b,
                                         const Lane &lane) {
    if constexpr (Rows::kept) {
      const uint32_t *ofB = laneRow(b, lane);
      HYBRID_UNROLL
      for (int block = 0; block < blocks; ++block) {
        const auto words = readPiece(ofB, block * 8, 0, 0);
        HYBRID_UNROLL
        for (int step = 0; step < Rows::steps; ++step) {
          Operand<products, 2> right;
          right.set(0, words[2 * step]);
          right.set(1, words[2 * step + 1]);
          multiplyAddUnit<products>(sums[block], a.left[step], right);
        }
      }
    } else {
      alongColumns<blocks>(sums, a.tile, b);
    }
  }

  // ---- contractions along rows: `contraction` rows of a tile at a time, a step ----

  /// Columns of fragments [first, first + adjacent) as right operands, rows of step i.
  static HYBRID_DEVICE void readColumns(Operand<products, 2> (&right)[adjacent],
                                        const Element *tile, int i, int first, const Lane &lane) {
    const int constant = i * contraction * stride + first * 8;
    const Element *even = tile + lane.even + constant, *odd = tile + lane.odd + constant;
    if constexpr (products == Products::Bf16) {
      constexpr int words = adjacent / 2;
      auto read = [&](const Element *at) {
        return loadPack<words>(reinterpret_cast<const uint32_t *>(at));
      };
      const Pack<uint32_t, words> r0 = read(even), r1 = read(odd), r8 = read(even + 8 * stride),
                                  r9 = read(odd + 8 * stride);
      HYBRID_UNROLL
      for (int w = 0; w < words; ++w) {
        // Words hold two columns of a row; an operand holds two rows of a column.
        right[2 * w].set(0, lowerHalves(r0[w], r1[w]));
        right[2 * w].set(1, lowerHalves(r8[w], r9[w]));
        right[2 * w + 1].set(0, upperHalves(r0[w], r1[w]));
        right[2 * w + 1].set(1, upperHalves(r8[w], r9[w]));
      }
    } else {
      const Pack<T, adjacent> upper = loadPack<adjacent>(even), lower = loadPack<adjacent>(odd);
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
                                          const Element *b, int step, const Lane &lane = Lane()) {
    static_assert(blocks % adjacent == 0);
    HYBRID_UNROLL
    for (int first = 0; first < blocks; first += adjacent) {
      Operand<products, 2> right[adjacent];
      readColumns(right, b, step, first, lane);
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
                                      const Element *b, const Lane &lane = Lane()) {
    static_assert(depth * 8 % contraction == 0);
    const int t = columnOfLane();
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
        stepAlongRows<1, blocks>([&](int, int block) -> T(&)[4] { return sums[block]; }, left, b, i,
                                 lane);
      }
    }
  }

  /// sum(i, j) += a b for `depth` rows of b: a is 16 * rowBlocks rows of a tile of `depth` columns.
  /// Not of bf16, which is loaded as matrices.
  template <int rowBlocks, int blocks, int depth, typename Sum>
  static HYBRID_DEVICE void rowsTimesRows(Sum &&sum, const Element *a, const Element *b) {
    static_assert(products != Products::Bf16);
    using Left = TileProduct<products, T, depth>;
    const int g = rowOfLane(), t = columnOfLane();
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
          const uint32_t *row =
              reinterpret_cast<const uint32_t *>(a + (i * 16 + g + 8 * half) * Left::stride) +
              step * 8;
          const auto words = loadPack<2>(row + 2 * t);
          left[i].set(half, words[0]);
          left[i].set(2 + half, words[1]);
        }
        stepAlongRows<rowBlocks, blocks>(sum, left, b, step);
      }
    }
  }

  /// sum(i, j) += a' b for `depth` rows of both; a has the layout of Left, and fragment row r of
  /// block i is its column Left::columnOf(2 i + r / 8, r % 8).
  template <typename Left, int rowBlocks, int blocks, int depth, typename Sum>
  static HYBRID_DEVICE void columnsTimesRows(Sum &&sum, const Element *a, const Element *b) {
    const int g = rowOfLane(), t = columnOfLane();
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
          Left::readColumns(read, a, step, first, typename Left::Lane());
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

/// 16 * rowBlocks rows and 16 columns of bf16 as left operands, loaded as matrices of 8 x 8.
template <int rowBlocks> struct MatrixOperands {
  uint32_t words[rowBlocks][4];

  /// Of a tile whose rows are `stride` elements apart; with `turned` of 16 rows of its columns.
  template <bool turned = false> HYBRID_DEVICE void load(const bf16 *tile, int stride) {
    const int lane = laneIndex();
    const bf16 *at = turned ? tile + (lane % 8 + lane / 16 * 8) * stride + lane / 8 % 2 * 8
                            : tile + lane % 16 * stride + lane / 16 * 8;
    HYBRID_UNROLL
    for (int i = 0; i < rowBlocks; ++i)
      loadMatrices<turned>(words[i], at + i * 16 * (turned ? 1 : stride));
  }

  /// sums += left right: 16 rows of a tile, or not `inRows` its 16 columns, as they are contracted.
  /// Fragment `block` is columns 8 * block on of the result.
  template <bool inRows, int blocks>
  HYBRID_DEVICE void multiply(float (&sums)[rowBlocks][blocks][4], const bf16 *tile,
                              int stride) const {
    static_assert(blocks % 2 == 0);
    const int lane = laneIndex();
    const bf16 *at = inRows ? tile + lane % 16 * stride + lane / 16 * 8
                            : tile + (lane % 8 + lane / 16 * 8) * stride + lane / 8 % 2 * 8;
    HYBRID_UNROLL
    for (int block = 0; block < blocks; block += 2) {
      uint32_t right[4];
      loadMatrices<inRows>(right, at + block * 8 * (inRows ? 1 : stride));
      HYBRID_UNROLL
      for (int half = 0; half < 2; ++half) {
        const uint32_t operand[2] = {right[2 * half], right[2 * half + 1]};
        HYBRID_UNROLL
        for (int i = 0; i < rowBlocks; ++i)
          mmaBf16(sums[i][block + half], words[i], operand);
      }
    }
  }
};

/// sums += a b for `depth` rows of b: a is 16 * rowBlocks rows, or with `turned` as many columns of
/// `depth` rows.
template <bool turned, int depth, int rowBlocks, int blocks>
HYBRID_DEVICE void multiplyMatrices(float (&sums)[rowBlocks][blocks][4], const bf16 *a, int aStride,
                                    const bf16 *b, int bStride) {
  HYBRID_UNROLL
  for (int k = 0; k < depth; k += 16) {
    MatrixOperands<rowBlocks> left;
    left.template load<turned>(a + k * (turned ? aStride : 1), aStride);
    left.template multiply<true>(sums, b + k * bStride, bStride);
  }
}

/// Sums that begin with `upper` in rows g, and with `lower` in rows g + 8.
template <typename T, int blocks>
HYBRID_DEVICE void fillFragments(T (&sums)[blocks][4], T upper, T lower) {
  HYBRID_UNROLL
  for (int block = 0; block < blocks; ++block)
    HYBRID_UNROLL
  for (int i = 0; i < 4; ++i)
    sums[block][i] = i < 2 ? upper : lower;
}
template <typename T, int blocks> HYBRID_DEVICE void clearFragments(T (&sums)[blocks][4]) {
  fillFragments(sums, T(0), T(0));
}

} // namespace hybrid::cuda
