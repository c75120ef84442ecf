//===- StepOrder.h - which steps of a program are done before which ---------===//
#pragma once
#include "dialect/schedule/ScheduleOps.h"
#include "executable/Limits.h"
#include <array>

namespace hybrid {

/// The launches, library calls and loops of a program, in order: what is counted as its steps.
llvm::SmallVector<mlir::Operation *> stepsOf(ProgramOp program);

/// Whether what they say of branches makes sense; fails after a diagnostic.
llvm::LogicalResult verifyBranches(llvm::ArrayRef<mlir::Operation *> steps);

/// By branches, and by what steps of one wait for on another (dialect/schedule/Branches.h).
class StepOrder {
public:
  /// A number for each branch: that of the last of its steps that is done; -1: of none is known.
  using Moment = std::array<int64_t, mostBranches>;
  static constexpr Moment start() {
    Moment none{};
    none.fill(-1);
    return none;
  }

  explicit StepOrder(llvm::ArrayRef<mlir::Operation *> steps);
  StepOrder() = default;
  /// What a further step, on this branch, knows to be done without waiting.
  const Moment &knownTo(unsigned branch) const { return known[branch]; }
  /// Lets the next step on `branch` wait for a step before it.
  void wait(unsigned branch, size_t step);
  /// Adds a step behind all others.
  void add(unsigned branch);

  size_t size() const { return branches.size(); }
  unsigned branchOf(size_t step) const { return branches[step]; }
  /// What is done when a step begins.
  const Moment &before(size_t step) const { return moments[step]; }

private:
  llvm::SmallVector<unsigned> branches;
  llvm::SmallVector<Moment, 0> moments;
  std::array<Moment, mostBranches> known = [] {
    std::array<Moment, mostBranches> all;
    all.fill(start());
    return all;
  }();
};

} // namespace hybrid
