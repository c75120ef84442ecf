//===- CpuDevice.h - programs on the cores of this machine ------------------===//
#pragma once
#include "runtime/Device.h"

namespace hybrid::rt {

/// Maps the code and prepares all programs. Fails with a message when memory or code cannot be had.
Result<std::unique_ptr<Device>> makeCpuDevice(std::shared_ptr<const Executable> executable,
                                              int threads);

} // namespace hybrid::rt
