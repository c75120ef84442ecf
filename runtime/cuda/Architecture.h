//===- Architecture.h - which code image a device runs ----------------------===//
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hybrid::rt::cuda {

/// What a code image was compiled for: "sm_90a" (machine code of exactly 9.0), "sm_80" (machine
/// code of 8.0 and later minor versions), "compute_90" (PTX of 9.0 and all later devices), "shim"
/// (the driver that runs kernels on the CPU, in tests; it calls itself version 0.0).
struct Architecture {
  enum class Kind { Machine, Ptx, Shim } kind = Kind::Machine;
  int major = 0, minor = 0;
  bool exact = false;  // sm_90a, compute_90a: features of one device only
  bool family = false; // sm_100f, compute_100f: features of one major version only

  /// Nothing when the name is none.
  static std::optional<Architecture> parse(std::string_view name);
  bool runsOn(int deviceMajor, int deviceMinor) const;
};

/// "sm_90" of a device; "shim".
std::string architectureName(int major, int minor);
/// What `hybridc --target=` compiles best for a device: "cuda:sm_90a", "cuda:sm_80", "cuda:shim".
std::string targetName(int major, int minor);

/// The best of the images for a device: machine code of exactly it before that of an earlier minor
/// version before PTX. Nothing when it runs none.
std::optional<size_t> chooseImage(std::span<const std::string_view> architectures, int major,
                                  int minor);

} // namespace hybrid::rt::cuda
