//===- OpenStates.h - where all ranks can meet in a program -----------------===//
#pragma once
#include "dialect/schedule/ScheduleOps.h"
#include <vector>

namespace hybrid {

/// Whether every state that was taken from a neighbour has been handed on before each of the steps
/// of a program, and behind the last. Where one has not, ranks must not wait for all: a rank that
/// waits for the state would come there only later.
std::vector<bool> statesAreClosed(ProgramOp program, llvm::ArrayRef<mlir::Operation *> steps);

/// This step or the first behind it where all ranks can meet; itself where there is none.
mlir::Operation *meetingPlace(llvm::ArrayRef<mlir::Operation *> steps,
                              const std::vector<bool> &closed, mlir::Operation *step);

} // namespace hybrid
