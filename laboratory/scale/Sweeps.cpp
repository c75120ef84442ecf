//===- Sweeps.cpp - what a study says beside its laws ---------------------------------===//
#include "laboratory/scale/Sweeps.h"
#include "laboratory/Columns.h"
#include "laboratory/scale/FitReport.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

namespace hybrid::rt::lab::scale {
namespace {
using json = nlohmann::ordered_json;

bool isOfBudget(const Point &point, const BudgetFit &budget, const FitOptions &options) {
  return std::fabs(std::log(point.flops / budget.flops)) <= std::log(1 + options.tolerance);
}

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

json overtrainJson(const OvertrainPoint &point) {
  const TrainedRun &run = *point.run;
  return {{"group", run.point.group},
          {"size", run.size},
          {"budget", run.budget},
          {"sweep", !run.sweep.empty()},
          {"params", run.point.params},
          {"tokens", run.point.tokens},
          {"factor", point.factor},
          {"loss", run.point.loss},
          {"rise", point.rise},
          {"beside", point.isMinimum ? "minimum" : "lowest"},
          {"by_parabola", point.byParabola ? json(*point.byParabola) : json()},
          {"by_law", point.byLaw ? json(*point.byLaw) : json()}};
}

json batchJson(const BatchPoint &point) {
  const TrainedRun &run = *point.run;
  return {{"group", run.point.group},     {"size", run.size},
          {"budget", run.budget},         {"params", run.point.params},
          {"batch_tokens", point.tokens}, {"steps", run.steps},
          {"learning_rate", run.rate},    {"loss", run.point.loss},
          {"lowest", point.isLowest}};
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

std::string overtrainText(const std::vector<OvertrainPoint> &points) {
  if (points.empty())
    return "";
  std::vector<std::vector<std::string>> rows{{"trained for longer", "budget", "size", "times",
                                              "tokens a parameter", "loss", "rise",
                                              "by the parabola", "by the law"}};
  auto rise = [](const std::optional<double> &by) {
    return by ? fmt::format("{:+.3g}", *by) : "-";
  };
  for (const OvertrainPoint &each : points) {
    const Point &point = each.run->point;
    rows.push_back({point.group, fmt::format("{:.3g}", each.run->budget), each.run->size,
                    fmt::format("{:.3g}", each.factor),
                    fmt::format("{:.3g}", point.tokens / point.params),
                    fmt::format("{:.4g}", point.loss), rise(each.rise), rise(each.byParabola),
                    rise(each.byLaw)});
  }
  return "\n" + alignColumns(rows, 0);
}

std::string batchText(const std::vector<BatchPoint> &points) {
  if (points.empty())
    return "";
  std::vector<std::vector<std::string>> rows{
      {"batch sweep", "budget", "size", "tokens", "steps", "rate", "loss", ""}};
  for (const BatchPoint &each : points)
    rows.push_back({each.run->point.group, fmt::format("{:.3g}", each.run->budget), each.run->size,
                    fmt::format("{:.0f}", each.tokens), std::to_string(each.run->steps),
                    fmt::format("{:.3g}", each.run->rate),
                    fmt::format("{:.4g}", each.run->point.loss), each.isLowest ? "lowest" : ""});
  return "\n" + alignColumns(rows, 0);
}

} // namespace

std::vector<RatioPoint> ratioSweep(const std::vector<TrainedRun> &runs, const FitOptions &options) {
  std::set<double> budgets;
  for (const TrainedRun &run : runs)
    if (run.sweep == "ratios")
      budgets.insert(run.budget);
  std::vector<RatioPoint> ratios;
  for (double budget : budgets) {
    std::vector<Point> points;
    std::map<std::string, double> shares;
    for (const TrainedRun &run : runs)
      if (run.isDone() && run.budget == budget && run.attention &&
          (run.sweep.empty() || run.sweep == "ratios")) {
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
              return isOfBudget(point, budget, fit.options) && point.params <= best.params / factor;
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

std::vector<OvertrainPoint> overtrainSweep(const std::vector<TrainedRun> &runs, const Fit &fit) {
  std::vector<OvertrainPoint> points;
  for (const GroupFit &group : fit.groups)
    for (const BudgetFit &budget : group.budgets) {
      std::vector<const TrainedRun *> here;
      for (const TrainedRun &run : runs)
        if (run.isDone() && run.point.group == group.group &&
            (run.sweep.empty() || run.sweep == "overtrain") &&
            isOfBudget(run.point, budget, fit.options))
          here.push_back(&run);
      if (here.empty())
        continue;
      const bool isMinimum = budget.doubt == Doubt::None;
      Minimum best = budget.minimum;
      if (!isMinimum) {
        const Point &lowest =
            (*std::min_element(here.begin(), here.end(), [](const auto *a, const auto *b) {
              return a->point.loss < b->point.loss;
            }))->point;
        best = {lowest.params, lowest.tokens, lowest.loss, 0};
      }
      std::stable_sort(here.begin(), here.end(), [](const auto *a, const auto *b) {
        return a->point.params > b->point.params;
      });
      for (const TrainedRun *run : here) {
        if (!(run->point.params < best.params))
          continue;
        OvertrainPoint point{
            run, best.params / run->point.params, run->point.loss - best.loss, isMinimum, {}, {}};
        if (isMinimum)
          point.byParabola = best.curvature / 2 * std::pow(std::log(point.factor), 2);
        if (group.law)
          point.byLaw = group.law->loss(run->point.params, run->point.tokens) -
                        group.law->loss(best.params, best.tokens);
        points.push_back(std::move(point));
      }
    }
  return points;
}

std::vector<BatchPoint> batchSweep(const std::vector<TrainedRun> &runs) {
  // A model of the sweep, and the trainings of it.
  using Swept = std::tuple<std::string, double, std::string>;
  std::map<Swept, std::vector<BatchPoint>> swept;
  auto keyOf = [](const TrainedRun &run) { return Swept{run.point.group, run.budget, run.size}; };
  for (const TrainedRun &run : runs)
    if (run.sweep == "batches")
      swept[keyOf(run)];
  for (const TrainedRun &run : runs)
    if (auto found = swept.find(keyOf(run));
        found != swept.end() && run.isDone() && (run.sweep.empty() || run.sweep == "batches"))
      found->second.push_back({&run, run.point.tokens / static_cast<double>(run.steps), false});
  std::vector<BatchPoint> points;
  for (auto &[key, batches] : swept) {
    std::stable_sort(batches.begin(), batches.end(),
                     [](const BatchPoint &a, const BatchPoint &b) { return a.tokens < b.tokens; });
    auto lowest = std::min_element(batches.begin(), batches.end(),
                                   [](const BatchPoint &a, const BatchPoint &b) {
                                     return a.run->point.loss < b.run->point.loss;
                                   });
    if (lowest != batches.end())
      lowest->isLowest = true;
    points.insert(points.end(), batches.begin(), batches.end());
  }
  return points;
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
  list("overtrain", sweeps.overtrained, overtrainJson);
  list("batches", sweeps.batches, batchJson);
}

std::string sweepsText(const Sweeps &sweeps) {
  return ratioText(sweeps.ratios) + stateText(sweeps.states) + costText(sweeps.costs) +
         overtrainText(sweeps.overtrained) + batchText(sweeps.batches);
}

} // namespace hybrid::rt::lab::scale
