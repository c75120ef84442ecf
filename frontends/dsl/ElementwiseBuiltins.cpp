//===- ElementwiseBuiltins.cpp - functions of elements, reductions, draws ------===//
#include "frontends/dsl/Builtins.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;

namespace hybrid::dsl {
namespace {

struct Unary {
  llvm::StringRef name;
  UnaryKind kind;
  double (*function)(double); // for numbers; null where only tensors make sense
};

double reciprocal(double x) { return 1 / x; }
double rsqrt(double x) { return 1 / std::sqrt(x); }
double square(double x) { return x * x; }
double relu(double x) { return x > 0 ? x : 0; }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double negate(double x) { return -x; }

const Unary unaries[] = {
    {"neg", UnaryKind::Neg, negate},          {"exp", UnaryKind::Exp, std::exp},
    {"log", UnaryKind::Log, std::log},        {"sin", UnaryKind::Sin, std::sin},
    {"cos", UnaryKind::Cos, std::cos},        {"tanh", UnaryKind::Tanh, std::tanh},
    {"sigmoid", UnaryKind::Sigmoid, sigmoid}, {"silu", UnaryKind::Silu, nullptr},
    {"gelu", UnaryKind::Gelu, nullptr},       {"gelu_tanh", UnaryKind::GeluTanh, nullptr},
    {"relu", UnaryKind::Relu, relu},          {"softplus", UnaryKind::Softplus, softplus},
    {"sqrt", UnaryKind::Sqrt, std::sqrt},     {"rsqrt", UnaryKind::Rsqrt, rsqrt},
    {"abs", UnaryKind::Abs, std::fabs},       {"square", UnaryKind::Square, square},
    {"sign", UnaryKind::Sign, sign},          {"log_sigmoid", UnaryKind::LogSigmoid, nullptr},
    {"erf", UnaryKind::Erf, std::erf},        {"reciprocal", UnaryKind::Reciprocal, reciprocal},
    {"elu", UnaryKind::Elu, nullptr},         {"expm1", UnaryKind::Expm1, std::expm1},
    {"log1p", UnaryKind::Log1p, std::log1p},
};

Value runUnary(Call &call) {
  const Unary *unary =
      llvm::find_if(unaries, [&](const Unary &entry) { return entry.name == call.builtin.name; });
  const Value &x = call.value(0);
  if (x.isNumber() && unary->function) {
    double result = unary->function(x.asNumber());
    if (!std::isfinite(result)) {
      call.error(0, "the result for " + text(x) + " is not a number");
      return {};
    }
    bool whole = x.isInteger() &&
                 (unary->kind == UnaryKind::Abs || unary->kind == UnaryKind::Neg ||
                  unary->kind == UnaryKind::Sign) &&
                 std::abs(result) < 9007199254740992.0;
    return whole ? Value::of(static_cast<int64_t>(result)) : Value::of(result);
  }
  Value tensor = call.tensor(0);
  return call.failed ? Value() : call.emit.unary(unary->kind, tensor, call.place);
}

Value runBinary(Call &call) {
  llvm::StringRef name = call.builtin.name;
  BinaryKind kind = name == "maximum"   ? BinaryKind::Max
                    : name == "minimum" ? BinaryKind::Min
                    : name == "equal"   ? BinaryKind::Equal
                    : name == "atan2"   ? BinaryKind::Atan2
                                        : BinaryKind::Less;
  Value a = call.tensor(0), b = call.tensor(1);
  if (call.failed)
    return {};
  std::optional<Shape> shape = Emitter::broadcast(a.shape, b.shape);
  if (!shape) {
    call.errorHere("the shapes " + text(a) + " and " + text(b) + " do not fit together", {0, 1});
    return {};
  }
  return call.emit.check(*shape, call.place) ? call.emit.binary(kind, a, b, call.place) : Value();
}

/// Reduces over `axis` (an integer or a list; all when left out).
Value reduce(Call &call, ReduceKind kind, bool negated = false) {
  Value x = call.tensor(0);
  if (call.failed)
    return {};
  std::vector<bool> reduced(x.shape.size(), !call.has(1));
  if (call.has(1)) {
    const Value &axes = call.value(1);
    std::vector<Value> list =
        axes.kind == Value::Kind::List ? *axes.list : std::vector<Value>{axes};
    for (const Value &axis : list) {
      auto rank = static_cast<int64_t>(x.shape.size());
      if (!axis.isInteger() || axis.isFree() || axis.integer.size < -rank ||
          axis.integer.size >= rank) {
        if (!axis.isPoison())
          call.error(1, "axis = " + text(axis) + " of " + text(x), {0});
        return {};
      }
      reduced[static_cast<size_t>(axis.integer.size < 0 ? axis.integer.size + rank
                                                        : axis.integer.size)] = true;
    }
  }
  bool keep = call.boolean(2, false);
  if (call.failed)
    return {};
  SmallVector<int64_t> axes;
  Shape shape;
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (reduced[i])
      axes.push_back(static_cast<int64_t>(i));
    if (!reduced[i] || keep)
      shape.push_back(reduced[i] ? Dim(1) : x.shape[i]);
  }
  if (axes.empty())
    return x;
  if (negated)
    x = call.emit.unary(UnaryKind::Neg, x, call.place);
  Location loc = call.emit.at(call.place);
  Value result = Emitter::result(
      ReduceOp::create(call.emit.builder, loc, kind, x.tensor, axes, keep), shape, call.place);
  return negated ? call.emit.unary(UnaryKind::Neg, result, call.place) : result;
}

Value runSum(Call &call) { return reduce(call, ReduceKind::Sum); }
Value runMean(Call &call) { return reduce(call, ReduceKind::Mean); }

/// max(x, axis) of a tensor, or the largest of some numbers.
Value extreme(Call &call, bool largest) {
  if (call.value(0).isTensor())
    return reduce(call, ReduceKind::Max, !largest);
  std::vector<Value> candidates;
  for (const auto &value : call.values)
    if (value && !value->isNone()) {
      if (value->kind == Value::Kind::List)
        candidates.insert(candidates.end(), value->list->begin(), value->list->end());
      else
        candidates.push_back(*value);
    }
  const Value *best = nullptr;
  for (const Value &value : candidates) {
    if (value.isPoison())
      return {};
    if (!value.isNumber()) {
      call.errorHere("expected numbers, or one tensor, but got " + describe(value));
      return {};
    }
    if (!best ||
        (largest ? value.asNumber() > best->asNumber() : value.asNumber() < best->asNumber()))
      best = &value;
  }
  if (!best) {
    call.errorHere("needs at least one number");
    return {};
  }
  return *best;
}

Value runMax(Call &call) { return extreme(call, true); }
Value runMin(Call &call) { return extreme(call, false); }

Value runDraw(Call &call) {
  double a = call.number(0, 0), b = call.number(1, 1);
  if (call.failed)
    return {};
  if (!call.emit.initial) {
    call.errorHere("draws random values, which belong in the 'init' of a parameter");
    return {};
  }
  bool uniform = call.builtin.name == "uniform";
  if (uniform && a > b) {
    call.errorHere("the lower bound " + text(a) + " is above the upper bound " + text(b));
    return {};
  }
  if (!uniform && b < 0) {
    call.error(1, "the standard deviation " + text(b) + " is negative");
    return {};
  }
  return call.emit.random(uniform ? Distribution::Uniform : Distribution::Normal, a, b, call.place);
}

Value fill(Call &call, double value, size_t shapeIndex) {
  if (call.has(shapeIndex)) {
    Shape shape = call.sizes(shapeIndex);
    return call.failed ? Value() : call.emit.filled(value, shape, call.place);
  }
  if (call.emit.initial)
    return call.emit.filled(value, call.emit.initial->shape, call.place);
  call.errorHere("needs a shape such as [L, D] outside of the 'init' of a parameter");
  return {};
}

Value runZeros(Call &call) { return fill(call, 0, 0); }
Value runOnes(Call &call) { return fill(call, 1, 0); }
Value runConstant(Call &call) {
  double value = call.number(0, 0);
  return call.failed ? Value() : fill(call, value, 1);
}

Value runIota(Call &call) {
  const Value &n = call.value(0);
  double start = call.number(1, 0), step = call.number(2, 1);
  if (!n.isInteger()) {
    call.error(0, "n is " + describe(n) + ", expected an integer");
    return {};
  }
  if (call.failed || !call.emit.check({n.integer}, call.places[0]))
    return {};
  OpBuilder &builder = call.emit.builder;
  Location loc = call.emit.at(call.place);
  auto op =
      IotaOp::create(builder, loc, call.emit.attribute({n.integer}), builder.getF64FloatAttr(start),
                     builder.getF64FloatAttr(step), TypeAttr::get(builder.getF32Type()));
  return Emitter::result(op, {n.integer}, call.place);
}

Value runLinspace(Call &call) {
  double first = call.number(0, 0), last = call.number(1, 0);
  int64_t n = call.integer(2, 1, 1, INT64_MAX);
  if (call.failed || !call.emit.check({Dim(n)}, call.places[2]))
    return {};
  OpBuilder &builder = call.emit.builder;
  Location loc = call.emit.at(call.place);
  double step = n > 1 ? (last - first) / static_cast<double>(n - 1) : 0;
  auto op =
      IotaOp::create(builder, loc, call.emit.attribute({Dim(n)}), builder.getF64FloatAttr(first),
                     builder.getF64FloatAttr(step), TypeAttr::get(builder.getF32Type()));
  return Emitter::result(op, {Dim(n)}, call.place);
}

} // namespace

llvm::ArrayRef<Builtin> elementwiseBuiltins() {
  static const std::vector<Builtin> builtins = [] {
    std::vector<Builtin> list{
        {"maximum", "a, b", runBinary},
        {"minimum", "a, b", runBinary},
        {"equal", "a, b", runBinary},
        {"less", "a, b", runBinary},
        {"atan2", "y, x", runBinary},
        {"sum", "x, axis?, keep?", runSum},
        {"mean", "x, axis?, keep?", runMean},
        {"max", "x, axis?, keep?, others*", runMax},
        {"min", "x, axis?, keep?, others*", runMin},
        {"uniform", "low, high", runDraw},
        {"normal", "mean, deviation", runDraw},
        {"zeros", "shape?", runZeros},
        {"ones", "shape?", runOnes},
        {"constant", "value, shape?", runConstant},
        {"iota", "n, start?, step?", runIota},
        {"linspace", "first, last, n", runLinspace},
    };
    for (const Unary &unary : unaries)
      list.push_back({unary.name, "x", runUnary});
    return list;
  }();
  return builtins;
}

} // namespace hybrid::dsl
