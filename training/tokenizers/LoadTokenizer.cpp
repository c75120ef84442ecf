//===- LoadTokenizer.cpp - which kind of tokenizer a file holds -------------===//
#include "runtime/files/File.h"
#include "training/tokenizers/JsonNode.h"
#include "training/tokenizers/PipelineTokenizer.h"
#include "training/tokenizers/SimpleTokenizers.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t largestFile = 256 << 20;

Result<std::string> readTokenizerText(const std::string &path) {
  Result<std::vector<std::byte>> bytes = readFile(path, largestFile);
  if (!bytes)
    return bytes.error();
  return std::string(reinterpret_cast<const char *>(bytes->data()), bytes->size());
}

Result<std::unique_ptr<Tokenizer>> fromPair(const std::string &vocabulary,
                                            const std::string &merges) {
  Result<std::string> encoder = readTokenizerText(vocabulary), list = readTokenizerText(merges);
  if (!encoder)
    return encoder.error();
  if (!list)
    return list.error();
  Result<nlohmann::json> document = gpt2Document(*encoder, *list, vocabulary);
  if (!document)
    return document.error();
  return makePipelineTokenizer(*document, vocabulary);
}

constexpr std::pair<std::string_view, std::string_view> pairs[] = {{"encoder.json", "vocab.bpe"},
                                                                   {"vocab.json", "merges.txt"}};

Result<std::unique_ptr<Tokenizer>> fromFolder(const std::string &folder) {
  std::error_code ignored;
  auto has = [&](std::string_view name) { return fs::exists(fs::path(folder) / name, ignored); };
  auto in = [&](std::string_view name) { return (fs::path(folder) / name).string(); };
  if (has("tokenizer.json"))
    return loadTokenizer(in("tokenizer.json"));
  for (auto [vocabulary, merges] : pairs)
    if (has(vocabulary) && has(merges))
      return fromPair(in(vocabulary), in(merges));
  for (std::string_view name : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model"})
    if (has(name))
      return loadTokenizer(in(name));
  return Error{fmt::format("'{}' holds no tokenizer: expected tokenizer.json, encoder.json with "
                           "vocab.bpe, vocab.json with merges.txt, or tokenizer.model",
                           folder)};
}

} // namespace

Result<std::unique_ptr<Tokenizer>> tokenizerFromText(std::string_view text,
                                                     const std::string &name) {
  if (text.size() > largestFile)
    return Error{fmt::format("{}: a tokenizer of {} bytes is larger than {}", name, text.size(),
                             largestFile)};
  Result<nlohmann::json> document = parseJson(text, name);
  if (!document)
    return document.error();
  if (!document->is_object())
    return Error{fmt::format("{}: not a tokenizer.json: an object is expected", name)};
  if (!document->contains("hybrid_tokenizer")) {
    if (!document->contains("model"))
      return Error{fmt::format("{}: not a tokenizer.json: it has no model", name)};
    return makePipelineTokenizer(*document, name);
  }
  std::string fault;
  JsonNode node(*document, "", fault);
  uint64_t version = node.count("hybrid_tokenizer", UINT32_MAX);
  size_t type = node.choice("type", {"bytes", "dna", "sentencepiece"}, 0);
  std::string model = type == 2 ? node.string("model") : std::string();
  if (version != 1 && node.isGood())
    node.note("hybrid_tokenizer", fmt::format("version {} is not supported, only 1", version));
  if (!fault.empty())
    return Error{fmt::format("{}: {}", name, fault)};
  if (type == 2)
    return sentencePieceFromBase64(model, name);
  return type == 1 ? makeDnaTokenizer() : makeByteTokenizer();
}

Result<std::unique_ptr<Tokenizer>> loadTokenizer(const std::string &name) {
  if (name == "bytes")
    return makeByteTokenizer();
  if (name == "dna")
    return makeDnaTokenizer();
  std::error_code ignored;
  if (fs::is_directory(name, ignored))
    return fromFolder(name);
  if (!fs::exists(name, ignored))
    return Error{
        fmt::format("there is no tokenizer '{}': expected bytes, dna, or a file or folder", name)};
  fs::path path(name);
  for (auto [vocabulary, merges] : pairs)
    if (path.filename() == vocabulary || path.filename() == merges)
      return fromPair(path.parent_path() / vocabulary, path.parent_path() / merges);
  Result<std::string> text = readTokenizerText(name);
  if (!text)
    return text.error();
  size_t first = text->find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (*text)[first] == '{')
    return tokenizerFromText(*text, name);
  return makeSentencePieceTokenizer(std::move(*text), name);
}

} // namespace hybrid::rt
