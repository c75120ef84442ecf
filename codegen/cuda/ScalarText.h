//===- ScalarText.h - one element of an elementwise op as C++ text ----------===//
#pragma once
#include "mlir/IR/Operation.h"
#include <string>

namespace hybrid::cuda {

/// The C++ type of an element: "float", "double", "int32_t" or "bf16".
llvm::StringRef typeText(mlir::Type element);

/// A number as a literal of that type.
std::string literal(double value, mlir::Type element);

/// The expression that computes `op` of the operands' expressions (names or calls: each is used
/// more than once), over the functions of codegen/kernels/cuda/Prelude.cuh.
std::string scalarText(mlir::Operation *op, llvm::ArrayRef<std::string> operands);

} // namespace hybrid::cuda
