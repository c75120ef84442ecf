//===- ScalarText.cpp - one element of an elementwise op as C++ text --------===//
#include "codegen/cuda/ScalarText.h"
#include "dialect/HybridOps.h"
#include "dialect/ScalarFunctions.h"
#include "dialect/Shapes.h"
#include <cmath>

using namespace mlir;

namespace hybrid::cuda {

StringRef typeText(Type element) {
  if (element.isF64())
    return "double";
  if (element.isBF16())
    return "bf16";
  return element.isInteger(32) ? "int32_t" : "float";
}

std::string literal(double value, Type element) {
  std::string type = typeText(element).str();
  if (std::isnan(value))
    return "notANumber<" + type + ">()";
  if (std::isinf(value))
    return (value < 0 ? "-infinity<" : "infinity<") + type + ">()";
  // As many digits as tell the number from its neighbours.
  llvm::SmallString<32> digits;
  if (element.isF32())
    llvm::APFloat(static_cast<float>(value)).toString(digits);
  else
    llvm::APFloat(value).toString(digits);
  if (digits.find_first_of(".eE") == StringRef::npos)
    digits += ".0";
  if (!element.isF64())
    digits += "f";
  return value < 0 ? ("(" + digits + ")").str() : digits.str().str();
}

namespace {

/// A piece of CUDA source over the functions of codegen/kernels/cuda/Prelude.cuh.
struct Text : scalar::ScalarOperators<Text> {
  /// How tightly the outermost operation binds.
  enum Binding { Sum, Product, Sign, Whole };
  std::string text;
  Type type; // of numbers
  Binding binding;

  Text(std::string text, Type type, Binding binding = Whole)
      : text(std::move(text)), type(type), binding(binding) {}
  Text constant(double value) const { return {literal(value, type), type}; }
  /// In parentheses unless it binds at least as tightly.
  std::string within(Binding other) const { return binding < other ? "(" + text + ")" : text; }
  Text join(const char *sign, const Text &y, Binding outer) const {
    // Operations of one rank are carried out from the left.
    return {within(outer) + sign + y.within(static_cast<Binding>(outer + 1)), type, outer};
  }
  Text compared(const char *sign, const Text &y) const { return {text + sign + y.text, type}; }
  Text in(const char *function) const { return {function + ("(" + text + ")"), type}; }
  Text in(const char *function, const Text &y) const {
    return {function + ("(" + text + ", " + y.text + ")"), type};
  }

  friend Text operator-(Text x) { return {"-" + x.within(Sign), x.type, Sign}; }
  friend Text operator+(Text x, Text y) { return x.join(" + ", y, Sum); }
  friend Text operator-(Text x, Text y) { return x.join(" - ", y, Sum); }
  friend Text operator*(Text x, Text y) { return x.join(" * ", y, Product); }
  friend Text operator/(Text x, Text y) { return x.join(" / ", y, Product); }
  friend Text operator<(Text x, Text y) { return x.compared(" < ", y); }
  friend Text operator==(Text x, Text y) { return x.compared(" == ", y); }
  friend Text select(Text condition, Text x, Text y) {
    return {"(" + condition.text + " ? " + x.text + " : " + y.text + ")", x.type};
  }
  friend Text max(Text x, Text y) { return x.in("propagatingMaximum", y); }
  friend Text min(Text x, Text y) { return x.in("propagatingMinimum", y); }
  friend Text atan2(Text y, Text x) { return y.in("arcTangent2", x); }
  friend Text abs(Text x) { return x.in("absolute"); }
  friend Text exp(Text x) { return x.in("exponential"); }
  friend Text expm1(Text x) { return x.in("exponentialMinus1"); }
  friend Text log(Text x) { return x.in("logarithm"); }
  friend Text log1p(Text x) { return x.in("logarithm1p"); }
  friend Text sin(Text x) { return x.in("sine"); }
  friend Text cos(Text x) { return x.in("cosine"); }
  friend Text tanh(Text x) { return x.in("hyperbolicTangent"); }
  friend Text erf(Text x) { return x.in("errorFunction"); }
  friend Text sqrt(Text x) { return x.in("squareRoot"); }
  // What the prelude has as well, in place of the formulas.
  friend Text rsqrt(Text x) { return x.in("reciprocalSquareRoot"); }
  friend Text sigmoid(Text x) { return x.in("sigmoid"); }
  friend Text softplus(Text x) { return x.in("softplus"); }
  friend Text silu(Text x) { return x * sigmoid(x); }
};

} // namespace

std::string scalarText(Operation *op, ArrayRef<std::string> operands) {
  Type type = elementOf(op->getResult(0));
  if (auto constant = dyn_cast<ConstantOp>(op))
    return literal(constant.getValue().convertToDouble(), type);
  if (auto unary = dyn_cast<UnaryOp>(op))
    return scalar::valueOf(unary.getKind(), Text(operands[0], type)).text;
  if (auto binary = dyn_cast<BinaryOp>(op))
    return scalar::valueOf(binary.getKind(), Text(operands[0], type), Text(operands[1], type)).text;
  if (isa<RoundOp>(op))
    return "toBf16(" + operands[0] + ")";
  if (isa<WidenOp>(op))
    return "fromBf16(" + operands[0] + ")";
  return operands[0]; // broadcast: the index already is
}

} // namespace hybrid::cuda
