//===- MatrixProduct.h - products of matrices ------------------------------===//
#pragma once
#include "codegen/program/ProgramBuilder.h"

namespace hybrid {

/// result = a b (+ bias), by a library or a kernel of ours, each operand transposed where asked
/// for. Operands that are no matrices of rows are copied; a result that is none is computed aside
/// and copied.
void multiply(ProgramBuilder &program, mlir::Value a, bool transposeA, mlir::Value b,
              bool transposeB, mlir::Value bias, mlir::Value result);

/// A product for each matrix of b [batch..., k, n], or [batch..., n, k] with `transposeB`, with the
/// rows of a [batch..., rows..., k] that are its.
void multiplyEach(ProgramBuilder &program, mlir::Value a, mlir::Value b, bool transposeB,
                  mlir::Value result);

} // namespace hybrid
