//===- Warpgroup.h - products of a warpgroup on a CPU -----------------------===//
//
// In place of DeviceWarpgroup.cuh. Products are done where they are begun: who uses sums too early,
// or changes operands, is found by the PTX machine, not here.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "test/cuda/shim/Shim.h"

namespace hybrid::cuda {

constexpr bool hasWarpgroupProducts = true;

HYBRID_DEVICE void showToWarpgroups() {}
HYBRID_DEVICE void beginWarpgroupProducts() {}
HYBRID_DEVICE void commitWarpgroupProducts() {}
template <int pending> HYBRID_DEVICE void waitWarpgroupProducts() {}
HYBRID_DEVICE void keepInOrder(float &) {}
HYBRID_DEVICE void keepInOrder(uint32_t &) {}

HYBRID_DEVICE uint32_t sharedAddress(const void *shared) {
  return static_cast<uint32_t>(static_cast<const unsigned char *>(shared) -
                               shim::block().sharedMemory);
}

/// Element (mn, k) of an operand in the canonical layout of the swizzle of 128 bytes, of which mn
/// is a row or a column of the product.
HYBRID_DEVICE float elementOfOperand(uint64_t descriptor, bool alongRows, uint32_t mn, uint32_t k) {
  auto field = [&](int first) { return static_cast<uint32_t>(descriptor >> first & 0x3fff) * 16; };
  const uint32_t start = field(0), leading = field(16), stride = field(32);
  const uint32_t at =
      start + (alongRows ? mn % 64 * 2 + mn / 64 * leading + k % 8 * 128 + k / 8 * stride
                         : mn % 8 * 128 + mn / 8 * stride + k * 2);
  const uint32_t swizzled = at ^ (at >> 7 & 7) << 4;
  bf16 element;
  __builtin_memcpy(&element, shim::block().sharedMemory + swizzled, sizeof(element));
  return fromBf16(element);
}

/// `row(i, k)`: element k of the lane's row i, of two.
template <bool accumulate, bool alongRows, int blocks, typename Row>
void multiplyRowsByWarpgroup(float (&d)[blocks][4], Row row, uint64_t b) {
  float rows[2][16];
  for (uint32_t i = 0; i < 2; ++i)
    for (uint32_t k = 0; k < 16; ++k)
      rows[i][k] = row(i, k);
  const uint32_t pair = shim::block().thread % 4 * 2;
  for (uint32_t block = 0; block < blocks; ++block)
    for (uint32_t odd = 0; odd < 2; ++odd) {
      float column[16];
      for (uint32_t k = 0; k < 16; ++k)
        column[k] = elementOfOperand(b, alongRows, block * 8 + pair + odd, k);
      for (uint32_t i = 0; i < 2; ++i) {
        float sum = 0;
        for (uint32_t k = 0; k < 16; ++k)
          sum += rows[i][k] * column[k];
        float &to = d[block][2 * i + odd];
        to = accumulate ? to + sum : sum;
      }
    }
}
template <bool accumulate, bool alongRows, int blocks>
void multiplyByWarpgroup(float (&d)[blocks][4], uint64_t a, uint64_t b) {
  warpBarrier(); // all lanes of a warp take part
  const uint32_t thread = shim::block().thread % 128, first = thread / 32 * 16 + thread % 32 / 4;
  multiplyRowsByWarpgroup<accumulate, alongRows>(
      d, [&](uint32_t i, uint32_t k) { return elementOfOperand(a, false, first + 8 * i, k); }, b);
}
template <bool accumulate, bool alongRows, int blocks>
void multiplyByWarpgroup(float (&d)[blocks][4], const uint32_t (&a)[4], uint64_t b) {
  shim::Block &block = shim::block();
  shim::Exchange &exchange = *block.exchange;
  const uint32_t lane = block.thread % 32, group = lane / 4, member = lane % 4;
  for (uint32_t i = 0; i < 4; ++i)
    for (int upper = 0; upper < 2; ++upper)
      exchange.matrix.a[group + i % 2 * 8][member * 2 + static_cast<uint32_t>(upper) + i / 2 * 8] =
          halfOf(a[i], upper);
  block.stop(block, shim::Stop::Matrix);
  multiplyRowsByWarpgroup<accumulate, alongRows>(
      d, [&](uint32_t i, uint32_t k) { return exchange.matrix.a[group + 8 * i][k]; }, b);
}

} // namespace hybrid::cuda
