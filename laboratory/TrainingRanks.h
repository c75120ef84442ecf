//===- TrainingRanks.h - the processes that a training was started as ---------------===//
#pragma once
#include "runtime/ranks/Communicator.h"
#include "runtime/ranks/Transport.h"
#include <cstdint>
#include <memory>
#include <optional>

namespace hybrid::rt::lab {

/// How ranks train together.
struct RankOptions {
  std::optional<int64_t> dataParallel; // ranks that share each batch; none: all that were started
  int64_t sequenceParallel = 1;        // ranks that have parts of each sequence
  std::string wire = "f32";            // in which gradients are sent: f32 or bf16
  std::string shards; // what they have shares of: state, parameters; empty: nothing
  EmulatedLink link;  // to emulate between them
};

/// Joins the other processes that mpirun or srun started with this one. Null for a process alone
/// that is to be no rank: it opens no MPI. Fails where the count is not the one asked for.
Result<std::shared_ptr<Communicator>> joinRanks(const RankOptions &options);

/// "DELAY,RATE" in seconds and bytes per second.
Result<EmulatedLink> linkOf(const std::string &text);

/// Does what ranks do together, and when it fails on this one, says so and ends all of them.
Result<void> endTogether(const std::shared_ptr<Communicator> &ranks, const Result<void> &outcome);

} // namespace hybrid::rt::lab
