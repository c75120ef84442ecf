//===- JoinTest.cpp - correlations, and scores that meet perplexities -----------------===//
#include "laboratory/scale/Join.h"
#include "laboratory/scale/Correlation.h"
#include "test/unit/laboratory/scale/Chinchilla.h"
#include <gtest/gtest.h>

namespace hybrid::rt::lab::scale {
namespace {

TEST(ScaleCorrelation, AgreesWithWorkedExamples) {
  const std::vector<double> x{1, 2, 3, 4, 5}, y{2, 1, 4, 3, 5}, square{1, 4, 9, 16, 25};
  EXPECT_NEAR(linearCorrelation(x, y, 0.95).value, 0.8, 1e-12);
  EXPECT_NEAR(linearCorrelation(x, square, 0.95).value, 0.98110491, 1e-8);
  EXPECT_NEAR(rankCorrelation(x, square, 0.95).value, 1, 1e-12);
  // atanh(0.8) = 1.098612; 1.959964 / sqrt(2) = 1.385904; and with sqrt(1.06) 1.426876.
  Estimate linear = linearCorrelation(x, y, 0.95), rank = rankCorrelation(x, y, 0.95);
  EXPECT_NEAR(linear.interval->low, std::tanh(1.098612 - 1.385904), 1e-6);
  EXPECT_NEAR(linear.interval->high, std::tanh(1.098612 + 1.385904), 1e-6);
  EXPECT_NEAR(rank.interval->low, std::tanh(1.098612 - 1.426876), 1e-6);
}

TEST(ScaleCorrelation, SharesRanksAndKnowsItsLimits) {
  const std::vector<double> x{1, 1, 2, 3}, y{1, 2, 3, 4};
  EXPECT_NEAR(rankCorrelation(x, y, 0.95).value, 0.9486833, 1e-6);
  const std::vector<double> three{1, 2, 3}, same{2, 2, 2};
  EXPECT_FALSE(linearCorrelation(three, three, 0.95).interval);
  EXPECT_FALSE(std::isfinite(linearCorrelation(three, same, 0.95).value));
}

nlohmann::json studyOf(const std::vector<std::pair<std::string, double>> &scores) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto &[name, score] : scores)
    list.push_back(
        {{"architecture", name},
         {"accuracy", score},
         {"tasks",
          {{"recall",
            {{"accuracy", score / 2},
             {"settings", {{{"best_loss", 1 - score}}, {{"best_loss", 3 - score}}}}}}}}});
  return {{"scored_by", "accuracy"}, {"architectures", list}};
}

/// Architectures whose losses differ by a factor.
Fit fitOf(const std::vector<std::pair<std::string, double>> &factors) {
  std::vector<Point> points;
  for (const auto &[name, factor] : factors)
    for (Point point : drawPoints({}, 0, 1)) {
      point.group = name;
      point.loss *= factor;
      points.push_back(point);
    }
  FitOptions options;
  options.bootstrap.samples = 0;
  return fitPoints(points, options);
}

TEST(ScaleJoin, CorrelatesByBudgetTaskAndMeasure) {
  auto columns =
      scoresOf(studyOf({{"a", 0.9}, {"b", 0.5}, {"c", 0.7}, {"d", 0.6}, {"x", 0.1}}), "s");
  ASSERT_TRUE(columns) << columns.error().message;
  ASSERT_EQ(columns->size(), 3u);
  EXPECT_EQ((*columns)[2].task, "recall");
  EXPECT_EQ((*columns)[2].measure, "loss");
  EXPECT_DOUBLE_EQ((*columns)[2].scores.at("a"), (0.1 + 2.1) / 2);
  auto rows = join(fitOf({{"a", 1.0}, {"b", 1.1}, {"c", 1.04}, {"d", 1.06}, {"y", 2.0}}), *columns);
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 15u) << "five budgets, each by three columns";
  const Correlated &first = rows->front();
  EXPECT_EQ(first.groups, (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_NEAR(first.rank.value, -1, 1e-12) << "the better the score, the lower the perplexity";
  EXPECT_LT(first.linear.value, -0.9);
  EXPECT_NEAR((*rows)[2].rank.value, 1, 1e-12) << "by loss";
  EXPECT_LT((*rows)[0].flops, (*rows)[14].flops);
}

TEST(ScaleJoin, SaysWhichNamesDoNotMeet) {
  auto columns = scoresOf(studyOf({{"a", 0.9}, {"b", 0.5}, {"c", 0.7}}), "s");
  auto rows = join(fitOf({{"a", 1.0}, {"b", 1.1}, {"other", 1.2}}), *columns);
  ASSERT_FALSE(rows);
  EXPECT_NE(rows.error().message.find("groups are a, b, other, the study's architectures a, b, c"),
            std::string::npos)
      << rows.error().message;
  EXPECT_FALSE(scoresOf(nlohmann::json::array(), "s"));
  EXPECT_FALSE(scoresOf({{"scored_by", "accuracy"}, {"architectures", {1}}}, "s"));
}

} // namespace
} // namespace hybrid::rt::lab::scale
