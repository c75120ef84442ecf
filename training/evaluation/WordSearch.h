//===- WordSearch.h - the likeliest next word ------------------------------------===//
#pragma once
#include "training/evaluation/TextScorer.h"
#include <set>
#include <string>

namespace hybrid::rt {

/// English words that don't end a passage: articles, pronouns, prepositions, auxiliaries.
const std::set<std::string> &englishStopWords();

/// Searches a word, a space before it, that is no stop word. A beam of beginnings grows token by
/// token; a word's probability is that of its tokens and of something else than a letter behind
/// them, so that "the" does not count what becomes "then".
class WordSearch {
public:
  /// Stop words are in lower case; their case in a text does not matter.
  static Result<WordSearch> create(const Tokenizer &tokenizer, std::set<std::string> stopWords,
                                   size_t beam);
  /// The likeliest word found; empty: none.
  Result<std::string> next(TextScorer &scorer, const std::string &context) const;

  static bool isLetter(char c);

private:
  struct Beginning;
  struct Found {
    std::string word;
    double logProbability = 0;
  };
  bool isStopWord(std::string word) const;
  void extend(const Beginning &from, std::span<const double> logits,
              std::vector<Beginning> &beginnings, Found &best) const;

  std::vector<std::string> texts; // of all tokens, as they stand behind another
  std::set<std::string> stopWords;
  size_t beam = 0;
};

} // namespace hybrid::rt
