//===- Parameters.cpp - the k=v list of a task on the command line ----------===//
#include "training/tasks/Parameters.h"
#include "executable/NearestName.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hybrid::rt {

Result<TaskParameters> TaskParameters::parse(std::string_view spec) {
  TaskParameters parameters;
  size_t colon = spec.find(':');
  parameters.name = spec.substr(0, colon);
  if (parameters.name.empty())
    return Error{fmt::format("task '{}': expected NAME or NAME:key=value,key=value", spec)};
  if (colon == std::string_view::npos)
    return parameters;
  std::string_view rest = spec.substr(colon + 1);
  while (!rest.empty()) {
    size_t comma = rest.find(',');
    std::string_view item = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return Error{fmt::format("task {}: expected key=value, found '{}'", parameters.name, item)};
    std::string key(item.substr(0, equals));
    for (const auto &[known, value] : parameters.items)
      if (known == key)
        return Error{fmt::format("task {}: {} is given twice", parameters.name, key)};
    parameters.items.emplace_back(key, std::string(item.substr(equals + 1)));
  }
  return parameters;
}

std::string *TaskParameters::given(const std::string &key) {
  for (auto &[known, value] : items)
    if (known == key)
      return &value;
  return nullptr;
}

int64_t TaskParameters::integer(const std::string &key, int64_t fallback, int64_t least,
                                int64_t most) {
  int64_t value = fallback;
  if (const std::string *text = given(key)) {
    auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (code != std::errc() || end != text->data() + text->size() || value < least ||
        value > most) {
      faults.push_back(
          fmt::format("{} must be an integer from {} to {}, not '{}'", key, least, most, *text));
      value = fallback;
    }
  }
  values.emplace_back(key, fmt::format("{}", value));
  return value;
}

double TaskParameters::number(const std::string &key, double fallback, double least, double most) {
  double value = fallback;
  if (const std::string *text = given(key)) {
    auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (code != std::errc() || end != text->data() + text->size() ||
        !(value >= least && value <= most)) {
      faults.push_back(
          fmt::format("{} must be a number from {} to {}, not '{}'", key, least, most, *text));
      value = fallback;
    }
  }
  values.emplace_back(key, fmt::format("{}", value));
  return value;
}

bool TaskParameters::boolean(const std::string &key, bool fallback) {
  bool value = fallback;
  if (const std::string *text = given(key)) {
    if (*text == "true" || *text == "True" || *text == "1")
      value = true;
    else if (*text == "false" || *text == "False" || *text == "0")
      value = false;
    else
      faults.push_back(fmt::format("{} must be true or false, not '{}'", key, *text));
  }
  values.emplace_back(key, value ? "true" : "false");
  return value;
}

std::string TaskParameters::choice(const std::string &key, const std::string &fallback,
                                   std::span<const std::string> choices) {
  std::string value = fallback;
  if (const std::string *text = given(key)) {
    if (std::find(choices.begin(), choices.end(), *text) != choices.end())
      value = *text;
    else
      faults.push_back(fmt::format("{} must be one of {}, not '{}'", key,
                                   fmt::join(choices.begin(), choices.end(), ", "), *text));
  }
  values.emplace_back(key, value);
  return value;
}

Result<void> TaskParameters::finish() const {
  std::vector<std::string> known;
  for (const auto &[key, value] : values)
    known.push_back(key);
  std::vector<std::string> messages = faults;
  for (const auto &[key, value] : items) {
    if (std::find(known.begin(), known.end(), key) != known.end())
      continue;
    std::string message = fmt::format("it has no parameter '{}'", key);
    if (std::string nearest = nearestName(key, known); !nearest.empty())
      message += fmt::format(", did you mean '{}'?", nearest);
    messages.push_back(message + fmt::format(" (known: {})", fmt::join(known, ", ")));
  }
  if (messages.empty())
    return {};
  return Error{fmt::format("task {}: {}", name, fmt::join(messages, "; "))};
}

} // namespace hybrid::rt
