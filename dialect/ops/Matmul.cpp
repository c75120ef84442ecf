//===- Matmul.cpp - matrix product ----------------------------------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(MatmulOp) {
  ArrayRef<int64_t> a = shapeOf(adaptor.getA()), b = shapeOf(adaptor.getB());
  Type element = productResultElement(elementOf(adaptor.getA()));
  if (adaptor.getTransposeA() && adaptor.getTransposeB()) // C3
    return emitOptionalError(location, "matmul: transpose_a and transpose_b are both set");
  if (a.empty() || b.empty())
    return emitOptionalError(location, "matmul: a scalar has no rows to multiply");
  if (adaptor.getTransposeA()) {
    bool same = a.size() == b.size();
    for (size_t i = 0; same && i + 1 < a.size(); ++i)
      same = compatible(a[i], b[i]);
    if (!same) // C1
      return emitOptionalError(location, "matmul: leading dimensions of ", shapeText(a), " and ",
                               shapeText(b), " differ");
    types.push_back(tensorOf({a.back(), b.back()}, element));
    return success();
  }
  if (b.size() != 2) // C2
    return emitOptionalError(location, "matmul: b must be a matrix, but is ", shapeText(b));
  int64_t inner = adaptor.getTransposeB() ? b[1] : b[0],
          outer = adaptor.getTransposeB() ? b[0] : b[1];
  if (!compatible(a.back(), inner)) // C1
    return emitOptionalError(location, "matmul: ", shapeText(a), " by ", shapeText(b),
                             ": inner sizes ", a.back(), " and ", inner, " differ");
  SmallVector<int64_t> shape(a);
  shape.back() = outer;
  return give(types, {tensorOf(shape, element)});
}

// y = AB: dA = dy Bᵀ, dB = Aᵀ dy.  y = ABᵀ: dA = dy B, dB = dyᵀ A.  y = AᵀB: dA = B dyᵀ, dB = A dy.
HYBRID_VJP(MatmulOp) {
  Value dy = cotangents[0];
  auto product = [&](Value a, Value b, bool transposeA, bool transposeB) -> Value {
    return MatmulOp::create(builder, getLoc(), a, b, transposeA, transposeB);
  };
  if (getTransposeA()) {
    gradients.push_back(product(getB(), dy, false, true));
    gradients.push_back(product(getA(), dy, false, false));
  } else if (getTransposeB()) {
    gradients.push_back(product(dy, getB(), false, false));
    gradients.push_back(product(dy, getA(), true, false));
  } else {
    gradients.push_back(product(dy, getB(), false, true));
    gradients.push_back(product(getA(), dy, true, false));
  }
  return success();
}

// With transpose_a rows are contracted: every row adds to the whole result.
bool MatmulOp::isRowOperand(unsigned index) { return index == 0 || getTransposeA(); }
bool MatmulOp::isRowResult(unsigned) { return !getTransposeA(); }
bool MatmulOp::accumulatesOverRows() { return getTransposeA(); }

int64_t MatmulOp::getFlops() {
  int64_t contracted =
      getTransposeA() ? elementCount(shapeOf(getA()).drop_back()) : lastSize(getA());
  return 2 * elementCount(getResult()) * contracted;
}
StringRef MatmulOp::getFlopsFormula() { return "2·m·n·k"; }
