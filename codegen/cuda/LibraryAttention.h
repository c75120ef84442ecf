//===- LibraryAttention.h - which attention cuDNN computes --------------------===//
#pragma once
#include "codegen/cuda/CudaBackend.h"
#include "codegen/program/ProgramBuilder.h"

namespace hybrid::cuda {

/// Whether the library computes this AttentionOp or AttentionGradOp: operands may be rounded to
/// bf16, no window, no segments, as many keys as queries where causal, a head size that is a
/// multiple of 8 and not too wide. The backend may ask for it wherever that holds, or only for
/// heads of 64 and more over more than 256 keys.
template <typename Op> bool takesLibrary(Op op, const CudaBackend &backend);

mlir::LogicalResult lowerByLibrary(AttentionOp op, ProgramBuilder &program);
mlir::LogicalResult lowerByLibrary(AttentionGradOp op, ProgramBuilder &program);

} // namespace hybrid::cuda
