//===- StorageModel.h - which tensors lie in the same memory ----------------===//
//
// What a schedule will make of a straight-line function, without making it: slices, splits,
// reshapes, transposes and broadcasts are views of their operand, the parts of a concatenation are
// computed where it lies, parameters and their gradients have memory of their own.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace hybrid {

class StorageModel {
public:
  /// `function` has one block and static shapes.
  explicit StorageModel(mlir::func::FuncOp function);

  /// The storage a value lies in; -1 for those that take no memory of activations.
  int64_t of(mlir::Value value) const;
  int64_t count() const { return static_cast<int64_t>(storages.size()); }
  int64_t bytes(int64_t storage) const { return storages[storage].bytes; }
  /// Inputs lie there before the function runs, and outputs afterwards.
  bool isInput(int64_t storage) const { return storages[storage].input; }
  bool isOutput(int64_t storage) const { return storages[storage].output; }

  /// Whether the op only gives another name to what its operand holds.
  static bool isView(mlir::Operation *op);

private:
  struct Storage {
    int64_t bytes = 0;
    bool input = false, output = false;
  };
  int64_t add(mlir::Value value);

  std::vector<Storage> storages;
  llvm::DenseMap<mlir::Value, int64_t> index;
};

} // namespace hybrid
