//===- Program.cpp - what programs are made of ------------------------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

// What lowerings make is not lowered again.
template <> LogicalResult lower(ProgramOp op, ProgramBuilder &program) {
  return refuse(op, program);
}
template <> LogicalResult lower(TileLoopOp op, ProgramBuilder &program) {
  return refuse(op, program);
}
template <> LogicalResult lower(LaunchOp op, ProgramBuilder &program) {
  return refuse(op, program);
}
template <> LogicalResult lower(KernelSourceOp op, ProgramBuilder &program) {
  return refuse(op, program);
}
template <> LogicalResult lower(LibraryMatmulOp op, ProgramBuilder &program) {
  return refuse(op, program);
}
template <> LogicalResult lower(LibraryAttentionOp op, ProgramBuilder &program) {
  return refuse(op, program);
}

} // namespace hybrid
