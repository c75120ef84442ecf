//===- Lowerings.h - ops whose kernels differ on CUDA -----------------------===//
#pragma once
#include "codegen/cuda/CudaBackend.h"
#include "codegen/program/ProgramBuilder.h"

namespace hybrid::cuda {

mlir::LogicalResult lower(EmbeddingGradOp op, ProgramBuilder &program);
mlir::LogicalResult lower(LinearScanOp op, ProgramBuilder &program);
mlir::LogicalResult lower(LinearScanGradOp op, ProgramBuilder &program);
mlir::LogicalResult lower(SelectiveScanOp op, ProgramBuilder &program);
mlir::LogicalResult lower(SelectiveScanGradOp op, ProgramBuilder &program);
mlir::LogicalResult lower(SoftmaxScanOp op, ProgramBuilder &program);
mlir::LogicalResult lower(SoftmaxScanGradOp op, ProgramBuilder &program);

} // namespace hybrid::cuda
