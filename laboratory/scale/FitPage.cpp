//===- FitPage.cpp - fitted scaling laws as a page --------------------------------------===//
#include "laboratory/scale/FitPage.h"
#include "laboratory/report/Page.h"
#include "laboratory/scale/FitReport.h"
#include "laboratory/scale/Predict.h"
#include "runtime/files/AtomicFile.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::lab::scale {
namespace {
using json = nlohmann::ordered_json;

/// Places at which a curve is drawn.
constexpr int curvePoints = 33;

/// From `low` to `high`, equally far apart in logarithms.
std::vector<double> logarithmic(double low, double high) {
  std::vector<double> places;
  for (int i = 0; i < curvePoints; ++i)
    places.push_back(low * std::pow(high / low, static_cast<double>(i) / (curvePoints - 1)));
  return places;
}

json place(double x, double y) { return {{"x", x}, {"y", y}}; }

json budgetCurve(const BudgetFit &budget, const std::vector<Point> &points, double tolerance) {
  json measured = json::array(), parabola = json::array();
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  for (const Point &point : points) {
    if (std::fabs(std::log(point.flops / budget.flops)) > std::log(1 + tolerance))
      continue;
    measured.push_back(place(point.params, point.loss));
    smallest = std::min(smallest, point.params);
    largest = std::max(largest, point.params);
  }
  if (budget.doubt == Doubt::None)
    for (double params : logarithmic(smallest, largest)) {
      double off = std::log(params / budget.minimum.params);
      parabola.push_back(
          place(params, budget.minimum.loss + budget.minimum.curvature / 2 * off * off));
    }
  return {
      {"flops", budget.flops}, {"points", std::move(measured)}, {"parabola", std::move(parabola)}};
}

/// The frontier over the fitted budgets and half as far beyond, by quantity.
json frontierCurves(const GroupFit &group, double level) {
  json params = json::array(), loss = json::array();
  auto add = [](json &list, double flops, const Estimate &estimate) {
    json row = place(flops, estimate.value);
    row["low"] = estimate.interval ? json(estimate.interval->low) : json();
    row["high"] = estimate.interval ? json(estimate.interval->high) : json();
    list.push_back(std::move(row));
  };
  Interval range = group.frontierRange();
  double beyond = std::sqrt(range.high / range.low);
  for (double flops : logarithmic(range.low, range.high * beyond))
    if (auto prediction = predict(group, flops, level); prediction && prediction->frontier) {
      add(params, flops, prediction->frontier->params);
      add(loss, flops, prediction->frontier->loss);
    }
  return {{"params", std::move(params)}, {"loss", std::move(loss)}};
}

} // namespace

json fitPageJson(const Fit &fit) {
  json data = fitJson(fit);
  const double level = fit.options.bootstrap.level;
  size_t points = 0;
  for (size_t g = 0; g < fit.groups.size(); ++g) {
    const GroupFit &group = fit.groups[g];
    points += group.points.size();
    json curves = json::array();
    for (const BudgetFit &budget : group.budgets)
      curves.push_back(budgetCurve(budget, group.points, fit.options.tolerance));
    data["groups"][g]["curves"] = std::move(curves);
    if (group.frontier)
      data["groups"][g]["frontier_curves"] = frontierCurves(group, level);
    json table = json::array();
    for (const Point &point : group.points)
      table.push_back({point.flops, point.params, point.tokens, point.loss});
    data["groups"][g]["table"] = std::move(table);
  }
  data["title"] = fit.groups.size() == 1 && !fit.groups[0].group.empty()
                      ? "Scaling laws of " + fit.groups[0].group
                      : fmt::format("Scaling laws of {} group{}", fit.groups.size(),
                                    fit.groups.size() == 1 ? "" : "s");
  data["text"] =
      fmt::format("Fitted to {} trainings; intervals hold {:.4g} % by {} samples of a "
                  "bootstrap with seed {}.",
                  points, 100 * level, fit.options.bootstrap.samples, fit.options.bootstrap.seed);
  return data;
}

Result<void> writeFitPage(const Fit &fit, const std::string &path) {
  return writeFileAtomically(path, report::page(fitPageJson(fit)));
}

} // namespace hybrid::rt::lab::scale
