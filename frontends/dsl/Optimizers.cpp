//===- Optimizers.cpp - layers that update parameters ----------------------------===//
//
// A layer whose parameters p and g are a parameter of the model and its gradient makes a function
// of the module: once for all parameters where p has any shape, else once a shape. The other
// tensors it takes are states, but for lr, weight_decay and step, which the run gives. See
// passes/OptimizerPrograms.h for what becomes of them.
//
//===----------------------------------------------------------------------===//
#include "frontends/dsl/Optimizers.h"
#include "frontends/dsl/Elaborator.h"
#include "frontends/dsl/Parser.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace hybrid::dsl {

std::pair<std::string, std::string> splitOptimizer(llvm::StringRef given) {
  auto [front, rest] = given.split('=');
  const bool isPattern =
      front.size() < given.size() && !front.empty() &&
      llvm::all_of(
          front,
          [](char c) { return llvm::isAlnum(c) || llvm::StringRef("._-*?[]{},!").contains(c); });
  return isPattern ? std::pair(front.str(), rest.str()) : std::pair("*", given.str());
}

namespace {

constexpr llvm::StringRef ofTheRun[] = {"lr", "weight_decay", "step"};
constexpr size_t mostStates = 2;
constexpr size_t mostAlternatives = 64; // of {a,b} in a pattern

/// A pattern of names as it is given: with `!` in front it is for all that it does not match.
struct NamePattern {
  std::string text;

  /// The library's pattern refers to the text.
  llvm::Expected<llvm::GlobPattern> glob() const {
    return llvm::GlobPattern::create(llvm::StringRef(text).ltrim('!'), mostAlternatives);
  }
  bool match(llvm::StringRef name) const {
    return cantFail(glob()).match(name) != llvm::StringRef(text).starts_with("!");
  }
};

} // namespace

/// One choice as it was given.
struct Elaborator::Optimizer {
  std::string given;
  NamePattern pattern;
  Place place;
  LayerValue layer;                 // none where it freezes
  const TypeSyntax *type = nullptr; // of p; null where it freezes
  std::vector<std::string> states;
  bool used = false;

  /// Whether its parameters stay as they are.
  bool freezes() const { return !type; }
  /// Whether all tensors are one to it.
  bool takesAnyShape() const { return type->leading && type->dimensions.empty(); }
  bool takes(llvm::StringRef name, llvm::ArrayRef<int64_t> shape) const {
    return pattern.match(name) &&
           (freezes() || (type->leading ? shape.size() >= type->dimensions.size()
                                        : shape.size() == type->dimensions.size()));
  }
};

std::optional<Elaborator::Optimizer> Elaborator::readOptimizer(const std::string &given) {
  auto [pattern, text] = splitOptimizer(given);
  const uint32_t file = diagnostics.sources.addText("--optimizer=" + given, text);
  const Place place{file, 0};
  Optimizer optimizer{given, {pattern}, place, {}, nullptr, {}, false};
  if (auto glob = optimizer.pattern.glob(); !glob) {
    diagnostics.error(place, "'" + pattern +
                                 "' is no pattern of names: " + llvm::toString(glob.takeError()));
    return std::nullopt;
  }
  if (llvm::StringRef(text).trim() == "none")
    return optimizer;
  ExpressionPtr expression = parseExpressionAlone(file, diagnostics);
  Value value = expression ? evaluate(*expression) : Value();
  if (value.isPoison())
    return std::nullopt;
  if (value.kind != Value::Kind::Layer || !value.layer->definition) {
    diagnostics.error(place, "an optimizer is a layer of the language, not " + describe(value));
    return std::nullopt;
  }
  optimizer.layer = *value.layer;
  bool takesGradient = false;
  for (const ParameterSyntax &parameter : optimizer.layer.definition->parameters) {
    if (parameter.type.kind != TypeSyntax::Kind::Tensor || parameter.type.integerElements)
      continue;
    if (parameter.name == "p")
      optimizer.type = &parameter.type;
    else if (parameter.name == "g")
      takesGradient = true;
    else if (!llvm::is_contained(ofTheRun, parameter.name))
      optimizer.states.push_back(parameter.name);
  }
  const std::vector<Note> notes{{optimizer.layer.definition->place, "it is defined here"}};
  if (!optimizer.type || !takesGradient) {
    diagnostics.error(place,
                      "'" + optimizer.layer.name() +
                          "' is no optimizer: expected a layer with p and g, tensors that are a "
                          "parameter and its gradient",
                      notes);
    return std::nullopt;
  }
  if (optimizer.states.size() > mostStates) {
    diagnostics.error(place,
                      "'" + optimizer.layer.name() + "' has the states " +
                          llvm::join(optimizer.states, ", ") + ", expected at most " +
                          llvm::Twine(mostStates),
                      notes);
    return std::nullopt;
  }
  return optimizer;
}

void Elaborator::writeOptimizers(llvm::ArrayRef<std::string> given, const Module &names) {
  // What the model has named is the model's.
  frame().module = &names;
  frame().blocks.clear();
  frame().blocks.emplace_back();
  scope.clear();
  std::vector<Optimizer> optimizers;
  for (const std::string &one : given)
    if (auto optimizer = readOptimizer(one))
      optimizers.push_back(std::move(*optimizer));
  if (diagnostics.failed())
    return;
  // The last that takes a parameter has it.
  llvm::MapVector<std::pair<size_t, ArrayAttr>, SmallVector<Attribute>> groups;
  for (auto parameter : function.getOps<ParameterOp>()) {
    ArrayRef<int64_t> sizes = cast<RankedTensorType>(parameter.getType()).getShape();
    for (size_t i = optimizers.size(); parameter.getTrainable() && i-- > 0;) {
      Optimizer &optimizer = optimizers[i];
      if (!optimizer.takes(parameter.getName(), sizes))
        continue;
      optimizer.used = true;
      if (optimizer.freezes()) {
        parameter.setTrainable(false);
        break;
      }
      Shape shape =
          optimizer.takesAnyShape() ? Shape{Dim::free("B")} : Shape(sizes.begin(), sizes.end());
      groups[{i, emit.attribute(shape)}].push_back(parameter.getNameAttr());
      break;
    }
  }
  for (const Optimizer &optimizer : optimizers)
    if (!optimizer.used && optimizer.freezes())
      diagnostics.error(optimizer.place,
                        "--optimizer '" + optimizer.given +
                            "' freezes no parameter of the model: none that is "
                            "trained has such a name, or a later one has them all");
    else if (!optimizer.used)
      diagnostics.error(optimizer.place, "--optimizer '" + optimizer.given +
                                             "' is for no parameter of the model: none that it "
                                             "takes, p: " +
                                             text(*optimizer.type) +
                                             ", has such a name, or a later one has them all");
  auto isTrained = [](ParameterOp parameter) { return parameter.getTrainable(); };
  auto freezing = llvm::find_if(optimizers, [](const Optimizer &each) { return each.freezes(); });
  if (!diagnostics.failed() && freezing != optimizers.end() &&
      llvm::none_of(function.getOps<ParameterOp>(), isTrained))
    diagnostics.error(freezing->place,
                      "all parameters of the model are frozen, and nothing is left "
                      "to train");
  for (auto &[key, parameters] : groups)
    if (!diagnostics.failed())
      writeOptimizer(optimizers[key.first], key.second, parameters);
}

void Elaborator::writeOptimizer(const Optimizer &optimizer, ArrayAttr sizes,
                                llvm::ArrayRef<Attribute> parameters) {
  OpBuilder &builder = emit.builder;
  OpBuilder::InsertionGuard restored(builder);
  builder.setInsertionPointToEnd(program->getBody());
  Shape shape;
  for (Attribute size : sizes)
    shape.push_back(isa<StringAttr>(size) ? Dim::free(cast<StringAttr>(size).getValue())
                                          : Dim(cast<IntegerAttr>(size).getInt()));
  Location loc =
      diagnostics.sources.location(&diagnostics.context, optimizer.layer.definition->place);
  std::vector<std::string> names{"p", "g"};
  names.insert(names.end(), optimizer.states.begin(), optimizer.states.end());
  const size_t tensors = names.size();
  names.insert(names.end(), std::begin(ofTheRun), std::end(ofTheRun));
  SmallVector<Type> types(tensors, emit.type(shape));
  types.append(std::size(ofTheRun), emit.type({}));
  auto made = func::FuncOp::create(builder, loc, "optimizer." + std::to_string(optimizersWritten++),
                                   builder.getFunctionType(types, {}));
  made->setAttr("hybrid.optimizer", builder.getStringAttr(optimizer.layer.name()));
  made->setAttr("hybrid.parameters", builder.getArrayAttr(parameters));
  if (optimizer.takesAnyShape())
    made->setAttr("hybrid.any_shape", builder.getUnitAttr());
  builder.setInsertionPointToStart(made.addEntryBlock());
  LayerValue layer = optimizer.layer;
  for (auto [i, name] : llvm::enumerate(names)) {
    const Shape own = i < tensors ? shape : Shape();
    made.setArgAttr(static_cast<unsigned>(i), "hybrid.dims", emit.attribute(own));
    if (llvm::none_of(layer.definition->parameters,
                      [&, &name = name](const ParameterSyntax &p) { return p.name == name; }))
      continue;
    // A number given by `with` stands for what the run would give.
    auto bound = llvm::find_if(
        layer.bound, [&, &name = name](const LayerValue::Bound &b) { return b.name == name; });
    if (bound == layer.bound.end())
      layer.bound.push_back(
          {name, optimizer.place,
           Emitter::result(made.getArgument(static_cast<unsigned>(i)), own, optimizer.place)});
    else if (i >= tensors && bound->value.isNumber())
      bound->value = emit.scalar(bound->value.asNumber(), bound->place);
  }
  Value result = applyBound(layer, "optimizer", optimizer.place);
  if (result.isPoison())
    return;
  std::vector<Value> next{result};
  if (result.kind == Value::Kind::List)
    next = *result.list;
  const bool fits =
      next.size() == 1 + optimizer.states.size() && llvm::all_of(next, [&](const Value &value) {
        return value.isTensor() && !value.holdsIntegers && value.shape == shape;
      });
  const std::vector<Note> notes{{layer.definition->place, "it is defined here"}};
  if (!fits) {
    std::string expected = "the new p";
    for (const std::string &state : optimizer.states)
      expected += ", " + state;
    diagnostics.error(optimizer.place,
                      "'" + layer.name() + "' returns " + describe(result) + ", expected " +
                          (optimizer.states.empty() ? "" : "a list: ") + expected +
                          ", each of the shape of p",
                      notes);
    return;
  }
  if (!made.getOps<ParameterOp>().empty() || !made.getOps<RandomOp>().empty()) {
    diagnostics.error(optimizer.place,
                      "'" + layer.name() + "' has parameters of its own, which an optimizer cannot",
                      notes);
    return;
  }
  SmallVector<mlir::Value> values;
  for (const Value &value : next)
    values.push_back(value.tensor);
  func::ReturnOp::create(builder, loc, values);
  made.setFunctionType(builder.getFunctionType(types, ValueRange(values).getTypes()));
}

} // namespace hybrid::dsl
