//===- Sampler.h - drawing a token from logits -------------------------------===//
#pragma once
#include "training/Rng.h"
#include <cstdint>
#include <span>

namespace hybrid::rt {

struct SamplerOptions {
  double temperature = 1; // 0: the likeliest token
  int64_t topK = 0;       // 0: all
  double topP = 1;        // the smallest set of likeliest tokens with this much probability
  double minP = 0;        // tokens with at least this share of the likeliest one's probability
  double repetitionPenalty = 1; // above 1: tokens that were there become less likely
};

/// Divides positive logits of tokens in `seen` by the penalty and multiplies negative ones (Keskar
/// et al. 2019, section 4.1), each token once.
void penaliseRepetition(std::span<double> logits, std::span<const int32_t> seen, double penalty);

/// The natural logarithm of a token's probability by the logits as they are.
double logProbability(std::span<const double> logits, int32_t token);

/// A token; the logits are used as scratch. Ties go to the smaller token, so equal inputs give
/// equal text.
int32_t sampleToken(std::span<double> logits, const SamplerOptions &options, Rng &rng);

} // namespace hybrid::rt
