//===- Values.h - what an expression of the language can be --------------------===//
//
// Numbers, strings, lists and layers exist while a model is elaborated; tensors are values of the
// program it becomes.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "frontends/dsl/AST.h"
#include "mlir/IR/Value.h"
#include <memory>
#include <string>
#include <vector>

namespace hybrid::dsl {

struct Builtin;
struct LayerValue;
struct Module;

/// A size: a constant, or a dimension that is free until the model is compiled for a batch and a
/// length, with a constant added: L, L - 1.
struct Dim {
  int64_t size = 0; // of a free one what is added
  std::string name; // empty for a constant

  Dim() = default;
  Dim(int64_t size) : size(size) {}
  static Dim free(llvm::StringRef name) {
    Dim dim;
    dim.name = name.str();
    return dim;
  }
  bool isFree() const { return !name.empty(); }
  Dim plus(int64_t more) const {
    Dim dim = *this;
    dim.size += more;
    return dim;
  }
  bool isOne() const { return !isFree() && size == 1; }
  bool operator==(const Dim &other) const = default;
};

using Shape = std::vector<Dim>;

/// What a value holds at most, with all that its lists and layers do: values and characters.
constexpr uint64_t largestValue = 1 << 24;

struct Value {
  enum class Kind : uint8_t { Poison, None, Integer, Float, Boolean, String, List, Layer, Tensor };
  Kind kind; // Poison: an error was reported, say no more
  bool boolean = false;
  bool holdsIntegers = false; // element type of a tensor
  uint16_t nesting = 0;       // of lists and of layers in layers
  uint64_t held = 1;          // values in lists and layers, and characters of strings
  Dim integer;
  double number = 0;
  Place origin; // where the value was made
  std::string string;
  std::shared_ptr<const std::vector<Value>> list;
  std::shared_ptr<const LayerValue> layer;
  mlir::Value tensor;
  Shape shape;

  Value(Kind kind = Kind::Poison) : kind(kind) {}
  static Value none();
  static Value of(int64_t value);
  static Value of(Dim value);
  static Value of(double value);
  static Value of(bool value);
  static Value of(std::string value);
  static Value of(std::vector<Value> values);
  static Value of(LayerValue layer);

  bool isPoison() const { return kind == Kind::Poison; }
  bool isNone() const { return kind == Kind::None; }
  bool isTensor() const { return kind == Kind::Tensor; }
  bool isInteger() const { return kind == Kind::Integer; }
  bool isFree() const { return isInteger() && integer.isFree(); }
  /// An integer or a floating point number whose value is known.
  bool isNumber() const { return kind == Kind::Float || (isInteger() && !integer.isFree()); }
  double asNumber() const { return isInteger() ? static_cast<double>(integer.size) : number; }

private:
  void holds(const Value &element);
};

/// A layer as a value: one written in the language or a built-in one, with arguments given so far
/// by `with`.
struct LayerValue {
  const Definition *definition = nullptr;
  const Module *module = nullptr; // the file of the definition
  const Builtin *builtin = nullptr;
  struct Bound {
    std::string name;
    Place place;
    Value value;
  };
  std::vector<Bound> bound;

  llvm::StringRef name() const;
};

/// "128", "L" or "L - 1".
std::string text(const Dim &dim);
/// "[B, L, 128]".
std::string text(const Shape &shape);
/// The value itself where it is short: "3", "\"abc\"", "[B, L, 128]", "a list of 3".
std::string text(const Value &value);
/// What kind of thing it is, with its value: "the integer 3", "a tensor [B, L, 128]".
std::string describe(const Value &value);
/// Whether a value is of the type, whatever its sizes.
bool isOf(const Value &value, const TypeSyntax &type);
/// "int", "int[B, L]", "layer": as in the source.
std::string text(const TypeSyntax &type);
/// Source-like text of a number.
std::string text(double number);

} // namespace hybrid::dsl
