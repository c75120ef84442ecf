//===- FewRowsTest.cpp - products of a few rows with weights of bf16 -----------===//
#include "codegen/kernels/FewRows.h"
#include "test/unit/kernels/KernelTest.h"
#include <bit>

extern "C" hybrid::cpu::test::Kernel<hybrid::FewRowsParams> hybrid_few_rows_product_f32;

using namespace hybrid;
using namespace hybrid::cpu::test;

namespace {

/// The nearest number of bf16 towards zero, and its bits.
uint16_t bitsOf(double value) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
}
double valueOf(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

void check(const FewRowsParams &p) {
  SCOPED_TRACE(testing::Message() << p.rows << " x " << p.columns << " x " << p.inner << " bias "
                                  << p.hasBias);
  auto rounded = [](Doubles values) {
    for (double &value : values)
      value = bitsOf(value);
    return values;
  };
  Tensor<uint16_t> x(rounded(randomDoubles(p.rows * p.inner, 1)), p.rows, p.inner, p.xStride),
      weight(rounded(randomDoubles(p.columns * p.inner, 2)), p.columns, p.inner, p.weightStride);
  Tensor<float> bias(randomDoubles(p.columns, 3), 1, p.columns), y(p.rows, p.columns, p.yStride);
  const Grid grid = FewRowsProduct::onCpu<float>(p);
  const std::vector<void *> buffers{x.data(), weight.data(), p.hasBias ? bias.data() : nullptr,
                                    y.data()};
  callWhole(hybrid_few_rows_product_f32, grid.items, buffers, p, grid.bytes);
  Tensor<float> whole(p.rows, p.columns, p.yStride);
  whole.assign(y);
  callInPieces(hybrid_few_rows_product_f32, grid.items, buffers, p, grid.bytes);
  EXPECT_TRUE(whole.sameBits(y));
  EXPECT_TRUE(y.guardsIntact());
  Doubles expected;
  for (int64_t r = 0; r < p.rows; ++r)
    for (int64_t n = 0; n < p.columns; ++n) {
      double sum = p.hasBias ? static_cast<double>(bias.at(0, n)) : 0;
      for (int64_t k = 0; k < p.inner; ++k)
        sum += valueOf(x.at(r, k)) * valueOf(weight.at(n, k));
      expected.push_back(sum);
    }
  EXPECT_LT(relativeError(y.values(), expected), 1e-6);
}

TEST(FewRows, AgreesForEveryShape) {
  for (int64_t rows : {1, 3})
    for (int64_t columns : {1, 15, 16, 33})
      for (int64_t inner : {1, 16, 70, 200})
        check({rows, columns, inner, inner + 3, inner, columns + 5, columns % 2});
}
TEST(FewRows, ReadsRowsThatLieApart) { check({2, 20, 64, 64, 80, 20, 1}); }

} // namespace
