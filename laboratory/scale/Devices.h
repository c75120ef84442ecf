//===- Devices.h - rates of devices for estimates of time -----------------------------===//
#pragma once
#include "runtime/Result.h"
#include <string>

namespace hybrid::rt::lab::scale {

struct DeviceModel {
  std::string name;
  double peakFlops = 0;   // a second, dense bf16 products, as the vendor states
  double utilisation = 0; // share of it that training is taken to reach: an assumption
  double bytes = 0;       // of memory

  double seconds(double flops) const { return flops / (peakFlops * utilisation); }
};

/// "h100", or any rate of one's own: "4e11:64e9" is FLOPs a second that training reaches and bytes.
Result<DeviceModel> deviceModel(const std::string &name);

} // namespace hybrid::rt::lab::scale
