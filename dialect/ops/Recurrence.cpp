//===- Recurrence.cpp - a step of the model's own, position by position ------===//
//
// The gradient is a step as well, which runs backwards. What it adds up for a weight is the product
// of two rows of every position: those leave the loop, and one matrix product over all positions
// takes the place of the sum.
//
//===----------------------------------------------------------------------===//
#include "dialect/Definitions.h"
#include "dialect/Gradients.h"
#include "dialect/ReverseMode.h"
#include "dialect/SequenceRules.h"
#include "dialect/StepRules.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace hybrid;

//===-- types --------------------------------------------------------------------===//

/// What a step sees of a sequence: [batch, length, ...] -> [...].
static Type positionOf(Value sequence) {
  return tensorOf(shapeOf(sequence).drop_front(std::min<size_t>(2, shapeOf(sequence).size())),
                  elementOf(sequence));
}

static RankedTensorType sequenceOf(Value like, Type position) {
  SmallVector<int64_t> shape(shapeOf(like).take_front(2));
  llvm::append_range(shape, cast<RankedTensorType>(position).getShape());
  return tensorOf(shape, elementOf(like));
}

static YieldOp yieldOf(Region &body) {
  return body.empty() || body.front().empty() ? nullptr : dyn_cast<YieldOp>(body.front().back());
}

static int64_t stateElements(Block &body, size_t states) {
  int64_t elements = 0;
  for (BlockArgument state : body.getArguments().take_front(states))
    elements += elementCount(shapeOf(state));
  return elements;
}

/// C2: states have the shapes that the body gives them.
template <typename Op> static SmallVector<Type> argumentsOf(Op op, Region &body) {
  SmallVector<Type> types;
  const size_t others = op.getInputs().size() + op.getInvariants().size(),
               count = body.getNumArguments();
  Type element = elementOf(op.getInputs().front());
  for (size_t i = 0; i + others < count; ++i)
    types.push_back(tensorOf(shapeOf(body.getArgument(i)), element));
  for (Value input : op.getInputs())
    types.push_back(positionOf(input));
  llvm::append_range(types, op.getInvariants().getTypes());
  return types;
}

/// C3: the states, and one value more.
template <typename Op> static SmallVector<Type> yieldedBy(Op op, Region &body) {
  SmallVector<Type> types(TypeRange(body.getArgumentTypes()).take_front(op.getStateCount()));
  if (YieldOp yield = yieldOf(body); yield && yield.getNumOperands() > 0)
    types.push_back(yield.getOperands().back().getType());
  return types;
}

SmallVector<Type> RecurrenceOp::getBodyArgumentTypes() { return argumentsOf(*this, getBody()); }
SmallVector<Type> RecurrenceGradOp::getBodyArgumentTypes() { return argumentsOf(*this, getStep()); }
SmallVector<Type> RecurrenceOp::getBodyResultTypes() { return yieldedBy(*this, getBody()); }
SmallVector<Type> RecurrenceGradOp::getBodyResultTypes() { return yieldedBy(*this, getStep()); }

static bool isSequence(Value value) { return shapeOf(value).size() >= 2; }

HYBRID_INFER(RecurrenceOp) {
  if (adaptor.getInputs().empty() || !isSequence(adaptor.getInputs().front())) // C1
    return emitOptionalError(location,
                             "recurrence: inputs must be [batch, length, ...], and one at least");
  YieldOp yield = yieldOf(adaptor.getBody());
  const size_t others = adaptor.getInputs().size() + adaptor.getInvariants().size();
  if (!yield || adaptor.getBody().getNumArguments() < others) // C2
    return emitOptionalError(location, "recurrence: the step must take the states, ", others,
                             " inputs and invariants, and yield");
  const size_t states = adaptor.getBody().getNumArguments() - others;
  if (yield.getNumOperands() != states + 1) // C3
    return emitOptionalError(location, "recurrence: the step yields ", yield.getNumOperands(),
                             " values, expected its ", states, " states and a result");
  Value first = adaptor.getInputs().front();
  types.push_back(sequenceOf(first, yield.getOperands().back().getType()));
  if (adaptor.getReturnState())
    types.push_back(tensorOf({shapeOf(first)[0], stateElements(adaptor.getBody().front(), states)},
                             elementOf(first)));
  return success();
}

HYBRID_INFER(RecurrenceGradOp) {
  YieldOp step = yieldOf(adaptor.getStep()), yield = yieldOf(adaptor.getGradient());
  const size_t others = adaptor.getInputs().size() + adaptor.getInvariants().size(),
               arguments = adaptor.getStep().getNumArguments(),
               sums = static_cast<size_t>(adaptor.getSums());
  if (!step || !yield || arguments < others || adaptor.getInputs().empty() ||
      yield.getNumOperands() < arguments - others + sums) // C8
    return emitOptionalError(location,
                             "recurrence_grad: the gradient must yield gradients of the "
                             "states and ",
                             sums, " sums");
  auto yielded = TypeRange(yield.getOperandTypes()).drop_front(arguments - others);
  for (Type position : yielded.drop_back(sums))
    types.push_back(sequenceOf(adaptor.getCotangent(), position));
  llvm::append_range(types, yielded.take_back(sums));
  if (adaptor.getInitialState())
    types.push_back(adaptor.getInitialState().getType());
  return success();
}

//===-- rules --------------------------------------------------------------------===//

/// C4. A product of weights, a sum over channels, a part: what a kernel knows how to do at a
/// position.
static bool isOfStep(Operation &op) {
  if (auto product = dyn_cast<MatmulOp>(op)) // by one matrix
    return product.isRowwise();
  return op.hasTrait<FusableElementwise>() || op.hasTrait<ViewOfOperand>() ||
         isa<ConstantOp, LinearOp, ReduceOp, ConcatOp, PadOp, FusedOp>(op);
}

Operation *hybrid::findForeignOp(Block &step) {
  for (Operation &op : step.without_terminator()) {
    const bool isKnown = llvm::all_of(op.getResultTypes(), [](Type type) {
      auto tensor = cast<RankedTensorType>(type);
      return tensor.hasStaticShape() && isa<FloatType>(tensor.getElementType());
    });
    if (!isOfStep(op) || !isKnown)
      return &op;
  }
  return nullptr;
}

static LogicalResult verifyOps(Operation *op, Region &body) {
  Operation *foreign = findForeignOp(body.front());
  if (!foreign)
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "step holds '" << foreign->getName()
                        << "', expected elementwise ops, linear, matmul, reductions and what "
                           "moves elements, of numbers and of known sizes";
  diagnostic.attachNote(foreign->getLoc()) << "the op is here";
  return diagnostic;
}

template <typename Op> static LogicalResult verifyRecurrence(Op op, Region &body) {
  Value first = op.getInputs().empty() ? Value() : op.getInputs().front();
  for (Value input : op.getInputs())
    if (!isSequence(input) ||
        !compatibleShapes(shapeOf(input).take_front(2), shapeOf(first).take_front(2))) // C1
      return op.emitOpError() << "an input is " << shapeText(shapeOf(input))
                              << ", expected [batch, length, ...] as the first, which is "
                              << shapeText(shapeOf(first));
  if (!first || !isSequence(first)) // C1
    return op.emitOpError() << "has no input";
  if (failed(verifyOps(op, body)) || // C4
      failed(verifySegments(op, op.getSegments(), first, "the input")))
    return failure();
  return verifyState(op, "initial_state", op.getInitialState(),
                     {shapeOf(first)[0], stateElements(body.front(), op.getStateCount())},
                     "[batch, elements of all states]"); // C6
}

LogicalResult RecurrenceOp::verify() { return verifyRecurrence(*this, getBody()); }

LogicalResult RecurrenceGradOp::verify() {
  if (failed(verifyRecurrence(*this, getStep())) || failed(verifyOps(*this, getGradient())))
    return failure();
  if (failed(verifyState(
          *this, "state_cotangent", getStateCotangent(),
          {shapeOf(getInputs().front())[0], stateElements(getStep().front(), getStateCount())},
          "[batch, elements of all states]"))) // C6
    return failure();
  YieldOp step = yieldOf(getStep()), yield = yieldOf(getGradient());
  if (getCotangent().getType() !=
      sequenceOf(getInputs().front(), step.getOperands().back().getType())) // C7
    return emitOpError() << "cotangent is " << getCotangent().getType() << ", expected "
                         << sequenceOf(getInputs().front(), step.getOperands().back().getType());
  SmallVector<Type> arguments(getStep().getArgumentTypes());
  llvm::append_range(arguments, step.getOperandTypes());
  TypeRange states = TypeRange(getStep().getArgumentTypes()).take_front(getStateCount());
  if (getGradient().getArgumentTypes() != TypeRange(arguments) ||
      TypeRange(yield.getOperandTypes()).take_front(getStateCount()) != states) // C8
    return emitOpError() << "gradient takes (" << getGradient().getArgumentTypes()
                         << ") and yields (" << yield.getOperandTypes() << "), expected ("
                         << TypeRange(arguments) << ") and first (" << states << ")";
  return success();
}

//===-- what it costs and carries ------------------------------------------------===//

static int64_t stepFlops(Region &body) {
  int64_t flops = 0;
  for (Operation &op : body.front().without_terminator())
    if (auto cost = dyn_cast<CostOp>(op); cost && !op.hasTrait<FusableElementwise>())
      flops += cost.getFlops();
    else if (op.hasTrait<FusableElementwise>() && !op.hasTrait<ViewOfOperand>())
      flops += elementCount(op.getResult(0));
  return flops;
}
static int64_t positions(ValueRange inputs) {
  return elementCount(shapeOf(inputs.front()).take_front(2));
}
HYBRID_FLOPS(RecurrenceOp, positions(getInputs()) * stepFlops(getBody()), "B·L·step")
HYBRID_FLOPS(RecurrenceGradOp,
             positions(getInputs()) * (stepFlops(getStep()) + stepFlops(getGradient())),
             "B·L·(step + its gradient)")
int64_t RecurrenceOp::getFixedStateElements() {
  return stateElements(getBody().front(), getStateCount());
}

SequenceUse RecurrenceOp::getSequenceUse(unsigned operand, int64_t axis, unsigned result) {
  if (result > 0)
    return SequenceUse::all("it is the state after all positions");
  const bool along = operand < getInputs().size() || getOperand(operand) == getSegments();
  return axis == 1 && along ? SequenceUse::past(1)
                            : SequenceUse::unknown("the sequence is not its second dimension");
}

//===-- the gradient -------------------------------------------------------------===//

namespace {

/// The region of a step backwards, and where its values go.
class StepGradient {
public:
  StepGradient(RecurrenceOp op, Region &region) : op(op), region(region) {}

  LogicalResult write();
  /// What each invariant gets, of the results of the gradient op.
  Value invariantGradient(OpBuilder &builder, size_t invariant, RecurrenceGradOp made);

  size_t sumCount = 0;

private:
  struct Product {
    size_t left, right; // rows
  };
  struct Parts {
    SmallVector<Product> products;
    std::optional<size_t> sum;
  };

  /// Takes apart what a step adds to the gradient of an invariant.
  void divide(Value gradient, Parts &part, SmallVectorImpl<Value> &rest);
  size_t rowOf(Value value);

  RecurrenceOp op;
  Region &region;
  SmallVector<Value> rows, sums;
  SmallVector<Parts> parts;
};

void StepGradient::divide(Value gradient, Parts &part, SmallVectorImpl<Value> &rest) {
  if (auto sum = gradient.getDefiningOp<BinaryOp>();
      sum && sum.getKind() == BinaryKind::Add && sum.getLhs().getType() == sum.getRhs().getType()) {
    divide(sum.getLhs(), part, rest);
    divide(sum.getRhs(), part, rest);
  } else if (auto product = gradient.getDefiningOp<MatmulOp>();
             product && product.getTransposeA()) {
    part.products.push_back({rowOf(product.getA()), rowOf(product.getB())});
  } else {
    rest.push_back(gradient);
  }
}

size_t StepGradient::rowOf(Value value) {
  auto found = llvm::find(rows, value);
  if (found == rows.end())
    return rows.push_back(value), rows.size() - 1;
  return static_cast<size_t>(found - rows.begin());
}

LogicalResult StepGradient::write() {
  IRMapping mapping;
  op.getBody().cloneInto(&region, mapping);
  Block &body = region.front();
  auto yield = cast<YieldOp>(body.getTerminator());
  SmallVector<Operation *> forward;
  for (Operation &inner : body.without_terminator())
    forward.push_back(&inner);
  SmallVector<Value> wanted(body.getArguments());
  OpBuilder builder(yield);
  ReverseMode reverse(builder);
  for (Value value : wanted)
    reverse.require(value);
  for (Value value : yield.getOperands())
    reverse.accumulate(value, body.addArgument(value.getType(), value.getLoc()), value.getLoc());
  if (failed(reverse.run(forward)))
    return failure();
  SmallVector<Value> yielded;
  const size_t states = op.getStateCount(), inputs = op.getInputs().size();
  for (auto [i, value] : llvm::enumerate(wanted)) {
    Value gradient = reverse.gradientOf(value);
    if (i < states) {
      yielded.push_back(gradient);
      continue;
    }
    if (i < states + inputs) { // each has a row of its own, also if two are equal
      rows.push_back(gradient);
      continue;
    }
    SmallVector<Value> rest;
    Parts &part = parts.emplace_back();
    if (!gradient.getDefiningOp<ConstantOp>())
      divide(gradient, part, rest);
    if (rest.empty())
      continue;
    Value sum = rest.front();
    for (Value term : ArrayRef(rest).drop_front())
      sum = BinaryOp::create(builder, term.getLoc(), BinaryKind::Add, sum, term);
    part.sum = sums.size();
    sums.push_back(sum);
  }
  sumCount = sums.size();
  llvm::append_range(yielded, rows);
  llvm::append_range(yielded, sums);
  yield->setOperands(yielded);
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&inner))
      inner.erase();
  return success();
}

Value StepGradient::invariantGradient(OpBuilder &builder, size_t invariant, RecurrenceGradOp made) {
  const Parts &part = parts[invariant];
  ExpressionBuilder e{builder, op.getLoc()};
  Value total = part.sum ? made.getResult(rows.size() + *part.sum) : Value();
  for (const Product &product : part.products) {
    Value term = MatmulOp::create(builder, op.getLoc(), made.getResult(product.left),
                                  made.getResult(product.right), true, false);
    total = total ? e.add(total, term) : term;
  }
  return orZeros(builder, total, op.getInvariants()[invariant]);
}

} // namespace

HYBRID_VJP(RecurrenceOp) {
  auto gradientRegion = std::make_unique<Region>();
  StepGradient step(*this, *gradientRegion);
  if (failed(step.write()))
    return failure();
  const size_t rows =
      gradientRegion->front().getTerminator()->getNumOperands() - getStateCount() - step.sumCount;
  SmallVector<Type> types;
  TypeRange yielded(gradientRegion->front().getTerminator()->getOperandTypes());
  for (auto [i, type] : llvm::enumerate(yielded.drop_front(getStateCount())))
    types.push_back(i < rows ? Type(sequenceOf(getInputs().front(), type)) : type);
  if (getInitialState())
    types.push_back(getInitialState().getType());
  auto made = RecurrenceGradOp::create(
      builder, getLoc(), types, orZeros(builder, cotangents[0], getResult()), getInputs(),
      getInvariants(), getSegments(), getInitialState(),
      cotangents.size() > 1 ? cotangents[1] : Value(), step.sumCount);
  IRMapping mapping;
  getBody().cloneInto(&made.getStep(), mapping);
  made.getGradient().takeBody(*gradientRegion);
  for (size_t i = 0; i < getInputs().size(); ++i)
    gradients.push_back(made.getResult(i));
  for (size_t i = 0; i < getInvariants().size(); ++i)
    gradients.push_back(step.invariantGradient(builder, i, made));
  if (getSegments())
    gradients.push_back({});
  if (getInitialState())
    gradients.push_back(made.getResults().back());
  return success();
}
