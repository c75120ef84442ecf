//===- Records.cpp - examples of an evaluation ----------------------------------===//
#include "training/evaluation/Records.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include <fmt/format.h>
#include <functional>

namespace hybrid::rt {

Result<const nlohmann::json *> Record::find(std::string_view path) const {
  const nlohmann::json *at = &fields;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string_view key = path.substr(begin, end - begin);
    auto found = at->is_object() ? at->find(key) : at->end();
    if (!at->is_object() || found == at->end())
      return Error{fmt::format("{}: there is no field '{}'", place, path)};
    at = &*found;
    begin = end + 1;
  }
  return at;
}

Result<std::string> Record::text(std::string_view path) const {
  auto field = find(path);
  if (!field)
    return field.error();
  const nlohmann::json &value = **field;
  if (value.is_string())
    return value.get<std::string>();
  if (value.is_number_integer() || value.is_boolean())
    return value.dump();
  return Error{
      fmt::format("{}: field '{}' must be a string, a whole number, true or false", place, path)};
}

/// A line's record, or one that `read` makes of it.
static Result<std::vector<Record>>
readEach(const std::string &path, const std::string &content,
         const std::function<Result<nlohmann::json>(std::string_view, const std::string &)> &read) {
  std::vector<Record> records;
  size_t number = 0;
  for (size_t begin = 0; begin < content.size();) {
    const size_t end = std::min(content.find('\n', begin), content.size());
    const std::string_view line = std::string_view(content).substr(begin, end - begin);
    begin = end + 1;
    const std::string place = fmt::format("{}:{}", path, ++number);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos)
      continue;
    auto value = read(line, place);
    if (!value)
      return value.error();
    if (!value->is_object())
      return Error{fmt::format("{}: an object is expected", place)};
    records.push_back({std::move(*value), place});
  }
  if (records.empty())
    return Error{fmt::format("'{}' has no records", path)};
  return records;
}

static Result<nlohmann::json> readJson(std::string_view line, const std::string &place) {
  return parseJson(line, place, {.uniqueKeys = true});
}

Result<std::vector<Record>> readRecords(const std::string &path) {
  auto content = readText(path);
  if (!content)
    return content.error();
  if (path.ends_with(".jsonl"))
    return readEach(path, *content, readJson);
  return std::vector<Record>{{{{"text", std::move(*content)}}, path + ":1"}};
}

Result<std::vector<Record>> readLines(const std::string &path, const std::string &field) {
  auto content = readText(path);
  if (!content)
    return content.error();
  if (path.ends_with(".jsonl"))
    return readEach(path, *content, readJson);
  return readEach(path, *content,
                  [&](std::string_view line, const std::string &) -> Result<nlohmann::json> {
                    return nlohmann::json{{field, std::string(line)}};
                  });
}

Result<TextTemplate> TextTemplate::parse(std::string_view text) {
  TextTemplate made;
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
      plain += c;
      ++i;
    } else if (c == '{') {
      const size_t end = text.find('}', i);
      const std::string_view name = text.substr(i + 1, end - i - 1);
      if (end == std::string_view::npos || name.empty() || name.find('{') != std::string_view::npos)
        return Error{fmt::format("'{{' at byte {} begins no field: write {{name}}, or {{{{ for a "
                                 "brace",
                                 i)};
      made.parts.push_back({std::exchange(plain, {})});
      made.parts.push_back({std::string(name), true});
      i = end;
    } else if (c == '}') {
      return Error{fmt::format("'}}' at byte {} ends no field: write }}}} for a brace", i)};
    } else {
      plain += c;
    }
  }
  made.parts.push_back({plain});
  return made;
}

Result<std::string> TextTemplate::fill(const Record &record) const {
  std::string filled;
  for (const Part &part : parts) {
    auto text = part.isField ? record.text(part.text) : Result<std::string>(part.text);
    if (!text)
      return text;
    filled += *text;
  }
  return filled;
}

} // namespace hybrid::rt
