//===- CarryState.cpp - a program that takes a sequence in chunks -----------===//
//
// A sequence in chunks is the sequence when each op either works on every position alone or
// continues from a state. Both are checked op by op: every value either runs along the sequence, in
// one known dimension, or is the same for all positions and all chunks.
//
//===----------------------------------------------------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "passes/Passes.h"
#include "passes/StraightLine.h"

namespace hybrid {
#define GEN_PASS_DEF_CARRYSTATE
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

LogicalResult refuse(Operation *op, const Twine &why) {
  return op->emitError() << "a sequence cannot be taken in chunks here: " << why;
}

/// Which dimension of each value runs along the sequence. A value without one is the same at every
/// position.
class SequenceAxes {
public:
  void set(Value value, int64_t axis) { axes[value] = axis; }
  std::optional<int64_t> of(Value value) const {
    auto found = axes.find(value);
    return found == axes.end() ? std::nullopt : std::optional<int64_t>(found->second);
  }
  bool has(Value value) const { return axes.contains(value); }
  /// Finds the dimension of the results of an op that works on each position alone.
  LogicalResult propagate(Operation *op);

private:
  LogicalResult rowwise(RowwiseOp op);

  DenseMap<Value, int64_t> axes;
};

LogicalResult SequenceAxes::rowwise(RowwiseOp op) {
  std::optional<int64_t> axis;
  for (OpOperand &operand : op->getOpOperands())
    if (auto own = of(operand.get())) {
      bool row = op.isRowOperand(operand.getOperandNumber());
      if (!row || *own + 1 == std::ssize(shapeOf(operand.get())) || (axis && axis != own))
        return refuse(op, "positions meet other positions");
      axis = own;
    }
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    if (!op.isRowResult(i))
      return refuse(op, "it sums over positions");
    set(result, *axis);
  }
  return success();
}

LogicalResult SequenceAxes::propagate(Operation *op) {
  auto operandAxes =
      llvm::map_to_vector(op->getOperands(), [&](Value operand) { return of(operand); });
  if (llvm::none_of(operandAxes, [](auto axis) { return axis.has_value(); }))
    return success();
  if (auto positionwise = dyn_cast<SequenceAxisOp>(op)) {
    StringRef why;
    FailureOr<int64_t> axis = positionwise.getSequenceAxis(operandAxes, why);
    if (failed(axis))
      return refuse(op, why);
    for (Value result : op->getResults())
      set(result, *axis);
    return success();
  }
  auto row = dyn_cast<RowwiseOp>(op);
  return row && row.isRowwise() ? rowwise(row) : refuse(op, "positions may meet other positions");
}

struct CarryState : hybrid::impl::CarryStateBase<CarryState> {
  using CarryStateBase::CarryStateBase;

  void runOnOperation() override {
    auto forward = getOperation().lookupSymbol<func::FuncOp>("forward");
    if (!forward || failed(verifyStraightLine(forward)))
      return signalPassFailure();
    if (forward.getNumArguments() != 1 || shapeOf(forward.getArgument(0)).size() != 2 ||
        !elementOf(forward.getArgument(0)).isInteger()) {
      forward.emitError() << "only a model whose one input is tokens [batch, length] can take a "
                             "sequence in chunks";
      return signalPassFailure();
    }
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(forward);
    auto chunk = cast<func::FuncOp>(builder.clone(*forward));
    chunk.setSymName("chunk");
    if (failed(convert(chunk)))
      signalPassFailure();
  }

  LogicalResult convert(func::FuncOp chunk) {
    SequenceAxes axes;
    axes.set(chunk.getArgument(0), 1);
    SmallVector<Value> finalStates;
    for (Operation &op : llvm::make_early_inc_range(chunk.getBody().front().without_terminator())) {
      auto stateful = dyn_cast<StatefulOp>(op);
      if (!stateful || !llvm::any_of(op.getOperands(), [&](Value v) { return axes.has(v); })) {
        if (failed(axes.propagate(&op)))
          return failure();
        continue;
      }
      if (failed(carry(chunk, stateful, axes, finalStates)))
        return failure();
    }
    auto ret = cast<func::ReturnOp>(chunk.getBody().front().getTerminator());
    for (Value result : ret.getOperands())
      if (axes.of(result) != 1)
        return refuse(ret, "an output does not have the shape [batch, length, ...]");
    SmallVector<DictionaryAttr> attributes;
    chunk.getAllResultAttrs(attributes);
    for (size_t i = 0; i < finalStates.size(); ++i)
      attributes.push_back(
          DictionaryAttr::get(&getContext(), NamedAttribute("hybrid.name", nameOf(i))));
    ret.getOperandsMutable().append(finalStates);
    chunk.removeResAttrsAttr();
    chunk.setFunctionType(
        FunctionType::get(&getContext(), chunk.getArgumentTypes(), ret.getOperandTypes()));
    chunk.setAllResultAttrs(attributes);
    return success();
  }

  StringAttr nameOf(size_t state) {
    return StringAttr::get(&getContext(), "state." + std::to_string(state));
  }

  /// Lets an op start from an input of the program, and its final state be an output.
  LogicalResult carry(func::FuncOp chunk, StatefulOp stateful, SequenceAxes &axes,
                      SmallVector<Value> &finalStates) {
    Operation *op = stateful;
    if (stateful.getDynamicStateElements() != 0)
      return refuse(op, "the state of '" + op->getName().getStringRef() +
                            "' grows with the sequence: it needs every position before");
    for (Value operand : op->getOperands())
      if (axes.has(operand) && axes.of(operand) != 1)
        return refuse(op, "the sequence is not its second dimension");
    auto resumable = dyn_cast<ResumableOp>(op);
    if (!resumable || resumable.getReturnState() || !resumable.getInitialStateMutable().empty())
      return refuse(op, "its state is not one that a chunk can hand to the next");
    if (resumable.getSegments())
      return refuse(op, "sequences are packed");

    resumable.setReturnState(true);
    SmallVector<Type> types;
    auto inferred = cast<InferTypeOpInterface>(op);
    if (failed(inferred.inferReturnTypes(&getContext(), op->getLoc(), op->getOperands(),
                                         op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
                                         op->getRegions(), types)))
      return failure();
    unsigned position = chunk.getNumArguments();
    if (failed(chunk.insertArgument(position, types.back(), {}, op->getLoc())))
      return failure();
    chunk.setArgAttr(position, "hybrid.name", nameOf(finalStates.size()));
    resumable.getInitialStateMutable().assign(chunk.getArgument(position));
    OpBuilder builder(op);
    Operation *carried =
        Operation::create(op->getLoc(), op->getName(), types, op->getOperands(),
                          op->getRawDictionaryAttrs(), op->getPropertiesStorage(), BlockRange(), 0);
    builder.insert(carried);
    op->getResult(0).replaceAllUsesWith(carried->getResult(0));
    op->erase();
    axes.set(carried->getResult(0), 1);
    finalStates.push_back(carried->getResults().back());
    return success();
  }
};

} // namespace
