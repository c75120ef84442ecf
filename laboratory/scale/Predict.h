//===- Predict.h - what a fitted law says of a budget ---------------------------------===//
#pragma once
#include "laboratory/scale/Fit.h"
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace hybrid::rt::lab::scale {

/// Size and tokens that are optimal, and the loss they reach.
struct Optimum {
  Estimate params, tokens, loss;
};

struct Prediction {
  std::string group;
  double flops = 0;
  std::optional<Optimum> frontier, parametric; // by each method that has a fit
  /// What to train: size and tokens of the frontier, or of the parametric law where there is no
  /// frontier; the loss is the parametric law's for them, or the frontier's where there is no law.
  Optimum advice;
  std::string sizeBy, lossBy; // "frontier" or "parametric"
  double batch = 0;           // tokens
  double rate = 0;
  double steps = 0;
  Interval fitted;   // FLOPs that were fitted
  double beyond = 1; // how many times above or below them
  std::vector<std::string> warnings;
};

/// Nothing of a group of which nothing could be fitted.
std::optional<Prediction> predict(const GroupFit &group, double flops, double level);

nlohmann::ordered_json predictionJson(const Prediction &prediction);
std::string predictionText(const Prediction &prediction);

} // namespace hybrid::rt::lab::scale
