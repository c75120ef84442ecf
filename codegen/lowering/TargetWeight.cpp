//===- TargetWeight.cpp - the weight of all targets -------------------------===//
#include "codegen/kernels/TargetWeight.h"
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(TargetWeightOp op, ProgramBuilder &program) {
  TargetWeightParams params{};
  View targets = program.dense(op.getTargets()), total = program.defineDense(op.getResult());
  params.rows = targets.elements();
  params.ignoreIndex = static_cast<int64_t>(op.getIgnoreIndex());
  params.hasWeights = !!op.getWeights();
  program.launch<TargetWeight>(total.element, params,
                               {targets, program.optionalUse(op.getWeights()), total});
  return success();
}

} // namespace hybrid
