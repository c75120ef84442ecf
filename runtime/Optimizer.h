//===- Optimizer.h - the update of a training step ----------------------------===//
#pragma once
#include "runtime/Session.h"
#include <span>

namespace hybrid::rt {

/// What program `update` takes: AdamW and the clipping of gradients.
struct Hyper {
  double learningRate = 0, weightDecay = 0, beta1 = 0.9, beta2 = 0.98, epsilon = 1e-8, clip = 0;
  int64_t step = 1; // from 1: for the bias corrections
};

/// That there is a program `update`, and of the kind this version runs.
Result<void> checkUpdateProgram(const Session &session);
/// Its input `hyper`.
void writeHyper(std::span<double> values, const Hyper &hyper);
/// One update from the gradients that the session holds. Returns their norm before clipping.
Result<double> updateParameters(Session &session, const Hyper &hyper);

} // namespace hybrid::rt
