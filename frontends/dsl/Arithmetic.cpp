//===- Arithmetic.cpp - the operators + - * / % and comparisons ----------------===//
#include "dialect/ScalarFunctions.h"
#include "frontends/dsl/Builtins.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;

namespace hybrid::dsl {
namespace {

constexpr size_t longestList = 100000;
constexpr size_t longestString = 1 << 16;

struct Operation {
  Emitter &emit;
  llvm::StringRef sign;
  const Value &left, &right;
  Place place;
  llvm::StringRef leftText, rightText; // names of the operands, where they are names

  Value fail(const llvm::Twine &message) {
    std::vector<Diagnostics::Note> notes;
    for (const Value *value : {&left, &right})
      if (value->isTensor())
        notes.push_back({value->origin, text(*value) + " comes from here"});
    return emit.diagnostics.error(place, message, notes);
  }

  /// "width = 100" for a name, "100" otherwise.
  static std::string named(llvm::StringRef name, const Value &value) {
    return name.empty() ? text(value) : name.str() + " = " + text(value);
  }

  Value mismatch() {
    return fail("'" + sign + "' cannot combine " + describe(left) + " and " + describe(right));
  }

  Value onFree() {
    const Value &free = left.isFree() ? left : right;
    std::string what = free.integer.name == "B" ? "batch size" : "length";
    return fail(text(free) + " is only known when compiling for a " + what + ": '" + sign +
                "' needs a number here");
  }

  Value integers() {
    int64_t a = left.integer.size, b = right.integer.size, result = 0;
    bool overflow = false;
    if (sign == "+")
      overflow = llvm::AddOverflow(a, b, result);
    else if (sign == "-")
      overflow = llvm::SubOverflow(a, b, result);
    else if (sign == "*")
      overflow = llvm::MulOverflow(a, b, result);
    else if (b == 0)
      return fail("division by zero");
    else if (b == -1)
      overflow = sign == "/" ? llvm::SubOverflow(int64_t(0), a, result) : (result = 0, false);
    else if (sign == "%")
      result = a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);
    else if (a % b != 0)
      return fail(named(leftText, left) + " is not divisible by " + named(rightText, right) +
                  " (div(a, b) rounds down)");
    else
      result = a / b;
    if (overflow)
      return fail("the result of " + text(left) + " " + sign + " " + text(right) +
                  " is too large for an integer");
    return Value::of(result);
  }

  Value numbers() {
    double a = left.asNumber(), b = right.asNumber();
    if ((sign == "/" || sign == "%") && b == 0)
      return fail("division by zero");
    double result = sign == "+"   ? a + b
                    : sign == "-" ? a - b
                    : sign == "*" ? a * b
                    : sign == "/" ? a / b
                                  : a - b * std::floor(a / b);
    if (!std::isfinite(result))
      return fail("the result of " + text(left) + " " + sign + " " + text(right) + " is too large");
    return Value::of(result);
  }

  Value compare() {
    bool equality = sign == "==" || sign == "!=";
    auto answer = [&](bool less, bool equal) {
      bool result = sign == "=="   ? equal
                    : sign == "!=" ? !equal
                    : sign == "<"  ? less
                    : sign == "<=" ? less || equal
                    : sign == ">"  ? !less && !equal
                                   : !less;
      return Value::of(result);
    };
    if (equality && (left.isNone() || right.isNone()))
      return answer(false, left.isNone() == right.isNone());
    if (left.isInteger() && right.isInteger()) {
      if (left.integer == right.integer)
        return answer(false, true); // also L == L
      if (left.isFree() || right.isFree())
        return onFree();
      return answer(left.integer.size < right.integer.size, false);
    }
    if (left.isFree() || right.isFree())
      return left.isNumber() || right.isNumber() ? onFree() : mismatch();
    if (left.isNumber() && right.isNumber())
      return answer(left.asNumber() < right.asNumber(), left.asNumber() == right.asNumber());
    if (left.kind == right.kind && left.kind == Value::Kind::String)
      return answer(left.string < right.string, left.string == right.string);
    if (equality && left.kind == right.kind && left.kind == Value::Kind::Boolean)
      return answer(false, left.boolean == right.boolean);
    return mismatch();
  }

  /// 1 where it holds, else 0, element by element.
  Value compareTensors() {
    if (sign == "!=")
      return without(apply(BinaryKind::Equal, left, right));
    if (sign == "==")
      return apply(BinaryKind::Equal, left, right);
    const bool swapped = sign.starts_with(">");
    const Value &small = swapped ? right : left, &large = swapped ? left : right;
    Value less = apply(BinaryKind::Less, small, large);
    if (sign.size() == 1 || less.isPoison())
      return less;
    return apply(BinaryKind::Add, less, apply(BinaryKind::Equal, left, right));
  }

  /// 1 for 0, and 0 for 1.
  Value without(const Value &mask) {
    return mask.isPoison() ? mask : apply(BinaryKind::Equal, mask, Value::of(int64_t(0)));
  }

  Value apply(BinaryKind kind, const Value &a, const Value &b) {
    auto operand = [&](const Value &value) -> Value {
      return value.isTensor() ? value : emit.scalar(value.asNumber(), place);
    };
    for (const Value *value : {&a, &b}) {
      if (value->isTensor() && value->holdsIntegers)
        return fail("'" + sign + "': " + text(*value) +
                    " holds integers, expected floating point numbers");
      if (value->isFree())
        return onFree();
      if (!value->isTensor() && !value->isNumber())
        return mismatch();
    }
    Emitter::Added added = emit.binary(kind, operand(a), operand(b), place);
    return added.fault.empty() ? added.results[0] : fail("'" + sign + "': " + added.fault);
  }

  Value tensors() {
    const auto *function =
        llvm::find_if(scalar::binaryFunctions, [&](const scalar::BinaryFunction &candidate) {
          return candidate.name == sign;
        });
    if (function == std::end(scalar::binaryFunctions))
      return fail("'" + sign + "' works on numbers, not on tensors");
    return apply(function->kind, left, right);
  }

  Value run() {
    using Kind = Value::Kind;
    if (left.isPoison() || right.isPoison())
      return {};
    if (llvm::StringRef("== != <= >= < >").contains(sign)) {
      const bool none = left.isNone() || right.isNone();
      return (left.isTensor() || right.isTensor()) && !none ? compareTensors() : compare();
    }
    if (left.isTensor() || right.isTensor())
      return tensors();
    if (left.isFree() || right.isFree())
      return left.isInteger() && right.isInteger()   ? onFree()
             : (left.isNumber() || right.isNumber()) ? onFree()
                                                     : mismatch();
    if (left.isInteger() && right.isInteger())
      return integers();
    if (left.isNumber() && right.isNumber())
      return numbers();
    if (sign == "+" && left.kind == Kind::String && right.kind == Kind::String) {
      if (left.string.size() + right.string.size() > longestString)
        return fail("a string has at most " + llvm::Twine(longestString) + " characters");
      return Value::of(left.string + right.string);
    }
    if (sign == "+" && left.kind == Kind::List && right.kind == Kind::List) {
      if (left.list->size() + right.list->size() > longestList)
        return fail("a list has at most " + llvm::Twine(longestList) + " elements");
      std::vector<Value> values(*left.list);
      values.insert(values.end(), right.list->begin(), right.list->end());
      return Value::of(std::move(values));
    }
    if (sign == "*" && left.kind == Kind::List && right.isInteger()) {
      int64_t times = right.integer.size;
      if (times < 0 || static_cast<uint64_t>(times) > longestList ||
          left.list->size() * static_cast<size_t>(times) > longestList)
        return fail("a list has 0 to " + llvm::Twine(longestList) + " elements");
      if (left.held * static_cast<uint64_t>(times) > largestValue)
        return fail("a list has at most " + llvm::Twine(largestValue) +
                    " characters and elements of its lists");
      std::vector<Value> values;
      for (int64_t i = 0; i < times; ++i)
        values.insert(values.end(), left.list->begin(), left.list->end());
      return Value::of(std::move(values));
    }
    return mismatch();
  }
};

} // namespace

Value combine(Emitter &emit, llvm::StringRef sign, const Value &left, const Value &right,
              Place place, llvm::StringRef leftText, llvm::StringRef rightText) {
  return Operation{emit, sign, left, right, place, leftText, rightText}.run();
}

} // namespace hybrid::dsl
