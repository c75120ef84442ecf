//===- SequenceRanks.h - executables for a part of a sequence --------------===//
#pragma once

namespace hybrid {

/// The setting of an executable whose programs are for one of so many equal parts of each sequence:
/// `hybridc --sequence-parallel`. Without it they are for all of it.
constexpr const char *sequenceRanksSetting = "sequence-parallel";

} // namespace hybrid
