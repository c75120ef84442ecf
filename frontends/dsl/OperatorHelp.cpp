//===- OperatorHelp.cpp - what an operator is called with ----------------------===//
#include "dialect/ScalarFunctions.h"
#include "frontends/dsl/Builtins.h"
#include "frontends/dsl/Frontend.h"
#include "llvm/ADT/StringExtras.h"

namespace hybrid::dsl {

static llvm::StringRef typeOf(const OperatorParameter &parameter) {
  using Kind = OperatorParameter::Kind;
  switch (parameter.kind) {
  case Kind::Tensor:
    return parameter.list ? "list of tensors" : "tensor";
  case Kind::Integers:
    return "tensor of integers";
  case Kind::AnyTensor:
    return parameter.list ? "list of tensors, of numbers or integers"
                          : "tensor of numbers or integers";
  case Kind::Integer:
    return "int";
  case Kind::Number:
    return "float";
  case Kind::Boolean:
  case Kind::Flag:
    return "bool";
  case Kind::Axis:
    return "int, from the end when negative";
  case Kind::Axes:
    return "list of axes";
  case Kind::Sizes:
    return "list of sizes";
  case Kind::Size:
    return "int, may be a free dimension";
  }
  llvm_unreachable("all kinds handled");
}

static void describe(const Operator &op, llvm::raw_ostream &out) {
  out << "  " << op.summary << "\n\n";
  for (const OperatorParameter &parameter : op.parameters) {
    out << "  " << parameter.name << ": " << typeOf(parameter);
    if (!parameter.value.empty())
      out << " = " << parameter.value;
    else if (parameter.optional)
      out << ", may be left out";
    if (!parameter.isOperand() && parameter.attribute != parameter.name)
      out << " (" << parameter.attribute << " below)";
    out << "\n";
  }
  // The text of the op without its examples, which are of the dialect.
  out << "\n";
  bool example = false;
  for (llvm::StringRef line : llvm::split(op.description.rtrim(), '\n')) {
    bool fence = line.starts_with("```");
    if (!example && !fence)
      out << (line.empty() ? "" : "  ") << line << "\n";
    example ^= fence;
  }
}

bool describeOperator(llvm::StringRef name, llvm::raw_ostream &out) {
  const Builtin *builtin = findBuiltin(name);
  if (!builtin) {
    out << "there is no operator '" << name << "'" << didYouMean(name, builtinNames()) << "\n";
    return false;
  }
  out << builtin->name << "(" << builtin->parameters << ")\n";
  auto named = [&](const auto &function) { return function.name == name; };
  const auto *unary = llvm::find_if(scalar::unaryFunctions, named);
  const auto *binary = llvm::find_if(scalar::binaryFunctions, named);
  if (builtin->op)
    describe(*builtin->op, out);
  else if (unary != std::end(scalar::unaryFunctions))
    out << "  " << unary->meaning << ", of each element\n";
  else if (binary != std::end(scalar::binaryFunctions))
    out << "  " << binary->meaning << ", of each element\n";
  else if (!builtin->meaning.empty())
    out << "  " << builtin->meaning << "\n";
  else
    out << "  see docs/book/language.md\n";
  return true;
}

} // namespace hybrid::dsl
