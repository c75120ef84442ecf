//===- MemoryPlan.h - the memory a scheduled model takes --------------------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace hybrid {

/// What a session that trains allocates (runtime/Session.h), in bytes: of all replicas together,
/// but for the arena.
struct MemoryPlan {
  int64_t replicas = 1;
  int64_t parameters = 0, constants = 0;
  int64_t gradients = 0, moments = 0;          // 0 for a model that cannot be trained
  int64_t arena = 0;                           // of the program that needs most, for one replica
  int64_t arenaCopies = 1;                     // replicas follow one another on a CPU, in one
  int64_t ports = 0;                           // inputs and outputs, kept for each of several there
  int64_t scratchPerThread = 0;                // of the kernel that needs most
  int64_t tilesPerThread = 0, tilesShared = 0; // of loops in parallel, one tile after another
  int64_t threads = 1;

  /// What lies in that arena where it is fullest, the largest first.
  struct Part {
    std::string op, location;
    int64_t bytes = 0;
  };
  std::string program; // the one that needs the arena
  std::vector<Part> largest;

  int64_t arenas() const;
  int64_t scratch() const;
  int64_t tiles() const;
  int64_t total() const;
};

/// The plan of a module of programs, run by `threads` threads.
MemoryPlan planMemory(mlir::ModuleOp scheduled, int64_t threads);

} // namespace hybrid
