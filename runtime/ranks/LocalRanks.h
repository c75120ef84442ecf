//===- LocalRanks.h - ranks that are threads of one process ---------------------===//
//
// What the tests use, and what shows how much communication is hidden: the link between the ranks
// may be one with a delay and a rate.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/ranks/Transport.h"
#include <memory>

namespace hybrid::rt {

/// A transport for each of `size` threads. One that is abandoned or destroyed, or whose exchange
/// failed, lets the exchanges of the others fail.
std::vector<std::unique_ptr<Transport>> makeLocalRanks(int size, const EmulatedLink &link = {});

/// The same ranks, over a slower link than they have.
std::unique_ptr<Transport> emulate(std::unique_ptr<Transport> inner, const EmulatedLink &link);

} // namespace hybrid::rt
