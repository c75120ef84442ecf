//===- Fold.cpp - what follows from sizes alone --------------------------------===//
//
// Nodes whose inputs are all known. Exporters compute shapes, positions and masks with them.
//
//===----------------------------------------------------------------------===//
#include "formats/onnx/Onnx.pb.h"
#include "frontends/onnx/Importer.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace hybrid::onnx::frontend {
namespace {

using Results = std::optional<std::vector<Known>>;
using Fold = Results (*)(const Node &);

Results one(Known known) {
  std::vector<Known> all;
  all.push_back(std::move(known));
  return all;
}

const Known &input(const Node &node, size_t i) { return *node.in(i).known; }

/// `make` with a shape that is small enough; nothing after a fault.
Results within(const Node &node, DataType type, const Shape &shape,
               llvm::function_ref<double(ArrayRef<int64_t>)> element) {
  if (!node.to.mayKnow(countOf(shape)))
    return std::nullopt;
  return one(made(type, shape, element));
}

//===-- elements --------------------------------------------------------------------===//

using Function = double (*)(double, double, bool ofIntegers);

Results elements(const Node &node, DataType type, size_t count,
                 llvm::function_ref<double(ArrayRef<double>)> function) {
  Shape shape;
  for (size_t i = 0; i < count; ++i) {
    auto both = broadcastShapes(shape, input(node, i).shape);
    if (!both)
      return node.fail("shapes " + shapeText(shape) + " and " + shapeText(input(node, i).shape) +
                       " do not broadcast"),
             std::nullopt;
    shape = *both;
  }
  SmallVector<double> values(count);
  return within(node, type, shape, [&](ArrayRef<int64_t> index) {
    for (size_t i = 0; i < count; ++i)
      values[i] = at(input(node, i), index);
    return function(values);
  });
}

double divide(double a, double b, bool ofIntegers) {
  return ofIntegers && b == 0 ? 0 : a / b; // truncated when it is rounded to its type
}

const llvm::StringMap<double (*)(double)> &unaryFunctions() {
  static const llvm::StringMap<double (*)(double)> functions{
      {"Neg", [](double x) { return -x; }},
      {"Abs", [](double x) { return std::fabs(x); }},
      {"Sqrt", [](double x) { return std::sqrt(x); }},
      {"Reciprocal", [](double x) { return 1 / x; }},
      {"Exp", [](double x) { return std::exp(x); }},
      {"Log", [](double x) { return std::log(x); }},
      {"Sin", [](double x) { return std::sin(x); }},
      {"Cos", [](double x) { return std::cos(x); }},
      {"Tanh", [](double x) { return std::tanh(x); }},
      {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"Floor", [](double x) { return std::floor(x); }},
      {"Ceil", [](double x) { return std::ceil(x); }},
      {"Round", [](double x) { return std::nearbyint(x); }},
      {"Sign", [](double x) { return x > 0   ? 1.0
                                     : x < 0 ? -1.0
                                             : 0.0; }},
      {"Relu", [](double x) { return x > 0 ? x : 0.0; }}};
  return functions;
}

const llvm::StringMap<Function> &binaryFunctions() {
  static const llvm::StringMap<Function> functions{
      {"Add", [](double a, double b, bool) { return a + b; }},
      {"Sub", [](double a, double b, bool) { return a - b; }},
      {"Mul", [](double a, double b, bool) { return a * b; }},
      {"Div", divide},
      {"Pow", [](double a, double b, bool) { return std::pow(a, b); }},
      {"Max", [](double a, double b, bool) { return std::fmax(a, b); }},
      {"Min", [](double a, double b, bool) { return std::fmin(a, b); }}};
  return functions;
}

const llvm::StringMap<Function> &conditions() {
  static const llvm::StringMap<Function> functions{
      {"Equal", [](double a, double b, bool) { return a == b ? 1.0 : 0.0; }},
      {"Less", [](double a, double b, bool) { return a < b ? 1.0 : 0.0; }},
      {"Greater", [](double a, double b, bool) { return a > b ? 1.0 : 0.0; }},
      {"LessOrEqual", [](double a, double b, bool) { return a <= b ? 1.0 : 0.0; }},
      {"GreaterOrEqual", [](double a, double b, bool) { return a >= b ? 1.0 : 0.0; }},
      {"And", [](double a, double b, bool) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
      {"Or", [](double a, double b, bool) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
      {"Xor", [](double a, double b, bool) { return (a != 0) != (b != 0) ? 1.0 : 0.0; }}};
  return functions;
}

Results foldUnary(const Node &node) {
  auto function = unaryFunctions().lookup(node.proto.op_type());
  return elements(node, node.in(0).type, 1, [&](ArrayRef<double> x) { return function(x[0]); });
}

Results foldBinary(const Node &node) {
  const std::string &op = node.proto.op_type();
  auto function = binaryFunctions().lookup(op);
  const bool ofIntegers = !isFloat(node.in(0).type);
  return elements(node, node.in(0).type, node.inputs(), [&](ArrayRef<double> x) {
    double value = x[0];
    for (double next : x.drop_front())
      value = function(value, next, ofIntegers);
    return value;
  });
}

/// With the sign of the divisor, or with `fmod` of the dividend.
Results foldMod(const Node &node) {
  const bool ofDividend = node.integer("fmod", 0) != 0;
  return elements(node, node.in(0).type, 2, [&](ArrayRef<double> x) {
    return ofDividend  ? std::fmod(x[0], x[1])
           : x[1] == 0 ? 0
                       : x[0] - std::floor(x[0] / x[1]) * x[1];
  });
}

Results foldCondition(const Node &node) {
  auto function = conditions().lookup(node.proto.op_type());
  node.in(1);
  return elements(node, DataType::Bool, 2,
                  [&](ArrayRef<double> x) { return function(x[0], x[1], false); });
}

Results foldNot(const Node &node) {
  return elements(node, DataType::Bool, 1,
                  [](ArrayRef<double> x) { return x[0] == 0 ? 1.0 : 0.0; });
}
Results foldIsNaN(const Node &node) {
  return elements(node, DataType::Bool, 1,
                  [](ArrayRef<double> x) { return std::isnan(x[0]) ? 1.0 : 0.0; });
}

Results foldWhere(const Node &node) {
  return elements(node, node.in(1).type, 3,
                  [](ArrayRef<double> x) { return x[0] != 0 ? x[1] : x[2]; });
}

Results foldCast(const Node &node) {
  std::optional<DataType> type = dataType(static_cast<int32_t>(node.integer("to", 1)));
  if (!type)
    return node.fail("attribute 'to' is " + Twine(node.integer("to", 1)) +
                     ", which is no type of numbers"),
           std::nullopt;
  return elements(node, *type, 1, [](ArrayRef<double> x) { return x[0]; });
}

//===-- sizes -------------------------------------------------------------------------===//

/// Of any input, whether its values are known or not.
Results foldShape(const Node &node) {
  const Shape &shape = node.in(0).shape;
  const auto rank = static_cast<int64_t>(shape.size());
  auto bound = [&](StringRef name, int64_t otherwise) {
    int64_t place = node.integer(name, otherwise);
    return std::clamp<int64_t>(place < 0 ? place + rank : place, 0, rank);
  };
  const int64_t start = bound("start", 0), end = std::max(start, bound("end", rank));
  Known known{DataType::I64, {end - start}, {}};
  for (int64_t d = start; d < end; ++d)
    known.values.push_back(static_cast<double>(shape[static_cast<size_t>(d)]));
  return one(std::move(known));
}

Results foldSize(const Node &node) {
  return one({DataType::I64, {}, {static_cast<double>(countOf(node.in(0).shape))}});
}

Results foldConstant(const Node &node) {
  for (const AttributeProto &attribute : node.proto.attribute()) {
    const std::string &name = attribute.name();
    if (name == "value_int")
      return one({DataType::I64, {}, {static_cast<double>(attribute.i())}});
    if (name == "value_float")
      return one({DataType::F32, {}, {static_cast<double>(attribute.f())}});
    if (name == "value_ints")
      return one({DataType::I64,
                  {attribute.ints_size()},
                  {attribute.ints().begin(), attribute.ints().end()}});
    if (name == "value_floats")
      return one({DataType::F32,
                  {attribute.floats_size()},
                  {attribute.floats().begin(), attribute.floats().end()}});
    if (name == "value") {
      std::string fault = "lies in a file beside the model";
      if (attribute.t().data_location() != TensorProto::EXTERNAL)
        if (std::optional<Known> known = readTensor(attribute.t(), {}, fault))
          return one(std::move(*known));
      return node.fail("attribute 'value' " + fault), std::nullopt;
    }
  }
  return node.fail("has no value that is a number"), std::nullopt;
}

Results foldConstantOfShape(const Node &node) {
  Known fill{DataType::F32, {}, {0}};
  if (const TensorProto *tensor = node.stored("value")) {
    std::string fault;
    std::optional<Known> given = readTensor(*tensor, {}, fault);
    if (!given || given->values.size() != 1)
      return node.fail("attribute 'value' " + (given ? "is not one number" : fault)), std::nullopt;
    fill = *given;
  }
  return within(node, fill.type, input(node, 0).integers(),
                [&](ArrayRef<int64_t>) { return fill.values[0]; });
}

Results foldRange(const Node &node) {
  const double start = node.knownNumber(0, "start"), limit = node.knownNumber(1, "limit"),
               step = node.knownNumber(2, "delta");
  const double count = std::ceil((limit - start) / step);
  if (step == 0 || !(count <= static_cast<double>(mostKnown)))
    return node.fail("a range that does not end"), std::nullopt;
  return within(node, node.in(0).type, {std::max<int64_t>(0, static_cast<int64_t>(count))},
                [&](ArrayRef<int64_t> i) { return start + static_cast<double>(i[0]) * step; });
}

Results foldTrilu(const Node &node) {
  const Known &x = input(node, 0);
  const int64_t diagonal = node.has(1) ? whole(node.knownNumber(1, "k")) : 0;
  const bool upper = node.integer("upper", 1) != 0;
  if (x.shape.size() < 2)
    return node.fail("a triangle of a tensor " + shapeText(x.shape)), std::nullopt;
  return within(node, x.type, x.shape, [&](ArrayRef<int64_t> index) {
    const int64_t across = index.back() - index[index.size() - 2];
    return (upper ? across >= diagonal : across <= diagonal) ? at(x, index) : 0.0;
  });
}

//===-- moves -------------------------------------------------------------------------===//

Results foldGather(const Node &node) {
  const Known &x = input(node, 0), &indices = input(node, 1);
  const auto axis = static_cast<size_t>(node.axis("axis", 0, static_cast<int64_t>(x.shape.size())));
  if (x.shape.empty())
    return std::nullopt;
  const size_t inner = indices.shape.size();
  Shape shape(ArrayRef(x.shape).take_front(axis));
  llvm::append_range(shape, indices.shape);
  llvm::append_range(shape, ArrayRef(x.shape).drop_front(axis + 1));
  bool inside = true;
  Shape place(x.shape.size());
  Results result = within(node, x.type, shape, [&](ArrayRef<int64_t> index) {
    int64_t chosen = whole(at(indices, index.slice(axis, inner)));
    chosen += chosen < 0 ? x.shape[axis] : 0;
    if (chosen < 0 || chosen >= x.shape[axis])
      return inside = false, 0.0;
    for (size_t d = 0; d < place.size(); ++d)
      place[d] = d < axis ? index[d] : d == axis ? chosen : index[d - 1 + inner];
    return at(x, place);
  });
  if (!inside)
    node.fail("an index outside of " + shapeText(x.shape));
  return result;
}

Results foldGatherND(const Node &node) {
  const Known &x = input(node, 0), &indices = input(node, 1);
  if (node.integer("batch_dims", 0) != 0 || indices.shape.empty())
    return std::nullopt;
  const auto depth = static_cast<size_t>(indices.shape.back());
  if (depth > x.shape.size())
    return node.fail("indices of " + Twine(depth) + " dimensions"), std::nullopt;
  const size_t outer = indices.shape.size() - 1;
  Shape shape(ArrayRef(indices.shape).drop_back());
  llvm::append_range(shape, ArrayRef(x.shape).drop_front(depth));
  bool inside = true;
  Results result = within(node, x.type, shape, [&](ArrayRef<int64_t> index) {
    Shape place, which(index.take_front(outer));
    which.push_back(0);
    for (size_t d = 0; d < depth; ++d) {
      which.back() = static_cast<int64_t>(d);
      const int64_t chosen = whole(at(indices, which));
      place.push_back(chosen + (chosen < 0 ? x.shape[d] : 0));
      inside &= place.back() >= 0 && place.back() < x.shape[d];
    }
    llvm::append_range(place, index.drop_front(outer));
    return inside ? at(x, place) : 0.0;
  });
  if (!inside)
    node.fail("an index outside of " + shapeText(x.shape));
  return result;
}

Results foldCumSum(const Node &node) {
  Known sums = input(node, 0);
  if (!node.to.mayKnow(countOf(sums.shape)) || sums.shape.empty())
    return std::nullopt;
  const auto axis = static_cast<size_t>(
      node.axisOf(whole(node.knownNumber(1, "axis")), static_cast<int64_t>(sums.shape.size())));
  if (node.integer("exclusive", 0) != 0 || node.integer("reverse", 0) != 0)
    return node.fail("exclusive or reverse sums of what is known"), std::nullopt;
  int64_t stride = 1;
  for (size_t d = axis + 1; d < sums.shape.size(); ++d)
    stride *= sums.shape[d];
  for (size_t i = 0; i < sums.values.size(); ++i)
    if ((static_cast<int64_t>(i) / stride) % sums.shape[axis] > 0)
      sums.values[i] += sums.values[i - static_cast<size_t>(stride)];
  return one(std::move(sums));
}

/// Reductions, with the first value and how the next one joins.
Results foldReduce(const Node &node) {
  const Known &x = input(node, 0);
  const std::string &op = node.proto.op_type();
  const auto rank = static_cast<int64_t>(x.shape.size());
  std::optional<Shape> axes = node.axes(1, rank);
  if (!axes)
    axes.emplace();
  if (axes->empty() && node.integer("noop_with_empty_axes", 0) == 0) {
    axes->resize(rank);
    std::iota(axes->begin(), axes->end(), 0);
  }
  const bool keep = node.integer("keepdims", 1) != 0;
  Shape all(x.shape), shape;
  int64_t count = 1;
  for (int64_t d = 0; d < rank; ++d) {
    const bool goes = llvm::is_contained(*axes, d);
    count *= goes ? all[static_cast<size_t>(d)] : 1;
    if (goes)
      all[static_cast<size_t>(d)] = 1;
    if (!goes || keep)
      shape.push_back(all[static_cast<size_t>(d)]);
  }
  if (!node.to.mayKnow(countOf(x.shape)) || x.values.empty())
    return std::nullopt;
  Known result{x.type, all, {}};
  std::vector<std::optional<double>> sums(static_cast<size_t>(countOf(all)));
  Shape index(x.shape.size(), 0);
  for (double value : x.values) {
    int64_t place = 0;
    for (size_t d = 0; d < all.size(); ++d)
      place = place * all[d] + (all[d] == 1 ? 0 : index[d]);
    std::optional<double> &sum = sums[static_cast<size_t>(place)];
    sum = !sum                 ? value
          : op == "ReduceMax"  ? std::fmax(*sum, value)
          : op == "ReduceMin"  ? std::fmin(*sum, value)
          : op == "ReduceProd" ? *sum * value
                               : *sum + value;
    for (size_t d = index.size(); d-- > 0 && ++index[d] == x.shape[d];)
      index[d] = 0;
  }
  for (std::optional<double> sum : sums)
    result.values.push_back(
        rounded(op == "ReduceMean" ? *sum / static_cast<double>(count) : *sum, x.type));
  result.shape = shape;
  return one(std::move(result));
}

const llvm::StringMap<Fold> &table() {
  static const llvm::StringMap<Fold> all = [] {
    llvm::StringMap<Fold> made{{"Not", foldNot},           {"IsNaN", foldIsNaN},
                               {"Where", foldWhere},       {"Cast", foldCast},
                               {"Shape", foldShape},       {"Size", foldSize},
                               {"Constant", foldConstant}, {"ConstantOfShape", foldConstantOfShape},
                               {"Range", foldRange},       {"Trilu", foldTrilu},
                               {"Gather", foldGather},     {"GatherND", foldGatherND},
                               {"CumSum", foldCumSum},     {"Mod", foldMod},
                               {"ReduceSum", foldReduce},  {"ReduceMean", foldReduce},
                               {"ReduceMax", foldReduce},  {"ReduceMin", foldReduce},
                               {"ReduceProd", foldReduce}};
    for (const auto &entry : unaryFunctions())
      made[entry.first()] = foldUnary;
    for (const auto &entry : binaryFunctions())
      made[entry.first()] = foldBinary;
    for (const auto &entry : conditions())
      made[entry.first()] = foldCondition;
    return made;
  }();
  return all;
}

} // namespace

bool folds(StringRef op) { return table().contains(op); }

std::optional<std::vector<Known>> fold(const Node &node) {
  auto found = table().find(node.proto.op_type());
  if (found == table().end())
    return std::nullopt;
  const bool ofSizes = found->second == foldShape || found->second == foldSize;
  if (ofSizes && !node.has(0))
    return node.fail("lacks its input 0"), std::nullopt;
  bool isKnown = node.inputs() > 0 || found->second == foldConstant;
  for (size_t i = 0; i < node.inputs(); ++i)
    isKnown &= !node.has(i) || node.in(i).known != nullptr;
  // The operators here lack no input in front.
  isKnown &= node.inputs() == 0 || node.has(0);
  if (!isKnown && !ofSizes)
    return std::nullopt;
  const size_t least = found->second == foldWhere || found->second == foldRange ? 3
                       : found->second == foldMod || found->second == foldCondition ||
                               found->second == foldGather || found->second == foldGatherND ||
                               found->second == foldCumSum
                           ? 2
                           : 0;
  for (size_t i = 0; i < std::max(least, found->second == foldBinary ? node.inputs() : 0); ++i)
    if (!node.has(i))
      return node.fail("lacks its input " + Twine(i)), std::nullopt;
  return found->second(node);
}

} // namespace hybrid::onnx::frontend
