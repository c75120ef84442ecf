//===- Fragments.cuh - products of a warp whose sums are operands of the next ---===//
//
// A fragment is 16 x 8 elements over the lanes of a warp, as mma.sync leaves sums: with g = lane /
// 4 and t = lane % 4 rows g and g + 8, columns 2t and 2t + 1. The order of a contraction is free as
// long as both operands have it: with 0 2 4 6 1 3 5 7 a fragment of sums is a left operand as it
// lies in registers. f32 is multiplied as the sum of two numbers of 11 bits (Products::Tf32x3),
// f64 by exchanges between lanes.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/TileProduct.cuh"

namespace hybrid::cuda {

template <typename T> struct Fragment {
  T at[4] = {}; // row g: columns 2t, 2t + 1; row g + 8: the same
};

/// `count` numbers of a lane as an operand.
template <typename T, int count> struct UnitOperand {
  T values[count];
  HYBRID_DEVICE void set(int i, T value) { values[i] = value; }
};
template <int count> struct UnitOperand<float, count> {
  Operand<Products::Tf32x3, count> parts;
  HYBRID_DEVICE void set(int i, float value) { parts.set(i, bitsOf(value)); }
};
/// 16 x 8: of column 2t rows g and g + 8, of column 2t + 1 the same.
template <typename T> using LeftOperand = UnitOperand<T, 4>;
/// 8 x 8: of column g rows 2t and 2t + 1.
template <typename T> using RightOperand = UnitOperand<T, 2>;

/// sum += left right.
HYBRID_DEVICE void multiplyAdd(Fragment<float> &sum, const LeftOperand<float> &left,
                               const RightOperand<float> &right) {
  multiplyAddUnit(sum.at, left.parts, right.parts);
}
HYBRID_DEVICE void multiplyAdd(Fragment<double> &sum, const LeftOperand<double> &left,
                               const RightOperand<double> &right) {
  const int row = laneIndex() & ~3, column = laneIndex() % 4 * 8;
  HYBRID_UNROLL
  for (int t = 0; t < 4; ++t)
    HYBRID_UNROLL
  for (int odd = 0; odd < 2; ++odd) { // row 2t + odd of the right operand
    const double upper = shuffle(left.values[2 * odd], row + t),
                 lower = shuffle(left.values[2 * odd + 1], row + t),
                 first = shuffle(right.values[odd], column + t),
                 second = shuffle(right.values[odd], column + 4 + t);
    sum.at[0] = multiplyAdd(upper, first, sum.at[0]);
    sum.at[1] = multiplyAdd(upper, second, sum.at[1]);
    sum.at[2] = multiplyAdd(lower, first, sum.at[2]);
    sum.at[3] = multiplyAdd(lower, second, sum.at[3]);
  }
}

template <typename T> HYBRID_DEVICE LeftOperand<T> leftOf(const Fragment<T> &fragment) {
  LeftOperand<T> left;
  HYBRID_UNROLL
  for (int i = 0; i < 4; ++i)
    left.set(i, fragment.at[i % 2 * 2 + i / 2]);
  return left;
}

// ---- operands in tiles: element (row, column) is tile[row * stride + column]; where two columns
// are read at once tiles begin at a multiple of 16 bytes and strides are even ----

template <typename T> HYBRID_DEVICE Fragment<T> readFragment(const T *tile, int stride) {
  const int g = laneIndex() / 4, t = laneIndex() % 4;
  Fragment<T> fragment;
  HYBRID_UNROLL
  for (int half = 0; half < 2; ++half) {
    const auto pair = loadPack<2>(tile + (g + 8 * half) * stride + 2 * t);
    fragment.at[2 * half] = pair[0], fragment.at[2 * half + 1] = pair[1];
  }
  return fragment;
}
template <typename T>
HYBRID_DEVICE void writeFragment(T *tile, int stride, const Fragment<T> &fragment) {
  const int g = laneIndex() / 4, t = laneIndex() % 4;
  HYBRID_UNROLL
  for (int half = 0; half < 2; ++half)
    storePack(tile + (g + 8 * half) * stride + 2 * t,
              Pack<T, 2>{{fragment.at[2 * half], fragment.at[2 * half + 1]}});
}
/// A left operand: 16 rows and 8 columns of a tile.
template <typename T> HYBRID_DEVICE LeftOperand<T> leftRows(const T *tile, int stride) {
  return leftOf(readFragment(tile, stride));
}
/// A left operand: 8 rows and 16 columns of a tile, transposed.
template <typename T> HYBRID_DEVICE LeftOperand<T> leftColumns(const T *tile, int stride) {
  const int g = laneIndex() / 4, t = laneIndex() % 4;
  LeftOperand<T> left;
  HYBRID_UNROLL
  for (int i = 0; i < 4; ++i)
    left.set(i, tile[(2 * t + i / 2) * stride + g + i % 2 * 8]);
  return left;
}
/// A right operand: 8 rows and 8 columns of a tile.
template <typename T> HYBRID_DEVICE RightOperand<T> rightColumns(const T *tile, int stride) {
  const int g = laneIndex() / 4, t = laneIndex() % 4;
  RightOperand<T> right;
  HYBRID_UNROLL
  for (int i = 0; i < 2; ++i)
    right.set(i, tile[(2 * t + i) * stride + g]);
  return right;
}
/// The same, transposed.
template <typename T> HYBRID_DEVICE RightOperand<T> rightRows(const T *tile, int stride) {
  const int g = laneIndex() / 4, t = laneIndex() % 4;
  const auto pair = loadPack<2>(tile + g * stride + 2 * t);
  RightOperand<T> right;
  right.set(0, pair[0]), right.set(1, pair[1]);
  return right;
}

} // namespace hybrid::cuda
