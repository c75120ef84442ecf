//===- Lowerings.h - ops whose kernels differ on CUDA -----------------------===//
#pragma once
#include "codegen/cuda/CudaBackend.h"
#include "codegen/program/ProgramBuilder.h"

namespace hybrid::cuda {

mlir::LogicalResult lower(EmbeddingGradOp op, ProgramBuilder &program);
mlir::LogicalResult lower(ShortConvOp op, ProgramBuilder &program);
mlir::LogicalResult lower(ShortConvGradOp op, ProgramBuilder &program);
mlir::LogicalResult lower(FFTConvOp op, ProgramBuilder &program);
mlir::LogicalResult lower(FFTConvGradOp op, ProgramBuilder &program);
mlir::LogicalResult lower(RfftOp op, ProgramBuilder &program);
mlir::LogicalResult lower(IrfftOp op, ProgramBuilder &program);
mlir::LogicalResult lower(ModalFilterOp op, ProgramBuilder &program);
mlir::LogicalResult lower(ModalFilterGradOp op, ProgramBuilder &program);

} // namespace hybrid::cuda
