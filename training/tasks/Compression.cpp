//===- Compression.cpp - a sequence in one position -------------------------===//
//
// MAD's compression (Poli et al. 2024, section 3.1 and appendix B): random content that ends with
// the compression token, and all of it, that token included, is to be told again. The task means
// something only to a model that decodes from the last position alone: the layer auto_encoder of
// std.heads. A model that sees each input at its own output just copies. Ids: content from 0, the
// compression token vocab-1.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/Compression.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/Instance.h"
#include <algorithm>

namespace hybrid::rt {
namespace {

class Compression final : public ConfiguredTask<VocabularyAndLength> {
public:
  using ConfiguredTask::ConfiguredTask;

  bool takesNoPadding() const override { return true; }
  int64_t answers() const override { return config.vocab - 1; }
  /// The last position is always the same.
  double chanceAccuracy() const override {
    const auto length = static_cast<double>(config.length);
    return ((length - 1) * Task::chanceAccuracy() + 1) / length;
  }
  void draw(Instance &instance) const override {
    auto &[seed, split, rng, inputs, targets] = instance;
    for (int32_t &token : inputs.first(inputs.size() - 1))
      token = drawToken(rng, 0, config.vocab - 1);
    inputs.back() = static_cast<int32_t>(config.vocab - 1);
    std::copy(inputs.begin(), inputs.end(), targets.begin());
  }
};

} // namespace

Result<std::unique_ptr<Task>> createCompression(TaskParameters &parameters, Convention) {
  int64_t vocab = parameters.integer("vocab", 16, 2, int64_t{1} << 30);
  int64_t length = parameters.integer("length", 32, 2, int64_t{1} << 24);
  return finishTask<Compression>(parameters, VocabularyAndLength{vocab, length});
}

} // namespace hybrid::rt
