//===- ScalarExpressions.cpp - one element of an elementwise op -------------===//
//
// Formulas of operators' elementwise functions. Each is written so that it neither overflows nor
// cancels at large arguments.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/ScalarExpressions.h"
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>
#include <numbers>

using namespace mlir;

namespace hybrid::cpu {
namespace {

struct Scalar {
  ImplicitLocOpBuilder &b;
  Type type;
  /// Products feeding sums may become multiply-adds.
  arith::FastMathFlagsAttr flags =
      arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract);

  Value constant(double value) { return arith::ConstantOp::create(b, b.getFloatAttr(type, value)); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y, flags); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y, flags); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y, flags); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y, flags); }
  Value neg(Value x) { return arith::NegFOp::create(b, x); }
  Value abs(Value x) { return math::AbsFOp::create(b, x); }
  Value max(Value x, Value y) { return arith::MaximumFOp::create(b, x, y); }
  Value min(Value x, Value y) { return arith::MinimumFOp::create(b, x, y); }
  Value exp(Value x) { return math::ExpOp::create(b, x); }
  Value less(Value x, Value y) { return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value sigmoid(Value x) { return div(constant(1), add(constant(1), exp(neg(x)))); }
  Value softplus(Value x) {
    return add(max(x, constant(0)), math::Log1pOp::create(b, exp(neg(abs(x)))));
  }

  Value unary(UnaryKind kind, Value x) {
    switch (kind) {
    case UnaryKind::Neg:
      return neg(x);
    case UnaryKind::Exp:
      return exp(x);
    case UnaryKind::Expm1:
      return math::ExpM1Op::create(b, x);
    case UnaryKind::Log:
      return math::LogOp::create(b, x);
    case UnaryKind::Log1p:
      return math::Log1pOp::create(b, x);
    case UnaryKind::Sin:
      return math::SinOp::create(b, x);
    case UnaryKind::Cos:
      return math::CosOp::create(b, x);
    case UnaryKind::Tanh:
      return math::TanhOp::create(b, x);
    case UnaryKind::Sigmoid:
      return sigmoid(x);
    case UnaryKind::Silu:
      return div(x, add(constant(1), exp(neg(x))));
    case UnaryKind::Gelu: // x Φ(x)
      return mul(
          mul(x, constant(0.5)),
          add(constant(1), math::ErfOp::create(b, mul(x, constant(std::numbers::sqrt2 / 2)))));
    case UnaryKind::GeluTanh: {
      Value inner = mul(mul(x, constant(std::sqrt(2 / std::numbers::pi))),
                        add(constant(1), mul(constant(0.044715), mul(x, x))));
      return mul(mul(x, constant(0.5)), add(constant(1), math::TanhOp::create(b, inner)));
    }
    case UnaryKind::Relu:
      return max(x, constant(0));
    case UnaryKind::Softplus:
      return softplus(x);
    case UnaryKind::LogSigmoid:
      return neg(softplus(neg(x)));
    case UnaryKind::Sqrt:
      return math::SqrtOp::create(b, x);
    case UnaryKind::Rsqrt:
      return div(constant(1), math::SqrtOp::create(b, x));
    case UnaryKind::Abs:
      return abs(x);
    case UnaryKind::Square:
      return mul(x, x);
    case UnaryKind::Sign:
      return select(less(constant(0), x), constant(1),
                    select(less(x, constant(0)), constant(-1), constant(0)));
    case UnaryKind::Erf:
      return math::ErfOp::create(b, x);
    case UnaryKind::Reciprocal:
      return div(constant(1), x);
    case UnaryKind::Elu: // the exponential of min(x, 0) never overflows
      return select(less(constant(0), x), x, math::ExpM1Op::create(b, min(x, constant(0))));
    }
    llvm_unreachable("all kinds handled");
  }

  Value binary(BinaryKind kind, Value x, Value y) {
    switch (kind) {
    case BinaryKind::Add:
      return add(x, y);
    case BinaryKind::Sub:
      return sub(x, y);
    case BinaryKind::Mul:
      return mul(x, y);
    case BinaryKind::Div:
      return div(x, y);
    case BinaryKind::Max:
      return max(x, y);
    case BinaryKind::Min:
      return min(x, y);
    case BinaryKind::Equal:
      return select(arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, y), constant(1),
                    constant(0));
    case BinaryKind::Less:
      return select(less(x, y), constant(1), constant(0));
    case BinaryKind::Atan2: {
      // In f64: filters multiply an angle by a position, which multiplies its error as well.
      if (type.isF64())
        return math::Atan2Op::create(b, x, y);
      Type wide = b.getF64Type();
      Value angle = math::Atan2Op::create(b, arith::ExtFOp::create(b, wide, x),
                                          arith::ExtFOp::create(b, wide, y));
      return arith::TruncFOp::create(b, type, angle);
    }
    }
    llvm_unreachable("all kinds handled");
  }
};

} // namespace

Value emitScalar(ImplicitLocOpBuilder &builder, Operation *op, ArrayRef<Value> operands) {
  Scalar scalar{builder, elementOf(op->getResult(0))};
  if (auto constant = dyn_cast<ConstantOp>(op))
    return scalar.constant(constant.getValue().convertToDouble());
  if (auto unary = dyn_cast<UnaryOp>(op))
    return scalar.unary(unary.getKind(), operands[0]);
  if (auto binary = dyn_cast<BinaryOp>(op))
    return scalar.binary(binary.getKind(), operands[0], operands[1]);
  if (isa<RoundOp>(op))
    return arith::TruncFOp::create(builder, elementOf(op->getResult(0)), operands[0]);
  return operands[0]; // broadcast: the index already is
}

} // namespace hybrid::cpu
