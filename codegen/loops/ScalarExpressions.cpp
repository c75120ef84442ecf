//===- ScalarExpressions.cpp - one element of an elementwise op -------------===//
#include "codegen/loops/ScalarExpressions.h"
#include "dialect/HybridOps.h"
#include "dialect/ScalarFunctions.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace hybrid::loops {
namespace {

/// A scalar of a kernel, or a condition, with what it takes to go on from it.
struct Scalar : scalar::ScalarOperators<Scalar> {
  ImplicitLocOpBuilder *b;
  Type type; // of numbers, or of vectors of them
  Value value;

  Scalar(ImplicitLocOpBuilder &builder, Type type, Value value)
      : b(&builder), type(type), value(value) {}
  Scalar with(Value result) const { return {*b, type, result}; }
  template <typename Op> Scalar of() const { return with(Op::create(*b, value)); }
  template <typename Op> Scalar of(Scalar y) const { return with(Op::create(*b, value, y.value)); }
  /// Products feeding sums may become multiply-adds.
  template <typename Op> Scalar contracted(Scalar y) const {
    auto flags = arith::FastMathFlagsAttr::get(b->getContext(), arith::FastMathFlags::contract);
    return with(Op::create(*b, value, y.value, flags));
  }
  Scalar compared(arith::CmpFPredicate predicate, Scalar y) const {
    return with(arith::CmpFOp::create(*b, predicate, value, y.value));
  }
  Scalar constant(double number) const {
    TypedAttr value = b->getFloatAttr(getElementTypeOrSelf(type), number);
    if (auto vector = dyn_cast<VectorType>(type))
      value = DenseElementsAttr::get(vector, value);
    return with(arith::ConstantOp::create(*b, value));
  }

  friend Scalar operator-(Scalar x) { return x.of<arith::NegFOp>(); }
  friend Scalar operator+(Scalar x, Scalar y) { return x.contracted<arith::AddFOp>(y); }
  friend Scalar operator-(Scalar x, Scalar y) { return x.contracted<arith::SubFOp>(y); }
  friend Scalar operator*(Scalar x, Scalar y) { return x.contracted<arith::MulFOp>(y); }
  friend Scalar operator/(Scalar x, Scalar y) { return x.contracted<arith::DivFOp>(y); }
  friend Scalar operator<(Scalar x, Scalar y) { return x.compared(arith::CmpFPredicate::OLT, y); }
  friend Scalar operator==(Scalar x, Scalar y) { return x.compared(arith::CmpFPredicate::OEQ, y); }
  friend Scalar select(Scalar condition, Scalar x, Scalar y) {
    return x.with(arith::SelectOp::create(*x.b, condition.value, x.value, y.value));
  }
  friend Scalar max(Scalar x, Scalar y) { return x.of<arith::MaximumFOp>(y); }
  friend Scalar min(Scalar x, Scalar y) { return x.of<arith::MinimumFOp>(y); }
  friend Scalar abs(Scalar x) { return x.of<math::AbsFOp>(); }
  friend Scalar exp(Scalar x) { return x.of<math::ExpOp>(); }
  friend Scalar expm1(Scalar x) { return x.of<math::ExpM1Op>(); }
  friend Scalar log(Scalar x) { return x.of<math::LogOp>(); }
  friend Scalar log1p(Scalar x) { return x.of<math::Log1pOp>(); }
  friend Scalar sin(Scalar x) { return x.of<math::SinOp>(); }
  friend Scalar cos(Scalar x) { return x.of<math::CosOp>(); }
  friend Scalar tanh(Scalar x) { return x.of<math::TanhOp>(); }
  friend Scalar erf(Scalar x) { return x.of<math::ErfOp>(); }
  friend Scalar sqrt(Scalar x) { return x.of<math::SqrtOp>(); }
  friend Scalar atan2(Scalar y, Scalar x) {
    // In f64: filters multiply an angle by a position, which multiplies its error as well.
    if (getElementTypeOrSelf(x.type).isF64())
      return y.of<math::Atan2Op>(x);
    auto wide = [&](Scalar narrow) {
      Type f64 = x.b->getF64Type();
      if (auto vector = dyn_cast<VectorType>(x.type))
        f64 = vector.clone(f64);
      return arith::ExtFOp::create(*x.b, f64, narrow.value);
    };
    Value angle = math::Atan2Op::create(*x.b, wide(y), wide(x));
    return x.with(arith::TruncFOp::create(*x.b, x.type, angle));
  }
};

} // namespace

Value emitScalar(ImplicitLocOpBuilder &builder, Operation *op, ArrayRef<Value> operands,
                 int64_t lanes) {
  Type type = elementOf(op->getResult(0));
  if (lanes)
    type = VectorType::get({lanes}, type);
  auto element = [&](Value value) { return Scalar(builder, type, value); };
  if (auto constant = dyn_cast<ConstantOp>(op))
    return element({}).constant(constant.getValue().convertToDouble()).value;
  if (auto unary = dyn_cast<UnaryOp>(op))
    return scalar::valueOf(unary.getKind(), element(operands[0])).value;
  if (auto binary = dyn_cast<BinaryOp>(op))
    return scalar::valueOf(binary.getKind(), element(operands[0]), element(operands[1])).value;
  if (isa<RoundOp>(op))
    return arith::TruncFOp::create(builder, type, operands[0]);
  if (isa<WidenOp>(op))
    return arith::ExtFOp::create(builder, type, operands[0]);
  return operands[0]; // broadcast: the index already is
}

SmallVector<Value> emitBody(ImplicitLocOpBuilder &builder, Block *body, ArrayRef<Value> operands) {
  if (!body)
    return SmallVector<Value>(operands);
  int64_t lanes = 0;
  if (!operands.empty())
    if (auto vector = dyn_cast<VectorType>(operands.front().getType()))
      lanes = vector.getNumElements();
  llvm::DenseMap<Value, Value> scalars;
  for (auto [argument, value] : llvm::zip(body->getArguments(), operands))
    scalars[argument] = value;
  for (Operation &op : body->without_terminator()) {
    SmallVector<Value> arguments;
    for (Value operand : op.getOperands())
      arguments.push_back(scalars.lookup(operand));
    scalars[op.getResult(0)] = emitScalar(builder, &op, arguments, lanes);
  }
  SmallVector<Value> results;
  for (Value value : body->getTerminator()->getOperands())
    results.push_back(scalars.lookup(value));
  return results;
}

} // namespace hybrid::loops
