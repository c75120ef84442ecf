//===- Needle.cpp - a fact hidden in a long text ------------------------------------===//
//
// A sentence with a number is put into real text, at a depth from 0 (its beginning) to 1 (its end),
// and the number asked for behind it. Examples are drawn by the seed alone: the text from somewhere
// in the data, the number at random.
//
//===----------------------------------------------------------------------===//
#include "training/Rng.h"
#include "training/evaluation/SuiteTask.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

constexpr uint64_t needleStream = 0x6e656564;

class Needle final : public SuiteTask {
public:
  std::string hay;
  std::vector<uint64_t> lengths;
  std::vector<double> depths;
  uint64_t count = 0, digits = 0, seed = 0; // `count` of each length and depth
  TextTemplate needle, question, answer;

  size_t examples() const override { return lengths.size() * depths.size() * count; }

  Result<std::vector<Share>> score(TextScorer &scorer, size_t example) override {
    const size_t cell = example / count;
    const uint64_t length = lengths[cell / depths.size()];
    const double depth = depths[cell % depths.size()];
    Rng rng(seed, needleStream, example);
    std::string number(1, static_cast<char>('1' + rng.below(9)));
    while (number.size() < digits)
      number += static_cast<char>('0' + rng.below(10));
    const Record facts{{{"number", number}}, "needle"};
    auto fact = needle.fill(facts), asked = question.fill(facts), wanted = answer.fill(facts);
    for (const auto *text : {&fact, &asked, &wanted})
      if (!*text)
        return text->error();
    auto around = scorer.encode(*fact + *asked + *wanted);
    if (!around)
      return around.error();
    if (around->size() >= length)
      return Error{fmt::format("needle, question and answer have {} tokens, and 'lengths' asks for "
                               "{} with the text around them",
                               around->size(), length)};
    auto text = textOf(scorer, length - around->size(), rng);
    if (!text)
      return text.error();
    auto at = static_cast<size_t>(std::llround(depth * static_cast<double>(text->size())));
    if (at < text->size()) // between two words
      at = std::min(text->rfind(' ', at) + 1, text->size());
    text->insert(at, *fact);
    auto found = scorer.follow(*text + *asked, std::span(&*wanted, 1));
    if (!found)
      return found.error();
    const double right = found->front().isGreedy ? 1 : 0;
    return std::vector<Share>{{"accuracy", right},
                              {"loss_per_answer", -found->front().logProbability},
                              {fmt::format("accuracy_length_{}", length), right},
                              {fmt::format("accuracy_length_{}_depth_{:g}", length, depth), right}};
  }

private:
  /// So many tokens of text from a place between two words.
  Result<std::string> textOf(const TextScorer &scorer, size_t tokens, Rng &rng) const {
    constexpr size_t mostBytes = 16; // of a token, on average
    const size_t bytes = std::min(hay.size(), tokens * mostBytes);
    size_t start = rng.below(hay.size() - std::min(hay.size() - 1, tokens));
    start = start ? hay.rfind(' ', start) + 1 : 0; // none before: npos + 1 is 0
    for (size_t taken = std::min(bytes, tokens * 2);; taken = std::min(bytes, taken * 2)) {
      auto encoded = scorer.encode(hay.substr(start, taken));
      if (!encoded)
        return encoded.error();
      if (encoded->size() >= tokens) {
        encoded->resize(tokens);
        return scorer.tokenizer().decode(*encoded, {false, true});
      }
      if (start + taken >= hay.size() && start > 0)
        start = hay.size() > start ? 0 : start; // too near to the end: from the beginning
      else if (taken >= bytes)
        return Error{fmt::format("'data' has no {} tokens of text in a row", tokens)};
    }
  }
};

std::vector<uint64_t> lengthsOf(const JsonNode &node) {
  std::vector<uint64_t> lengths;
  for (const JsonNode &each : node.elements("lengths")) {
    const nlohmann::json &value = each.json();
    if (value.is_number_unsigned() && value.get<uint64_t>() > 0 && value.get<uint64_t>() < 1 << 24)
      lengths.push_back(value.get<uint64_t>());
    else
      each.refuse("must be a number of tokens");
  }
  return lengths;
}

std::vector<double> depthsOf(const JsonNode &node) {
  std::vector<double> depths;
  for (const JsonNode &each : node.elements("depths")) {
    const nlohmann::json &value = each.json();
    if (value.is_number() && value.get<double>() >= 0 && value.get<double>() <= 1)
      depths.push_back(value.get<double>());
    else
      each.refuse("must be a number from 0 to 1");
  }
  return depths;
}

} // namespace

Result<std::unique_ptr<SuiteTask>> openNeedle(const JsonNode &node, SuiteData &data,
                                              const TextScorer &) {
  node.allowOnly({"name", "kind", "data", "text", "lengths", "depths", "count", "needle",
                  "question", "answer", "digits", "seed"});
  auto task = std::make_unique<Needle>();
  const TextTemplate text = templateOf(node, "text", "{text}");
  task->lengths = lengthsOf(node);
  task->depths = depthsOf(node);
  task->count = node.count("count", 1 << 20, 10);
  task->digits = node.count("digits", 18, 5);
  task->seed = node.count("seed", INT64_MAX, 0);
  task->needle = templateOf(node, "needle", "The magic number is {number}. ");
  task->question = templateOf(node, "question", " The magic number is");
  task->answer = templateOf(node, "answer", " {number}");
  if (task->digits < 1)
    node.note("digits", "must be at least 1");
  if (task->lengths.empty() || task->depths.empty() || !task->count)
    node.note(task->lengths.empty()  ? "lengths"
              : task->depths.empty() ? "depths"
                                     : "count",
              "must not be empty");
  auto records = data.records(node.string("data"));
  if (!node.isGood())
    return std::unique_ptr<SuiteTask>();
  if (!records)
    return records.error();
  for (const Record &record : **records) {
    auto filled = text.fill(record);
    if (!filled)
      return filled.error();
    task->hay += (task->hay.empty() ? "" : "\n\n") + *filled;
  }
  if (task->hay.empty())
    return Error{fmt::format("{}: 'data' has no text", node.place())};
  return std::unique_ptr<SuiteTask>(std::move(task));
}

} // namespace hybrid::rt
