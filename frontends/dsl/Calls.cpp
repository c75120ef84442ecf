//===- Calls.cpp - calling layers and builtins ---------------------------------===//
#include "frontends/dsl/Builtins.h"
#include "frontends/dsl/Elaborator.h"

using namespace mlir;

namespace hybrid::dsl {

constexpr size_t deepestCalls = 64;

static std::vector<std::string> namesOf(const LayerValue &layer) {
  if (layer.builtin)
    return parameterNames(*layer.builtin);
  std::vector<std::string> names;
  for (const ParameterSyntax &parameter : layer.definition->parameters)
    names.push_back(parameter.name);
  return names;
}

static std::vector<Diagnostics::Note> definedHere(const LayerValue &layer) {
  if (!layer.definition)
    return {};
  return {{layer.definition->place, "layer '" + layer.definition->name + "' is defined here"}};
}

Value Elaborator::evaluateWith(const Expression &expression) {
  Value value = evaluate(*expression.children[0]);
  if (value.isPoison())
    return {};
  if (value.kind != Value::Kind::Layer)
    return diagnostics.error(expression.place,
                             "'with' gives arguments to a layer, not to " + describe(value));
  LayerValue layer = *value.layer;
  std::vector<std::string> names = namesOf(layer);
  for (const Argument &argument : expression.arguments) {
    Value given = evaluate(*argument.value);
    if (argument.name.empty())
      return diagnostics.error(argument.place,
                               "'with' takes arguments by name" +
                                   (names.empty() ? "" : ", such as " + names.back() + " = ..."));
    if (!llvm::is_contained(names, argument.name))
      return diagnostics.error(argument.place,
                               "layer '" + layer.name() + "' has no parameter '" + argument.name +
                                   "'" + didYouMean(argument.name, names),
                               definedHere(layer));
    // A later `with` overrides an earlier one.
    llvm::erase_if(layer.bound,
                   [&](const LayerValue::Bound &bound) { return bound.name == argument.name; });
    layer.bound.push_back({argument.name, argument.place, std::move(given)});
  }
  return Value::of(std::move(layer));
}

Value Elaborator::evaluateCall(const Expression &expression, llvm::StringRef hint) {
  const Expression &callee = *expression.children[0];
  bool named = callee.kind == Expression::Kind::Name;
  if (namesOneOf(callee))
    return diagnostics.error(callee.place, "'one_of' stands only as the whole default of a model's "
                                           "parameter: 'mixer: layer = one_of(hyena, attention)'");
  if ((named || callee.kind == Expression::Kind::Operator) && callee.text == "param" &&
      (!named || (!findVariable("param") && !frame().module->find("param").definition)))
    return evaluateParam(expression, hint);
  Value value = evaluate(callee);
  if (value.isPoison()) {
    // Faults of the arguments are independent of the unknown name.
    for (const Argument &argument : expression.arguments)
      evaluate(*argument.value);
    return {};
  }
  if (value.kind != Value::Kind::Layer) {
    std::vector<Note> notes;
    if (Variable *variable = named ? findVariable(callee.text) : nullptr)
      notes.push_back({variable->place, "'" + callee.text + "' is named here"});
    return diagnostics.error(callee.place, describe(value) + " is not a layer: it cannot be called",
                             notes);
  }
  if (value.layer->builtin)
    return callBuiltin(expression, *value.layer);
  return callLayer(expression, *value.layer,
                   named ? llvm::StringRef(callee.text) : value.layer->name());
}

bool Elaborator::sortArguments(const Expression &call, const LayerValue &layer,
                               llvm::ArrayRef<std::string> names, bool takesRest,
                               std::vector<std::optional<Given>> &given, std::string *scopeName) {
  std::string owner = "'" + layer.name().str() + "'";
  given.resize(names.size());
  for (const LayerValue::Bound &bound : layer.bound)
    given[static_cast<size_t>(llvm::find(names, bound.name) - names.begin())] = {bound.value,
                                                                                 bound.place};
  std::vector<bool> fixed;
  for (const auto &entry : given)
    fixed.push_back(entry.has_value());
  bool good = true, tooMany = false;
  auto isGivenTwice = [&](size_t index, Place place) {
    diagnostics.error(place, owner + " is given '" + names[index] + "' twice",
                      {{given[index]->place, "the first is here"}});
    good = false;
  };
  size_t next = 0;
  std::vector<Value> rest;
  for (const Argument &argument : call.arguments) {
    Value value = evaluate(*argument.value);
    if (argument.name.empty()) {
      while (next < names.size() && fixed[next])
        ++next;
      if (takesRest && next + 1 >= names.size()) {
        rest.push_back(std::move(value));
      } else if (next >= names.size()) {
        if (!std::exchange(tooMany, true))
          diagnostics.error(argument.place,
                            owner + " takes " + llvm::Twine(names.size()) +
                                (names.size() == 1 ? " argument" : " arguments") +
                                ", here is one too many",
                            definedHere(layer));
        good = false;
      } else if (given[next]) {
        isGivenTwice(next++, argument.place);
      } else {
        given[next++] = {std::move(value), argument.place};
      }
      continue;
    }
    auto found = llvm::find(names, argument.name);
    if (found == names.end() && argument.name == "name" && scopeName) {
      readName(argument.place, value, *scopeName);
      continue;
    }
    if (found == names.end()) {
      std::string help = didYouMean(argument.name, names.vec());
      if (help.empty() && !names.empty())
        help = ": expected " + llvm::join(names, ", ");
      diagnostics.error(argument.place, owner + " has no parameter '" + argument.name + "'" + help,
                        definedHere(layer));
      good = false;
      continue;
    }
    auto index = static_cast<size_t>(found - names.begin());
    if (given[index] && !fixed[index]) {
      isGivenTwice(index, argument.place);
      continue;
    }
    given[index] = {std::move(value), argument.place};
    fixed[index] = true;
  }
  if (takesRest && !rest.empty()) {
    given.back() = {Value::of(std::move(rest)), call.place};
    good &= !isTooLarge(call.place, given.back()->value);
  }
  return good;
}

bool Elaborator::readName(Place place, const Value &value, std::string &into) {
  bool valid = value.kind == Value::Kind::String && !value.string.empty() &&
               llvm::all_of(value.string, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (valid)
    into = value.string;
  else if (!value.isPoison())
    diagnostics.error(place,
                      "'name' is a string of letters, digits and '_', not " + describe(value));
  return valid;
}

Value Elaborator::callBuiltin(const Expression &expression, const LayerValue &layer) {
  const Builtin &builtin = *layer.builtin;
  std::vector<std::string> names = parameterNames(builtin);
  std::vector<std::optional<Given>> given;
  llvm::SmallVector<llvm::StringRef> marks;
  llvm::StringRef(builtin.parameters).split(marks, ',', -1, false);
  bool takesRest = !marks.empty() && marks.back().ends_with("*");
  if (!sortArguments(expression, layer, names, takesRest, given, nullptr))
    return {};
  Call call{emit, builtin, expression.place, names, {}, {}, false};
  for (size_t i = 0; i < names.size(); ++i) {
    bool optional = marks[i].ends_with("?") || marks[i].ends_with("*");
    if (!given[i] && !optional) {
      std::string all;
      for (llvm::StringRef mark : marks)
        all += (all.empty() ? "" : ", ") + mark.trim().str();
      return diagnostics.error(expression.place, "'" + builtin.name + "' needs '" + names[i] +
                                                     "': " + builtin.name + "(" + all + ")");
    }
    if (given[i] && given[i]->value.isPoison())
      return {};
    call.places.push_back(given[i] ? given[i]->place : expression.place);
    call.values.push_back(given[i] ? std::optional<Value>(std::move(given[i]->value))
                                   : std::nullopt);
  }
  return builtin.run(call);
}

Value Elaborator::callLayer(const Expression &expression, const LayerValue &layer,
                            llvm::StringRef scopeName) {
  const Definition &definition = *layer.definition;
  std::vector<std::string> names = namesOf(layer);
  std::vector<std::optional<Given>> given;
  std::string base = scopeName.str();
  bool reserved = !llvm::is_contained(names, "name");
  if (!sortArguments(expression, layer, names, false, given, reserved ? &base : nullptr))
    return {};
  if (frames.size() > deepestCalls) {
    diagnostics.error(expression.place, "layers are nested more than " + llvm::Twine(deepestCalls) +
                                            " deep: does '" + definition.name +
                                            "' call itself without end?");
    emit.stop();
    return {};
  }
  std::string outer = scope;
  scope = uniqueName(base) + ".";
  diagnostics.calls.push_back(expression.place);
  frames.push_back(std::make_unique<Frame>());
  frame().module = layer.module;
  frame().definition = &definition;
  frame().blocks.emplace_back();
  // With a fault in its arguments a body would only have faults that follow from it.
  frame().abandoned = !bindParameters(layer, given, expression.place);
  frame().blocks.emplace_back();
  runBlock(definition.body);
  Value result = std::move(frame().result);
  if (!frame().returned && !frame().abandoned && !emit.isStopped())
    diagnostics.error(definition.place,
                      "layer '" + definition.name + "' returns nothing: expected a 'return'");
  checkResult(definition, result);
  frames.pop_back();
  diagnostics.calls.pop_back();
  scope = std::move(outer);
  result.origin = expression.place;
  return result;
}

Value Elaborator::applyLayer(LayerValue layer, const Value &x, llvm::StringRef scope, Place place) {
  std::vector<std::string> names = namesOf(layer);
  if (names.empty())
    return diagnostics.error(place, "layer '" + layer.name() + "' takes no argument, expected one",
                             definedHere(layer));
  layer.bound.push_back({names.front(), place, x});
  return applyBound(layer, scope, place);
}

Value Elaborator::applyBound(const LayerValue &layer, llvm::StringRef scope, Place place) {
  Expression call;
  call.place = place;
  return layer.builtin ? callBuiltin(call, layer) : callLayer(call, layer, scope);
}

//===-- parameters of a layer ------------------------------------------------===//

bool Elaborator::bindParameters(const LayerValue &layer, std::vector<std::optional<Given>> &given,
                                Place call) {
  const Definition &definition = *layer.definition;
  std::string owner = "layer '" + definition.name + "'";
  bool good = true;
  for (size_t i = 0; i < definition.parameters.size(); ++i) {
    const ParameterSyntax &parameter = definition.parameters[i];
    Value value;
    for (size_t j = 0; j < i; ++j)
      if (definition.parameters[j].name == parameter.name)
        diagnostics.error(parameter.place, "parameter '" + parameter.name + "' is named twice");
    if (!given[i] && parameter.initial) {
      value = convert(evaluate(*parameter.initial), parameter, parameter.initial->place, owner);
    } else {
      // What is wrong with an argument is the caller's: it is reported there, not as "called from".
      const Place inner = diagnostics.calls.back();
      diagnostics.calls.pop_back();
      value = given[i] ? convert(given[i]->value, parameter, given[i]->place, owner)
                       : diagnostics.error(call,
                                           owner + " needs '" + parameter.name + "' (" +
                                               text(parameter.type) + ")",
                                           {{parameter.place, "the parameter is defined here"}});
      diagnostics.calls.push_back(inner);
    }
    good &= !value.isPoison();
    // The sizes that an argument at fault should have told are not known, and not unknown names.
    if (value.isPoison() && parameter.type.kind == TypeSyntax::Kind::Tensor)
      for (const auto &dimension : parameter.type.dimensions)
        if (isNewSize(*dimension))
          define(dimension->text, {}, dimension->place);
    define(parameter.name, std::move(value), parameter.place);
  }
  return good;
}

Value Elaborator::convert(const Value &value, const ParameterSyntax &parameter, Place place,
                          llvm::StringRef owner) {
  if (value.isPoison())
    return {};
  // `none` is for parameters that may be left out.
  bool optional = parameter.initial && parameter.initial->kind == Expression::Kind::Name &&
                  parameter.initial->text == "none";
  if (value.isNone() && optional)
    return value;
  std::vector<Note> notes{{parameter.place, "parameter '" + parameter.name + ": " +
                                                text(parameter.type) + "' is defined here"}};
  if (!isOf(value, parameter.type)) {
    if (value.isTensor())
      notes.push_back({value.origin, "the tensor comes from here"});
    return diagnostics.error(place,
                             owner + ": " + parameter.name + " is " + describe(value) +
                                 ", expected " + text(parameter.type),
                             notes);
  }
  if (parameter.type.kind == TypeSyntax::Kind::Float)
    return Value::of(value.asNumber());
  if (parameter.type.kind == TypeSyntax::Kind::Tensor &&
      !unify(value, parameter.type, place, owner, parameter.name, std::move(notes)))
    return {};
  return value;
}

bool Elaborator::isNewSize(const Expression &dimension) {
  return dimension.kind == Expression::Kind::Name && dimension.text[0] >= 'A' &&
         dimension.text[0] <= 'Z' && !findVariable(dimension.text);
}

bool Elaborator::unify(const Value &tensor, const TypeSyntax &type, Place place,
                       llvm::StringRef owner, llvm::StringRef what, std::vector<Note> notes) {
  const Shape &shape = tensor.shape;
  auto mismatch = [&](const std::string &detail) {
    notes.push_back({tensor.origin, what.str() + ": " + text(tensor) + " comes from here"});
    diagnostics.error(
        place, owner + ": " + what + " is " + text(tensor) + ", expected " + text(type) + detail,
        notes);
    return false;
  };
  size_t count = type.dimensions.size();
  if (type.leading ? shape.size() < count : shape.size() != count)
    return mismatch("");
  size_t first = shape.size() - count;
  for (size_t i = 0; i < count; ++i) {
    const Expression &dimension = *type.dimensions[i];
    const Dim &size = shape[first + i];
    bool isName = dimension.kind == Expression::Kind::Name;
    if (isNewSize(dimension)) {
      Value value = Value::of(size);
      value.origin = tensor.origin;
      define(dimension.text, std::move(value), dimension.place);
      continue;
    }
    Value expected = evaluate(dimension);
    if (expected.isPoison())
      return false;
    if (!expected.isInteger()) {
      diagnostics.error(dimension.place, "a size is an integer, not " + describe(expected));
      return false;
    }
    if (expected.integer == size)
      continue;
    std::string name = isName ? dimension.text : "dimension " + std::to_string(first + i);
    return mismatch(" with " + name + " = " + text(expected.integer));
  }
  return true;
}

void Elaborator::checkResult(const Definition &definition, Value &result) {
  if (!definition.result || result.isPoison())
    return;
  const TypeSyntax &type = *definition.result;
  std::string owner = "layer '" + definition.name + "'";
  std::vector<Note> notes{{type.place, "the result type " + text(type) + " is given here"}};
  if (!isOf(result, type)) {
    diagnostics.error(frame().resultPlace,
                      owner + " returns " + describe(result) + ", but its type is " + text(type),
                      notes);
    result = {};
  } else if (type.kind == TypeSyntax::Kind::Tensor &&
             !unify(result, type, frame().resultPlace, owner, "its result", std::move(notes))) {
    result = {};
  }
}

} // namespace hybrid::dsl
