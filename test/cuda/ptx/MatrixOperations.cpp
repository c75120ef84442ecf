//===- MatrixOperations.cpp - mma.sync --------------------------------------===//
//
// Products are exact, sums of a k are taken in f64 and rounded to f32 once. A GPU adds with fewer
// bits in an order of its own: its error is at most about k 2^-23 times the sum of the products'
// magnitudes. Fragments: PTX ISA 9.0, "Matrix Fragments for mma.m16n8k16", "... m16n8k8".
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/Lanes.h"
#include "test/cuda/ptx/Machine.h"
#include "test/cuda/ptx/Numbers.h"

namespace hybrid::ptx {
namespace {

constexpr int rows = 16, columns = 8;

template <int depth> struct Matrices {
  double a[rows][depth], b[depth][columns], d[rows][columns];
};

/// Adds the products and gives back f32; d is rows g and g + 8, columns 2t and 2t + 1 of a lane
/// 4 g + t.
template <int depth> void finish(Warp &warp, const Instruction &in, size_t c, Matrices<depth> &m) {
  for (int lane = 0; lane < warpLanes; ++lane)
    for (int i = 0; i < 4; ++i)
      m.d[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2] =
          static_cast<double>(warp.cells<float>(in.at[c + static_cast<size_t>(i)])[lane]);
  for (int row = 0; row < rows; ++row)
    for (int k = 0; k < depth; ++k)
      for (int column = 0; column < columns; ++column)
        m.d[row][column] += m.a[row][k] * m.b[k][column];
  for (int lane = 0; lane < warpLanes; ++lane)
    for (int i = 0; i < 4; ++i)
      warp.cells<float>(in.at[static_cast<size_t>(i)])[lane] =
          canonical(static_cast<float>(m.d[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2]));
  for (size_t i = 0; i < 4; ++i)
    warp.setPoison(in.at[i], allLanes, 0);
  ++warp.block->counts->products;
}

/// Whether all lanes take part with numbers that were written.
bool isReady(Warp &warp, const Instruction &in, uint32_t mask, size_t operandsEnd) {
  if (!warp.requireTogether(in, mask, allLanes))
    return false;
  for (size_t i = 4; i < operandsEnd; ++i)
    if (!warp.requireDefined(in, in.at[i], mask, "multiplies"))
      return false;
  return true;
}

/// Four registers of a, two of b, two numbers each.
void bf16Product(Warp &warp, const Instruction &in, uint32_t mask) {
  if (!isReady(warp, in, mask, 14))
    return;
  Matrices<16> m;
  for (int lane = 0; lane < warpLanes; ++lane) {
    const int group = lane / 4, pair = lane % 4 * 2;
    for (int i = 0; i < 4; ++i) {
      const uint32_t word = warp.cells<uint32_t>(in.at[static_cast<size_t>(4 + i)])[lane];
      double *to = &m.a[group + i % 2 * 8][pair + i / 2 * 8];
      to[0] = static_cast<double>(fromBf16(word & 0xffff)),
      to[1] = static_cast<double>(fromBf16(word >> 16));
    }
    for (int i = 0; i < 2; ++i) {
      const uint32_t word = warp.cells<uint32_t>(in.at[static_cast<size_t>(8 + i)])[lane];
      m.b[pair + i * 8][group] = static_cast<double>(fromBf16(word & 0xffff));
      m.b[pair + i * 8 + 1][group] = static_cast<double>(fromBf16(word >> 16));
    }
  }
  finish<16>(warp, in, 10, m);
}

void tf32Product(Warp &warp, const Instruction &in, uint32_t mask) {
  if (!isReady(warp, in, mask, 14))
    return;
  Matrices<8> m;
  for (int lane = 0; lane < warpLanes; ++lane) {
    const int group = lane / 4, column = lane % 4;
    for (int i = 0; i < 4; ++i)
      m.a[group + i % 2 * 8][column + i / 2 * 4] = static_cast<double>(
          fromTf32(warp.cells<uint32_t>(in.at[static_cast<size_t>(4 + i)])[lane]));
    for (int i = 0; i < 2; ++i)
      m.b[column + i * 4][group] = static_cast<double>(
          fromTf32(warp.cells<uint32_t>(in.at[static_cast<size_t>(8 + i)])[lane]));
  }
  finish<8>(warp, in, 10, m);
}

} // namespace

void addMatrices(Operations &all) {
  const std::vector<Width> operands(14, Width::Word);
  all["mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"] = {&bf16Product, Pipe::Tensor,
                                                                operands};
  all["mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"] = {&tf32Product, Pipe::Tensor,
                                                               operands};
}

} // namespace hybrid::ptx
