//===- StepEmitter.h - the ops of a step, for some sequences at once ---------===//
//
// A step of a recurrence (schedule.recurrence) becomes loops over the rows of a work item and the
// elements of its small tensors. Values lie in a frame of the item; what is yielded is computed
// where it is wanted, and views cost nothing. Products of one thread keep a block of rows by a
// vector of columns in registers; the threads of a block divide elements among them.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/loops/KernelFunction.h"
#include "codegen/loops/ScalarExpressions.h"
#include "codegen/program/IterationSpace.h"

namespace hybrid::loops {

/// Where a tensor of a step lies for the rows of a work item: dimension 0 of the view are the rows.
struct Place {
  View view;        // of a memref of the kernel
  mlir::Value base; // the element that the view's offset counts from
};

/// Where a yielded value goes. In memory of an argument it takes the argument's place.
struct Target {
  Place place;
  bool adds = false;
  std::optional<unsigned> argument;
};

class StepEmitter {
public:
  /// Values lie from element `base` of `frame` on.
  StepEmitter(KernelFunction &kernel, int64_t rows, mlir::Value frame, mlir::Value base)
      : kernel(kernel), b(kernel.builder), rows(rows), frame(frame), base(base) {}

  /// Room for a tensor of `shape`, dense, for all rows.
  Place allocate(llvm::ArrayRef<int64_t> shape, mlir::Type element);

  /// Emits the ops that the values with a target need. Frames of several steps may be the same.
  void emit(mlir::Block &block, llvm::ArrayRef<Place> arguments,
            llvm::ArrayRef<std::optional<Target>> targets);

  /// body(places of one element each) for each index of the places' shape, which all have.
  void forElements(llvm::ArrayRef<Place> places,
                   llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);
  /// body(offsets) for each index of the space's first `dimensions`; they are `starts` at index 0.
  void forIndices(const IterationSpace &space, size_t dimensions,
                  llvm::ArrayRef<mlir::Value> starts,
                  llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);
  void copy(const Place &from, const Place &to, bool adds = false);
  void fill(const Place &to, double value);
  /// The same memory for one row, whose number is a value of the kernel.
  Place rowOf(const Place &place, mlir::Value row);

private:
  struct Product;
  void plan(mlir::Block &block, llvm::ArrayRef<std::optional<Target>> targets);
  bool mayReplace(mlir::Value value, mlir::BlockArgument argument);
  void planParts(mlir::Operation &concat);
  Place homeOf(mlir::Value value);
  /// `value` with dimension 0 for the rows, repeated to `shape` behind it.
  Place repeated(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  Place reshaped(const Place &from, llvm::ArrayRef<int64_t> shape);

  void emitOp(mlir::Operation &op);
  void emitFused(FusedOp op);
  void emitReduce(ReduceOp op);
  void emitLinear(LinearOp op);
  void emitMatmul(MatmulOp op);
  void emitConcat(ConcatOp op);
  /// c = a·w (+ bias) over the last dimensions: a [rows, ..., k], w [rows, ..., k, n], c [rows,
  /// ..., n].
  void multiply(const Place &a, const Place &w, const Place &c, const Place *bias);
  void multiplyVectors(const Product &product, int64_t width);
  /// c = Σ over the last dimension of a and w (+ bias), which are views 0 to 3 of the space.
  void multiplyElements(const Product &product, const IterationSpace &space,
                        llvm::ArrayRef<mlir::Value> starts);
  void forShared(const IterationSpace &space, size_t dimensions, llvm::ArrayRef<mlir::Value> starts,
                 llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);
  void finish(mlir::Block &block, llvm::ArrayRef<std::optional<Target>> targets);

  mlir::Value at(const Place &place) {
    return place.view.offset ? kernel.add(place.base, kernel.index(place.view.offset)) : place.base;
  }

  KernelFunction &kernel;
  mlir::ImplicitLocOpBuilder &b;
  int64_t rows;
  mlir::Value frame, base;
  int64_t used = 0; // of the frame
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseMap<mlir::Value, Place> homes;                      // where values are computed
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Target>> copies; // where they go as well
  llvm::DenseSet<mlir::Value> needed;
  llvm::SmallVector<std::pair<mlir::Value, Target>> last; // copied at the end
};

} // namespace hybrid::loops
