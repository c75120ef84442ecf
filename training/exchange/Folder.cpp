//===- Folder.cpp - folders of models, read and made ----------------------------===//
#include "training/exchange/Folder.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hybrid::rt::exchange {
namespace {

namespace fs = std::filesystem;
/// As much as a tokenizer may have.
constexpr uint64_t largestSideFile = uint64_t{256} << 20;

constexpr std::string_view sideFiles[] = {"generation_config.json",
                                          "tokenizer.json",
                                          "tokenizer_config.json",
                                          "special_tokens_map.json",
                                          "added_tokens.json",
                                          "tokenizer.model",
                                          "vocab.json",
                                          "merges.txt",
                                          "chat_template.jinja",
                                          "chat_template.json",
                                          "config.json"};

} // namespace

Result<OutputFolder> OutputFolder::create(const std::string &path) {
  OutputFolder folder;
  folder.path = path;
  std::error_code error;
  if (fs::exists(path, error)) {
    const bool isFolder = fs::is_directory(path, error);
    if (!isFolder || !fs::is_empty(path, error) || error)
      return Error{fmt::format("'{}' is {}: give a folder that is not there yet", path,
                               isFolder ? "not empty" : "no folder")};
    return folder;
  }
  if (auto done = makeFolder(path); !done)
    return done.error();
  folder.made = true;
  return folder;
}

OutputFolder::OutputFolder(OutputFolder &&other) noexcept
    : path(std::move(other.path)), written(std::move(other.written)), made(other.made) {
  other.keep();
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  for (const fs::path &file : written)
    fs::remove(file, ignored);
  if (made)
    fs::remove(path, ignored); // if it is empty
}

std::string OutputFolder::file(const std::string &name) {
  written.push_back(path / name);
  return written.back().string();
}

Result<void> OutputFolder::write(const std::string &name, std::string_view content) {
  return writeFileAtomically(file(name), content);
}

Result<std::vector<std::pair<std::string, std::string>>> readSideFiles(const std::string &folder) {
  std::vector<std::pair<std::string, std::string>> files;
  for (std::string_view name : sideFiles) {
    const std::string path = (fs::path(folder) / name).string();
    std::error_code ignored;
    if (!fs::exists(path, ignored))
      continue;
    auto bytes = readFile(path, largestSideFile);
    if (!bytes)
      return bytes.error();
    files.emplace_back(name,
                       std::string(reinterpret_cast<const char *>(bytes->data()), bytes->size()));
  }
  return files;
}

Result<Described> describe(const std::string &folder) {
  const std::string path = (fs::path(folder) / "config.json").string();
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    return Error{fmt::format("'{}' is no folder: give the folder that holds config.json and the "
                             "weights",
                             folder)};
  auto text = readText(path);
  if (!text)
    return text.error();
  auto config = Config::parse(*text, path);
  if (!config)
    return config.error();
  Described described;
  described.type = config->word({"model_type"}, "");
  std::vector<std::string> known;
  for (const Family &family : families()) {
    known.emplace_back(family.type);
    if (family.type != described.type)
      continue;
    described.architecture = family.read(*config);
    if (auto done = config->finish(); !done)
      return done.error();
    return described;
  }
  return Error{fmt::format("{}: 'model_type' is '{}', of which there is no import. Known are {}",
                           path, described.type, fmt::join(known, ", "))};
}

std::string someOf(const std::vector<std::string> &names) {
  constexpr size_t shown = 4;
  std::string text;
  for (size_t i = 0; i < std::min(shown, names.size()); ++i)
    text += fmt::format("{}'{}'", i ? ", " : "", names[i]);
  if (names.size() > shown)
    text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

} // namespace hybrid::rt::exchange
