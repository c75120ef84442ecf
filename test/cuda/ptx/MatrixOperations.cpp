//===- MatrixOperations.cpp - mma.sync, ldmatrix, movmatrix -----------------===//
//
// Products are exact, sums of a k are taken in f64 and rounded to f32 once. A GPU adds with fewer
// bits in an order of its own: its error is at most about k 2^-23 times the sum of the products'
// magnitudes. Fragments: PTX ISA 9.0, "Matrix Fragments for mma.m16n8k16", "... m16n8k8".
//
// ldmatrix reads a row of 16 bytes for the lane that points to it, whoever gets its numbers.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/Lanes.h"
#include "test/cuda/ptx/MemoryChecks.h"
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

/// Registers of a, half as many of b, two numbers each.
template <int depth> void bf16Product(Warp &warp, const Instruction &in, uint32_t mask) {
  constexpr int ofA = depth / 4, ofB = depth / 8;
  if (!isReady(warp, in, mask, 4 + ofA + ofB + 4))
    return;
  Matrices<depth> m;
  for (int lane = 0; lane < warpLanes; ++lane) {
    const int group = lane / 4, pair = lane % 4 * 2;
    for (int i = 0; i < ofA; ++i) {
      const uint32_t word = warp.cells<uint32_t>(in.at[static_cast<size_t>(4 + i)])[lane];
      double *to = &m.a[group + i % 2 * 8][pair + i / 2 * 8];
      to[0] = static_cast<double>(fromBf16(word & 0xffff)),
      to[1] = static_cast<double>(fromBf16(word >> 16));
    }
    for (int i = 0; i < ofB; ++i) {
      const uint32_t word = warp.cells<uint32_t>(in.at[static_cast<size_t>(4 + ofA + i)])[lane];
      m.b[pair + i * 8][group] = static_cast<double>(fromBf16(word & 0xffff));
      m.b[pair + i * 8 + 1][group] = static_cast<double>(fromBf16(word >> 16));
    }
  }
  finish<depth>(warp, in, 4 + ofA + ofB, m);
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

/// The two numbers of a lane in a matrix whose rows words of 16 bits give.
template <bool transposed, typename At> uint32_t numbersOf(int lane, At &&at) {
  const int group = lane / 4, pair = lane % 4 * 2;
  return transposed ? at(pair, group) | at(pair + 1, group) << 16
                    : at(group, pair) | at(group, pair + 1) << 16;
}

/// Four registers, an address.
template <bool transposed> void loadRows(Warp &warp, const Instruction &in, uint32_t mask) {
  if (!warp.requireTogether(in, mask, allLanes) ||
      !warp.requireDefined(in, in.at[4], mask, "loads from an address from"))
    return;
  const LaneAddresses addresses = addressesOf(warp, in, 4, 0, in.narrow[0]);
  uint32_t poison = 0;
  const uint32_t good = checkShared(warp, in, mask, addresses, 16, Shadow::Access::Read, poison);
  poison |= ~good;
  for (int i = 0; i < 4; ++i) {
    const Row to = in.at[static_cast<size_t>(i)];
    const bool isBad = poison >> 8 * i & 0xff;
    warp.setPoison(to, mask, isBad ? allLanes : 0);
    if (isBad)
      continue;
    for (int lane = 0; lane < warpLanes; ++lane)
      warp.cells<uint32_t>(to)[lane] = numbersOf<transposed>(lane, [&](int row, int column) {
        uint16_t number;
        std::memcpy(&number,
                    warp.block->shared + addresses[static_cast<size_t>(8 * i + row)] + 2 * column,
                    sizeof(number));
        return static_cast<uint32_t>(number);
      });
  }
}

void transpose(Warp &warp, const Instruction &in, uint32_t mask) {
  if (!warp.requireTogether(in, mask, allLanes))
    return;
  std::array<uint32_t, warpLanes> words;
  std::memcpy(words.data(), warp.cells<uint32_t>(in.at[1]), sizeof(words));
  warp.setPoison(in.at[0], mask, warp.poison[in.at[1].index] ? allLanes : 0);
  for (int lane = 0; lane < warpLanes; ++lane)
    warp.cells<uint32_t>(in.at[0])[lane] = numbersOf<true>(lane, [&](int row, int column) {
      return words[static_cast<size_t>(row * 4 + column / 2)] >> column % 2 * 16 & 0xffff;
    });
}

} // namespace

std::optional<Instruction::Run> findMatrixLoad(std::string_view opcode) {
  if (opcode == "ldmatrix.sync.aligned.m8n8.x4.shared.b16")
    return &loadRows<false>;
  if (opcode == "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16")
    return &loadRows<true>;
  return std::nullopt;
}

void addMatrices(Operations &all) {
  const std::vector<Width> operands(14, Width::Word), fewOperands(11, Width::Word);
  all["mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"] = {&bf16Product<16>, Pipe::Tensor,
                                                                operands};
  all["mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32"] = {&bf16Product<8>, Pipe::Tensor,
                                                               fewOperands};
  all["movmatrix.sync.aligned.m8n8.trans.b16"] = {
      &transpose, Pipe::Memory, {Width::Word, Width::Word}};
  all["mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"] = {&tf32Product, Pipe::Tensor,
                                                               operands};
}

} // namespace hybrid::ptx
