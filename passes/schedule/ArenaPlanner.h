//===- ArenaPlanner.h - one arena for buffers that live at different times --===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>

namespace hybrid {

/// A buffer needed from step `first` to step `last`, both included.
struct Lifetime {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;
  int64_t offset = -1; // result
};

/// Gives every buffer an offset (multiple of 64) such that buffers alive at the same step do not
/// overlap: largest first, each at the lowest place that fits. Returns the size of the arena.
/// Deterministic.
int64_t planArena(llvm::MutableArrayRef<Lifetime> buffers);
/// The same where steps have another order than that of their numbers: `meet` says whether two of
/// the buffers, by number, may be alive at one time.
int64_t planArena(llvm::MutableArrayRef<Lifetime> buffers,
                  llvm::function_ref<bool(size_t, size_t)> meet);

} // namespace hybrid
