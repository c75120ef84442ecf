//===- Dialects.cpp - the dialects a compilation may meet ---------------------===//
#include "codegen/Dialects.h"
#include "dialect/schedule/ScheduleOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

void hybrid::registerAllDialects(mlir::DialectRegistry &registry) {
  registry
      .insert<HybridDialect, ScheduleDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect,
              mlir::scf::SCFDialect, mlir::memref::MemRefDialect, mlir::math::MathDialect,
              mlir::LLVM::LLVMDialect, mlir::cf::ControlFlowDialect, mlir::vector::VectorDialect>();
}
