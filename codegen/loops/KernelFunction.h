//===- KernelFunction.h - a generated kernel under construction -------------===//
//
// Kernels that are made as loops: functions
//   @name(%lo: index, %hi: index, %buffer...: memref<?xT>)
// of scf, memref, arith and math over work items. LLVM compiles them for the CPU; for CUDA they are
// printed (codegen/cuda/LoopText.h), and the threads of a block share the loops that are parallel.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/program/KernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/raw_ostream.h"

namespace hybrid::loops {

/// Who runs a work item: one thread, or a block that divides its scf.parallel loops and waits at
/// the end of each.
enum class Workers { Thread, Block };

/// A kernel function under construction.
class KernelFunction {
public:
  KernelFunction(GeneratedKernels &kernels, llvm::ArrayRef<View> buffers,
                 Workers workers = Workers::Thread)
      : kernels(kernels), workers(workers),
        builder(mlir::UnknownLoc::get(kernels.module.getContext()), kernels.module.getContext()) {
    function = mlir::func::FuncOp::create(builder, "kernel", builder.getFunctionType({}, {}));
    llvm::SmallVector<mlir::Type> types{builder.getIndexType(), builder.getIndexType()};
    for (const View &buffer : buffers)
      types.push_back(mlir::MemRefType::get({mlir::ShapedType::kDynamic}, buffer.element));
    function.setFunctionType(builder.getFunctionType(types, {}));
    mlir::Block *body = function.addEntryBlock();
    for (size_t i = 0; i < buffers.size(); ++i)
      function.setArgAttr(i + 2, mlir::LLVM::LLVMDialect::getNoAliasAttrName(),
                          builder.getUnitAttr());
    function.setPrivate();
    builder.setInsertionPointToStart(body);
  }

  mlir::Value index(int64_t value) { return mlir::arith::ConstantIndexOp::create(builder, value); }
  mlir::Value argument(size_t buffer) { return function.getArgument(buffer + 2); }
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return mlir::arith::AddIOp::create(builder, a, b);
  }
  mlir::Value scaled(mlir::Value a, int64_t factor) {
    return factor == 1 ? a : mlir::arith::MulIOp::create(builder, a, index(factor)).getResult();
  }

  mlir::Value load(size_t buffer, mlir::Value at) {
    return mlir::memref::LoadOp::create(builder, argument(buffer), at);
  }
  void store(mlir::Value value, size_t buffer, mlir::Value at) {
    mlir::memref::StoreOp::create(builder, value, argument(buffer), at);
  }

  /// for i in [lo, hi): body(i)
  void forEach(mlir::Value lo, mlir::Value hi, llvm::function_ref<void(mlir::Value)> body) {
    auto loop = mlir::scf::ForOp::create(builder, lo, hi, index(1));
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }
  void forGrid(llvm::function_ref<void(mlir::Value)> body) {
    forEach(function.getArgument(0), function.getArgument(1), body);
  }
  void forCount(int64_t count, llvm::function_ref<void(mlir::Value)> body) {
    forEach(index(0), index(count), body);
  }
  /// body(i) for i in [0, count), by all threads of the block at once.
  void forThreads(int64_t count, llvm::function_ref<void(mlir::Value)> body) {
    mlir::scf::ParallelOp::create(
        builder, mlir::ValueRange{index(0)}, mlir::ValueRange{index(count)},
        mlir::ValueRange{index(1)},
        [&](mlir::OpBuilder &inside, mlir::Location, mlir::ValueRange indices) {
          mlir::OpBuilder::InsertionGuard guard(builder);
          builder.restoreInsertionPoint(inside.saveInsertionPoint());
          body(indices.front());
        });
  }
  /// value = body(i, value) for i in [0, count)
  mlir::Value fold(int64_t count, mlir::Value start,
                   llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> body) {
    auto loop = mlir::scf::ForOp::create(builder, index(0), index(count), index(1),
                                         mlir::ValueRange{start});
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    mlir::Value next = body(loop.getInductionVar(), loop.getRegionIterArg(0));
    mlir::scf::YieldOp::create(builder, next);
    return loop.getResult(0);
  }

  /// Offsets of all views at the flat index `row` over `shape` (the outer dimensions).
  llvm::SmallVector<mlir::Value> offsetsAt(mlir::Value row, llvm::ArrayRef<int64_t> shape,
                                           llvm::ArrayRef<llvm::SmallVector<int64_t>> strides) {
    llvm::SmallVector<mlir::Value> indices(shape.size());
    for (size_t i = shape.size(); i-- > 0;) {
      indices[i] =
          i == 0 ? row : mlir::arith::RemUIOp::create(builder, row, index(shape[i])).getResult();
      if (i)
        row = mlir::arith::DivUIOp::create(builder, row, index(shape[i]));
    }
    llvm::SmallVector<mlir::Value> offsets;
    for (const auto &viewStrides : strides) {
      mlir::Value offset = index(0);
      for (size_t i = 0; i < shape.size(); ++i)
        if (viewStrides[i])
          offset = add(offset, scaled(indices[i], viewStrides[i]));
      offsets.push_back(offset);
    }
    return offsets;
  }

  /// Ends the function, which is in no module.
  mlir::func::FuncOp close() {
    mlir::func::ReturnOp::create(builder);
    return function;
  }
  /// Ends the function and returns its symbol: an equal kernel made before is used again.
  std::string finish(llvm::StringRef stem) {
    close();
    std::string text;
    llvm::raw_string_ostream stream(text);
    function.print(stream);
    auto [entry, inserted] = kernels.symbols.try_emplace(text);
    if (!inserted) {
      function.erase();
      return entry->second;
    }
    entry->second = (stem + "_" + llvm::Twine(kernels.symbols.size() - 1)).str();
    function.setSymName(entry->second);
    kernels.module.push_back(function);
    return entry->second;
  }

  GeneratedKernels &kernels;
  const Workers workers;
  mlir::ImplicitLocOpBuilder builder;
  mlir::func::FuncOp function;
};

} // namespace hybrid::loops
