//===- ElementwiseBuiltins.cpp - functions of elements, reductions, draws ------===//
#include "dialect/ScalarFunctions.h"
#include "frontends/dsl/Builtins.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace hybrid::dsl {
/// A number that is known while compiling, in the formulas of dialect/ScalarFunctions.td.
struct Number : scalar::ScalarOperators<Number> {
  double value;

  Number(double value) : value(value) {}
  Number constant(double number) const { return number; }
  friend Number operator-(Number x) { return -x.value; }
  friend Number operator+(Number x, Number y) { return x.value + y.value; }
  friend Number operator-(Number x, Number y) { return x.value - y.value; }
  friend Number operator*(Number x, Number y) { return x.value * y.value; }
  friend Number operator/(Number x, Number y) { return x.value / y.value; }
  friend Number operator<(Number x, Number y) { return x.value < y.value; }
  friend Number select(Number condition, Number x, Number y) { return condition.value ? x : y; }
  friend Number max(Number x, Number y) { return std::max(x.value, y.value); }
  friend Number min(Number x, Number y) { return std::min(x.value, y.value); }
  friend Number abs(Number x) { return std::abs(x.value); }
  friend Number exp(Number x) { return std::exp(x.value); }
  friend Number expm1(Number x) { return std::expm1(x.value); }
  friend Number log(Number x) { return std::log(x.value); }
  friend Number log1p(Number x) { return std::log1p(x.value); }
  friend Number sin(Number x) { return std::sin(x.value); }
  friend Number cos(Number x) { return std::cos(x.value); }
  friend Number tanh(Number x) { return std::tanh(x.value); }
  friend Number erf(Number x) { return std::erf(x.value); }
  friend Number sqrt(Number x) { return std::sqrt(x.value); }
};

namespace {

Value runUnary(Call &call) {
  const scalar::UnaryFunction &function =
      *llvm::find_if(scalar::unaryFunctions, [&](const scalar::UnaryFunction &candidate) {
        return candidate.name == call.builtin.name;
      });
  const Value &x = call.value(0);
  if (x.isNumber()) {
    double result = scalar::valueOf(function.kind, Number(x.asNumber())).value;
    if (!std::isfinite(result))
      return call.error(0, "the result for " + text(x) + " is not a number");
    bool whole = x.isInteger() && function.wholeNumbers && std::abs(result) < 9007199254740992.0;
    return whole ? Value::of(static_cast<int64_t>(result)) : Value::of(result);
  }
  Value tensor = call.tensor(0);
  return call.failed ? Value() : call.emit.unary(function.kind, tensor, call.place);
}

Value runBinary(Call &call) {
  const scalar::BinaryFunction &function =
      *llvm::find_if(scalar::binaryFunctions, [&](const scalar::BinaryFunction &candidate) {
        return candidate.name == call.builtin.name;
      });
  Value a = call.tensor(0), b = call.tensor(1);
  return call.failed ? Value() : call.result(call.emit.binary(function.kind, a, b, call.place));
}

/// Reduces over `axis` (an integer or a list; all when left out).
Value reduce(Call &call, ReduceKind kind, bool negated = false) {
  Value x = call.tensor(0);
  if (call.failed)
    return {};
  SmallVector<int64_t> axes;
  if (call.has(1))
    axes = call.axes(1, x.shape.size());
  else
    llvm::append_range(axes, llvm::seq<int64_t>(0, static_cast<int64_t>(x.shape.size())));
  bool keep = call.boolean(2, false);
  if (call.failed)
    return {};
  llvm::sort(axes);
  axes.erase(llvm::unique(axes), axes.end());
  if (axes.empty())
    return x;
  if (negated)
    x = call.emit.unary(UnaryKind::Neg, x, call.place);
  OpBuilder &b = call.emit.builder;
  NamedAttrList attributes;
  attributes.append("kind", ReduceKindAttr::get(b.getContext(), kind));
  attributes.append("axes", b.getDenseI64ArrayAttr(axes));
  if (keep)
    attributes.append("keep", b.getUnitAttr());
  Value result =
      call.result(call.emit.add(ReduceOp::getOperationName(), x, attributes, call.place));
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
    if (!value.isNumber())
      return call.errorHere("expected numbers, or one tensor, but got " + describe(value));
    if (!best ||
        (largest ? value.asNumber() > best->asNumber() : value.asNumber() < best->asNumber()))
      best = &value;
  }
  if (!best)
    return call.errorHere("needs at least one number");
  return *best;
}

Value runMax(Call &call) { return extreme(call, true); }
Value runMin(Call &call) { return extreme(call, false); }

Value runDraw(Call &call) {
  double a = call.number(0, 0), b = call.number(1, 1);
  if (call.failed)
    return {};
  if (!call.emit.initial)
    return call.errorHere("draws random values, which belong in the 'init' of a parameter");
  bool uniform = call.builtin.name == "uniform";
  if (uniform && a > b)
    return call.errorHere("the lower bound " + text(a) + " is above the upper bound " + text(b));
  if (!uniform && b < 0)
    return call.error(1, "the standard deviation " + text(b) + " is negative");
  return call.emit.random(uniform ? Distribution::Uniform : Distribution::Normal, a, b, call.place);
}

Value fill(Call &call, double value, size_t shapeIndex) {
  if (call.has(shapeIndex)) {
    Shape shape = call.sizes(shapeIndex);
    return call.failed ? Value() : call.emit.filled(value, shape, call.place);
  }
  if (call.emit.initial)
    return call.emit.filled(value, call.emit.initial->shape, call.place);
  return call.errorHere("needs a shape such as [L, D] outside of the 'init' of a parameter");
}

Value runZeros(Call &call) { return fill(call, 0, 0); }
Value runOnes(Call &call) { return fill(call, 1, 0); }
Value runConstant(Call &call) {
  double value = call.number(0, 0);
  return call.failed ? Value() : fill(call, value, 1);
}

/// start, start + step, ...: `count` numbers.
Value equallySpaced(Call &call, const Dim &count, double start, double step) {
  OpBuilder &b = call.emit.builder;
  NamedAttrList attributes;
  attributes.append("length", call.emit.attribute({count}));
  attributes.append("start", b.getF64FloatAttr(start));
  attributes.append("step", b.getF64FloatAttr(step));
  attributes.append("element_type", TypeAttr::get(b.getF32Type()));
  return call.result(call.emit.add(IotaOp::getOperationName(), {}, attributes, call.place));
}

Value runIota(Call &call) {
  const Value &n = call.value(0);
  double start = call.number(1, 0), step = call.number(2, 1);
  if (!n.isInteger())
    return call.error(0, "n is " + describe(n) + ", expected an integer");
  if (call.failed || !call.emit.check({n.integer}, call.places[0]))
    return {};
  return equallySpaced(call, n.integer, start, step);
}

Value runLinspace(Call &call) {
  double first = call.number(0, 0), last = call.number(1, 0);
  int64_t n = call.integer(2, 1, 1, INT64_MAX);
  if (call.failed || !call.emit.check({Dim(n)}, call.places[2]))
    return {};
  double step = n > 1 ? (last - first) / static_cast<double>(n - 1) : 0;
  return equallySpaced(call, Dim(n), first, step);
}

} // namespace

llvm::ArrayRef<Builtin> elementwiseBuiltins() {
  static const std::vector<Builtin> builtins = [] {
    std::vector<Builtin> list{
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
    for (const scalar::UnaryFunction &function : scalar::unaryFunctions)
      list.push_back({function.name.str(), "x", runUnary});
    for (const scalar::BinaryFunction &function : scalar::binaryFunctions)
      if (llvm::isAlpha(function.name[0]))
        list.push_back({function.name.str(), function.parameters.str(), runBinary});
    return list;
  }();
  return builtins;
}

} // namespace hybrid::dsl
