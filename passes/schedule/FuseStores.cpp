//===- FuseStores.cpp - a kernel's result on its way to memory --------------===//
#include "dialect/schedule/Memory.h"
#include "passes/schedule/SchedulePasses.h"

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_FUSESTORES
#include "passes/schedule/Passes.h.inc"

namespace {

/// A region that a kernel's result meets first, element for element.
struct Follower {
  ComputeOp compute;
  unsigned seen = 0; // which of its inputs is the result
  bool kept = false; // others read the result, too
};

/// Whether both are steps of one op of the graph.
bool sameOp(Operation *a, LaunchOp b) {
  auto step = dyn_cast<ScheduleStep>(a);
  return step && step.getSource() == b.getSource() && a->getLoc() == b.getLoc();
}

/// The region that reads `result` first, behind the launches of the same op.
std::optional<Follower> followerOf(LaunchOp launch, const View &result) {
  auto buffer = result.buffer.getDefiningOp<BufferOp>();
  if (!buffer)
    return std::nullopt;
  Operation *end = launch->getNextNode();
  while (end && sameOp(end, launch))
    end = end->getNextNode();
  Operation *first = nullptr;
  size_t readers = 0;
  for (const Access &use : usesOf(buffer)) {
    Operation *step = launch->getBlock()->findAncestorOpInBlock(*use.step);
    if (!mayOverlap(use.view, result) || !launch->isBeforeInBlock(step))
      continue;
    ++readers;
    if (end && !step->isBeforeInBlock(end) && (!first || step->isBeforeInBlock(first)))
      first = step;
  }
  Follower follower{dyn_cast_if_present<ComputeOp>(first)};
  if (!follower.compute || follower.compute->hasAttr("schedule.if_finite"))
    return std::nullopt;
  follower.kept = readers > 1 || buffer.getSpace() != Space::Arena;
  for (auto [i, input] : llvm::enumerate(follower.compute.getInputs()))
    if (sameElements(viewOf(input), result)) {
      follower.seen = i;
      return follower;
    }
  return std::nullopt;
}

/// The region as that of a store: the result's element is its first argument.
void moveBody(Region &from, Region &to, const Follower &follower) {
  to.takeBody(from);
  Block &body = to.front();
  BlockArgument old = body.getArgument(follower.seen);
  BlockArgument element = body.insertArgument(0u, old.getType(), old.getLoc());
  body.getArgument(follower.seen + 1).replaceAllUsesWith(element);
  body.eraseArgument(follower.seen + 1);
  if (follower.kept) {
    Operation *yield = body.getTerminator();
    yield->insertOperands(yield->getNumOperands(), element);
  }
}

bool readsCotangent(Operation *step) {
  return llvm::any_of(accessesOf(step), [](const Access &access) {
    auto buffer = access.view.buffer.getDefiningOp<BufferOp>();
    return buffer && buffer.isInput() && buffer.getName()->starts_with("cotangent.");
  });
}

/// Whether the launch runs before any step that reads a cotangent: a gradient's outputs may need it
/// where the program pauses.
bool runsBeforeCotangents(LaunchOp launch) {
  for (Operation *step = launch; step; step = step->getPrevNode())
    if (isa<ScheduleStep, TileLoopOp>(step) && readsCotangent(step))
      return false;
  return true;
}

bool fuse(LaunchOp launch) {
  if (launch.getStoreBuffers() != 1 || !launch.getStoring().empty())
    return false;
  View result = viewOf(launch.getViews().back());
  std::optional<Follower> follower = followerOf(launch, result);
  if (!follower)
    return false;
  ComputeOp compute = follower->compute;
  if (readsCotangent(compute) && runsBeforeCotangents(launch))
    return false;
  SmallVector<View> views; // by rows of the result
  auto add = [&](Value memory, bool written) {
    View view = viewOf(memory);
    std::optional<View> byRows = view.reshaped(result.shape);
    // What is read must be there by then, and nobody else may be at what is written.
    if (!byRows || touchedBetween(launch, compute, view, /*writesOnly=*/!written))
      return false;
    views.push_back(*byRows);
    return true;
  };
  for (auto [i, input] : llvm::enumerate(compute.getInputs()))
    if (i != follower->seen && !add(input, false))
      return false;
  size_t reads = views.size();
  for (Value output : compute.getOutputs())
    if (!add(output, true))
      return false;
  if (follower->kept)
    views.push_back(result);
  // What the kernel computes is an activation still, where it is kept.
  SmallVector<int64_t> activations(launch.getActivations()), roundable(launch.getRoundable());
  const auto resultIndex = static_cast<int64_t>(launch.getViews().size()) - 1;
  const bool wasActivation = llvm::is_contained(activations, resultIndex);
  llvm::erase(activations, resultIndex);
  llvm::erase(roundable, resultIndex);
  if (wasActivation && follower->kept)
    activations.push_back(resultIndex + static_cast<int64_t>(views.size()) - 1);

  OpBuilder builder(launch);
  SmallVector<Value> operands(launch.getViews().drop_back());
  SmallVector<int64_t> writes;
  for (int64_t index : launch.getWrites())
    if (index < static_cast<int64_t>(operands.size()))
      writes.push_back(index);
  for (auto [i, view] : llvm::enumerate(views)) {
    if (i >= reads)
      writes.push_back(static_cast<int64_t>(operands.size()));
    operands.push_back(materialize(view, builder));
  }
  launch.getViewsMutable().assign(operands);
  launch.setWrites(writes);
  launch.setActivations(activations);
  launch.setRoundable(roundable);
  launch.setStore("");
  launch.setStoreBuffers(views.size());
  launch.setSource((launch.getSource() + " + " + compute.getSource()).str());
  moveBody(compute.getBody(), launch.getStoring(), *follower);
  compute.erase();
  return true;
}

struct FuseStores : impl::FuseStoresBase<FuseStores> {
  using FuseStoresBase::FuseStoresBase;
  void runOnOperation() override {
    for (auto launch : getOperation().getOps<LaunchOp>())
      numFused += fuse(launch);
    eraseUnused(getOperation());
  }
};

} // namespace
} // namespace hybrid
