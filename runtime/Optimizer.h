//===- Optimizer.h - the update of a training step ----------------------------===//
#pragma once
#include "runtime/Session.h"

namespace hybrid::rt {

/// What program `update` takes: the rates, AdamW's numbers and the clipping of gradients.
struct Hyper {
  double learningRate = 0, weightDecay = 0, beta1 = 0.9, beta2 = 0.98, epsilon = 1e-8, clip = 0;
  int64_t step = 1; // from 1: for the bias corrections
};

/// That there is a program `update`, and of the kind this version runs.
Result<void> checkUpdateProgram(const Session &session);
/// Its inputs: `hyper` of AdamW, and `learning_rate`, `weight_decay`, `step` and `clip_norm`
/// (infinite: off) of programs of the model's. An executable has those that something takes.
void writeHyper(Session &session, const Hyper &hyper, int64_t replica = 0, int64_t step = 0);
/// One update from the gradients that the session holds. Returns their norm before clipping.
Result<double> updateParameters(Session &session, const Hyper &hyper);

} // namespace hybrid::rt
