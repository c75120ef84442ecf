// The Mamba paper's selective copying: content at any places, unlike MAD's.
#include "TaskInstance.h"
#include <algorithm>

using namespace hybrid::rt;
using namespace hybrid::test;

TEST(MambaSelectiveCopying, ContentThenMarkers) {
  auto task = make("mamba-selective-copying");
  EXPECT_EQ(task->vocabulary(), 16);
  EXPECT_EQ(task->positions(), 4112);
  for (uint64_t i = 0; i < 50; ++i) {
    Drawn instance = draw(*task, Split::Test, i);
    EXPECT_EQ(std::count(instance.inputs.begin(), instance.inputs.end(), 0), 4080);
    EXPECT_EQ(std::count(instance.inputs.begin(), instance.inputs.end(), 15), 16);
    EXPECT_TRUE(std::all_of(instance.inputs.end() - 16, instance.inputs.end(),
                            [](int32_t token) { return token == 15; }));
    std::vector<int32_t> content;
    for (int32_t token : instance.inputs)
      if (token != 0 && token != 15)
        content.push_back(token);
    EXPECT_TRUE(std::equal(content.begin(), content.end(), instance.targets.end() - 16));
    EXPECT_EQ(scored(instance), 16u);
  }
}

TEST(MambaSelectiveCopying, EverySubsetOfPlacesAndEveryContentIsEquallyLikely) {
  auto task = make("mamba-selective-copying:length=6,tokens_to_copy=3,vocab=6");
  std::map<std::vector<size_t>, double> subsets;
  std::vector<double> contents(64), counts;
  for (uint64_t i = 0; i < 20000; ++i) {
    Drawn instance = draw(*task, Split::Train, i);
    std::vector<size_t> places;
    size_t word = 0;
    for (size_t t = 0; t < 6; ++t)
      if (instance.inputs[t] != 0) {
        places.push_back(t);
        word = 4 * word + static_cast<size_t>(instance.inputs[t] - 1);
      }
    ++subsets[places];
    ++contents[word];
  }
  for (const auto &[places, count] : subsets)
    counts.push_back(count);
  ASSERT_EQ(counts.size(), 20u); // three of six
  EXPECT_LT(chiSquare(counts), chiSquareLimit(20));
  EXPECT_LT(chiSquare(contents), chiSquareLimit(64));
}

// What sets it apart from MAD's: noise may follow the last content token.
TEST(MambaSelectiveCopying, PlacesAreUniform) {
  auto task = make("mamba-selective-copying:length=64,tokens_to_copy=8");
  std::vector<double> places(64);
  for (uint64_t i = 0; i < 5000; ++i) {
    Drawn instance = draw(*task, Split::Test, i);
    for (size_t t = 0; t < 64; ++t)
      places[t] += instance.inputs[t] != 0;
  }
  EXPECT_LT(chiSquare(places), chiSquareLimit(64));
}

TEST(MambaSelectiveCopying, RefusesWhatCannotBe) {
  EXPECT_NE(refusal("mamba-selective-copying:length=15").find("no room for tokens_to_copy=16"),
            std::string::npos);
  EXPECT_EQ(refusal("mamba-selective-copying:length=16"), "accepted");
  EXPECT_NE(refusal("mamba-selective-copying:vocab=2").find("from 3"), std::string::npos);
  EXPECT_NE(refusal("mamba-selective-copying:tokens_to_copy=0").find("from 1"), std::string::npos);
}
