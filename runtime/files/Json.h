//===- Json.h - JSON as text -------------------------------------------------===//
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace hybrid::rt {

/// Indented by two. What is not UTF-8, as a path may be, is replaced: the library would throw.
template <typename Json> std::string jsonText(const Json &value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

} // namespace hybrid::rt
