//===- ScalarFunctions.h - functions of elements ----------------------------===//
//
// The formulas of dialect/ScalarFunctions.td over any type T of these:
//
//   - a graph value: `x.apply(kind, x)` makes the op of the function. Formulas of gradients use it.
//   - any other derives from ScalarOperators<T> and has + - * / - < ==, select(condition, a, b),
//     `T constant(double) const`, and a function for each that the table gives no formula for,
//     all found by argument-dependent lookup. Such a function also replaces a formula.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialect/HybridOps.h"
#include <cmath>
#include <numbers>
#include <optional>

namespace hybrid::scalar {

/// Arithmetic with plain numbers for a type that has it with itself.
template <typename T> struct ScalarOperators {
  friend T constant(double value, T like) { return like.constant(value); }
  friend T operator+(T a, double b) { return a + a.constant(b); }
  friend T operator+(double a, T b) { return b.constant(a) + b; }
  friend T operator-(double a, T b) { return b.constant(a) - b; }
  friend T operator*(T a, double b) { return a * a.constant(b); }
  friend T operator*(double a, T b) { return b.constant(a) * b; }
  friend T operator/(double a, T b) { return b.constant(a) / b; }
  friend T operator<(T a, double b) { return a < a.constant(b); }
  friend T operator<(double a, T b) { return b.constant(a) < b; }
  friend T select(T condition, double a, T b) { return select(condition, b.constant(a), b); }
  friend T select(T condition, double a, double b) {
    return select(condition, condition.constant(a), condition.constant(b));
  }
};

template <typename T>
concept GraphValue = requires(T x) { x.apply(UnaryKind(), x); };

struct UnaryFunction {
  UnaryKind kind;
  llvm::StringRef name, meaning;
  bool differentiable;
  bool wholeNumbers; ///< an integer of an integer
};
struct BinaryFunction {
  BinaryKind kind;
  llvm::StringRef name; ///< in the language: a sign or a name
  llvm::StringRef parameters, meaning;
  bool differentiable;
};

#include "dialect/ScalarFunctions.h.inc"

} // namespace hybrid::scalar
