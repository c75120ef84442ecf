//===- Task.h - synthetic tasks, generated on the fly -----------------------===//
//
// A task makes instances (inputs, targets) of one fixed length. Instance i of a split is a pure
// function of (seed, split, i): no files, no order, any number of workers. Position t of the
// model's output is scored against targets[t]; nobody shifts again. Positions with target
// ignoredTarget are not scored.
//
// Two conventions differ in MAD's tasks. `paper` is what appendix B.1 of the MAD paper says: the
// targets of recall are the values of keys that were shown before, while training as well; the map
// from keys to values is a shuffle; noise is single tokens between pairs; selective copying has an
// insert token for each answer. `mad-lab` is the public code: the targets of a training instance
// of recall are the whole sequence shifted by one, values are drawn with replacement, noise
// replaces whole pairs, answers stand behind one copy token, and the few fuzzy test instances that
// cannot be answered are kept. docs/book/tasks.md lists them. All other tasks are the same in both.
//
// Inputs and targets are words of 32 bits: ids of tokens. A task of numbers has inputNumbers()
// numbers at each position instead and asks for a number: its words are the bits of floats.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hybrid::rt {

inline constexpr int32_t ignoredTarget = -100;
/// Seed of data sets where none is given: the one the MAD suite uses.
inline constexpr uint64_t defaultDataSeed = 12345;

enum class Split : uint8_t { Train, Test };
enum class Convention : uint8_t { Paper, MadLab };

std::string_view nameOf(Split split);           // "train", "test"
std::string_view nameOf(Convention convention); // "paper", "mad-lab"

inline int32_t wordOf(float number) { return std::bit_cast<int32_t>(number); }
inline float numberOf(int32_t word) { return std::bit_cast<float>(word); }

struct Instance;

class Task {
public:
  using Settings = std::vector<std::pair<std::string, std::string>>;

  virtual ~Task() = default;
  const std::string &name() const { return taskName; }
  /// All parameters with the values in force.
  const Settings &settings() const { return taskSettings; }
  /// "in-context-recall:vocab=16,length=128,...": creates the same task again.
  std::string spec() const;

  /// Token ids are 0 .. vocabulary()-1, special tokens included; 0 in a task of numbers.
  virtual int64_t vocabulary() const = 0;
  /// Positions of an instance, what the model is compiled for.
  virtual int64_t positions() const = 0;
  /// Whether a model must have exactly positions(): padding behind an instance would change what
  /// is asked, as where the last position has to tell everything.
  virtual bool takesNoPadding() const { return false; }
  /// Numbers that are the input at each position; 0: a token is.
  virtual int64_t inputNumbers() const { return 0; }
  /// Words of inputs and targets at each position. A target of numbers is the number and its
  /// weight, 0 where nothing is asked.
  int64_t inputWords() const { return std::max<int64_t>(1, inputNumbers()); }
  int64_t targetWords() const { return inputNumbers() > 0 ? 2 : 1; }
  /// Writes instance `index`; the spans have positions() times inputWords() and targetWords()
  /// elements.
  void generate(uint64_t seed, Split split, uint64_t index, std::span<int32_t> inputs,
                std::span<int32_t> targets) const;
  /// Answers that are legal at a scored position, equally likely to who knows nothing.
  virtual int64_t answers() const { return vocabulary(); }
  /// Accuracy of guessing among them.
  virtual double chanceAccuracy() const {
    return 1 / static_cast<double>(std::max<int64_t>(1, answers()));
  }
  /// Training instances of an epoch, where no size of the set is given: MAD's training set.
  virtual uint64_t epochExamples() const { return 12800; }
  /// Mean squared error, over what it asks, of the best there is for an instance of numbers: least
  /// squares on what was shown before.
  virtual double referenceLoss(uint64_t seed, Split split, uint64_t index) const { return 0; }
  /// A token for people: "k3" a key, "v9" a value, "c5" content, "~17" noise, "_" padding or a
  /// blank, "=>" a prefix or whatever else asks for an answer.
  virtual std::string spell(int32_t token) const = 0;

protected:
  Task(std::string name, Settings settings)
      : taskName(std::move(name)), taskSettings(std::move(settings)) {}

private:
  /// Writes the instance; no target is scored yet.
  virtual void draw(Instance &instance) const = 0;

  std::string taskName;
  Settings taskSettings;
};

/// Creates a task from `NAME` or `NAME:key=value,...`. Errors name the task, the key and what is
/// legal.
Result<std::unique_ptr<Task>> createTask(std::string_view spec,
                                         Convention convention = Convention::Paper);

/// Names of all tasks, in the order they are shown.
std::vector<std::string> taskNames();

} // namespace hybrid::rt
