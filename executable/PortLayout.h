//===- PortLayout.h - inputs and outputs of a program beside the arena ------===//
//
// The arena holds them only while the program runs. On a CPU they wait in memory of their own; on a
// GPU those of the steps of a burst lie in tables, a row a step and replica.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/Executable_generated.h"
#include <cstdint>
#include <map>
#include <vector>

namespace hybrid {

/// What a CPU keeps of a program's inputs and outputs, for each replica.
struct KeptPorts {
  /// Of one replica, inputs are kept up to this many bytes together: token ids, not images.
  static constexpr uint64_t mostInputBytes = uint64_t(64) << 20;

  /// Inputs, and the outputs of several replicas: these follow one another in one arena.
  KeptPorts(const fb::Program &program, uint64_t replicas);

  struct Port {
    const fb::Tensor *tensor;
    uint64_t offset; // in the memory of a replica
  };
  std::vector<Port> inputs, outputs;
  bool keepsInputs = true;
  uint64_t stride = 0; // bytes of a replica
};

/// Tensors side by side; those that are neighbours on the device are one copy.
struct TableRow {
  explicit TableRow(std::vector<const fb::Tensor *> tensors);
  static TableRow ofInputs(const fb::Program &program);
  /// Of the outputs that come back to the host with the burst: the first ones that take at most
  /// keptOutputBytes together.
  static TableRow ofOutputs(const fb::Program &program);

  struct Group {
    fb::BufferRef place;
    uint64_t offset; // in the row
  };
  std::vector<Group> groups;
  std::map<const fb::Tensor *, uint64_t> offsets;
  uint64_t bytes = 0;
};

constexpr uint64_t keptOutputBytes = 4096;

} // namespace hybrid
