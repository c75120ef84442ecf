//===- StaticBuiltins.cpp - functions of numbers, strings and lists ------------===//
#include "frontends/dsl/Builtins.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

namespace hybrid::dsl {
namespace {

constexpr int64_t longestList = 100000;

/// The whole number nearest to a rounded one, when it has one.
Value rounded(Call &call, double value) {
  if (!(std::abs(value) < 9e18))
    return call.error(0, text(value) + " is too large for an integer");
  return Value::of(static_cast<int64_t>(value));
}

/// Of a function of a number.
template <double (*function)(double)> Value runRounding(Call &call) {
  double x = call.number(0, 0);
  return call.failed ? Value() : rounded(call, function(x));
}

Value runFloat(Call &call) {
  double x = call.number(0, 0);
  return call.failed ? Value() : Value::of(x);
}

/// Division that rounds toward minus infinity, as Python's `//` and `%`.
bool divide(Call &call, int64_t &quotient, int64_t &remainder) {
  int64_t a = call.integer(0, 0, INT64_MIN, INT64_MAX),
          b = call.integer(1, 1, INT64_MIN, INT64_MAX);
  if (call.failed)
    return false;
  if (b == 0) {
    call.error(1, "division by zero");
    return false;
  }
  if (b == -1) { // the smallest integer has no negative
    if (llvm::SubOverflow(int64_t(0), a, quotient)) {
      call.error(0, "the result is too large for an integer");
      return false;
    }
    remainder = 0;
    return true;
  }
  quotient = a / b;
  remainder = a % b;
  if (remainder != 0 && (remainder < 0) != (b < 0)) {
    --quotient;
    remainder += b;
  }
  return true;
}

Value runDiv(Call &call) {
  int64_t quotient, remainder;
  return divide(call, quotient, remainder) ? Value::of(quotient) : Value();
}

Value runMod(Call &call) {
  int64_t quotient, remainder;
  return divide(call, quotient, remainder) ? Value::of(remainder) : Value();
}

Value runPow(Call &call) {
  double base = call.number(0, 0), exponent = call.number(1, 0);
  if (call.failed)
    return {};
  double power = std::pow(base, exponent);
  if (!std::isfinite(power))
    return call.errorHere(text(base) + " to the power of " + text(exponent) + " is not a number");
  bool whole = call.value(0).isInteger() && call.value(1).isInteger() && exponent >= 0 &&
               std::abs(power) < 9007199254740992.0;
  return whole ? Value::of(static_cast<int64_t>(power)) : Value::of(power);
}

Value runLen(Call &call) {
  const Value &value = call.value(0);
  if (value.kind == Value::Kind::List)
    return Value::of(static_cast<int64_t>(value.list->size()));
  if (value.kind == Value::Kind::String)
    return Value::of(static_cast<int64_t>(value.string.size()));
  return call.error(0, "x is " + describe(value) + ", expected a list or a string");
}

Value runReversed(Call &call) {
  const Value &value = call.value(0);
  if (value.kind == Value::Kind::List)
    return Value::of(std::vector<Value>(value.list->rbegin(), value.list->rend()));
  return call.error(0, "x is " + describe(value) + ", expected a list");
}

Value runRange(Call &call) {
  int64_t start = 0, end = call.integer(0, 0, INT64_MIN, INT64_MAX);
  if (call.has(1)) {
    start = end;
    end = call.integer(1, 0, INT64_MIN, INT64_MAX);
  }
  int64_t step = call.integer(2, 1, 1, INT64_MAX);
  if (call.failed)
    return {};
  int64_t length;
  if (llvm::SubOverflow(end, start, length) || (length > 0 && (length - 1) / step >= longestList))
    return call.errorHere("a list has at most " + llvm::Twine(longestList) + " elements");
  std::vector<Value> values;
  for (int64_t i = 0; i < length; i += step) {
    values.push_back(Value::of(start + i));
    if (length - i <= step)
      break;
  }
  return Value::of(std::move(values));
}

/// `count` numbers from first to last, both included: at equal distances, or in equal ratios.
Value runSpaced(Call &call) {
  double first = call.number(0, 0), last = call.number(1, 0);
  int64_t count = call.integer(2, 2, 2, longestList);
  bool log = call.boolean(3, false);
  if (call.failed)
    return {};
  if (log && !(first > 0 && last > 0))
    return call.error(first > 0 ? 1 : 0, "equal ratios need ends above 0");
  // Whole numbers between whole ends, so that they can be sizes.
  bool whole = call.value(0).isInteger() && call.value(1).isInteger();
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) {
    double share = static_cast<double>(i) / static_cast<double>(count - 1);
    double number = i == 0           ? first
                    : i == count - 1 ? last
                    : log            ? first * std::pow(last / first, share)
                                     : first + (last - first) * share;
    double nearest = std::nearbyint(number);
    whole &= std::abs(number - nearest) <= 1e-9 * std::abs(number) && std::abs(nearest) < 9e15;
    numbers.push_back(number);
  }
  std::vector<Value> values;
  for (double number : numbers)
    values.push_back(whole ? Value::of(static_cast<int64_t>(std::nearbyint(number)))
                           : Value::of(number));
  return Value::of(std::move(values));
}

/// Every string of `length` of the letters, in the order of the letters, the last changing first.
Value runSequences(Call &call) {
  const Value &letters = call.value(0);
  int64_t length = call.integer(1, 1, 1, 1000);
  if (letters.kind != Value::Kind::String || letters.string.empty())
    call.error(0, "letters is " + describe(letters) + ", expected a string such as \"HA\"");
  if (call.failed)
    return {};
  const std::string &alphabet = letters.string;
  for (size_t i = 1; i < alphabet.size(); ++i)
    if (alphabet.find(alphabet[i]) < i)
      return call.error(0, "letters has '" + llvm::Twine(alphabet[i]) + "' twice");
  double count = std::pow(static_cast<double>(alphabet.size()), static_cast<double>(length));
  if (count > longestList)
    return call.errorHere(llvm::Twine(alphabet.size()) + " letters make more than " +
                          llvm::Twine(longestList) + " sequences of " + llvm::Twine(length));
  std::vector<Value> values;
  for (int64_t number = 0; number < static_cast<int64_t>(count); ++number) {
    std::string sequence(static_cast<size_t>(length), ' ');
    auto rest = static_cast<size_t>(number);
    for (char &letter : llvm::reverse(sequence)) {
      letter = alphabet[rest % alphabet.size()];
      rest /= alphabet.size();
    }
    values.push_back(Value::of(sequence));
  }
  return Value::of(std::move(values));
}

Value runStr(Call &call) {
  const Value &value = call.value(0);
  if (value.kind == Value::Kind::String)
    return value;
  if (value.isInteger() || value.kind == Value::Kind::Float || value.kind == Value::Kind::Boolean)
    return Value::of(text(value));
  return call.error(0, "x is " + describe(value) + ", expected a number, true or false");
}

Value runRequire(Call &call) {
  bool condition = call.boolean(0, true);
  const Value &message = call.value(1);
  if (message.kind != Value::Kind::String)
    call.error(1, "message is " + describe(message) + ", expected a string");
  else if (!call.failed && !condition)
    return call.emit.diagnostics.error(call.place, message.string);
  return Value::none();
}

/// Whether an argument is a name; else it says so.
bool isName(Call &call, size_t index) {
  if (call.value(index).kind == Value::Kind::String && !call.value(index).string.empty())
    return true;
  call.error(index, call.names[index] + " is " + describe(call.value(index)) +
                        ", expected a name as a string");
  return false;
}

/// Notes a term of a paper's FLOP count beside the program; no number that the model computes
/// depends on it.
Value runPublished(Call &call) {
  for (size_t index : {0, 1})
    (void)isName(call, index);
  double coefficient = call.number(2, 0);
  int64_t length = call.integer(3, 1, 0, 4), logarithm = call.integer(4, 0, 0, 4);
  if (call.failed)
    return {};
  if (coefficient < 0)
    return call.error(2,
                      "flops is " + text(coefficient) + ", expected a number that is not negative");
  mlir::OpBuilder &b = call.emit.builder;
  call.emit.published.push_back(b.getDictionaryAttr(
      {b.getNamedAttr("layer", b.getStringAttr(llvm::StringRef(call.emit.scope).rtrim('.'))),
       b.getNamedAttr("method", b.getStringAttr(call.value(0).string)),
       b.getNamedAttr("term", b.getStringAttr(call.value(1).string)),
       b.getNamedAttr("coefficient", b.getF64FloatAttr(coefficient)),
       b.getNamedAttr("length", b.getI64IntegerAttr(length)),
       b.getNamedAttr("log_length", b.getI64IntegerAttr(logarithm))}));
  return Value::none();
}

/// Says that the layer's terms are all that count under a method, whatever it calls.
Value runPublishedAlone(Call &call) {
  if (!isName(call, 0))
    return {};
  mlir::OpBuilder &b = call.emit.builder;
  call.emit.published.push_back(b.getDictionaryAttr(
      {b.getNamedAttr("layer", b.getStringAttr(llvm::StringRef(call.emit.scope).rtrim('.'))),
       b.getNamedAttr("method", b.getStringAttr(call.value(0).string)),
       b.getNamedAttr("alone", b.getUnitAttr())}));
  return Value::none();
}

/// Notes how many numbers of state a paper counts for a channel: of a convolution with the filter
/// x, or of the op with state that gave x.
Value runPublishedState(Call &call) {
  const bool named = isName(call, 0);
  Value x = call.tensor(1);
  const double numbers = call.number(2, 0);
  if (call.failed || !named)
    return {};
  if (numbers < 0)
    return call.error(2,
                      "numbers is " + text(numbers) + ", expected a number that is not negative");
  mlir::Operation *op = x.tensor.getDefiningOp();
  if (!op)
    return call.error(1, "x is an input, expected a filter or the result of an op with state");
  mlir::NamedAttrList counts(op->getAttrOfType<mlir::DictionaryAttr>("hybrid.published_state"));
  counts.set(call.value(0).string, call.emit.builder.getF64FloatAttr(numbers));
  op->setAttr("hybrid.published_state", counts.getDictionary(op->getContext()));
  return Value::none();
}

/// Says that the filter x is the response of a linear recurrence with so many numbers of state a
/// channel: what a convolution with it carries from token to token.
Value runRecurrentFilter(Call &call) {
  Value x = call.tensor(0);
  const int64_t numbers = call.integer(1, 1, 1, int64_t(1) << 40);
  if (call.failed)
    return {};
  mlir::Operation *op = x.tensor.getDefiningOp();
  if (!op)
    return call.error(0, "x is an input, expected a filter");
  op->setAttr("hybrid.recurrence", call.emit.builder.getI64IntegerAttr(numbers));
  return Value::none();
}

Value runShape(Call &call) {
  const Value &value = call.value(0);
  if (!value.isTensor())
    return call.error(0, "x is " + describe(value) + ", expected a tensor");
  std::vector<Value> sizes;
  for (const Dim &dim : value.shape)
    sizes.push_back(Value::of(dim));
  return Value::of(std::move(sizes));
}

} // namespace

llvm::ArrayRef<Builtin> staticBuiltins() {
  static const Builtin builtins[] = {
      {"ceil", "x", runRounding<std::ceil>},
      {"floor", "x", runRounding<std::floor>},
      {"round", "x", runRounding<std::nearbyint>},
      {"float", "x", runFloat},
      {"div", "a, b", runDiv},
      {"mod", "a, b", runMod},
      {"pow", "a, b", runPow},
      {"len", "x", runLen},
      {"reversed", "x", runReversed},
      {"str", "x", runStr},
      {"range", "start, end?, step?", runRange},
      {"spaced", "first, last, count, log?", runSpaced},
      {"sequences", "letters, length", runSequences},
      {"require", "condition, message", runRequire},
      {"published", "method, term, flops, length?, log_length?", runPublished},
      {"published_alone", "method", runPublishedAlone},
      {"published_state", "method, x, numbers", runPublishedState},
      {"recurrent_filter", "x, numbers", runRecurrentFilter},
      {"shape", "x", runShape},
  };
  return builtins;
}

} // namespace hybrid::dsl
