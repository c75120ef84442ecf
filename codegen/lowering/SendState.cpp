//===- SendState.cpp - a state for the next part of a sequence ---------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(SendStateOp op, ProgramBuilder &program) {
  program.exchange(op.getNeighbour() == Neighbour::Next ? RankPattern::ToNext
                                                        : RankPattern::ToPrevious,
                   static_cast<int64_t>(op.getRanks()), {program.dense(op.getState())});
  return success();
}

template <> LogicalResult lower(ReceiveStateOp op, ProgramBuilder &program) {
  program.exchange(op.getNeighbour() == Neighbour::Next ? RankPattern::FromNext
                                                        : RankPattern::FromPrevious,
                   static_cast<int64_t>(op.getRanks()), {program.defineDense(op.getState())});
  return success();
}

} // namespace hybrid
