//===- Formula.h - the scalar functions' formulas as ONNX nodes ---------------===//
#pragma once
#include "codegen/onnx/GraphBuilder.h"
#include "dialect/ScalarFunctions.h"

namespace hybrid::onnx {

/// A tensor in a formula: of dialect/ScalarFunctions.td, or of a conversion. Operators broadcast.
struct Formula : scalar::ScalarOperators<Formula> {
  GraphBuilder *graph;
  Tensor value;

  Formula(GraphBuilder &graph, Tensor value) : graph(&graph), value(std::move(value)) {}
  operator const Tensor &() const { return value; }
  Formula constant(double number) const { return {*graph, graph->constant(number)}; }

  Formula unary(llvm::StringRef op, llvm::ArrayRef<Attribute> attributes = {}) const {
    return {*graph, graph->elementwise(op, value, attributes)};
  }
  Formula binary(llvm::StringRef op, const Formula &other) const {
    return {*graph, graph->elementwise(op, value, other.value)};
  }

  friend Formula operator+(Formula a, Formula b) { return a.binary("Add", b); }
  friend Formula operator-(Formula a, Formula b) { return a.binary("Sub", b); }
  friend Formula operator*(Formula a, Formula b) { return a.binary("Mul", b); }
  friend Formula operator/(Formula a, Formula b) { return a.binary("Div", b); }
  friend Formula operator-(Formula x) { return x.unary("Neg"); }
  /// Conditions, for select().
  friend Formula operator<(Formula a, Formula b) {
    return {*a.graph, a.graph->compare("Less", a, b)};
  }
  friend Formula operator==(Formula a, Formula b) {
    return {*a.graph, a.graph->compare("Equal", a, b)};
  }
  friend Formula select(Formula condition, Formula a, Formula b) {
    return {*a.graph, a.graph->where(condition, a, b)};
  }

  // What the table gives no formula for, and what ONNX has an operator of its own for.
  friend Formula exp(Formula x) { return x.unary("Exp"); }
  friend Formula log(Formula x) { return x.unary("Log"); }
  friend Formula sin(Formula x) { return x.unary("Sin"); }
  friend Formula cos(Formula x) { return x.unary("Cos"); }
  friend Formula tanh(Formula x) { return x.unary("Tanh"); }
  friend Formula sqrt(Formula x) { return x.unary("Sqrt"); }
  friend Formula abs(Formula x) { return x.unary("Abs"); }
  friend Formula erf(Formula x) { return x.unary("Erf"); }
  friend Formula sign(Formula x) { return x.unary("Sign"); }
  friend Formula relu(Formula x) { return x.unary("Relu"); }
  friend Formula sigmoid(Formula x) { return x.unary("Sigmoid"); }
  friend Formula silu(Formula x) { return x * sigmoid(x); }
  friend Formula softplus(Formula x) { return x.unary("Softplus"); }
  friend Formula reciprocal(Formula x) { return x.unary("Reciprocal"); }
  friend Formula gelu(Formula x) { return x.unary("Gelu"); }
  friend Formula gelu_tanh(Formula x) {
    return x.unary("Gelu", {{"approximate", std::string("tanh")}});
  }
  friend Formula max(Formula a, Formula b) { return a.binary("Max", b); }
  friend Formula min(Formula a, Formula b) { return a.binary("Min", b); }

  /// eˣ - 1 = (u - 1) x / log u with u = eˣ as it is rounded, where that loses digits (Kahan).
  friend Formula expm1(Formula x) {
    Formula u = exp(x), exact = (u - 1.0) * x / log(u);
    return select(abs(x) < 1.0, select(u == x.constant(1), x, exact), u - 1.0);
  }
  /// log(1 + x) = x log u / (u - 1) with u = 1 + x as it is rounded, likewise.
  friend Formula log1p(Formula x) {
    Formula u = x + 1.0, exact = x * log(u) / (u - 1.0);
    return select(abs(x) < 1.0, select(u == x.constant(1), x, exact), log(u));
  }
  /// The angle of (x, y): of y/x, half a turn further on the left, and a quarter where x is 0.
  friend Formula atan2(Formula y, Formula x) {
    const double pi = std::numbers::pi;
    Formula zero = x.constant(0), half = select(y < 0.0, -pi, x.constant(pi));
    Formula quarter = sign(y) * (pi / 2), angle = (y / x).unary("Atan");
    return select(x == zero, quarter, select(x < 0.0, angle + half, angle));
  }

private:
  friend Formula operator-(Formula a, double b) { return a - a.constant(b); }
};

} // namespace hybrid::onnx
