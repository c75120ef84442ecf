//===- Print.h - formatted text on a stream ----------------------------------===//
#pragma once
#include <cstdio>
#include <fmt/format.h>
#include <utility>

namespace hybrid::rt {

/// Unlike fmt::print, which ends a program built without exceptions when a write fails, this leaves
/// it to the stream to remember that: main() asks standard output at the end.
template <typename... Values>
void say(std::FILE *stream, fmt::format_string<Values...> format, Values &&...values) {
  std::string text = fmt::format(format, std::forward<Values>(values)...);
  std::fwrite(text.data(), 1, text.size(), stream);
}
template <typename... Values> void say(fmt::format_string<Values...> format, Values &&...values) {
  say(stdout, format, std::forward<Values>(values)...);
}

} // namespace hybrid::rt
