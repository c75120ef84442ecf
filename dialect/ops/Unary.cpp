//===- Unary.cpp - elementwise function of one tensor ---------------------===//
#include "dialect/Gradients.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace hybrid;

LogicalResult UnaryOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return success();
}

OpFoldResult UnaryOp::fold(FoldAdaptor) {
  // neg(neg(x)) -> x
  if (getKind() == UnaryKind::Neg)
    if (auto inner = getX().getDefiningOp<UnaryOp>(); inner && inner.getKind() == UnaryKind::Neg)
      return inner.getX();
  return {};
}

/// f'(x) of y = f(x), in terms of x (and y where that is cheaper).
static Value derivative(ExpressionBuilder &e, UnaryKind kind, Value x, Value y) {
  switch (kind) {
  case UnaryKind::Neg:
    return e.constant(-1, x);
  case UnaryKind::Exp:
    return y;
  case UnaryKind::Expm1:
    return e.add(y, 1);
  case UnaryKind::Log:
    return e.unary(UnaryKind::Reciprocal, x);
  case UnaryKind::Log1p:
    return e.unary(UnaryKind::Reciprocal, e.add(x, 1));
  case UnaryKind::Sin:
    return e.unary(UnaryKind::Cos, x);
  case UnaryKind::Cos:
    return e.neg(e.unary(UnaryKind::Sin, x));
  case UnaryKind::Tanh: // 1 - y²
    return e.oneMinus(e.unary(UnaryKind::Square, y));
  case UnaryKind::Sigmoid: // y (1 - y)
    return e.mul(y, e.oneMinus(y));
  case UnaryKind::Silu: { // σ (1 + x (1 - σ))
    Value s = e.unary(UnaryKind::Sigmoid, x);
    return e.mul(s, e.add(e.mul(x, e.oneMinus(s)), 1));
  }
  case UnaryKind::Gelu: { // Φ(x) + x φ(x)
    Value phi = e.mul(e.add(e.unary(UnaryKind::Erf, e.mul(x, std::numbers::sqrt2 / 2)), 1), 0.5);
    Value density = e.mul(e.unary(UnaryKind::Exp, e.mul(e.unary(UnaryKind::Square, x), -0.5)),
                          1 / std::sqrt(2 * std::numbers::pi));
    return e.add(phi, e.mul(x, density));
  }
  case UnaryKind::GeluTanh: { // ½(1+T) + ½ x (1-T²) √(2/π)(1 + 3·0.044715 x²)
    double c = std::sqrt(2 / std::numbers::pi);
    Value square = e.unary(UnaryKind::Square, x);
    Value t = e.unary(UnaryKind::Tanh, e.mul(e.mul(x, e.add(e.mul(square, 0.044715), 1)), c));
    Value slope = e.mul(e.add(e.mul(square, 3 * 0.044715), 1), c);
    Value second = e.mul(e.mul(x, e.oneMinus(e.unary(UnaryKind::Square, t))), slope);
    return e.mul(e.add(e.add(t, 1), second), 0.5);
  }
  case UnaryKind::Relu:
    return e.binary(BinaryKind::Less, e.constant(0, x), x);
  case UnaryKind::Softplus:
    return e.unary(UnaryKind::Sigmoid, x);
  case UnaryKind::LogSigmoid: // σ(-x)
    return e.unary(UnaryKind::Sigmoid, e.neg(x));
  case UnaryKind::Sqrt: // 1 / (2 y)
    return e.mul(e.unary(UnaryKind::Reciprocal, y), 0.5);
  case UnaryKind::Rsqrt: // -y³/2
    return e.mul(e.mul(e.unary(UnaryKind::Square, y), y), -0.5);
  case UnaryKind::Abs:
    return e.unary(UnaryKind::Sign, x);
  case UnaryKind::Square:
    return e.mul(x, 2);
  case UnaryKind::Sign:
    return nullptr;
  case UnaryKind::Erf: // 2/√π e^{-x²}
    return e.mul(e.unary(UnaryKind::Exp, e.neg(e.unary(UnaryKind::Square, x))),
                 2 / std::sqrt(std::numbers::pi));
  case UnaryKind::Reciprocal: // -y²
    return e.neg(e.unary(UnaryKind::Square, y));
  case UnaryKind::Elu: { // 1 for x > 0, e^x = y + 1 otherwise
    Value positive = e.binary(BinaryKind::Less, e.constant(0, x), x);
    return e.add(positive, e.mul(e.oneMinus(positive), e.add(y, 1)));
  }
  }
  llvm_unreachable("all kinds handled");
}

LogicalResult UnaryOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                SmallVectorImpl<Value> &gradients) {
  ExpressionBuilder e{builder, getLoc()};
  Value slope = derivative(e, getKind(), getX(), getResult());
  gradients.push_back(slope ? e.mul(cotangents[0], slope) : Value());
  return success();
}

int64_t UnaryOp::getFlops() { return elementCount(getResult()); }
StringRef UnaryOp::getFlopsFormula() { return "elements"; }
