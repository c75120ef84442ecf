//===- Lowerings.h - ops whose kernels differ on CUDA -----------------------===//
#pragma once
#include "codegen/cuda/CudaBackend.h"
#include "codegen/program/ProgramBuilder.h"

namespace hybrid::cuda {

mlir::LogicalResult lower(EmbeddingGradOp op, ProgramBuilder &program);
mlir::LogicalResult lower(AttentionOp op, ProgramBuilder &program);
mlir::LogicalResult lower(AttentionGradOp op, ProgramBuilder &program);
mlir::LogicalResult lower(TopKOp op, ProgramBuilder &program);
mlir::LogicalResult lower(TakeOp op, ProgramBuilder &program);
mlir::LogicalResult lower(ScatterOp op, ProgramBuilder &program);
mlir::LogicalResult lower(RouteOp op, ProgramBuilder &program);
mlir::LogicalResult lower(DispatchOp op, ProgramBuilder &program);
mlir::LogicalResult lower(CollectOp op, ProgramBuilder &program);
mlir::LogicalResult lower(GroupedLinearOp op, ProgramBuilder &program);
mlir::LogicalResult lower(GroupedLinearGradOp op, ProgramBuilder &program);
mlir::LogicalResult lower(LinearScanOp op, ProgramBuilder &program);
mlir::LogicalResult lower(LinearScanGradOp op, ProgramBuilder &program);
mlir::LogicalResult lower(SelectiveScanOp op, ProgramBuilder &program);
mlir::LogicalResult lower(SelectiveScanGradOp op, ProgramBuilder &program);
mlir::LogicalResult lower(SoftmaxScanOp op, ProgramBuilder &program);
mlir::LogicalResult lower(SoftmaxScanGradOp op, ProgramBuilder &program);
mlir::LogicalResult lower(ShortConvOp op, ProgramBuilder &program);
mlir::LogicalResult lower(ShortConvGradOp op, ProgramBuilder &program);
mlir::LogicalResult lower(FFTConvOp op, ProgramBuilder &program);
mlir::LogicalResult lower(FFTConvGradOp op, ProgramBuilder &program);
mlir::LogicalResult lower(RfftOp op, ProgramBuilder &program);
mlir::LogicalResult lower(IrfftOp op, ProgramBuilder &program);
mlir::LogicalResult lower(ModalFilterOp op, ProgramBuilder &program);
mlir::LogicalResult lower(ModalFilterGradOp op, ProgramBuilder &program);

} // namespace hybrid::cuda
