//===- LoopText.h - kernels of loops as CUDA C++ -----------------------------===//
#pragma once
#include "codegen/loops/KernelFunction.h"

namespace hybrid::cuda {

/// What a kernel of loops (loops::KernelFunction) is for CUDA: the parameters, a comma before each,
/// and the body of a function of an `item`, which a block of `threads` runs.
struct LoopText {
  std::string parameters, body;
  int64_t threads;
};
/// `indexType` holds every offset into the buffers. Loops that are parallel are divided among the
/// threads, which wait for one another behind each.
LoopText textOfLoops(mlir::func::FuncOp function, llvm::StringRef indexType);

} // namespace hybrid::cuda
