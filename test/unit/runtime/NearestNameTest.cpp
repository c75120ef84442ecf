//===- NearestNameTest.cpp - suggestions that help, and none otherwise ----------===//
#include "executable/NearestName.h"
#include <gtest/gtest.h>
#include <vector>

namespace {

std::string nearest(std::string_view word, std::vector<std::string> candidates) {
  return hybrid::nearestName(word, candidates);
}

} // namespace

TEST(NearestName, FindsSlips) {
  EXPECT_EQ(nearest("atention", {"addition", "attention"}), "attention");
  EXPECT_EQ(nearest("trian", {"task", "train"}), "train");
  EXPECT_EQ(nearest("lenght", {"lengths", "length"}), "length");
  EXPECT_EQ(nearest("tahn", {"tan", "tanh"}), "tanh");
  EXPECT_EQ(nearest("len", {"l", "length"}), "length");
  EXPECT_EQ(nearest("bb", {"a", "b"}), "b");
  EXPECT_EQ(nearest("in-context-recal", {"in-context-recall"}), "in-context-recall");
}

TEST(NearestName, IsSilentBeyondADistance) {
  EXPECT_EQ(nearest("einsum", {"minimum", "sum"}), "");
  EXPECT_EQ(nearest("x", {"y", "w", "xs"}), "");
  EXPECT_EQ(nearest("ab", {"cd", "abcd"}), "");
  EXPECT_EQ(nearest("relu", {"elu6", "sin"}), "");
  EXPECT_EQ(nearest("", {"a", ""}), "");
  EXPECT_EQ(nearest("word", {}), "");
}
