//===- MambaSelectiveCopying.cpp - copy tokens at random places -------------===//
//
// The Mamba paper's selective copying (Gu and Dao 2023, section 4.1.1 and appendix E.1; the layout
// of S4's copying data that it takes up): `length` tokens of which N, at places that are any subset
// equally likely, are content and all others noise; then N markers, at which the content is to be
// written in its order. Noise may follow the last content token, and there is no copy token: this
// is what sets it apart from MAD's selective copying. Ids: noise 0, content 1 .. vocab-2, the
// marker vocab-1.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/MambaSelectiveCopying.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/Instance.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

struct MambaSelectiveCopyingConfig {
  int64_t vocab = 16, length = 4096, count = 16;

  auto marker() const { return static_cast<int32_t>(vocab - 1); }
};

class MambaSelectiveCopying final : public ConfiguredTask<MambaSelectiveCopyingConfig> {
public:
  using ConfiguredTask::ConfiguredTask;

  int64_t positions() const override { return config.length + config.count; }
  /// A thousand of the paper's batches of 64, which it takes 400 000 of, all fresh.
  uint64_t epochExamples() const override { return 64000; }
  void draw(Instance &instance) const override;
  std::string spell(int32_t token) const override {
    if (token == 0)
      return "_";
    return token < config.marker() ? fmt::format("c{}", token) : "=>";
  }
};

void MambaSelectiveCopying::draw(Instance &instance) const {
  auto &[seed, split, rng, inputs, targets] = instance;
  auto length = static_cast<size_t>(config.length), count = static_cast<size_t>(config.count);
  std::fill(inputs.begin(), inputs.begin() + config.length, 0);
  std::fill(inputs.begin() + config.length, inputs.end(), config.marker());
  // From left to right, each place is chosen with the share of places still to be chosen: every
  // subset is equally likely.
  size_t written = 0;
  for (size_t t = 0; written < count; ++t)
    if (rng.below(length - t) < count - written) {
      inputs[t] = drawToken(rng, 1, config.vocab - 2);
      targets[length + written++] = inputs[t];
    }
}

} // namespace

Result<std::unique_ptr<Task>> createMambaSelectiveCopying(TaskParameters &parameters, Convention) {
  MambaSelectiveCopyingConfig config;
  config.vocab = parameters.integer("vocab", config.vocab, 3, int64_t{1} << 30);
  config.length = parameters.integer("length", config.length, 1, int64_t{1} << 24);
  config.count = parameters.integer("tokens_to_copy", config.count, 1, int64_t{1} << 23);
  if (config.count > config.length)
    parameters.refuse(fmt::format("length={} has no room for tokens_to_copy={}: it counts them and "
                                  "the noise between them",
                                  config.length, config.count));
  return finishTask<MambaSelectiveCopying>(parameters, config);
}

} // namespace hybrid::rt
