//===- PointsTest.cpp - which points compete -------------------------------------===//
#include "laboratory/search/Points.h"
#include "SpaceFixture.h"
#include <algorithm>
#include <fstream>

namespace hybrid::rt::lab {
namespace {

std::vector<Setting> twoSettings() {
  auto settings =
      suiteSettings({"in-context-recall", "memorization"}, false, true, Convention::Paper);
  EXPECT_TRUE(settings);
  return *settings;
}

TEST(Constraints, SayWhatTheyRefuse) {
  PointCost cost{1000, 5e5, 1.5e6, StateSize{0, 130048}, StateSize{4096, 4}, "a"};
  EXPECT_EQ(Constraints().refusal(cost), "");
  EXPECT_EQ((Constraints{999, {}, {}}).refusal(cost), "1000 parameters, more than 999");
  EXPECT_EQ((Constraints{1000, {}, 5e5}).refusal(cost), "");
  EXPECT_EQ((Constraints{{}, {}, 4e5}).refusal(cost), "500000 FLOPs a token, more than 400000");
  EXPECT_EQ((Constraints{{}, 4096, {}, 0.01}).refusal(cost), "");
  EXPECT_EQ((Constraints{{}, 4096, {}, 0}).refusal(cost), "a state of 4100, not 4096 within 0 %");
  cost.countedState.reset();
  EXPECT_EQ((Constraints{{}, 4096, {}, 0.01}).refusal(cost), "the compiler cannot tell its state");
  EXPECT_EQ(Constraints().refusal(cost), "");
}

TEST(Points, LeavesOutWhatFailsAndWhatIsThereAlready) {
  TemporaryFolder folder;
  Space space = makeSpace(4, 5);
  auto book = PointBook::open(folder.file("points.jsonl"), {{"seed", 1}});
  ASSERT_TRUE(book);
  int asked = 0;
  MeasurePoint measure = [&](uint64_t point, const Setting &) -> Result<PointCost> {
    ++asked;
    if (point % 5 == 0)
      return Error{"too wide"};
    return PointCost{static_cast<int64_t>(point),
                     1,
                     3,
                     StateSize{1, 0},
                     StateSize{1, 0},
                     point % 5 == 1 ? "one" : std::to_string(point)};
  };
  PointSearch search;
  search.constraints.maxParameters = 17;
  auto found = findPoints(space, twoSettings(), search, *book, measure);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->exhausted);
  EXPECT_EQ(found->accepted.size() + found->refused.size(), 20u);
  // 4 do not compile; 18 and 19 have too many parameters; of 1, 6, 11, 16 one is left.
  EXPECT_EQ(found->accepted.size(), 20u - 4 - 2 - 3);
  for (const PointRecord &record : found->accepted)
    EXPECT_EQ(record.costs.size(), 2u);
  // The book knows everything now.
  int before = asked;
  auto again = PointBook::open(folder.file("points.jsonl"), {{"seed", 1}});
  ASSERT_TRUE(again);
  auto second = findPoints(space, twoSettings(), search, *again, measure);
  ASSERT_TRUE(second);
  EXPECT_EQ(asked, before);
  ASSERT_EQ(second->accepted.size(), found->accepted.size());
  for (size_t i = 0; i < found->accepted.size(); ++i)
    EXPECT_EQ(second->accepted[i].point, found->accepted[i].point);
}

TEST(Points, StopsWhenThereAreEnough) {
  TemporaryFolder folder;
  auto book = PointBook::open(folder.file("points.jsonl"), {});
  ASSERT_TRUE(book);
  PointSearch search;
  search.enough = [](const std::vector<PointRecord> &points) { return points.size() == 3; };
  auto found = findPoints(makeSpace(10, 10), twoSettings(), search, *book,
                          [](uint64_t point, const Setting &) -> Result<PointCost> {
                            return PointCost{1, 1, 3, {}, {}, std::to_string(point)};
                          });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->accepted.size(), 3u);
  EXPECT_FALSE(found->exhausted);
}

TEST(PointBook, DropsALineThatWasCutOff) {
  TemporaryFolder folder;
  std::string path = folder.file("points.jsonl");
  {
    auto book = PointBook::open(path, {{"seed", 1}});
    ASSERT_TRUE(book);
    ASSERT_TRUE(book->add(
        {7, "", {{1, 2, 3, StateSize{4, 5}, StateSize{6, 0}, "p"}, {1, 2, 3, {}, {}, "q"}}}));
  }
  std::ofstream(path, std::ios::app) << R"({"point": 8, "refu)";
  auto book = PointBook::open(path, {{"seed", 1}});
  ASSERT_TRUE(book);
  EXPECT_TRUE(book->find(7));
  EXPECT_FALSE(book->find(8));
  ASSERT_TRUE(book->add({9, "no", {}}));
  book = PointBook::open(path, {{"seed", 1}});
  ASSERT_TRUE(book);
  ASSERT_TRUE(book->find(9));
  EXPECT_EQ(book->find(9)->refused, "no");
  EXPECT_EQ(book->find(7)->costs[0].program, "p");
  EXPECT_EQ(book->find(7)->costs[0].state, (StateSize{4, 5}));
  EXPECT_EQ(book->find(7)->costs[0].comparedState(), 6);
  EXPECT_FALSE(book->find(7)->costs[1].state);
}

TEST(PointBook, RefusesAnotherSearch) {
  TemporaryFolder folder;
  std::string path = folder.file("points.jsonl");
  ASSERT_TRUE(PointBook::open(path, {{"seed", 1}, {"suite", "smoke"}}));
  auto other = PointBook::open(path, {{"seed", 2}, {"suite", "smoke"}});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("another search (seed differs)"), std::string::npos)
      << other.error().message;
}

} // namespace
} // namespace hybrid::rt::lab
