//===- Collective.h - a step that all ranks take together, on a GPU ---------===//
#pragma once
#include "runtime/cuda/GpuRanks.h"
#include "runtime/cuda/Staging.h"
#include <memory>
#include <vector>

namespace hybrid::rt::cuda {

/// A sum, a wait, or an exchange among the ranks of a sequence, with its final addresses.
class Collective {
public:
  /// Null for a step that a process alone passes over. `ranks` is null for such a one; an exchange
  /// is refused then.
  static Result<std::unique_ptr<Collective>> create(const fb::Step &step, const Gpu &gpu,
                                                    GpuRanks *ranks, const DevicePlaces &places);
  /// Appends it to the stream.
  Result<void> run() const;

private:
  Collective(const fb::Step &step, const Gpu &gpu, GpuRanks &ranks)
      : step(step), gpu(gpu), ranks(ranks) {}
  Result<void> prepareExchange(const DevicePlaces &places);
  Result<void> runExchange() const;

  const fb::Step &step;
  const Gpu &gpu;
  GpuRanks &ranks;
  std::vector<GpuRanks::Values> values;            // of a sum
  DeviceAddress factor = 0, send = 0, receive = 0; // 0: none
  SequenceRanks own{};                             // of an exchange
  PinnedMemory place;                              // this rank's number among them
};

} // namespace hybrid::rt::cuda
