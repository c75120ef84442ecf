//===- Config.cpp - the settings of a model in Hugging Face's layout ----------===//
#include "training/exchange/Config.h"
#include "runtime/files/Json.h"
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace hybrid::rt::exchange {
namespace {

constexpr int64_t most = int64_t{1} << 24;

/// Python's spellings of what JSON has no number for, as transformers 5 spells them.
std::string withoutBareNumbers(std::string_view text) {
  std::string result;
  bool inString = false;
  for (size_t i = 0; i < text.size();) {
    if (inString && text[i] == '\\') {
      result += text.substr(i, 2);
      i += 2;
      continue;
    }
    if (text[i] == '"')
      inString = !inString;
    std::string_view found;
    if (!inString)
      for (std::string_view word : {"-Infinity", "Infinity", "NaN"})
        if (text.substr(i, word.size()) == word) {
          found = word;
          break;
        }
    if (found.empty()) {
      result += text[i++];
      continue;
    }
    result += fmt::format(R"({{"__float__": "{}"}})", found);
    i += found.size();
  }
  return result;
}

std::string shortened(const nlohmann::json &value) {
  std::string text = jsonLine(value);
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

} // namespace

Result<Config> Config::parse(std::string_view text, const std::string &name) {
  auto document = parseJson(withoutBareNumbers(text), name, {.uniqueKeys = true});
  if (!document)
    return document.error();
  if (!document->is_object())
    return Error{fmt::format("{}: an object of settings is expected", name)};
  auto shared = std::make_shared<Shared>();
  shared->name = name;
  return Config(std::move(*document), "", std::move(shared));
}

bool Config::has(Keys keys) const {
  for (std::string_view key : keys)
    if (auto found = object.find(key); found != object.end() && !found->is_null())
      return true;
  return false;
}

bool Config::isNull(std::string_view key) const {
  auto found = object.find(key);
  return found != object.end() && found->is_null();
}

bool Config::isWord(std::string_view key) const {
  auto found = object.find(key);
  return found != object.end() && found->is_string();
}

const nlohmann::json *Config::find(Keys keys) {
  const nlohmann::json *value = nullptr;
  std::string_view first;
  for (std::string_view key : keys) {
    read->insert(std::string(key));
    auto found = object.find(key);
    if (found == object.end() || found->is_null())
      continue;
    if (value && *value != *found)
      fault(fmt::format("'{}' is {}, but '{}' is {}: give one of them", spelled(first),
                        shortened(*value), spelled(key), shortened(*found)));
    if (!value)
      value = &*found, first = key;
  }
  return value;
}

std::string Config::nameOf(Keys keys) const {
  for (std::string_view key : keys)
    if (has({key}))
      return spelled(key);
  return spelled(*keys.begin());
}

void Config::unexpected(Keys keys, const nlohmann::json &value, std::string_view expected) {
  fault(fmt::format("'{}' is {}, expected {}", nameOf(keys), shortened(value), expected));
}

void Config::missing(Keys keys) { fault(fmt::format("'{}' is missing", spelled(*keys.begin()))); }

int64_t Config::integer(Keys keys, std::optional<int64_t> otherwise, int64_t least) {
  const nlohmann::json *value = find(keys);
  const int64_t fallback = otherwise.value_or(std::max<int64_t>(1, least));
  if (!value && !otherwise)
    missing(keys);
  if (!value)
    return fallback;
  if (!value->is_number_integer() || (value->is_number_unsigned() && *value > most) ||
      *value < least || *value > most) {
    unexpected(keys, *value, fmt::format("an integer from {} to {}", least, most));
    return fallback;
  }
  return value->get<int64_t>();
}

int64_t Config::size(Keys keys, std::optional<int64_t> otherwise) {
  return integer(keys, otherwise, 1);
}
int64_t Config::count(Keys keys, std::optional<int64_t> otherwise) {
  return integer(keys, otherwise, 0);
}

double Config::numberOrInfinity(const nlohmann::json &value, const std::string &key) {
  if (value.is_number())
    return value.get<double>();
  if (auto spelledOut = jsonField<std::string>(value, "__float__")) {
    if (*spelledOut == "Infinity")
      return std::numeric_limits<double>::infinity();
    if (*spelledOut == "-Infinity")
      return -std::numeric_limits<double>::infinity();
  }
  fault(fmt::format("'{}' is {}, expected a number", spelled(key), shortened(value)));
  return 0;
}

double Config::number(Keys keys, std::optional<double> otherwise) {
  const nlohmann::json *value = find(keys);
  if (!value && !otherwise)
    missing(keys);
  if (!value)
    return otherwise.value_or(1);
  if (!value->is_number() || !std::isfinite(value->get<double>())) {
    unexpected(keys, *value, "a number");
    return otherwise.value_or(1);
  }
  return value->get<double>();
}

bool Config::flag(Keys keys, std::optional<bool> otherwise) {
  const nlohmann::json *value = find(keys);
  if (!value && !otherwise)
    missing(keys);
  if (value && !value->is_boolean())
    unexpected(keys, *value, "true or false");
  return value && value->is_boolean() ? value->get<bool>() : otherwise.value_or(false);
}

std::string Config::word(Keys keys, std::optional<std::string> otherwise) {
  const nlohmann::json *value = find(keys);
  if (!value && !otherwise)
    missing(keys);
  if (value && !value->is_string())
    unexpected(keys, *value, "a word");
  return value && value->is_string() ? value->get<std::string>() : otherwise.value_or("");
}

std::vector<nlohmann::json> Config::list(std::string_view key) {
  const nlohmann::json *value = find({key});
  if (value && !value->is_array())
    unexpected({key}, *value, "a list");
  if (!value || !value->is_array())
    return {};
  return {value->begin(), value->end()};
}

std::vector<std::string> Config::words(std::string_view key) {
  std::vector<std::string> words;
  for (const nlohmann::json &word : list(key))
    if (word.is_string())
      words.push_back(word.get<std::string>());
    else
      unexpected({key}, word, "a list of words");
  return words;
}

std::vector<int64_t> Config::integers(std::string_view key) {
  std::vector<int64_t> integers;
  for (const nlohmann::json &number : list(key))
    if (number.is_number_integer() && number >= 0 && number <= most)
      integers.push_back(number.get<int64_t>());
    else
      unexpected({key}, number, fmt::format("a list of integers from 0 to {}", most));
  return integers;
}

Config Config::part(std::string_view key) {
  const nlohmann::json *value = find({key});
  if (value && !value->is_object())
    unexpected({key}, *value, "an object");
  Config part(value && value->is_object() ? *value : nlohmann::json::object(), spelled(key) + ".",
              shared);
  shared->parts.push_back(part);
  return part;
}

void Config::only(std::string_view key, const nlohmann::json &value, std::string_view why) {
  const nlohmann::json *found = find({key});
  if (found && *found != value)
    unexpected({key}, *found, fmt::format("{}: {}", shortened(value), why));
}

void Config::withoutEffect(std::initializer_list<std::string_view> keys) {
  for (std::string_view key : keys)
    read->insert(std::string(key));
}

void Config::fault(std::string text) { shared->faults.push_back(std::move(text)); }

void Config::unread(std::vector<std::string> &names) const {
  for (const auto &[key, value] : object.items())
    if (!read->contains(key))
      names.push_back("'" + spelled(key) + "'");
}

Result<void> Config::finish() const {
  std::vector<std::string> unknown, faults = shared->faults;
  unread(unknown);
  for (const Config &part : shared->parts)
    part.unread(unknown);
  if (!unknown.empty())
    faults.push_back(fmt::format("{} {} not known here and may change what the model computes. "
                                 "Remove what does not",
                                 fmt::join(unknown, ", "), unknown.size() == 1 ? "is" : "are"));
  if (faults.empty())
    return {};
  return Error{fmt::format("{}: {}", shared->name, fmt::join(faults, "; "))};
}

} // namespace hybrid::rt::exchange
