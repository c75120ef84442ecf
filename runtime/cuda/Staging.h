//===- Staging.h - inputs and outputs of a program on their way -------------===//
//
// A burst is a number of runs of a program whose inputs lie ready before the first. They lie in
// tables of rows [steps, replicas]: one in pinned memory for every burst that may be on its way and
// one that is being written, and one on the device, from which every run begins with copies to
// where the program reads them. Small outputs go to another table on the device when a run ends,
// and from there to the host with the burst's last.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/PortLayout.h"
#include "executable/SessionMemory.h"
#include "runtime/Device.h"
#include "runtime/cuda/Gpu.h"
#include <array>
#include <functional>
#include <map>
#include <vector>

namespace hybrid::rt::cuda {

/// Where buffers lie on the device, of replica 0, and how far replicas are apart.
struct DevicePlaces {
  std::function<DeviceAddress(const fb::BufferRef &)> address; // 0 for a buffer of no bytes
  std::function<uint64_t(fb::Space)> stride;
  size_t replicas = 1;
};

class Staging {
public:
  static constexpr size_t setCount = Device::mostStarted + 1;

  Staging(const Gpu &gpu, const fb::Program &program, size_t replicas);

  /// Steps whose inputs fit into a table.
  size_t mostSteps() const;
  /// Makes tables of so many steps; what was in them is gone. None may be on its way.
  void reserve(size_t steps);
  size_t steps() const { return capacity; }

  /// Memory for an input in the set that is being written.
  Result<std::span<std::byte>> input(const fb::Tensor &tensor, size_t replica, size_t step);
  /// From now on another set is written.
  void nextSet() { current = (current + 1) % setCount; }
  size_t currentSet() const { return current; }

  /// Where an input of a step lies in the device's table, which prepare() makes.
  uint64_t inputOffset(const fb::Tensor &tensor, size_t replica, size_t step) const {
    return rowAt(inputs, step, replica) + inputs.offsets.at(&tensor);
  }
  DeviceAddress inputAddress() const { return inputTable.address(); }

  /// Allocates what runs need on the device; `table`: for inputs too.
  Result<void> prepare(bool table);
  /// Copies the inputs of `steps` steps of a set to the table.
  Result<void> upload(size_t set, size_t steps);
  /// Appends the copies of a step's inputs from the table to their places.
  Result<void> place(size_t step, const DevicePlaces &places) const;
  /// Copies the inputs of a step of a set to their places.
  Result<void> placeFromHost(size_t set, size_t step, const DevicePlaces &places);

  /// Appends the copies of kept outputs to the table.
  Result<void> keepOutputs(size_t step, const DevicePlaces &places) const;
  /// And those of `steps` steps from there to the host, as those of `set`.
  Result<void> downloadOutputs(size_t set, size_t steps);
  /// A kept output as run `set` left it. Empty: it is not kept.
  std::span<const std::byte> kept(const fb::Tensor &tensor, size_t set, size_t replica,
                                  size_t step) const;

  /// On the device.
  uint64_t allocatedBytes() const { return inputTable.size() + outputTable.size(); }

private:
  uint64_t tableBytes(const TableRow &row, size_t steps) const {
    return row.bytes * replicas * steps;
  }
  uint64_t rowAt(const TableRow &row, size_t step, size_t replica) const {
    return row.bytes * (step * replicas + replica);
  }
  Result<void> ensureSet(PinnedMemory &set, const TableRow &row) const;
  Result<void> ensureTable(GpuMemory &table, const TableRow &row) const;

  const Gpu &gpu;
  size_t replicas, capacity = 1;
  TableRow inputs, outputs;
  std::array<PinnedMemory, setCount> inputSets, outputSets;
  GpuMemory inputTable, outputTable;
  size_t current = 0;
};

} // namespace hybrid::rt::cuda
