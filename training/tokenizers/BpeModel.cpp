//===- BpeModel.cpp - byte pair encoding ------------------------------------===//
//
// A piece starts as its characters; the neighbours whose pair stands first in the list of merges
// become one, until no pair is in the list (Sennrich et al. 2016). Most pieces of a text are whole
// tokens: those whose merging is known to end in themselves are answered by one look-up, so that
// nothing needs to be remembered between calls.
//
//===----------------------------------------------------------------------===//
#include "training/tokenizers/Model.h"
#include "training/tokenizers/Utf8.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <queue>

namespace hybrid::rt {
namespace {

/// Pairs of neighbours, each with its place in the list and what it becomes.
class MergeTable {
public:
  struct Merge {
    uint32_t rank = never, id = 0;
  };
  static constexpr uint32_t never = 0xFFFFFFFF;

  void reserve(size_t merges) {
    size_t size = 64;
    while (size < 2 * merges)
      size *= 2;
    slots.assign(size, {});
    for (shift = 64; size > 1; size /= 2)
      --shift;
  }
  /// The last word on a pair counts.
  void add(uint32_t left, uint32_t right, Merge merge) {
    Slot &slot = slots[slotOf(keyOf(left, right))];
    slot = {keyOf(left, right), merge};
  }
  Merge find(uint32_t left, uint32_t right) const {
    return slots[slotOf(keyOf(left, right))].merge;
  }

private:
  static constexpr uint64_t empty = ~uint64_t{0};
  struct Slot {
    uint64_t key = empty;
    Merge merge;
  };
  static uint64_t keyOf(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }
  size_t slotOf(uint64_t key) const {
    size_t slot = (key * 0x9E3779B97F4A7C15u) >> shift;
    while (slots[slot].key != key && slots[slot].key != empty)
      slot = (slot + 1) & (slots.size() - 1);
    return slot;
  }
  std::vector<Slot> slots = std::vector<Slot>(64);
  int shift = 58;
};

class Bpe final : public TokenModel {
public:
  explicit Bpe(const JsonNode &node);
  bool encode(std::string_view piece, std::vector<int32_t> &ids,
              std::string &fault) const override {
    int32_t id = tokens.find(piece);
    if (id >= 0 && (ignoresMerges || isWhole[static_cast<size_t>(id)])) {
      ids.push_back(id);
      return true;
    }
    return piece.size() <= longPiece || !isPlain ? merge(piece, ids, fault)
                                                 : mergeInParts(piece, ids, fault);
  }

private:
  static constexpr size_t longPiece = 48; // bytes

  void findJoints();
  void readMerges(const JsonNode &node);
  void addMerge(const JsonNode &node, uint32_t rank, std::string_view left, std::string_view right);
  bool merge(std::string_view piece, std::vector<int32_t> &ids, std::string &fault) const;
  bool mergeInParts(std::string_view piece, std::vector<int32_t> &ids, std::string &fault) const;
  bool appendCharacters(std::string_view piece, std::vector<int32_t> &ids,
                        std::string &fault) const;
  int32_t plainToken(std::string_view piece, size_t begin, utf8::Character character) const {
    return character.point < early.size() ? early[character.point]
                                          : tokens.find(piece.substr(begin, character.bytes));
  }
  int32_t characterToken(std::string_view piece, size_t begin, size_t end,
                         std::string &spelled) const;
  size_t mergeShort(int32_t *ids, size_t count) const;
  size_t mergeLong(int32_t *ids, size_t count) const;

  MergeTable merges;
  MergeTable joints; // pairs of characters between which some merge joins tokens
  std::vector<std::pair<uint32_t, uint32_t>> pairs; // of the merges, until joints are found
  bool isPlain = true;                              // no prefix and no suffix
  std::string prefix, suffix, unknownToken;
  int32_t unknown = -1;
  bool hasUnknown = false, fusesUnknown = false, fallsBackToBytes = false, ignoresMerges = false;
  std::vector<int32_t> bytes;
  std::array<int32_t, 512>
      early{};               // tokens of the first characters, where nothing is added to them
  std::vector<bool> isWhole; // by number: merging the token's text gives the token
};

Bpe::Bpe(const JsonNode &node)
    : prefix(node.string("continuing_subword_prefix", "")),
      suffix(node.string("end_of_word_suffix", "")), unknownToken(node.string("unk_token", "")),
      hasUnknown(!node["unk_token"].isNull()), fusesUnknown(node.boolean("fuse_unk", false)),
      fallsBackToBytes(node.boolean("byte_fallback", false)),
      ignoresMerges(node.boolean("ignore_merges", false)) {
  node.allowOnly({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
                  "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"});
  const nlohmann::json &dropout = node["dropout"].json();
  if (!dropout.is_null() && (!dropout.is_number() || dropout.get<double>() != 0))
    node.note("dropout", "is not supported: the same text must give the same tokens");
  readVocabulary(node, tokens);
  readMerges(node);
  if (!node.isGood())
    return;
  isPlain = prefix.empty() && suffix.empty();
  unknown = tokens.find(unknownToken);
  bytes = byteTokens(tokens);
  for (uint32_t point = 0; point < early.size(); ++point)
    early[point] = tokens.find(utf8::encoded(point));
  findJoints();
  isWhole.assign(tokens.size(), false);
  std::vector<int32_t> ids;
  std::string ignored;
  for (uint32_t id = 0; id < tokens.size(); ++id) {
    ids.clear();
    if (tokens.has(id) && !tokens[id].empty() && merge(tokens[id], ids, ignored))
      isWhole[id] = ids.size() == 1 && ids[0] == static_cast<int32_t>(id);
  }
}

void Bpe::addMerge(const JsonNode &node, uint32_t rank, std::string_view left,
                   std::string_view right) {
  std::string made(left);
  made += right.substr(std::min(right.size(), prefix.size()));
  int32_t leftId = tokens.find(left), rightId = tokens.find(right), madeId = tokens.find(made);
  if (leftId < 0 || rightId < 0 || madeId < 0)
    return node.note("merges",
                     fmt::format("merge {} makes '{}' of '{}' and '{}', but '{}' is not in the "
                                 "vocabulary",
                                 rank, made, left, right,
                                 leftId < 0    ? left
                                 : rightId < 0 ? right
                                               : std::string_view(made)));
  merges.add(static_cast<uint32_t>(leftId), static_cast<uint32_t>(rightId),
             {rank, static_cast<uint32_t>(madeId)});
  pairs.emplace_back(leftId, rightId);
}

void Bpe::readMerges(const JsonNode &node) {
  const nlohmann::json &list = node["merges"].json();
  if (!list.is_array())
    return node.note("merges", "must be a list of pairs");
  merges.reserve(list.size());
  uint32_t rank = 0;
  for (const nlohmann::json &pair : list) {
    if (pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_string()) {
      addMerge(node, rank++, pair[0].get_ref<const std::string &>(),
               pair[1].get_ref<const std::string &>());
      continue;
    }
    std::string_view text = pair.is_string() ? std::string_view(pair.get_ref<const std::string &>())
                                             : std::string_view();
    if (rank == 0 && text.starts_with("#version"))
      continue;
    size_t space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos)
      return node.note("merges", fmt::format("merge {} must be two tokens, [\"a\", \"b\"] or "
                                             "\"a b\"",
                                             rank));
    addMerge(node, rank++, text.substr(0, space), text.substr(space + 1));
  }
}

/// A merge joins the last character of its left token to the first one of its right token. Between
/// characters that no merge joins, a piece can be cut without changing its tokens.
void Bpe::findJoints() {
  joints.reserve(pairs.size());
  for (auto [left, right] : pairs) {
    std::string_view leftText = tokens[left], rightText = tokens[right];
    if (leftText.empty() || rightText.empty())
      continue;
    size_t last = utf8::before(leftText, leftText.size());
    int32_t before = plainToken(leftText, last, utf8::at(leftText, last)),
            behind = plainToken(rightText, 0, utf8::at(rightText, 0));
    if (before >= 0 && behind >= 0)
      joints.add(static_cast<uint32_t>(before), static_cast<uint32_t>(behind), {0, 0});
  }
  pairs.clear();
}

int32_t Bpe::characterToken(std::string_view piece, size_t begin, size_t end,
                            std::string &spelled) const {
  spelled.clear();
  if (begin > 0)
    spelled += prefix;
  spelled += piece.substr(begin, end - begin);
  if (end == piece.size())
    spelled += suffix;
  return tokens.find(spelled);
}

bool Bpe::appendCharacters(std::string_view piece, std::vector<int32_t> &ids,
                           std::string &fault) const {
  bool pending = false; // an unknown character, so that the next may be fused with it
  std::string spelled;
  for (size_t begin = 0, end = 0; begin < piece.size(); begin = end) {
    utf8::Character character = utf8::at(piece, begin);
    end = begin + character.bytes;
    int32_t id =
        isPlain ? plainToken(piece, begin, character) : characterToken(piece, begin, end, spelled);
    if (id >= 0) {
      if (pending)
        ids.push_back(unknown);
      pending = false;
      ids.push_back(id);
      continue;
    }
    if (fallsBackToBytes) {
      characterToken(piece, begin, end, spelled);
      if (std::all_of(spelled.begin(), spelled.end(),
                      [&](char c) { return bytes[static_cast<uint8_t>(c)] >= 0; })) {
        for (char c : spelled)
          ids.push_back(bytes[static_cast<uint8_t>(c)]);
        continue;
      }
    }
    if (!hasUnknown)
      continue; // as the format has it: characters without a token are left out
    if (unknown < 0) {
      fault =
          fmt::format("'{}' has no token, and '{}' for what is unknown is not in the vocabulary",
                      piece.substr(begin, end - begin), unknownToken);
      return false;
    }
    if (pending && !fusesUnknown)
      ids.push_back(unknown);
    pending = true;
  }
  if (pending)
    ids.push_back(unknown);
  return true;
}

bool Bpe::merge(std::string_view piece, std::vector<int32_t> &ids, std::string &fault) const {
  size_t first = ids.size();
  if (!appendCharacters(piece, ids, fault))
    return false;
  constexpr size_t shortPiece = 48; // up to here, looking at all pairs again is quicker
  size_t count = ids.size() - first;
  count = count <= shortPiece ? mergeShort(ids.data() + first, count)
                              : mergeLong(ids.data() + first, count);
  ids.resize(first + count);
  return true;
}

bool Bpe::mergeInParts(std::string_view piece, std::vector<int32_t> &ids,
                       std::string &fault) const {
  auto encodePart = [&](std::string_view part) {
    int32_t id = tokens.find(part);
    if (id < 0 || !isWhole[static_cast<size_t>(id)])
      return merge(part, ids, fault);
    ids.push_back(id);
    return true;
  };
  size_t begin = 0;
  int32_t before = -1;
  for (size_t at = 0; at < piece.size();) {
    utf8::Character character = utf8::at(piece, at);
    // Characters without a token may be made one with their neighbours: no cut beside them.
    int32_t id = plainToken(piece, at, character);
    bool isCut = before >= 0 && id >= 0 &&
                 joints.find(static_cast<uint32_t>(before), static_cast<uint32_t>(id)).rank ==
                     MergeTable::never;
    if (isCut && !encodePart(piece.substr(begin, at - begin)))
      return false;
    if (isCut)
      begin = at;
    before = id;
    at += character.bytes;
  }
  return encodePart(piece.substr(begin));
}

size_t Bpe::mergeShort(int32_t *ids, size_t count) const {
  MergeTable::Merge pairs[64];
  auto find = [&](size_t i) {
    return i + 1 < count
               ? merges.find(static_cast<uint32_t>(ids[i]), static_cast<uint32_t>(ids[i + 1]))
               : MergeTable::Merge{};
  };
  for (size_t i = 0; i < count; ++i)
    pairs[i] = find(i);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i)
      if (pairs[i].rank < pairs[best].rank)
        best = i;
    if (pairs[best].rank == MergeTable::never)
      break;
    ids[best] = static_cast<int32_t>(pairs[best].id);
    --count;
    for (size_t i = best + 1; i < count; ++i) {
      ids[i] = ids[i + 1];
      pairs[i] = pairs[i + 1];
    }
    pairs[best] = find(best);
    if (best > 0)
      pairs[best - 1] = find(best - 1);
  }
  return count;
}

size_t Bpe::mergeLong(int32_t *ids, size_t count) const {
  struct Candidate {
    uint32_t rank, place, id;
    bool operator>(const Candidate &other) const {
      return rank != other.rank ? rank > other.rank : place > other.place;
    }
  };
  // A list of the symbols: `next` is `count` behind the last, `before` of the first is `count` too.
  std::vector<uint32_t> next(count), before(count);
  std::vector<bool> isGone(count, false);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  auto end = static_cast<uint32_t>(count);
  auto find = [&](uint32_t place) {
    return next[place] == end ? MergeTable::Merge{}
                              : merges.find(static_cast<uint32_t>(ids[place]),
                                            static_cast<uint32_t>(ids[next[place]]));
  };
  auto propose = [&](uint32_t place) {
    if (MergeTable::Merge merge = find(place); merge.rank != MergeTable::never)
      candidates.push({merge.rank, place, merge.id});
  };
  for (uint32_t i = 0; i < end; ++i) {
    next[i] = i + 1;
    before[i] = i == 0 ? end : i - 1;
  }
  for (uint32_t i = 0; i < end; ++i)
    propose(i);
  while (!candidates.empty()) {
    Candidate best = candidates.top();
    candidates.pop();
    MergeTable::Merge now = isGone[best.place] ? MergeTable::Merge{} : find(best.place);
    if (now.rank == MergeTable::never || now.id != best.id)
      continue; // one of the two has become part of another token meanwhile
    uint32_t right = next[best.place];
    ids[best.place] = static_cast<int32_t>(best.id);
    isGone[right] = true;
    next[best.place] = next[right];
    if (next[right] != end)
      before[next[right]] = best.place;
    propose(best.place);
    if (before[best.place] != end)
      propose(before[best.place]);
  }
  size_t kept = 0;
  for (uint32_t i = 0; i < end; i = next[i])
    ids[kept++] = ids[i];
  return kept;
}

} // namespace

std::unique_ptr<TokenModel> readBpe(const JsonNode &node) { return std::make_unique<Bpe>(node); }

} // namespace hybrid::rt
