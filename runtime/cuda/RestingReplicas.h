//===- RestingReplicas.h - the state of replicas that take no part ----------===//
//
// A launch is of all replicas. What one that does not take part has in the parameters and their
// like is put aside before a program that may change it, and put back when it takes part again.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/Executable_generated.h"
#include "runtime/Device.h"
#include "runtime/cuda/Gpu.h"
#include <array>
#include <functional>
#include <vector>

namespace hybrid::rt::cuda {

class RestingReplicas {
public:
  /// A replica's part of a space; 0: the space is not there.
  using PartOf = std::function<DeviceAddress(fb::Space space, size_t replica)>;

  RestingReplicas(const Gpu &gpu, const fb::Executable &executable, PartOf partOf);

  bool isActive(size_t replica) const { return !replicas[replica].rests; }
  Result<void> setActive(size_t replica, bool active);
  /// Before a program that changes parameters or their like.
  Result<void> putAside();
  /// Where its part of a space is now.
  DeviceAddress addressOf(fb::Space space, size_t replica) const;
  uint64_t allocatedBytes() const;

private:
  static constexpr std::array spaces = {fb::Space::Parameters, fb::Space::Gradients,
                                        fb::Space::Moment1, fb::Space::Moment2};
  struct Replica {
    bool rests = false, isAside = false;
    std::array<GpuMemory, spaces.size()> memory;
  };
  const Gpu &gpu;
  const fb::Executable &executable;
  PartOf partOf;
  std::vector<Replica> replicas;
};

} // namespace hybrid::rt::cuda
