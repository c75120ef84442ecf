//===- Branches.h - steps of a program that may run at the same time --------===//
#pragma once
#include "llvm/ADT/StringRef.h"

namespace hybrid {

/// Of a step: the branch that it is on (an integer; absent: 0). Steps of one branch run in order.
constexpr llvm::StringLiteral branchAttribute = "schedule.branch";
/// Of a step: which earlier ones on other branches it waits for (numbers in the program, 64 bits).
constexpr llvm::StringLiteral afterAttribute = "schedule.after";

} // namespace hybrid
