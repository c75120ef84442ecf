//===- CpuFeatures.cpp - what this processor can do --------------------------===//
#include "runtime/CpuFeatures.h"
#include <fstream>
#include <sstream>
#include <unordered_set>

namespace hybrid::rt {
namespace {

/// Value of the first line of /proc/cpuinfo with this key.
std::string cpuInfo(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    size_t colon = line.find(':');
    if (line.rfind(key, 0) == 0 && colon != std::string::npos)
      return colon + 2 <= line.size() ? line.substr(colon + 2) : "";
  }
  return "";
}

const std::unordered_set<std::string> &features() {
  static const std::unordered_set<std::string> set = [] {
    std::unordered_set<std::string> found;
    std::istringstream words(cpuInfo("flags"));
    for (std::string word; words >> word;)
      found.insert(word);
    return found;
  }();
  return set;
}

} // namespace

bool hasCpuFeature(std::string_view name) { return features().count(std::string(name)) > 0; }

std::vector<std::string> relevantCpuFeatures() {
  std::vector<std::string> present;
  for (const char *name : {"avx2", "fma", "bmi2", "f16c", "avx512f", "avx512bw", "avx512dq",
                           "avx512vl", "avx512_bf16", "avx512_fp16", "amx_bf16"})
    if (hasCpuFeature(name))
      present.push_back(name);
  return present;
}

std::string cpuModelName() {
  std::string name = cpuInfo("model name");
  return name.empty() ? "unknown" : name;
}

} // namespace hybrid::rt
