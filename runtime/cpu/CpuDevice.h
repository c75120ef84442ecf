//===- CpuDevice.h - programs on the cores of this machine ------------------===//
#pragma once
#include "runtime/Device.h"
#include "runtime/ranks/Communicator.h"

namespace hybrid::rt {

/// Maps the code and prepares all programs. Fails with a message when memory or code cannot be had.
/// `ranks`: those that programs reduce over; null where there are no others.
Result<std::unique_ptr<Device>> makeCpuDevice(std::shared_ptr<const Executable> executable,
                                              int threads, std::shared_ptr<Communicator> ranks);

} // namespace hybrid::rt
