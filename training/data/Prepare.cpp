//===- Prepare.cpp - documents into a folder of token files -----------------===//
#include "training/data/Prepare.h"
#include "executable/TemporaryOutput.h"
#include "runtime/files/AtomicFile.h"
#include "training/data/ContentHash.h"
#include <filesystem>
#include <fmt/format.h>
#include <optional>

namespace hybrid::rt {
namespace {

namespace fs = std::filesystem;

/// The two files of a split.
struct SplitFiles {
  std::string name;
  std::optional<AtomicFile> tokens, documents;
  std::string buffer;
  PreparedCounts counts;
  ContentHash hash;

  Result<void> open(const std::string &folder) {
    for (auto [file, ending] : {std::pair(&tokens, ".bin"), std::pair(&documents, ".documents")}) {
      Result<AtomicFile> created = AtomicFile::create(folder + "/" + name + ending);
      if (!created)
        return created.error();
      file->emplace(std::move(*created));
    }
    return {};
  }
  Result<void> flush() {
    hash.add(buffer);
    Result<void> done = tokens->write(buffer);
    buffer.clear();
    return done;
  }
  Result<void> finish() {
    if (Result<void> done = flush(); !done)
      return done;
    if (Result<void> done = tokens->commit(); !done)
      return done;
    return documents->commit();
  }
};

class FolderWriter final : public TokenWriter {
public:
  explicit FolderWriter(size_t width) : width(width) {
    splits[0].name = "train";
    splits[1].name = "validation";
  }
  Result<void> open(const std::string &folder) {
    for (SplitFiles &split : splits)
      if (Result<void> done = split.open(folder); !done)
        return done;
    return {};
  }
  Result<void> document(bool heldOut, std::span<const int32_t> ids, uint64_t bytes) override {
    constexpr size_t bufferBytes = 1 << 20;
    SplitFiles &split = splits[heldOut];
    uint64_t start = split.counts.tokens;
    std::string_view place(reinterpret_cast<const char *>(&start), 8);
    if (Result<void> done = split.documents->write(place); !done)
      return done;
    split.counts.tokens += ids.size();
    split.counts.bytes += bytes;
    ++split.counts.documents;
    for (int32_t id : ids) {
      split.buffer.append(reinterpret_cast<const char *>(&id), width); // little endian
      if (split.buffer.size() >= bufferBytes)
        if (Result<void> done = split.flush(); !done)
          return done;
    }
    return {};
  }
  Result<void> finish() {
    for (SplitFiles &split : splits)
      if (Result<void> done = split.finish(); !done)
        return done;
    return {};
  }
  const SplitFiles &split(bool heldOut) const { return splits[heldOut]; }

private:
  size_t width;
  SplitFiles splits[2];
};

nlohmann::json describe(const SplitFiles &split, size_t width) {
  return {{"file", split.name + ".bin"},         {"dtype", width == 2 ? "uint16" : "uint32"},
          {"tokens", split.counts.tokens},       {"documents_file", split.name + ".documents"},
          {"documents", split.counts.documents}, {"bytes", split.counts.bytes},
          {"content_hash", split.hash.text()}};
}

Result<nlohmann::json> describeFiles(const DataSpec &spec) {
  Result<std::vector<std::string>> files = filesOf(spec.path);
  if (!files)
    return files.error();
  nlohmann::json list = nlohmann::json::array();
  for (const std::string &file : *files) {
    uint64_t bytes = 0;
    Result<std::string> hash = hashOfFile(file, bytes);
    if (!hash)
      return hash.error();
    list.push_back({{"path", file}, {"bytes", bytes}, {"content_hash", *hash}});
  }
  return list;
}

Result<PrepareReport> writeFolder(const DataSpec &spec, const Tokenizer &tokenizer,
                                  const std::string &folder, uint64_t seed) {
  size_t width = tokenizer.vocabulary() <= 65536 ? 2 : 4;
  TokenizeOptions options{spec.option("split", "fraction=0.1"), seed};
  FolderWriter writer(width);
  if (Result<void> done = writer.open(folder); !done)
    return done.error();
  if (Result<void> done = tokenizeDocuments(spec, tokenizer, options, writer); !done)
    return done.error();
  if (Result<void> done = writer.finish(); !done)
    return done.error();
  if (Result<void> done =
          writeFileAtomically(folder + "/tokenizer.json", tokenizer.serialized() + "\n");
      !done)
    return done.error();
  Result<nlohmann::json> files = describeFiles(spec);
  if (!files)
    return files.error();
  nlohmann::ordered_json header = {
      {"format", preparedFormat},
      {"version", 1},
      {"tokenizer",
       {{"kind", tokenizer.kind()},
        {"identity", tokenizer.identity()},
        {"vocabulary", tokenizer.vocabulary()},
        {"end_of_text", tokenizer.endOfText()}}},
      {"splits",
       {{"train", describe(writer.split(false), width)},
        {"validation", describe(writer.split(true), width)}}},
      {"split_rule", options.split},
      {"data_seed", seed},
      {"source", {{"kind", spec.kind}, {"options", spec.options}, {"files", *files}}}};
  if (Result<void> done = writeFileAtomically(
          folder + "/data.json",
          header.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
      !done)
    return done.error();
  return PrepareReport{writer.split(false).counts, writer.split(true).counts};
}

} // namespace

Result<PrepareReport> prepareTokens(const DataSpec &spec, const std::string &out, uint64_t seed) {
  if (Result<void> known = spec.allowOnly({"tokenizer", "split", "separator", "field"}); !known)
    return known.error();
  std::error_code error;
  if (fs::exists(out, error))
    return Error{fmt::format("'{}' is there already: choose another name or remove it", out)};
  Result<std::unique_ptr<Tokenizer>> tokenizer = tokenizerOf(spec);
  if (!tokenizer)
    return tokenizer.error();
  fs::path target = fs::absolute(fs::path(out), error).lexically_normal();
  if (!target.has_filename())
    target = target.parent_path();
  fs::create_directories(target.parent_path(), error);
  TemporaryFolder folder(target.string());
  if (!folder.error().empty())
    return Error{folder.error()};
  Result<PrepareReport> report = writeFolder(spec, **tokenizer, folder.path(), seed);
  if (report && !folder.commit().empty())
    return Error{folder.error()};
  return report;
}

} // namespace hybrid::rt
