//===- LaunchConfiguration.h - how a work item of a launch runs --------------===//
#pragma once
#include <cstdint>

namespace hybrid {

/// Threads of a work item's block (0 where a thread runs many items) and bytes of memory of its
/// own, on a CPU a thread's scratch memory, on a GPU a block's shared memory.
struct LaunchConfiguration {
  int64_t threads = 0, scratchBytes = 0;
};

} // namespace hybrid
