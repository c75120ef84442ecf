//===- HeldExamples.h - training sets on the device, batches from them -------===//
//
// The sets lie on the device. For a burst only the numbers of the examples go up: before its first
// step one kernel of the executable orders them and copies examples to the program's table of
// inputs (Staging.h), from which the burst goes on as if the host had filled it.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/BatchOrder.h"
#include "runtime/Examples.h"
#include "runtime/cuda/PreparedProgram.h"
#include <array>
#include <vector>

namespace hybrid::rt::cuda {

class HeldExamples {
public:
  /// `executable` has a kernel that gathers examples; `number`: of the program whose batches they
  /// are.
  HeldExamples(const Gpu &gpu, const fb::Executable &executable, Function kernel, size_t number,
               PreparedProgram &program);

  /// Puts the sets on the device in place of those there; false, with none there, when there are
  /// none or too many. No burst may be on its way.
  Result<bool> hold(const Examples &examples);
  /// Where they lie; 0: nowhere.
  DeviceAddress address() const { return sets.address(); }
  size_t program() const { return number; }
  /// The program has tables for another number of steps.
  void reserve();

  /// Notes the batch of a step in the set of inputs that is being written.
  Result<void> take(size_t replica, size_t step, uint64_t first);
  /// Whether a set of inputs was noted so.
  bool areTaken(size_t inputSet) const { return taken[inputSet]; }
  void forget(size_t inputSet) { taken[inputSet] = false; }

  /// Copies what was noted for a burst to the device; its table of inputs is there then.
  Result<void> upload(size_t inputSet, size_t steps);
  /// Appends the kernel to the stream.
  Result<void> gather(size_t steps) const;

  uint64_t allocatedBytes() const { return sets.size() + orders.size(); }

private:
  struct Place {
    uint64_t size = 0, seed = 0, examples = 0; // as BatchOrder
  };
  uint64_t orderBytes(size_t steps) const { return steps * replicas * sizeof(BatchOrder); }
  uint64_t exampleWords() const { return inputWords + targetWords; }
  Result<void> upload(const Examples::Set &set, DeviceAddress to) const;

  const Gpu &gpu;
  const fb::Executable &executable;
  const fb::ExampleGather &source;
  Function kernel;
  size_t number;
  PreparedProgram &owner;
  size_t replicas;
  const fb::Tensor *inputs = nullptr, *targets = nullptr;
  uint64_t inputWords = 0, targetWords = 0; // of an example
  GpuMemory sets, orders;
  std::vector<Place> places; // of replicas
  std::array<PinnedMemory, Staging::setCount> orderSets;
  std::array<bool, Staging::setCount> taken{};
};

} // namespace hybrid::rt::cuda
