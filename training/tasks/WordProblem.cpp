//===- WordProblem.cpp - products of elements of a group --------------------===//
//
// The word problem of a group (Merrill et al. 2024, "The illusion of state in state-space models",
// section 5; in the form of Siems et al. 2025, "DeltaProduct"): elements x_1 .. x_k, each uniform,
// and at every position the product x_1 .. x_t. Groups are permutations of n points (Sn), the even
// ones (An) and rotations of n points (Zn). What solves S5 keeps a state that no fixed number of
// layers without one can compute. Training instances have `train_length` elements, and padding
// behind them; test instances have `length`. Ids: the elements in the order of their permutations,
// the identity first; behind them seven special ones, of which padding is the first and the second
// begins a sequence. With `swaps` the elements are those that exchange two points, and no others.
//
//===----------------------------------------------------------------------===//
#include "training/tasks/WordProblem.h"
#include "training/tasks/ConfiguredTask.h"
#include "training/tasks/Instance.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace hybrid::rt {
namespace {

using Permutation = std::vector<uint8_t>;
constexpr int64_t specialIds = 7;

/// Permutations in lexicographic order, so that the identity is the first.
struct Group {
  std::vector<Permutation> elements;
  std::vector<int32_t> products; // [a][b]: first a, then b
  std::vector<int32_t> swaps;

  auto size() const { return static_cast<int64_t>(elements.size()); }
  int32_t product(int32_t a, int32_t b) const {
    return products[static_cast<size_t>(a) * elements.size() + static_cast<size_t>(b)];
  }
};

int inversions(const Permutation &permutation) {
  int count = 0;
  for (size_t i = 0; i < permutation.size(); ++i)
    for (size_t j = i + 1; j < permutation.size(); ++j)
      count += permutation[i] > permutation[j];
  return count;
}

Group makeGroup(char kind, size_t points) {
  Group group;
  Permutation next(points);
  std::iota(next.begin(), next.end(), uint8_t{0});
  if (kind == 'Z')
    for (size_t shift = 0; shift < points; ++shift) {
      group.elements.push_back(next);
      std::rotate(next.begin(), next.begin() + 1, next.end());
    }
  else
    do
      if (kind == 'S' || inversions(next) % 2 == 0)
        group.elements.push_back(next);
    while (std::next_permutation(next.begin(), next.end()));
  std::map<Permutation, int32_t> numbers;
  for (const Permutation &element : group.elements) {
    const auto number = static_cast<int32_t>(numbers.size());
    numbers[element] = number;
    size_t moved = 0;
    for (size_t i = 0; i < points; ++i)
      moved += element[i] != i;
    if (moved == 2)
      group.swaps.push_back(number);
  }
  Permutation both(points);
  for (const Permutation &a : group.elements)
    for (const Permutation &b : group.elements) {
      for (size_t i = 0; i < points; ++i)
        both[i] = b[a[i]];
      group.products.push_back(numbers[both]);
    }
  return group;
}

struct WordProblemConfig {
  int64_t vocab = 0, length = 128, trainLength = 128;
  bool swaps = false;
  std::shared_ptr<const Group> group;
};

class WordProblem final : public ConfiguredTask<WordProblemConfig> {
public:
  using ConfiguredTask::ConfiguredTask;

  int64_t positions() const override { return config.length + 1; }
  int64_t answers() const override { return config.group->size(); }
  uint64_t epochExamples() const override { return 99000; }
  void draw(Instance &instance) const override {
    auto &[seed, split, rng, inputs, targets] = instance;
    const Group &group = *config.group;
    const auto padding = static_cast<int32_t>(group.size()), begin = padding + 1;
    std::fill(inputs.begin(), inputs.end(), padding);
    inputs[0] = targets[0] = begin;
    const int64_t length = split == Split::Train ? config.trainLength : config.length;
    int32_t product = 0;
    for (size_t t = 1; t <= static_cast<size_t>(length); ++t) {
      const int32_t element = config.swaps ? group.swaps[rng.below(group.swaps.size())]
                                           : drawToken(rng, 0, group.size());
      product = group.product(product, element);
      inputs[t] = element;
      targets[t] = product;
    }
  }
  std::string spell(int32_t token) const override {
    if (token >= config.group->size())
      return token == config.group->size() ? "_" : "=>";
    std::string text = "c";
    for (uint8_t point : config.group->elements[static_cast<size_t>(token)])
      text += fmt::format("{}", point);
    return text;
  }
};

} // namespace

Result<std::unique_ptr<Task>> createWordProblem(TaskParameters &parameters, Convention) {
  static const std::vector<std::string> groups = {"S3", "S4", "S5", "A3", "A4", "A5", "Z2",
                                                  "Z3", "Z4", "Z5", "Z6", "Z7", "Z8"};
  WordProblemConfig config;
  const std::string name = parameters.choice("group", "S3", groups);
  config.length = parameters.integer("length", config.length, 1, int64_t{1} << 24);
  config.trainLength = parameters.integer(
      "train_length", std::min(config.trainLength, config.length), 1, int64_t{1} << 24);
  config.swaps = parameters.boolean("swaps", config.swaps);
  if (config.trainLength > config.length)
    parameters.refuse(fmt::format("train_length={} is more than the length={} of test instances",
                                  config.trainLength, config.length));
  size_t points = 3;
  std::from_chars(name.data() + 1, name.data() + name.size(), points);
  config.group = std::make_shared<const Group>(makeGroup(name[0], points));
  config.vocab = config.group->size() + specialIds;
  if (config.swaps && config.group->swaps.empty())
    parameters.refuse(fmt::format("swaps=true: no element of {} exchanges two points alone", name));
  return finishTask<WordProblem>(parameters, config);
}

} // namespace hybrid::rt
