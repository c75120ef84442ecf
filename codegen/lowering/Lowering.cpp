//===- Lowering.cpp - finds the lowering of an op ---------------------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {
namespace {

template <typename... Ops> LogicalResult lowerAnyOf(Operation *op, ProgramBuilder &program) {
  LogicalResult result = failure();
  auto tryOp = [&]<typename Op>(Op) {
    auto typed = dyn_cast<Op>(op);
    if (typed)
      result = lower(typed, program);
    return static_cast<bool>(typed);
  };
  return (tryOp(Ops()) || ...) ? result : refuse(op, program);
}

} // namespace

LogicalResult lowerOp(Operation *op, ProgramBuilder &program) {
  return lowerAnyOf<
#define GET_OP_LIST
#include "dialect/HybridOps.cpp.inc"
      >(op, program);
}

LogicalResult refuse(Operation *op, const ProgramBuilder &program, StringRef pass) {
  return op->emitOpError() << "has no " << program.device().name() << " lowering (run " << pass
                           << " first)";
}

} // namespace hybrid
