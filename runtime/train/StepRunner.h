//===- StepRunner.h - what the trainer needs of a compiled model -------------===//
//
// The few things a training loop does with a model: fill a batch, compute gradients, update,
// evaluate, and carry state to and from a checkpoint. Session does them for an executable; the
// tests bring a model of two lines.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Executable.h"
#include "runtime/Result.h"
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hybrid::rt {

/// The inputs of program `update`.
struct Hyper {
  double learningRate = 0, weightDecay = 0, beta1 = 0.9, beta2 = 0.98, epsilon = 1e-8, clip = 0;
  int64_t step = 1; // from 1: for the bias corrections
};

/// The outcome of a batch: mean loss over the scored positions, their number (or weight), hits.
struct BatchScore {
  double loss = 0, weight = 0, correct = 0;
};

/// The outcome of a whole step.
struct StepScore {
  BatchScore batch;
  double gradientNorm = 0; // before clipping
};

/// A tensor that a checkpoint holds.
struct StateTensor {
  std::string name;
  DType type = DType::F32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};

class StepRunner {
public:
  virtual ~StepRunner() = default;
  virtual int64_t batch() const = 0;
  virtual int64_t length() const = 0;
  /// Last dimension of the logits; 0 when the model shows none.
  virtual int64_t vocabulary() const = 0;

  virtual Result<void> initialize(uint64_t seed) = 0;
  /// Buffers of [batch, length], to be filled anew before every call of train() or evaluate().
  virtual std::span<int32_t> tokens(bool training) = 0;
  virtual std::span<int32_t> targets(bool training) = 0;
  virtual Result<BatchScore> train() = 0;
  /// Applies the gradients of the last train(); returns their norm before clipping.
  virtual Result<double> update(const Hyper &hyper) = 0;
  virtual Result<BatchScore> evaluate() = 0;

  /// Whole steps that may be on their way at once; 0: train() and update() do a step. A model that
  /// runs beside the host takes steps as one unit of work, and the next batch is filled meanwhile.
  virtual int stepsAhead() const { return 0; }
  /// Starts train() and update() on the batch as it is now; tokens() and targets() then are other
  /// memory. Whatever the loss is, the update follows.
  virtual Result<void> startStep(const Hyper &) { return Error{"steps are not taken as a whole"}; }
  /// Waits for the oldest step on its way.
  virtual Result<StepScore> finishStep() { return Error{"no step was started"}; }

  /// Logits of one position of the last evaluate(), as doubles. `row` is row * length + position.
  virtual void logits(int64_t row, std::span<double> out) const = 0;
  /// Which operation of the training program first makes a value that is not finite; empty if none.
  virtual std::string findNonFinite() = 0;

  /// Parameters under their own names, then moments as moment1.NAME, moment2.NAME.
  virtual std::vector<StateTensor> state() = 0;
  /// Replaces one of them, by its place in state(); `bytes` has its size.
  virtual Result<void> setState(size_t index, std::span<const std::byte> bytes) = 0;
  virtual uint64_t fingerprint() const = 0;
  virtual uint64_t parameterCount() const = 0;
};

} // namespace hybrid::rt
