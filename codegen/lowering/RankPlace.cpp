//===- RankPlace.cpp - which part of the sequence this rank has --------------===//
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(RankPlaceOp op, ProgramBuilder &program) {
  program.exchange(RankPattern::Place, static_cast<int64_t>(op.getRanks()),
                   {program.defineDense(op.getResult())});
  return success();
}

} // namespace hybrid
