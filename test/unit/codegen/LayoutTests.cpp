//===- LayoutTests.cpp - views of tensors -----------------------------------------===//
#include "dialect/schedule/Layout.h"
#include "dialect/schedule/Memory.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace hybrid;
using llvm::SmallVector;

namespace {

View dense(llvm::ArrayRef<int64_t> shape) {
  View view;
  view.shape.assign(shape.begin(), shape.end());
  view.strides = denseStrides(shape);
  return view;
}

TEST(Layout, DenseViewIsDenseAndHasRows) {
  View view = dense({2, 3, 4});
  EXPECT_TRUE(view.isDense());
  EXPECT_EQ(view.extent(), 24);
  EXPECT_EQ(view.rowStride(), 4);
}

TEST(Layout, PartOfTheChannelsHasTheRowStrideOfTheWhole) {
  View part = dense({2, 3, 12}).sliced({0, 0, 4}, {2, 3, 4});
  EXPECT_EQ(part.offset, 4);
  EXPECT_FALSE(part.isDense());
  EXPECT_EQ(part.rowStride(), 12);
  EXPECT_EQ(part.extent(), 5 * 12 + 4);
}

TEST(Layout, PartOfTheLengthHasUnequalRowDistances) {
  View part = dense({2, 8, 4}).sliced({0, 1, 0}, {2, 3, 4});
  EXPECT_FALSE(part.rowStride().has_value());
}

TEST(Layout, LeadingPartIsDense) {
  View part = dense({8, 4}).sliced({2, 0}, {3, 4});
  EXPECT_TRUE(part.isDense());
  EXPECT_EQ(part.offset, 8);
}

TEST(Layout, TransposeAndBroadcastHaveNoRows) {
  EXPECT_FALSE(dense({3, 4}).transposed({1, 0}).rowStride().has_value());
  View repeated = dense({4}).broadcastTo({2, 3, 4});
  EXPECT_EQ(repeated.strides, (SmallVector<int64_t>{0, 0, 1}));
  EXPECT_FALSE(repeated.rowStride().has_value());
  EXPECT_EQ(repeated.extent(), 4);
}

TEST(Layout, ReshapeSplitsHeadsOfAPartOfTheChannels) {
  View part = dense({2, 3, 24}).sliced({0, 0, 8}, {2, 3, 8});
  auto heads = part.reshaped({2, 3, 2, 4});
  ASSERT_TRUE(heads.has_value());
  EXPECT_EQ(heads->strides, (SmallVector<int64_t>{72, 24, 4, 1}));
  EXPECT_EQ(heads->offset, 8);
}

TEST(Layout, ReshapeAcrossAGapNeedsACopy) {
  View part = dense({2, 3, 24}).sliced({0, 0, 8}, {2, 3, 8});
  EXPECT_FALSE(part.reshaped({2, 24}).has_value());
  EXPECT_FALSE(dense({3, 4}).transposed({1, 0}).reshaped({12}).has_value());
}

TEST(Layout, ReshapeMayAddAndDropSizesOfOne) {
  View view = dense({2, 1, 6});
  auto reshaped = view.reshaped({1, 2, 3, 1, 2});
  ASSERT_TRUE(reshaped.has_value());
  EXPECT_TRUE(reshaped->isDense());
  EXPECT_TRUE(view.reshaped({12})->isDense());
}

TEST(Layout, AScalarIsARowOfOne) {
  View scalar = dense({}), weight = dense({}), row = dense({1, 4});
  EXPECT_EQ(scalar.columns(), 1);
  EXPECT_EQ(scalar.rowStride(), 1);
  EXPECT_TRUE(mayOverlap(scalar, weight));
  EXPECT_TRUE(mayOverlap(scalar, row));
  weight.offset = 1;
  EXPECT_FALSE(mayOverlap(scalar, weight));
}

} // namespace
