//===- TextSuite.cpp - an evaluation of language models, as a file says it ----------===//
#include "training/evaluation/TextSuite.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "training/evaluation/NamedSuites.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <xxhash.h>

namespace hybrid::rt {
namespace {

struct Kind {
  std::string_view name;
  OpenTask open;
};
constexpr Kind kinds[] = {{"perplexity", openPerplexity},
                          {"last_word", openLastWord},
                          {"multiple_choice", openMultipleChoice},
                          {"generation", openGeneration},
                          {"needle", openNeedle}};

std::string namesOfKinds() {
  std::string names;
  for (const Kind &kind : kinds)
    names += (names.empty() ? "" : ", ") + std::string(kind.name);
  return names;
}

/// Null when something was noted.
Result<std::unique_ptr<SuiteTask>> openTask(const JsonNode &node, SuiteData &data,
                                            const TextScorer &scorer) {
  const std::string name = node.string("kind");
  for (const Kind &kind : kinds)
    if (kind.name == name)
      return kind.open(node, data, scorer);
  node.note("kind", fmt::format("'{}' is not known; known: {}", name, namesOfKinds()));
  return std::unique_ptr<SuiteTask>();
}

/// Names become keys and folders of whoever reads the results.
bool isName(std::string_view name) {
  return !name.empty() && name.size() <= 100 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

/// Of a file, or of a suite by its name, whose data `folder` must have.
Result<std::string> textOf(const std::string &path, const std::string &folder) {
  std::error_code none;
  if (std::filesystem::exists(path, none) || path.find_first_of("./") != std::string::npos)
    return readText(path);
  const auto named = namedSuite(path);
  if (!named)
    return Error{fmt::format("there is no file and no suite '{}'; suites by name: {}", path,
                             namesOfSuites())};
  if (folder.empty())
    return Error{fmt::format("the suite '{}' has no data beside it: say with --data-folder where "
                             "they are",
                             path)};
  return std::string(*named);
}

} // namespace

Result<TextSuite> readTextSuite(const std::string &path, const std::string &folder,
                                const TextScorer &scorer) {
  auto text = textOf(path, folder);
  auto document = text ? parseJson(*text, path, {.uniqueKeys = true}) : text.error();
  if (!document)
    return document.error();
  const std::filesystem::path file = path;
  SuiteData data(folder.empty() ? file.parent_path().string() : folder);
  std::string fault;
  JsonNode root(*document, "", fault);
  TextSuite suite;
  root.allowOnly({"name", "tasks"});
  suite.name = root.string("name", file.stem().string());
  for (const JsonNode &node : root.elements("tasks")) {
    const std::string name = node.string("name"), kind = node.string("kind");
    if (!isName(name))
      node.note("name", "must be a name of letters, digits, '_', '-' and '.'");
    for (const TextSuite::Entry &other : suite.tasks)
      if (other.name == name)
        node.note("name", fmt::format("'{}' is the name of another task", name));
    if (!fault.empty())
      break;
    auto task = openTask(node, data, scorer);
    if (!fault.empty())
      break;
    if (!task)
      return Error{fmt::format("{}: task '{}': {}", path, name, task.error().message)};
    suite.tasks.push_back({name, kind, std::move(*task)});
  }
  if (fault.empty() && suite.tasks.empty())
    root.note("tasks", "must not be empty");
  if (!fault.empty())
    return Error{fmt::format("{}: {}", path, fault)};
  suite.identity = {{"suite", fmt::format("{:016x}", XXH3_64bits(text->data(), text->size()))},
                    {"data", data.hashes()}};
  return suite;
}

} // namespace hybrid::rt
