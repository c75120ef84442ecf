//===- OwnedMemory.h - memory of which each rank owns a part -----------------===//
#pragma once
#include "executable/Executable_generated.h"
#include "runtime/ranks/Collectives.h"
#include <cstddef>
#include <functional>
#include <span>

namespace hybrid::rt {

/// Where a buffer of a space lies.
using AddressOfBuffer = std::function<std::byte *(const fb::BufferRef &)>;

/// The parts of some buffers that each of `ranks` owns (executable/OptimizerShards.h).
OwnedValues ownedValues(std::span<const fb::BufferRef> buffers, int ranks,
                        const AddressOfBuffer &addressOf);

/// Gives the memory of what `rank` does not own of the buffers back to the operating system, in
/// whole pages; it is zero where it is touched again.
void releaseOthers(std::span<const fb::BufferRef> buffers, int rank, int ranks,
                   const AddressOfBuffer &addressOf);

} // namespace hybrid::rt
