//===- ContinuedOps.cpp - an op that goes on where one before has ended -----===//
#include "passes/ContinuedOps.h"
#include "dialect/HybridOps.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;

namespace hybrid {
namespace {

constexpr StringRef noState = "its state is not one that a chunk can hand to the next";

StringRef obstacleToResuming(Operation *op) {
  auto resumable = dyn_cast<ResumableOp>(op);
  if (!resumable || resumable.getReturnState() || !resumable.getInitialStateMutable().empty())
    return noState;
  return resumable.getSegments() ? "sequences are packed" : "";
}

/// Builds an op with `initial_state` and `return_state` again, with them; null for one whose state
/// is a history that grows.
FailureOr<Operation *> resume(Operation *op, StateOfType stateOfType) {
  auto resumable = cast<ResumableOp>(op);
  resumable.setReturnState(true);
  auto infer = [&](SmallVector<Type> &types) {
    return cast<InferTypeOpInterface>(op).inferReturnTypes(
        op->getContext(), op->getLoc(), op->getOperands(), op->getRawDictionaryAttrs(),
        op->getPropertiesStorage(), op->getRegions(), types);
  };
  SmallVector<Type> first, types;
  if (failed(infer(first)))
    return failure();
  resumable.getInitialStateMutable().assign(stateOfType(first.back()));
  if (failed(infer(types)))
    return failure();
  if (types != first)
    return nullptr;
  OpBuilder builder(op);
  Operation *whole = Operation::create(op->getLoc(), op->getName(), types, op->getOperands(),
                                       op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
                                       BlockRange(), op->getNumRegions());
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), whole->getRegions()))
    to.takeBody(from);
  return builder.insert(whole);
}

} // namespace

StringRef obstacleToStates(Operation *op) {
  auto stateful = dyn_cast<StatefulOp>(op);
  if (!stateful || stateful.getDynamicStateElements() != 0)
    return noState;
  auto carried = dyn_cast<CarriedOp>(op);
  return carried ? carried.getObstacle(0) : obstacleToResuming(op);
}

LogicalResult continueFromStates(Operation *op, int64_t context, StateOfType stateOfType,
                                 SmallVectorImpl<Value> &finalStates,
                                 llvm::function_ref<LogicalResult(const Twine &)> refuse) {
  auto stateful = dyn_cast<StatefulOp>(op);
  if (stateful && !stateful.getFixedStateElements() && !stateful.getDynamicStateElements())
    return success(); // a convolution of one tap: every position alone
  SmallVector<Value> results;
  if (auto carried = dyn_cast<CarriedOp>(op)) {
    if (StringRef obstacle = carried.getObstacle(context); !obstacle.empty())
      return refuse(obstacle);
    OpBuilder builder(op);
    results = carried.buildCarried(builder, context, stateOfType, finalStates);
  } else {
    if (StringRef obstacle = obstacleToResuming(op); !obstacle.empty())
      return refuse(obstacle);
    FailureOr<Operation *> resumed = resume(op, stateOfType);
    if (failed(resumed))
      return failure();
    if (!*resumed)
      return refuse(noState);
    finalStates.push_back((*resumed)->getResults().back());
    results.assign(1, (*resumed)->getResult(0));
  }
  for (auto [old, made] : llvm::zip(op->getResults(), results))
    old.replaceAllUsesWith(made);
  if (!op->use_empty())
    return refuse("its state is read elsewhere");
  op->erase();
  return success();
}

} // namespace hybrid
