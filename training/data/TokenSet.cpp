//===- TokenSet.cpp - training and validation text as tokens ----------------===//
#include "training/data/TokenSet.h"
#include "training/CheckpointTokenizer.h"
#include "training/data/SplitRule.h"
#include "training/tokenizers/JsonNode.h"
#include "training/tokenizers/Utf8.h"
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

constexpr uint64_t largestHeader = 64 << 20;

/// A part that ends between characters, so that no tokenizer sees half of one.
size_t characterStart(std::string_view text, size_t at) {
  while (at < text.size() && at > 0 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80)
    --at;
  return at;
}

class MemoryWriter final : public TokenWriter {
public:
  Result<void> document(bool heldOut, std::span<const int32_t> ids, uint64_t bytes) override {
    Part &part = parts[heldOut];
    part.documents.push_back(part.tokens.size());
    part.tokens.insert(part.tokens.end(), ids.begin(), ids.end());
    part.bytes += bytes;
    return {};
  }
  TokenSplit take(bool heldOut) {
    Part &part = parts[heldOut];
    return {TokenArray::fromMemory(std::move(part.tokens)), std::move(part.documents), part.bytes};
  }

private:
  struct Part {
    std::vector<uint32_t> tokens;
    std::vector<uint64_t> documents;
    uint64_t bytes = 0;
  };
  Part parts[2];
};

/// What is largest when nothing says how many there are.
Result<int64_t> vocabularyOf(const TokenSplit &split, const std::string &path) {
  uint32_t largest = 0;
  for (uint64_t i = 0; i < split.tokens.size(); ++i) {
    const uint32_t token = split.tokens[i];
    if (token == TokenArray::noToken)
      return Error{fmt::format("{}: token {} at byte {} is negative, or 2^32 - 1 or more", path, i,
                               split.tokens.byteOffset(i))};
    largest = std::max(largest, token);
  }
  return int64_t{largest} + 1;
}

Result<void> checkTokens(const TokenSplit &split, int64_t vocabulary, const std::string &path) {
  uint64_t bad = split.tokens.firstNotBelow(static_cast<uint64_t>(vocabulary));
  if (bad == split.tokens.size())
    return {};
  return Error{fmt::format("{}: token {} at byte {} is {}, but the vocabulary has {}", path, bad,
                           split.tokens.byteOffset(bad), split.tokens[bad], vocabulary)};
}

Result<TokenSplit> openPrepared(const std::string &folder, const JsonNode &header) {
  size_t width = header.choice("dtype", {"uint16", "uint32"}, 0) == 0 ? 2 : 4;
  std::string name = header.string("file"), index = header.string("documents_file");
  uint64_t tokens = header.count("tokens", INT64_MAX),
           documents = header.count("documents", INT64_MAX);
  TokenSplit split;
  split.bytes = header.count("bytes", INT64_MAX);
  if (!header.isGood())
    return split; // the caller tells
  if (name.find('/') != std::string::npos || index.find('/') != std::string::npos) {
    header.refuse("files are beside the header");
    return split;
  }
  Result<TokenArray> array = TokenArray::open(folder + "/" + name, width);
  Result<TokenArray> starts = TokenArray::open(folder + "/" + index, 8);
  if (!array)
    return array.error();
  if (!starts)
    return starts.error();
  if (array->size() != tokens || starts->size() != documents)
    return Error{fmt::format("{}/{}: {} tokens in {} documents are there, data.json says {} in {}: "
                             "the data is not whole",
                             folder, name, array->size(), starts->size(), tokens, documents)};
  split.tokens = std::move(*array);
  for (uint64_t i = 0; i < starts->size(); ++i) {
    uint64_t start;
    std::memcpy(&start, starts->bytes().data() + 8 * i, 8);
    if (start > tokens || (i > 0 && start < split.documents.back()))
      return Error{fmt::format("{}/{}: document {} at byte {} begins at token {}, which cannot be",
                               folder, index, i, 8 * i, start)};
    split.documents.push_back(start);
  }
  return split;
}

Result<TokenSet> openFolder(const DataSpec &spec) {
  std::string path = spec.path + "/data.json";
  Result<std::vector<std::byte>> bytes = readFile(path, largestHeader);
  if (!bytes)
    return bytes.error();
  Result<nlohmann::json> json =
      parseJson({reinterpret_cast<const char *>(bytes->data()), bytes->size()}, path);
  if (!json)
    return json.error();
  std::string fault;
  JsonNode node(*json, "", fault);
  if (node.string("format") != preparedFormat && fault.empty())
    node.note("format", fmt::format("'{}' is expected", preparedFormat));
  if (node.count("version", UINT32_MAX) != 1 && fault.empty())
    node.note("version", "only version 1 is supported");
  TokenSet set;
  set.vocabulary = static_cast<int64_t>(node["tokenizer"].count("vocabulary", UINT32_MAX));
  Result<std::unique_ptr<Tokenizer>> tokenizer = loadTokenizer(spec.path + "/tokenizer.json");
  if (fault.empty()) {
    if (!tokenizer)
      return tokenizer.error();
    if ((*tokenizer)->identity() != node["tokenizer"].string("identity"))
      node["tokenizer"].note("identity", "is not that of tokenizer.json beside it");
    set.tokenizer = std::move(*tokenizer);
  }
  for (bool heldOut : {false, true}) {
    Result<TokenSplit> split =
        openPrepared(spec.path, node["splits"][heldOut ? "validation" : "train"]);
    if (fault.empty() && !split)
      return split.error();
    if (split)
      (heldOut ? set.validation : set.train) = std::move(*split);
  }
  if (!fault.empty())
    return Error{fmt::format("{}: {}", path, fault)};
  for (const TokenSplit *split : {&set.train, &set.validation})
    if (Result<void> good = checkTokens(*split, set.vocabulary, spec.path); !good)
      return good.error();
  set.description = {{"data", "tokens:" + spec.path}, {"prepared", *json}};
  return set;
}

/// The part of a token file from token `begin` on.
TokenArray copied(const TokenArray &from, uint64_t begin, uint64_t end) {
  std::vector<uint32_t> tokens;
  tokens.reserve(end - begin);
  for (uint64_t i = begin; i < end; ++i)
    tokens.push_back(from[i]);
  return TokenArray::fromMemory(std::move(tokens));
}

} // namespace

Result<std::unique_ptr<Tokenizer>> tokenizerOf(const DataSpec &spec) {
  return namedTokenizer(spec.option("tokenizer", spec.kind == "fasta" ? "dna" : "bytes"));
}

Result<void> tokenizeDocuments(const DataSpec &spec, const Tokenizer &tokenizer,
                               const TokenizeOptions &options, TokenWriter &writer) {
  Result<SplitRule> rule = SplitRule::parse(options.split, options.seed);
  if (!rule)
    return rule.error();
  Result<std::unique_ptr<DocumentReader>> reader = openDocuments(spec);
  if (!reader)
    return reader.error();
  int32_t end = tokenizer.endOfText();
  std::vector<int32_t> ids;
  auto write = [&](std::string_view text, const DataDocument &document,
                   bool heldOut) -> Result<void> {
    ids.clear();
    Result<void> done = tokenizer.encode(text, {true, false}, ids);
    if (!done)
      return Error{fmt::format("{}: record {} at byte {}: {}", document.file, document.record,
                               document.offset, done.error().message)};
    if (end >= 0 && (ids.empty() || ids.back() != end))
      ids.push_back(end);
    return writer.document(heldOut, ids, text.size());
  };
  // Whether there is one document is known when a second does not come.
  DataDocument document;
  Result<bool> found = (*reader)->next(document);
  if (!found)
    return found.error();
  if (!*found)
    return Error{fmt::format("{}:{} has no documents", spec.kind, spec.path)};
  DataDocument first = document;
  std::string firstText(document.text);
  first.text = firstText;
  Result<bool> more = (*reader)->next(document);
  if (!more)
    return more.error();
  if (!*more) {
    auto kept = static_cast<size_t>(static_cast<double>(firstText.size()) * (1 - rule->fraction()));
    size_t cut = characterStart(firstText, kept);
    if (rule->fraction() == 0)
      return write(firstText, first, rule->isHeldOut(first, 0));
    Result<void> done = write(first.text.substr(0, cut), first, false);
    return done ? write(first.text.substr(cut), first, true) : done;
  }
  if (Result<void> done = write(firstText, first, rule->isHeldOut(first, 0)); !done)
    return done;
  for (uint64_t number = 1; *more; ++number) {
    if (Result<void> done = write(document.text, document, rule->isHeldOut(document, number));
        !done)
      return done;
    more = (*reader)->next(document);
    if (!more)
      return more.error();
  }
  return {};
}

Result<TokenSet> TokenSet::tokenize(const DataSpec &spec, uint64_t seed) {
  Result<std::unique_ptr<Tokenizer>> tokenizer = tokenizerOf(spec);
  if (!tokenizer)
    return tokenizer.error();
  MemoryWriter writer;
  TokenizeOptions options{spec.option("split", "fraction=0.1"), seed};
  if (Result<void> done = tokenizeDocuments(spec, **tokenizer, options, writer); !done)
    return done.error();
  TokenSet set;
  set.train = writer.take(false);
  set.validation = writer.take(true);
  set.vocabulary = (*tokenizer)->vocabulary();
  Result<std::vector<std::string>> files = filesOf(spec.path);
  if (!files)
    return files.error();
  nlohmann::json hashes = nlohmann::json::array();
  for (const std::string &file : *files) {
    uint64_t bytes = 0;
    Result<std::string> hash = hashOfFile(file, bytes);
    if (!hash)
      return hash.error();
    hashes.push_back({{"path", file}, {"bytes", bytes}, {"content_hash", *hash}});
  }
  set.description = {{"data", spec.kind + ":" + spec.path},
                     {"tokenizer", (*tokenizer)->identity()},
                     {"split", options.split},
                     {"data_seed", seed},
                     {"files", hashes}};
  for (auto [option, usual] : {std::pair("separator", ""), std::pair("field", "text")})
    if (std::string given = spec.option(option, usual); given != usual)
      set.description[option] = given;
  set.tokenizer = std::move(*tokenizer);
  return set;
}

Result<TokenSet> TokenSet::open(const DataSpec &spec) {
  std::error_code ignored;
  if (std::filesystem::is_directory(spec.path, ignored))
    return openFolder(spec);
  Result<double> width = spec.number("bytes", 2, 1, 4),
                 fraction = spec.number("fraction", 0.1, 0, 0.99),
                 vocabulary = spec.number("vocabulary", 0, 0, UINT32_MAX);
  for (const auto *number : {&width, &fraction, &vocabulary})
    if (!*number)
      return number->error();
  if (*width == 3)
    return Error{fmt::format("--data tokens:{}: bytes must be 1, 2 or 4", spec.path)};
  Result<TokenArray> train = TokenArray::open(spec.path, static_cast<size_t>(*width));
  if (!train)
    return train.error();
  TokenSet set;
  if (std::string name = spec.option("tokenizer", ""); !name.empty()) {
    Result<std::unique_ptr<Tokenizer>> tokenizer = namedTokenizer(name);
    if (!tokenizer)
      return tokenizer.error();
    set.tokenizer = std::move(*tokenizer);
    set.vocabulary = set.tokenizer->vocabulary();
  }
  if (*vocabulary > 0)
    set.vocabulary = static_cast<int64_t>(*vocabulary);
  std::string held = spec.option("validation", "");
  set.train.tokens = std::move(*train);
  if (!held.empty()) {
    Result<TokenArray> validation = TokenArray::open(held, static_cast<size_t>(*width));
    if (!validation)
      return validation.error();
    set.validation.tokens = std::move(*validation);
  }
  for (const auto &[split, path] :
       {std::pair(&set.train, spec.path), std::pair(&set.validation, held)})
    if (*vocabulary == 0 && !set.tokenizer && split->tokens.size() > 0) {
      Result<int64_t> needed = vocabularyOf(*split, path);
      if (!needed)
        return needed.error();
      set.vocabulary = std::max(set.vocabulary, *needed);
    }
  for (const TokenSplit *split : {&set.train, &set.validation})
    if (Result<void> good =
            checkTokens(*split, set.vocabulary, split == &set.train ? spec.path : held);
        !good)
      return good.error();
  if (held.empty()) {
    uint64_t size = set.train.tokens.size();
    auto cut = static_cast<uint64_t>(static_cast<double>(size) * (1 - *fraction));
    set.validation.tokens = copied(set.train.tokens, cut, size);
    set.train.tokens = copied(set.train.tokens, 0, cut);
  }
  set.description = {{"data", "tokens:" + spec.path},
                     {"bytes", *width},
                     {"fraction", *fraction},
                     {"vocabulary", set.vocabulary}};
  if (set.tokenizer)
    set.description["tokenizer"] = set.tokenizer->identity();
  uint64_t bytes = 0;
  Result<std::string> hash = hashOfFile(spec.path, bytes);
  if (!hash)
    return hash.error();
  set.description["content_hash"] = *hash;
  if (!held.empty()) {
    if (!(hash = hashOfFile(held, bytes)))
      return hash.error();
    set.description["validation"] = {{"path", held}, {"content_hash", *hash}};
  }
  return set;
}

} // namespace hybrid::rt
