//===- NamedSuites.h - suites that need no file ----------------------------------===//
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace hybrid::rt {

/// The text of a suite that everyone asks for: as in a file, of data by the names that its
/// publishers gave them. Nothing for other names.
std::optional<std::string_view> namedSuite(std::string_view name);
/// "lambada, superglue, ...", for messages.
std::string namesOfSuites();

} // namespace hybrid::rt
