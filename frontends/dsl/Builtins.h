//===- Builtins.h - the operators and functions of the language ----------------===//
//
// What `op.NAME` can be. Most are ops of the dialect: their parameters are in the table of
// dialect/Operators.h, their shapes are what they infer themselves (Operators.cpp). The others are
// the language's own: functions of values that exist only while compiling, and what makes several
// ops.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "dialect/Operators.h"
#include "frontends/dsl/Emitter.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace hybrid::dsl {

struct Call;

struct Builtin {
  std::string name;
  /// "x, weight, bias?, others*": `?` may be left out, `*` takes all further positional arguments
  /// as a list.
  std::string parameters;
  Value (*run)(Call &call);
  const Operator *op = nullptr; // of the dialect, where it is one
  std::string meaning = {};     // for --help-op, of one that is none
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
  Fault error(size_t index, const llvm::Twine &message, llvm::ArrayRef<size_t> about = {});
  Fault errorHere(const llvm::Twine &message, llvm::ArrayRef<size_t> about = {});

  /// Reports an argument that is not what is expected, or not yet known.
  Fault wrong(size_t index, const llvm::Twine &expected);

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
  /// A list of sizes that need not be a shape, as parts of a dimension are none; they may be -1
  /// when `inferred`.
  Shape listedSizes(size_t index, bool inferred = false);
  /// The shape of a tensor; one of its sizes may be -1 when `inferred`.
  Shape sizes(size_t index, bool inferred = false);
  /// Axes of a tensor of this rank, one or a list, counted from the end when negative; the last one
  /// when left out.
  llvm::SmallVector<int64_t> axes(size_t index, size_t rank);
  int64_t axis(size_t index, size_t rank);

  /// The result of an op, or a report of what the op says against it: at the argument that the
  /// message is about, with notes on where the tensors it speaks of were made.
  Value result(const Emitter::Added &added);
  /// The same for an op with several results.
  bool report(const Emitter::Added &added);
};

/// Moves what uses nothing of a body that has been written to where the builder is.
void hoistInvariant(mlir::Block &body, mlir::OpBuilder &builder);

/// Adds the op of `call.builtin` (Operators.cpp).
Value runOperator(Call &call);
/// The parameters of an op of the dialect as `Builtin` has them.
std::string operatorParameters(const Operator &op);

/// The groups of builtins, one a file.
llvm::ArrayRef<Builtin> staticBuiltins();
llvm::ArrayRef<Builtin> elementwiseBuiltins();
llvm::ArrayRef<Builtin> shapeBuiltins();
llvm::ArrayRef<Builtin> productBuiltins();
llvm::ArrayRef<Builtin> derivedBuiltins();
llvm::ArrayRef<Builtin> expertBuiltins();
llvm::ArrayRef<Builtin> attentionBuiltins();
llvm::ArrayRef<Builtin> recurrenceBuiltins();
/// Every op that the language offers, unless another group has something of that name.
llvm::ArrayRef<Builtin> operatorBuiltins();

/// `a SIGN b` for numbers, strings, lists and tensors; `place` is the sign's.
Value combine(Emitter &emit, llvm::StringRef sign, const Value &left, const Value &right,
              Place place, llvm::StringRef leftText, llvm::StringRef rightText);

} // namespace hybrid::dsl
