//===- Conversion.h - what ops of the graph dialect become in ONNX -------------===//
//
// A table from ops to functions, filled family by family; an op that is not in it has no form and
// is refused by name. Shapes are those of the types, except in the body of a score, whose numbers
// are whole tensors here.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/onnx/Formula.h"
#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace hybrid::onnx {

class Conversion {
public:
  /// `operatorSet`: the version of ONNX's operators that may be used, 20 or more.
  Conversion(llvm::StringRef name, Element number, int64_t operatorSet);

  GraphBuilder graph;
  const int64_t operatorSet;

  //===-- the table -----------------------------------------------------------===//
  template <typename Op> void add(llvm::LogicalResult (*convert)(Op, Conversion &)) {
    table[Op::getOperationName()] = [convert](mlir::Operation *op, Conversion &to) {
      return convert(llvm::cast<Op>(op), to);
    };
  }
  /// Converts an op; fails, with a message, where it has no form. Its results are defined then,
  /// too, so that what stands behind it can be looked at.
  llvm::LogicalResult convert(mlir::Operation *op);
  /// The ops of a body, for these arguments. Gives what it yields.
  llvm::FailureOr<llvm::SmallVector<Tensor>> inlined(mlir::Block &body,
                                                     llvm::ArrayRef<Tensor> arguments);

  //===-- values ------------------------------------------------------------------===//
  Tensor of(mlir::Value value) const { return values.find(value)->second; }
  /// Nothing for a value that is not there.
  Tensor optional(mlir::Value value) const { return value ? of(value) : Tensor(); }
  Formula formula(mlir::Value value) { return {graph, of(value)}; }
  Formula formula(const Tensor &tensor) { return {graph, tensor}; }
  void define(mlir::Value value, const Tensor &tensor) { values[value] = tensor; }

  /// Whether there are LinearAttention, CausalConvWithState, Attention, RotaryEmbedding and
  /// RMSNormalization, of which some have no f64.
  bool hasLayerOperators() const { return operatorSet >= 27 && graph.number() == Element::F32; }

  /// Where a new segment starts, [B, L]: where an id is not the one before it.
  Tensor segmentStarts(mlir::Value segments);

private:
  llvm::StringMap<std::function<llvm::LogicalResult(mlir::Operation *, Conversion &)>> table;
  llvm::DenseMap<mlir::Value, Tensor> values;
};

Element elementFor(mlir::Type type);

// The families.
void addElementwise(Conversion &to);
void addShapes(Conversion &to);
void addRows(Conversion &to);
void addExperts(Conversion &to);
void addConvolutions(Conversion &to);
void addAttention(Conversion &to);
void addScans(Conversion &to);
void addSoftmaxScan(Conversion &to);

} // namespace hybrid::onnx
