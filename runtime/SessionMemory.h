//===- SessionMemory.h - what a session will allocate -------------------------===//
#pragma once
#include "runtime/Executable.h"

namespace hybrid::rt {

/// Bytes that a session which trains the model allocates (Session::allocatedBytes() after a step),
/// of all replicas together, told from the executable alone. On a GPU, inputs and outputs on their
/// way come to it: some KB a replica.
struct SessionMemory {
  enum class Device { Cpu, Cuda } device = Device::Cpu;
  uint64_t parameters = 0, constants = 0, arena = 0;
  uint64_t gradients = 0, moments = 0; // 0 for a model that cannot be trained
  uint64_t ports = 0; // inputs and outputs, kept for each of several replicas on a CPU
  uint64_t scratchPerThread = 0;
  uint64_t library = 0;                         // of the matrix library, on a GPU
  uint64_t tilesPerThread = 0, tilesShared = 0; // of loops in parallel, one tile after another

  uint64_t tiles(int threads) const;
  uint64_t total(int threads) const;
};

SessionMemory memoryOf(const Executable &executable);

} // namespace hybrid::rt
