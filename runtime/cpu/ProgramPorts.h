//===- ProgramPorts.h - inputs and outputs of a program, beside the arena ---===//
//
// The arena holds them only while the program runs: other programs use the same memory, and so do
// replicas, which run one after another.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/PortLayout.h"
#include "runtime/Result.h"
#include "runtime/cpu/Arena.h"
#include <functional>
#include <span>

namespace hybrid::rt {

/// Inputs of every replica; its outputs, when there are several.
class ProgramPorts {
public:
  ProgramPorts(const fb::Program &program, int64_t replicas)
      : layout(program, static_cast<uint64_t>(replicas)), replicas(replicas) {}

  /// Allocates the memory when it is not there yet.
  Result<void> allocate();
  uint64_t allocatedBytes() const { return memory.size(); }

  /// Whether all inputs are kept.
  bool keepsInputs() const { return layout.keepsInputs; }
  /// The memory of an input or output of the program, which is allocated. Empty: it is not kept.
  std::span<std::byte> at(const fb::Tensor &tensor, int64_t replica) const;

  using AddressOf = std::function<std::byte *(const fb::BufferRef &)>;
  using Chooses = std::function<bool(const fb::Tensor &)>;
  /// Copies a replica's inputs to where the program reads them; with `chosen`, those alone.
  void placeInputs(int64_t replica, const AddressOf &address, const Chooses &chosen = {}) const;
  /// Copies its outputs from where the program left them.
  void keepOutputs(int64_t replica, const AddressOf &address) const;

private:
  std::byte *place(const KeptPorts::Port &port, int64_t replica) const;

  KeptPorts layout;
  int64_t replicas = 1;
  Arena memory;
};

} // namespace hybrid::rt
