//===- FuseStores.cpp - a kernel's result on its way to memory --------------===//
#include "dialect/schedule/Memory.h"
#include "executable/Limits.h"
#include "passes/schedule/Identity.h"
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
  // A copy, as of a part of a concatenation, is a region that computes nothing.
  if (auto copy = dyn_cast_if_present<CopyOp>(first);
      copy && readers == 1 && sameElements(viewOf(copy.getFrom()), result) &&
      !touchedBetween(launch, copy, viewOf(copy.getTo())))
    first = makeCompute(copy);
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

/// What the region of a launch's store reads and writes beside the result, and whether it yields
/// that as well, as its last.
struct Stored {
  unsigned reads = 0, writes = 0;
  bool keepsResult = true;
};

Stored storedBy(LaunchOp launch) {
  if (launch.getStoring().empty())
    return {};
  Block &body = launch.getStoring().front();
  OperandRange yielded = body.getTerminator()->getOperands();
  const bool keeps = !yielded.empty() && yielded.back() == body.getArgument(0);
  return {body.getNumArguments() - 1, static_cast<unsigned>(yielded.size()) - keeps, keeps};
}

/// Puts the region behind what the store computes already: the result's element is its first
/// argument, and what it yields last if others read it. arguments: by input of the region, the one
/// that stands for it already; none: a new one.
void moveBody(Region &from, Region &to, const Follower &follower,
              ArrayRef<std::optional<unsigned>> arguments) {
  if (to.empty()) {
    Block &body = to.emplaceBlock();
    BlockArgument seen = from.front().getArgument(follower.seen);
    Value element = body.addArgument(seen.getType(), seen.getLoc());
    OpBuilder builder = OpBuilder::atBlockEnd(&body);
    YieldElementsOp::create(builder, seen.getLoc(), element);
  }
  Block &body = to.front(), &region = from.front();
  for (auto [argument, place] : llvm::zip_equal(region.getArguments(), arguments))
    argument.replaceAllUsesWith(place ? body.getArgument(*place)
                                      : body.addArgument(argument.getType(), argument.getLoc()));
  Operation *yield = body.getTerminator(), *yielded = region.getTerminator();
  const unsigned element = yield->getNumOperands() - 1;
  yield->insertOperands(element, yielded->getOperands());
  if (!follower.kept)
    yield->eraseOperand(yield->getNumOperands() - 1);
  yielded->erase();
  body.getOperations().splice(yield->getIterator(), region.getOperations());
}

/// The first region that reads the result, in the store: the next time, the next one.
bool fuse(LaunchOp launch) {
  const Stored stored = storedBy(launch);
  if (launch.getStoreBuffers() != stored.reads + stored.writes + 1 || !stored.keepsResult)
    return false;
  View result = viewOf(launch.getViews().back());
  std::optional<Follower> follower = followerOf(launch, result);
  if (!follower)
    return false;
  ComputeOp compute = follower->compute;
  Block &region = compute.getBody().front();
  Block *before = launch.getStoring().empty() ? nullptr : &launch.getStoring().front();
  // Both see the result by the same dimensions.
  if (before && before->getArgument(0).getType() != region.getArgument(follower->seen).getType())
    return false;
  if (readsCotangent(compute) && runsBeforeCotangents(launch))
    return false;
  const size_t own = launch.getViews().size() - launch.getStoreBuffers();
  SmallVector<View> reads, writes; // by rows of the result
  for (Value memory : launch.getViews().slice(own, stored.reads))
    reads.push_back(viewOf(memory));
  auto add = [&](Value memory, bool written) {
    View view = viewOf(memory);
    std::optional<View> byRows = view.reshaped(result.shape);
    // What is read must be there by then, and nobody else may be at what is written.
    if (!byRows || touchedBetween(launch, compute, view, /*writesOnly=*/!written))
      return false;
    (written ? writes : reads).push_back(*byRows);
    return true;
  };
  SmallVector<std::optional<unsigned>> arguments;
  for (auto [i, input] : llvm::enumerate(compute.getInputs())) {
    arguments.push_back(i == follower->seen ? std::optional(0u) : std::nullopt);
    if (i == follower->seen)
      continue;
    if (!add(input, false))
      return false;
    for (unsigned k = 0; k < stored.reads; ++k)
      if (sameElements(reads[k], reads.back()) &&
          before->getArgument(k + 1).getType() == region.getArgument(i).getType())
        arguments.back() = k + 1;
    if (arguments.back())
      reads.pop_back();
  }
  for (Value output : compute.getOutputs())
    if (!add(output, true))
      return false;
  if (follower->kept)
    writes.push_back(result);
  if (own + reads.size() + stored.writes + writes.size() > mostBlockBuffers)
    return false;
  // What the kernel computes is an activation still, where it is kept.
  SmallVector<int64_t> activations(launch.getActivations()), roundable(launch.getRoundable());
  const auto resultIndex = static_cast<int64_t>(launch.getViews().size()) - 1;
  const bool wasActivation = llvm::is_contained(activations, resultIndex);
  llvm::erase(activations, resultIndex);
  llvm::erase(roundable, resultIndex);

  // The kernel's own, what the store reads, what it writes, the result.
  OpBuilder builder(launch);
  SmallVector<Value> operands(launch.getViews().drop_back());
  SmallVector<Value> written(ArrayRef(operands).take_back(stored.writes));
  operands.truncate(own + stored.reads);
  for (const View &view : ArrayRef(reads).drop_front(stored.reads))
    operands.push_back(materialize(view, builder));
  const size_t firstWritten = operands.size();
  llvm::append_range(operands, written);
  for (const View &view : writes)
    operands.push_back(materialize(view, builder));
  SmallVector<int64_t> numbers;
  for (int64_t index : launch.getWrites())
    if (index < static_cast<int64_t>(own))
      numbers.push_back(index);
  for (size_t index = firstWritten; index < operands.size(); ++index)
    numbers.push_back(static_cast<int64_t>(index));
  if (wasActivation && follower->kept)
    activations.push_back(static_cast<int64_t>(operands.size()) - 1);
  launch.setStoreBuffers(operands.size() - own);
  launch.getViewsMutable().assign(operands);
  launch.setWrites(numbers);
  launch.setActivations(activations);
  launch.setRoundable(roundable);
  launch.setStore("");
  launch.setSource((launch.getSource() + " + " + compute.getSource()).str());
  moveBody(compute.getBody(), launch.getStoring(), *follower, arguments);
  compute.erase();
  return true;
}

struct FuseStores : impl::FuseStoresBase<FuseStores> {
  using FuseStoresBase::FuseStoresBase;
  void runOnOperation() override {
    for (auto launch : getOperation().getOps<LaunchOp>())
      while (fuse(launch))
        ++numFused;
    eraseUnused(getOperation());
  }
};

} // namespace
} // namespace hybrid
