//===- SequenceAxes.cpp - how positions of a sequence go through a program --===//
#include "passes/SequenceAxes.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {
namespace {

constexpr int64_t none = Positions::none;
constexpr StringRef cuts = "it cuts, joins or shifts along the sequence";

void widen(int64_t &bound, int64_t other) { bound = std::max(bound, other); }

/// `ahead`, counted from another position; nothing stays nothing.
int64_t moved(int64_t ahead, int64_t by) { return ahead == none ? none : ahead + by; }

void addAxis(Positions &to, int64_t dimension, int64_t ahead) {
  for (Positions::Axis &axis : to.axes)
    if (axis.dimension == dimension)
      return widen(axis.ahead, ahead);
  to.axes.push_back({dimension, ahead});
}

int64_t sizeOf(Value value, int64_t dimension) {
  return shapeOf(value)[static_cast<size_t>(dimension)];
}

bool isElementwise(Operation *op) { return op->hasTrait<FusableElementwise>(); }

/// The size of a dimension that is repeated, as elementwise ops do with those of size 1.
bool isRepeated(Operation *op, Value operand, int64_t axis, Value result, int64_t place) {
  return isElementwise(op) && sizeOf(operand, axis) == 1 && sizeOf(result, place) != 1;
}

/// Whether an op runs a body on rows; that of attention's score sees single numbers.
bool hasBody(Operation *op) {
  return isa<BodyOp>(op) && op->getNumRegions() == 1 && !op->getRegion(0).empty() &&
         !op->hasTrait<OpTrait::IsIsolatedFromAbove>();
}

std::string nameOf(func::FuncOp function, unsigned result) {
  auto name = function.getResultAttrOfType<StringAttr>(result, "hybrid.name");
  return name ? name.str() : std::to_string(result);
}

} // namespace

const Positions::Axis *Positions::along(int64_t dimension) const {
  auto found = llvm::find_if(axes, [&](const Axis &axis) { return axis.dimension == dimension; });
  return found == axes.end() ? nullptr : &*found;
}

// Element 0 sees most of what every element sees.
int64_t Positions::ahead() const {
  int64_t most = upTo;
  for (const Axis &axis : axes)
    widen(most, axis.ahead);
  return most;
}

void SequenceAxes::setInput(Value value, int64_t dimension) {
  Positions input;
  input.axes.push_back({dimension, 0});
  positions[value] = std::move(input);
}

const Positions &SequenceAxes::of(Value value) {
  auto [place, isNew] = positions.try_emplace(value);
  if (isNew) {
    place->second.varies.resize(static_cast<unsigned>(shapeOf(value).size()));
    for (auto [i, size] : llvm::enumerate(shapeOf(value)))
      place->second.varies[static_cast<unsigned>(i)] = size != 1;
  }
  return place->second;
}

bool SequenceAxes::countsPositions(Operation *op, int64_t length) {
  bool along = false;
  for (OpOperand &operand : op->getOpOperands())
    if (shapeOf(operand.get()).size() > 1 &&
        sequenceUseOf(op, operand.getOperandNumber(), 1, 0).kind == SequenceUse::Kind::Past) {
      along = shapeOf(operand.get())[1] == length;
      if (!along || of(operand.get()).varies[1])
        return false;
    }
  return along;
}

SequenceAxes::Step SequenceAxes::follow(Operation *op) {
  bool ofInput = false;
  for (Value operand : op->getOperands()) // of() may move what it gave before
    ofInput |= of(operand).ofInput();
  if (!ofInput && !hasBody(op)) {
    followConstant(op);
    return {};
  }
  Step step;
  if (hasBody(op))
    step = followBody(op);
  Step ofUnused; // nobody asks for it
  for (OpResult result : op->getResults()) {
    const bool isUnused = result.use_empty() && result.getResultNumber() > 0;
    Positions joined = join(op, result.getResultNumber(), isUnused ? ofUnused : step);
    if (hasBody(op)) {
      // What the body makes of the rows, beside what the op itself reads.
      const Positions &yielded =
          of(op->getRegion(0).front().getTerminator()->getOperand(result.getResultNumber()));
      for (Positions::Axis axis : yielded.axes)
        addAxis(joined, axis.dimension, axis.ahead);
      widen(joined.upTo, yielded.upTo);
      joined.masked |= yielded.masked;
      joined.uncertain |= yielded.uncertain;
      if (!joined.cause)
        joined.cause = yielded.cause;
    }
    positions[result] = std::move(joined);
  }
  if (!step.unknown.empty() && !step.op)
    step.op = op;
  return step;
}

SequenceAxes::Step SequenceAxes::followBody(Operation *op) {
  Step all;
  Block &body = op->getRegion(0).front();
  auto declared = dyn_cast<PositionsOp>(op);
  for (BlockArgument argument : body.getArguments())
    if (Value rows = declared ? declared.getBodyRows(argument.getArgNumber()) : Value())
      positions[argument] = Positions(of(rows));
  for (Operation &inner : body.without_terminator()) {
    Step step = follow(&inner);
    if (all.unknown.empty())
      all.unknown = step.unknown, all.op = step.op;
    if (all.chunked.empty())
      all.chunked = isa<StatefulOp>(inner) && step.chunked.empty()
                        ? StringRef("an expert has a state of its own")
                        : step.chunked;
    if (all.numbered.empty())
      all.numbered = step.numbered;
  }
  return all;
}

/// What result `result` of an op with an operand of the input depends on; in `step` what it means.
Positions SequenceAxes::join(Operation *op, unsigned result, Step &step) {
  Positions to;
  Value value = op->getResult(result);
  to.varies.resize(static_cast<unsigned>(shapeOf(value).size()), true);
  const bool stateful = isa<StatefulOp>(op);
  auto unknown = [&](StringRef why) {
    if (step.unknown.empty())
      step.unknown = why;
  };
  auto onlyWhole = [&](StringRef why) {
    if (step.chunked.empty())
      step.chunked = why;
  };
  bool seesLater = false, readsOut = false;
  StringRef readBy;
  // Of the op's operands that are no inputs: where they differ, and whether they may be masks.
  llvm::SmallBitVector varies(static_cast<unsigned>(shapeOf(value).size()));
  bool pattern = false;
  const bool weighed = llvm::any_of(op->getOperands(), [&](Value operand) {
    return !of(operand).ofInput() && of(operand).patterned;
  });
  for (OpOperand &use : op->getOpOperands()) {
    const unsigned number = use.getOperandNumber();
    const Positions from = of(use.get());
    if (!from.ofInput()) {
      pattern |= from.patterned;
      for (unsigned dimension : from.varies.set_bits()) {
        SequenceUse read = sequenceUseOf(op, number, dimension, result);
        if (read.kind == SequenceUse::Kind::Same || read.kind == SequenceUse::Kind::Past)
          varies.set(static_cast<unsigned>(read.axis));
      }
      continue;
    }
    to.masked |= from.masked;
    to.uncertain |= from.uncertain;
    widen(to.upTo, from.upTo);
    if (!to.cause)
      to.cause = from.cause;
    seesLater |= from.ahead() > 0;
    for (const Positions::Axis &axis : from.axes) {
      SequenceUse read = sequenceUseOf(op, number, axis.dimension, result);
      const int64_t size = sizeOf(use.get(), axis.dimension);
      switch (read.kind) {
      case SequenceUse::Kind::Same:
        if (isRepeated(op, use.get(), axis.dimension, value, read.axis)) {
          widen(to.upTo, axis.ahead);
          unknown("positions meet other positions");
          break;
        }
        addAxis(to, read.axis, moved(axis.ahead, read.shift));
        if (read.shift == 0 && size == sizeOf(value, read.axis))
          break;
        // The last position alone is what all before have led to, as a sum over them is.
        if (read.shift == size - 1 && sizeOf(value, read.axis) == 1)
          onlyWhole(cuts);
        else
          unknown(cuts);
        break;
      case SequenceUse::Kind::Past:
        addAxis(to, read.axis, moved(axis.ahead, read.shift));
        if (!stateful)
          unknown("positions meet other positions");
        break;
      case SequenceUse::Kind::All:
        widen(to.upTo, moved(axis.ahead, size - 1));
        // What hides a position is a factor before a sum, and nothing in an op that mixes them.
        to.uncertain |= !stateful && (from.masked || weighed);
        readsOut = true;
        readBy = read.why;
        if (read.axis >= 0)
          addAxis(to, read.axis, none);
        break;
      case SequenceUse::Kind::Unknown:
        widen(to.upTo, moved(axis.ahead, size - 1));
        to.uncertain = true;
        unknown(read.why);
        break;
      }
    }
  }
  if (to.axes.empty())
    joinParts(op, result, to, step);
  if (to.axes.size() > 1)
    unknown("positions meet other positions");
  // What is read of the whole sequence is a result of its own, and no part of any position.
  if (!to.axes.empty() && to.upTo != none)
    unknown(readsOut ? readBy : StringRef("each position needs what was read of all"));
  if (readsOut)
    onlyWhole(readBy);
  for (const Positions::Axis &axis : to.axes)
    if (varies[static_cast<unsigned>(axis.dimension)]) {
      to.masked |= pattern;
      step.numbered = "a value differs from position to position of the chunk";
    }
  onlyWhole(step.unknown);
  if (!to.cause && !seesLater && to.ahead() > 0)
    to.cause = op;
  return to;
}

/// Where parts without a dimension along the sequence are put one behind the other, as an unrolled
/// recurrence does with its positions, that dimension may be the sequence.
void SequenceAxes::joinParts(Operation *op, unsigned result, Positions &to, Step &step) {
  if (!isa<PositionsOp>(op))
    return;
  for (OpOperand &use : op->getOpOperands())
    for (auto [axis, size] : llvm::enumerate(shapeOf(use.get()))) {
      SequenceUse read =
          sequenceUseOf(op, use.getOperandNumber(), static_cast<int64_t>(axis), result);
      if (read.kind == SequenceUse::Kind::Same && of(use.get()).ofInput() &&
          size < sizeOf(op->getResult(result), read.axis))
        addAxis(to, read.axis, moved(of(use.get()).upTo, read.shift));
    }
  if (to.axes.empty())
    return;
  to.upTo = none;
  to.uncertain |= to.ahead() > 0;
  if (step.unknown.empty())
    step.unknown = cuts;
}

void SequenceAxes::followConstant(Operation *op) {
  // Of parameters nothing is known; what numbers positions may make a mask.
  bool patterned = isa<StatefulOp>(op) || (op->getNumOperands() == 0 && !isa<ParameterOp>(op) &&
                                           !op->hasTrait<OpTrait::ConstantLike>());
  for (Value operand : op->getOperands())
    patterned |= of(operand).patterned;
  const bool declared = isElementwise(op) || isa<SequenceAxisOp, PositionsOp>(op);
  for (OpResult result : op->getResults()) {
    Positions to;
    const auto rank = static_cast<unsigned>(shapeOf(result).size());
    // Without a word from the op, all elements may differ.
    llvm::SmallBitVector told(rank), varies(rank), single(rank);
    for (unsigned i = 0; i < rank; ++i)
      single[i] = sizeOf(result, i) == 1;
    for (OpOperand &use : op->getOpOperands())
      for (auto [dimension, size] : llvm::enumerate(shapeOf(use.get()))) {
        if (!declared)
          break;
        const auto axis = static_cast<int64_t>(dimension);
        SequenceUse read =
            sequenceUseOf(op, use.getOperandNumber(), axis, result.getResultNumber());
        if (read.kind != SequenceUse::Kind::Same)
          continue;
        const auto place = static_cast<unsigned>(read.axis);
        told.set(place);
        const bool joined = size != sizeOf(result, read.axis) && !isElementwise(op);
        patterned |= joined && size < sizeOf(result, read.axis); // zeros around it, say
        if (!joined && !of(use.get()).varies[static_cast<unsigned>(dimension)])
          continue;
        varies.set(place);
        if (size == 1) // a sequence of one position: its dimension is no longer told from others
          varies |= single;
      }
    if (!isElementwise(op) && !op->hasTrait<OpTrait::ConstantLike>()) {
      llvm::SmallBitVector untold = told.flip();
      varies |= op->getNumOperands() && declared ? untold.reset(single)
                : isa<ParameterOp>(op)           ? untold.reset(single)
                                                 : untold;
    }
    to.varies = std::move(varies);
    to.patterned = patterned;
    positions[result] = std::move(to);
  }
}

SmallVector<int64_t> sequenceDimensions(func::FuncOp function) {
  SmallVector<int64_t> dimensions(function.getNumArguments(), -1);
  bool named = false;
  for (BlockArgument argument : function.getArguments())
    if (auto names = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "hybrid.dims"))
      for (auto [i, name] : llvm::enumerate(names))
        if (auto text = dyn_cast<StringAttr>(name); text && text == "L") {
          dimensions[argument.getArgNumber()] = static_cast<int64_t>(i);
          named = true;
          break;
        }
  if (named)
    return dimensions;
  for (BlockArgument argument : function.getArguments()) {
    const size_t rank = shapeOf(argument).size();
    if (rank == 3 || (rank == 2 && elementOf(argument).isInteger()))
      dimensions[argument.getArgNumber()] = 1;
  }
  return dimensions;
}

/// The inputs of `forward`; false when none has a sequence.
static bool setInputs(SequenceAxes &axes, func::FuncOp forward, ArrayRef<int64_t> dimensions) {
  bool any = false;
  for (auto [argument, dimension] : llvm::zip_equal(forward.getArguments(), dimensions))
    if (dimension >= 0) {
      axes.setInput(argument, dimension);
      any = true;
    }
  return any;
}

SequenceState sequenceStateOf(func::FuncOp forward, ArrayRef<int64_t> dimensions,
                              llvm::function_ref<void(StatefulOp, int64_t)> visit) {
  SequenceState state(forward.getLoc());
  SequenceAxes axes;
  if (!setInputs(axes, forward, dimensions))
    state.unknown = "no input has a dimension L, which is the sequence";
  for (Operation &op : forward.getBody().front().without_terminator()) {
    SequenceAxes::Step step = axes.follow(&op);
    if (!step.unknown.empty() && state.unknown.empty()) {
      state.unknown = step.unknown.str();
      state.where = step.op->getLoc();
    }
    op.walk([&](StatefulOp stateful) {
      int64_t times = 1;
      for (Operation *outer = stateful->getParentOp(); outer != forward.getOperation();
           outer = outer->getParentOp())
        if (auto body = dyn_cast<PositionsOp>(outer))
          times *= body.getBodyStates();
      (stateful.isShortBuffer() ? state.shortBuffers : state.fixed) +=
          times * stateful.getFixedStateElements();
      state.dynamic += times * stateful.getDynamicStateElements();
      if (visit)
        visit(stateful, times);
    });
  }
  return state;
}

Causality causalityOf(func::FuncOp forward, ArrayRef<int64_t> dimensions) {
  Causality causality(forward.getLoc());
  SequenceAxes axes;
  if (!setInputs(axes, forward, dimensions))
    return causality;
  for (Operation &op : forward.getBody().front().without_terminator())
    axes.follow(&op);
  Operation *end = forward.getBody().front().getTerminator();
  int64_t length = 0;
  for (auto [argument, dimension] : llvm::zip_equal(forward.getArguments(), dimensions))
    length = dimension >= 0 ? std::max(length, sizeOf(argument, dimension)) : length;
  auto rank = [](Causality::Answer answer) {
    return answer == Causality::Answer::Causal ? 0 : answer == Causality::Answer::Unknown ? 1 : 2;
  };
  for (OpOperand &output : end->getOpOperands()) {
    const Positions &found = axes.of(output.get());
    ArrayRef<int64_t> shape = shapeOf(output.get());
    // An output of the whole sequence, a class or a loss, has no positions.
    if (!found.along(1) && (shape.size() < 3 || shape[1] != length))
      continue;
    causality.along.push_back(nameOf(forward, output.getOperandNumber()));
    auto answer = Causality::Answer::Causal;
    const bool others =
        llvm::any_of(found.axes, [](const Positions::Axis &axis) { return axis.dimension != 1; });
    if (found.ahead() > 0 || others)
      answer =
          found.uncertain || others ? Causality::Answer::Unknown : Causality::Answer::SeesLater;
    if (causality.output.empty() || rank(answer) > rank(causality.answer)) {
      causality.answer = answer;
      causality.output = nameOf(forward, output.getOperandNumber());
      causality.ahead = std::max<int64_t>(0, found.ahead());
      causality.all = found.ahead() >= length - 1;
      causality.where = found.cause ? found.cause->getLoc() : forward.getLoc();
    }
  }
  return causality;
}

} // namespace hybrid
