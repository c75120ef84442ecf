//===- MatrixProduct.cpp - products of matrices by a library ----------------===//
#include "codegen/lowering/MatrixProduct.h"

using namespace mlir;

namespace hybrid {

/// An operand of a matrix product: contiguous rows, or the transpose of such (then `transpose` is
/// flipped).
static View matrixOperand(ProgramBuilder &program, Value value, bool &transpose) {
  View view = program.view(value);
  if (view.rowStride())
    return view;
  if (view.shape.size() == 2 && view.strides[0] == 1 && view.strides[1] >= view.shape[0]) {
    transpose = !transpose;
    return view.transposed({1, 0});
  }
  int64_t stride;
  return program.rows(value, stride);
}

void multiply(ProgramBuilder &program, Value a, bool transposeA, Value b, bool transposeB,
              Value bias, Value result) {
  View left = matrixOperand(program, a, transposeA), right = matrixOperand(program, b, transposeB);
  std::optional<View> biasView;
  if (bias)
    biasView = program.dense(bias);
  View place = program.define(result), out = place;
  if (!place.rowStride())
    out = program.temporary(place.shape, place.element);
  program.matmul(left, transposeA, right, transposeB, out, biasView);
  if (out.buffer != place.buffer)
    program.copy(out, place);
}

} // namespace hybrid
