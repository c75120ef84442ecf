//===- ForwardPart.h - what a gradient computes before it needs a cotangent -===//
#pragma once
#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseSet.h"

namespace hybrid {

/// Of a function that takes cotangents ("cotangent.y"), as `@vjp` does: the ops that its results
/// other than gradients ("grad.x") need. None of them needs a cotangent, so a program may compute
/// them and pause. Empty for every other function and for a block that is none of a function.
llvm::DenseSet<mlir::Operation *> forwardPart(mlir::Block &block);

} // namespace hybrid
