//===- Importer.cpp - an ONNX model to the dialect -------------------------------===//
#include "frontends/onnx/Importer.h"
#include "formats/onnx/Onnx.pb.h"
#include "frontends/onnx/External.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace hybrid::onnx::frontend {

/// What a message shows of many faults.
constexpr size_t mostFaults = 100;
/// Graphs in graphs.
constexpr size_t mostDepth = 16;
/// Opsets whose operators are understood: what changed between them is told apart.
constexpr int64_t oldestSet = 11, newestSet = 28;
/// Of stored weights that may say what an op does, such as an exponent.
constexpr size_t mostPeeked = 4096;

Importer::Importer(MLIRContext &context, const ImportOptions &options)
    : ops(context), options(options) {
  context.loadDialect<HybridDialect, func::FuncDialect>();
  addElementwise(*this);
  addShapes(*this);
  addLookups(*this);
  addRows(*this);
  addProducts(*this);
  addConvolutions(*this);
  addAttention(*this);
  addRecurrences(*this);
  none.isPoison = true;
}

void Importer::complain(const Twine &message) {
  if (++faults <= mostFaults)
    emitError(UnknownLoc::get(ops.builder.getContext())) << options.path << ": " << message;
}

//===-- values ------------------------------------------------------------------------===//

const Value *Importer::find(StringRef name) const {
  for (const auto &scope : llvm::reverse(scopes))
    if (auto found = scope.find(name); found != scope.end())
      return &found->second;
  return nullptr;
}

bool Importer::mayKnow(int64_t elements) {
  if (elements < 0 || elements > mostKnown || (knownElements += elements) > mostKnownInAll) {
    ops.fail("more elements than are computed when compiling: at most " + Twine(mostKnown) +
             " of a tensor and " + Twine(mostKnownInAll) + " of all");
    return false;
  }
  return true;
}

Value Importer::valueOf(Known known) const {
  Value value;
  value.type = known.type;
  value.shape = known.shape;
  value.known = std::make_shared<const Known>(std::move(known));
  return value;
}

Value Importer::valueOf(mlir::Value tensor, DataType type) const {
  Value value;
  value.tensor = tensor;
  value.type = type;
  value.shape = Shape(shapeOf(tensor));
  return value;
}

KnownPtr Importer::knownOf(const Value &value) const {
  if (value.known || value.weight < 0)
    return value.known;
  const KnownPtr &numbers = stored[static_cast<size_t>(value.weight)].numbers;
  return numbers->values.size() <= mostPeeked ? numbers : nullptr;
}

/// As the language names parameters, and none twice: names are keys of the file of weights.
std::string Importer::parameterName(StringRef name) {
  std::string clean;
  for (char c : name)
    if (llvm::isAlnum(c) || c == '_' || (c == '.' && !clean.empty() && clean.back() != '.'))
      clean += c;
    else if (!clean.empty() && clean.back() != '.')
      clean += '.';
  while (!clean.empty() && clean.back() == '.')
    clean.pop_back();
  if (clean.empty())
    clean = "weight";
  std::string free = clean;
  for (int number = 2; !parameterNames.try_emplace(free).second; ++number)
    free = clean + "_" + std::to_string(number);
  return free;
}

mlir::Value Importer::parameter(int number) {
  Stored &of = stored[static_cast<size_t>(number)];
  if (of.parameter)
    return of.parameter;
  OpBuilder &builder = ops.builder;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  RankedTensorType type = ops.type(of.numbers->shape);
  // Its values come from the file beside. A program that was not given them computes NaN.
  of.parameter = ParameterOp::create(
      builder, builder.getUnknownLoc(), type, builder.getStringAttr(of.name),
      ops.constant(std::numeric_limits<double>::quiet_NaN(), of.numbers->shape),
      builder.getBoolAttr(of.isTrained), builder.getBoolAttr(of.isTrained && type.getRank() > 1),
      builder.getF64FloatAttr(1));
  Weight weight{of.name, of.numbers->shape, of.numbers->type == DataType::F64, {}};
  weight.bytes.reserve(of.numbers->values.size() * (weight.isWide ? 8 : 4));
  for (double value : of.numbers->values) {
    const auto narrow = static_cast<float>(value);
    weight.bytes.append(weight.isWide ? reinterpret_cast<const char *>(&value)
                                      : reinterpret_cast<const char *>(&narrow),
                        weight.isWide ? sizeof value : sizeof narrow);
  }
  result.weights.push_back(std::move(weight));
  return of.parameter;
}

namespace {

/// values[i] = start + i * step along one dimension, the same along the others.
struct Progression {
  size_t axis;
  double start, step;
};

std::optional<Progression> progressionOf(const Known &known) {
  int64_t stride = 1;
  for (size_t d = known.shape.size(); d-- > 0; stride *= known.shape[d]) {
    const int64_t size = known.shape[d];
    if (size < 2)
      continue;
    const double start = known.values[0], step = known.values[static_cast<size_t>(stride)] - start;
    bool fits = std::isfinite(start) && std::isfinite(step);
    for (size_t i = 0; fits && i < known.values.size(); ++i) {
      const auto place = static_cast<double>((static_cast<int64_t>(i) / stride) % size);
      fits = known.values[i] == rounded(start + place * step, known.type);
    }
    if (fits)
      return Progression{d, start, step};
  }
  return std::nullopt;
}

} // namespace

/// A known tensor, or a weight, as a value of the function, not of a step.
mlir::Value Importer::materialized(const Value &value) {
  if (value.weight >= 0)
    return parameter(value.weight);
  const Known &known = *value.known;
  if (known.values.empty()) {
    ops.fail("a tensor " + shapeText(known.shape) + " without elements where there must be some");
    return ops.constant(0);
  }
  if (std::optional<double> all = known.everywhere())
    return ops.constant(*all, known.shape);
  if (std::optional<Progression> steps = progressionOf(known)) {
    OpBuilder &builder = ops.builder;
    mlir::Value line =
        ops.one<IotaOp>({}, {ops.sizes("length", {known.shape[steps->axis]}),
                             ops.number("start", steps->start), ops.number("step", steps->step),
                             ops.attribute("element_type", TypeAttr::get(builder.getF32Type()))});
    Shape along(known.shape.size(), 1);
    along[steps->axis] = known.shape[steps->axis];
    return ops.broadcast(ops.reshape(line, along), known.shape);
  }
  // A table of numbers: in the file of weights, never trained.
  auto [place, isNew] = frozen.try_emplace(&known, static_cast<int>(stored.size()));
  if (isNew) {
    Known table = known;
    table.type = known.type == DataType::F64 ? DataType::F64 : DataType::F32;
    stored.push_back(
        {parameterName("constant"), std::make_shared<const Known>(std::move(table)), {}, false});
    keptTables.push_back(value.known);
  }
  return parameter(place->second);
}

mlir::Value Importer::inBody(mlir::Value value) {
  if (!body || value.getParentBlock() == body->block)
    return value;
  auto [place, isNew] = body->own.try_emplace(value);
  if (isNew) {
    if (!isa<FloatType>(elementOf(value)))
      ops.fail("a step that reads integers of outside");
    place->second = body->block->addArgument(value.getType(), ops.location);
    body->invariants.push_back(value);
  }
  return place->second;
}

mlir::Value Importer::numbers(const Value &value) {
  if (value.isPoison) {
    ops.fail("an input that is not there");
    return ops.constant(0);
  }
  if (value.isIds()) {
    // The row of a table of numbers that an id has: the dialect has no other way from one to them.
    if (value.below < 1) {
      ops.fail("calculations with integers that are inputs");
      return ops.constant(0, value.shape);
    }
    mlir::Value table = ops.one<IotaOp>(
        {}, {ops.sizes("length", {value.below}), ops.number("start", 0), ops.number("step", 1),
             ops.attribute("element_type", TypeAttr::get(ops.builder.getF32Type()))});
    mlir::Value rows = ops.one<EmbeddingOp>({ops.reshape(table, {value.below, 1}), value.tensor});
    return ops.reshape(rows, value.shape);
  }
  if (value.tensor)
    return inBody(value.tensor);
  if (!body || (value.known && value.known->everywhere()))
    return materialized(value);
  OpBuilder::InsertionGuard guard(ops.builder);
  ops.builder.restoreInsertionPoint(body->outside);
  return inBody(materialized(value));
}

//===-- reading -----------------------------------------------------------------------===//

bool Importer::readModel(StringRef bytes, ModelProto &proto) {
  if (bytes.size() > mostModelBytes ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || !proto.has_graph()) {
    complain("is no ONNX model: expected a ModelProto with a graph, of less than 2 GiB");
    return false;
  }
  for (const OperatorSetIdProto &set : proto.opset_import())
    if (set.domain().empty() || set.domain() == "ai.onnx")
      operatorSet = set.version();
  if (operatorSet < oldestSet || operatorSet > newestSet) {
    complain("uses version " + Twine(operatorSet) + " of ONNX's operators, expected " +
             Twine(oldestSet) + " to " + Twine(newestSet) +
             ": export it again with another opset_version");
    return false;
  }
  return true;
}

/// Everything that has no form, at once: one look at a model says how far it is from going in.
void Importer::listUnsupported(const GraphProto &graph) {
  if (++depth > mostDepth) {
    complain("holds graphs in graphs in graphs, expected at most " + Twine(mostDepth));
    return;
  }
  for (const NodeProto &node : graph.node()) {
    const bool isOwn = node.domain().empty() || node.domain() == "ai.onnx";
    if (!isOwn || (!table.contains(node.op_type()) && !folds(node.op_type())))
      complain("node '" + node.name() + "': operator " + (isOwn ? "" : node.domain() + ".") +
               node.op_type() + " has no form here");
    for (const AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        listUnsupported(attribute.g());
  }
  --depth;
}

std::optional<std::string> Importer::externalBytes(const TensorProto &tensor, std::string &fault) {
  if (tensor.data_location() != TensorProto::EXTERNAL)
    return "";
  ExternalPlace place;
  for (const StringStringEntryProto &entry : tensor.external_data()) {
    const bool isNumber = entry.key() == "offset" || entry.key() == "length";
    int64_t number = 0;
    if (entry.key() == "location")
      place.location = entry.value();
    else if (isNumber && (StringRef(entry.value()).getAsInteger(10, number) || number < 0)) {
      fault = "has '" + entry.value() + "' for the " + entry.key() + " of its data";
      return std::nullopt;
    }
    (entry.key() == "offset"   ? place.offset
     : entry.key() == "length" ? place.length
                               : number) = number;
  }
  return readExternal(options.path, place, fault);
}

void Importer::addStored(const TensorProto &tensor) {
  std::string fault;
  std::optional<std::string> external = externalBytes(tensor, fault);
  std::optional<Known> known;
  if (external)
    known = readTensor(tensor, *external, fault);
  if (!known)
    return complain("stored tensor '" + tensor.name() + "' " + fault);
  if (known->shape.size() > 8)
    return complain("stored tensor '" + tensor.name() + "' has " + Twine(known->shape.size()) +
                    " dimensions, expected at most 8");
  Value value = valueOf(std::move(*known));
  // A single number is a constant of the formula. More are weights.
  if (isFloat(value.type) && value.known->values.size() > 1) {
    value.weight = static_cast<int>(stored.size());
    stored.push_back({parameterName(tensor.name()), value.known, {}, true});
    value.known = nullptr;
  }
  define(tensor.name(), std::move(value));
}

void Importer::addInput(const ValueInfoProto &info) {
  if (find(info.name()))
    return; // older files list their weights among the inputs
  std::optional<DataType> type = dataType(info.type().tensor_type().elem_type());
  if (!type)
    return complain("input '" + info.name() + "' is no tensor of numbers");
  Shape shape;
  OpBuilder &builder = ops.builder;
  for (const auto &dim : info.type().tensor_type().shape().dim()) {
    const bool isFirst = shape.empty();
    if (dim.value_case() == TensorShapeProto::Dimension::kDimValue) {
      shape.push_back(dim.dim_value());
      continue;
    }
    // The first dimension is the batch, another one the length; a name keeps its meaning.
    std::string name = dim.dim_param();
    if (name.empty())
      name = isFirst ? "batch" : "length";
    auto [place, isNew] = freeSizes.try_emplace(name, isFirst ? options.batch : options.length);
    if (isNew && freeSizes.size() > 2)
      return complain("input '" + info.name() + "' has the free dimension '" + name +
                      "', a third one: expected a batch and a length (--batch, --length)");
    shape.push_back(place->second);
  }
  if (auto given = options.settings.find(info.name()); given != options.settings.end()) {
    if (countOf(shape) < 0 || countOf(shape) > mostKnown)
      return complain("input '" + info.name() + "' is too large to be filled with a number");
    return define(info.name(),
                  valueOf(Known{*type, shape,
                                std::vector<double>(static_cast<size_t>(countOf(shape)),
                                                    rounded(given->second, *type))}));
  }
  if (countOf(shape) < 1 || shape.size() > 8)
    return complain("input '" + info.name() + "' is " + shapeText(shape) +
                    ", expected at most 8 dimensions with 1 to 2^40 elements");
  const bool isInteger = !isFloat(*type) && *type != DataType::Bool;
  Type element = isInteger ? Type(builder.getI32Type()) : Type(builder.getF32Type());
  Block &entry = function.getBody().front();
  Value value =
      valueOf(entry.addArgument(tensorOf(shape, element), builder.getUnknownLoc()), *type);
  define(info.name(), value);
  const auto number = static_cast<unsigned>(entry.getNumArguments() - 1);
  // The first input of tokens, or of anything in sequence, says what batch and length are.
  if (shape.size() >= 2 && !knowsSequence) {
    knowsSequence = true;
    result.batch = shape[0], result.length = shape[1];
  }
  inputs.push_back({info.name(), shapeAttr(builder.getContext(), shape), number});
}

//===-- nodes -------------------------------------------------------------------------===//

/// A step for one sequence is right where nothing but rows of the batch meet, each its own.
void Importer::checkOneSequence(const Node &node) {
  static const llvm::StringSet<> known{
      "Add",    "Sub",    "Mul",   "Div",     "Neg",        "Exp",       "Log",
      "Sin",    "Cos",    "Tanh",  "Sigmoid", "Relu",       "Softplus",  "Sqrt",
      "Abs",    "Max",    "Min",   "Where",   "Identity",   "Reshape",   "Transpose",
      "Expand", "Concat", "Slice", "Split",   "ReduceMax",  "ReduceSum", "ReduceMean",
      "MatMul", "Equal",  "Less",  "Greater", "Reciprocal", "Erf",       "Not",
      "Cast",   "Sign",   "And",   "Or",      "Constant",   "Pow"};
  if (!known.contains(node.proto.op_type()))
    return ops.fail("for one sequence");
  std::optional<int64_t> rank;
  for (size_t i = 0; i < node.inputs(); ++i) {
    if (!node.has(i) || !mixesSequences(node.in(i)))
      continue;
    if (rank && *rank != node.in(i).rank())
      ops.fail("sequences of different ranks");
    rank = node.in(i).rank();
  }
  if (rank && node.proto.op_type() == "MatMul" &&
      (!mixesSequences(node.in(0)) || (mixesSequences(node.in(1)) && *rank < 3)))
    ops.fail("a product over sequences");
}

void Importer::convert(const NodeProto &proto) {
  ops.fault.clear();
  ops.location = NameLoc::get(
      ops.builder.getStringAttr(proto.name().empty() ? proto.op_type() : proto.name()));
  Node node(proto, *this);
  auto poison = [&] {
    for (const std::string &name : proto.output())
      define(name, none);
  };
  for (const std::string &name : proto.input()) {
    if (name.empty())
      continue;
    const Value *value = find(name);
    if (!value) {
      complain("node '" + proto.name() + "' (" + proto.op_type() + "): reads '" + name +
               "', which nothing before it makes");
      return poison();
    }
    if (value->isPoison)
      return poison(); // said already
  }
  if (ofOneSequence > 0)
    checkOneSequence(node);
  if (std::optional<std::vector<Known>> values = fold(node)) {
    for (auto [i, known] : llvm::enumerate(*values))
      node.give(i, std::move(known));
  } else if (ops.fault.empty()) {
    auto found = table.find(proto.op_type());
    if (found != table.end())
      found->second(node);
    else
      ops.fail("is computed of what is known when compiling only, and this is not");
  }
  for (const std::string &name : proto.output())
    if (ops.fault.empty() && !name.empty() && !scopes.back().contains(name))
      ops.fail("output '" + name + "' is not computed here");
  if (ops.fault.empty())
    return;
  if (ofOneSequence > 0) {
    failsForOne = true; // it is written for the whole batch then
    return poison();
  }
  complain("node '" + proto.name() + "' (" + proto.op_type() + "): " + ops.fault);
  poison();
}

void Importer::convert(const GraphProto &graph,
                       llvm::function_ref<void(size_t, const Value &)> result) {
  for (const TensorProto &tensor : graph.initializer())
    addStored(tensor);
  const Location outer = ops.location;
  const std::string before = std::exchange(ops.fault, "");
  for (const NodeProto &node : graph.node())
    convert(node);
  ops.fault = before;
  ops.location = outer;
  for (auto [i, output] : llvm::enumerate(graph.output())) {
    const Value *value = find(output.name());
    result(i, value ? *value : none);
  }
}

void Importer::addOutputs(const GraphProto &graph) {
  SmallVector<mlir::Value> values;
  std::vector<std::string> names;
  for (const ValueInfoProto &output : graph.output()) {
    const Value *value = find(output.name());
    ops.fault.clear();
    if (!value)
      complain("output '" + output.name() + "' is made by no node");
    if (!value || value->isPoison)
      continue;
    values.push_back(value->isIds() ? value->tensor : numbers(*value));
    names.push_back(output.name());
    if (!ops.fault.empty())
      complain("output '" + output.name() + "': " + ops.fault);
  }
  if (faults > 0)
    return;
  if (values.empty())
    return complain("has no output");
  OpBuilder &builder = ops.builder;
  func::ReturnOp::create(builder, function.getLoc(), values);
  function.setFunctionType(builder.getFunctionType(function.getBody().front().getArgumentTypes(),
                                                   ValueRange(values).getTypes()));
  for (const Input &input : inputs) {
    function.setArgAttr(input.number, "hybrid.name", builder.getStringAttr(input.name));
    function.setArgAttr(input.number, "hybrid.dims", input.dims);
  }
  for (auto [i, name] : llvm::enumerate(names))
    function.setResultAttr(static_cast<unsigned>(i), "hybrid.name", builder.getStringAttr(name));
}

/// What patterns took the place of, and weights that nothing reads.
void Importer::eraseUnused() {
  llvm::StringSet<> erased;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front()))) {
    if (!isOpTriviallyDead(&op))
      continue;
    if (auto parameter = dyn_cast<ParameterOp>(op))
      erased.insert(parameter.getName());
    op.erase();
  }
  std::erase_if(result.weights, [&](const Weight &weight) { return erased.contains(weight.name); });
}

ImportedModel Importer::run(StringRef bytes) {
  ModelProto proto;
  if (!readModel(bytes, proto))
    return {};
  const GraphProto &graph = proto.graph();
  listUnsupported(graph);
  if (faults > 0) {
    if (faults > mostFaults)
      emitError(UnknownLoc::get(ops.builder.getContext()))
          << options.path << ": and " << faults - mostFaults << " faults more";
    return {};
  }
  OpBuilder &builder = ops.builder;
  result.batch = options.batch, result.length = options.length;
  result.module = ModuleOp::create(builder.getUnknownLoc());
  result.module.get()->setAttr("hybrid.model",
                               builder.getStringAttr(parameterName(graph.name()).c_str()));
  parameterNames.clear();
  builder.setInsertionPointToEnd(result.module->getBody());
  function = func::FuncOp::create(builder, builder.getUnknownLoc(), "forward",
                                  builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  pushScope();
  for (const TensorProto &tensor : graph.initializer())
    addStored(tensor);
  for (const ValueInfoProto &input : graph.input())
    addInput(input);
  for (const auto &setting : options.settings)
    if (!find(setting.first()))
      complain("--set " + setting.first() + ": there is no input of this name");
  if (faults == 0)
    for (const NodeProto &node : graph.node())
      convert(node);
  if (faults == 0)
    addOutputs(graph);
  if (faults > mostFaults)
    emitError(builder.getUnknownLoc())
        << options.path << ": and " << faults - mostFaults << " faults more";
  if (faults > 0)
    return {};
  eraseUnused();
  if (failed(verify(*result.module))) {
    emitError(builder.getUnknownLoc())
        << "internal error: the program made of " << options.path << " is not valid, please report";
    return {};
  }
  return std::move(result);
}

ImportedModel importModel(StringRef bytes, MLIRContext &context, const ImportOptions &options) {
  return Importer(context, options).run(bytes);
}

} // namespace hybrid::onnx::frontend
