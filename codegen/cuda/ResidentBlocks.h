//===- ResidentBlocks.h - how many blocks share a multiprocessor ------------===//
//
// A kernel that takes more registers than it needs leaves a multiprocessor to fewer blocks than
// shared memory would, and fewer warps hide less of the time that memory takes. Told how many
// blocks there shall be, the compiler gets by with fewer registers, or spills. The table says for
// which kernels it does not spill: test/cuda/resident-blocks.py tries it, with the models and the
// sizes of check-budgets.py, and writes ResidentBlocks.inc.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialect/schedule/ScheduleOps.h"

namespace hybrid::cuda {

/// The blocks that a launch's kernel is compiled for, at least; 1 for kernels that the table has
/// not. A kernel is known by its template, its element type, which of its `has...` fields are 1,
/// and what its sizes make of a block: threads and bytes of shared memory.
int64_t residentBlocks(LaunchOp launch);

} // namespace hybrid::cuda
