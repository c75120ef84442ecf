//===- WarmStart.h - the parameters of another run to begin with --------------------===//
//
// Fine-tuning: the tensors of a checkpoint take the place of parameters that were drawn. A model
// that differs in its vocabulary, its head or its longest sequence has parameters that do not fit;
// which of them may differ is said by patterns of names, so that nothing is left out unseen.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "training/StepRunner.h"
#include <string>
#include <vector>

namespace hybrid::rt {

struct WarmStart {
  std::string path; // a checkpoint or parameters (.safetensors)
  /// Patterns (* and ?) of names: a parameter that the file lacks stays as it is drawn; of one of
  /// another size the part that both have is taken, counted from the first place of each dimension.
  /// A tensor of such a name that the model has no place for is passed over.
  std::vector<std::string> mayDiffer;
  std::string identity; // of the file's contents and the patterns: see identify()

  /// Fills in `identity`, by which a resumed run knows that it began as it says.
  Result<void> identify();
};

/// Fails where the file does not fit the runner's model: the error names what does not, and the
/// patterns that would let it.
Result<void> checkWarmStart(const WarmStart &from, StepRunner &runner, int64_t replica);

/// Puts the file's tensors in the place of a replica's parameters; what a run's checkpoint has
/// besides (moments, averages) is passed over. Returns a sentence for people. Fails as the check.
Result<std::string> startWarm(const WarmStart &from, StepRunner &runner, int64_t replica);

} // namespace hybrid::rt
