//===- MemoryPlan.h - the memory a scheduled model takes --------------------===//
#pragma once
#include "codegen/DeviceTarget.h"
#include "executable/SessionMemory.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace hybrid {

struct MemoryPlan {
  uint64_t replicas = 1;
  SessionMemory training, evaluation; // of a session that does one or the other

  /// What lies in the arena where it is fullest, the largest first; of one replica.
  struct Part {
    std::string op, location;
    int64_t bytes = 0;
  };
  std::string program; // the one that needs the arena
  std::vector<Part> largest;
};

/// The plan of a module of programs, run by `threads` threads of a CPU. With a `budget` in bytes,
/// bursts of steps are as short as it wants them.
MemoryPlan planMemory(mlir::ModuleOp scheduled, const DeviceTarget &target, uint64_t threads,
                      uint64_t budget);

} // namespace hybrid
