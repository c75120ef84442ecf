//===- SplitRule.h - which documents are held out ---------------------------===//
#pragma once
#include "training/data/Documents.h"
#include <string>

namespace hybrid::rt {

/// fraction=F: each document with probability F, by a hash of the seed and its number (the last F
/// of the only document where there is one); file=NAME: files whose path contains it;
/// record=NAME: records (chromosomes) of that name.
class SplitRule {
public:
  static Result<SplitRule> parse(const std::string &text, uint64_t seed);
  bool isHeldOut(const DataDocument &document, uint64_t number) const;
  /// Part of a single document that is held out; 0 where the rule is about names.
  double fraction() const { return share; }
  const std::string &text() const { return rule; }

private:
  enum Kind : uint8_t { Fraction, File, Record };
  std::string rule, name;
  Kind kind = Fraction;
  double share = 0;
  uint64_t seed = 0;
};

} // namespace hybrid::rt
