//===- Halving.cpp - successive halving under a budget ------------------------===//
#include "laboratory/search/Halving.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace hybrid::rt::lab {
namespace {

/// Of so many candidates the `count` dearest at a rung.
double dearest(std::span<const Candidate> candidates, std::span<const size_t> among, size_t rung,
               size_t count) {
  std::vector<double> costs;
  for (size_t i : among)
    costs.push_back(candidates[i].costs[rung]);
  count = std::min(count, costs.size());
  std::partial_sort(costs.begin(), costs.begin() + static_cast<std::ptrdiff_t>(count), costs.end(),
                    std::greater<>());
  return std::accumulate(costs.begin(), costs.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
}

std::vector<size_t> counted(size_t count) {
  std::vector<size_t> indices(count);
  std::iota(indices.begin(), indices.end(), size_t(0));
  return indices;
}

/// What rungs `first`... may cost when the first of them trains `among`.
double costFrom(std::span<const Candidate> candidates, std::span<const size_t> among, size_t first,
                const HalvingOptions &options) {
  double total = 0;
  size_t count = among.size();
  for (size_t rung = first; rung < options.rungs; ++rung) {
    total += dearest(candidates, among, rung, count);
    count = std::max<size_t>(1, count / options.eta);
  }
  return total;
}

class Halving {
public:
  Halving(std::span<const Candidate> candidates, const HalvingOptions &options,
          const EvaluateRung &evaluate)
      : candidates(candidates), options(options), evaluate(evaluate) {
    outcome.measured.resize(candidates.size());
    for (size_t i = 0; i < candidates.size(); ++i) {
      outcome.measured[i].scores.resize(options.rungs);
      outcome.measured[i].flopsPerToken = candidates[i].flopsPerToken;
      outcome.measured[i].stateElements = candidates[i].stateElements;
    }
  }

  Result<HalvingOutcome> run() {
    size_t points = affordable(candidates, options);
    if (points == 0)
      return Error{candidates.empty()
                       ? std::string("there is no point to train")
                       : fmt::format("the budget of {:.3g} is too small for one point: the first "
                                     "takes {:.3g} to the end",
                                     options.budget, largestCost(candidates, 1, options))};
    std::vector<size_t> entering = counted(points);
    for (size_t rung = 0; rung < options.rungs && !entering.empty(); ++rung) {
      if (auto done = train({rung, false, entering, 0}); !done)
        return done.error();
      if (rung + 1 < options.rungs)
        entering = promote(outcome.rungs.back());
    }
    outcome.front = paretoFront(outcome.measured);
    if (options.finish)
      if (auto done = finish(); !done)
        return done.error();
    return std::move(outcome);
  }

private:
  double left() const { return options.budget - outcome.spent; }

  Result<void> train(Rung rung) {
    std::sort(rung.candidates.begin(), rung.candidates.end());
    rung.budget = left();
    auto evaluations = evaluate(rung);
    if (!evaluations)
      return evaluations.error();
    RungOutcome result{std::move(rung), std::move(*evaluations), {}};
    for (size_t i = 0; i < result.candidates.size(); ++i) {
      const Evaluation &each = result.evaluations[i];
      outcome.spent += each.cost;
      // Only what was trained tells how costs were predicted.
      if (each.cost > 0) {
        foreseen += candidates[result.candidates[i]].costs[result.rung];
        taken += each.cost;
      }
      outcome.measured[result.candidates[i]].scores[result.rung] = each.score;
    }
    outcome.rungs.push_back(std::move(result));
    return {};
  }

  /// Costs so far, over what was foreseen. Less is no promise: a run that was solved early tells
  /// nothing of the next.
  double scale() const { return foreseen > 0 ? std::max(1.0, taken / foreseen) : 1; }

  std::vector<size_t> promote(RungOutcome &rung) {
    std::vector<Measured> here;
    std::vector<size_t> order;
    for (size_t i = 0; i < rung.candidates.size(); ++i) {
      const Candidate &candidate = candidates[rung.candidates[i]];
      here.push_back(
          {{rung.evaluations[i].score}, candidate.flopsPerToken, candidate.stateElements});
      if (rung.evaluations[i].score)
        order.push_back(i);
    }
    std::vector<size_t> ranks = options.promotion == Promotion::Front
                                    ? paretoRanks(here)
                                    : std::vector<size_t>(here.size());
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      if (ranks[a] != ranks[b])
        return ranks[a] < ranks[b];
      if (*here[a].scores[0] != *here[b].scores[0])
        return *here[a].scores[0] > *here[b].scores[0];
      if (here[a].flopsPerToken != here[b].flopsPerToken)
        return here[a].flopsPerToken < here[b].flopsPerToken;
      if (here[a].stateElements != here[b].stateElements)
        return here[a].stateElements < here[b].stateElements;
      return a < b;
    });
    order.resize(std::min(order.size(), std::max<size_t>(1, rung.candidates.size() / options.eta)));
    for (size_t i : order)
      rung.promoted.push_back(rung.candidates[i]);
    // The plan foresaw these costs; measured ones may have grown.
    while (!rung.promoted.empty() &&
           scale() * costFrom(candidates, rung.promoted, rung.rung + 1, options) >
               left() * (1 + 1e-12))
      rung.promoted.pop_back();
    return rung.promoted;
  }

  Result<void> finish() {
    size_t last = options.rungs - 1;
    std::vector<size_t> missing;
    for (size_t i : outcome.front)
      if (!outcome.measured[i].scores[last])
        missing.push_back(i);
    // The longer it was trained the nearer it is to being chosen; then by score.
    auto lastRung = [&](size_t i) {
      size_t rung = last;
      while (!outcome.measured[i].scores[rung])
        --rung;
      return rung;
    };
    std::sort(missing.begin(), missing.end(), [&](size_t a, size_t b) {
      size_t left = lastRung(a), right = lastRung(b);
      if (left != right)
        return left > right;
      double x = *outcome.measured[a].scores[left], y = *outcome.measured[b].scores[right];
      return x != y ? x > y : a < b;
    });
    std::vector<size_t> chosen;
    double cost = 0;
    for (size_t i : missing) {
      double more = scale() * candidates[i].costs[last];
      if (cost + more > left())
        continue;
      cost += more;
      chosen.push_back(i);
    }
    if (chosen.empty())
      return {};
    if (auto done = train({last, true, chosen, 0}); !done)
      return done;
    outcome.front = paretoFront(outcome.measured);
    return {};
  }

  std::span<const Candidate> candidates;
  const HalvingOptions &options;
  const EvaluateRung &evaluate;
  HalvingOutcome outcome;
  double foreseen = 0, taken = 0;
};

} // namespace

double rungLength(size_t rung, const HalvingOptions &options) {
  return std::pow(static_cast<double>(options.eta),
                  static_cast<double>(rung) - static_cast<double>(options.rungs - 1));
}

std::vector<size_t> rungSizes(size_t points, const HalvingOptions &options) {
  std::vector<size_t> sizes;
  for (size_t rung = 0; rung < options.rungs; ++rung) {
    sizes.push_back(points);
    points = std::max<size_t>(std::min<size_t>(points, 1), points / options.eta);
  }
  return sizes;
}

double largestCost(std::span<const Candidate> candidates, size_t points,
                   const HalvingOptions &options) {
  std::vector<size_t> among = counted(std::min(points, candidates.size()));
  return among.empty() ? 0 : costFrom(candidates, among, 0, options);
}

size_t affordable(std::span<const Candidate> candidates, const HalvingOptions &options) {
  size_t most = candidates.size();
  if (options.mostPoints)
    most = std::min(most, options.mostPoints);
  // The cost never falls with another point: the last that fits is found by halving.
  size_t fits = 0, tooMany = most + 1;
  while (tooMany - fits > 1) {
    size_t middle = fits + (tooMany - fits) / 2;
    (largestCost(candidates, middle, options) <= options.budget ? fits : tooMany) = middle;
  }
  return fits;
}

Result<HalvingOutcome> halve(std::span<const Candidate> candidates, const HalvingOptions &options,
                             const EvaluateRung &evaluate) {
  return Halving(candidates, options, evaluate).run();
}

} // namespace hybrid::rt::lab
