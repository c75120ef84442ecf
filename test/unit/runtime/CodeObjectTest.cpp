#include "runtime/cpu/CodeObject.h"
#include "runtime/files/File.h"
#include <gtest/gtest.h>

using namespace hybrid::rt;

static std::span<const uint8_t> contents(const MappedFile &file) {
  return {reinterpret_cast<const uint8_t *>(file.bytes().data()), file.bytes().size()};
}

// The loader knows what it has mapped by its name: that of a second object must be another.
TEST(CodeObject, TwoAtATimeAreTwo) {
  auto kernels = MappedFile::open(HYBRID_TEST_KERNELS),
       other = MappedFile::open(HYBRID_TEST_CONSTRUCTOR);
  ASSERT_TRUE(kernels && other);
  auto first = CodeObject::load(contents(*kernels), "first");
  auto second = CodeObject::load(contents(*other), "second");
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->find("add_one"), nullptr);
  EXPECT_EQ(second->find("add_one"), nullptr);
}
