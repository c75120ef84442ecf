//===- SplitRule.cpp - which documents are held out -------------------------===//
#include "training/data/SplitRule.h"
#include "training/Rng.h"
#include <cstdlib>
#include <fmt/format.h>

namespace hybrid::rt {

Result<SplitRule> SplitRule::parse(const std::string &text, uint64_t seed) {
  SplitRule rule;
  rule.rule = text;
  rule.seed = seed;
  size_t equals = text.find('=');
  std::string kind = text.substr(0, equals);
  rule.name = equals == std::string::npos ? "" : text.substr(equals + 1);
  char *end = nullptr;
  rule.share = std::strtod(rule.name.c_str(), &end);
  if (kind == "fraction" && !rule.name.empty() && !*end && rule.share >= 0 && rule.share < 1)
    return rule;
  rule.share = 0;
  rule.kind = kind == "file" ? File : Record;
  if ((kind == "file" || kind == "record") && !rule.name.empty())
    return rule;
  return Error{fmt::format("the split '{}' is none of fraction=F with 0 <= F < 1, file=NAME, "
                           "record=NAME",
                           text)};
}

bool SplitRule::isHeldOut(const DataDocument &document, uint64_t number) const {
  if (kind == File)
    return document.file.find(name) != std::string::npos;
  if (kind == Record)
    return document.name == name;
  // 53 bits of a hash are a number from 0 to 1.
  return static_cast<double>(mixBits(mixBits(seed) ^ number) >> 11) * 0x1p-53 < share;
}

} // namespace hybrid::rt
