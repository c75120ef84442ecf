//===- ArchitectureTest.cpp - which code image a GPU takes ------------------===//
#include "runtime/cuda/Architecture.h"
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

using namespace hybrid::rt;

namespace {

std::string chosen(std::vector<std::string_view> names, int major, int minor) {
  auto index = cuda::chooseImage(names, major, minor);
  return index ? std::string(names[*index]) : "none";
}

TEST(CudaImages, TheBestOneIsChosen) {
  EXPECT_EQ(chosen({"sm_80", "compute_90", "sm_90", "sm_90a"}, 9, 0), "sm_90a");
  EXPECT_EQ(chosen({"sm_90", "compute_90", "sm_80"}, 9, 0), "sm_90");
  EXPECT_EQ(chosen({"sm_80", "compute_90", "sm_90a"}, 8, 9), "sm_80");
  EXPECT_EQ(chosen({"sm_80", "sm_86", "sm_89"}, 8, 6), "sm_86");
  EXPECT_EQ(chosen({"sm_80", "compute_80", "compute_90", "sm_90a"}, 10, 0), "compute_90");
  EXPECT_EQ(chosen({"compute_90a", "compute_80"}, 12, 0), "compute_80");
  EXPECT_EQ(chosen({"sm_90a", "sm_86"}, 8, 0), "none");
  EXPECT_EQ(chosen({"sm_90a", "shim"}, 0, 0), "shim");
  EXPECT_EQ(chosen({"compute_80"}, 0, 0), "none");
  EXPECT_EQ(chosen({"shim"}, 9, 0), "none");
  EXPECT_EQ(chosen({"sm_100f", "compute_90"}, 10, 3), "sm_100f");
  EXPECT_EQ(chosen({"compute_100f", "compute_90"}, 12, 0), "compute_90");
  EXPECT_EQ(cuda::targetName(9, 0), "cuda:sm_90a");
  EXPECT_EQ(cuda::targetName(8, 0), "cuda:sm_80");
  EXPECT_EQ(cuda::targetName(0, 0), "cuda:shim");
}

} // namespace
