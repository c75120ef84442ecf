//===- Depo.cpp - successors in a cycle of words -----------------------------===//
//
// Knowledge that is looked up several times over (Allen-Zhu 2025, "Physics of language models: part
// 4.1", task Depo; in the form of its generator): words in a cycle, of which each pair of
// neighbours is told once, in any order; then questions for what stands k places behind a word. In
// training n words have the chance 1 / (n + sqrt(nodes)) and k is 1 to `hops`; in tests there are
// `nodes` words and k is a power of two. Words end with a letter of a second alphabet, so that they
// can be told apart. Ids: letters, last letters, a sign for each k, begin, the question, padding.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/Depo.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/Instance.h"
#include "training/tasks/SequenceWriter.h"
#include <bit>
#include <cmath>
#include <numeric>
#include <set>

namespace hybrid::rt {
namespace {

using Word = std::vector<int32_t>;

struct DepoConfig {
  int64_t nodes = 32, hops = 4, questions = 10, letters = 50, shortest = 1, longest = 2;
  int64_t vocab = 0, length = 0;

  int32_t id(int64_t value) const { return static_cast<int32_t>(value); }
  int32_t hop(int64_t k) const { return id(2 * letters + k - 1); }
  int32_t begin() const { return id(2 * letters + hops); }
  int32_t question() const { return begin() + 1; }
  int32_t padding() const { return begin() + 2; }
  /// Words that there are, as far as `enough`.
  int64_t words(int64_t enough) const {
    int64_t all = 0, ofSize = 1;
    for (int64_t size = 1; size <= longest && all < enough; ++size) {
      ofSize = std::min(enough, ofSize * letters);
      all += size < shortest ? 0 : ofSize;
    }
    return all;
  }
};

constexpr int64_t leastNodes = 3;

class Depo final : public ConfiguredTask<DepoConfig> {
public:
  Depo(std::string name, Settings settings, const DepoConfig &config)
      : ConfiguredTask(std::move(name), std::move(settings), config) {
    // Whole numbers, so that a difference in the last bit of sqrt() changes no instance.
    const double root = std::sqrt(static_cast<double>(config.nodes));
    for (int64_t n = leastNodes; n <= config.nodes; ++n)
      chances.push_back(
          static_cast<uint64_t>(std::llround(0x1p32 / (static_cast<double>(n) + root))));
    total = std::accumulate(chances.begin(), chances.end(), uint64_t{0});
  }

  int64_t answers() const override { return config.letters * (config.longest > 1 ? 2 : 1); }
  void draw(Instance &instance) const override {
    auto &[seed, split, rng, inputs, targets] = instance;
    const bool train = split == Split::Train;
    const auto nodes = static_cast<size_t>(train ? drawNodes(rng) : config.nodes);
    const std::vector<Word> cycle = drawWords(rng, nodes);
    const auto shuffled = [&] {
      const auto count = static_cast<int64_t>(nodes);
      return drawDistinct(rng, 0, count, count);
    };
    const auto word = [&](int64_t number) -> const Word & {
      return cycle[static_cast<size_t>(number) % nodes];
    };

    SequenceWriter sequence(inputs, targets);
    int64_t emitted = 0;
    auto emit = [&](int32_t token, bool scored) {
      sequence.emit(token, scored);
      ++emitted;
    };
    auto emitWord = [&](const Word &letters, bool scored) {
      for (int32_t letter : letters)
        emit(letter, scored);
    };
    emit(config.begin(), false);
    for (int32_t from : shuffled()) {
      emitWord(word(from), false);
      emitWord(word(from + 1), false);
    }
    std::vector<int32_t> asked = shuffled();
    asked.resize(std::min(nodes, static_cast<size_t>(config.questions)));
    for (int32_t from : asked) {
      const int64_t k = train ? drawToken(rng, 1, config.hops) : drawPower(rng);
      emit(config.hop(k), false);
      emitWord(word(from), false);
      emit(config.question(), false);
      emitWord(word(from + k), true);
    }
    while (emitted <= config.length)
      emit(config.padding(), false);
  }
  std::string spell(int32_t token) const override {
    if (token < config.letters)
      return fmt::format("c{}", token);
    if (token < 2 * config.letters)
      return fmt::format("c{}.", token - config.letters);
    if (token < config.begin())
      return fmt::format("n{}", token - 2 * config.letters + 1);
    if (token == config.question())
      return "=>";
    return token == config.padding() ? "_" : "^";
  }

private:
  int64_t drawNodes(Rng &rng) const {
    uint64_t number = rng.below(total);
    size_t i = 0;
    while (number >= chances[i])
      number -= chances[i++];
    return leastNodes + static_cast<int64_t>(i);
  }
  int64_t drawPower(Rng &rng) const {
    return int64_t{1} << rng.below(
               static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(config.hops))));
  }
  std::vector<Word> drawWords(Rng &rng, size_t count) const {
    std::vector<Word> words;
    std::set<Word> known;
    while (words.size() < count) {
      Word word(static_cast<size_t>(
          drawToken(rng, config.shortest, config.longest - config.shortest + 1)));
      for (int32_t &letter : word)
        letter = drawToken(rng, 0, config.letters);
      word.back() += config.id(config.letters);
      if (known.insert(word).second)
        words.push_back(std::move(word));
    }
    return words;
  }

  std::vector<uint64_t> chances; // of leastNodes words and more
  uint64_t total = 0;
};

} // namespace

Result<std::unique_ptr<Task>> createDepo(TaskParameters &parameters, Convention) {
  DepoConfig config;
  config.nodes = parameters.integer("nodes", config.nodes, leastNodes, 1 << 20);
  config.hops = parameters.integer("hops", config.hops, 1, 1 << 20);
  config.questions = parameters.integer("questions", config.questions, 1, 1 << 20);
  config.letters = parameters.integer("letters", config.letters, 2, 1 << 20);
  config.shortest = parameters.integer("shortest", config.shortest, 1, 64);
  config.longest = parameters.integer("longest", std::max(config.longest, config.shortest), 1, 64);
  if (config.shortest > config.longest)
    parameters.refuse(
        fmt::format("shortest={} is more than longest={}", config.shortest, config.longest));
  else if (config.words(2 * config.nodes) < 2 * config.nodes) // else drawing them would take long
    parameters.refuse(fmt::format("letters={}, shortest={} and longest={} make {} words, fewer "
                                  "than twice nodes={}",
                                  config.letters, config.shortest, config.longest,
                                  config.words(2 * config.nodes), config.nodes));
  config.vocab = 2 * config.letters + config.hops + 3;
  config.length = 2 * config.nodes * config.longest +
                  std::min(config.nodes, config.questions) * 2 * (config.longest + 1);
  return finishTask<Depo>(parameters, config);
}

} // namespace hybrid::rt
