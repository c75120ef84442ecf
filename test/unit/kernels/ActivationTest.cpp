//===- ActivationTest.cpp - what lies in memory as bf16 -------------------===//
#include "codegen/kernels/cpu/Activation.h"
#include "KernelTest.h"
#include "codegen/kernels/RmsNorm.h"
#include "codegen/kernels/ShortConv.h"
#include <limits>

using namespace hybrid;
using namespace hybrid::cpu;
using namespace hybrid::cpu::test;

HYBRID_DECLARE_KERNEL(rmsnorm_forward, RmsNormParams)
HYBRID_DECLARE_KERNEL(short_conv_forward, ShortConvParams)

namespace {

float widened(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
/// Rounds to the nearest, ties to even.
uint16_t nearest(float value) {
  const auto bits = std::bit_cast<uint32_t>(value), low = bits & 0xFFFF, high = bits >> 16;
  return static_cast<uint16_t>(low > 0x8000 || (low == 0x8000 && (high & 1)) ? high + 1 : high);
}

TEST(Activation, IsRoundedToTheNearestAndToEven) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float values[] = {0,
                          -0.0F,
                          1,
                          -1,
                          1.00390625F /* a tie */,
                          1.01171875F /* a tie */,
                          1.0039063F,
                          -1.0117188F,
                          3.1415927F,
                          1e-30F,
                          -1e30F,
                          3.4e38F /* to infinity */,
                          infinity,
                          -infinity,
                          65535,
                          0.33333334F};
  uint16_t stored[16];
  store(Activation<float>{stored, true}, load(values));
  for (size_t i = 0; i < 16; ++i)
    EXPECT_EQ(stored[i], nearest(values[i])) << values[i];
  store(Activation<float>{stored, true}, splat(std::numeric_limits<float>::quiet_NaN()));
  const Vector<float> read = load(Activation<float>{stored, true});
  EXPECT_TRUE(read[0] != read[0]);
}

TEST(Activation, TouchesNothingBesideItsLanes) {
  for (int64_t count = 1; count <= 16; ++count) {
    std::vector<uint16_t> memory(static_cast<size_t>(count) + 2, 0xABCD);
    const Activation<float> place = Activation<float>{memory.data(), true} + 1;
    storePart(place, splat(2.5F), count);
    EXPECT_EQ(memory.front(), 0xABCD);
    EXPECT_EQ(memory.back(), 0xABCD) << count;
    const Vector<float> read = loadPart(place, count);
    for (int64_t i = 0; i < 16; ++i)
      EXPECT_EQ(read[i], i < count ? 2.5F : 0.0F) << count << " " << i;
    EXPECT_EQ(place[count - 1], 2.5F);
  }
}

/// Numbers that bf16 holds, in both forms.
struct Numbers {
  std::vector<uint16_t> rounded;
  std::vector<float> whole;

  explicit Numbers(size_t count, uint32_t seed = 1) {
    for (size_t i = 0; i < count; ++i) {
      seed = seed * 1664525 + 1013904223;
      rounded.push_back(nearest(static_cast<float>(seed >> 8) / 8388608.0F - 1));
      whole.push_back(widened(rounded.back()));
    }
  }
};

/// What a kernel writes rounded are its results, rounded.
void expectRounded(const std::vector<uint16_t> &rounded, const std::vector<float> &whole) {
  for (size_t i = 0; i < whole.size(); ++i)
    ASSERT_EQ(rounded[i], nearest(whole[i])) << i;
}

TEST(Activation, IsReadAndWrittenByNorms) {
  for (int64_t columns : {16, 37}) {
    RmsNormParams p{};
    p.rows = 5, p.columns = p.xStride = p.yStride = columns, p.eps = 1e-5;
    const auto size = static_cast<size_t>(p.rows * columns);
    Numbers x(size);
    std::vector<float> y(size);
    std::vector<uint16_t> rounded(size);
    void *whole[] = {x.whole.data(), nullptr, y.data()},
         *small[] = {x.rounded.data(), nullptr, rounded.data()};
    hybrid_rmsnorm_forward_f32(0, p.rows, whole, nullptr, &p, 0);
    hybrid_rmsnorm_forward_f32(0, p.rows, small, nullptr, &p, 0b101);
    expectRounded(rounded, y);
  }
}

TEST(Activation, IsReadAndWrittenByShortConvolutions) {
  ShortConvParams p{};
  p.batch = 2, p.length = 11, p.channels = p.xStride = p.yStride = 21, p.taps = 3;
  p.rowsPerItem = 4, p.activation = 1;
  const auto size = static_cast<size_t>(p.batch * p.length * p.channels);
  Numbers x(size), w(static_cast<size_t>(p.channels * p.taps), 7);
  std::vector<float> y(size);
  std::vector<uint16_t> rounded(size);
  void *whole[] = {x.whole.data(), w.whole.data(), nullptr, nullptr, nullptr, nullptr, y.data()};
  void *small[] = {x.rounded.data(), w.whole.data(), nullptr,       nullptr,
                   nullptr,          nullptr,        rounded.data()};
  hybrid_short_conv_forward_f32(0, shortConvItems(p), whole, nullptr, &p, 0);
  hybrid_short_conv_forward_f32(0, shortConvItems(p), small, nullptr, &p, 1 << 0 | 1 << 6);
  expectRounded(rounded, y);
}

} // namespace
