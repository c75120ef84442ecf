//===- RankTraffic.h - what ranks would send in a training step ---------------------===//
//
// Of an executable's steps over ranks, without running it: how many bytes a rank gives others, by
// what for, and how long these take over a link. It is what a cluster is planned with.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Executable.h"
#include "runtime/ranks/Transport.h"

namespace hybrid::rt::lab {

/// Bytes that a rank sends in a step: the most that any of them does.
struct RankTraffic {
  uint64_t reduced = 0;   // gradients, loss and weight, and the new values of what this rank summed
  uint64_t gathered = 0;  // parameters of which ranks have shares
  uint64_t swapped = 0;   // positions for heads
  uint64_t states = 0;    // states to the ranks with the parts before and behind
  uint64_t agreed = 0;    // what ranks agree on between steps
  uint64_t exchanges = 0; // in which these go: each waits for the link once
  uint64_t least = 0;     // bytes of the rank that sends least
  uint64_t total() const { return reduced + gathered + swapped + states + agreed; }
  /// One after the other, nothing of it behind computation.
  double seconds(const EmulatedLink &link) const;
};

/// Of a training step of all of `ranks`, one update from `batches` batches. Fails for an executable
/// that knows of no ranks, or is for another number.
Result<RankTraffic> trafficOf(const Executable &executable, int64_t ranks, int64_t batches = 1);

/// Bytes that a rank of so many keeps, the most that any does: what training carries of the
/// parameters.
struct RankMemory {
  uint64_t parameters = 0, gradients = 0, moments = 0;
};
RankMemory memoryOf(const Executable &executable, int64_t ranks);

} // namespace hybrid::rt::lab
