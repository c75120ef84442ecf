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
  if (b.size() < 2) // C2
    return emitOptionalError(location, "matmul: b must be a matrix, but is ", shapeText(b));
  const size_t batch = b.size() - 2;
  if (a.size() <= batch || !compatibleShapes(a.take_front(batch), b.drop_back(2))) // C2
    return emitOptionalError(location, "matmul: a is ", shapeText(a), " for matrices ",
                             shapeText(b), ": expected their leading dimensions in front");
  int64_t inner = b[adaptor.getTransposeB() ? batch + 1 : batch],
          outer = b[adaptor.getTransposeB() ? batch : batch + 1];
  if (!compatible(a.back(), inner)) // C1
    return emitOptionalError(location, "matmul: ", shapeText(a), " by ", shapeText(b),
                             ": inner sizes ", a.back(), " and ", inner, " differ");
  SmallVector<int64_t> shape(a);
  shape.back() = outer;
  return give(types, {tensorOf(shape, element)});
}

/// [batch..., rows..., n] -> [batch..., rows, n], the rows as one dimension.
static Value asMatrices(ExpressionBuilder e, Value x, size_t batch) {
  ArrayRef<int64_t> shape = shapeOf(x);
  SmallVector<int64_t> matrices(shape.take_front(batch));
  matrices.push_back(elementCount(shape.drop_front(batch).drop_back()));
  matrices.push_back(shape.back());
  return e.reshape(x, matrices);
}

/// [batch..., rows, n] -> [batch..., n, rows].
static Value transposed(ExpressionBuilder e, Value matrices) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, std::ssize(shapeOf(matrices))));
  std::swap(order.back(), order[order.size() - 2]);
  return TransposeOp::create(e.builder, e.loc, matrices, e.builder.getDenseI64ArrayAttr(order));
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
  } else if (!isRowwise()) { // of each matrix alone
    ExpressionBuilder e{builder, getLoc()};
    const size_t batch = shapeOf(getB()).size() - 2;
    Value left = getTransposeB() ? dy : getA(), right = getTransposeB() ? getA() : dy;
    gradients.push_back(product(dy, getB(), false, !getTransposeB()));
    Value columns = transposed(e, asMatrices(e, left, batch));
    gradients.push_back(product(columns, asMatrices(e, right, batch), false, false));
  } else if (getTransposeB()) {
    gradients.push_back(product(dy, getB(), false, false));
    gradients.push_back(product(dy, getA(), true, false));
  } else {
    gradients.push_back(product(dy, getB(), false, true));
    gradients.push_back(product(getA(), dy, true, false));
  }
  return success();
}

// With several matrices b rows of different ones are not alike.
bool MatmulOp::isRowwise() { return getTransposeA() || shapeOf(getB()).size() == 2; }
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

SequenceUse MatmulOp::getSequenceUse(unsigned operand, int64_t axis, unsigned) {
  ArrayRef<int64_t> b = shapeOf(getB()), own = shapeOf(getOperand(operand));
  if (getTransposeA())
    return SequenceUse::all(axis + 1 == std::ssize(own) ? "positions meet other positions"
                                                        : "it sums over positions");
  if (operand == 0)
    return leadingSequenceUse(getA(), axis);
  if (axis + 2 < std::ssize(b)) // which matrix it is
    return SequenceUse::same(axis);
  const bool contracted = (axis + 2 == std::ssize(b)) != getTransposeB();
  return SequenceUse::all("positions meet other positions",
                          contracted ? -1 : std::ssize(shapeOf(getA())) - 1);
}
