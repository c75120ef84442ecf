//===- CoverageTest.cpp - how often an interval holds the truth -----------------------===//
//
// Draws trainings from Chinchilla's published law with fixed seeds, fits them, and counts how often
// the stated 95 % intervals hold the law's exponents. The counts are printed; they fail the test
// where they are less likely than one in ten thousand for intervals that hold 95 % of the time.
//
//===----------------------------------------------------------------------===//
#include "test/unit/laboratory/scale/Chinchilla.h"
#include <cstdio>
#include <cstdlib>
#include <map>

using namespace hybrid::rt::lab::scale;

namespace {

/// The probability of at most `hits` of `draws`, each with `share`.
double atMost(int hits, int draws, double share) {
  double sum = 0;
  for (int k = 0; k <= hits; ++k)
    sum += std::exp(std::lgamma(draws + 1.0) - std::lgamma(k + 1.0) - std::lgamma(draws - k + 1.0) +
                    k * std::log(share) + (draws - k) * std::log(1 - share));
  return sum;
}

} // namespace

int main(int argc, char **argv) {
  const int draws = argc > 1 ? std::atoi(argv[1]) : 24;
  const ParametricLaw truth = chinchilla();
  bool isRight = draws > 0;
  std::printf("%-8s %-22s %-9s %s\n", "noise", "exponent", "held", "mean width");
  for (double noise : {0.001, 0.005, 0.02}) {
    std::map<std::string, int> held;
    std::map<std::string, double> widths;
    for (int draw = 0; draw < draws; ++draw) {
      FitOptions options;
      options.bootstrap.samples = 400;
      options.bootstrap.seed = static_cast<uint64_t>(draw);
      Fit fit = fitPoints(drawPoints({}, noise, 1000 + static_cast<uint64_t>(draw)), options);
      const GroupFit &group = fit.groups.front();
      auto count = [&](const std::string &name, const Estimate &estimate, double is) {
        const auto &interval = estimate.interval;
        held[name] += interval && interval->low <= is && is <= interval->high;
        widths[name] += interval ? (interval->high - interval->low) / draws : 0;
      };
      auto law = [&](const std::string &name, auto &&of) {
        count(name, estimate(group.law ? of(*group.law) : 0, group.drawnLaws, 0.95, of), of(truth));
      };
      law("alpha", [](const ParametricLaw &each) { return each.alpha; });
      law("beta", [](const ParametricLaw &each) { return each.beta; });
      law("params, by the law", [](const ParametricLaw &each) { return each.sizeExponent(); });
      auto frontier = [&](const std::string &name, PowerLaw Frontier::*of, double is) {
        auto exponent = [of](const Frontier &each) { return (each.*of).exponent; };
        count(name,
              estimate(group.frontier ? exponent(*group.frontier) : 0, group.drawnFrontiers, 0.95,
                       exponent),
              is);
      };
      frontier("params, by minima", &Frontier::params, truth.sizeExponent());
      frontier("tokens, by minima", &Frontier::tokens, truth.tokenExponent());
    }
    for (const auto &[name, hits] : held) {
      bool isLikely = atMost(hits, draws, 0.95) > 1e-4;
      isRight &= isLikely;
      std::printf("%-8g %-22s %3d/%-5d %.3g%s\n", noise, name.c_str(), hits, draws, widths[name],
                  isLikely ? "" : "  TOO FEW");
    }
  }
  return isRight ? 0 : 1;
}
