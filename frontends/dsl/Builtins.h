//===- Builtins.h - the operators and functions of the language ----------------===//
//
// What `op.NAME` can be. An operator takes values, checks their shapes with a message for people,
// and adds dialect ops; nothing it builds may fail the dialect's own checks.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "frontends/dsl/Emitter.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace hybrid::dsl {

struct Call;

struct Builtin {
  llvm::StringRef name;
  /// "x, weight, bias?, others*": `?` may be left out, `*` takes all further positional arguments
  /// as a list.
  llvm::StringRef parameters;
  Value (*run)(Call &call);
};

/// The operator called `name`, or null.
const Builtin *findBuiltin(llvm::StringRef name);
std::vector<std::string> builtinNames();
/// Parameter names without their marks.
std::vector<std::string> parameterNames(const Builtin &builtin);

/// A call of a builtin with its arguments in the order of the parameters. The accessors report what
/// is wrong with an argument and return something harmless; `failed` tells.
struct Call {
  Emitter &emit;
  const Builtin &builtin;
  Place place;                                    // of the call
  std::vector<std::string> names;                 // of the parameters
  llvm::SmallVector<std::optional<Value>> values; // one a parameter; nothing when left out
  llvm::SmallVector<Place> places;
  bool failed = false;

  bool has(size_t index) const { return values[index] && !values[index]->isNone(); }
  const Value &value(size_t index) const { return *values[index]; }

  /// Reports at an argument (or at the call) with notes on where the tensors among `about` were
  /// made.
  void error(size_t index, const llvm::Twine &message, llvm::ArrayRef<size_t> about = {});
  void errorHere(const llvm::Twine &message, llvm::ArrayRef<size_t> about = {});

  /// A tensor of floating point numbers; a number becomes a tensor of rank 0.
  Value tensor(size_t index);
  /// The same, or an empty value when left out.
  Value tensorOr(size_t index);
  /// A tensor of either kind.
  Value anyTensor(size_t index);
  /// A tensor of integers.
  Value integers(size_t index);
  int64_t integer(size_t index, int64_t otherwise, int64_t smallest, int64_t largest);
  double number(size_t index, double otherwise);
  bool boolean(size_t index, bool otherwise);
  /// A list of sizes; one of them may be -1 when `inferred`.
  Shape sizes(size_t index, bool inferred = false);
  /// An axis of a tensor of this rank, counted from the end when negative.
  int64_t axis(size_t index, int64_t otherwise, size_t rank);

private:
  void wrong(size_t index, const llvm::Twine &expected);
};

/// The groups of builtins, one a file.
llvm::ArrayRef<Builtin> staticBuiltins();
llvm::ArrayRef<Builtin> elementwiseBuiltins();
llvm::ArrayRef<Builtin> shapeBuiltins();
llvm::ArrayRef<Builtin> modelBuiltins();
llvm::ArrayRef<Builtin> linearScanBuiltins();
llvm::ArrayRef<Builtin> selectiveScanBuiltins();
llvm::ArrayRef<Builtin> softmaxScanBuiltins();
llvm::ArrayRef<Builtin> spectralBuiltins();
llvm::ArrayRef<Builtin> expertBuiltins();

/// `routed_experts`, the operator that takes a layer (RoutedExperts.cpp).
Value runRoutedExperts(Call &call);

/// `a SIGN b` for numbers, strings, lists and tensors; `place` is the sign's.
Value combine(Emitter &emit, llvm::StringRef sign, const Value &left, const Value &right,
              Place place, llvm::StringRef leftText, llvm::StringRef rightText);

} // namespace hybrid::dsl
