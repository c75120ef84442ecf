//===- TokenDecoder.cpp - tokens back into text -----------------------------===//
#include "training/tokenizers/TokenDecoder.h"
#include "training/tokenizers/ByteAlphabet.h"
#include "training/tokenizers/Normalizer.h"
#include "training/tokenizers/Utf8.h"
#include <fmt/format.h>
#include <map>

namespace hybrid::rt {
namespace {

using Tokens = std::vector<std::string>;

void replaceAll(std::string &text, std::string_view what, std::string_view with) {
  if (what.empty())
    return;
  std::string out;
  size_t from = 0;
  for (size_t at; (at = text.find(what, from)) != std::string::npos; from = at + what.size())
    out.append(text, from, at - from) += with;
  text = out.append(text, from);
}

/// What English tokenization put in is taken out again.
void cleanUp(std::string &text) {
  constexpr std::pair<std::string_view, std::string_view> rules[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (auto [what, with] : rules)
    replaceAll(text, what, with);
}

Result<void> byteLevel(Tokens &tokens, bool) {
  std::string all;
  for (const std::string &token : tokens)
    all += bytesOfCharacters(token).value_or(token);
  tokens = {std::move(all)};
  return {};
}

Result<void> fuse(Tokens &tokens, bool) {
  std::string all;
  for (const std::string &token : tokens)
    all += token;
  tokens = {std::move(all)};
  return {};
}

/// -1: not one of "<0x00>" to "<0xFF>".
int byteOf(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>'))
    return -1;
  int value = 0;
  for (char c : token.substr(3, 2)) {
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                       : -1;
    if (digit < 0)
      return -1;
    value = 16 * value + digit;
  }
  return value;
}

Result<void> byteFallback(Tokens &tokens, bool asText) {
  Tokens out;
  std::string bytes;
  auto flush = [&] {
    if (bytes.empty())
      return;
    if (asText && !utf8::isWellFormed(bytes)) // one sign for each byte of the run
      for (size_t i = 0; i < bytes.size(); ++i)
        out.push_back("\xEF\xBF\xBD");
    else
      out.push_back(bytes);
    bytes.clear();
  };
  for (std::string &token : tokens) {
    if (int byte = byteOf(token); byte >= 0) {
      bytes += static_cast<char>(byte);
      continue;
    }
    flush();
    out.push_back(std::move(token));
  }
  flush();
  tokens = std::move(out);
  return {};
}

DecodeStep replace(const JsonNode &node) {
  TextStep step = readReplace(node);
  return [step](Tokens &tokens, bool) -> Result<void> {
    for (std::string &token : tokens) {
      bool ignored = false;
      Result<std::string> made = step(token, ignored);
      if (!made)
        return made.error();
      token = std::move(*made);
    }
    return {};
  };
}

DecodeStep strip(const JsonNode &node) {
  node.allowOnly({"type", "content", "start", "stop"});
  std::string content = utf8::encoded(node.character("content", ' '));
  uint64_t start = node.count("start", UINT32_MAX, 0), stop = node.count("stop", UINT32_MAX, 0);
  return [=](Tokens &tokens, bool) -> Result<void> {
    for (std::string &token : tokens) {
      std::string_view rest = token;
      for (uint64_t i = 0; i < start && rest.starts_with(content); ++i)
        rest.remove_prefix(content.size());
      for (uint64_t i = 0; i < stop && rest.ends_with(content); ++i)
        rest.remove_suffix(content.size());
      token = std::string(rest);
    }
    return {};
  };
}

DecodeStep metaspace(const JsonNode &node) {
  node.allowOnly({"type", "replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep"});
  std::string mark = utf8::encoded(node.character("replacement", 0x2581));
  bool prepends = node.choice("prepend_scheme", {"first", "never", "always"}, 2) != 1 &&
                  node.boolean("add_prefix_space", true);
  return [=](Tokens &tokens, bool) -> Result<void> {
    for (size_t i = 0; i < tokens.size(); ++i)
      replaceAll(tokens[i], mark, i == 0 && prepends ? "" : " ");
    return {};
  };
}

DecodeStep wordPiece(const JsonNode &node) {
  node.allowOnly({"type", "prefix", "cleanup"});
  std::string prefix = node.string("prefix", "##");
  bool cleans = node.boolean("cleanup", true);
  return [=](Tokens &tokens, bool) -> Result<void> {
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i].starts_with(prefix))
        tokens[i].erase(0, prefix.size());
      else if (i > 0)
        tokens[i].insert(0, " ");
      if (cleans)
        cleanUp(tokens[i]);
    }
    return {};
  };
}

DecodeStep wordEnds(const JsonNode &node) {
  node.allowOnly({"type", "suffix"});
  std::string suffix = node.string("suffix", "</w>");
  return [=](Tokens &tokens, bool) -> Result<void> {
    for (size_t i = 0; i < tokens.size(); ++i)
      replaceAll(tokens[i], suffix, i + 1 < tokens.size() ? " " : "");
    return {};
  };
}

DecodeStep ctc(const JsonNode &node) {
  node.allowOnly({"type", "pad_token", "word_delimiter_token", "cleanup"});
  std::string pad = node.string("pad_token", "<pad>"),
              delimiter = node.string("word_delimiter_token", "|");
  bool cleans = node.boolean("cleanup", true);
  return [=](Tokens &tokens, bool) -> Result<void> {
    Tokens out;
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i] == tokens[i - 1])
        continue;
      std::string text = tokens[i];
      replaceAll(text, pad, "");
      if (cleans) {
        cleanUp(text);
        replaceAll(text, delimiter, " ");
      }
      if (!text.empty())
        out.push_back(std::move(text));
    }
    tokens = std::move(out);
    return {};
  };
}

void readInto(const JsonNode &node, std::vector<DecodeStep> &steps) {
  using Read = DecodeStep (*)(const JsonNode &);
  static const std::map<std::string_view, Read> known = {
      {"ByteLevel", [](const JsonNode &) { return DecodeStep(byteLevel); }},
      {"ByteFallback", [](const JsonNode &) { return DecodeStep(byteFallback); }},
      {"Fuse", [](const JsonNode &) { return DecodeStep(fuse); }},
      {"Replace", replace},
      {"Strip", strip},
      {"Metaspace", metaspace},
      {"WordPiece", wordPiece},
      {"BPEDecoder", wordEnds},
      {"CTC", ctc}};
  constexpr size_t mostSteps = 32;
  if (steps.size() > mostSteps)
    return node.refuse(fmt::format("more than {} steps are not supported", mostSteps));
  if (node.readSequence("decoders", [&](const JsonNode &child) { readInto(child, steps); }))
    return;
  const std::string type = node.string("type");
  if (auto found = known.find(type); found != known.end())
    return steps.push_back(found->second(node));
  node.note("type", fmt::format("the decoder '{}' is not supported; supported: Sequence, "
                                "ByteLevel, ByteFallback, Fuse, Replace, Strip, Metaspace, "
                                "WordPiece, BPEDecoder, CTC",
                                type));
}

} // namespace

std::vector<DecodeStep> readDecoder(const JsonNode &node) { return readSteps(node, readInto); }

} // namespace hybrid::rt
