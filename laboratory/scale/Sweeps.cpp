//===- Sweeps.cpp - what a study says beside its laws ---------------------------------===//
#include "laboratory/scale/Sweeps.h"
#include "laboratory/Columns.h"
#include "laboratory/scale/FitReport.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace hybrid::rt::lab::scale {
namespace {
using json = nlohmann::ordered_json;

/// Whether no other run of the budget reaches a lower loss with as little.
bool isBest(const TrainedRun &run, const std::vector<TrainedRun> &runs,
            const std::function<int64_t(const StateSize &)> &part) {
  return std::none_of(runs.begin(), runs.end(), [&](const TrainedRun &other) {
    return other.isDone() && other.state && other.budget == run.budget &&
           part(*other.state) <= part(*run.state) && other.point.loss < run.point.loss;
  });
}

json ratioJson(const RatioPoint &ratio) {
  const BudgetFit &best = ratio.best;
  const bool hasMinimum = best.doubt == Doubt::None;
  return {{"group", ratio.group},
          {"budget", best.flops},
          {"attention", ratio.attention},
          {"refused", hasMinimum ? json() : json(doubtName(best.doubt))},
          {"params", hasMinimum ? estimateJson({best.minimum.params, best.params}) : json()},
          {"loss", hasMinimum ? estimateJson({best.minimum.loss, best.loss}) : json()},
          {"lowest_params", ratio.lowest.params},
          {"lowest_loss", ratio.lowest.loss}};
}

json stateJson(const StatePoint &point) {
  const TrainedRun &run = *point.run;
  return {{"group", run.point.group},      {"size", run.size},
          {"budget", run.budget},          {"loss", run.point.loss},
          {"fixed", run.state->fixed},     {"dynamic", run.state->growing},
          {"total", run.state->total()},   {"on_fixed", point.onFixed},
          {"on_dynamic", point.onDynamic}, {"on_total", point.onTotal}};
}

json costJson(const OffOptimal &cost) {
  return {{"group", cost.group},
          {"budget", cost.flops},
          {"factor", cost.factor},
          {"by_parabola", cost.byParabola ? json(*cost.byParabola) : json()},
          {"by_law", cost.byLaw ? estimateJson(*cost.byLaw) : json()}};
}

std::string ratioText(const std::vector<RatioPoint> &ratios) {
  if (ratios.empty())
    return "";
  std::vector<std::vector<std::string>> rows{
      {"ratio sweep", "budget", "attention", "params", "loss"}};
  for (const RatioPoint &each : ratios) {
    rows.push_back({each.group, fmt::format("{:.3g}", each.best.flops),
                    fmt::format("{:.3g}", each.attention)});
    if (each.best.doubt == Doubt::None) {
      rows.back().push_back(estimateText({each.best.minimum.params, each.best.params}));
      rows.back().push_back(estimateText({each.best.minimum.loss, each.best.loss}));
    } else {
      rows.back().push_back(fmt::format("refused: {}", doubtName(each.best.doubt)));
      rows.back().push_back(fmt::format("lowest {:.4g}", each.lowest.loss));
    }
  }
  return "\n" + alignColumns(rows, 0);
}

std::string stateText(const std::vector<StatePoint> &states) {
  std::vector<std::vector<std::string>> rows{
      {"state frontier", "budget", "size", "total", "fixed", "dynamic", "loss"}};
  for (const StatePoint &each : states)
    if (each.onTotal)
      rows.push_back(
          {each.run->point.group, fmt::format("{:.3g}", each.run->budget), each.run->size,
           std::to_string(each.run->state->total()), std::to_string(each.run->state->fixed),
           std::to_string(each.run->state->growing), fmt::format("{:.4g}", each.run->point.loss)});
  return rows.size() > 1 ? "\n" + alignColumns(rows, 0) : "";
}

std::string costText(const std::vector<OffOptimal> &costs) {
  if (costs.empty())
    return "";
  std::vector<std::vector<std::string>> rows{
      {"smaller than the best", "budget", "times", "loss, by the parabola", "by the law"}};
  for (const OffOptimal &each : costs)
    rows.push_back({each.group, fmt::format("{:.3g}", each.flops),
                    fmt::format("{:.3g}", each.factor),
                    each.byParabola ? fmt::format("+{:.3g}", *each.byParabola) : "-",
                    each.byLaw ? "+" + estimateText(*each.byLaw) : "-"});
  return "\n" + alignColumns(rows, 0);
}

} // namespace

std::vector<RatioPoint> ratioSweep(const std::vector<TrainedRun> &runs, const FitOptions &options) {
  std::set<double> budgets;
  for (const TrainedRun &run : runs)
    if (run.isSweep)
      budgets.insert(run.budget);
  std::vector<RatioPoint> ratios;
  for (double budget : budgets) {
    std::vector<Point> points;
    std::map<std::string, double> shares;
    for (const TrainedRun &run : runs)
      if (run.isDone() && run.budget == budget && run.attention) {
        points.push_back(run.point);
        shares[run.point.group] = *run.attention;
      }
    const Fit fit = fitPoints(points, options);
    const size_t first = ratios.size();
    for (const GroupFit &group : fit.groups)
      ratios.push_back(
          {group.group, shares.at(group.group), group.budgets.front(),
           *std::min_element(group.points.begin(), group.points.end(),
                             [](const Point &a, const Point &b) { return a.loss < b.loss; })});
    std::stable_sort(
        ratios.begin() + static_cast<ptrdiff_t>(first), ratios.end(),
        [](const RatioPoint &a, const RatioPoint &b) { return a.attention < b.attention; });
  }
  return ratios;
}

std::vector<StatePoint> stateFrontier(const std::vector<TrainedRun> &runs) {
  std::vector<StatePoint> points;
  for (const TrainedRun &run : runs)
    if (run.isDone() && run.state)
      points.push_back({&run, isBest(run, runs, [](const StateSize &state) { return state.fixed; }),
                        isBest(run, runs, [](const StateSize &state) { return state.growing; }),
                        isBest(run, runs, [](const StateSize &state) { return state.total(); })});
  return points;
}

std::vector<OffOptimal> offOptimal(const Fit &fit, const std::vector<double> &factors) {
  std::vector<OffOptimal> costs;
  for (const GroupFit &group : fit.groups)
    for (const BudgetFit &budget : group.budgets) {
      if (budget.doubt != Doubt::None)
        continue;
      const Minimum &best = budget.minimum;
      for (double factor : factors) {
        OffOptimal cost{group.group, budget.flops, factor, {}, {}};
        const bool isMeasured =
            std::any_of(group.points.begin(), group.points.end(), [&](const Point &point) {
              return std::fabs(std::log(point.flops / budget.flops)) <=
                         std::log(1 + fit.options.tolerance) &&
                     point.params <= best.params / factor;
            });
        if (isMeasured)
          cost.byParabola = best.curvature / 2 * std::log(factor) * std::log(factor);
        if (group.law) {
          auto rise = [&](const ParametricLaw &law) {
            return law.loss(best.params / factor, best.tokens * factor) -
                   law.loss(best.params, best.tokens);
          };
          cost.byLaw =
              estimate(rise(*group.law), group.drawnLaws, fit.options.bootstrap.level, rise);
        }
        costs.push_back(std::move(cost));
      }
    }
  return costs;
}

void addSweeps(const Sweeps &sweeps, json &study) {
  auto list = [&](const char *name, const auto &rows, auto &&of) {
    study[name] = json::array();
    for (const auto &row : rows)
      study[name].push_back(of(row));
  };
  list("ratios", sweeps.ratios, ratioJson);
  list("states", sweeps.states, stateJson);
  list("off_optimal", sweeps.costs, costJson);
}

std::string sweepsText(const Sweeps &sweeps) {
  return ratioText(sweeps.ratios) + stateText(sweeps.states) + costText(sweeps.costs);
}

} // namespace hybrid::rt::lab::scale
