//===- Staging.h - inputs and outputs of a program on their way -------------===//
//
// Inputs lie in pinned memory, one set for every run that may be on its way and one that is being
// written. Small outputs are copied aside on the device when their program ends, so that another
// may follow at once, and from there to the host.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/Executable_generated.h"
#include "runtime/Device.h"
#include "runtime/cuda/Gpu.h"
#include <array>
#include <functional>
#include <map>

namespace hybrid::rt::cuda {

class Staging {
public:
  static constexpr size_t setCount = Device::mostStarted + 1;
  using AddressOf = std::function<DeviceAddress(const fb::BufferRef &)>;

  Staging(const Gpu &gpu, const fb::Program &program);

  /// Memory for an input in the set that is being written.
  Result<std::span<std::byte>> input(const fb::Tensor &tensor);
  /// From now on another set is written.
  void nextSet() { current = (current + 1) % setCount; }
  size_t currentSet() const { return current; }

  /// Allocates what a run needs on the device; `waiting`: after other programs, as one unit.
  Result<void> prepare(bool waiting);
  /// Whether its inputs are few enough to wait on the device while programs before it run.
  bool canWait() const { return inputBytes <= mostWaitingBytes; }
  /// Copies the inputs of a set to their places; or, `waiting`, to where they wait.
  Result<void> upload(size_t set, bool waiting, const AddressOf &address);
  /// Appends the copies from where inputs wait to their places.
  Result<void> place(const AddressOf &address) const;

  /// Appends the copies of kept outputs: aside, and from there to the host as those of `set`.
  Result<void> keepOutputs(const AddressOf &address) const;
  Result<void> downloadOutputs(size_t set);
  /// A kept output as run `set` left it. Empty: it is not kept.
  std::span<const std::byte> kept(const fb::Tensor &tensor, size_t set) const;

  /// On the device.
  uint64_t allocatedBytes() const { return waiting.size() + aside.size(); }

private:
  static constexpr uint64_t mostWaitingBytes = uint64_t(16) << 20;
  Result<void> ensureSet(PinnedMemory &set, uint64_t bytes) const;

  const Gpu &gpu;
  std::map<const fb::Tensor *, uint64_t> inputOffsets, keptOffsets;
  uint64_t inputBytes = 0, keptBytes = 0;
  std::array<PinnedMemory, setCount> inputs, outputs;
  GpuMemory waiting, aside;
  size_t current = 0;
};

} // namespace hybrid::rt::cuda
