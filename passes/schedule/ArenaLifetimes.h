//===- ArenaLifetimes.h - when a program needs the buffers of its arena -----===//
#pragma once
#include "passes/schedule/ArenaPlanner.h"
#include "passes/schedule/StepOrder.h"
#include "llvm/ADT/MapVector.h"

namespace hybrid {

/// Of all buffers of the arena that a step uses. Inputs live from before the first step, outputs to
/// behind the last one; where the program pauses, memory of the caller's may stand for them, so
/// nothing else ever lies where they do.
class ArenaLifetimes {
public:
  /// `steps`: stepsOf(program); `pauses`: it has schedule.pause.
  ArenaLifetimes(ProgramOp program, llvm::ArrayRef<mlir::Operation *> steps, bool pauses);

  /// Gives each its place, where steps run in this order. Returns the size of the arena.
  int64_t place(const StepOrder &order);

  llvm::ArrayRef<BufferOp> buffers() const { return used; }
  /// By number in buffers(), in the order of the program: -1 is before the first step, the number
  /// of steps behind the last.
  llvm::ArrayRef<Lifetime> times() const { return lifetimes; }

private:
  llvm::SmallVector<BufferOp> used;
  std::vector<Lifetime> lifetimes;
  std::vector<llvm::SmallVector<int64_t>> users; // steps, in order
  int64_t end;
};

} // namespace hybrid
