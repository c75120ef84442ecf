//===- OpenStates.cpp - where all ranks can meet in a program ---------------===//
#include "passes/schedule/OpenStates.h"
#include "dialect/schedule/RankOps.h"

using namespace mlir;

namespace hybrid {

std::vector<bool> statesAreClosed(ProgramOp program, ArrayRef<Operation *> steps) {
  std::vector<bool> closed{true};
  int64_t open = 0;
  for (Operation *step : steps) {
    if (auto exchange = dyn_cast<ExchangeOp>(step))
      switch (exchange.getPattern()) {
      case RankPattern::FromNext:
      case RankPattern::FromPrevious:
        ++open;
        break;
      case RankPattern::ToNext:
      case RankPattern::ToPrevious:
        --open;
        break;
      case RankPattern::All:
      case RankPattern::Place:
        break;
      }
    closed.push_back(open == 0);
  }
  return closed;
}

Operation *meetingPlace(ArrayRef<Operation *> steps, const std::vector<bool> &closed,
                        Operation *step) {
  for (auto [i, candidate] : llvm::enumerate(steps))
    if (closed[i + 1] && !candidate->isBeforeInBlock(step))
      return candidate;
  return step;
}

} // namespace hybrid
