//===- CudaDevice.h - programs on an NVIDIA GPU ------------------------------===//
#pragma once
#include "runtime/Device.h"
#include "runtime/ranks/Communicator.h"

namespace hybrid::rt::cuda {

/// Opens the driver, loads the image of the executable that the device runs and finds all kernels.
/// Fails with a message when there is no driver, no device, or no image for it. `training`: whether
/// it will run programs that compute gradients. `ranks`: with whom it runs them, if not alone; each
/// of them makes a device, and those on one machine take its GPUs in their order.
Result<std::unique_ptr<Device>> makeCudaDevice(std::shared_ptr<const Executable> executable,
                                               bool training,
                                               std::shared_ptr<Communicator> ranks = nullptr);

} // namespace hybrid::rt::cuda
