//===- Source.h - where training and test instances come from ---------------===//
//
// One view of tasks and data sets for the trainer. Everything is addressed by number, so that the
// position in the data is the step counter and nothing else needs saving.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/data/TextBytes.h"
#include "training/tasks/Task.h"
#include "training/tokenizers/Tokenizer.h"
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <span>

namespace hybrid::rt {

/// How a run goes through a finite training set: instance `number` of train() is example
/// shuffledExample(number, size, seed) (executable/Permutation.h).
struct ShuffledSet {
  uint64_t size = 0; // 0: there is no such set
  uint64_t seed = 0;
};

/// Several threads may ask for instances at once.
class Source {
public:
  virtual ~Source() = default;
  virtual int64_t vocabulary() const = 0;
  /// Positions of every instance.
  virtual int64_t positions() const = 0;
  /// Numbers that are the input at each position, 0: a token is; and the words that inputs and
  /// targets of a position are, as Task says.
  virtual int64_t inputNumbers() const { return 0; }
  int64_t inputWords() const { return std::max<int64_t>(1, inputNumbers()); }
  int64_t targetWords() const { return inputNumbers() > 0 ? 2 : 1; }
  /// Mean loss of the best there is on the first `count` test instances of numbers.
  virtual double referenceLoss(uint64_t count) const { return 0; }
  /// Whether the model must have exactly that many; otherwise instances are padded at their end.
  virtual bool takesNoPadding() const { return false; }
  /// Training instances of an epoch.
  virtual uint64_t epochExamples() const = 0;
  /// Test instances there are; 0: as many as one likes.
  virtual uint64_t testExamples() const = 0;
  /// What the tokens are; null: no text, or not known.
  virtual const Tokenizer *tokenizer() const { return nullptr; }
  /// Whether the target at each position is the next position's input.
  virtual bool predictsNext() const { return false; }
  /// Whether a token is a byte.
  bool isBytes() const { return tokenizer() && tokenizer()->isBytes(); }
  /// Training instance `number` = step * batch + row. Spans have positions() times the words of a
  /// position.
  virtual void train(uint64_t number, std::span<int32_t> inputs,
                     std::span<int32_t> targets) const = 0;
  /// The set that train() shuffles, where it does nothing else; sources that describe() themselves
  /// alike have the same one. And an example of it.
  virtual ShuffledSet shuffledSet() const { return {}; }
  virtual void example(uint64_t i, std::span<int32_t> inputs, std::span<int32_t> targets) const {}
  /// Test instance i when `count` are used in all.
  virtual void test(uint64_t i, uint64_t count, std::span<int32_t> inputs,
                    std::span<int32_t> targets) const = 0;
  /// What config.json says and a resumed run must agree with.
  virtual nlohmann::json describe() const = 0;
  /// The prompt of a short name for run folders: "in-context-recall", "kjv".
  virtual std::string shortName() const = 0;
  /// What targets are below: tokens, or classes where these are asked.
  virtual int64_t answers() const { return vocabulary(); }
  /// Bytes of text that a token of the test instances stands for, so that loss can be told in bits
  /// per byte; 0: it cannot.
  virtual double bytesPerToken() const { return isBytes() ? 1 : 0; }
  /// A loss in nats a token as bits a byte.
  double bitsPerByte(double loss) const { return loss / (std::numbers::ln2 * bytesPerToken()); }
};

struct TaskSourceOptions {
  uint64_t seed = 0;                   // of the run: which training instances, in which order
  uint64_t dataSeed = defaultDataSeed; // of the data: the test set is the same for every run
  uint64_t trainExamples = 0; // 0: fresh instances for ever; otherwise a set, shuffled each epoch
};
std::unique_ptr<Source> makeTaskSource(std::unique_ptr<Task> task, Convention convention,
                                       const TaskSourceOptions &options);

Result<std::unique_ptr<Source>> makeTextSource(const std::string &path, int64_t length,
                                               uint64_t seed, uint64_t dataSeed);

} // namespace hybrid::rt
