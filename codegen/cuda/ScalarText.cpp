//===- ScalarText.cpp - one element of an elementwise op as C++ text --------===//
//
// The same formulas as codegen/cpu/ScalarExpressions.cpp: none overflows or cancels at large
// arguments.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/ScalarText.h"
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <numbers>

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

std::string unary(UnaryKind kind, const std::string &x, Type type) {
  auto number = [&](double value) { return literal(value, type); };
  auto form = [&](const char *text) { return llvm::formatv(text, x).str(); };
  switch (kind) {
  case UnaryKind::Neg:
    return "-" + x;
  case UnaryKind::Exp:
    return form("exponential({0})");
  case UnaryKind::Expm1:
    return form("exponentialMinus1({0})");
  case UnaryKind::Log:
    return form("logarithm({0})");
  case UnaryKind::Log1p:
    return form("logarithm1p({0})");
  case UnaryKind::Sin:
    return form("sine({0})");
  case UnaryKind::Cos:
    return form("cosine({0})");
  case UnaryKind::Tanh:
    return form("hyperbolicTangent({0})");
  case UnaryKind::Sigmoid:
    return form("sigmoid({0})");
  case UnaryKind::Silu:
    return form("{0} * sigmoid({0})");
  case UnaryKind::Gelu: // x Φ(x)
    return llvm::formatv("{0} * {1} * ({2} + errorFunction({0} * {3}))", x, number(0.5), number(1),
                         number(std::numbers::sqrt2 / 2));
  case UnaryKind::GeluTanh:
    return llvm::formatv("{0} * {1} * ({2} + hyperbolicTangent(({0} * {3}) * ({2} + {4} * ({0} * "
                         "{0}))))",
                         x, number(0.5), number(1), number(std::sqrt(2 / std::numbers::pi)),
                         number(0.044715));
  case UnaryKind::Relu:
    return llvm::formatv("propagatingMaximum({0}, {1})", x, number(0));
  case UnaryKind::Softplus:
    return form("softplus({0})");
  case UnaryKind::LogSigmoid:
    return form("-softplus(-{0})");
  case UnaryKind::Sqrt:
    return form("squareRoot({0})");
  case UnaryKind::Rsqrt:
    return form("reciprocalSquareRoot({0})");
  case UnaryKind::Abs:
    return form("absolute({0})");
  case UnaryKind::Square:
    return form("{0} * {0}");
  case UnaryKind::Sign:
    return llvm::formatv("({1} < {0} ? {2} : {0} < {1} ? -{2} : {1})", x, number(0), number(1));
  case UnaryKind::Erf:
    return form("errorFunction({0})");
  case UnaryKind::Reciprocal:
    return number(1) + " / " + x;
  case UnaryKind::Elu:
    return llvm::formatv("({1} < {0} ? {0} : exponentialMinus1({0}))", x, number(0));
  }
  llvm_unreachable("all kinds handled");
}

std::string binary(BinaryKind kind, const std::string &x, const std::string &y, Type type) {
  auto form = [&](const char *text) {
    return llvm::formatv(text, x, y, literal(1, type), literal(0, type)).str();
  };
  switch (kind) {
  case BinaryKind::Add:
    return form("{0} + {1}");
  case BinaryKind::Sub:
    return form("{0} - {1}");
  case BinaryKind::Mul:
    return form("{0} * {1}");
  case BinaryKind::Div:
    return form("{0} / {1}");
  case BinaryKind::Max:
    return form("propagatingMaximum({0}, {1})");
  case BinaryKind::Min:
    return form("propagatingMinimum({0}, {1})");
  case BinaryKind::Equal:
    return form("({0} == {1} ? {2} : {3})");
  case BinaryKind::Less:
    return form("({0} < {1} ? {2} : {3})");
  case BinaryKind::Atan2:
    return form("arcTangent2({0}, {1})");
  }
  llvm_unreachable("all kinds handled");
}

} // namespace

std::string scalarText(Operation *op, ArrayRef<std::string> operands) {
  Type type = elementOf(op->getResult(0));
  if (auto constant = dyn_cast<ConstantOp>(op))
    return literal(constant.getValue().convertToDouble(), type);
  if (auto kind = dyn_cast<UnaryOp>(op))
    return unary(kind.getKind(), operands[0], type);
  if (auto kind = dyn_cast<BinaryOp>(op))
    return binary(kind.getKind(), operands[0], operands[1], type);
  if (isa<RoundOp>(op))
    return "toBf16(" + operands[0] + ")";
  return operands[0]; // broadcast: the index already is
}

} // namespace hybrid::cuda
