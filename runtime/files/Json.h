//===- Json.h - JSON documents, read and written ------------------------------===//
//
// The one reader of JSON that comes from outside. It builds the document itself, because the
// library's own way is quadratic where keys are counted, and lets nothing through that would end
// the program later: the library prints documents by recursion and throws what libraries built
// without exceptions cannot catch.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hybrid::rt {

struct JsonRules {
  int depth = 64;          // most brackets open at a time
  bool uniqueKeys = false; // an object must not name a key twice: one would hide the other
};

/// Errors begin with `name` and say the byte.
Result<nlohmann::json> parseJson(std::string_view text, const std::string &name,
                                 const JsonRules &rules = {});
/// The same where what cannot be read is as good as nothing: null then.
nlohmann::json parseJsonOrNull(std::string_view text);

/// A field of an object, if it is there and of this type: std::string, bool, double or an integer
/// that the value fits.
template <typename Value>
std::optional<Value> jsonField(const nlohmann::json &object, std::string_view key) {
  auto found = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || found == object.end())
    return std::nullopt;
  if constexpr (std::is_same_v<Value, std::string>) {
    if (found->is_string())
      return found->template get<std::string>();
  } else if constexpr (std::is_same_v<Value, bool>) {
    if (found->is_boolean())
      return found->template get<bool>();
  } else if constexpr (std::is_floating_point_v<Value>) {
    if (found->is_number())
      return found->template get<Value>();
  } else if (found->is_number_unsigned()) {
    if (auto number = found->template get<uint64_t>(); std::in_range<Value>(number))
      return static_cast<Value>(number);
  } else if (found->is_number_integer()) {
    if (auto number = found->template get<int64_t>(); std::in_range<Value>(number))
      return static_cast<Value>(number);
  }
  return std::nullopt;
}

/// Indented by two. What is not UTF-8, as a path may be, is replaced: the library would throw.
template <typename Json> std::string jsonText(const Json &value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}
/// On one line.
template <typename Json> std::string jsonLine(const Json &value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace hybrid::rt
