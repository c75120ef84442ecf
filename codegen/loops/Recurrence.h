//===- Recurrence.h - a step, position by position ---------------------------===//
#pragma once
#include "codegen/loops/KernelFunction.h"

namespace hybrid::loops {

/// The memory of a step, in the order in which its kernel takes it.
llvm::SmallVector<View> viewsOf(RecurrenceStepOp step);
/// What its kernels are called.
llvm::StringRef nameOf(RecurrenceStepOp step);
/// The kernel of schedule.recurrence; returns the number of work items.
int64_t emitRecurrence(KernelFunction &kernel, RecurrenceStepOp step);

} // namespace hybrid::loops
