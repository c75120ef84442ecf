//===- WordSearch.cpp - the likeliest next word -----------------------------------===//
#include "training/evaluation/WordSearch.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace hybrid::rt {

const std::set<std::string> &englishStopWords() {
  static const std::set<std::string> words{
      "a",      "an",      "the",    "this",  "that",   "these",  "those",  "i",    "me",
      "my",     "mine",    "we",     "us",    "our",    "ours",   "you",    "your", "yours",
      "he",     "him",     "his",    "she",   "her",    "hers",   "it",     "its",  "they",
      "them",   "their",   "theirs", "who",   "whom",   "whose",  "which",  "what", "as",
      "at",     "by",      "for",    "from",  "in",     "into",   "of",     "off",  "on",
      "onto",   "out",     "over",   "to",    "toward", "under",  "up",     "upon", "with",
      "within", "about",   "above",  "after", "before", "behind", "below",  "and",  "but",
      "or",     "nor",     "so",     "yet",   "if",     "than",   "then",   "when", "where",
      "while",  "because", "until",  "am",    "is",     "are",    "was",    "were", "be",
      "been",   "being",   "do",     "does",  "did",    "have",   "has",    "had",  "having",
      "can",    "could",   "may",    "might", "must",   "shall",  "should", "will", "would",
      "not",    "no",      "all",    "any",   "each",   "every",  "some",   "such", "just",
      "only",   "very",    "too",    "also",  "there",  "here",   "how",    "why",  "again",
      "more",   "most",    "other"};
  return words;
}

struct WordSearch::Beginning {
  std::vector<int32_t> tokens; // behind the context
  std::string text;            // a space and letters
  double logProbability = 0;
  NextToken::Place before; // of the last token
};

bool WordSearch::isLetter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte >= 0x80 || c == '\'' || c == '-';
}

Result<WordSearch> WordSearch::create(const Tokenizer &tokenizer, std::set<std::string> stopWords,
                                      size_t beam) {
  WordSearch search;
  search.stopWords = std::move(stopWords);
  search.beam = beam;
  std::vector<int32_t> one;
  if (auto done = tokenizer.encode("a", {false, false}, one); !done)
    return done.error();
  auto before = tokenizer.decode(one, {});
  if (!before)
    return before.error();
  one.push_back(0);
  for (int32_t id = 0; id < tokenizer.vocabulary(); ++id) {
    one.back() = id;
    auto text = tokenizer.decode(one, {false, false});
    if (!text)
      return text.error();
    search.texts.push_back(text->starts_with(*before) ? text->substr(before->size()) : "");
  }
  return search;
}

bool WordSearch::isStopWord(std::string word) const {
  for (char &c : word)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c + ('a' - 'A'));
  return stopWords.contains(word);
}

void WordSearch::extend(const Beginning &from, std::span<const double> logits,
                        std::vector<Beginning> &beginnings, Found &best) const {
  const double highest = *std::max_element(logits.begin(), logits.end());
  double sum = 0, ends = 0;
  for (double value : logits)
    sum += std::exp(value - highest);
  std::vector<std::pair<double, int32_t>> goOn; // likeliest first, of equals the smaller token
  for (size_t id = 0; id < texts.size(); ++id) {
    const std::string &text = texts[id];
    const double probability = std::exp(logits[id] - highest) / sum;
    const bool needsSpace = from.text.empty(), hasLetters = from.text.size() > 1;
    // No text, as of what ends all texts, is no letter.
    if (hasLetters && (text.empty() || !isLetter(text[0]))) {
      ends += probability;
      continue;
    }
    if (text.empty() || (text[0] == ' ') != needsSpace)
      continue;
    if (std::all_of(text.begin() + (needsSpace ? 1 : 0), text.end(), isLetter))
      goOn.emplace_back(-probability, static_cast<int32_t>(id));
  }
  if (ends > 0 && !isStopWord(from.text.substr(1)))
    if (const double all = from.logProbability + std::log(ends); all > best.logProbability)
      best = {from.text.substr(1), all};
  const size_t kept = std::min(beam, goOn.size());
  std::partial_sort(goOn.begin(), goOn.begin() + static_cast<ptrdiff_t>(kept), goOn.end());
  for (size_t i = 0; i < kept; ++i) {
    if (goOn[i].first == 0)
      break;
    Beginning longer{from.tokens,
                     from.text + texts[static_cast<size_t>(goOn[i].second)],
                     from.logProbability + std::log(-goOn[i].first),
                     {}};
    longer.tokens.push_back(goOn[i].second);
    beginnings.push_back(std::move(longer));
  }
}

Result<std::string> WordSearch::next(TextScorer &scorer, const std::string &context) const {
  constexpr size_t longest = 48; // tokens of a word
  auto prompt = scorer.encode(context);
  if (!prompt)
    return prompt.error();
  LanguageModel &model = scorer.fresh();
  std::vector<double> logits(static_cast<size_t>(model.vocabulary()));
  std::vector<Beginning> open(1);
  Found best{"", -std::numeric_limits<double>::infinity()};
  for (size_t size = 0; size <= longest && !open.empty(); ++size) {
    std::vector<Beginning> longer;
    for (Beginning &from : open) {
      std::vector<int32_t> tokens = *prompt;
      tokens.insert(tokens.end(), from.tokens.begin(), from.tokens.end());
      if (auto done = model.restore(from.before); !done)
        return done.error();
      if (auto done = model.expect(tokens, logits); !done)
        return done.error();
      auto place = model.save();
      if (!place)
        return place.error();
      const size_t first = longer.size();
      extend(from, logits, longer, best);
      for (size_t i = first; i < longer.size(); ++i)
        longer[i].before = *place;
    }
    std::stable_sort(longer.begin(), longer.end(), [](const Beginning &a, const Beginning &b) {
      return a.logProbability > b.logProbability;
    });
    longer.resize(std::min(longer.size(), beam));
    std::erase_if(longer, [&](const Beginning &each) { // it can only become less likely
      return each.logProbability <= best.logProbability;
    });
    open = std::move(longer);
  }
  return best.word;
}

} // namespace hybrid::rt
