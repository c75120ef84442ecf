//===- Lowerings.h - ops whose kernels differ on CUDA -----------------------===//
#pragma once
#include "codegen/cuda/CudaBackend.h"
#include "codegen/program/ProgramBuilder.h"

namespace hybrid::cuda {

mlir::LogicalResult lower(EmbeddingGradOp op, ProgramBuilder &program);

} // namespace hybrid::cuda
