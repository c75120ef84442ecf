//===- GpuRanks.h - the ranks of a job, each with a GPU ---------------------===//
//
// What ranks do together goes on a stream of its own, in the order of the program: a program goes
// on computing while gradients are summed, and waits where it needs them. NCCL does it; the ranks
// find each other over the transport that brought them together (MPI).
//
// NCCL sums in an order that the machines' links decide: the same in every run of as many ranks
// on the same machines, but not that of the ranks (runtime/ranks/Collectives.h).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/Executable_generated.h"
#include "runtime/Executable.h"
#include "runtime/cuda/Gpu.h"
#include "runtime/cuda/NcclApi.h"
#include "runtime/ranks/Communicator.h"
#include "runtime/ranks/SequenceParts.h"
#include <map>
#include <memory>
#include <span>
#include <utility>

namespace hybrid::rt::cuda {

/// How many of the ranks before this one run on the same machine: the number of its GPU there. All
/// ranks together.
Result<int> placeOnMachine(Communicator &ranks);

class GpuRanks {
public:
  /// Joins the others. All of them together, each with a GPU of its own.
  static Result<std::unique_ptr<GpuRanks>> join(const Gpu &gpu, Communicator &ranks);
  ~GpuRanks();
  GpuRanks(const GpuRanks &) = delete;
  GpuRanks &operator=(const GpuRanks &) = delete;

  int rank() const { return place; }
  int size() const { return count; }

  struct Values {
    DeviceAddress address;
    size_t elements;
  };
  /// Begins to sum, in place, behind what the GPU's stream has been given; with a factor, an
  /// element of the same type on the GPU, this rank's values times that.
  Result<void> beginSum(std::span<const Values> values, DType type, DeviceAddress factor);
  /// Lets the GPU's stream wait for all that was begun.
  Result<void> await();

  /// A part for each of some neighbours in the order of ranks, and a part from each, of `bytes`.
  Result<void> swap(const SequenceRanks &ranks, DeviceAddress send, DeviceAddress receive,
                    size_t bytes);
  Result<void> send(int rank, DeviceAddress from, size_t bytes);
  Result<void> receive(int rank, DeviceAddress to, size_t bytes);

private:
  explicit GpuRanks(const Gpu &gpu, const NcclApi &library) : gpu(gpu), library(library) {}
  Result<void> check(std::string_view call, NcclStatus status) const;
  /// The ranks' stream goes on behind what the GPU's has been given.
  Result<void> follow();
  /// Does it on the ranks' stream, and lets the GPU's wait for it.
  template <typename Work> Result<void> exchange(Work &&work);
  /// Several calls as one.
  template <typename Work> Result<void> together(Work &&work);
  Result<NcclOperation> sumOf(DType type, DeviceAddress factor);

  const Gpu &gpu;
  const NcclApi &library;
  int place = 0, count = 1;
  NcclRanks joined = nullptr;
  Stream stream = nullptr;
  Event given = nullptr, done = nullptr; // what the GPU's stream was given, and what this one did
  std::map<std::pair<DType, DeviceAddress>, NcclOperation> scaledSums;
};

} // namespace hybrid::rt::cuda
