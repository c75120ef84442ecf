//===- Printable.h - text from outside, for a terminal -------------------------===//
#pragma once
#include <string>
#include <string_view>

namespace hybrid {

/// The text with control characters as \\xNN, but for tabs and ends of lines: names in files and
/// what stands in a source may hold anything, and a terminal would obey it.
std::string printable(std::string_view text);

} // namespace hybrid
