//===- Devices.cpp - rates of devices for estimates of time ---------------------------===//
#include "laboratory/scale/Devices.h"
#include "executable/NearestName.h"
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace hybrid::rt::lab::scale {
namespace {

/// What published trainings of language models reach of the peak in bf16: 38 to 43 % (Dubey et al.
/// 2024, "The Llama 3 Herd of Models", table 4).
constexpr double usualShare = 0.4;

/// Data sheets of NVIDIA: A100 (2021), H100 SXM (2023), H200 (2024); products without sparsity.
const std::vector<DeviceModel> &devices() {
  static const std::vector<DeviceModel> rows{{"a100", 312e12, usualShare, 80e9},
                                             {"h100", 989e12, usualShare, 80e9},
                                             {"h200", 989e12, usualShare, 141e9}};
  return rows;
}

} // namespace

Result<DeviceModel> deviceModel(const std::string &name) {
  std::vector<std::string> names;
  for (const DeviceModel &device : devices()) {
    if (device.name == name)
      return device;
    names.push_back(device.name);
  }
  char *end = nullptr;
  double rate = std::strtod(name.c_str(), &end);
  if (end != name.c_str() && *end == ':') {
    const char *second = end + 1;
    double bytes = std::strtod(second, &end);
    if (end != second && !*end && rate > 0 && bytes > 0 && std::isfinite(rate * bytes))
      return DeviceModel{name, rate, 1, bytes};
  }
  std::string meant = nearestName(name, names);
  return Error{fmt::format("no device is called '{}'{}: there are {}; or give FLOPs a second that "
                           "training reaches and bytes of memory, as in 4e11:64e9",
                           name, meant.empty() ? "" : fmt::format(" (did you mean {}?)", meant),
                           fmt::join(names, ", "))};
}

} // namespace hybrid::rt::lab::scale
