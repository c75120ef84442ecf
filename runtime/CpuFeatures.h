//===- CpuFeatures.h - what this processor can do ----------------------------===//
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace hybrid::rt {

/// Whether this CPU (and its operating system) has a feature, named as /proc/cpuinfo does. Unknown
/// names are absent.
bool hasCpuFeature(std::string_view name);
/// Those of the features that matter to kernels which this CPU has.
std::vector<std::string> relevantCpuFeatures();
/// "AMD EPYC ...", or "unknown".
std::string cpuModelName();

} // namespace hybrid::rt
