//===- DataSpec.h - data as it is named on a command line -------------------===//
#pragma once
#include "runtime/Result.h"
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

namespace hybrid::rt {

/// KIND:PATH[,option=value]…; kinds are text, jsonl, fasta, tokens, idx and png.
struct DataSpec {
  std::string kind, path;
  std::map<std::string, std::string> options;

  static Result<DataSpec> parse(std::string_view text);
  /// An option, or `otherwise`.
  std::string option(const std::string &name, const std::string &otherwise) const;
  /// An option that is a number from `least` to `most`.
  Result<double> number(const std::string &name, double otherwise, double least, double most) const;
  /// An error if there are others than these.
  Result<void> allowOnly(std::initializer_list<std::string_view> names) const;
};

} // namespace hybrid::rt
