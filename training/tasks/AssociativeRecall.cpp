//===- AssociativeRecall.cpp - the Hyena paper's recall of one pair ---------===//
//
// Associative recall as Hyena was tested with it (Poli et al. 2023, section 4.1 and appendix A.1,
// in the layout of its public code): `length` tokens of key-value pairs under a random map, new in
// every sequence; then the copy prefix and a key that was shown, whose value is to be said. With
// num_keys=m a key is m tokens. Training instances ask every next token (train_targets=answer: the
// last one alone), test instances the last. MAD's in-context recall asks many keys on the way and
// has no prefix. Ids: 0 is never used, keys from 1, values behind them, the prefix vocab-1.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/AssociativeRecall.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/Instance.h"
#include "training/tasks/KeyValues.h"
#include "training/tasks/SequenceWriter.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace hybrid::rt {
namespace {

struct AssociativeRecallConfig {
  int64_t vocab = 10, length = 1024, keyTokens = 1;
  bool asksAll = true;

  int64_t content() const { return vocab - 2; }
  int64_t keys() const { return content() / 2; }
  int64_t values() const { return content() - keys(); }
  int64_t firstValue() const { return 1 + keys(); }
};

class AssociativeRecall final : public ConfiguredTask<AssociativeRecallConfig> {
public:
  using ConfiguredTask::ConfiguredTask;

  int64_t positions() const override { return config.length + 1 + config.keyTokens; }
  int64_t answers() const override { return config.values(); }
  uint64_t epochExamples() const override { return 2000; }
  void draw(Instance &instance) const override;
  std::string spell(int32_t token) const override {
    if (token == 0)
      return "_";
    if (token == config.vocab - 1)
      return "=>";
    return fmt::format("{}{}", token < config.firstValue() ? 'k' : 'v', token);
  }
};

void AssociativeRecall::draw(Instance &instance) const {
  using Key = std::vector<int32_t>;
  auto &[seed, split, rng, inputs, targets] = instance;
  SequenceWriter sequence(inputs, targets);
  bool asked = config.asksAll && split == Split::Train;
  std::map<Key, int32_t> valueOf;
  std::vector<const Key *> shown;
  Key key(static_cast<size_t>(config.keyTokens));
  for (int64_t pair = config.length / (config.keyTokens + 1); pair > 0; --pair) {
    for (int32_t &token : key) {
      token = drawToken(rng, 1, config.keys());
      sequence.emit(token, asked);
    }
    auto [entry, fresh] = valueOf.try_emplace(key);
    if (fresh) {
      entry->second = drawToken(rng, config.firstValue(), config.values());
      shown.push_back(&entry->first);
    }
    sequence.emit(entry->second, asked);
  }
  const Key &probe = *shown[rng.below(shown.size())];
  sequence.emit(static_cast<int32_t>(config.vocab - 1), asked);
  for (int32_t token : probe)
    sequence.emit(token, asked);
  sequence.emit(valueOf[probe], true);
}

} // namespace

Result<std::unique_ptr<Task>> createAssociativeRecall(TaskParameters &parameters, Convention) {
  AssociativeRecallConfig config;
  config.vocab = parameters.integer("vocab", config.vocab, 4, int64_t{1} << 30);
  config.length = parameters.integer("length", config.length, 2, int64_t{1} << 24);
  config.keyTokens = parameters.integer("num_keys", config.keyTokens, 1, 1024);
  config.asksAll = asksWholeSequence(parameters);
  if (config.length % (config.keyTokens + 1) != 0)
    parameters.refuse(
        fmt::format("length must be a multiple of {}, it counts the tokens of pairs of a key of {} "
                    "and a value, not {}",
                    config.keyTokens + 1, config.keyTokens, config.length));
  return finishTask<AssociativeRecall>(parameters, config);
}

} // namespace hybrid::rt
