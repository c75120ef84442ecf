//===- RoutedExpertsTests.cpp - what a mixture of experts costs -------------------===//
#include "dialect/HybridOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace hybrid;
using namespace mlir;

namespace {

class RoutedExperts : public testing::Test {
protected:
  /// The op of a model of 4 experts, of which a token has 2.
  RoutedExpertsOp parse(llvm::StringRef body) {
    context.loadDialect<HybridDialect, func::FuncDialect>();
    std::string text = R"(func.func @f(%x: tensor<2x8x6xf32>, %i: tensor<2x8x2xi32>,
        %w: tensor<2x8x2xf32>, %own: tensor<4x6x6xf32>) {
      %y = hybrid.routed_experts %x to %i weighted %w own(%own : tensor<4x6x6xf32>) among 4
        : tensor<2x8x6xf32>, tensor<2x8x2xi32>, tensor<2x8x2xf32> -> tensor<2x8x6xf32> {
      ^bb0(%e: tensor<2x8x6xf32>, %a: tensor<6x6xf32>):)" +
                       body.str() + "}\nreturn\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    RoutedExpertsOp found;
    if (module)
      module->walk([&](RoutedExpertsOp op) { found = op; });
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

constexpr llvm::StringLiteral projection = R"(
  %h = hybrid.linear %e, %a : tensor<2x8x6xf32>, tensor<6x6xf32> -> tensor<2x8x6xf32>
  hybrid.yield %h : tensor<2x8x6xf32>)";

constexpr llvm::StringLiteral mixer = R"(
  %h = hybrid.short_conv %e, %a : tensor<2x8x6xf32>, tensor<6x6xf32> -> tensor<2x8x6xf32>
  hybrid.yield %h : tensor<2x8x6xf32>)";

TEST_F(RoutedExperts, CostsTheChosenExpertsWhereRowsStandAlone) {
  RoutedExpertsOp op = parse(projection);
  ASSERT_TRUE(op);
  EXPECT_EQ(op.findDenseOp(), nullptr);
  // Two experts a token: a product of 6 by 6 and the weighted sum.
  EXPECT_EQ(op.getFlops(), 2 * (16 * 2 * 6 * 6) + 2 * 2 * 16 * 6);
  OpOperand &own = op->getOpOperand(3);
  EXPECT_EQ(op.getActiveElements(own), 2 * 6 * 6);
  EXPECT_EQ(op.getActiveElements(op->getOpOperand(0)), 2 * 8 * 6);
}

TEST_F(RoutedExperts, CostsAllExpertsWhereTheyMixPositions) {
  RoutedExpertsOp op = parse(mixer);
  ASSERT_TRUE(op);
  ASSERT_NE(op.findDenseOp(), nullptr);
  EXPECT_EQ(op.findDenseOp()->getName().getStringRef(), "hybrid.short_conv");
  EXPECT_EQ(op.getFlops(), 4 * (2 * 16 * 6 * 6) + 2 * 2 * 16 * 6);
  EXPECT_EQ(op.getActiveElements(op->getOpOperand(3)), 4 * 6 * 6);
}

} // namespace
