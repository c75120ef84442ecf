//===- KeyValues.h - ids of keys and values, and which are targets ----------===//
//
// What the tasks about key-value maps share: content ids start at 0 and are split in halves, keys
// below values (with an odd count there is one more value); special ids come behind them. And what
// the recall tasks share: which tokens of a sequence are targets.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/tasks/Parameters.h"
#include "training/tasks/Task.h"

namespace hybrid::rt {

struct KeyValueIds {
  int64_t content = 0;

  int64_t keys() const { return content / 2; }
  int64_t values() const { return content - keys(); }
  int64_t firstValue() const { return keys(); }
  /// "k3" or "v9"; empty for an id behind the content.
  std::string spell(int32_t token) const;
};

/// What is a target of a training instance of the recall tasks: every token, every value (also when
/// its key is new), or what a test instance asks.
enum class TrainTargets : uint8_t { All, Values, Recall };

/// The parameter train_targets=all|values|recall; its default is `recall` in the paper's convention
/// and `all` in the public code's.
TrainTargets trainTargetsOf(TaskParameters &parameters, Convention convention);

/// The parameter train_targets=all|answer of the tasks of the Hyena paper's code: whether training
/// instances ask every next token, as there (the default), or what test instances ask.
bool asksWholeSequence(TaskParameters &parameters);

/// Which tokens of one recall instance are targets. A test instance asks values of keys that were
/// shown before; with a single query, the last value alone.
class RecallScoring {
public:
  RecallScoring(Split split, TrainTargets targets, bool multiQuery)
      : all(split == Split::Train && targets == TrainTargets::All),
        firstValues(split == Split::Train && targets == TrainTargets::Values),
        multiQuery(multiQuery) {}

  /// Keys, noise, prefixes, padding.
  bool other() const { return all; }
  /// A value whose key was or was not shown before.
  bool value(bool known) const { return all || firstValues || (known && multiQuery); }
  /// The value of the last key of a sequence.
  bool answer() const { return true; }

private:
  bool all, firstValues, multiQuery;
};

} // namespace hybrid::rt
