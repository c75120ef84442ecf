//===- Memorization.cpp - facts to be learned by heart ----------------------===//
//
// MAD's memorization (Poli et al. 2024, section 3.1 and appendix B): keys, each followed by the
// insert token, at which the key's value is to be written. Values are never inputs: the map from
// keys to values is one for all instances of both splits, a function of the data's seed alone, and
// must be held by the parameters. No two keys share a value. Content ids are split in halves, keys
// below values; the insert token is the top id.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/Memorization.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/Instance.h"
#include "training/tasks/KeyValues.h"
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

struct MemorizationConfig {
  int64_t vocab = 256, length = 32;

  KeyValueIds ids() const { return {vocab - 1}; }
  auto insert() const { return static_cast<int32_t>(vocab - 1); }
};

class Memorization final : public ConfiguredTask<MemorizationConfig> {
public:
  using ConfiguredTask::ConfiguredTask;

  /// Values that stand behind a key: there are no more of them than keys.
  int64_t answers() const override { return config.ids().keys(); }
  uint64_t epochExamples() const override { return 256; }
  void draw(Instance &instance) const override;
  std::string spell(int32_t token) const override {
    return token == config.insert() ? "=>" : config.ids().spell(token);
  }
};

void Memorization::draw(Instance &instance) const {
  auto &[seed, split, rng, inputs, targets] = instance;
  KeyValueIds ids = config.ids();
  uint64_t map = mixBits(mixBits(seed) ^ 0x66616374); // no stream of instances
  for (size_t t = 0; t < inputs.size(); t += 2) {
    int32_t key = drawToken(rng, 0, ids.keys());
    uint64_t value =
        permuted(static_cast<uint64_t>(key), static_cast<uint64_t>(ids.values()), map, 12);
    inputs[t] = key;
    inputs[t + 1] = config.insert();
    targets[t + 1] = static_cast<int32_t>(ids.firstValue() + static_cast<int64_t>(value));
  }
}

} // namespace

Result<std::unique_ptr<Task>> createMemorization(TaskParameters &parameters, Convention) {
  MemorizationConfig config;
  config.vocab = parameters.integer("vocab", config.vocab, 3, int64_t{1} << 30);
  config.length = parameters.integer("length", config.length, 2, int64_t{1} << 24);
  if (config.length % 2 != 0)
    parameters.refuse(fmt::format("length must be even, keys and insert tokens take turns, not {}",
                                  config.length));
  return finishTask<Memorization>(parameters, config);
}

} // namespace hybrid::rt
