//===- CarryState.cpp - a program that takes a sequence in chunks -----------===//
//
// A sequence in chunks is the sequence when each op either works on every position alone or
// continues from a state. Both are asked op by op (SequenceAxes.h): every value either runs along
// the sequence, in one known dimension, or is the same for all positions and all chunks.
//
//===----------------------------------------------------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "passes/Passes.h"
#include "passes/SequenceAxes.h"
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
    axes.setInput(chunk.getArgument(0), 1);
    SmallVector<Value> finalStates;
    for (Operation &op : llvm::make_early_inc_range(chunk.getBody().front().without_terminator())) {
      SequenceAxes::Step step = axes.follow(&op);
      auto stateful = dyn_cast<StatefulOp>(op);
      if (stateful && (axes.of(op.getResult(0)).ofInput() || countsPositions(&op, chunk, axes))) {
        if (failed(carry(chunk, stateful, step, axes, finalStates)))
          return failure();
      } else if (!step.chunked.empty()) {
        return refuse(&op, step.chunked);
      }
    }
    auto ret = cast<func::ReturnOp>(chunk.getBody().front().getTerminator());
    for (Value result : ret.getOperands())
      if (!axes.of(result).along(1))
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

  /// Whether an op with state runs along the chunk over what is the same at every position, as a
  /// count of positions does.
  static bool countsPositions(Operation *op, func::FuncOp chunk, SequenceAxes &axes) {
    const int64_t length = shapeOf(chunk.getArgument(0))[1];
    bool along = false;
    for (OpOperand &operand : op->getOpOperands())
      if (shapeOf(operand.get()).size() > 1 &&
          sequenceUseOf(op, operand.getOperandNumber(), 1, 0).kind == SequenceUse::Kind::Past) {
        along = shapeOf(operand.get())[1] == length;
        if (!along || axes.of(operand.get()).varies[1])
          return false;
      }
    return along;
  }

  /// Lets an op start from inputs of the program, and its final states be outputs.
  LogicalResult carry(func::FuncOp chunk, StatefulOp stateful, const SequenceAxes::Step &step,
                      SequenceAxes &axes, SmallVector<Value> &finalStates) {
    Operation *op = stateful;
    if (stateful.getDynamicStateElements() != 0)
      return refuse(op, "the state of '" + op->getName().getStringRef() +
                            "' grows with the sequence: it needs every position before");
    if (!step.chunked.empty())
      return refuse(op, step.chunked);
    auto stateOfType = [&](Type type) -> Value {
      unsigned position = chunk.getNumArguments();
      if (failed(chunk.insertArgument(position, type, {}, op->getLoc())))
        return nullptr;
      chunk.setArgAttr(position, "hybrid.name", nameOf(position - 1));
      return chunk.getArgument(position);
    };
    FailureOr<Value> carried = failure();
    if (auto own = dyn_cast<CarriedOp>(op)) {
      if (StringRef obstacle = own.getObstacle(); !obstacle.empty())
        return refuse(op, obstacle);
      OpBuilder builder(op);
      carried = own.buildCarried(builder, stateOfType, finalStates);
    } else {
      carried = resume(op, stateOfType, finalStates);
    }
    if (failed(carried))
      return failure();
    op->getResult(0).replaceAllUsesWith(*carried);
    op->erase();
    axes.setInput(*carried, 1);
    return success();
  }

  /// Builds an op with `initial_state` and `return_state` again, with them.
  FailureOr<Value> resume(Operation *op, llvm::function_ref<Value(Type)> stateOfType,
                          SmallVectorImpl<Value> &finalStates) {
    constexpr const char *noState = "its state is not one that a chunk can hand to the next";
    auto resumable = dyn_cast<ResumableOp>(op);
    if (!resumable || resumable.getReturnState() || !resumable.getInitialStateMutable().empty())
      return refuse(op, noState);
    if (resumable.getSegments())
      return refuse(op, "sequences are packed");
    resumable.setReturnState(true);
    auto infer = [&](SmallVector<Type> &types) {
      return cast<InferTypeOpInterface>(op).inferReturnTypes(
          &getContext(), op->getLoc(), op->getOperands(), op->getRawDictionaryAttrs(),
          op->getPropertiesStorage(), op->getRegions(), types);
    };
    SmallVector<Type> first, types;
    if (failed(infer(first)))
      return failure();
    resumable.getInitialStateMutable().assign(stateOfType(first.back()));
    if (failed(infer(types)))
      return failure();
    if (types != first) // a history that grows
      return refuse(op, noState);
    OpBuilder builder(op);
    Operation *whole =
        Operation::create(op->getLoc(), op->getName(), types, op->getOperands(),
                          op->getRawDictionaryAttrs(), op->getPropertiesStorage(), BlockRange(), 0);
    builder.insert(whole);
    finalStates.push_back(whole->getResults().back());
    return whole->getResult(0);
  }
};

} // namespace
