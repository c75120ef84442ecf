//===- Elementwise.cpp - gradients of elementwise ops and reductions --------===//
#include "dialect/differentiate/Gradients.h"
#include <cmath>
#include <numbers>
#include <numeric>

using namespace mlir;
using namespace hybrid;

Value ExpressionBuilder::sumLeading(Value x) {
  SmallVector<int64_t> axes(shapeOf(x).size() - 1);
  std::iota(axes.begin(), axes.end(), 0);
  return axes.empty() ? x : reduce(ReduceKind::Sum, x, axes);
}

Value ExpressionBuilder::unbroadcast(Value gradient, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = shapeOf(gradient);
  if (from == shape)
    return gradient;
  size_t shift = from.size() - shape.size();
  SmallVector<int64_t> axes;
  for (size_t i = 0; i < from.size(); ++i)
    if (i < shift || (shape[i - shift] == 1 && from[i] != 1))
      axes.push_back(static_cast<int64_t>(i));
  Value sum = axes.empty() ? gradient : reduce(ReduceKind::Sum, gradient, axes);
  return shapeOf(sum) == shape ? sum : reshape(sum, shape);
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

LogicalResult BinaryOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                 SmallVectorImpl<Value> &gradients) {
  ExpressionBuilder e{builder, getLoc()};
  Value a = getLhs(), b = getRhs(), dy = cotangents[0], da, db;
  switch (getKind()) {
  case BinaryKind::Add:
    da = db = dy;
    break;
  case BinaryKind::Sub:
    da = dy;
    db = e.neg(dy);
    break;
  case BinaryKind::Mul:
    da = e.mul(dy, b);
    db = e.mul(dy, a);
    break;
  case BinaryKind::Div: // da = dy/b, db = -dy a/b²
    da = e.div(dy, b);
    db = e.neg(e.mul(da, e.div(a, b)));
    break;
  case BinaryKind::Max:
  case BinaryKind::Min: { // ties go to the first operand
    Value second = getKind() == BinaryKind::Max ? e.binary(BinaryKind::Less, a, b)
                                                : e.binary(BinaryKind::Less, b, a);
    db = e.mul(dy, second);
    da = e.mul(dy, e.oneMinus(second));
    break;
  }
  case BinaryKind::Atan2: { // da = dy b/(a² + b²), db = -dy a/(a² + b²)
    Value scaled = e.div(dy, e.add(e.mul(a, a), e.mul(b, b)));
    da = e.mul(scaled, b);
    db = e.neg(e.mul(scaled, a));
    break;
  }
  case BinaryKind::Equal:
  case BinaryKind::Less:
    gradients.append({Value(), Value()});
    return success();
  }
  gradients.push_back(e.unbroadcast(da, shapeOf(a)));
  gradients.push_back(e.unbroadcast(db, shapeOf(b)));
  return success();
}

LogicalResult ReduceOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                 SmallVectorImpl<Value> &gradients) {
  ExpressionBuilder e{builder, getLoc()};
  SmallVector<int64_t> kept(shapeOf(getX()));
  int64_t count = 1;
  for (int64_t axis : getAxes()) {
    count *= kept[axis];
    kept[axis] = 1;
  }
  auto keep = [&](Value value) {
    return shapeOf(value) == ArrayRef(kept) ? value : e.reshape(value, kept);
  };
  Value dy = keep(cotangents[0]);
  switch (getKind()) {
  case ReduceKind::Mean:
    dy = e.mul(dy, 1.0 / static_cast<double>(count));
    [[fallthrough]];
  case ReduceKind::Sum:
    gradients.push_back(e.broadcast(dy, shapeOf(getX())));
    break;
  case ReduceKind::Max: { // shared equally among the maxima
    Value hit = e.binary(BinaryKind::Equal, getX(), keep(getResult()));
    Value share = e.div(dy, e.reduce(ReduceKind::Sum, hit, getAxes(), true));
    gradients.push_back(e.mul(hit, share));
    break;
  }
  }
  return success();
}
