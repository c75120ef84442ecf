//===- SelectiveCopying.cpp - copy the content, skip the blanks -------------===//
//
// MAD's selective copying (Poli et al. 2024, section 3.1 and appendix B.1.4): N content tokens,
// then N insert tokens, which mark where the answers go, in the content's order, at any 2N of the
// `length` places, blanks everywhere else (layout=paper). Ids: content from 0, the blank vocab-2,
// the insert token vocab-1.
//
// The public code has another layout (layout=mad-lab): N content tokens, each behind a random
// number of blanks; then the copy token and N blanks, at which the content is to be written. Every
// blank before the copy token falls before one of the content tokens, all equally likely, so a gap
// is Binomial(length - 2N - 1, 1/N) and content stands right before the copy token, which has the
// top id. In both the answers are never inputs.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/SelectiveCopying.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/Instance.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

struct SelectiveCopyingConfig {
  int64_t vocab = 16, length = 256, count = 16;
  bool inserts = true; // layout=paper

  int64_t content() const { return vocab - 2; }
  auto blank() const { return static_cast<int32_t>(vocab - 2); }
  auto copy() const { return static_cast<int32_t>(vocab - 1); }
};

class SelectiveCopying final : public ConfiguredTask<SelectiveCopyingConfig> {
public:
  using ConfiguredTask::ConfiguredTask;

  int64_t answers() const override { return config.content(); }
  void draw(Instance &instance) const override;
  std::string spell(int32_t token) const override {
    if (token < config.content())
      return fmt::format("c{}", token);
    return token == config.blank() ? "_" : "=>";
  }

private:
  void interleave(Rng &rng, std::span<int32_t> inputs, std::span<int32_t> targets) const;
};

/// The layout of the paper, over inputs that are all blank.
void SelectiveCopying::interleave(Rng &rng, std::span<int32_t> inputs,
                                  std::span<int32_t> targets) const {
  std::vector<int32_t> contents;
  auto left = static_cast<size_t>(2 * config.count);
  for (size_t t = 0; left > 0; ++t) {
    if (rng.below(inputs.size() - t) >= left)
      continue;
    if (std::ssize(contents) < config.count) {
      inputs[t] = drawToken(rng, 0, config.content());
      contents.push_back(inputs[t]);
    } else {
      inputs[t] = config.copy();
      targets[t] = contents[contents.size() - left];
    }
    --left;
  }
}

void SelectiveCopying::draw(Instance &instance) const {
  auto &[seed, split, rng, inputs, targets] = instance;
  auto count = static_cast<size_t>(config.count);
  std::fill(inputs.begin(), inputs.end(), config.blank());
  if (config.inserts)
    return interleave(rng, inputs, targets);

  std::vector<size_t> gaps(count);
  for (size_t blanks = inputs.size() - 2 * count - 1; blanks > 0; --blanks)
    ++gaps[rng.below(count)];
  size_t at = 0, answer = inputs.size() - count;
  for (size_t gap : gaps) {
    at += gap;
    int32_t token = drawToken(rng, 0, config.content());
    inputs[at++] = token;
    targets[answer++] = token;
  }
  inputs[at] = config.copy();
}

} // namespace

Result<std::unique_ptr<Task>> createSelectiveCopying(TaskParameters &parameters,
                                                     Convention convention) {
  SelectiveCopyingConfig config;
  config.vocab = parameters.integer("vocab", config.vocab, 3, int64_t{1} << 30);
  config.length = parameters.integer("length", config.length, 4, int64_t{1} << 24);
  config.count = parameters.integer("tokens_to_copy", config.count, 1, int64_t{1} << 23);
  const std::array<std::string, 2> layouts = {"mad-lab", "paper"};
  config.inserts = parameters.choice("layout", std::string(nameOf(convention)), layouts) == "paper";
  if (config.inserts && config.length <= 2 * config.count)
    parameters.refuse(fmt::format("length={} is too short for tokens_to_copy={}: the tokens, an "
                                  "insert token each and a blank need length >= {}",
                                  config.length, config.count, 2 * config.count + 1));
  else if (!config.inserts && config.length < 2 * config.count + 2)
    parameters.refuse(fmt::format(
        "length={} is too short for tokens_to_copy={}: the tokens, the copy token and as many "
        "answers need length >= {}, a blank among them included",
        config.length, config.count, 2 * config.count + 2));
  return finishTask<SelectiveCopying>(parameters, config);
}

} // namespace hybrid::rt
