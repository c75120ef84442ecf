//===- SpaceTest.cpp - points by number, in a random order, filled in -----------===//
#include "laboratory/search/Space.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace hybrid::rt::lab {
namespace {

const std::string source = "model m(a: int = one_of(1, 2),  // a comment\n"
                           "        b: string = one_of(\"x\", \"yy\", \"z\"), c: int = 3) { }\n";

Space space() {
  auto at = [](const char *text) { return source.find(text); };
  auto option = [](std::string setting, std::string text) {
    return nlohmann::json{{"setting", setting}, {"source", text}};
  };
  nlohmann::json json{
      {"model", "m"},
      {"points", 6},
      {"choices",
       {{{"name", "a"},
         {"type", "int"},
         {"offset", at("one_of(1")},
         {"bytes", 12},
         {"options", {option("1", "1"), option("2", "2")}}},
        {{"name", "b"},
         {"type", "string"},
         {"offset", at("one_of(\"")},
         {"bytes", 22},
         {"options", {option("x", "\"x\""), option("yy", "\"yy\""), option("z", "\"z\"")}}}}}};
  auto parsed = Space::parse(json);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return *parsed;
}

TEST(Space, CountsPointsWithTheLastChoiceFirst) {
  Space s = space();
  EXPECT_EQ(s.points, 6u);
  EXPECT_EQ(s.optionsAt(0), (std::vector<size_t>{0, 0}));
  EXPECT_EQ(s.optionsAt(4), (std::vector<size_t>{1, 1}));
  EXPECT_EQ(s.nameOf(4), "a=2 b=yy");
  s.choices.push_back({"c", "int", 0, 0, {{"3", "3"}}});
  EXPECT_EQ(s.nameOf(4), "a=2 b=yy") << "what is set is the same everywhere";
  s.choices.pop_back();
  EXPECT_EQ(s.settingsAt(5), (std::map<std::string, std::string>{{"a", "2"}, {"b", "z"}}));
}

TEST(Space, FillsInAndKeepsTheRest) {
  auto filled = space().fillIn(source, 4);
  ASSERT_TRUE(filled);
  EXPECT_EQ(*filled, "model m(a: int = 2,  // a comment\n"
                     "        b: string = \"yy\", c: int = 3) { }\n");
  EXPECT_FALSE(space().fillIn("model m() { }", 4)) << "another text";
}

TEST(Space, RefusesWhatItDoesNotUnderstand) {
  EXPECT_FALSE(Space::parse(nlohmann::json::array()));
  EXPECT_FALSE(Space::parse({{"model", "m"}}));
  EXPECT_FALSE(Space::parse({{"model", "m"}, {"choices", {1}}}));
  EXPECT_FALSE(Space::parse({{"model", "m"},
                             {"choices",
                              {{{"name", "a"},
                                {"type", "int"},
                                {"offset", 0},
                                {"bytes", 1},
                                {"options", nlohmann::json::array()}}}}}));
}

TEST(RandomOrder, IsAPermutation) {
  for (uint64_t size : {1, 2, 3, 5, 16, 17, 100, 1000, 4097}) {
    RandomOrder order(size, 42);
    std::set<uint64_t> seen;
    for (uint64_t i = 0; i < size; ++i) {
      uint64_t point = order.at(i);
      EXPECT_LT(point, size);
      EXPECT_TRUE(seen.insert(point).second) << point << " twice of " << size;
    }
  }
}

TEST(RandomOrder, FollowsFromTheSeed) {
  RandomOrder one(1000, 1), again(1000, 1), other(1000, 2);
  int same = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(one.at(i), again.at(i));
    same += one.at(i) == other.at(i);
  }
  EXPECT_LT(same, 20);
}

TEST(RandomOrder, SpreadsOverTheSpace) {
  // The first tenth of the order has about a tenth of every hundred numbers.
  RandomOrder order(10000, 3);
  std::vector<int> hundreds(100);
  for (uint64_t i = 0; i < 1000; ++i)
    ++hundreds[order.at(i) / 100];
  EXPECT_LT(*std::max_element(hundreds.begin(), hundreds.end()), 30);
  EXPECT_GT(std::count_if(hundreds.begin(), hundreds.end(), [](int n) { return n > 2; }), 90);
}

TEST(RandomOrder, HoldsForHugeSpaces) {
  RandomOrder order(uint64_t(1) << 63, 5);
  std::set<uint64_t> seen;
  for (uint64_t i = 0; i < 1000; ++i)
    seen.insert(order.at(i));
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_LT(*seen.rbegin(), uint64_t(1) << 63);
}

} // namespace
} // namespace hybrid::rt::lab
