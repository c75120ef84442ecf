//===- KeyValues.cpp - ids of keys and values, and which are targets --------===//
#include "training/tasks/KeyValues.h"
#include <array>
#include <fmt/format.h>

namespace hybrid::rt {

std::string KeyValueIds::spell(int32_t token) const {
  if (token < firstValue())
    return fmt::format("k{}", token);
  return token < content ? fmt::format("v{}", token) : "";
}

TrainTargets trainTargetsOf(TaskParameters &parameters, Convention convention) {
  const std::array<std::string, 3> choices = {"all", "values", "recall"};
  std::string wanted = parameters.choice(
      "train_targets", convention == Convention::Paper ? "recall" : "all", choices);
  if (wanted == "all")
    return TrainTargets::All;
  return wanted == "values" ? TrainTargets::Values : TrainTargets::Recall;
}

bool asksWholeSequence(TaskParameters &parameters) {
  const std::array<std::string, 2> choices = {"all", "answer"};
  return parameters.choice("train_targets", "all", choices) == "all";
}

} // namespace hybrid::rt
