//===- Values.cpp - what an expression of the language can be ------------------===//
#include "frontends/dsl/Values.h"
#include "frontends/dsl/Builtins.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace hybrid::dsl {

Value Value::none() { return Kind::None; }

Value Value::of(int64_t number) { return of(Dim(number)); }

Value Value::of(Dim dim) {
  Value value(Kind::Integer);
  value.integer = std::move(dim);
  return value;
}

Value Value::of(double number) {
  Value value(Kind::Float);
  value.number = number;
  return value;
}

Value Value::of(bool boolean) {
  Value value(Kind::Boolean);
  value.boolean = boolean;
  return value;
}

void Value::holds(const Value &element) {
  nesting = std::max<uint16_t>(nesting, element.nesting + 1);
  held = llvm::SaturatingAdd(held, element.held);
}

Value Value::of(std::string string) {
  Value value(Kind::String);
  value.held += string.size();
  value.string = std::move(string);
  return value;
}

Value Value::of(std::vector<Value> values) {
  Value value(Kind::List);
  for (const Value &element : values)
    value.holds(element);
  value.list = std::make_shared<const std::vector<Value>>(std::move(values));
  return value;
}

Value Value::of(LayerValue layer) {
  Value value(Kind::Layer);
  for (const LayerValue::Bound &bound : layer.bound)
    value.holds(bound.value);
  value.layer = std::make_shared<const LayerValue>(std::move(layer));
  return value;
}

llvm::StringRef LayerValue::name() const {
  return definition ? llvm::StringRef(definition->name) : llvm::StringRef(builtin->name);
}

std::string text(const Dim &dim) {
  if (!dim.isFree() || dim.size == 0)
    return dim.isFree() ? dim.name : std::to_string(dim.size);
  return dim.name + (dim.size < 0 ? " - " : " + ") + std::to_string(std::abs(dim.size));
}

std::string text(const Shape &shape) {
  std::string result = "[";
  for (const Dim &dim : shape)
    result += (result.size() > 1 ? ", " : "") + text(dim);
  return result + "]";
}

std::string text(double number) {
  std::string result;
  llvm::raw_string_ostream(result) << llvm::format("%.6g", number);
  return result;
}

std::string text(const Value &value) {
  using Kind = Value::Kind;
  switch (value.kind) {
  case Kind::Poison:
    return "?";
  case Kind::None:
    return "none";
  case Kind::Integer:
    return text(value.integer);
  case Kind::Float:
    return text(value.number);
  case Kind::Boolean:
    return value.boolean ? "true" : "false";
  case Kind::String:
    return "\"" + (value.string.size() > 40 ? value.string.substr(0, 40) + "..." : value.string) +
           "\"";
  case Kind::List:
    return "a list of " + std::to_string(value.list->size());
  case Kind::Layer:
    return "layer '" + value.layer->name().str() + "'";
  case Kind::Tensor:
    return (value.holdsIntegers ? "int" : "") + text(value.shape);
  }
  return "";
}

std::string describe(const Value &value) {
  using Kind = Value::Kind;
  switch (value.kind) {
  case Kind::Integer:
    return value.integer.isFree() ? "the free dimension " + text(value)
                                  : "the integer " + text(value);
  case Kind::Float:
    return "the number " + text(value);
  case Kind::Boolean:
    return text(value);
  case Kind::String:
    return "the string " + text(value);
  case Kind::Tensor:
    return (value.holdsIntegers ? "an integer tensor " : "a tensor ") + text(value.shape);
  default:
    return text(value);
  }
}

static std::string dimensionText(const Expression &expression) {
  using Kind = Expression::Kind;
  switch (expression.kind) {
  case Kind::Integer:
    return std::to_string(expression.integer);
  case Kind::Name:
    return expression.text;
  case Kind::Binary: {
    const Expression &right = *expression.children[1];
    const bool isBinary = right.kind == Kind::Binary;
    return dimensionText(*expression.children[0]) + " " + expression.text + " " +
           (isBinary ? "(" + dimensionText(right) + ")" : dimensionText(right));
  }
  default:
    return "?";
  }
}

bool isOf(const Value &value, const TypeSyntax &type) {
  using Kind = TypeSyntax::Kind;
  switch (type.kind) {
  case Kind::Integer:
    return value.isInteger();
  case Kind::Float:
    return value.isNumber();
  case Kind::Boolean:
    return value.kind == Value::Kind::Boolean;
  case Kind::String:
    return value.kind == Value::Kind::String;
  case Kind::Layer:
    return value.kind == Value::Kind::Layer;
  case Kind::Tensor:
    return value.isTensor() && value.holdsIntegers == type.integerElements;
  }
  llvm_unreachable("all kinds handled");
}

std::string text(const TypeSyntax &type) {
  if (type.kind != TypeSyntax::Kind::Tensor)
    return TypeSyntax::words[static_cast<size_t>(type.kind)].str();
  std::string result = type.leading ? "..." : "";
  for (const ExpressionPtr &dimension : type.dimensions)
    result += (result.empty() ? "" : ", ") + dimensionText(*dimension);
  return (type.integerElements ? "int[" : "[") + result + "]";
}

} // namespace hybrid::dsl
