//===- SequenceParts.h - ranks that have the parts of one sequence --------------===//
//
// N neighbours in the order of all ranks have the N parts of each of their sequences, in that
// order: rank r of all has part r mod N. A program for a part gives the others bytes, and takes
// theirs.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/ranks/Communicator.h"

namespace hybrid::rt {

/// Who gives bytes to whom; the values are those of fb::RankPattern.
enum class RankPattern : int8_t { All, ToNext, ToPrevious, FromNext, FromPrevious, Place };

/// The ranks of this one's sequence.
struct SequenceRanks {
  int first, size;
  int place; // of this rank among them
};
/// Of `rank`, where so many have parts of one sequence.
SequenceRanks sequenceRanksOf(int rank, int parts);

/// Whether so many ranks that train together can have so many parts of each sequence.
Result<void> checkParts(int ranks, int parts);

/// Does what the pattern says and waits for it: `send` and `receive` are empty where it sends or
/// receives nothing. Fails when there are no ranks, or none of whose number `parts` is a part.
Result<void> exchangeParts(Communicator *ranks, RankPattern pattern, int parts,
                           std::span<const std::byte> send, std::span<std::byte> receive);

/// What each rank of this one's sequence has, in the order of the parts.
Result<std::vector<std::vector<std::byte>>> gatherParts(Communicator &ranks, int parts,
                                                        std::span<const std::byte> mine);

} // namespace hybrid::rt
