//===- Predict.cpp - what a fitted law says of a budget -------------------------------===//
#include "laboratory/scale/Predict.h"
#include "laboratory/Columns.h"
#include "laboratory/scale/FitReport.h"
#include "laboratory/scale/Rules.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::lab::scale {
namespace {
using json = nlohmann::ordered_json;

Optimum byFrontier(const GroupFit &group, double flops, double level) {
  auto of = [&](PowerLaw Frontier::*law) {
    return estimate(((*group.frontier).*law).at(flops), group.drawnFrontiers, level,
                    [&](const Frontier &drawn) { return (drawn.*law).at(flops); });
  };
  return {of(&Frontier::params), of(&Frontier::tokens), of(&Frontier::loss)};
}

Optimum byLaw(const GroupFit &group, double flops, double level) {
  auto of = [&](auto &&quantity) {
    return estimate(quantity(*group.law), group.drawnLaws, level, quantity);
  };
  auto params = [&](const ParametricLaw &law) { return law.optimalSize(flops, group.flopsEach); };
  auto tokens = [&](const ParametricLaw &law) { return flops / group.flopsEach / params(law); };
  return {of(params), of(tokens),
          of([&](const ParametricLaw &law) { return law.loss(params(law), tokens(law)); })};
}

/// The least and the most FLOPs of the points.
Interval pointRange(const GroupFit &group) {
  Interval range{std::numeric_limits<double>::infinity(), 0};
  for (const Point &point : group.points) {
    range.low = std::min(range.low, point.flops);
    range.high = std::max(range.high, point.flops);
  }
  return range;
}

void judgeReach(Prediction &prediction) {
  const Interval &fitted = prediction.fitted;
  bool isAbove = prediction.flops > fitted.high;
  prediction.beyond = isAbove                         ? prediction.flops / fitted.high
                      : prediction.flops < fitted.low ? fitted.low / prediction.flops
                                                      : 1;
  double span = fitted.high / fitted.low;
  // Budgets of a tolerance apart are one.
  if (prediction.beyond > 1.05)
    prediction.warnings.push_back(fmt::format(
        "extrapolates {:.3g} times {} the {} budget, {:.3g} FLOPs, of budgets that span a factor "
        "of {:.3g}{}",
        prediction.beyond, isAbove ? "above" : "below", isAbove ? "largest" : "smallest",
        isAbove ? fitted.high : fitted.low, span,
        prediction.beyond > span
            ? ": further than they reach; the interval holds only if the law goes on unbent"
            : ""));
}

} // namespace

std::optional<Prediction> predict(const GroupFit &group, double flops, double level) {
  if (!group.frontier && !group.law)
    return std::nullopt;
  Prediction prediction;
  prediction.group = group.group;
  prediction.flops = flops;
  if (group.frontier)
    prediction.frontier = byFrontier(group, flops, level);
  if (group.law)
    prediction.parametric = byLaw(group, flops, level);
  prediction.sizeBy = group.frontier ? "frontier" : "parametric";
  prediction.lossBy = group.law ? "parametric" : "frontier";
  prediction.advice = group.frontier ? *prediction.frontier : *prediction.parametric;
  const Optimum &advice = prediction.advice;
  if (group.law)
    prediction.advice.loss = estimate(group.law->loss(advice.params.value, advice.tokens.value),
                                      group.drawnLaws, level, [&](const ParametricLaw &law) {
                                        return law.loss(advice.params.value, advice.tokens.value);
                                      });
  prediction.batch =
      std::min(batchTokens(flops, advice.params.value), std::max(advice.tokens.value, 1.0));
  prediction.rate = learningRate(flops, advice.params.value);
  prediction.steps = std::max(1.0, std::round(advice.tokens.value / prediction.batch));
  prediction.fitted = group.frontier ? group.frontierRange() : pointRange(group);
  judgeReach(prediction);
  return prediction;
}

json predictionJson(const Prediction &prediction) {
  auto optimum = [](const std::optional<Optimum> &each) {
    return each ? json{{"params", estimateJson(each->params)},
                       {"tokens", estimateJson(each->tokens)},
                       {"loss", estimateJson(each->loss)}}
                : json();
  };
  return {{"group", prediction.group},
          {"flops", prediction.flops},
          {"params", estimateJson(prediction.advice.params)},
          {"tokens", estimateJson(prediction.advice.tokens)},
          {"loss", estimateJson(prediction.advice.loss)},
          {"params_by", prediction.sizeBy},
          {"loss_by", prediction.lossBy},
          {"batch_tokens", prediction.batch},
          {"learning_rate", prediction.rate},
          {"steps", prediction.steps},
          {"fitted_flops", {{"low", prediction.fitted.low}, {"high", prediction.fitted.high}}},
          {"beyond", prediction.beyond},
          {"frontier", optimum(prediction.frontier)},
          {"parametric", optimum(prediction.parametric)},
          {"warnings", prediction.warnings}};
}

std::string predictionText(const Prediction &prediction) {
  const Optimum &advice = prediction.advice;
  std::string text =
      fmt::format("{}{:.4g} FLOPs\n", prediction.group.empty() ? "" : prediction.group + ": ",
                  prediction.flops);
  text += alignColumns({{"params", estimateText(advice.params)},
                        {"tokens", estimateText(advice.tokens)},
                        {"batch", fmt::format("{:.0f} tokens", prediction.batch)},
                        {"steps", fmt::format("{:.0f}", prediction.steps)},
                        {"learning rate", fmt::format("{:.3g}", prediction.rate)},
                        {"loss", estimateText(advice.loss)},
                        {"perplexity", fmt::format("{:.4g}", std::exp(advice.loss.value))}},
                       0);
  auto other = [&](const char *name, const Optimum &each) {
    text += fmt::format("{}: params {}, loss {}\n", name, estimateText(each.params),
                        estimateText(each.loss));
  };
  if (prediction.frontier && prediction.parametric) {
    other("by the frontier", *prediction.frontier);
    other("by the parametric law", *prediction.parametric);
  }
  return text;
}

} // namespace hybrid::rt::lab::scale
