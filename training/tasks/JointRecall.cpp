//===- JointRecall.cpp - values of keys that depend on a context -------------===//
//
// Joint recall (after Zhan et al. 2025, "Overcoming long-context limitations of state-space models
// via context-dependent sparse attention"; the form of instances is our choice): each of `contexts`
// contexts gives the same `keys` keys values of its own, in any order; then every context with
// every key, once each in any order, where the value is the target at the key's place and is never
// an input again. A key alone tells nothing: the two must be looked up together. Ids: contexts,
// keys and values, a third of `vocab` each.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/JointRecall.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/Instance.h"

namespace hybrid::rt {
namespace {

struct JointRecallConfig {
  int64_t vocab = 96, contexts = 4, keys = 4, length = 0;

  int64_t third() const { return vocab / 3; }
};

class JointRecall final : public ConfiguredTask<JointRecallConfig> {
public:
  using ConfiguredTask::ConfiguredTask;

  int64_t answers() const override { return config.vocab - 2 * config.third(); }
  void draw(Instance &instance) const override;
  std::string spell(int32_t token) const override {
    const int64_t kind = token / config.third();
    return fmt::format("{}{}", kind == 0 ? 'c' : kind == 1 ? 'k' : 'v', token);
  }
};

void JointRecall::draw(Instance &instance) const {
  auto &[seed, split, rng, inputs, targets] = instance;
  const std::vector<int32_t> contexts = drawDistinct(rng, 0, config.third(), config.contexts),
                             keys = drawDistinct(rng, config.third(), config.third(), config.keys);
  std::vector<int32_t> values(contexts.size() * keys.size()); // of context and key
  size_t at = 0;
  for (size_t context = 0; context < contexts.size(); ++context) {
    inputs[at++] = contexts[context];
    for (int32_t key : drawDistinct(rng, 0, config.keys, config.keys)) {
      int32_t &value = values[context * keys.size() + static_cast<size_t>(key)];
      value = drawToken(rng, 2 * config.third(), answers());
      inputs[at++] = keys[static_cast<size_t>(key)];
      inputs[at++] = value;
    }
  }
  const auto pairs = static_cast<int64_t>(values.size());
  for (int32_t pair : drawDistinct(rng, 0, pairs, pairs)) {
    const auto index = static_cast<size_t>(pair);
    inputs[at++] = contexts[index / keys.size()];
    targets[at] = values[index];
    inputs[at++] = keys[index % keys.size()];
  }
}

} // namespace

Result<std::unique_ptr<Task>> createJointRecall(TaskParameters &parameters, Convention) {
  JointRecallConfig config;
  config.vocab = parameters.integer("vocab", config.vocab, 6, 1 << 24);
  config.contexts = parameters.integer("contexts", config.contexts, 1, 4096);
  config.keys = parameters.integer("keys", config.keys, 1, 4096);
  if (const int64_t most = std::max(config.contexts, config.keys); config.third() < most)
    parameters.refuse(fmt::format("vocab={} has {} contexts and as many keys, fewer than {}",
                                  config.vocab, config.third(), most));
  config.length = config.contexts * (1 + 2 * config.keys) + 2 * config.contexts * config.keys;
  return finishTask<JointRecall>(parameters, config);
}

} // namespace hybrid::rt
