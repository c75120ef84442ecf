//===- JsonReader.h - the keys of an object, and the first fault with its place ------===//
#pragma once
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string>
#include <vector>

namespace hybrid::rt::lab {

inline Result<nlohmann::json> readJson(const std::string &path) {
  auto text = readText(path);
  if (!text)
    return text.error();
  return parseJson(*text, path);
}

/// Reads the keys of an object and remembers the first fault, with the way to it.
class JsonReader {
public:
  JsonReader(const nlohmann::json &value, std::string place, std::string &fault)
      : value(value), place(std::move(place)), fault(fault) {
    if (!value.is_object())
      fail("", "is no object");
  }

  template <typename Value> Value get(const char *key, std::optional<Value> fallback = {}) {
    known.emplace_back(key);
    if (!value.is_object() || !value.contains(key)) {
      if (!fallback)
        fail(key, "is missing");
      return fallback.value_or(Value{});
    }
    if (auto found = jsonField<Value>(value, key))
      return *found;
    fail(key, fmt::format("is {}, which is not of its type", jsonLine(value.at(key))));
    return fallback.value_or(Value{});
  }
  std::vector<std::string> texts(const char *key) {
    std::vector<std::string> list;
    if (const nlohmann::json *array = at(key, nlohmann::json::value_t::array)) {
      for (const nlohmann::json &each : *array)
        if (each.is_string())
          list.push_back(each.get<std::string>());
        else
          fail(key, "holds something that is no text");
    }
    return list;
  }
  /// NAME=VALUE of an object.
  std::vector<std::string> settings(const char *key) {
    std::vector<std::string> list;
    if (const nlohmann::json *object = at(key, nlohmann::json::value_t::object))
      for (const auto &[name, each] : object->items())
        list.push_back(name + "=" + (each.is_string() ? each.get<std::string>() : each.dump()));
    return list;
  }
  /// The value of a key that may be missing.
  const nlohmann::json *at(const char *key, nlohmann::json::value_t type) {
    known.emplace_back(key);
    if (!value.is_object() || !value.contains(key))
      return nullptr;
    if (value.at(key).type() == type)
      return &value.at(key);
    fail(key, fmt::format("is no {}", type == nlohmann::json::value_t::array ? "array" : "object"));
    return nullptr;
  }
  /// Whatever else is there is a fault.
  void end() {
    if (value.is_object())
      for (const auto &[key, each] : value.items())
        if (std::find(known.begin(), known.end(), key) == known.end())
          fail(key.c_str(), fmt::format("is no key here; there are {}", fmt::join(known, ", ")));
  }
  void fail(const char *key, const std::string &what) {
    if (fault.empty())
      fault = fmt::format("{}{}{}: {}", place, *key && !place.empty() ? "." : "", key, what);
  }
  std::string placeOf(const char *key) const {
    return place.empty() ? key : fmt::format("{}.{}", place, key);
  }

private:
  const nlohmann::json &value;
  std::string place;
  std::string &fault;
  std::vector<std::string> known;
};

} // namespace hybrid::rt::lab
