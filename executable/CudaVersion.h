//===- CudaVersion.h - which drivers load the code that a toolkit made ------===//
//
// Versions are numbers as cuDriverGetVersion() has them: 1000 * major + 10 * minor, 0 unknown.
// Source: CUDA Compatibility, "minor version compatibility", and table 3 of the toolkit's release
// notes.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>
#include <string>

namespace hybrid {

constexpr uint32_t cudaVersion(uint32_t major, uint32_t minor) { return 1000 * major + 10 * minor; }

/// The oldest driver that loads what NVRTC of version `toolkit` made: machine code is read by every
/// driver of the same major version, PTX by those that are no older than the toolkit.
constexpr uint32_t leastDriver(uint32_t toolkit, bool isPtx) {
  return isPtx ? toolkit : toolkit / 1000 * 1000;
}

/// "13.0".
inline std::string cudaVersionText(uint32_t version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// A driver of that version as people know it: "CUDA 13.0 (580 or later)". The branch is that of
/// the first release with this version; "CUDA 13.7" where it is not known.
std::string driverText(uint32_t version);

} // namespace hybrid
