//===- SequenceWriter.h - a sequence becomes inputs and shifted targets -----===//
#pragma once
#include "training/tasks/Task.h"
#include <span>

namespace hybrid::rt {

/// Takes the tokens s[0..n] of a teacher-forced instance in order: inputs = s[:-1], and s[1:] are
/// the targets where they are scored. Both spans have n elements.
class SequenceWriter {
public:
  SequenceWriter(std::span<int32_t> inputs, std::span<int32_t> targets)
      : inputs(inputs), targets(targets) {}

  void emit(int32_t token, bool scored) {
    if (at < inputs.size())
      inputs[at] = token;
    if (at > 0)
      targets[at - 1] = scored ? token : ignoredTarget;
    ++at;
  }

private:
  std::span<int32_t> inputs, targets;
  size_t at = 0;
};

} // namespace hybrid::rt
