//===- KernelEmitter.h - kernels that are made, not written ------------------===//
#pragma once
#include "dialect/schedule/LaunchConfiguration.h"
#include "dialect/schedule/Memory.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <string>

namespace hybrid {

/// A generated kernel: symbol, number of work items and how each runs.
struct GeneratedKernel {
  std::string symbol;
  int64_t grid;
  LaunchConfiguration configuration = {};
  int64_t itemElements = 0; // of results that lie densely: elements of each work item, in order
};

/// What a kernel reads: the elements of a view, or what `body` makes of the elements of several (as
/// in schedule.compute). All have one shape.
struct Load {
  llvm::SmallVector<View> operands;
  mlir::Block *body = nullptr;

  llvm::ArrayRef<int64_t> shape() const { return operands.front().shape; }
};

/// The generated kernels of a module, each made once.
struct GeneratedKernels {
  explicit GeneratedKernels(mlir::ModuleOp module) : module(module) {}

  mlir::ModuleOp module;
  llvm::StringMap<std::string> symbols; // by what is equal in equal kernels
};

/// Of each operand the buffer that it is read through: its own, or that of the result which is the
/// very elements, since no memory may be reached by two of a kernel's pointers.
llvm::SmallVector<size_t> readThrough(llvm::ArrayRef<View> operands, llvm::ArrayRef<View> results);

/// Makes the kernels of a device, and adds them to the module.
class KernelEmitter {
public:
  virtual ~KernelEmitter() = default;

  /// result_i[index] = body(operand...[index]) over the iteration shape; operand and result views
  /// have that shape (strides 0 where broadcast). `body` is a block of FusableElementwise ops,
  /// constants and a yield, or null for a copy of the operand. With `byRows` a work item is a row
  /// (all dimensions but the last count rows), otherwise whatever is fastest. A result may be the
  /// very elements of an operand. With `ifFinite` nothing is written unless that operand, one
  /// number, is finite.
  virtual GeneratedKernel elementwise(GeneratedKernels &kernels, mlir::Block *body,
                                      llvm::ArrayRef<View> operands, llvm::ArrayRef<View> results,
                                      bool byRows, std::optional<size_t> ifFinite) const = 0;
  /// Every element of `to` = value.
  virtual GeneratedKernel fill(GeneratedKernels &kernels, const View &to, double value) const = 0;
  /// Sum, mean or maximum of `from` over `axes` into `to` (shape of the kept dimensions).
  virtual GeneratedKernel reduction(GeneratedKernels &kernels, ReduceKind kind, const Load &from,
                                    llvm::ArrayRef<int64_t> axes, const View &to) const = 0;
  /// partial[i, :] = scale · Σ of rows [i*rowsPerItem, ...) of `from` (a matrix); grid = number of
  /// rows of `partial`.
  virtual GeneratedKernel rowSums(GeneratedKernels &kernels, const Load &from, int64_t rowsPerItem,
                                  const View &partial, double scale) const = 0;
  /// The step at every position, or its gradient: a work item is `batch_rows` sequences.
  virtual GeneratedKernel recurrence(GeneratedKernels &kernels, RecurrenceStepOp step) const = 0;
  /// The type of a store (schedule.launch) that computes `body` for each element on its way: the
  /// body's first argument is the element, the others are `operands`.
  virtual std::string store(GeneratedKernels &kernels, mlir::Block *body,
                            llvm::ArrayRef<View> operands, llvm::ArrayRef<View> results) const = 0;
  /// The code of a schedule.function, of its name and body.
  virtual void function(GeneratedKernels &kernels, llvm::StringRef name,
                        mlir::Block *body) const = 0;
};

/// Makes a launch of every step of the module that a kernel is generated for, and code of what
/// kernels call.
void emitKernels(mlir::ModuleOp module, const KernelEmitter &emitter);

} // namespace hybrid
