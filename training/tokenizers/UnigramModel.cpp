//===- UnigramModel.cpp - the likeliest way to write a piece ----------------===//
//
// Every token has a logarithmic probability; the tokens whose sum is greatest are chosen by
// Viterbi's algorithm (Kudo 2018). A character that is no token costs ten more than the rarest one.
//
//===----------------------------------------------------------------------===//
#include "training/tokenizers/Model.h"
#include "training/tokenizers/Utf8.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

constexpr double unknownPenalty = 10;
constexpr size_t longestToken = 1024; // bytes

class Unigram final : public TokenModel {
public:
  explicit Unigram(const JsonNode &node);
  bool encode(std::string_view piece, std::vector<int32_t> &ids, std::string &fault) const override;

private:
  void append(std::string_view part, std::vector<int32_t> &ids) const;

  std::vector<double> scores;
  size_t longest = 0; // bytes of a token
  double least = INFINITY;
  int32_t unknown = -1;
  bool fallsBackToBytes;
  std::vector<int32_t> bytes;
};

Unigram::Unigram(const JsonNode &node) : fallsBackToBytes(node.boolean("byte_fallback", false)) {
  node.allowOnly({"type", "unk_id", "vocab", "byte_fallback"});
  const nlohmann::json &list = node["vocab"].json();
  if (!list.is_array() || list.size() > Vocabulary::greatestId) {
    node.note("vocab", "must be a list of tokens with their scores");
    return;
  }
  tokens.reserve(list.size());
  for (const nlohmann::json &entry : list) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number() ||
        entry[0].get_ref<const std::string &>().size() > longestToken) {
      node.note("vocab", fmt::format("entry {} must be a token of at most {} bytes and its score",
                                     scores.size(), longestToken));
      return;
    }
    const auto &token = entry[0].get_ref<const std::string &>();
    tokens.add(token, static_cast<uint32_t>(scores.size()));
    scores.push_back(entry[1].get<double>());
    longest = std::max(longest, token.size());
    least = std::min(least, scores.back());
  }
  if (!node["unk_id"].isNull())
    unknown = static_cast<int32_t>(node.count("unk_id", std::max<size_t>(1, scores.size()) - 1));
  bytes = byteTokens(tokens);
}

void Unigram::append(std::string_view part, std::vector<int32_t> &ids) const {
  if (int32_t id = tokens.find(part); id >= 0)
    return ids.push_back(id);
  bool inBytes = fallsBackToBytes && std::all_of(part.begin(), part.end(), [&](char c) {
                   return bytes[static_cast<uint8_t>(c)] >= 0;
                 });
  if (!inBytes)
    return ids.push_back(unknown);
  for (char c : part)
    ids.push_back(bytes[static_cast<uint8_t>(c)]);
}

bool Unigram::encode(std::string_view piece, std::vector<int32_t> &ids, std::string &fault) const {
  constexpr size_t nowhere = ~size_t{0};
  struct Best {
    double score = 0;
    size_t begin = nowhere;
    int32_t id = 0;
  };
  std::vector<Best> best(piece.size() + 1); // of what ends there
  auto offer = [&](size_t begin, size_t end, double score, int32_t id) {
    double sum = best[begin].score + score;
    if (best[end].begin == nowhere || sum > best[end].score)
      best[end] = {sum, begin, id};
  };
  for (size_t begin = 0; begin < piece.size();) {
    size_t one = begin + utf8::at(piece, begin).bytes;
    bool hasOne = false;
    for (size_t end = one; end - begin <= longest;) {
      if (int32_t id = tokens.find(piece.substr(begin, end - begin)); id >= 0) {
        offer(begin, end, scores[static_cast<size_t>(id)], id);
        hasOne |= end == one;
      }
      if (end == piece.size())
        break;
      end += utf8::at(piece, end).bytes;
    }
    if (!hasOne) {
      if (unknown < 0) {
        fault = fmt::format("'{}' is no token, and the model has no unk_id",
                            piece.substr(begin, one - begin));
        return false;
      }
      offer(begin, one, least - unknownPenalty, unknown);
    }
    begin = one;
  }
  // From the end; unknown characters side by side are one.
  std::vector<std::pair<size_t, size_t>> parts;
  bool lastIsUnknown = false;
  for (size_t end = piece.size(); end > 0; end = best[end].begin) {
    bool isUnknown = unknown >= 0 && best[end].id == unknown;
    if (isUnknown && lastIsUnknown)
      parts.back().first = best[end].begin;
    else
      parts.emplace_back(best[end].begin, end);
    lastIsUnknown = isUnknown;
  }
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    append(piece.substr(part->first, part->second - part->first), ids);
  return true;
}

} // namespace

std::unique_ptr<TokenModel> readUnigram(const JsonNode &node) {
  return std::make_unique<Unigram>(node);
}

} // namespace hybrid::rt
