//===- Sampler.cpp - drawing a token from logits -----------------------------===//
#include "training/Sampler.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace hybrid::rt {

void penaliseRepetition(std::span<double> logits, std::span<const int32_t> seen, double penalty) {
  std::vector<bool> done(logits.size());
  for (int32_t token : seen) {
    auto at = static_cast<size_t>(token);
    if (at >= logits.size() || done[at])
      continue;
    done[at] = true;
    logits[at] = logits[at] > 0 ? logits[at] / penalty : logits[at] * penalty;
  }
}

double logProbability(std::span<const double> logits, int32_t token) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (double value : logits)
    sum += std::exp(value - highest);
  return logits[static_cast<size_t>(token)] - highest - std::log(sum);
}

int32_t sampleToken(std::span<double> logits, const SamplerOptions &options, Rng &rng) {
  auto best = std::max_element(logits.begin(), logits.end());
  if (options.temperature <= 0)
    return static_cast<int32_t>(best - logits.begin());
  double highest = *best, total = 0;
  for (double &value : logits)
    total += value = std::exp((value - highest) / options.temperature);
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)];
  });
  size_t kept = order.size();
  if (options.topK > 0 && static_cast<size_t>(options.topK) < kept) {
    kept = static_cast<size_t>(options.topK);
    total = 0; // what is left out has no share in the mass
    for (size_t i = 0; i < kept; ++i)
      total += logits[static_cast<size_t>(order[i])];
  }
  double mass = 0;
  size_t count = 0;
  // The likeliest has the value 1 here.
  while (count < kept &&
         (count == 0 || (mass < options.topP * total &&
                         logits[static_cast<size_t>(order[count])] >= options.minP)))
    mass += logits[static_cast<size_t>(order[count++])];
  double at = rng.uniform() * mass;
  for (size_t i = 0; i < count; ++i)
    if ((at -= logits[static_cast<size_t>(order[i])]) < 0)
      return order[i];
  return order[count - 1];
}

} // namespace hybrid::rt
