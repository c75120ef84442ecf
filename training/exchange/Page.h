//===- Page.h - the text of an imported model ---------------------------------===//
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt::exchange {

/// As the language spells a number, with all its digits.
std::string spelled(double number);

/// `layer(x, name = value, ...)`, written argument by argument.
class Call {
public:
  explicit Call(std::string_view layer, std::string_view first = "");
  Call &with(std::string_view name, std::string_view value);
  Call &with(std::string_view name, const char *value) {
    return with(name, std::string_view(value));
  }
  Call &with(std::string_view name, int64_t value);
  Call &with(std::string_view name, double value);
  Call &with(std::string_view name, bool value);
  /// Leaves out what the layer takes anyway.
  template <typename Value> Call &unless(Value usual, std::string_view name, Value value) {
    return value == usual ? *this : with(name, value);
  }
  std::string text() const { return line + ")"; }

private:
  std::string line;
  bool empty = true;
};

/// A file with one model, line by line.
class Page {
public:
  /// A part of the library that the model needs; in the order of their names.
  void use(std::string_view module) { modules.insert(std::string(module)); }
  /// A line of the model.
  void line(std::string text, int depth = 1);
  /// `heading` is said above it, `about` of the model.
  std::string text(std::string_view name, std::string_view heading, std::string_view about) const;

private:
  std::set<std::string> modules;
  std::vector<std::string> lines;
};

} // namespace hybrid::rt::exchange
