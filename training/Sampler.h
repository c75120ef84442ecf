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
};

/// A token; the logits are used as scratch. Ties go to the smaller token, so equal inputs give
/// equal text.
int32_t sampleToken(std::span<double> logits, const SamplerOptions &options, Rng &rng);

} // namespace hybrid::rt
