//===- PipelineTokenizer.cpp - the tokenizers of Hugging Face's library -----===//
//
// Added tokens are cut out; what lies between is normalized, split into pieces and encoded by the
// model; then the post-processor's tokens go around it.
//
//===----------------------------------------------------------------------===//
#include "training/tokenizers/PipelineTokenizer.h"
#include "training/tokenizers/AddedTokens.h"
#include "training/tokenizers/BpeDocument.h"
#include "training/tokenizers/ByteAlphabet.h"
#include "training/tokenizers/Model.h"
#include "training/tokenizers/Normalizer.h"
#include "training/tokenizers/PreTokenizer.h"
#include "training/tokenizers/TokenDecoder.h"
#include "training/tokenizers/Utf8.h"
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

/// What the post-processors make of a text: parts, each of tokens, and one place for the text.
using Parts = std::vector<std::vector<int32_t>>;
constexpr int32_t textPlace = -1;

/// A template of two texts is what follows a template that made two parts; so it is in the library
/// whose format this is.
void readTemplate(const JsonNode &node, Parts &parts) {
  node.allowOnly({"type", "single", "pair", "special_tokens"});
  if (parts.size() > 2)
    return node.refuse("a template behind one that makes more than two parts is not supported");
  Parts made;
  for (const JsonNode &part : node.elements(parts.size() == 1 ? "single" : "pair")) {
    part.allowOnly({"Sequence", "SpecialToken"});
    if (!part["Sequence"].isNull()) {
      size_t which = part["Sequence"].choice("id", {"A", "B"}, 0);
      if (which >= parts.size())
        return part.refuse("a template of one text has no sequence B");
      made.push_back(parts[which]);
      continue;
    }
    // The token's name may hold dots and brackets.
    std::string name = part["SpecialToken"].string("id");
    made.emplace_back();
    for (const JsonNode &id : node["special_tokens"][name].elements("ids")) {
      const nlohmann::json &value = id.json();
      if (!value.is_number_unsigned() || value.get<uint64_t>() > Vocabulary::greatestId)
        return id.refuse("must be a token's number");
      made.back().push_back(value.get<int32_t>());
    }
  }
  constexpr size_t mostTokens = 4096;
  size_t tokens = 0;
  for (const auto &part : made)
    tokens += part.size();
  if (tokens > mostTokens)
    return node.refuse(fmt::format("makes more than {} tokens", mostTokens));
  parts = std::move(made);
}

/// ["[SEP]", 102]
int32_t readPair(const JsonNode &node, std::string_view key) {
  const nlohmann::json &pair = node[key].json();
  if (pair.is_array() && pair.size() == 2 && pair[1].is_number_unsigned() &&
      pair[1].get<uint64_t>() <= Vocabulary::greatestId)
    return pair[1].get<int32_t>();
  node.note(key, "must be a token and its number");
  return 0;
}

void readPostProcessor(const JsonNode &node, Parts &parts) {
  if (node.isNull() || !node.isGood())
    return;
  if (node.readSequence("processors",
                        [&](const JsonNode &child) { readPostProcessor(child, parts); }))
    return;
  std::string type = node.string("type");
  if (type == "TemplateProcessing") {
    readTemplate(node, parts);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    node.allowOnly({"type", "sep", "cls", "trim_offsets", "add_prefix_space"});
    int32_t first = readPair(node, "cls"), last = readPair(node, "sep");
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i == 0)
        parts[i].insert(parts[i].begin(), first);
      else if (type == "RobertaProcessing")
        parts[i].insert(parts[i].begin(), last);
      parts[i].push_back(last);
    }
  } else if (type != "ByteLevel") { // which moves offsets only
    node.note("type",
              fmt::format("the post-processor '{}' is not supported; supported: Sequence, "
                          "TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel",
                          type));
  }
}

/// Tokens that go around a text.
struct Frame {
  std::vector<int32_t> before, behind;
};

Frame readFrame(const JsonNode &node) {
  Parts parts = {{textPlace}};
  readPostProcessor(node, parts);
  Frame frame;
  int places = 0;
  for (const auto &part : parts)
    for (int32_t id : part)
      if (id == textPlace)
        ++places;
      else
        (places == 0 ? frame.before : frame.behind).push_back(id);
  if (places != 1)
    node.refuse("must have the text once");
  return frame;
}

class PipelineTokenizer final : public Tokenizer {
public:
  PipelineTokenizer(const JsonNode &document, std::string text);

  Result<void> encode(std::string_view text, const EncodeOptions &options,
                      std::vector<int32_t> &ids) const override;
  Result<std::string> decode(std::span<const int32_t> ids,
                             const DecodeOptions &options) const override;
  int64_t vocabulary() const override { return size; }
  std::string token(int32_t id) const override {
    const AddedTokens::Token *token = added.find(id);
    return token    ? token->content
           : id < 0 ? std::string()
                    : std::string(model->vocabulary()[static_cast<uint32_t>(id)]);
  }
  int32_t find(std::string_view token) const override {
    const AddedTokens::Token *special = added.find(token);
    return special ? special->id : model->vocabulary().find(token);
  }
  std::vector<Special> specialTokens() const override {
    std::vector<Special> special;
    for (const AddedTokens::Token &token : added.all())
      if (token.special)
        special.push_back({token.content, token.id});
    return special;
  }
  std::string kind() const override { return type; }
  std::string serialized() const override { return text; }

private:
  Result<std::string> normalized(std::string_view section, bool &atStart) const;
  bool encodeSection(std::string_view section, bool atStart, std::vector<int32_t> &ids,
                     std::string &fault) const;

  std::string text, type;
  std::unique_ptr<TokenModel> model;
  std::vector<TextStep> normalizer;
  std::unique_ptr<PreTokenizer> preTokenizer;
  AddedTokens added;
  Frame frame;
  std::vector<DecodeStep> decoder;
  bool hasDecoder;
  int64_t size = 0;
};

PipelineTokenizer::PipelineTokenizer(const JsonNode &document, std::string text)
    : text(std::move(text)), type(document["model"].string("type", "BPE")),
      hasDecoder(!document["decoder"].isNull()) {
  document.allowOnly({"version", "truncation", "padding", "added_tokens", "normalizer",
                      "pre_tokenizer", "post_processor", "decoder", "model"});
  for (const char *key : {"truncation", "padding"})
    if (!document[key].isNull())
      document.note(key, "is not supported: set it to null; lengths are chosen where the tokens "
                         "are used");
  model = readModel(document["model"]);
  if (!document.isGood())
    return;
  normalizer = readNormalizer(document["normalizer"]);
  preTokenizer = readPreTokenizer(document["pre_tokenizer"]);
  frame = readFrame(document["post_processor"]);
  decoder = readDecoder(document["decoder"]);
  if (!document.isGood())
    return;
  added.read(document, model->vocabulary(), normalizer);
  size = model->vocabulary().size();
  for (const AddedTokens::Token &token : added.all())
    size = std::max<int64_t>(size, token.id + 1);
  for (const auto *part : {&frame.before, &frame.behind})
    for (int32_t id : *part)
      size = std::max<int64_t>(size, id + 1);
}

Result<std::string> PipelineTokenizer::normalized(std::string_view section, bool &atStart) const {
  std::string made(section);
  for (const TextStep &step : normalizer) {
    Result<std::string> next = step(made, atStart);
    if (!next)
      return next.error();
    made = std::move(*next);
    if (isOvergrown(made.size(), section.size()))
      return overgrown(section.size());
  }
  return made;
}

/// Encodes the pieces that it is given.
struct ModelSink final : PieceSink {
  ModelSink(const TokenModel &model, std::vector<int32_t> &ids, std::string &fault)
      : model(model), ids(ids), fault(fault) {}
  bool take(std::string_view piece, bool) override {
    return piece.empty() || model.encode(piece, ids, fault);
  }
  const TokenModel &model;
  std::vector<int32_t> &ids;
  std::string &fault;
};

bool PipelineTokenizer::encodeSection(std::string_view section, bool atStart,
                                      std::vector<int32_t> &ids, std::string &fault) const {
  ModelSink sink(*model, ids, fault);
  if (section.empty())
    return true;
  return preTokenizer ? preTokenizer->split(section, atStart, sink, fault)
                      : sink.take(section, atStart);
}

Result<void> PipelineTokenizer::encode(std::string_view text, const EncodeOptions &options,
                                       std::vector<int32_t> &ids) const {
  if (options.addSpecial)
    ids.insert(ids.end(), frame.before.begin(), frame.before.end());
  std::string fault;
  auto onToken = [&](int32_t id) {
    ids.push_back(id);
    return true;
  };
  auto onText = [&](std::string_view stretch, size_t place) {
    std::string made;
    bool atStart = place == 0;
    if (!normalizer.empty()) {
      Result<std::string> result = normalized(stretch, atStart);
      if (!result) {
        fault = result.error().message;
        return false;
      }
      made = std::move(*result);
      stretch = made;
    }
    return added.cut(
        stretch, true, options.recogniseSpecial,
        [&](std::string_view section, size_t within) {
          return encodeSection(section, atStart && within == 0, ids, fault);
        },
        onToken);
  };
  if (!added.cut(text, false, options.recogniseSpecial, onText, onToken))
    return Error{fault};
  if (options.addSpecial)
    ids.insert(ids.end(), frame.behind.begin(), frame.behind.end());
  return {};
}

Result<std::string> PipelineTokenizer::decode(std::span<const int32_t> ids,
                                              const DecodeOptions &options) const {
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  size_t given = 0;
  for (int32_t id : ids) {
    const AddedTokens::Token *special = added.find(id);
    if (!special && (id < 0 || !model->vocabulary().has(static_cast<uint32_t>(id))))
      continue;
    std::string_view name = special ? std::string_view(special->decoded)
                                    : model->vocabulary()[static_cast<uint32_t>(id)];
    if (const AddedTokens::Token *named = added.find(name);
        !options.keepSpecial && named && named->special)
      continue;
    tokens.emplace_back(name);
    given += name.size();
  }
  for (const DecodeStep &step : decoder) {
    if (Result<void> done = step(tokens, options.asText); !done)
      return done.error();
    size_t made = 0;
    for (const std::string &token : tokens)
      made += token.size();
    if (isOvergrown(made, given))
      return overgrown(given);
  }
  std::string text;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0 && !hasDecoder)
      text += ' ';
    text += tokens[i];
  }
  return options.asText ? utf8::replaceIllFormed(text) : text;
}

} // namespace

Result<std::unique_ptr<Tokenizer>> makePipelineTokenizer(const nlohmann::json &document,
                                                         const std::string &name) {
  std::string fault;
  auto tokenizer = std::make_unique<PipelineTokenizer>(
      JsonNode(document, "", fault),
      document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  if (!fault.empty())
    return Error{fmt::format("{}: {}", name, fault)};
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

Result<nlohmann::json> gpt2Document(std::string_view encoder, std::string_view merges,
                                    const std::string &name) {
  Result<nlohmann::json> vocabulary = parseJson(encoder, name, {.depth = 2});
  if (!vocabulary)
    return vocabulary.error();
  BpeDocument bpe{*vocabulary, nlohmann::ordered_json::array(), {}};
  for (size_t line = 0, begin = 0; begin < merges.size(); ++line) {
    size_t end = std::min(merges.find('\n', begin), merges.size());
    std::string_view text = merges.substr(begin, end - begin);
    begin = end + 1;
    if (text.ends_with('\r'))
      text.remove_suffix(1);
    if (text.empty() || (line == 0 && text.starts_with("#version")))
      continue;
    size_t space = text.find(' ');
    if (space == std::string_view::npos)
      return Error{fmt::format("{}: line {} of the merges must be two tokens", name, line + 1)};
    bpe.merges.push_back({std::string(text.substr(0, space)), std::string(text.substr(space + 1))});
  }
  constexpr const char *special = "<|endoftext|>";
  if (vocabulary->is_object() && vocabulary->contains(special) &&
      (*vocabulary)[special].is_number_unsigned())
    bpe.special.emplace_back((*vocabulary)[special].get<uint64_t>(), special);
  return nlohmann::json(tokenizerDocument(std::move(bpe)));
}

} // namespace hybrid::rt
