//===- Preset.h - how a paper trained its models, by name ---------------------------===//
//
// papers/presets.json holds training recipes as they are printed. Numbers that a paper gives by the
// size of the model stand in rows of sizes: the learning rate between two rows is linear in the
// parameters, whatever else is the nearest row's. The programs have the file inside.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/OptimizerOptions.h"
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hybrid::rt::lab {

/// What a preset decides; what it does not is as without it.
struct PresetValues {
  std::optional<std::string> schedule;
  std::optional<double> learningRate, leastRate, warmup; // warmup: share of the steps
  std::optional<double> weightDecay, beta1, beta2, epsilon, clip;
  std::optional<double> epochs;
  std::optional<int64_t> steps;
  std::optional<int64_t> batch;       // sequences of an update
  std::optional<int64_t> batchTokens; // tokens of an update
};

struct Preset {
  std::string name, source, note;
  PresetValues values;
  struct Size {
    double parameters = 0;
    PresetValues values;
  };
  std::vector<Size> sizes; // from small to large
  /// What it says of trainings by their budget, which at() does not know and plans of scaling ask
  /// for.
  struct Budget {
    double flops = 0;
    PresetValues values;
  };
  std::vector<Budget> budgets; // from small to large

  /// What it says of a model of so many parameters.
  PresetValues at(double parameters) const;
};

/// Those of a text as presets.json is. Errors name `file` and key.
Result<std::vector<Preset>> parsePresets(std::string_view text, const std::string &file);
/// Those of papers/presets.json.
const std::vector<Preset> &presets();
/// One of them; the error says which there are.
Result<Preset> findPreset(const std::string &name);

/// A line each: names, where from, what.
std::string presetTable(const std::vector<Preset> &presets);

} // namespace hybrid::rt::lab
