//===- Recurrences.cpp - a step of the model's own, position by position ---------===//
//
// A layer of one position becomes the body of `hybrid.recurrence`. What does not depend on states
// and inputs is computed outside, once; what the step uses of it are the op's invariants.
//
//===----------------------------------------------------------------------===//
#include "dialect/Shapes.h"
#include "dialect/StepRules.h"
#include "frontends/dsl/Builtins.h"

using namespace mlir;

namespace hybrid::dsl {
namespace {

enum Parameter : uint8_t { Step, Inputs, States, Segments, InitialState, ReturnState };

/// Writes the op of a call.
class StepWriter {
public:
  StepWriter(Call &call) : call(call), emit(call.emit) {}

  Value write() {
    if (call.value(Step).kind != Value::Kind::Layer)
      return call.error(Step, "step is " + describe(call.value(Step)) + ", expected a layer");
    readInputs();
    readStates();
    Value segments = call.has(Segments) ? call.integers(Segments) : Value::none();
    Value initial = call.has(InitialState) ? call.tensor(InitialState) : Value::none();
    const bool returns = call.boolean(ReturnState, false);
    if (call.failed || !fits(segments, initial))
      return {};
    Value result = run();
    if (result.isPoison())
      return {};
    Location loc = emit.at(call.place);
    SmallVector<mlir::Value> operands;
    for (const Value &input : inputs)
      operands.push_back(input.tensor);
    SmallVector<Type> types{emit.type(sequence(result.shape))};
    if (returns)
      types.push_back(emit.type({inputs[0].shape[0], Dim(elements)}));
    auto op = RecurrenceOp::create(emit.builder, loc, types, operands, invariants, segments.tensor,
                                   initial.tensor, returns);
    op.getBody().push_back(body.release());
    Value y = Emitter::result(op.getResult(), sequence(result.shape), call.place);
    if (!returns)
      return y;
    return Value::of(std::vector<Value>{
        y, Emitter::result(op.getFinalState(), {inputs[0].shape[0], Dim(elements)}, call.place)});
  }

private:
  /// A shape behind batch and length.
  Shape sequence(const Shape &position) const {
    Shape shape(inputs[0].shape.begin(), inputs[0].shape.begin() + 2);
    shape.insert(shape.end(), position.begin(), position.end());
    return shape;
  }

  void readInputs() {
    const Value &given = call.value(Inputs);
    inputs = given.kind == Value::Kind::List ? *given.list : std::vector<Value>{given};
    if (inputs.empty())
      call.error(Inputs, "inputs is an empty list, expected a tensor or several");
    for (const Value &input : inputs) {
      const bool isSequence = input.isTensor() && !input.holdsIntegers && input.shape.size() >= 2;
      if (!isSequence)
        return void(input.isPoison() ? call.failed = true
                                     : (call.error(Inputs, "an input is " + describe(input) +
                                                               ", expected numbers [batch, "
                                                               "length, ...]"),
                                        true));
      if (!std::equal(input.shape.begin(), input.shape.begin() + 2, inputs[0].shape.begin()))
        return void(call.error(Inputs, "an input is " + text(input) + ", but the first is " +
                                           text(inputs[0]) +
                                           ": expected equal batches and lengths"));
    }
  }

  /// A list of shapes; one shape is one state.
  void readStates() {
    const Value &given = call.value(States);
    auto isShape = [](const Value &value) {
      return value.kind == Value::Kind::List &&
             llvm::all_of(*value.list, [](const Value &size) { return size.isInteger(); });
    };
    const bool isOne = isShape(given) && !given.list->empty();
    if (given.kind != Value::Kind::List || (!isOne && !llvm::all_of(*given.list, isShape)))
      return void(call.error(States, "states is " + describe(given) +
                                         ", expected a list of shapes, such as [[D], [D]]"));
    for (const Value &shape : isOne ? std::vector<Value>{given} : *given.list) {
      Shape &sizes = states.emplace_back();
      int64_t count = 1;
      for (const Value &size : *shape.list) {
        sizes.push_back(size.integer);
        if (size.isFree() || size.integer.size < 1)
          return void(call.error(States, "a state has the shape " + text(sizes) +
                                             ", expected known sizes above 0"));
        count *= size.integer.size;
      }
      if (!emit.check(sizes, call.places[States]))
        return void(call.failed = true);
      elements += count;
    }
  }

  bool fits(const Value &segments, const Value &initial) {
    const Shape rows{inputs[0].shape[0], inputs[0].shape[1]}, all{rows[0], Dim(elements)};
    if (segments.isTensor() && segments.shape != rows)
      call.error(Segments, "segments is " + text(segments) + ", expected " + text(rows));
    if (initial.isTensor() && initial.shape != all)
      call.error(InitialState, "initial_state is " + text(initial) + ", expected " + text(all) +
                                   ": all states of a sequence, one behind the other");
    return !call.failed;
  }

  /// The step on its states and inputs; its last result.
  Value run() {
    OpBuilder::InsertionGuard guard(emit.builder);
    Location loc = emit.at(call.place);
    body = std::make_unique<Block>();
    LayerValue step = *call.value(Step).layer;
    std::vector<std::string> names;
    if (step.definition) {
      for (const ParameterSyntax &parameter : step.definition->parameters)
        names.push_back(parameter.name);
    } else {
      names = parameterNames(*step.builtin);
    }
    llvm::erase_if(names, [&](const std::string &name) {
      return llvm::any_of(step.bound, [&](const auto &given) { return given.name == name; });
    });
    std::vector<std::pair<Shape, size_t>> arguments;
    for (const Shape &state : states)
      arguments.emplace_back(state, States);
    for (const Value &input : inputs)
      arguments.emplace_back(Shape(input.shape.begin() + 2, input.shape.end()), Inputs);
    if (names.size() < arguments.size())
      return call.error(Step, "'" + step.name() + "' takes " + llvm::Twine(names.size()) +
                                  " more values, expected " + llvm::Twine(states.size()) +
                                  " states and " + llvm::Twine(inputs.size()) + " inputs first");
    for (auto [i, argument] : llvm::enumerate(arguments)) {
      const auto &[shape, from] = argument;
      Place origin = from == Inputs ? inputs[i - states.size()].origin : call.places[States];
      step.bound.push_back(
          {names[i], call.places[from],
           Emitter::result(body->addArgument(emit.type(shape), loc), shape, origin)});
    }
    Value results;
    {
      OpBuilder::InsertionGuard inside(emit.builder);
      emit.builder.setInsertionPointToEnd(body.get());
      results = emit.runBound(step, "step", call.place);
      if (results.isPoison() || !yield(results, loc))
        return {};
    }
    hoistInvariant(*body, emit.builder);
    return isolate() && isComputable() ? results.list->back() : Value();
  }

  /// The new states, and the result.
  bool yield(const Value &results, Location loc) {
    if (results.kind != Value::Kind::List || results.list->size() != states.size() + 1) {
      call.error(Step, "the step gives " + describe(results) + ", expected a list of its " +
                           llvm::Twine(states.size()) + " states and the result of a position");
      return false;
    }
    SmallVector<mlir::Value> yielded;
    for (auto [i, value] : llvm::enumerate(*results.list)) {
      const bool isNumbers = value.isTensor() && !value.holdsIntegers;
      if (!isNumbers || (i < states.size() && value.shape != states[i])) {
        if (!value.isPoison())
          call.error(Step, i < states.size() ? "state " + llvm::Twine(i) + " becomes " +
                                                   describe(value) + ", expected " + text(states[i])
                                             : "the result of a position is " + describe(value) +
                                                   ", expected a tensor of numbers");
        return false;
      }
      yielded.push_back(value.tensor);
    }
    YieldOp::create(emit.builder, loc, yielded);
    return true;
  }

  /// What is used of outside becomes the body's own: constants are repeated, tensors invariants.
  bool isolate() {
    llvm::DenseMap<mlir::Value, mlir::Value> own;
    for (Operation &inner : llvm::make_early_inc_range(*body))
      for (OpOperand &operand : inner.getOpOperands()) {
        mlir::Value value = operand.get();
        if (value.getParentBlock() == body.get())
          continue;
        auto [entry, inserted] = own.try_emplace(value);
        if (inserted) {
          auto type = cast<RankedTensorType>(value.getType());
          if (!isa<FloatType>(type.getElementType()) || !type.hasStaticShape()) {
            call.error(Step, "the step uses a tensor " + shapeText(type.getShape()) +
                                 " of outside, expected numbers of known sizes: what differs "
                                 "from position to position is one of inputs");
            return false;
          }
          if (auto constant = value.getDefiningOp<ConstantOp>()) {
            OpBuilder::InsertionGuard guard(emit.builder);
            emit.builder.setInsertionPointToStart(body.get());
            entry->second = emit.builder.clone(*constant)->getResult(0);
          } else {
            entry->second = body->addArgument(type, value.getLoc());
            invariants.push_back(value);
          }
        }
        operand.set(entry->second);
      }
    return true;
  }

  bool isComputable() {
    Operation *foreign = findForeignOp(*body);
    if (foreign)
      call.error(Step, "the step uses " + foreign->getName().stripDialect() +
                           ", which is none of what a position is computed with: functions of "
                           "elements, linear, matmul, sums, and what moves elements");
    return !foreign;
  }

  Call &call;
  Emitter &emit;
  std::unique_ptr<Block> body;
  std::vector<Value> inputs;
  std::vector<Shape> states;
  int64_t elements = 0; // of all states
  SmallVector<mlir::Value> invariants;
};

Value runRecurrence(Call &call) { return StepWriter(call).write(); }

} // namespace

llvm::ArrayRef<Builtin> recurrenceBuiltins() {
  static const Builtin builtins[] = {
      {"recurrence", "step, inputs, states, segments?, initial_state?, return_state?",
       runRecurrence}};
  return builtins;
}

} // namespace hybrid::dsl
