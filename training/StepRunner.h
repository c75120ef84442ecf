//===- StepRunner.h - what the trainer needs of a compiled model -------------===//
//
// The few things a training loop does with a model: fill batches, take steps, evaluate, and carry
// state to and from a checkpoint. Session does them for an executable; the tests bring a model of
// two lines.
//
// A model may train several times at once: a replica is one of these trainings, with parameters,
// batches and learning rate of its own. Steps go in bursts: a burst is a number of steps, each with
// batches filled before, that are taken as one unit of work.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Examples.h"
#include "runtime/Executable.h"
#include "runtime/Optimizer.h"
#include "runtime/Result.h"
#include "runtime/ranks/Communicator.h"
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace hybrid::rt {

class Trace;

/// The outcome of a batch: mean loss over the scored positions, their number (or weight), hits.
struct BatchScore {
  double loss = 0, weight = 0, correct = 0;
};

/// The outcome of a whole step.
struct StepScore {
  BatchScore batch;
  double gradientNorm = 0; // before clipping
  bool isLeftOut = false;  // its update was judged away: nothing of the replica has changed
};

/// Memory for a batch, [batch, length] each, of a step [sequences of this rank, length], times the
/// words of a position where these are numbers.
struct BatchMemory {
  std::span<int32_t> tokens, targets;
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
  /// Those that train together with this process, each with a part of every batch; null: nobody.
  virtual Communicator *ranks() const { return nullptr; }
  /// Neighbours among them that have parts of each sequence, and see the same sequences.
  virtual int64_t sequenceParts() const { return 1; }
  /// Sequences of a step, of all ranks: batch(), or as many times it as there are batches to an
  /// update and ranks.
  virtual int64_t stepSequences() const { return batch(); }
  /// Last dimension of the logits; 0 when the model shows none.
  virtual int64_t vocabulary() const = 0;
  /// Tokens that the model has a place for; 0: any.
  virtual int64_t tokenIds() const { return 0; }
  /// Numbers that are the input at each position, [batch, length, inputNumbers]; 0: tokens are.
  /// Such a model predicts numbers: its targets are [batch, length, 2], numbers and weights.
  virtual int64_t inputNumbers() const { return 0; }
  virtual int64_t replicas() const { return 1; }
  /// Whether a batch has random numbers of its own.
  virtual bool drawsByBatch() const { return false; }
  /// Threads of the host that may work for it: filling batches, looking at logits.
  virtual int threads() const { return 1; }

  /// Draws the parameters; a seed a replica.
  virtual Result<void> initialize(std::span<const uint64_t> seeds) = 0;
  /// A replica that is not active is left out of bursts and evaluations: nothing of it changes, and
  /// its scores have no meaning. All are active at first.
  virtual Result<void> setActive(int64_t replica, bool active) = 0;

  /// Steps that a burst may have.
  virtual int64_t burstSteps() const { return 1; }
  /// Bursts that may be on their way while another is filled; 0: startBurst() comes back when the
  /// burst is done.
  virtual int burstsAhead() const { return 0; }
  /// A batch of the burst that is being filled; every one is to be filled anew for every burst.
  virtual BatchMemory trainingBatch(int64_t replica, int64_t step) = 0;
  /// Holds training sets where steps are taken, in place of those before; false: it does not, and
  /// batches are to be filled.
  virtual Result<bool> holdExamples(const Examples &examples) { return false; }
  /// In place of filling trainingBatch(): the batch is the examples number `first`, first + 1, ...
  /// of the sets held; false: none are.
  virtual bool takeExamples(int64_t replica, int64_t step, uint64_t first) { return false; }
  virtual void setHyper(int64_t replica, int64_t step, const Hyper &hyper) = 0;
  /// Starts the burst as it has been filled. An update whose gradients are no numbers changes
  /// nothing; where steps are not taken ahead, one whose loss is no number does not either.
  virtual Result<void> startBurst(int64_t steps) = 0;
  /// Waits for the oldest burst on its way: scores [steps, replicas].
  virtual Result<std::vector<StepScore>> finishBurst() = 0;

  virtual BatchMemory evaluationBatch(int64_t replica) = 0;
  /// Of all active replicas; a score a replica.
  virtual Result<std::vector<BatchScore>> evaluate() = 0;
  /// Chooses the replica that logits() tells of. All ranks with parts of a sequence do it together.
  virtual Result<void> showLogits(int64_t replica) = 0;
  /// Logits of one position of the last evaluate(), as doubles. `row` is row * length + position.
  /// Several threads may ask at once.
  virtual void logits(int64_t row, std::span<double> out) const = 0;

  /// Which operation of the training program first makes a value that is not finite on the batch
  /// that `fill` writes to trainingBatch(replica, 0); empty if none. No burst may be on its way.
  virtual std::string findNonFinite(int64_t replica, const std::function<void()> &fill) = 0;

  /// Keeps an average of the replica's parameters from now on, at first the parameters. Fails where
  /// none can be kept.
  virtual Result<void> keepAverage(int64_t replica) {
    return Error{"this runner keeps no average of parameters"};
  }
  /// average = (1 - weight) average + weight parameters.
  virtual void average(int64_t replica, double weight) {}

  /// Parameters under their own names, then moments as moment1.NAME, moment2.NAME, then the average
  /// where it is kept as ema.NAME.
  virtual std::vector<StateTensor> state(int64_t replica = 0) = 0;
  /// Replaces one of them, by its place in state(); `bytes` has its size.
  virtual Result<void> setState(int64_t replica, size_t index,
                                std::span<const std::byte> bytes) = 0;
  /// Where ranks have shares of the state: all of them together, before the first one's state() is
  /// read. Its memory is given up by releaseState(), as is that of others behind setState().
  virtual Result<void> collectState() { return {}; }
  virtual void releaseState() {}
  virtual uint64_t fingerprint() const = 0;
  virtual uint64_t parameterCount() const = 0; // of a replica
  /// Memory of the device that steps and evaluations have taken, of all replicas.
  virtual uint64_t allocatedBytes() const { return 0; }

  /// Whether a replica's update is to be made, by its step's loss and norm of gradients, which are
  /// numbers.
  using Judge = std::function<bool(int64_t replica, const StepScore &score)>;
  /// Asks before every update from now on; bursts have one step then, and are looked at.
  virtual Result<void> askBeforeUpdates(Judge judge) {
    return Error{"this runner's updates cannot be left out"};
  }

  /// Measures the operations of the steps that a trace wants; bursts have one step then. The trace
  /// outlives the runner.
  virtual Result<void> measureInto(Trace &trace) {
    return Error{"this runner's steps cannot be measured"};
  }
};

} // namespace hybrid::rt
