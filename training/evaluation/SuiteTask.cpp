//===- SuiteTask.cpp - what tasks of an evaluation have alike -----------------------===//
#include "training/evaluation/SuiteTask.h"
#include "training/data/Documents.h"
#include <algorithm>
#include <filesystem>
#include <limits>

namespace hybrid::rt {

Result<std::shared_ptr<const std::vector<Record>>> SuiteData::records(const std::string &path) {
  auto &place = files[path];
  if (!place) {
    const std::string full = (std::filesystem::path(folder) / path).string();
    uint64_t bytes = 0;
    auto hash = hashOfFile(full, bytes);
    if (!hash)
      return hash.error();
    auto read = readRecords(full);
    if (!read)
      return read.error();
    known[path] = *hash;
    place = std::make_shared<const std::vector<Record>>(std::move(*read));
  }
  return place;
}

TextTemplate templateOf(const JsonNode &node, std::string_view key) {
  auto parsed = TextTemplate::parse(node.string(key));
  if (parsed)
    return *parsed;
  node.note(key, parsed.error().message);
  return {};
}

TextTemplate templateOf(const JsonNode &node, std::string_view key, std::string_view otherwise) {
  return node[key].isNull() ? *TextTemplate::parse(otherwise) : templateOf(node, key);
}

std::vector<std::string> stringsOf(const JsonNode &node, std::string_view key,
                                   std::vector<std::string> otherwise) {
  if (node[key].isNull())
    return otherwise;
  std::vector<std::string> texts;
  for (const JsonNode &element : node.elements(key)) {
    if (element.json().is_string())
      texts.push_back(element.json().get<std::string>());
    else
      element.refuse("must be a string");
  }
  return texts;
}

size_t limitOf(const JsonNode &node, size_t all) {
  const uint64_t limit = node.count("limit", INT64_MAX, 0);
  return limit ? std::min<size_t>(all, limit) : all;
}

} // namespace hybrid::rt
