//===- AddedTokens.cpp - tokens that are found before anything else ---------===//
#include "training/tokenizers/AddedTokens.h"
#include "training/tokenizers/Utf8.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt {

constexpr size_t longestContent = 4096; // bytes

void AddedTokens::Index::add(std::string_view content, uint32_t index) {
  if (content.empty() || contents.find(content) >= 0)
    return;
  contents.add(content, static_cast<uint32_t>(indices.size()));
  indices.push_back(index);
  auto &sizes = lengths[static_cast<uint8_t>(content[0])];
  auto size = static_cast<uint32_t>(content.size());
  auto place = std::lower_bound(sizes.begin(), sizes.end(), size, std::greater<>());
  if (place == sizes.end() || *place != size)
    sizes.insert(place, size);
}

void AddedTokens::read(const JsonNode &document, const Vocabulary &model,
                       const std::vector<TextStep> &normalizer) {
  if (document["added_tokens"].isNull())
    return;
  for (const JsonNode &node : document.elements("added_tokens")) {
    node.allowOnly({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    Token token;
    token.content = node.string("content");
    token.special = node.boolean("special", false);
    token.singleWord = node.boolean("single_word", false);
    token.stripLeft = node.boolean("lstrip", false);
    token.stripRight = node.boolean("rstrip", false);
    token.normalized = node.boolean("normalized", !token.special);
    token.id = static_cast<int32_t>(node.count("id", Vocabulary::greatestId));
    if (int32_t known = model.find(token.content); known >= 0)
      token.id = known;
    if (token.content.size() > longestContent)
      node.note("content", fmt::format("is longer than {} bytes", longestContent));
    if (!node.isGood())
      return;
    if (token.content.empty() || byName.find(token.content) >= 0)
      continue;
    auto index = static_cast<uint32_t>(tokens.size());
    byName.add(token.content, index);
    byId.emplace_back(token.id, index);
    std::string content = token.content;
    for (size_t i = 0; token.normalized && i < normalizer.size(); ++i) {
      bool ignored = false;
      Result<std::string> made = normalizer[i](content, ignored);
      if (!made || made->size() > 2 * longestContent)
        return node.note("content", made ? "becomes too long" : made.error().message);
      content = std::move(*made);
    }
    byText[token.normalized].add(content, index);
    token.decoded = std::move(content);
    tokens.push_back(std::move(token));
  }
  std::sort(byId.begin(), byId.end());
}

const AddedTokens::Token *AddedTokens::find(int32_t id) const {
  auto found = std::lower_bound(byId.begin(), byId.end(), std::pair(id, 0u));
  return found == byId.end() || found->first != id ? nullptr : &tokens[found->second];
}

const AddedTokens::Token *AddedTokens::find(std::string_view content) const {
  int32_t index = byName.find(content);
  return index < 0 ? nullptr : &tokens[static_cast<size_t>(index)];
}

const AddedTokens::Token *AddedTokens::match(std::string_view text, size_t at, const Index &index,
                                             size_t &end) const {
  for (uint32_t size : index.lengths[static_cast<uint8_t>(text[at])])
    if (size <= text.size() - at)
      if (int32_t found = index.contents.find(text.substr(at, size)); found >= 0) {
        end = at + size;
        return &tokens[index.indices[static_cast<size_t>(found)]];
      }
  return nullptr;
}

bool AddedTokens::cut(std::string_view text, bool normalized, bool recogniseSpecial,
                      const std::function<bool(std::string_view, size_t)> &onText,
                      const std::function<bool(int32_t)> &onToken) const {
  const Index &index = byText[normalized];
  size_t done = 0;
  for (size_t at = 0; !index.indices.empty() && at < text.size();) {
    size_t end = 0;
    const Token *token = index.lengths[static_cast<uint8_t>(text[at])].empty()
                             ? nullptr
                             : match(text, at, index, end);
    if (!token) {
      ++at;
      continue;
    }
    size_t begin = at;
    at = end;
    if (token->special && !recogniseSpecial)
      continue;
    auto isWordAt = [&](size_t place) { return utf8::isWord(utf8::at(text, place).point); };
    if (token->singleWord && ((begin > 0 && isWordAt(utf8::before(text, begin))) ||
                              (end < text.size() && isWordAt(end))))
      continue;
    // Where spaces that the last token took are part of this one, both have them; so it is in the
    // library whose format this is.
    if (token->stripLeft)
      begin = std::max(begin, done);
    while (token->stripLeft && begin > done) {
      size_t last = utf8::before(text, begin);
      if (last < done || !utf8::isSpace(utf8::at(text, last).point))
        break;
      begin = last;
    }
    while (token->stripRight && end < text.size() && utf8::isSpace(utf8::at(text, end).point))
      end += utf8::at(text, end).bytes;
    if (begin > done && !onText(text.substr(done, begin - done), done))
      return false;
    if (begin < end && !onToken(token->id))
      return false;
    done = end;
  }
  return done >= text.size() || onText(text.substr(done), done);
}

} // namespace hybrid::rt
