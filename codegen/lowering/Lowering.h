//===- Lowering.h - what an op becomes in a program -------------------------===//
//
// Every op has its lowering in the file of its name, for all devices, as a specialisation of the
// template below; lowerOp() finds it, since the list of ops is generated and so is no list to keep.
// An op without one is an error of the linker, which names it.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/program/ProgramBuilder.h"

namespace hybrid {

/// Lowers the op to launches, library calls and views.
template <typename Op> mlir::LogicalResult lower(Op op, ProgramBuilder &program);

/// For ops that have none because `pass` replaces them before: an error that says so.
mlir::LogicalResult refuse(mlir::Operation *op, const ProgramBuilder &program,
                           llvm::StringRef pass = "hybrid-fuse-elementwise");

/// Rows of a tensor: all dimensions but the last.
inline int64_t rowCount(const View &view) { return view.elements() / view.columns(); }

} // namespace hybrid
