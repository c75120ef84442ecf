//===- Choices.cpp - models that stand for many: one_of ------------------------===//
//
// A parameter of a model whose default is `one_of(...)` makes the model a space. Its options are
// evaluated before anything else and know no other parameter, so that a space is the plain product
// of its choices; a point that makes no sense says so by `require`.
//
//===----------------------------------------------------------------------===//
#include "frontends/dsl/Builtins.h"
#include "frontends/dsl/Elaborator.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include <charconv>

using namespace mlir;

namespace hybrid::dsl {
namespace {

constexpr size_t mostOptions = 100000;
constexpr size_t mostNamed = 12; // in a message

/// The shortest text that reads back as this number.
std::string shortest(double number) {
  char buffer[32];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, number);
  return {buffer, end};
}

std::string quoted(llvm::StringRef string) {
  std::string result = "\"";
  for (char c : string) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (c == '\n' || c == '\t')
      result += c == '\n' ? "\\n" : "\\t";
    else
      result += c;
  }
  return result + "\"";
}

/// A static value as the language writes it.
std::string sourceOf(const Value &value) {
  using Kind = Value::Kind;
  switch (value.kind) {
  case Kind::Float:
    return shortest(value.number);
  case Kind::String:
    return quoted(value.string);
  case Kind::List: {
    std::string result;
    for (const Value &element : *value.list)
      result += (result.empty() ? "" : ", ") + sourceOf(element);
    return "[" + result + "]";
  }
  case Kind::Layer: {
    const LayerValue &layer = *value.layer;
    std::string arguments;
    for (const LayerValue::Bound &bound : layer.bound)
      arguments += (arguments.empty() ? "" : ", ") + bound.name + " = " + sourceOf(bound.value);
    std::string name = (layer.builtin ? "op." : "") + layer.name().str();
    return arguments.empty() ? name : name + " with (" + arguments + ")";
  }
  default:
    return text(value);
  }
}

/// The name of a parameter that an expression uses, with its place.
const Expression *findUse(const Expression &expression,
                          llvm::function_ref<bool(llvm::StringRef)> isParameter) {
  if (expression.kind == Expression::Kind::Name && isParameter(expression.text))
    return &expression;
  for (const ExpressionPtr &child : expression.children)
    if (const Expression *use = child ? findUse(*child, isParameter) : nullptr)
      return use;
  for (const Argument &argument : expression.arguments)
    if (const Expression *use = findUse(*argument.value, isParameter))
      return use;
  for (const Subscript &subscript : expression.subscripts)
    for (const Expression *part : {subscript.start.get(), subscript.end.get()})
      if (const Expression *use = part ? findUse(*part, isParameter) : nullptr)
        return use;
  return nullptr;
}

} // namespace

bool Elaborator::namesOneOf(const Expression &callee) {
  return callee.kind == Expression::Kind::Name && callee.text == "one_of" &&
         !findVariable("one_of") && !frame().module->find("one_of").definition;
}

bool Elaborator::isChoice(const ParameterSyntax &parameter) {
  return parameter.initial && parameter.initial->kind == Expression::Kind::Call &&
         namesOneOf(*parameter.initial->children[0]);
}

std::vector<Elaborator::Option> Elaborator::readOptions(const Definition &model,
                                                        const ParameterSyntax &parameter) {
  const Expression &call = *parameter.initial;
  auto isParameter = [&](llvm::StringRef name) {
    return llvm::any_of(model.parameters,
                        [&](const ParameterSyntax &other) { return other.name == name; });
  };
  std::vector<Option> options;
  llvm::StringMap<Place> seen;
  bool good = true;
  auto add = [&](const Value &given, Place place) {
    Value value = convert(given, parameter, place, "model '" + model.name + "'");
    if (value.isPoison())
      return good = false;
    Option option{value, place, sourceOf(value), {}};
    option.setting = value.kind == Value::Kind::String ? value.string : option.source;
    if (auto [first, isNew] = seen.try_emplace(option.source, place); !isNew) {
      diagnostics.error(
          place, "one_of: " + option.source + " is an option of '" + parameter.name + "' already",
          {{first->second, "the first is here"}});
      return good = false;
    }
    options.push_back(std::move(option));
    return true;
  };
  for (const Argument &argument : call.arguments) {
    if (!argument.name.empty()) {
      diagnostics.error(argument.place, "one_of takes options, not '" + argument.name + " = ...'");
      good = false;
      continue;
    }
    if (const Expression *use = findUse(*argument.value, isParameter)) {
      diagnostics.error(use->place, "an option cannot depend on parameter '" + use->text +
                                        "': the options of '" + parameter.name +
                                        "' are the same at every point of a space");
      good = false;
      continue;
    }
    Value value = evaluate(*argument.value);
    if (value.kind != Value::Kind::List) {
      add(value, argument.place);
      continue;
    }
    if (options.size() + value.list->size() > mostOptions)
      return diagnostics.error(argument.place, "one_of: a choice has at most " +
                                                   llvm::Twine(mostOptions) + " options");
    // One fault of a list is enough: its elements have one place.
    for (const Value &element : *value.list)
      if (!add(element, argument.place))
        break;
  }
  if (good && options.empty())
    diagnostics.error(call.place, "one_of has no options: expected values of " +
                                      text(parameter.type) + ", or lists of them");
  return good ? options : std::vector<Option>();
}

Value Elaborator::choose(const Definition &model, const ParameterSyntax &parameter,
                         const std::string *setting) {
  std::vector<Option> options = readOptions(model, parameter);
  if (options.empty())
    return {};
  if (!setting)
    return options.front().value;
  llvm::StringRef given(*setting);
  double number = 0;
  bool isNumber = !given.empty() && !given.getAsDouble(number);
  for (const Option &option : options)
    if (given == option.setting ||
        (option.value.isNumber() && isNumber && option.value.asNumber() == number))
      return option.value;
  // A layer by its bare name, when one option alone is that layer.
  const Option *named = nullptr;
  size_t count = 0;
  for (const Option &option : options)
    if (option.value.kind == Value::Kind::Layer && option.value.layer->name() == given) {
      named = &option;
      ++count;
    }
  if (count == 1)
    return named->value;
  std::vector<std::string> names;
  for (const Option &option : options)
    names.push_back(option.setting);
  std::string help = didYouMean(given, names);
  if (help.empty()) {
    bool all = names.size() <= mostNamed;
    std::string rest = all ? "" : ", ... (" + std::to_string(names.size()) + " options)";
    names.resize(std::min(names.size(), mostNamed));
    help = ": expected " + std::string(names.size() > 1 ? "one of " : "") +
           llvm::join(names, ", ") + rest;
  }
  return diagnostics.error(parameter.place, "--set " + parameter.name + "=" + *setting + ": '" +
                                                *setting + "' is not an option of '" +
                                                parameter.name + "'" + help);
}

std::optional<ModelSpace> Elaborator::describeSpace(const Module &module, const Definition &model,
                                                    const llvm::StringMap<std::string> &settings) {
  begin(module, model);
  ModelSpace space{model.name, {}, 1};
  // A parameter without a value may get it later, from whoever trains the points.
  bindSettings(model, settings, /*allNeeded=*/false);
  for (const ParameterSyntax &parameter : model.parameters) {
    bool isSet = settings.contains(parameter.name);
    if (diagnostics.failed() || !parameter.initial || !(isSet || isChoice(parameter)))
      continue;
    ModelChoice choice{parameter.name,
                       text(parameter.type),
                       parameter.initialPlace.offset,
                       static_cast<uint32_t>(parameter.initialText.size()),
                       {}};
    if (isSet)
      choice.options.push_back(
          {settings.lookup(parameter.name), sourceOf(findVariable(parameter.name)->value)});
    else
      for (const Option &option : readOptions(model, parameter))
        choice.options.push_back({option.setting, option.source});
    if (llvm::MulOverflow(space.points, static_cast<int64_t>(choice.options.size()),
                          space.points)) {
      diagnostics.error(parameter.place, "this space has more than 2^63 points: no search gets "
                                         "through it, give it fewer choices");
      break;
    }
    space.choices.push_back(std::move(choice));
  }
  // The program that was begun is thrown away: a space has no one program.
  program = nullptr;
  frames.clear();
  if (diagnostics.failed())
    return std::nullopt;
  return space;
}

} // namespace hybrid::dsl
