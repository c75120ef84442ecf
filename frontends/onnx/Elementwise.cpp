//===- Elementwise.cpp - functions of elements -----------------------------------===//
#include "formats/onnx/Onnx.pb.h"
#include "frontends/onnx/Importer.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace hybrid::onnx::frontend {
namespace {

template <UnaryKind kind> void convertUnary(const Node &node) {
  node.give(node.to.ops.unary(kind, node.tensor(0)));
}

/// Arithmetic of any number of tensors.
template <BinaryKind kind> void convertBinary(const Node &node) {
  const bool divides = kind == BinaryKind::Div && !isFloat(node.in(0).type);
  if (divides)
    node.fail("a division of integers that are computed at run time");
  mlir::Value value = node.tensor(0);
  for (size_t i = 1; i < node.inputs(); ++i)
    value = node.to.ops.binary(kind, value, node.tensor(i));
  node.give(value);
}

/// Comparisons: 1 and 0.
template <BinaryKind kind, bool swapped, bool negated> void convertCondition(const Node &node) {
  Ops &ops = node.to.ops;
  mlir::Value a = node.tensor(0), b = node.tensor(1);
  mlir::Value value = swapped ? ops.binary(kind, b, a) : ops.binary(kind, a, b);
  node.giveAs(DataType::Bool, negated ? ops.oneMinus(value) : value);
}

void convertNot(const Node &node) {
  node.giveAs(DataType::Bool, node.to.ops.oneMinus(node.tensor(0)));
}

/// NaN alone is not equal to itself.
void convertIsNaN(const Node &node) {
  mlir::Value x = node.tensor(0);
  node.giveAs(DataType::Bool, node.to.ops.oneMinus(node.to.ops.binary(BinaryKind::Equal, x, x)));
}

void convertXor(const Node &node) {
  Ops &ops = node.to.ops;
  node.giveAs(DataType::Bool, ops.unary(UnaryKind::Abs, ops.binary(BinaryKind::Sub, node.tensor(0),
                                                                   node.tensor(1))));
}

/// Infinities as the largest numbers: times 0 they are 0.
mlir::Value finite(const Node &node, size_t i) {
  const Value &value = node.in(i);
  // A stored tensor with infinities is a mask, and no weight.
  KnownPtr known = node.to.knownOf(value);
  auto isFinite = [](double element) { return std::isfinite(element); };
  if (!known || (!value.known && llvm::all_of(known->values, isFinite)))
    return node.tensor(i);
  Known clamped = *known;
  constexpr double most = std::numeric_limits<float>::max();
  for (double &element : clamped.values)
    element = std::clamp(element, -most, most);
  return node.to.numbers(node.to.valueOf(std::move(clamped)));
}

/// Which of a Where's inputs, 1 or 2, is taken where it is a number, and only there.
std::optional<size_t> keptNumber(const Node &node) {
  if (!node.has(2))
    return std::nullopt;
  const NodeProto *condition = node.in(0).node;
  const bool isNegated = condition && condition->op_type() == "Not" && condition->input_size() == 1;
  if (isNegated) {
    const Value *negated = node.to.find(condition->input(0));
    condition = negated ? negated->node : nullptr;
  }
  const size_t kept = isNegated ? 1 : 2;
  const bool isGuard = condition && condition->op_type() == "IsNaN" &&
                       condition->input_size() == 1 &&
                       condition->input(0) == node.proto.input(static_cast<int>(kept));
  return isGuard ? std::optional(kept) : std::nullopt;
}

/// c a + (1 - c) b: exact for all numbers that are finite.
void convertWhere(const Node &node) {
  Ops &ops = node.to.ops;
  // What guards a softmax against rows that see nothing: ours gives 0 there. Elsewhere a product
  // with 0 would keep the NaN.
  if (std::optional<size_t> number = keptNumber(node)) {
    const Value &x = node.in(*number), &other = node.in(3 - *number);
    if (!x.node || x.node->op_type() != "Softmax" || !other.known || other.known->everywhere() != 0)
      return node.fail("replaces what is not a number; only 0 in place of NaN behind a Softmax has "
                       "a form here");
    return node.give(0, Value(x));
  }
  mlir::Value c = node.tensor(0);
  auto zero = [&](size_t i) { return node.in(i).known && node.in(i).known->everywhere() == 0.0; };
  mlir::Value first = zero(1) ? nullptr : ops.binary(BinaryKind::Mul, c, finite(node, 1)),
              second =
                  zero(2) ? nullptr : ops.binary(BinaryKind::Mul, ops.oneMinus(c), finite(node, 2));
  mlir::Value sum = first && second ? ops.binary(BinaryKind::Add, first, second)
                    : first         ? first
                    : second        ? second
                                    : ops.times(c, 0);
  Shape shape(shapeOf(sum));
  for (size_t i = 0; i < 3; ++i)
    if (auto both = broadcastShapes(shape, node.in(i).shape))
      shape = *both;
  node.giveAs(node.in(1).type, ops.broadcast(sum, shape));
}

void convertCast(const Node &node) {
  Ops &ops = node.to.ops;
  std::optional<DataType> type = dataType(static_cast<int32_t>(node.integer("to", 1)));
  const Value &x = node.in(0);
  if (!type)
    return node.fail("attribute 'to' is no type of numbers");
  if (x.isIds() && !isFloat(*type) && *type != DataType::Bool) {
    Value ids = x;
    ids.type = *type;
    return node.give(0, ids);
  }
  mlir::Value value = node.tensor(0);
  if (*type == DataType::Bool && x.type != DataType::Bool)
    value = ops.oneMinus(ops.binary(BinaryKind::Equal, value, ops.constant(0)));
  else if (!isFloat(*type) && isFloat(x.type))
    return node.fail("makes integers of numbers that are computed at run time");
  node.giveAs(*type, value);
}

void convertPow(const Node &node) {
  Ops &ops = node.to.ops;
  mlir::Value x = node.tensor(0);
  KnownPtr known = node.to.knownOf(node.in(1));
  const std::optional<double> power = known ? known->everywhere() : std::nullopt;
  // The general form is right for positive numbers, and what is not a whole power of others is NaN.
  if (!power) {
    if (KnownPtr base = node.to.knownOf(node.in(0));
        !base || !llvm::all_of(base->values, [](double value) { return value > 0; }))
      return node.fail("a power that is computed at run time of what may be negative");
    return node.give(ops.unary(
        UnaryKind::Exp, ops.binary(BinaryKind::Mul, node.tensor(1), ops.unary(UnaryKind::Log, x))));
  }
  const double whole = std::fabs(*power);
  mlir::Value value;
  if (whole == std::trunc(whole) && whole <= 1024) {
    mlir::Value square = x;
    for (auto rest = static_cast<int>(whole); rest > 0; rest /= 2) {
      if (rest % 2 == 1)
        value = value ? ops.binary(BinaryKind::Mul, value, square) : square;
      square = rest > 1 ? ops.unary(UnaryKind::Square, square) : square;
    }
    value = value ? value : ops.constant(1, shapeOf(x));
  } else if (whole == 0.5) {
    value = ops.unary(UnaryKind::Sqrt, x);
  } else {
    value = ops.unary(UnaryKind::Exp, ops.times(ops.unary(UnaryKind::Log, x), whole));
  }
  value = *power < 0 ? ops.unary(UnaryKind::Reciprocal, value) : value;
  // The exponent may repeat it.
  auto shape = broadcastShapes(shapeOf(x), node.in(1).shape);
  node.give(shape ? ops.broadcast(value, *shape) : value);
}

void convertClip(const Node &node) {
  Ops &ops = node.to.ops;
  mlir::Value x = node.tensor(0);
  if (node.has(1))
    x = ops.binary(BinaryKind::Max, x, node.tensor(1));
  if (node.has(2))
    x = ops.binary(BinaryKind::Min, x, node.tensor(2));
  node.give(x);
}

void convertGelu(const Node &node) {
  const std::string form = node.text("approximate", "none");
  if (form != "none" && form != "tanh")
    return node.fail("attribute 'approximate' is '" + form + "', expected none or tanh");
  node.give(
      node.to.ops.unary(form == "tanh" ? UnaryKind::GeluTanh : UnaryKind::Gelu, node.tensor(0)));
}

void convertSwish(const Node &node) {
  Ops &ops = node.to.ops;
  const double alpha = node.number("alpha", 1);
  mlir::Value x = node.tensor(0);
  node.give(alpha == 1 ? ops.unary(UnaryKind::Silu, x)
                       : ops.binary(BinaryKind::Mul, x,
                                    ops.unary(UnaryKind::Sigmoid, ops.times(x, alpha))));
}

void convertElu(const Node &node) {
  if (node.number("alpha", 1) != 1)
    return node.fail("attribute 'alpha' must be 1");
  convertUnary<UnaryKind::Elu>(node);
}

void convertLeakyRelu(const Node &node) {
  Ops &ops = node.to.ops;
  mlir::Value x = node.tensor(0);
  mlir::Value below =
      ops.times(ops.binary(BinaryKind::Min, x, ops.constant(0)), node.number("alpha", 0.01));
  node.give(ops.binary(BinaryKind::Add, ops.unary(UnaryKind::Relu, x), below));
}

void convertTrilu(const Node &node) {
  const Value &x = node.in(0);
  const int64_t diagonal = node.has(1) ? whole(node.knownNumber(1, "k")) : 0;
  const bool upper = node.integer("upper", 1) != 0;
  if (x.rank() < 2)
    return node.fail("a triangle of a tensor " + shapeText(x.shape));
  Shape shape(ArrayRef(x.shape).take_back(2));
  if (!node.to.mayKnow(countOf(shape)))
    return;
  Known mask = made(DataType::F32, shape, [&](ArrayRef<int64_t> index) {
    const int64_t across = index[1] - index[0];
    return (upper ? across >= diagonal : across <= diagonal) ? 1.0 : 0.0;
  });
  node.give(node.to.ops.binary(BinaryKind::Mul, finite(node, 0),
                               node.to.numbers(node.to.valueOf(std::move(mask)))));
}

} // namespace

void addElementwise(Importer &to) {
  to.add("Neg", convertUnary<UnaryKind::Neg>);
  to.add("Exp", convertUnary<UnaryKind::Exp>);
  to.add("Log", convertUnary<UnaryKind::Log>);
  to.add("Sin", convertUnary<UnaryKind::Sin>);
  to.add("Cos", convertUnary<UnaryKind::Cos>);
  to.add("Tanh", convertUnary<UnaryKind::Tanh>);
  to.add("Sigmoid", convertUnary<UnaryKind::Sigmoid>);
  to.add("Relu", convertUnary<UnaryKind::Relu>);
  to.add("Softplus", convertUnary<UnaryKind::Softplus>);
  to.add("Sqrt", convertUnary<UnaryKind::Sqrt>);
  to.add("Abs", convertUnary<UnaryKind::Abs>);
  to.add("Sign", convertUnary<UnaryKind::Sign>);
  to.add("Erf", convertUnary<UnaryKind::Erf>);
  to.add("Reciprocal", convertUnary<UnaryKind::Reciprocal>);
  to.add("Add", convertBinary<BinaryKind::Add>);
  to.add("Sum", convertBinary<BinaryKind::Add>);
  to.add("Sub", convertBinary<BinaryKind::Sub>);
  to.add("Mul", convertBinary<BinaryKind::Mul>);
  to.add("Div", convertBinary<BinaryKind::Div>);
  to.add("Max", convertBinary<BinaryKind::Max>);
  to.add("Min", convertBinary<BinaryKind::Min>);
  to.add("Equal", convertCondition<BinaryKind::Equal, false, false>);
  to.add("Less", convertCondition<BinaryKind::Less, false, false>);
  to.add("Greater", convertCondition<BinaryKind::Less, true, false>);
  to.add("LessOrEqual", convertCondition<BinaryKind::Less, true, true>);
  to.add("GreaterOrEqual", convertCondition<BinaryKind::Less, false, true>);
  to.add("And", convertBinary<BinaryKind::Mul>);
  to.add("Or", convertBinary<BinaryKind::Max>);
  to.add("Xor", convertXor);
  to.add("Not", convertNot);
  to.add("IsNaN", convertIsNaN);
  to.add("Where", convertWhere);
  to.add("Cast", convertCast);
  to.add("Pow", convertPow);
  to.add("Clip", convertClip);
  to.add("Gelu", convertGelu);
  to.add("Swish", convertSwish);
  to.add("Elu", convertElu);
  to.add("LeakyRelu", convertLeakyRelu);
  to.add("Trilu", convertTrilu);
}

} // namespace hybrid::onnx::frontend
