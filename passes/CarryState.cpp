//===- CarryState.cpp - programs that take a sequence in parts --------------===//
//
// A sequence in parts is the sequence when each op either works on every position alone or
// continues from a state. Both are asked op by op (SequenceAxes.h): every value either runs along
// the sequence, in one known dimension, or is the same for all positions and all parts.
//
// Two kinds of programs are made so. `chunk` gets states as inputs and gives them as results: who
// runs it decides where they are. `prefill` and `step` decode: their states stay where parameters
// lie, they are for other lengths than the whole (NarrowSequence.h), and what grows with the
// sequence is kept up to that length.
//
//===----------------------------------------------------------------------===//
#include "dialect/CarriedState.h"
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "passes/ContinuedOps.h"
#include "passes/NarrowSequence.h"
#include "passes/Passes.h"
#include "passes/SequenceAxes.h"
#include "passes/StateNames.h"
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

/// A part of a sequence, made of a copy of the whole.
class Part {
public:
  /// `context`: 0 for a `chunk` as long as the whole, else how many positions decoding keeps.
  Part(func::FuncOp function, int64_t length, int64_t context)
      : function(function), context(context), narrowing(function, length) {}

  LogicalResult convert() {
    if (failed(plan()) || failed(narrowing.apply()))
      return failure();
    for (Operation *op : carried)
      if (failed(carry(op)))
        return failure();
    return context ? assignStates() : returnStates();
  }

private:
  LogicalResult plan();
  LogicalResult carry(Operation *op);
  Value stateOfType(Type type, Location loc);
  LogicalResult returnStates();
  LogicalResult assignStates();
  StringAttr nameOf(size_t state) {
    return StringAttr::get(function->getContext(), "state." + std::to_string(state));
  }

  func::FuncOp function;
  const int64_t context;
  SequenceNarrowing narrowing;
  SmallVector<Operation *> carried;
  size_t states = 0; // given so far
  SmallVector<Value> finalStates;
};

LogicalResult Part::plan() {
  SequenceAxes axes;
  axes.setInput(function.getArgument(0), 1);
  const int64_t length = shapeOf(function.getArgument(0))[1];
  for (Operation &op : function.getBody().front().without_terminator()) {
    SequenceAxes::Step step = axes.follow(&op);
    auto stateful = dyn_cast<StatefulOp>(op);
    const bool goesOn =
        stateful && (axes.of(op.getResult(0)).ofInput() || axes.countsPositions(&op, length));
    if (goesOn && !context && stateful.getDynamicStateElements() != 0)
      return refuse(&op, "the state of '" + op.getName().getStringRef() +
                             "' grows with the sequence: it needs every position before");
    if (!step.chunked.empty())
      return refuse(&op, step.chunked);
    if (!step.numbered.empty() && !context)
      return refuse(&op, step.numbered);
    if (goesOn) {
      carried.push_back(&op);
      axes.setInput(op.getResult(0), 1);
      for (Value other : op.getResults().drop_front())
        if (!axes.of(other).axes.empty())
          axes.setInput(other, axes.of(other).axes.front().dimension);
    }
    narrowing.plan(&op, axes);
  }
  Operation *end = function.getBody().front().getTerminator();
  for (Value result : end->getOperands())
    if (!axes.of(result).along(1))
      return refuse(end, "an output does not have the shape [batch, length, ...]");
  return success();
}

/// Lets an op start from states, and notes those that it ends in.
LogicalResult Part::carry(Operation *op) {
  return continueFromStates(
      op, context, [&](Type type) { return stateOfType(type, op->getLoc()); }, finalStates,
      [&](const Twine &why) { return refuse(op, why); });
}

Value Part::stateOfType(Type type, Location loc) {
  const size_t number = states++;
  if (context) {
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    return readState(builder, loc, carriedState(number), type);
  }
  const unsigned place = function.getNumArguments();
  if (failed(function.insertArgument(place, type, {}, loc)))
    return nullptr;
  function.setArgAttr(place, "hybrid.name", nameOf(number));
  return function.getArgument(place);
}

/// The final states are results behind the others.
LogicalResult Part::returnStates() {
  auto ret = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  SmallVector<DictionaryAttr> attributes;
  function.getAllResultAttrs(attributes);
  for (size_t i = 0; i < finalStates.size(); ++i)
    attributes.push_back(
        DictionaryAttr::get(function.getContext(), NamedAttribute("hybrid.name", nameOf(i))));
  ret.getOperandsMutable().append(finalStates);
  function.removeResAttrsAttr();
  function.setFunctionType(
      FunctionType::get(function.getContext(), function.getArgumentTypes(), ret.getOperandTypes()));
  function.setAllResultAttrs(attributes);
  return success();
}

/// The final states take the place of the first; of a ring, the new rows their places in it.
LogicalResult Part::assignStates() {
  Operation *ret = function.getBody().front().getTerminator();
  OpBuilder builder(ret);
  llvm::StringMap<StringAttr> rings;
  for (auto read : function.getOps<ParameterOp>())
    if (StringAttr count = countOfRing(read))
      rings[read.getName()] = count;
  for (auto [i, state] : llvm::enumerate(finalStates)) {
    const std::string name = carriedState(i);
    AssignOp write = writeState(builder, ret->getLoc(), name, state);
    if (auto ring = rings.find(name); ring != rings.end())
      write->setAttr(ringAttribute, ring->second);
  }
  function.setFunctionType(FunctionType::get(function.getContext(),
                                             function.getBody().front().getArgumentTypes(),
                                             ret->getOperandTypes()));
  return success();
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
    const int64_t length = shapeOf(forward.getArgument(0))[1];
    OpBuilder builder(&getContext());
    auto add = [&](StringRef name, int64_t part, int64_t context) {
      builder.setInsertionPointToEnd(getOperation().getBody());
      auto made = cast<func::FuncOp>(builder.clone(*forward));
      made.setSymName(name);
      return Part(made, part, context).convert();
    };
    if (!decode) {
      if (failed(add("chunk", length, 0)))
        signalPassFailure();
      return;
    }
    if (length < 2) {
      forward.emitError() << "decoding needs a length of at least 2, the positions that it keeps";
      return signalPassFailure();
    }
    // Each a quarter of the one before, so that few runs take any number of tokens.
    const int64_t longest = std::min<int64_t>(length, prefill);
    for (int64_t part = longest; part == longest || part > 1; part /= 4) {
      const std::string name = part == longest ? "prefill" : "prefill." + std::to_string(part);
      if (failed(add(name, part, length)))
        return signalPassFailure();
    }
    if (failed(add("step", 1, length)))
      signalPassFailure();
  }
};

} // namespace
