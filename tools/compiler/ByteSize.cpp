//===- ByteSize.cpp - "2GiB" and back ---------------------------------------===//
#include "tools/compiler/ByteSize.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace hybrid {

std::optional<int64_t> parseByteSize(StringRef text) {
  size_t end = text.find_if([](char c) { return (c < '0' || c > '9') && c != '.'; });
  StringRef number = text.substr(0, end), unit = text.drop_front(number.size()).trim();
  double value = 0;
  if (number.empty() || number.getAsDouble(value))
    return std::nullopt;
  std::string lower = unit.lower();
  StringRef rest = lower;
  double factor = 1;
  for (auto [index, letter] : llvm::enumerate(StringRef("kmgt")))
    if (rest.starts_with(StringRef(&letter, 1)) &&
        (rest.substr(1) == "b" || rest.substr(1) == "ib"))
      factor = std::pow(rest.size() == 3 ? 1024.0 : 1000.0, static_cast<double>(index + 1));
  if (factor == 1 && !rest.empty() && rest != "b")
    return std::nullopt;
  double bytes = std::floor(value * factor);
  if (bytes < 1 || bytes > std::ldexp(1.0, 62))
    return std::nullopt;
  return static_cast<int64_t>(bytes);
}

std::string byteSizeText(int64_t bytes) {
  static constexpr StringRef units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0)
    return formatv("{0} B", bytes);
  return formatv("{0:f2} {1}", std::ceil(value * 100) / 100, units[unit]);
}

} // namespace hybrid
