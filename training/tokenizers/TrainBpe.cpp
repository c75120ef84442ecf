//===- TrainBpe.cpp - learning a byte-level BPE from text -------------------===//
//
// The most frequent pair of neighbours within words becomes a token, again and again (Sennrich et
// al. 2016). Counts are kept up to date by visiting only the words that have the merged pair.
//
//===----------------------------------------------------------------------===//
#include "training/tokenizers/TrainBpe.h"
#include "training/tokenizers/BpeDocument.h"
#include "training/tokenizers/ByteAlphabet.h"
#include "training/tokenizers/PreTokenizer.h"
#include "training/tokenizers/Regex.h"
#include "training/tokenizers/Utf8.h"
#include "training/tokenizers/Vocabulary.h"
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <queue>
#include <unordered_set>

namespace hybrid::rt {

struct BpeTrainer::Splitter {
  Regex regex;
};

BpeTrainer::~BpeTrainer() = default;

Result<std::unique_ptr<BpeTrainer>> BpeTrainer::create(const TrainBpeOptions &options) {
  if (options.splitting != "gpt2" && options.splitting != "llama3")
    return Error{
        fmt::format("text is split as gpt2 or llama3 does, not as '{}'", options.splitting)};
  auto least = static_cast<int64_t>(256 + options.special.size());
  if (options.vocabulary < least || options.vocabulary > Vocabulary::greatestId)
    return Error{fmt::format("a vocabulary of {} is not possible: 256 bytes and {} special tokens "
                             "need {}, and at most {} can be had",
                             options.vocabulary, options.special.size(), least,
                             Vocabulary::greatestId)};
  Result<Regex> regex = Regex::compile(options.splitting == "gpt2" ? gpt2Pattern : llama3Pattern);
  if (!regex)
    return regex.error();
  std::unique_ptr<BpeTrainer> trainer(new BpeTrainer);
  trainer->options = options;
  trainer->splitter = std::make_unique<Splitter>(Splitter{std::move(*regex)});
  return trainer;
}

Result<void> BpeTrainer::add(std::string_view text) {
  Regex::Finder finder(splitter->regex, text);
  for (Regex::Match match; finder.next(match);)
    ++words[std::string(text.substr(match.begin, match.end - match.begin))];
  if (!finder.fault().empty())
    return Error{finder.fault()};
  return {};
}

namespace {

using Pair = std::pair<uint32_t, uint32_t>;

struct Word {
  std::vector<uint32_t> symbols;
  int64_t times;
};

struct Candidate {
  int64_t times;
  Pair pair;
  bool operator<(const Candidate &other) const { // the least of the queue
    return times != other.times ? times < other.times : pair > other.pair;
  }
};

struct PairHash {
  size_t operator()(const Pair &pair) const {
    return (uint64_t{pair.first} << 32 | pair.second) * 0x9E3779B97F4A7C15u >> 16;
  }
};

/// What is known of a pair: how often it occurs, and in which words it may.
struct Occurrence {
  int64_t times = 0;
  std::vector<uint32_t> words;
};

class Merger {
public:
  /// `special` of the tokens are no text, whatever they spell.
  Merger(std::vector<Word> words, std::vector<std::string> &tokens, size_t special, int64_t least)
      : words(std::move(words)), tokens(tokens), least(least),
        special(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(special)) {
    for (uint32_t i = 0; i < this->words.size(); ++i)
      for (size_t k = 0; k + 1 < this->words[i].symbols.size(); ++k)
        count({this->words[i].symbols[k], this->words[i].symbols[k + 1]}, i, this->words[i].times);
    for (const auto &[pair, occurrence] : pairs)
      queue.push({occurrence.times, pair});
  }

  /// The next merge, made in every word; false when there is none.
  bool step(Pair &merged) {
    while (!queue.empty()) {
      Candidate best = queue.top();
      queue.pop();
      auto found = pairs.find(best.pair);
      if (found == pairs.end() || found->second.times != best.times) {
        if (found != pairs.end() && found->second.times > 0)
          queue.push({found->second.times, best.pair}); // it has become rarer meanwhile
        continue;
      }
      if (best.times < least)
        return false;
      if (special.contains(tokens[best.pair.first] + tokens[best.pair.second]))
        continue;
      merged = best.pair;
      merge(best.pair, std::move(found->second.words));
      return true;
    }
    return false;
  }

private:
  void count(Pair pair, uint32_t word, int64_t times) {
    Occurrence &occurrence = pairs[pair];
    occurrence.times += times;
    if (times > 0 && (occurrence.words.empty() || occurrence.words.back() != word))
      occurrence.words.push_back(word);
  }

  /// The token that a pair makes: two pairs can make the same text.
  uint32_t tokenOf(Pair pair) {
    std::string text = tokens[pair.first] + tokens[pair.second];
    auto [found, isNew] = known.try_emplace(text, static_cast<uint32_t>(tokens.size()));
    if (isNew)
      tokens.push_back(std::move(text));
    return found->second;
  }

  void merge(Pair pair, std::vector<uint32_t> places) {
    uint32_t made = tokenOf(pair);
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    std::vector<Pair> grown;
    for (uint32_t i : places) {
      std::vector<uint32_t> &symbols = words[i].symbols;
      int64_t times = words[i].times;
      size_t kept = 0;
      for (size_t k = 0; k < symbols.size(); ++k) {
        if (k + 1 == symbols.size() || symbols[k] != pair.first || symbols[k + 1] != pair.second) {
          symbols[kept++] = symbols[k];
          continue;
        }
        if (kept > 0) {
          count({symbols[kept - 1], pair.first}, i, -times);
          count({symbols[kept - 1], made}, i, times);
          grown.emplace_back(symbols[kept - 1], made);
        }
        if (k + 2 < symbols.size()) {
          count({pair.second, symbols[k + 2]}, i, -times);
          count({made, symbols[k + 2]}, i, times);
          grown.emplace_back(made, symbols[k + 2]);
        }
        symbols[kept++] = made;
        ++k;
      }
      symbols.resize(kept);
    }
    pairs.erase(pair);
    std::sort(grown.begin(), grown.end());
    grown.erase(std::unique(grown.begin(), grown.end()), grown.end());
    for (Pair next : grown)
      if (auto found = pairs.find(next); found != pairs.end() && found->second.times > 0)
        queue.push({found->second.times, next});
  }

  std::vector<Word> words;
  std::vector<std::string> &tokens;
  int64_t least;
  std::unordered_set<std::string> special;
  std::unordered_map<Pair, Occurrence, PairHash> pairs;
  std::unordered_map<std::string, uint32_t> known;
  std::priority_queue<Candidate> queue;
};

} // namespace

Result<std::string> BpeTrainer::train() const {
  // Numbers: special tokens, the bytes in the order of their characters, then the merges.
  std::vector<std::string> tokens = options.special;
  std::vector<uint32_t> characters;
  for (int byte = 0; byte < 256; ++byte)
    characters.push_back(byteCharacter(static_cast<uint8_t>(byte)));
  std::sort(characters.begin(), characters.end());
  std::vector<uint32_t> tokenOfByte(256);
  for (uint32_t character : characters) {
    std::string text = utf8::encoded(character);
    tokenOfByte[static_cast<uint8_t>((*bytesOfCharacters(text))[0])] =
        static_cast<uint32_t>(tokens.size());
    tokens.push_back(text);
  }
  for (const std::string &special : options.special)
    if (std::count(tokens.begin(), tokens.end(), special) > 1 || special.empty())
      return Error{fmt::format("the special token '{}' is empty, twice there or a byte", special)};
  std::vector<Word> list;
  list.reserve(words.size());
  // The order of the words does not show in the result: sums and ties do not depend on it.
  for (const auto &[text, times] : words) {
    Word word{{}, static_cast<int64_t>(times)};
    for (char c : text)
      word.symbols.push_back(tokenOfByte[static_cast<uint8_t>(c)]);
    list.push_back(std::move(word));
  }
  BpeDocument bpe{nlohmann::ordered_json::object(), nlohmann::ordered_json::array(), {}};
  bpe.splitsAsLlama3 = options.splitting == "llama3";
  Merger merger(std::move(list), tokens, options.special.size(),
                static_cast<int64_t>(options.least));
  for (Pair pair; static_cast<int64_t>(tokens.size()) < options.vocabulary && merger.step(pair);)
    bpe.merges.push_back({tokens[pair.first], tokens[pair.second]});
  // Not by operator[], which looks through all before.
  auto &vocabulary = bpe.vocabulary.get_ref<nlohmann::ordered_json::object_t &>();
  for (size_t id = 0; id < tokens.size(); ++id)
    vocabulary.emplace_back(tokens[id], id);
  for (size_t id = 0; id < options.special.size(); ++id)
    bpe.special.emplace_back(id, tokens[id]);
  return tokenizerDocument(std::move(bpe))
             .dump(1, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

} // namespace hybrid::rt
