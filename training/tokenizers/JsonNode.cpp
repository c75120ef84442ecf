//===- JsonNode.cpp - reading a JSON document that is not trusted -----------===//
#include "training/tokenizers/JsonNode.h"
#include "training/tokenizers/Utf8.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hybrid::rt {

static const nlohmann::json nothing;

JsonNode JsonNode::operator[](std::string_view key) const {
  std::string child = path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
  auto found = value->is_object() ? value->find(key) : value->end();
  return {found == value->end() ? nothing : *found, child, *fault};
}

std::vector<JsonNode> JsonNode::elements(std::string_view key) const {
  JsonNode list = (*this)[key];
  std::vector<JsonNode> nodes;
  if (!list.json().is_array()) {
    note(key, "must be a list");
    return nodes;
  }
  for (const auto &element : list.json())
    nodes.emplace_back(element, fmt::format("{}[{}]", list.path, nodes.size()), *fault);
  return nodes;
}

bool JsonNode::readSequence(std::string_view key,
                            const std::function<void(const JsonNode &)> &read) const {
  if (string("type") != "Sequence")
    return false;
  allowOnly({"type", key});
  for (const JsonNode &element : elements(key))
    read(element);
  return true;
}

std::string JsonNode::string(std::string_view key) const {
  JsonNode field = (*this)[key];
  if (field.json().is_string())
    return field.json().get<std::string>();
  note(key, "must be a string");
  return {};
}

std::string JsonNode::string(std::string_view key, std::string_view otherwise) const {
  return (*this)[key].isNull() ? std::string(otherwise) : string(key);
}

bool JsonNode::boolean(std::string_view key, bool otherwise) const {
  JsonNode field = (*this)[key];
  if (field.json().is_boolean())
    return field.json().get<bool>();
  if (!field.isNull())
    note(key, "must be true or false");
  return otherwise;
}

uint64_t JsonNode::count(std::string_view key, uint64_t most) const {
  const nlohmann::json &field = (*this)[key].json();
  if (field.is_number_unsigned() && field.get<uint64_t>() <= most)
    return field.get<uint64_t>();
  note(key, fmt::format("must be a number from 0 to {}", most));
  return 0;
}

uint64_t JsonNode::count(std::string_view key, uint64_t most, uint64_t otherwise) const {
  return (*this)[key].isNull() ? otherwise : count(key, most);
}

double JsonNode::number(std::string_view key, double least, double most, double otherwise) const {
  const nlohmann::json &field = (*this)[key].json();
  if (field.is_null())
    return otherwise;
  if (field.is_number() && field.get<double>() >= least && field.get<double>() <= most)
    return field.get<double>();
  note(key, fmt::format("must be a number from {:g} to {:g}", least, most));
  return otherwise;
}

uint32_t JsonNode::character(std::string_view key, uint32_t otherwise) const {
  if ((*this)[key].isNull())
    return otherwise;
  std::string text = string(key);
  if (!text.empty())
    if (utf8::Character first = utf8::at(text, 0);
        first.isWellFormed() && first.bytes == text.size())
      return first.point;
  note(key, "must be one character");
  return otherwise;
}

size_t JsonNode::choice(std::string_view key, std::initializer_list<std::string_view> words,
                        size_t otherwise) const {
  if ((*this)[key].isNull())
    return otherwise;
  std::string chosen = string(key);
  size_t i = 0;
  for (std::string_view word : words) {
    if (word == chosen)
      return i;
    ++i;
  }
  note(key, fmt::format("'{}' is not supported; supported: {}", chosen, fmt::join(words, ", ")));
  return otherwise;
}

void JsonNode::allowOnly(std::initializer_list<std::string_view> keys) const {
  if (!value->is_object())
    return refuse("must be an object");
  for (const auto &[key, ignored] : value->items())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      note(key, fmt::format("is not supported; supported here: {}", fmt::join(keys, ", ")));
}

void JsonNode::note(std::string_view key, std::string_view what) const {
  if (!fault->empty())
    return;
  std::string place = (*this).path;
  if (!key.empty())
    place += (place.empty() ? "" : ".") + std::string(key);
  *fault = fmt::format("{}: {}", place.empty() ? "the document" : place, what);
}

} // namespace hybrid::rt
