//===- DataSpec.cpp - data as it is named on a command line -----------------===//
#include "training/data/DataSpec.h"
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hybrid::rt {

Result<DataSpec> DataSpec::parse(std::string_view text) {
  DataSpec spec;
  size_t colon = text.find(':');
  constexpr std::string_view kinds[] = {"text", "jsonl", "fasta", "tokens", "idx", "png"};
  if (colon == std::string_view::npos ||
      std::find(std::begin(kinds), std::end(kinds), text.substr(0, colon)) == std::end(kinds))
    return Error{
        fmt::format("--data {}: expected KIND:PATH, kinds are {}", text, fmt::join(kinds, ", "))};
  spec.kind = text.substr(0, colon);
  text.remove_prefix(colon + 1);
  // A path may have commas; what follows one is an option if it is NAME=….
  std::string *last = &spec.path;
  while (true) {
    size_t comma = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, comma);
    size_t equals = part.find('=');
    bool isOption = last != &spec.path || !spec.path.empty();
    isOption = isOption && equals != std::string_view::npos && equals > 0 &&
               part.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == equals;
    if (isOption) {
      last = &spec.options[std::string(part.substr(0, equals))];
      *last = part.substr(equals + 1);
    } else {
      if (!last->empty())
        *last += ',';
      *last += part;
    }
    if (comma == text.size())
      break;
    text.remove_prefix(comma + 1);
  }
  if (spec.path.empty())
    return Error{fmt::format("--data {}:: a path is missing", spec.kind)};
  return spec;
}

std::string DataSpec::option(const std::string &name, const std::string &otherwise) const {
  auto found = options.find(name);
  return found == options.end() ? otherwise : found->second;
}

Result<double> DataSpec::number(const std::string &name, double otherwise, double least,
                                double most) const {
  auto found = options.find(name);
  if (found == options.end())
    return otherwise;
  char *end = nullptr;
  double value = std::strtod(found->second.c_str(), &end);
  if (found->second.empty() || *end || !(value >= least && value <= most))
    return Error{fmt::format("--data {}:{}: {} must be from {} to {}, not '{}'", kind, path, name,
                             least, most, found->second)};
  return value;
}

Result<void> DataSpec::allowOnly(std::initializer_list<std::string_view> names) const {
  for (const auto &[name, value] : options)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return Error{fmt::format("--data {}:{}: there is no option '{}'; options are {}", kind, path,
                               name, fmt::join(names, ", "))};
  return {};
}

} // namespace hybrid::rt
