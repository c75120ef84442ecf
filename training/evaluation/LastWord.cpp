//===- LastWord.cpp - the last word of a passage -----------------------------------===//
//
// LAMBADA's measure (Paperno et al. 2016): is the likeliest text behind a passage its last word? As
// language models are scored on it, each token of the word must be the likeliest. With a filter of
// stop words (Radford et al. 2019, section 3.3) the likeliest word that is none of them counts
// beside it.
//
//===----------------------------------------------------------------------===//
#include "training/evaluation/SuiteTask.h"
#include "training/evaluation/WordSearch.h"
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

class LastWord final : public SuiteTask {
public:
  std::shared_ptr<const std::vector<Record>> records;
  size_t count = 0;
  TextTemplate text;
  std::optional<WordSearch> search;

  size_t examples() const override { return count; }

  Result<std::vector<Share>> score(TextScorer &scorer, size_t example) override {
    const Record &record = (*records)[example];
    auto passage = text.fill(record);
    if (!passage)
      return passage.error();
    passage->erase(passage->find_last_not_of(" \t\r\n") + 1);
    const size_t space = passage->find_last_of(" \t\r\n");
    if (space == std::string::npos || passage->find_first_not_of(" \t\r\n") > space)
      return Error{fmt::format("{}: the text must have two words or more", record.place)};
    const std::string context = passage->substr(0, space), last = passage->substr(space);
    auto found = scorer.follow(context, std::span(&last, 1));
    if (!found)
      return Error{fmt::format("{}: {}", record.place, found.error().message)};
    std::vector<Share> shares{{"accuracy", found->front().isGreedy ? 1. : 0.},
                              {"loss_per_word", -found->front().logProbability}};
    if (search) {
      std::string word = last.substr(1);
      while (!word.empty() && !WordSearch::isLetter(word.back()))
        word.pop_back();
      auto guess = search->next(scorer, context);
      if (!guess)
        return guess.error();
      shares.push_back({"accuracy_without_stop_words", *guess == word && !word.empty() ? 1. : 0.});
    }
    return shares;
  }

  void derive(std::vector<Figure> &figures) const override {
    addExponential(figures, "loss_per_word", "perplexity_per_word");
  }
};

/// True: English ones; or a list.
std::set<std::string> stopWordsOf(const JsonNode &node) {
  const JsonNode field = node["stop_words"];
  if (field.json().is_boolean())
    return field.json().get<bool>() ? englishStopWords() : std::set<std::string>();
  const std::vector<std::string> words = stringsOf(node, "stop_words", {});
  return {words.begin(), words.end()};
}

} // namespace

Result<std::unique_ptr<SuiteTask>> openLastWord(const JsonNode &node, SuiteData &data,
                                                const TextScorer &scorer) {
  node.allowOnly({"name", "kind", "data", "limit", "text", "stop_words", "beam"});
  auto task = std::make_unique<LastWord>();
  task->text = templateOf(node, "text", "{text}");
  std::set<std::string> stopWords = stopWordsOf(node);
  const uint64_t beam = node.count("beam", 256, 8);
  if (beam < 1)
    node.note("beam", "must be at least 1");
  auto records = data.records(node.string("data"));
  if (!node.isGood())
    return std::unique_ptr<SuiteTask>();
  if (!records)
    return records.error();
  task->records = *records;
  task->count = limitOf(node, task->records->size());
  if (!stopWords.empty()) {
    auto search = WordSearch::create(scorer.tokenizer(), std::move(stopWords), beam);
    if (!search)
      return search.error();
    task->search.emplace(std::move(*search));
  }
  return std::unique_ptr<SuiteTask>(std::move(task));
}

} // namespace hybrid::rt
