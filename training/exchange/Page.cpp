//===- Page.cpp - the text of an imported model -------------------------------===//
#include "training/exchange/Page.h"
#include <fmt/format.h>

namespace hybrid::rt::exchange {

std::string spelled(double number) { return fmt::format("{}", number); }

Call::Call(std::string_view layer, std::string_view first)
    : line(fmt::format("{}({}", layer, first)), empty(first.empty()) {}

Call &Call::with(std::string_view name, std::string_view value) {
  line += fmt::format("{}{} = {}", empty ? "" : ", ", name, value);
  empty = false;
  return *this;
}
Call &Call::with(std::string_view name, int64_t value) {
  return with(name, std::string_view(std::to_string(value)));
}
Call &Call::with(std::string_view name, double value) {
  return with(name, std::string_view(spelled(value)));
}
Call &Call::with(std::string_view name, bool value) {
  return with(name, std::string_view(value ? "true" : "false"));
}

void Page::line(std::string text, int depth) {
  lines.push_back(std::string(static_cast<size_t>(2 * depth), ' ') + std::move(text));
}

std::string Page::text(std::string_view name, std::string_view heading,
                       std::string_view about) const {
  std::string text = fmt::format("// {}\n", heading);
  for (const std::string &module : modules)
    text += fmt::format("use {}\n", module);
  text += fmt::format("\n/// {}\nmodel {}() {{\n", about, name);
  for (const std::string &line : lines)
    text += line + "\n";
  return text + "}\n";
}

} // namespace hybrid::rt::exchange
