//===- FitReport.cpp - fitted scaling laws for people and for scripts -----------------===//
#include "laboratory/scale/FitReport.h"
#include "laboratory/Columns.h"
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::lab::scale {
namespace {
using json = nlohmann::ordered_json;

/// A coefficient: what it is called, in which law, and its estimate.
struct Coefficient {
  std::string law, name;
  Estimate estimate;
};

std::vector<Coefficient> frontierOf(const GroupFit &group, double level) {
  std::vector<Coefficient> found;
  if (!group.frontier)
    return found;
  const std::pair<const char *, PowerLaw Frontier::*> laws[] = {
      {"params", &Frontier::params}, {"tokens", &Frontier::tokens}, {"loss", &Frontier::loss}};
  for (const auto &[name, law] : laws) {
    auto add = [&](const char *what, auto &&of) {
      found.push_back({name, what,
                       estimate(of(*group.frontier), group.drawnFrontiers, level,
                                [&](const Frontier &drawn) { return of(drawn); })});
    };
    add("coefficient",
        [law = law](const Frontier &f) { return std::exp((f.*law).logCoefficient); });
    add("exponent", [law = law](const Frontier &f) { return (f.*law).exponent; });
  }
  return found;
}

std::vector<Coefficient> lawOf(const GroupFit &group, double level) {
  std::vector<Coefficient> found;
  if (!group.law)
    return found;
  auto add = [&](const char *name, auto &&of) {
    found.push_back({"parametric", name,
                     estimate(of(*group.law), group.drawnLaws, level,
                              [&](const ParametricLaw &drawn) { return of(drawn); })});
  };
  add("E", [](const ParametricLaw &law) { return law.E; });
  add("A", [](const ParametricLaw &law) { return std::exp(law.logA); });
  add("B", [](const ParametricLaw &law) { return std::exp(law.logB); });
  add("alpha", [](const ParametricLaw &law) { return law.alpha; });
  add("beta", [](const ParametricLaw &law) { return law.beta; });
  add("params_exponent", [](const ParametricLaw &law) { return law.sizeExponent(); });
  add("tokens_exponent", [](const ParametricLaw &law) { return law.tokenExponent(); });
  return found;
}

json remarkJson(const Remark &remark) {
  return {{"budget", remark.flops ? json(*remark.flops) : json()},
          {"kind", remark.kind},
          {"refused", remark.isRefusal},
          {"text", remark.text}};
}

json budgetJson(const BudgetFit &budget) {
  json result = {{"flops", budget.flops}, {"points", budget.points}, {"refused", nullptr},
                 {"curvature", nullptr},  {"params", nullptr},       {"tokens", nullptr},
                 {"loss", nullptr}};
  if (budget.doubt != Doubt::None) {
    result["refused"] = doubtName(budget.doubt);
    return result;
  }
  result["curvature"] = budget.minimum.curvature;
  result["params"] = estimateJson({budget.minimum.params, budget.params});
  result["tokens"] = estimateJson({budget.minimum.tokens, budget.tokens});
  result["loss"] = estimateJson({budget.minimum.loss, budget.loss});
  return result;
}

json groupJson(const GroupFit &group, double level) {
  json result = {{"group", group.group},
                 {"points", group.points.size()},
                 {"flops_per_param_token", group.flopsEach},
                 {"budgets", json::array()},
                 {"scatter", group.scatter},
                 {"frontier", nullptr},
                 {"parametric", nullptr},
                 {"warnings", json::array()}};
  for (const BudgetFit &budget : group.budgets)
    result["budgets"].push_back(budgetJson(budget));
  if (group.frontier) {
    json frontier = json::object();
    for (const Coefficient &each : frontierOf(group, level))
      frontier[each.law][each.name] = estimateJson(each.estimate);
    result["frontier"] = std::move(frontier);
  }
  if (group.law) {
    json law = json::object();
    for (const Coefficient &each : lawOf(group, level))
      law[each.name] = estimateJson(each.estimate);
    law["median_log_residual"] = group.lawScatter;
    result["parametric"] = std::move(law);
  }
  for (const Remark &remark : group.remarks)
    result["warnings"].push_back(remarkJson(remark));
  return result;
}

std::string groupText(const GroupFit &group, double level) {
  std::string text =
      fmt::format("{}{} points, {} budgets\n", group.group.empty() ? "" : group.group + ": ",
                  group.points.size(), group.budgets.size());
  std::vector<std::vector<std::string>> rows{{"budget", "points", "params", "tokens", "loss"}};
  for (const BudgetFit &budget : group.budgets) {
    rows.push_back({fmt::format("{:.3g}", budget.flops), std::to_string(budget.points)});
    if (budget.doubt != Doubt::None)
      rows.back().push_back(fmt::format("refused: {}", doubtName(budget.doubt)));
    else
      for (const Estimate &estimate : {Estimate{budget.minimum.params, budget.params},
                                       Estimate{budget.minimum.tokens, budget.tokens},
                                       Estimate{budget.minimum.loss, budget.loss}})
        rows.back().push_back(estimateText(estimate));
  }
  text += alignColumns(rows, 0);
  rows.clear();
  for (const auto &coefficients : {frontierOf(group, level), lawOf(group, level)})
    for (const Coefficient &each : coefficients)
      rows.push_back({each.law == "parametric" ? each.name : each.law + " " + each.name,
                      estimateText(each.estimate)});
  if (group.frontier)
    text += "optimal params, tokens and loss = coefficient x FLOPs^exponent";
  if (group.law)
    text +=
        fmt::format("{}loss = E + A / params^alpha + B / tokens^beta", group.frontier ? "; " : "");
  if (!rows.empty())
    text += "\n" + alignColumns(rows, 0);
  return text;
}

} // namespace

json estimateJson(const Estimate &estimate) {
  auto finite = [](double value) { return std::isfinite(value) ? json(value) : json(); };
  return {{"value", finite(estimate.value)},
          {"low", estimate.interval ? finite(estimate.interval->low) : json()},
          {"high", estimate.interval ? finite(estimate.interval->high) : json()}};
}

std::string estimateText(const Estimate &estimate) {
  std::string text = fmt::format("{:.4g}", estimate.value);
  if (estimate.interval)
    text += fmt::format(" ({:.4g} to {:.4g})", estimate.interval->low, estimate.interval->high);
  return text;
}

std::string remarkText(const GroupFit &group, const Remark &remark) {
  std::string where = group.group.empty() ? "" : fmt::format("group '{}'", group.group);
  if (remark.flops)
    where += fmt::format("{}{:.3g} FLOPs", where.empty() ? "" : ", ", *remark.flops);
  return fmt::format("{}{}{}{}", where, where.empty() ? "" : ": ",
                     remark.isRefusal ? "refused: " : "", remark.text);
}

json fitJson(const Fit &fit) {
  json result = {{"kind", "scaling-fit"},
                 {"bootstrap",
                  {{"samples", fit.options.bootstrap.samples},
                   {"seed", fit.options.bootstrap.seed},
                   {"level", fit.options.bootstrap.level}}},
                 {"tolerance", fit.options.tolerance},
                 {"groups", json::array()}};
  for (const GroupFit &group : fit.groups)
    result["groups"].push_back(groupJson(group, fit.options.bootstrap.level));
  return result;
}

std::string fitText(const Fit &fit) {
  std::string text;
  for (const GroupFit &group : fit.groups)
    text += (text.empty() ? "" : "\n") + groupText(group, fit.options.bootstrap.level);
  return text;
}

} // namespace hybrid::rt::lab::scale
