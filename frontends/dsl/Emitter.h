//===- Emitter.h - adds ops for values of the language -------------------------===//
#pragma once
#include "dialect/HybridOps.h"
#include "frontends/dsl/Diagnostics.h"
#include "frontends/dsl/Scoring.h"
#include "frontends/dsl/Values.h"
#include "mlir/IR/Block.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace hybrid::dsl {

class Emitter {
public:
  explicit Emitter(Diagnostics &diagnostics)
      : diagnostics(diagnostics), builder(&diagnostics.context) {}

  /// Counts an op and returns its location. Beyond the limit an error is reported and `stopped` is
  /// set.
  mlir::Location at(Place place);
  /// Steps of elaboration; false when it went on for too long (reported once) or nothing more is
  /// worth doing.
  bool step(Place place, uint64_t count = 1);
  void stop() { stopped = true; }
  bool isStopped() const { return stopped || diagnostics.full(); }

  /// A value for the result of an op. The shape must be the one inferred by the op, with names for
  /// its free sizes.
  static Value result(mlir::Value tensor, Shape shape, Place origin);

  /// What became of an op: its results, or what its own inference or verifier says against it, with
  /// the names of free dimensions.
  struct Added {
    std::vector<Value> results;
    std::string fault;
  };
  /// Adds the op called `name` ("hybrid.linear"). An attribute may hold names of free dimensions.
  Added add(llvm::StringRef name, llvm::ArrayRef<Value> operands,
            const mlir::NamedAttrList &attributes, Place place);

  Value scalar(double value, Place place);
  /// A tensor filled with one number; the shape may have free sizes.
  Value filled(double value, const Shape &shape, Place place);
  Value unary(UnaryKind kind, const Value &x, Place place);
  Added binary(BinaryKind kind, const Value &left, const Value &right, Place place);
  /// The tensor itself when it has the shape.
  Added broadcastTo(const Value &x, const Shape &shape, Place place);
  Added reshape(const Value &x, const Shape &shape, Place place);
  Value transpose(const Value &x, llvm::ArrayRef<int64_t> permutation, Place place);
  Value sum(const Value &x, llvm::ArrayRef<int64_t> axes, Place place);
  /// A part that lies in the tensor, or the tensor itself when it has the sizes. A start below 0
  /// counts from the end of a free dimension.
  Value slice(const Value &x, llvm::ArrayRef<int64_t> starts, const Shape &sizes, Place place);
  /// Drawn values of the parameter that is being initialised. `shape` is static.
  Value random(Distribution distribution, double a, double b, Place place);

  /// Reports a shape that no machine can hold or with a size below 1; false then.
  bool check(const Shape &shape, Place place);
  /// A shape attribute: integers, and names of free sizes.
  mlir::ArrayAttr attribute(const Shape &shape);
  mlir::RankedTensorType type(const Shape &shape);

  /// How often the body that is being written has drawn numbers of its own under a name.
  llvm::StringMap<int> draws;

  /// The parameter whose initial value is being computed; draws belong to it.
  struct Initial {
    std::string stream;
    Shape shape;
    int draws = 0;
  };
  Initial *initial = nullptr;

  /// The experts whose body is being written: a parameter has a part for each of them.
  struct Experts {
    int64_t count;
    mlir::Block *body;
    llvm::SmallVector<mlir::Value> own; // one an argument of the body behind the first
    Experts *outer;                     // of experts in experts
  };
  Experts *experts = nullptr;
  /// The shape of a parameter of which the body that is being written has a part of `shape`.
  Shape ofAllExperts(Shape shape) const;
  /// What the body that is being written has of `parameter`.
  mlir::Value ownPart(mlir::Value parameter) { return ownPart(parameter, experts); }
  /// Runs a layer on one value, its parameters under `name`.
  std::function<Value(const LayerValue &, const Value &, llvm::StringRef name, Place)> runLayer;

  /// Runs a layer on what it has been given by `with`.
  std::function<Value(const LayerValue &, llvm::StringRef name, Place)> runBound;

  /// The score that is being written.
  Scoring *scoring = nullptr;

  /// Parameter path of what is being run: "blocks.3.hyena.", empty in the model itself.
  std::string scope;
  /// Terms of papers' FLOP counts so far, as the attribute `hybrid.published` holds them.
  llvm::SmallVector<mlir::Attribute> published;

  Diagnostics &diagnostics;
  mlir::OpBuilder builder;

private:
  static mlir::Value ownPart(mlir::Value parameter, Experts *experts);

  /// What an op infers from these operands, with numbers in place of free sizes or without.
  struct Inferred {
    llvm::SmallVector<mlir::Type> types;
    mlir::Operation *op = nullptr; // not in a block; null when there is a fault
    std::string fault;
  };
  Inferred infer(llvm::StringRef name, mlir::Location location, mlir::ValueRange operands,
                 const mlir::NamedAttrList &attributes);
  Inferred inferAs(size_t set, llvm::StringRef name, llvm::ArrayRef<Value> operands,
                   const mlir::NamedAttrList &attributes);
  /// What is wrong with a shape, or nothing.
  static std::string faultOf(const Shape &shape);

  mlir::Block standIns; // arguments are operands of ops that only infer
  llvm::DenseMap<mlir::Type, mlir::Value> standInOf;
  int64_t ops = 0;
  uint64_t steps = 0;
  bool stopped = false;
};

} // namespace hybrid::dsl
