//===- SplitSequence.cpp - the part of a sequence that one of several ranks has ===//
//
// Each of N ranks has L / N positions of every sequence. What works on every position alone does
// so on fewer; what differs from position to position without being an input is that of the rank's.
// An op along the sequence goes on where the rank before has ended, from a state that is sent,
// where that has a size of its own (a scan, a halo of a short convolution); else ranks give each
// other positions for heads, and each computes some heads of the whole sequence.
//
//===----------------------------------------------------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "passes/ContinuedOps.h"
#include "passes/NarrowSequence.h"
#include "passes/Passes.h"
#include "passes/RankParts.h"
#include "passes/SequenceAxes.h"
#include "passes/StraightLine.h"

namespace hybrid {
#define GEN_PASS_DEF_SPLITSEQUENCE
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

LogicalResult refuse(Operation *op, const Twine &why) {
  return op->emitError() << "the ranks cannot have parts of a sequence here: " << why;
}

/// The dimension of what an op makes that counts a sequence's positions, where it is of no input:
/// 0, 1, ... up to the length, or that much of a longer table.
std::optional<int64_t> positionsOf(Operation *op, int64_t length, SequenceAxes &axes) {
  if (isa<IotaOp>(op))
    return shapeOf(op->getResult(0))[0] == length ? std::optional<int64_t>(0) : std::nullopt;
  if (!isa<SliceOp>(op) || axes.of(op->getOperand(0)).ofInput())
    return std::nullopt;
  const ArrayRef<int64_t> from = shapeOf(op->getOperand(0)), to = shapeOf(op->getResult(0));
  for (auto [i, size] : llvm::enumerate(to))
    if (size == length && from[i] > length)
      return static_cast<int64_t>(i);
  return std::nullopt;
}

class RankShare {
public:
  /// `filters`: what is computed of positions' numbers alone, as the taps of an implicit filter, is
  /// shared out as well.
  RankShare(func::FuncOp function, int64_t ranks, bool filters)
      : function(function), ranks(ranks), filters(filters),
        narrowing(function, shapeOf(function.getArgument(0))[1] / ranks, ranks) {}

  /// Looks at the function and changes nothing.
  LogicalResult plan();

  LogicalResult apply() {
    if (failed(narrowing.apply()))
      return failure();
    for (Operation *op : continued)
      if (failed(handOn(op)))
        return failure();
    function.setFunctionType(
        FunctionType::get(function.getContext(), function.getBody().front().getArgumentTypes(),
                          function.getBody().front().getTerminator()->getOperandTypes()));
    return success();
  }

private:
  /// The dimension of each operand or result along the sequence; -1: it is the same on all ranks.
  struct Along {
    SmallVector<int64_t> operands, results;
  };

  LogicalResult planOp(Operation *op, const SequenceAxes::Step &step, SequenceAxes &axes,
                       int64_t length);
  LogicalResult handOn(Operation *op);
  LogicalResult takeOwnPart(Operation *op, int64_t dimension);
  LogicalResult computeSomeHeads(Operation *op, const Along &along);

  func::FuncOp function;
  const int64_t ranks;
  const bool filters;
  SequenceNarrowing narrowing;
  SmallVector<Operation *> continued;
};

LogicalResult RankShare::plan() {
  SequenceAxes axes;
  axes.setInput(function.getArgument(0), 1);
  const int64_t length = shapeOf(function.getArgument(0))[1];
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (std::optional<int64_t> dimension = positionsOf(&op, length, axes); dimension && filters) {
      axes.setInput(op.getResult(0), *dimension);
      narrowing.replace(&op, [=, this](Operation *op) { return takeOwnPart(op, *dimension); });
      continue;
    }
    if (SequenceAxes::Step step = axes.follow(&op); failed(planOp(&op, step, axes, length)))
      return failure();
  }
  Operation *end = function.getBody().front().getTerminator();
  for (Value result : end->getOperands())
    if (!axes.of(result).along(1))
      return refuse(end, "an output does not have the shape [batch, length, ...]");
  return success();
}

LogicalResult RankShare::planOp(Operation *op, const SequenceAxes::Step &step, SequenceAxes &axes,
                                int64_t length) {
  auto alongOf = [&](Value value) {
    const Positions &positions = axes.of(value);
    return positions.axes.empty() ? -1 : positions.axes.front().dimension;
  };
  auto goesOn = [&] { // what depends on a position depends on those before: on the sequence, again
    for (Value result : op->getResults())
      if (int64_t dimension = alongOf(result); dimension >= 0)
        axes.setInput(result, dimension);
  };
  const bool ofInput = op->getNumResults() > 0 && axes.of(op->getResult(0)).ofInput();
  const bool hasState = isa<StatefulOp>(op) && (ofInput || axes.countsPositions(op, length));
  const StringRef noState = hasState ? obstacleToStates(op) : "";
  if (hasState && noState.empty()) {
    continued.push_back(op);
    if (alongOf(op->getResult(0)) < 0)
      axes.setInput(op->getResult(0), 1);
    goesOn();
    narrowing.plan(op, axes);
    return success();
  }
  if (auto headwise = dyn_cast<HeadwiseOp>(op); headwise && ofInput) {
    if (StringRef obstacle = headwise.getHeadObstacle(); !obstacle.empty())
      return refuse(op, obstacle);
    if (headwise.getHeadCount() % ranks != 0)
      return refuse(op, Twine(ranks) + " ranks have to share its " +
                            Twine(headwise.getHeadCount()) +
                            " heads (of keys) or channels, expected ranks that divide them");
    Along along;
    for (Value operand : op->getOperands())
      along.operands.push_back(alongOf(operand));
    for (Value result : op->getResults())
      along.results.push_back(alongOf(result));
    if (along.results.front() < 0)
      return refuse(op, step.chunked);
    narrowing.replace(op, [=, this](Operation *op) { return computeSomeHeads(op, along); });
    goesOn();
    return success();
  }
  if (hasState)
    return refuse(op, noState);
  if (!step.chunked.empty())
    return refuse(op, step.chunked);
  narrowing.plan(op, axes);
  return success();
}

LogicalResult RankShare::handOn(Operation *op) {
  SmallVector<Value> finalStates;
  Operation *before = op->getPrevNode(), *next = op->getNextNode();
  OpBuilder first(op); // in front of all that is made of the op
  auto received = [&](Type type) -> Value {
    before ? first.setInsertionPointAfter(before) : first.setInsertionPointToStart(op->getBlock());
    auto state = ReceiveStateOp::create(first, op->getLoc(), type, Neighbour::Previous, ranks);
    before = state;
    return state;
  };
  if (failed(continueFromStates(op, /*context=*/0, received, finalStates,
                                [&](const Twine &why) { return refuse(op, why); })))
    return failure();
  OpBuilder builder(next);
  for (Value state : finalStates)
    SendStateOp::create(builder, state.getLoc(), state, Neighbour::Next, ranks);
  return success();
}

LogicalResult RankShare::takeOwnPart(Operation *op, int64_t dimension) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Value whole = op->getResult(0), part = RankParts{ranks}.own(builder, whole, dimension);
  whole.replaceUsesWithIf(part, [&](OpOperand &use) {
    return !builder.getBlock()
                ->findAncestorOpInBlock(*use.getOwner())
                ->isBeforeInBlock(part.getDefiningOp());
  });
  return success();
}

LogicalResult RankShare::computeSomeHeads(Operation *op, const Along &along) {
  OpBuilder builder(op);
  const RankParts parts{ranks};
  auto headwise = cast<HeadwiseOp>(op);
  SmallVector<Value> operands;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    const int64_t heads = headwise.getHeadDimension(static_cast<unsigned>(i)),
                  positions = along.operands[i];
    if (positions >= 0)
      operands.push_back(heads >= 0 ? parts.swap(builder, operand, positions, heads)
                                    : parts.gather(builder, operand, positions));
    else
      operands.push_back(heads >= 0 ? parts.own(builder, operand, heads) : operand);
  }
  Operation *share = builder.clone(*op);
  share->setOperands(operands);
  cast<HeadwiseOp>(share).takePartOfHeads(ranks);
  SmallVector<Type> types;
  if (failed(cast<InferTypeOpInterface>(share).inferReturnTypes(
          op->getContext(), op->getLoc(), share->getOperands(), share->getAttrDictionary(),
          share->getPropertiesStorage(), share->getRegions(), types)))
    return failure();
  for (auto [i, result, type] : llvm::enumerate(share->getResults(), types)) {
    result.setType(type);
    Value old = op->getResult(static_cast<unsigned>(i));
    if (old.use_empty())
      continue;
    if (along.results[i] < 0)
      return refuse(op, "a result is read that has no positions");
    old.replaceAllUsesWith(parts.swap(builder, result,
                                      headwise.getHeadDimensionOfResult(static_cast<unsigned>(i)),
                                      along.results[i]));
  }
  op->erase();
  return success();
}

struct SplitSequence : hybrid::impl::SplitSequenceBase<SplitSequence> {
  using SplitSequenceBase::SplitSequenceBase;

  void runOnOperation() override {
    auto forward = getOperation().lookupSymbol<func::FuncOp>("forward");
    if (!forward || failed(verifyStraightLine(forward)))
      return signalPassFailure();
    const int64_t count = ranks;
    if (count < 2) {
      forward.emitError() << "a sequence is to be split over " << count
                          << " ranks, expected at least 2";
      return signalPassFailure();
    }
    const SmallVector<int64_t> along = sequenceDimensions(forward);
    if (along.size() != 1 || along.front() != 1) {
      forward.emitError() << "only a model with one input [batch, length, ...] can be split over "
                             "ranks along the sequence";
      return signalPassFailure();
    }
    const int64_t length = shapeOf(forward.getArgument(0))[1];
    if (length % count != 0) {
      forward.emitError() << count << " ranks cannot have equal parts of a length of " << length
                          << ", expected one that they divide";
      return signalPassFailure();
    }
    // Where filters cannot be shared out, as where each tap is divided by a norm of all, every rank
    // computes them whole; what else cannot is told.
    RankShare withFilters(forward, count, /*filters=*/true);
    bool areShared;
    {
      ScopedDiagnosticHandler silent(&getContext(), [](Diagnostic &) { return success(); });
      areShared = succeeded(withFilters.plan());
    }
    RankShare withoutFilters(forward, count, /*filters=*/false);
    RankShare &share = areShared ? withFilters : withoutFilters;
    if ((!areShared && failed(share.plan())) || failed(share.apply()))
      signalPassFailure();
  }
};

} // namespace
