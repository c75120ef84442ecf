//===- StepOrder.cpp - which steps of a program are done before which -------===//
#include "passes/schedule/StepOrder.h"
#include "dialect/schedule/Branches.h"

using namespace mlir;

namespace hybrid {

SmallVector<Operation *> stepsOf(ProgramOp program) {
  SmallVector<Operation *> steps;
  for (Operation &op : program.getBody().front())
    if (isa<ScheduleStep, TileLoopOp>(op))
      steps.push_back(&op);
  return steps;
}

LogicalResult verifyBranches(ArrayRef<Operation *> steps) {
  for (auto [number, step] : llvm::enumerate(steps)) {
    auto branch = step->getAttrOfType<IntegerAttr>(branchAttribute);
    if (branch && (branch.getInt() < 0 || branch.getInt() >= int64_t(mostBranches)))
      return step->emitOpError() << "is on branch " << branch.getInt() << " of " << mostBranches;
    if (auto after = step->getAttrOfType<DenseI64ArrayAttr>(afterAttribute))
      for (int64_t earlier : after.asArrayRef())
        if (earlier < 0 || earlier >= static_cast<int64_t>(number))
          return step->emitOpError()
                 << "is step " << number << " and waits for step " << earlier << ", expected an "
                 << "earlier one";
  }
  return success();
}

StepOrder::StepOrder(ArrayRef<Operation *> steps) {
  for (Operation *step : steps) {
    auto branch = step->getAttrOfType<IntegerAttr>(branchAttribute);
    const auto number = static_cast<unsigned>(branch ? branch.getInt() : 0);
    if (auto after = step->getAttrOfType<DenseI64ArrayAttr>(afterAttribute))
      for (int64_t earlier : after.asArrayRef())
        wait(number, static_cast<size_t>(earlier));
    add(number);
  }
}

void StepOrder::wait(unsigned branch, size_t step) {
  Moment &own = known[branch];
  for (unsigned other = 0; other < mostBranches; ++other)
    own[other] = std::max(own[other], moments[step][other]);
  own[branches[step]] = std::max(own[branches[step]], static_cast<int64_t>(step));
}

void StepOrder::add(unsigned branch) {
  moments.push_back(known[branch]);
  known[branch][branch] = static_cast<int64_t>(branches.size());
  branches.push_back(branch);
}

} // namespace hybrid
