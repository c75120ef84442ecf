//===- Device.cpp - what a session needs of the machine it runs on ----------===//
#include "runtime/Device.h"

namespace hybrid::rt {

Result<void> Device::runPart(size_t, Part) { return Error{"programs pause on the CPU only"}; }
Result<int64_t> Device::reserveSteps(std::span<const size_t>, int64_t) { return int64_t(1); }
Result<bool> Device::holdExamples(const Examples &) { return false; }
Result<void> Device::takeExamples(int64_t, int64_t, uint64_t) {
  return Error{"this device holds no training sets"};
}
Result<void> Device::start(std::span<const size_t>, int64_t) {
  return Error{"this device runs programs one at a time"};
}
Result<void> Device::finish() { return Error{"no run was started"}; }
Result<void> Device::measure(std::span<const size_t>, int64_t, size_t, std::vector<double> &) {
  return Error{"this device has no clock of its own"};
}

std::string_view nameOf(fb::Space space) {
  switch (space) {
  case fb::Space::Arena:
    return "the arena";
  case fb::Space::Parameters:
    return "the parameters";
  case fb::Space::Gradients:
    return "the gradients";
  case fb::Space::Moment1:
    return "the first moments";
  case fb::Space::Moment2:
    return "the second moments";
  case fb::Space::Constants:
    return "the constants";
  case fb::Space::Tile:
    break;
  }
  return "the tiles";
}

} // namespace hybrid::rt
