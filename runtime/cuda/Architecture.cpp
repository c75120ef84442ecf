//===- Architecture.cpp - which code image a device runs --------------------===//
#include "runtime/cuda/Architecture.h"
#include <fmt/format.h>
#include <tuple>

namespace hybrid::rt::cuda {

std::optional<Architecture> Architecture::parse(std::string_view name) {
  if (name == "shim")
    return Architecture{Kind::Shim};
  Architecture result;
  if (name.starts_with("sm_")) {
    name.remove_prefix(3);
  } else if (name.starts_with("compute_")) {
    result.kind = Kind::Ptx;
    name.remove_prefix(8);
  } else {
    return std::nullopt;
  }
  result.exact = name.ends_with('a');
  result.family = name.ends_with('f');
  if (result.exact || result.family)
    name.remove_suffix(1);
  if (name.size() < 2 || name.size() > 3)
    return std::nullopt;
  int number = 0;
  for (char c : name) {
    if (c < '0' || c > '9')
      return std::nullopt;
    number = number * 10 + (c - '0');
  }
  result.major = number / 10, result.minor = number % 10;
  if (result.major < 1 || name[0] == '0')
    return std::nullopt;
  return result;
}

bool Architecture::runsOn(int deviceMajor, int deviceMinor) const {
  if (kind == Kind::Shim || deviceMajor == 0)
    return kind == Kind::Shim && deviceMajor == 0 && deviceMinor == 0;
  if (exact)
    return major == deviceMajor && minor == deviceMinor;
  if (kind == Kind::Machine || family)
    return major == deviceMajor && minor <= deviceMinor;
  return std::tuple(major, minor) <= std::tuple(deviceMajor, deviceMinor);
}

std::string architectureName(int major, int minor) {
  return major == 0 ? "shim" : fmt::format("sm_{}{}", major, minor);
}

std::string targetName(int major, int minor) {
  // The features of one device only begin with 9.0.
  return "cuda:" + architectureName(major, minor) + (major >= 9 ? "a" : "");
}

std::optional<size_t> chooseImage(std::span<const std::string_view> architectures, int major,
                                  int minor) {
  std::optional<size_t> best;
  auto rank = [&](size_t i) {
    Architecture a = *Architecture::parse(architectures[i]);
    return std::tuple(a.kind != Architecture::Kind::Ptx, a.major, a.minor, a.exact);
  };
  for (size_t i = 0; i < architectures.size(); ++i) {
    auto parsed = Architecture::parse(architectures[i]);
    if (parsed && parsed->runsOn(major, minor) && (!best || rank(i) > rank(*best)))
      best = i;
  }
  return best;
}

} // namespace hybrid::rt::cuda
