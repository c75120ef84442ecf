//===- ReplicaPorts.h - inputs and outputs of the replicas of a program -----===//
//
// Replicas run one after another in one arena, so what goes into and comes out of each is kept
// beside it.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/Executable_generated.h"
#include "runtime/Result.h"
#include "runtime/cpu/Arena.h"
#include <functional>
#include <span>
#include <vector>

namespace hybrid::rt {

class ReplicaPorts {
public:
  ReplicaPorts() = default;
  ReplicaPorts(const fb::Program &program, int64_t replicas);

  /// Allocates the memory when it is not there yet.
  Result<void> allocate();
  uint64_t allocatedBytes() const { return memory.size(); }
  /// What allocate() takes for a program.
  static uint64_t bytesFor(const fb::Program &program, int64_t replicas);

  /// The memory of an input or output of the program, which is allocated.
  std::span<std::byte> at(const fb::Tensor &tensor, int64_t replica) const;

  using AddressOf = std::function<std::byte *(const fb::BufferRef &)>;
  /// Copies a replica's inputs to where the program reads them.
  void placeInputs(int64_t replica, const AddressOf &address) const;
  /// Copies its outputs from where the program left them.
  void keepOutputs(int64_t replica, const AddressOf &address) const;

private:
  struct Port {
    const fb::Tensor *tensor;
    uint64_t offset; // in the memory of a replica
  };
  std::byte *place(const Port &port, int64_t replica) const;

  std::vector<Port> inputs, outputs;
  uint64_t stride = 0; // of a replica
  int64_t replicas = 1;
  Arena memory;
};

} // namespace hybrid::rt
