//===- AllToAll.cpp - parts of a sequence for parts of its heads -------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(AllToAllOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX());
  program.exchange(RankPattern::All, x.shape.front(), {x, program.defineDense(op.getResult())});
  return success();
}

} // namespace hybrid
