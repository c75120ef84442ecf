//===- SuiteFolder.cpp - scores of an evaluation that may be stopped -----------------===//
#include "training/evaluation/SuiteFolder.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace hybrid::rt {
namespace {

using nlohmann::json;

/// Of a share: infinite where a model rules out what is so, for which JSON has no number.
json numberJson(double number) {
  return std::isfinite(number) ? json(number)
                               : json(std::isnan(number) ? "nan" : fmt::format("{}", number));
}

std::optional<double> numberFrom(const json &value) {
  if (value.is_number())
    return value.get<double>();
  for (double number : {INFINITY, -INFINITY, NAN})
    if (value == numberJson(number))
      return number;
  return std::nullopt;
}

json lineOf(const std::string &task, size_t example, const std::vector<Share> &shares) {
  json list = json::array();
  for (const Share &share : shares)
    list.push_back({share.figure, numberJson(share.part), numberJson(share.whole)});
  return {{"task", task}, {"example", example}, {"shares", std::move(list)}};
}

std::optional<std::vector<Share>> sharesOf(const json &line) {
  auto found = line.find("shares");
  if (found == line.end() || !found->is_array())
    return std::nullopt;
  std::vector<Share> shares;
  for (const json &each : *found) {
    if (!each.is_array() || each.size() != 3 || !each[0].is_string())
      return std::nullopt;
    auto part = numberFrom(each[1]), whole = numberFrom(each[2]);
    if (!part || !whole)
      return std::nullopt;
    shares.push_back({each[0].get<std::string>(), *part, *whole});
  }
  return shares;
}

} // namespace

Result<SuiteFolder> SuiteFolder::open(const std::string &path, const json &identity) {
  if (auto made = makeFolder(path); !made)
    return made.error();
  SuiteFolder opened(path);
  auto lock = FolderLock::take(path);
  if (!lock)
    return lock.error();
  opened.lock.emplace(std::move(*lock));
  if (auto same = opened.checkIdentity(identity); !same)
    return same.error();
  if (auto read = opened.readExamples(); !read)
    return read.error();
  return opened;
}

Result<void> SuiteFolder::checkIdentity(const json &identity) const {
  const std::string path = folder + "/evaluation.json";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    if (!std::filesystem::is_empty(folder, error))
      return Error{
          fmt::format("'{}' is not empty, and holds no evaluation: give another --out", folder)};
    return writeFileAtomically(path, jsonText(identity) + "\n");
  }
  auto text = readText(path);
  auto there = text ? parseJson(*text, path) : text.error();
  if (!there)
    return there.error();
  for (const auto &[key, value] : identity.items())
    if (!there->is_object() || !there->contains(key) || (*there)[key] != value)
      return Error{fmt::format("'{}' holds an evaluation whose '{}' is another one: give another "
                               "--out",
                               folder, key)};
  return {};
}

Result<void> SuiteFolder::readExamples() {
  const std::string path = folder + "/examples.jsonl";
  auto file = AppendFile::open(path);
  auto text = file ? readText(path) : file.error();
  if (!text)
    return text.error();
  size_t begin = 0, number = 0;
  for (size_t end = text->find('\n'); end != std::string::npos; end = text->find('\n', begin)) {
    ++number;
    const json line = parseJsonOrNull(std::string_view(*text).substr(begin, end - begin));
    auto task = jsonField<std::string>(line, "task");
    auto example = jsonField<size_t>(line, "example");
    auto shares = line.is_object() ? sharesOf(line) : std::nullopt;
    if (!task || !example || !shares)
      return Error{fmt::format("{}:{}: this line was changed: give another --out", path, number)};
    known[{*task, *example}] = std::move(*shares);
    begin = end + 1;
  }
  if (auto done = file->cut(begin); !done) // a part of a line is left when a machine stops
    return done;
  examples.emplace(std::move(*file));
  return {};
}

const std::vector<Share> *SuiteFolder::find(const std::string &task, size_t example) const {
  auto found = known.find({task, example});
  return found == known.end() ? nullptr : &found->second;
}

Result<void> SuiteFolder::keep(const std::string &task, size_t example,
                               const std::vector<Share> &shares) {
  return examples->append(jsonLine(lineOf(task, example, shares)) + "\n");
}

Result<void> SuiteFolder::finish(const json &results) {
  if (auto done = examples->sync(); !done)
    return done;
  return writeFileAtomically(folder + "/results.json", jsonText(results) + "\n");
}

} // namespace hybrid::rt
