//===- FormulaTensor.h - the scalar functions' formulas on tensors ----------===//
#pragma once
#include "dialect/Gradients.h"
#include "dialect/ScalarFunctions.h"

namespace hybrid {

/// A tensor in a formula of dialect/ScalarFunctions.td: gradients are built with it.
struct FormulaTensor : scalar::ScalarOperators<FormulaTensor> {
  ExpressionBuilder *e;
  mlir::Value value;

  FormulaTensor(ExpressionBuilder &e, mlir::Value value) : e(&e), value(value) {}
  FormulaTensor constant(double number) const { return {*e, e->constant(number, value)}; }
  FormulaTensor apply(UnaryKind kind, FormulaTensor x) const {
    return {*e, e->unary(kind, x.value)};
  }
  FormulaTensor apply(BinaryKind kind, FormulaTensor a, FormulaTensor b) const {
    return {*e, e->binary(kind, a.value, b.value)};
  }
  friend FormulaTensor operator-(FormulaTensor x) { return x.apply(UnaryKind::Neg, x); }
  friend FormulaTensor operator+(FormulaTensor a, FormulaTensor b) {
    return a.apply(BinaryKind::Add, a, b);
  }
  friend FormulaTensor operator-(FormulaTensor a, FormulaTensor b) {
    return a.apply(BinaryKind::Sub, a, b);
  }
  friend FormulaTensor operator*(FormulaTensor a, FormulaTensor b) {
    return a.apply(BinaryKind::Mul, a, b);
  }
  friend FormulaTensor operator/(FormulaTensor a, FormulaTensor b) {
    return a.apply(BinaryKind::Div, a, b);
  }
};

} // namespace hybrid
