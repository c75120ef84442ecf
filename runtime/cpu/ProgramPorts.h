//===- ProgramPorts.h - inputs and outputs of a program, beside the arena ---===//
//
// The arena holds them only while the program runs: other programs use the same memory, and so do
// replicas, which run one after another.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/Executable_generated.h"
#include "runtime/Result.h"
#include "runtime/cpu/Arena.h"
#include <functional>
#include <span>
#include <vector>

namespace hybrid::rt {

/// Inputs of every replica; its outputs, when there are several.
class ProgramPorts {
public:
  /// Of one replica, inputs are kept up to this many bytes together: token ids, not images.
  static constexpr uint64_t mostKeptInputs = uint64_t(64) << 20;

  ProgramPorts(const fb::Program &program, int64_t replicas);

  /// Allocates the memory when it is not there yet.
  Result<void> allocate();
  uint64_t allocatedBytes() const { return memory.size(); }
  /// What allocate() takes for a program.
  static uint64_t bytesFor(const fb::Program &program, int64_t replicas);

  /// Whether all inputs are kept.
  bool keepsInputs() const { return inputsKept; }
  /// The memory of an input or output of the program, which is allocated. Empty: it is not kept.
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
  bool inputsKept = true;
  uint64_t stride = 0; // of a replica
  int64_t replicas = 1;
  Arena memory;
};

} // namespace hybrid::rt
