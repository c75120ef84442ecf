//===- Expressions.cpp - evaluating expressions --------------------------------===//
#include "frontends/dsl/Builtins.h"
#include "frontends/dsl/Elaborator.h"
#include "frontends/dsl/Library.h"

using namespace mlir;

namespace hybrid::dsl {

constexpr int deepestValue = 100;                             // lists in lists
constexpr size_t elementsOfStep = 8, charactersOfStep = 4096; // put together in its time

Value Elaborator::evaluate(const Expression &expression, llvm::StringRef hint) {
  using Kind = Expression::Kind;
  if (!emit.step(expression.place))
    return {};
  if (isTooDeep(expression.place))
    return {};
  switch (expression.kind) {
  case Kind::Integer:
    return Value::of(expression.integer);
  case Kind::Float:
    return Value::of(expression.number);
  case Kind::String:
    return Value::of(expression.text);
  case Kind::Boolean:
    return Value::of(expression.integer != 0);
  case Kind::Name: {
    Value value = evaluateName(expression);
    if (observer)
      observer->saw(expression.place, value);
    return value;
  }
  case Kind::Operator: {
    LayerValue layer;
    layer.builtin = findBuiltin(expression.text);
    if (layer.builtin)
      return Value::of(std::move(layer));
    return diagnostics.error(expression.place, "there is no operator 'op." + expression.text + "'" +
                                                   didYouMean(expression.text, builtinNames()));
  }
  default:
    break;
  }
  ++depth;
  Value value;
  switch (expression.kind) {
  case Kind::List: {
    std::vector<Value> values;
    for (const ExpressionPtr &child : expression.children)
      values.push_back(evaluate(*child));
    value = Value::of(std::move(values));
    break;
  }
  case Kind::Unary:
    value = evaluateUnary(expression);
    break;
  case Kind::Binary:
    value = evaluateBinary(expression);
    break;
  case Kind::Conditional:
    if (std::optional<bool> chosen = condition(*expression.children[0]))
      value = evaluate(*expression.children[*chosen ? 1 : 2], hint);
    break;
  case Kind::Call:
    value = evaluateCall(expression, hint);
    break;
  case Kind::Index:
    value = evaluateIndex(expression);
    break;
  case Kind::With:
    value = evaluateWith(expression);
    break;
  default:
    break;
  }
  --depth;
  return isTooLarge(expression.place, value) ? Value() : value;
}

bool Elaborator::isTooLarge(Place place, const Value &value) {
  if (value.nesting > deepestValue)
    diagnostics.error(place, "a value is nested more than " + llvm::Twine(deepestValue) + " deep");
  else if (value.held > largestValue)
    diagnostics.error(place, "a value holds more than " + llvm::Twine(largestValue) +
                                 " values and characters, with those in its lists");
  else
    return !emit.step(place, (value.list ? value.list->size() : 0) / elementsOfStep +
                                 value.string.size() / charactersOfStep);
  return true;
}

llvm::StringRef Elaborator::libraryModule(llvm::StringRef name) {
  auto [found, isNew] = libraryModules.try_emplace(name);
  if (isNew)
    found->second = libraryModuleOf(name, diagnostics.importPaths);
  return found->second;
}

Value Elaborator::evaluateName(const Expression &expression) {
  llvm::StringRef name = expression.text;
  if (Variable *variable = findVariable(name))
    return variable->value;
  Module::Found found = frame().module->find(name);
  if (found.other)
    return diagnostics.error(
        expression.place, "'" + name + "' is defined in two files that are used here",
        {{found.definition->place, "one is here"}, {found.other->place, "the other is here"}});
  LayerValue layer;
  layer.definition = found.definition;
  layer.module = found.module;
  if (!layer.definition) {
    if (name == "none")
      return Value::none();
    layer.builtin = findBuiltin(name);
    // It would have no parameters where the layer has some.
    if (llvm::StringRef module = layer.builtin ? libraryModule(name) : ""; !module.empty())
      return diagnostics.error(expression.place,
                               "'" + name + "' is a layer of the library: add 'use " + module +
                                   "' at the top of the file, or write 'op." + name +
                                   "' for the operator");
  }
  if (layer.definition || layer.builtin)
    return Value::of(std::move(layer));
  if (name == "one_of")
    return diagnostics.error(expression.place, "'one_of' is called with options, as the default of "
                                               "a model's parameter: one_of(hyena, attention)");
  if (name == "param")
    return diagnostics.error(expression.place,
                             "'param' is called with a shape: param([D], init = ones())");
  if (llvm::StringRef module = libraryModule(name); !module.empty())
    return diagnostics.error(expression.place,
                             "there is nothing called '" + name +
                                 "' here: it is a layer of the library, add 'use " + module +
                                 "' at the top of the file");
  return diagnostics.error(expression.place, "there is nothing called '" + name + "' here" +
                                                 didYouMean(name, visibleNames()));
}

Value Elaborator::evaluateUnary(const Expression &expression) {
  if (expression.text == "not") {
    std::optional<bool> value = condition(*expression.children[0]);
    return value ? Value::of(!*value) : Value();
  }
  Value value = evaluate(*expression.children[0]);
  if (value.isTensor() && !value.holdsIntegers)
    return emit.unary(UnaryKind::Neg, value, expression.place);
  return combine(emit, "-", Value::of(int64_t(0)), value, expression.place, "", "");
}

Value Elaborator::evaluateBinary(const Expression &expression) {
  if (expression.text == "and" || expression.text == "or") {
    // As everywhere, the right side is only looked at when it matters.
    std::optional<bool> left = condition(*expression.children[0]);
    if (!left || *left == (expression.text == "or"))
      return left ? Value::of(*left) : Value();
    std::optional<bool> right = condition(*expression.children[1]);
    return right ? Value::of(*right) : Value();
  }
  Value left = evaluate(*expression.children[0]);
  Value right = evaluate(*expression.children[1]);
  auto name = [](const Expression &operand) {
    return operand.kind == Expression::Kind::Name ? llvm::StringRef(operand.text)
                                                  : llvm::StringRef();
  };
  return combine(emit, expression.text, left, right, expression.place,
                 name(*expression.children[0]), name(*expression.children[1]));
}

bool Elaborator::isTooDeep(Place place) {
  constexpr int deepest =
      800; // calls of evaluate() and runBlock() within each other, through all layers
  if (depth < deepest)
    return false;
  diagnostics.error(place, "this is nested too deeply");
  emit.stop();
  return true;
}

std::optional<bool> Elaborator::condition(const Expression &expression) {
  Value value = evaluate(expression);
  if (value.kind == Value::Kind::Boolean)
    return value.boolean;
  if (!value.isPoison())
    diagnostics.error(expression.place, "a condition is true or false, not " + describe(value));
  return std::nullopt;
}

std::optional<int64_t> Elaborator::integer(const Expression &expression, llvm::StringRef what) {
  Value value = evaluate(expression);
  if (value.isInteger() && !value.isFree())
    return value.integer.size;
  if (value.isFree())
    diagnostics.error(expression.place,
                      what + " is " + text(value) + ", which is only known when compiling");
  else if (!value.isPoison())
    diagnostics.error(expression.place, what + " is an integer, not " + describe(value));
  return std::nullopt;
}

//===-- indices --------------------------------------------------------------===//

Value Elaborator::evaluateIndex(const Expression &expression) {
  Value value = evaluate(*expression.children[0]);
  if (value.isPoison())
    return {};
  if (value.kind == Value::Kind::List)
    return indexList(expression, value);
  if (value.isTensor())
    return indexTensor(expression, value);
  return diagnostics.error(expression.place, describe(value) + " has no elements to choose from");
}

Value Elaborator::indexList(const Expression &expression, const Value &list) {
  if (expression.subscripts.size() != 1 || expression.subscripts[0].isEllipsis)
    return diagnostics.error(expression.place, "a list takes one index or range");
  const Subscript &subscript = expression.subscripts[0];
  auto size = static_cast<int64_t>(list.list->size());
  if (!subscript.isRange) {
    if (!subscript.start)
      return {};
    std::optional<int64_t> index = integer(*subscript.start, "an index");
    if (!index)
      return {};
    if (*index < -size || *index >= size)
      return diagnostics.error(subscript.place, "index " + llvm::Twine(*index) + " of a list of " +
                                                    llvm::Twine(size));
    return (*list.list)[static_cast<size_t>(*index < 0 ? *index + size : *index)];
  }
  // Ranges are cut to the list, as in Python.
  auto bound = [&](const ExpressionPtr &given, int64_t otherwise) -> std::optional<int64_t> {
    if (!given)
      return otherwise;
    std::optional<int64_t> index = integer(*given, "an index");
    if (index && *index < 0)
      index = *index < -size ? 0 : *index + size;
    return index ? std::optional<int64_t>(std::min(*index, size)) : std::nullopt;
  };
  std::optional<int64_t> start = bound(subscript.start, 0), end = bound(subscript.end, size);
  if (!start || !end)
    return {};
  return Value::of(
      std::vector<Value>(list.list->begin() + std::min(*start, *end), list.list->begin() + *end));
}

bool Elaborator::readRange(const Subscript &subscript, const Value &tensor, const Dim &whole,
                           int64_t &start, Dim &size) {
  auto outside = [&](const std::string &what) {
    diagnostics.error(subscript.place, what + " is outside a dimension of " + text(whole),
                      {{tensor.origin, "the tensor " + text(tensor) + " comes from here"}});
    return false;
  };
  // A place in the dimension: a number, or one counted from the end of a free one, whose size it
  // then has.
  auto bound = [&](const ExpressionPtr &given, const Dim &otherwise) -> std::optional<Dim> {
    if (!given)
      return otherwise;
    Value value = evaluate(*given);
    if (!value.isInteger()) {
      if (!value.isPoison())
        diagnostics.error(given->place, "an index is an integer, not " + describe(value));
      return std::nullopt;
    }
    if (value.isFree() || value.integer.size >= 0)
      return value.integer;
    if (!whole.isFree() && value.integer.size < -whole.size) {
      outside("index " + text(value));
      return std::nullopt;
    }
    return whole.plus(value.integer.size);
  };
  std::optional<Dim> first = bound(subscript.start, Dim(0)), last = first;
  if (first && !subscript.isRange)
    last = first->plus(1);
  else if (subscript.isRange)
    last = bound(subscript.end, whole);
  if (!first || !last)
    return false;
  const bool fromEnd = first->isFree();
  if (fromEnd && (first->name != whole.name || first->size >= whole.size)) {
    diagnostics.error(subscript.place,
                      text(*first) +
                          " is only known when compiling: a part starts at a known index");
    return false;
  }
  // How far both are apart, as far as that is known.
  const bool apart = last->name == first->name, toEnd = last->isFree() && !fromEnd;
  const bool known = apart || (toEnd && (!whole.isFree() || whole.name == last->name));
  const std::string range = text(*first) + ":" + text(*last);
  if (!known) {
    diagnostics.error(subscript.place, "the size of the part " + range + " of " + text(whole) +
                                           " is only known when compiling");
    return false;
  }
  start = fromEnd ? first->size - whole.size : first->size;
  size = toEnd ? last->plus(-first->size) : Dim(last->size - first->size);
  // Of a dimension of known size 0:L is checked when compiling for a length.
  if (last->name == whole.name && last->size > whole.size)
    return outside(subscript.isRange ? "the part " + range : "index " + text(*first));
  if (!size.isFree() && size.size < 1) {
    diagnostics.error(subscript.place, "the part " + range + " is empty");
    return false;
  }
  return true;
}

std::optional<std::vector<Scoring::Index>> Elaborator::scoreIndices(const Expression &expression) {
  std::vector<Scoring::Index> indices;
  for (const Subscript &subscript : expression.subscripts) {
    const bool isName =
        !subscript.isRange && subscript.start && subscript.start->kind == Expression::Kind::Name;
    Variable *variable = isName ? findVariable(subscript.start->text) : nullptr;
    if (variable && variable->value.isTensor())
      if (std::optional<Scoring::Index> index = emit.scoring->indexOf(variable->value.tensor))
        indices.push_back(*index);
  }
  if (indices.empty())
    return std::nullopt;
  if (indices.size() < expression.subscripts.size())
    diagnostics.error(expression.place,
                      "a tensor in a score is indexed by query, key and head alone");
  return indices;
}

Value Elaborator::indexTensor(const Expression &expression, const Value &tensor) {
  if (emit.scoring)
    if (auto indices = scoreIndices(expression))
      return indices->size() == expression.subscripts.size()
                 ? emit.scoring->take(emit, tensor, *indices, expression.place)
                 : Value();
  size_t rank = tensor.shape.size(), given = 0;
  bool hasEllipsis = false;
  for (const Subscript &subscript : expression.subscripts) {
    if (subscript.isEllipsis && std::exchange(hasEllipsis, true))
      return diagnostics.error(subscript.place, "'...' stands once in an index");
    given += !subscript.isEllipsis;
  }
  if (given > rank)
    return diagnostics.error(expression.place, llvm::Twine(given) + " indices for " + text(tensor),
                             {{tensor.origin, "the tensor comes from here"}});
  SmallVector<int64_t> starts;
  Shape sizes, shape;
  auto whole = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) {
      shape.push_back(tensor.shape[starts.size()]);
      sizes.push_back(shape.back());
      starts.push_back(0);
    }
  };
  for (const Subscript &subscript : expression.subscripts) {
    if (subscript.isEllipsis) {
      whole(rank - given);
      continue;
    }
    int64_t start = 0;
    Dim size;
    if (!subscript.isRange && !subscript.start)
      return {};
    if (!readRange(subscript, tensor, tensor.shape[starts.size()], start, size))
      return {};
    starts.push_back(start);
    sizes.push_back(size);
    if (subscript.isRange)
      shape.push_back(size);
  }
  whole(rank - starts.size());
  Value part = emit.slice(tensor, starts, sizes, expression.place);
  return emit.reshape(part, shape, expression.place).results[0];
}

} // namespace hybrid::dsl
