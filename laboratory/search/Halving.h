//===- Halving.h - successive halving under a budget --------------------------===//
//
// Many points are trained for a short while, the best of them for longer, and so on (Jamieson and
// Talwalkar 2016). Rung r of R trains for eta^(r - R + 1) of the whole length, from the beginning:
// a learning rate schedule belongs to its length, so a rung's score is that of an ordinary run. One
// in eta is promoted. At the end the members of the Pareto front that fell out on the way are
// trained for the whole length too, as far as the budget goes.
//
// How many points the first rung takes follows from the budget: as many as can be carried to the
// end even if the dearest are promoted every time. Where costs are as predicted (FLOPs) the budget
// is therefore never exceeded; where they are measured (time) each rung is planned anew from what
// the rungs before it cost.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "laboratory/search/Pareto.h"
#include "runtime/Result.h"
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace hybrid::rt::lab {

struct Candidate {
  std::vector<double> costs; // of training it at each rung, in units of the budget
  double flopsPerToken = 0, stateElements = 0;
};

enum class Promotion : uint8_t {
  Score, // the best scores; of equal ones the cheaper
  Front, // by fronts of score, FLOPs and state; within one, the best scores
};

struct HalvingOptions {
  size_t rungs = 3;
  size_t eta = 3;        // at least 2
  size_t mostPoints = 0; // of the first rung; 0: as many as the budget allows
  double budget = std::numeric_limits<double>::infinity();
  Promotion promotion = Promotion::Score;
  bool finish = true; // the front for the whole length
};

/// What training a candidate on a rung came to.
struct Evaluation {
  std::optional<double> score; // nothing: it failed, or was not trained for lack of budget
  double cost = 0;             // what it took, in units of the budget
};

struct Rung {
  size_t rung = 0;                // its length: 0 the shortest
  bool finishing = false;         // the front's own, after the last
  std::vector<size_t> candidates; // increasing
  double budget = 0;              // what it may cost
};

/// Trains the candidates of a rung: one evaluation for each, in their order.
using EvaluateRung = std::function<Result<std::vector<Evaluation>>(const Rung &)>;

struct RungOutcome : Rung {
  std::vector<Evaluation> evaluations;
  std::vector<size_t> promoted; // best first
};

struct HalvingOutcome {
  std::vector<RungOutcome> rungs;
  std::vector<Measured> measured; // of each candidate
  std::vector<size_t> front;
  double spent = 0;
};

/// The share of the whole length that a rung trains for.
double rungLength(size_t rung, const HalvingOptions &options);
/// Points of each rung when the first has `points`.
std::vector<size_t> rungSizes(size_t points, const HalvingOptions &options);
/// The most that the first `points` candidates can cost to the end of the last rung.
double largestCost(std::span<const Candidate> candidates, size_t points,
                   const HalvingOptions &options);
/// How many of the first candidates the budget carries; 0: not even one.
size_t affordable(std::span<const Candidate> candidates, const HalvingOptions &options);

/// Candidates compete in the order given: the first ones are taken. An error of `evaluate`, or a
/// budget that is too small for the first candidate, ends the search.
Result<HalvingOutcome> halve(std::span<const Candidate> candidates, const HalvingOptions &options,
                             const EvaluateRung &evaluate);

} // namespace hybrid::rt::lab
