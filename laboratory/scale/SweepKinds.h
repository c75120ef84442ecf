//===- SweepKinds.h - what is varied beside a scaling study's plan ----------------------===//
//
// A sweep is trainings at one budget of the plan in which one thing differs from it. Each kind is
// one declaration: what asks for it and which trainings it makes. Those that the plan has anyway
// are not made twice. Sweeps.h says what comes of them.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/Models.h"
#include <span>

namespace hybrid::rt::lab::scale {

struct SweepOptions {
  double budget = 0;             // FLOPs; 0: the median of the plan's
  std::vector<double> ratios;    // layers of another kind to each of attention
  std::vector<double> overtrain; // how many times smaller than the middle size, at equal FLOPs
  std::vector<double> batches;   // factors of the batch, at the middle size
};

/// The name of the models' parameter that `ratios` sets.
inline constexpr const char *ratioParameter = "ratio";

/// A size that an architecture may have.
struct Sized {
  std::string name;
  double params = 0;
};

/// An architecture at the budget of the sweeps.
struct SweptModel {
  ModelChoice model;
  std::vector<Sized> sizes; // that it may have, rising
  Sized middle;             // the planned one nearest to what the plan's tokens a parameter give
};

/// What a sweep trains in the plan's place.
struct SweptVariant {
  ModelChoice model;
  std::vector<std::string> sizes; // empty: those that are planned
  double batchFactor = 1;
};

struct SweepKind {
  const char *name; // of its table NAME.csv, of its points in study.json, and of its runs
  const char *flag; // that asks for it
  std::vector<double> SweepOptions::*factors;
  bool variesModel; // the model's settings say what is varied; else a run stores its factor
  /// Nothing where the architecture has nothing to vary.
  Result<std::optional<SweptVariant>> (*variant)(const SweptModel &model, double factor);
};

/// "ratios", "overtrain", "batches".
std::span<const SweepKind> sweepKinds();

} // namespace hybrid::rt::lab::scale
