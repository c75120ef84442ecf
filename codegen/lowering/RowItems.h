//===- RowItems.h - rows that an item of a kernel takes ----------------------===//
#pragma once
#include "codegen/kernels/Threads.h"
#include "codegen/lowering/Lowering.h"

namespace hybrid {

/// On CUDA as many as share a block; in tiles, which cut kernels at any row, one. On the CPU an
/// item is a row, and the kernel is not told.
inline int64_t rowsOfItem(const ProgramBuilder &program, int64_t columns) {
  if (program.device().kind == Device::Cpu)
    return 0;
  return program.inTiles() ? 1 : cuda::rowsOfBlock(columns);
}

} // namespace hybrid
