//===- FitTest.cpp - fits recover known laws, and refuse what shows none --------------===//
#include "test/unit/laboratory/scale/Chinchilla.h"
#include <gtest/gtest.h>

namespace hybrid::rt::lab::scale {
namespace {

FitOptions quick(int samples = 200) {
  FitOptions options;
  options.bootstrap.samples = samples;
  return options;
}

std::vector<std::string> refusals(const GroupFit &group) {
  std::vector<std::string> kinds;
  for (const Remark &remark : group.remarks)
    if (remark.isRefusal)
      kinds.push_back(remark.kind);
  return kinds;
}

TEST(ScaleFit, RecoversALawWithoutNoise) {
  Fit fit = fitPoints(drawPoints({}, 0, 1), quick());
  const GroupFit &group = fit.groups.front();
  EXPECT_TRUE(group.remarks.empty()) << group.remarks.front().text;
  ASSERT_TRUE(group.law && group.frontier);
  EXPECT_NEAR(group.law->E, 1.69, 1e-3);
  EXPECT_NEAR(group.law->alpha, 0.34, 1e-3);
  EXPECT_NEAR(group.law->beta, 0.28, 1e-3);
  EXPECT_NEAR(group.law->logA, std::log(406.4), 1e-2);
  EXPECT_NEAR(group.law->logB, std::log(410.7), 1e-2);
  // Sizes that lie alike about the best one of each budget put the vertex off by the same factor,
  // so that the exponent is the law's.
  EXPECT_NEAR(group.frontier->params.exponent, 0.28 / 0.62, 1e-3);
  EXPECT_NEAR(group.frontier->tokens.exponent, 0.34 / 0.62, 1e-3);
  EXPECT_NEAR(group.flopsEach, 6, 1e-9);
  EXPECT_EQ(group.budgets.size(), 5u);
}

TEST(ScaleFit, FindsTheVertexOfAParabola) {
  std::vector<Point> points;
  for (double flops : {1e15, 1e16, 1e17})
    for (int s = -3; s <= 3; ++s) {
      double best = 2.0 * std::pow(flops, 0.5), x = 0.4 * s + 0.1;
      double params = best * std::exp(x);
      points.push_back(
          {"", flops, params, flops / 6 / params, 20 * std::pow(flops, -0.05) + 0.07 * x * x});
    }
  Fit fit = fitPoints(points, quick());
  const GroupFit &group = fit.groups.front();
  ASSERT_TRUE(group.frontier);
  EXPECT_NEAR(group.frontier->params.exponent, 0.5, 1e-9);
  EXPECT_NEAR(std::exp(group.frontier->params.logCoefficient), 2.0, 1e-6);
  EXPECT_NEAR(group.frontier->tokens.exponent, 0.5, 1e-9);
  EXPECT_NEAR(std::exp(group.frontier->loss.logCoefficient), 20, 1e-6);
  EXPECT_NEAR(group.frontier->loss.exponent, -0.05, 1e-9);
  for (const BudgetFit &budget : group.budgets)
    EXPECT_NEAR(budget.minimum.curvature, 0.14, 1e-9);
}

TEST(ScaleFit, EqualSeedsGiveEqualIntervals) {
  std::vector<Point> points = drawPoints({}, 0.01, 3);
  auto exponentOf = [](const Fit &fit) {
    return *estimate(0, fit.groups[0].drawnLaws, 0.95, [](const ParametricLaw &law) {
              return law.alpha;
            }).interval;
  };
  FitOptions options = quick();
  Interval first = exponentOf(fitPoints(points, options));
  Interval second = exponentOf(fitPoints(points, options));
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
  options.bootstrap.seed = 1;
  EXPECT_NE(exponentOf(fitPoints(points, options)).low, first.low);
}

TEST(ScaleFit, RefusesMinimaAtAnEdge) {
  for (double offset : {30.0, 1 / 30.0}) {
    Plan plan;
    plan.offset = offset;
    Fit fit = fitPoints(drawPoints(plan, 0, 1), quick());
    const GroupFit &group = fit.groups.front();
    EXPECT_FALSE(group.frontier);
    for (const BudgetFit &budget : group.budgets)
      EXPECT_EQ(budget.doubt, Doubt::Edge);
    EXPECT_EQ(refusals(group).size(), 6u) << "each budget and the frontier";
    EXPECT_EQ(*group.remarks.front().flops, group.budgets.front().flops);
    EXPECT_NE(group.remarks.front().text.find(offset > 1 ? "smaller" : "larger"),
              std::string::npos);
  }
}

TEST(ScaleFit, LeavesOutOneBadBudget) {
  std::vector<Point> points = drawPoints({}, 0.001, 1);
  for (Point &point : points)
    if (point.flops < 2e18)
      point.loss = 8 - point.loss; // opens downwards
  Fit fit = fitPoints(points, quick());
  const GroupFit &group = fit.groups.front();
  EXPECT_EQ(group.budgets[0].doubt, Doubt::Downwards);
  ASSERT_TRUE(group.frontier);
  EXPECT_NEAR(group.frontierRange().low, 3.16e18, 0.01e18);
}

TEST(ScaleFit, SaysWhatIsTooFew) {
  Plan plan;
  plan.sizes = 2;
  GroupFit group = fitPoints(drawPoints(plan, 0, 1), quick()).groups.front();
  EXPECT_EQ(group.budgets[0].doubt, Doubt::TooFew);
  EXPECT_FALSE(group.frontier);

  plan = {.budgets = 1};
  group = fitPoints(drawPoints(plan, 0.001, 1), quick()).groups.front();
  EXPECT_EQ(group.budgets[0].doubt, Doubt::None);
  EXPECT_TRUE(group.budgets[0].params) << "one budget has a minimum with an interval";
  EXPECT_FALSE(group.frontier);
  EXPECT_FALSE(group.law) << "sizes and tokens vary together";
  EXPECT_EQ(refusals(group), (std::vector<std::string>{"too-few", "too-few"}));

  plan = {.budgets = 2, .sizes = 3};
  plan.ratio = 3;
  group = fitPoints(drawPoints(plan, 0.0, 1), quick()).groups.front();
  ASSERT_TRUE(group.frontier);
  EXPECT_TRUE(group.drawnFrontiers.empty()) << "no residual is free";
}

TEST(ScaleFit, GroupsFlopsWithinTheTolerance) {
  std::vector<Point> points = drawPoints({}, 0.001, 1);
  for (size_t i = 0; i < points.size(); ++i)
    points[i].flops *= 1 + 0.004 * static_cast<double>(i % 8);
  EXPECT_EQ(fitPoints(points, quick(0)).groups[0].budgets.size(), 5u);
  FitOptions strict = quick(0);
  strict.tolerance = 0.01;
  Fit fit = fitPoints(points, strict);
  EXPECT_GT(fit.groups[0].budgets.size(), 5u);
  EXPECT_TRUE(std::any_of(fit.groups[0].remarks.begin(), fit.groups[0].remarks.end(),
                          [](const Remark &remark) { return remark.kind == "tolerance"; }));
}

TEST(ScaleFit, SaysWhereLossDoesNotFall) {
  std::vector<Point> points = drawPoints({}, 0, 1);
  for (Point &point : points)
    point.loss = 3 + 0.02 * std::log(point.params); // grows with size, nothing with tokens
  Fit fit = fitPoints(points, quick(0));
  EXPECT_FALSE(fit.groups[0].frontier);
  EXPECT_FALSE(fit.groups[0].law);
  EXPECT_FALSE(fit.hasAny());
}

TEST(ScaleFit, SaysThatLossesAreAlike) {
  std::vector<Point> points = drawPoints({}, 0, 1);
  for (Point &point : points)
    point.loss = 3;
  Fit fit = fitPoints(points, quick(0));
  EXPECT_FALSE(fit.hasAny());
  EXPECT_EQ(fit.groups[0].remarks.back().text, "no parametric law: all losses are alike");
}

} // namespace
} // namespace hybrid::rt::lab::scale
