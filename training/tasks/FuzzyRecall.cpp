//===- FuzzyRecall.cpp - in-context recall of tuples ------------------------===//
//
// MAD's fuzzy in-context recall (Poli et al. 2024, section 3.1 and appendix B): as in-context
// recall, but keys and values are tuples of distinct tokens, up to k_motif and v_motif of them. A
// tuple is a key as a whole: (0), (0 3) and (3 0) have values of their own. Keys of test instances
// are all of k_motif tokens. Content ids are split in halves, keys below values; then the pad,
// which fills the left end up to `length`; the copy prefix of the single-query form is the top id.
//
// The pair that is asked for at the end is drawn first and planted at the first boundary behind a
// random place. In the public code it happens that no such boundary comes (2.3 % of the test
// instances at length 128): then the answer cannot be known. Here it is planted before
// the first pair that might be the last, unless always_planted=false asks for the code's behaviour,
// as the convention of the code does.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/FuzzyRecall.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/Instance.h"
#include "training/tasks/KeyValues.h"
#include "training/tasks/SequenceWriter.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace hybrid::rt {
namespace {

using Tuple = std::vector<int32_t>;

struct FuzzyRecallConfig {
  int64_t vocab = 16, length = 128, longestKey = 3, longestValue = 3;
  bool multiQuery = true, alwaysPlanted = true;
  TrainTargets trainTargets = TrainTargets::Values;

  int64_t content() const { return vocab - (multiQuery ? 1 : 2); }
  KeyValueIds ids() const { return {content()}; }
  auto pad() const { return static_cast<int32_t>(content()); }
};

class FuzzyRecall final : public ConfiguredTask<FuzzyRecallConfig> {
public:
  using ConfiguredTask::ConfiguredTask;

  int64_t answers() const override { return config.ids().values(); }
  void draw(Instance &instance) const override;
  std::string spell(int32_t token) const override {
    if (token < config.content())
      return config.ids().spell(token);
    return token == config.pad() ? "_" : "=>";
  }
};

/// A tuple of distinct tokens, every ordered choice equally likely.
Tuple drawTuple(Rng &rng, int64_t first, int64_t count, int64_t size) {
  Tuple tuple;
  while (std::ssize(tuple) < size) {
    int32_t token = drawToken(rng, first, count);
    if (std::find(tuple.begin(), tuple.end(), token) == tuple.end())
      tuple.push_back(token);
  }
  return tuple;
}

struct Pair {
  const Tuple *key, *value;
  bool known; // the key was shown before
};

void FuzzyRecall::draw(Instance &instance) const {
  auto &[seed, split, rng, inputs, targets] = instance;
  KeyValueIds ids = config.ids();
  auto keySize = [&] {
    return split == Split::Test ? config.longestKey : int64_t{drawToken(rng, 1, config.longestKey)};
  };
  auto valueSize = [&] { return int64_t{drawToken(rng, 1, config.longestValue)}; };

  int64_t probeKeySize = keySize(), probeValueSize = valueSize();
  const Tuple probe = drawTuple(rng, 0, ids.keys(), probeKeySize);
  std::map<Tuple, Tuple> valueOf;
  valueOf[probe] = drawTuple(rng, ids.firstValue(), ids.values(), probeValueSize);
  int64_t probeSize = probeKeySize + probeValueSize;
  int64_t plantFrom = drawToken(rng, 0, config.length - 2 * probeSize);
  int64_t end = config.length - probeSize - (config.longestKey + config.longestValue);

  // How much padding the left end needs is known only once all pairs are drawn.
  std::vector<Pair> pairs;
  bool planted = false;
  int64_t size = 0;
  while (size < end) {
    int64_t keyTokens = keySize(), valueTokens = valueSize();
    // A key that was shown before keeps its value, which may be longer than what was drawn.
    bool last = config.alwaysPlanted && size + keyTokens + config.longestValue >= end;
    if (!planted && (size >= plantFrom || last)) {
      pairs.push_back({&valueOf.find(probe)->first, &valueOf[probe], false});
      planted = true;
      size += probeSize;
      continue;
    }
    Tuple key = drawTuple(rng, 0, ids.keys(), keyTokens);
    auto [entry, fresh] = valueOf.try_emplace(std::move(key));
    if (fresh)
      entry->second = drawTuple(rng, ids.firstValue(), ids.values(), valueTokens);
    bool isProbe = entry->first == probe;
    pairs.push_back({&entry->first, &entry->second, isProbe ? planted : !fresh});
    planted |= isProbe;
    size += std::ssize(entry->first) + std::ssize(entry->second);
  }

  SequenceWriter sequence(inputs, targets);
  RecallScoring scoring(split, config.trainTargets, config.multiQuery);
  for (int64_t pads = config.length + 1 - size - probeSize - (config.multiQuery ? 0 : 1); pads > 0;
       --pads)
    sequence.emit(config.pad(), scoring.other());
  for (const Pair &pair : pairs) {
    for (int32_t token : *pair.key)
      sequence.emit(token, scoring.other());
    for (int32_t token : *pair.value)
      sequence.emit(token, scoring.value(pair.known));
  }
  if (!config.multiQuery)
    sequence.emit(static_cast<int32_t>(config.vocab - 1), scoring.other());
  for (int32_t token : probe)
    sequence.emit(token, scoring.other());
  for (int32_t token : valueOf[probe])
    sequence.emit(token, scoring.answer());
}

} // namespace

Result<std::unique_ptr<Task>> createFuzzyInContextRecall(TaskParameters &parameters,
                                                         Convention convention) {
  // Tuples are short: they are drawn token by token, again where one came twice.
  constexpr int64_t longest = 1024;
  FuzzyRecallConfig config;
  config.vocab = parameters.integer("vocab", config.vocab, 3, int64_t{1} << 30);
  config.length = parameters.integer("length", config.length, 5, int64_t{1} << 24);
  config.longestKey = parameters.integer("k_motif", config.longestKey, 1, longest);
  config.longestValue = parameters.integer("v_motif", config.longestValue, 1, longest);
  config.multiQuery = parameters.boolean("multi_query", config.multiQuery);
  config.alwaysPlanted = parameters.boolean("always_planted", convention == Convention::Paper);
  config.trainTargets = trainTargetsOf(parameters, convention);

  int64_t pair = config.longestKey + config.longestValue;
  if (config.length <= 2 * pair)
    parameters.refuse(fmt::format("length={} has no room for a pair and its probe of up to {} "
                                  "tokens each; k_motif={} and v_motif={} need length >= {}",
                                  config.length, pair, config.longestKey, config.longestValue,
                                  2 * pair + 1));
  KeyValueIds ids = config.ids();
  if (ids.keys() < config.longestKey || ids.values() < config.longestValue)
    parameters.refuse(fmt::format(
        "vocab={} leaves {} keys and {} values beside the pad{}; tuples of distinct tokens need at "
        "least k_motif={} and v_motif={}",
        config.vocab, ids.keys(), ids.values(), config.multiQuery ? "" : " and the copy prefix",
        config.longestKey, config.longestValue));
  return finishTask<FuzzyRecall>(parameters, config);
}

} // namespace hybrid::rt
