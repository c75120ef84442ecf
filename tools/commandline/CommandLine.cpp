//===- CommandLine.cpp - what the command lines of both programs have alike -----===//
#include "tools/commandline/CommandLine.h"
#include "executable/NearestName.h"
#include "tools/commandline/Manual.h"
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hybrid::tools {
namespace {

/// A lowest value up to the first says "above 0"; a highest one from the second on is not shown.
constexpr double aboveZero = 1e-6, beyondMeaning = 1e6;

bool meansAboveZero(double low) { return low > 0 && low <= aboveZero; }

std::string numberText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string rangeText(double low, double high) {
  std::string least = meansAboveZero(low) ? "above 0" : "at least " + numberText(low);
  if (high >= beyondMeaning)
    return least;
  if (meansAboveZero(low))
    return least + ", at most " + numberText(high);
  return numberText(low) + " to " + numberText(high);
}

/// The library takes a number modulo 2^64 and reads 010 as 8.
template <typename Integer> std::string checkInteger(std::string_view text) {
  Integer value;
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault == std::errc::result_out_of_range)
    return std::string(text) + " is too large";
  if (fault == std::errc() && end == text.data() + text.size())
    return "";
  return "expected a whole number" + std::string(std::is_unsigned_v<Integer> ? " from 0 on" : "") +
         ", got '" + std::string(text) + "'";
}

const auto every = [](const CLI::App *) { return true; };

void checkIntegers(CLI::App &app) {
  for (CLI::Option *option : app.get_options()) {
    std::string type = option->get_type_name();
    if (type.starts_with("UINT"))
      option->check(
          CLI::Validator([](const std::string &text) { return checkInteger<uint64_t>(text); }, ""));
    else if (type.starts_with("INT"))
      option->check(
          CLI::Validator([](const std::string &text) { return checkInteger<int64_t>(text); }, ""));
  }
  for (CLI::App *each : app.get_subcommands([](CLI::App *) { return true; }))
    checkIntegers(*each);
}

/// Flags of an app and of its groups of options.
void addFlags(const CLI::App &app, std::vector<std::string> &names) {
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  for (const CLI::App *each : app.get_subcommands(every))
    if (each->get_name().empty())
      addFlags(*each, names);
}

/// Says what may have been meant by words that nobody expected.
void suggest(const CLI::App &app) {
  std::vector<std::string> flags, verbs;
  addFlags(app, flags);
  for (const CLI::App *verb : app.get_subcommands())
    addFlags(*verb, flags);
  if (app.get_subcommands().empty())
    for (const CLI::App *verb : app.get_subcommands(every))
      if (!verb->get_name().empty())
        verbs.push_back(verb->get_name());
  for (std::string word : app.remaining(true)) {
    word = word.substr(0, word.find('='));
    std::string meant = nearestName(word, word.starts_with("-") ? flags : verbs);
    if (!meant.empty())
      std::fprintf(stderr, "'%s': did you mean '%s'?\n", word.c_str(), meant.c_str());
  }
}

} // namespace

Range::Range(double low, double high)
    : CLI::Validator(
          [low, high](const std::string &text) -> std::string {
            char *end = nullptr;
            double value = std::strtod(text.c_str(), &end);
            if (text.empty() || *end || !std::isfinite(value))
              return "expected a number " + rangeText(low, high) + ", got '" + text + "'";
            if (value >= low && value <= high)
              return "";
            std::string bound; // that the range is not told by
            if (value > high && high >= beyondMeaning)
              bound = " and at most " + numberText(high);
            if (value > 0 && value < low && meansAboveZero(low))
              bound = " and at least " + numberText(low);
            return "expected a number " + rangeText(low, high) + bound + ", got " + text;
          },
          rangeText(low, high)) {}

bool parseCommandLine(CLI::App &app, int argc, char **argv, int &status) {
  checkIntegers(app);
  addManual(app);
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError &error) {
    status = app.exit(error) == 0 ? 0 : 2;
  }
  if (status != 0)
    suggest(app);
  return false;
}

} // namespace hybrid::tools
