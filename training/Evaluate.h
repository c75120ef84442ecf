//===- Evaluate.h - scoring a model on test instances ------------------------===//
//
// The loss is the mean over all scored positions of all instances, summed in double in the order of
// the instances, so it does not depend on the batch size the model was compiled for; nor does
// accuracy. `madAccuracy` is the number the public MAD code reports: per batch of 128 instances the
// mean over the classes that occur or were predicted, then the mean over batches.
// `sequenceAccuracy` is the share of instances all of whose scored positions are right.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/StepRunner.h"
#include "training/data/Source.h"
#include <functional>
#include <span>
#include <vector>

namespace hybrid::rt {

struct EvaluationScore {
  double loss = 0, accuracy = 0; // micro: over scored positions
  double madAccuracy = -1;       // below 0: not known, the model shows no logits
  double sequenceAccuracy = -1;  // the same
  double scored = 0;             // positions
  uint64_t examples = 0;
};

/// The row of a batch that an instance is written to, which may be shorter than the row.
struct BatchRow {
  BatchRow(const BatchMemory &memory, const StepRunner &runner, const Source &source, uint64_t row);
  /// Where the instance goes.
  std::span<int32_t> inputs() const;
  std::span<int32_t> targets() const;
  /// Lets nothing be asked behind `positions`.
  void padFrom(int64_t positions) const;

private:
  const Source &source;
  std::span<int32_t> wholeInputs, wholeTargets;
};

/// Threads worth waking for the rows of a batch.
int threadsForBatch(const StepRunner &runner);

/// Scores instances 0 .. count-1; 0 or too many: all there are (1280 of an endless task).
Result<EvaluationScore> evaluate(StepRunner &runner, const Source &source, uint64_t count);

/// The same for several replicas at once. Those that are not named must not be active.
struct EvaluationJob {
  int64_t replica = 0;
  const Source *source = nullptr;
  uint64_t count = 0;
};
/// `stop` is asked before each batch: when it says so, there are no scores.
Result<std::vector<EvaluationScore>> evaluate(StepRunner &runner,
                                              std::span<const EvaluationJob> jobs,
                                              const std::function<bool()> &stop = {});

/// To six decimals: the matrix library may sum in another order for another batch size, and what is
/// beyond is then the noise of f32 logits, not a property of the model.
double roundedLoss(double loss);

/// Instances evaluate() takes when asked for `count`.
uint64_t examplesFor(const Source &source, uint64_t count);

/// Per-class counts of one MAD batch and their macro accuracy.
class MacroAccuracy {
public:
  explicit MacroAccuracy(int64_t classes) : counts(static_cast<size_t>(classes)) {}
  void add(int32_t target, int32_t predicted);
  double value() const;
  void clear();

private:
  struct Counts {
    uint64_t hits = 0, targets = 0, predictions = 0;
  };
  std::vector<Counts> counts;
};

/// Whether the model can be run on this source: lengths and vocabularies. The error says what to
/// compile.
Result<void> checkFits(const StepRunner &runner, const Source &source);
/// That a model of so many classes and token ids has all of the data's; 0 of them: any.
Result<void> checkVocabulary(const Source &source, int64_t classes, int64_t tokenIds);

} // namespace hybrid::rt
