//===- Ranks.h - the part of a rank in a training that several do together -------===//
//
// Each batch of a step is cut into as many parts as there are ranks, in their order: rank r of N
// has the sequences r B up to (r + 1) B of each N B. So N ranks see what one rank sees whose batch
// is N times as large. Where ranks have parts of the sequences, those of one sequence are one rank
// here. What a rank decides by itself (a signal that it got) all agree on.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/ranks/Collectives.h"
#include "runtime/ranks/Communicator.h"
#include "training/Scorer.h"
#include "training/StepRunner.h"
#include <span>
#include <vector>

namespace hybrid::rt {

struct RankPlace {
  int64_t rank = 0, count = 1; // of the batch
  int64_t part = 0, parts = 1; // of each sequence of it
};
/// Of this process among those that train together with the runner.
RankPlace placeOf(const StepRunner &runner);

/// Whether this is the process that keeps the folder.
bool isFirst(const StepRunner &runner);

/// The largest of what all ranks say; where there are no others, what this one does.
Result<int64_t> agree(const StepRunner &runner, int64_t mine);

/// The answers of the instances of a batch, those of all ranks in the order of ranks, on every one;
/// of ranks that have parts of the same sequences those of the first part.
/// `total` becomes the sum of all ranks', loss by weight.
Result<std::vector<std::vector<Answer>>>
gatherAnswers(const StepRunner &runner, std::vector<std::vector<Answer>> mine, BatchScore &total);

} // namespace hybrid::rt
