//===- Names.cpp - names and numbers as reports and tables say them --------------===//
#include "laboratory/Names.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hybrid::rt::lab {
namespace {

struct Name {
  std::string_view name, title, word;
};
constexpr Name tasks[] = {
    {"in-context-recall", "In-context recall", "In-context"},
    {"noisy-in-context-recall", "Noisy in-context recall", "Noisy"},
    {"fuzzy-in-context-recall", "Fuzzy in-context recall", "Fuzzy"},
    {"selective-copying", "Selective copying", "Copying"},
    {"compression", "Compression", "Compress"},
    {"memorization", "Memorization", "Memorize"},
};
constexpr Name axes[] = {
    {"vocab", "vocabulary", ""},
    {"length", "sequence length", ""},
    {"train_examples", "training examples", ""},
    {"frac_noise", "share of noise", ""},
};

std::string spaced(std::string_view name) {
  std::string text(name);
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '-' || c == '_'; }, ' ');
  return text;
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

} // namespace

std::string taskTitle(std::string_view task) {
  for (const Name &each : tasks)
    if (each.name == task)
      return std::string(each.title);
  return capital(spaced(task));
}

std::string taskWord(std::string_view task) {
  for (const Name &each : tasks)
    if (each.name == task)
      return std::string(each.word);
  std::string text = capital(spaced(task));
  return text.size() > 11 ? text.substr(0, text.find(' ')).substr(0, 10) + "…" : text;
}

std::string axisTitle(std::string_view axis) {
  for (const Name &each : axes)
    if (each.name == axis)
      return std::string(each.title);
  return spaced(axis);
}

std::string settingTitle(std::string_view axis, double value) {
  return axis == "baseline" ? "baseline" : fmt::format("{} {}", axisTitle(axis), value);
}

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f}", share * 100) : "–";
}

std::string points(double difference) {
  if (!std::isfinite(difference))
    return "–";
  std::string digits = fmt::format("{:.1f}", std::fabs(difference) * 100);
  return (digits == "0.0" ? "±" : difference < 0 ? "−" : "+") + digits;
}

std::string counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

} // namespace hybrid::rt::lab
