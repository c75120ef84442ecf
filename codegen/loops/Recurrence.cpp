//===- Recurrence.cpp - a step, position by position -------------------------===//
//
// A kernel of schedule.recurrence. The states of a work item stay in one place from position to
// position. Backwards, the states before each position of a stretch are computed again from those
// at its start, into the trajectory: all positions are one stretch, or about √L of them are, and
// the states between stretches are kept behind the trajectory.
//
//===----------------------------------------------------------------------===//
#include "codegen/loops/Recurrence.h"
#include "codegen/loops/StepEmitter.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid::loops {
namespace {

class RecurrenceKernel {
public:
  RecurrenceKernel(KernelFunction &kernel, RecurrenceStepOp step)
      : step(step), kernel(kernel), batchRows(static_cast<int64_t>(step.getBatchRows())),
        length(static_cast<int64_t>(step.getLength())), kept(static_cast<int64_t>(step.getKept())),
        body(step.getStep().front()),
        states(body.getNumArguments() - step.getInputs().size() - step.getInvariants().size()) {}

  /// Returns the number of work items.
  int64_t make() {
    kernel.forGrid([&](Value index) {
      item = index;
      const int64_t room = viewOf(step.getFrame()).shape[1];
      StepEmitter emitter(kernel, batchRows, memoryOf(step.getFrame()), kernel.scaled(item, room));
      emit = &emitter;
      if (step.getGradient().empty())
        forward();
      else
        backward();
    });
    return static_cast<int64_t>(step.getBatch()) / batchRows;
  }

private:
  //===-- places -------------------------------------------------------------------===//

  Value memoryOf(Value operand) {
    for (OpOperand &use : step->getOpOperands())
      if (use.get() == operand)
        return kernel.argument(use.getOperandNumber());
    llvm_unreachable("not an operand");
  }

  /// The item's rows of a tensor [batch, ...].
  Place ofItem(Value operand) {
    View view = viewOf(operand);
    Value base = kernel.scaled(item, batchRows * view.strides[0]);
    view.buffer = memoryOf(operand), view.offset = 0, view.shape[0] = batchRows;
    return {view, base};
  }

  /// What a sequence holds at position t.
  Place at(Value operand, Value t) {
    Place place = ofItem(operand);
    place.base = kernel.add(place.base, kernel.scaled(t, place.view.strides[1]));
    place.view.shape.erase(place.view.shape.begin() + 1);
    place.view.strides.erase(place.view.strides.begin() + 1);
    return place;
  }

  /// What is the same for all rows.
  Place shared(Value operand, Value base) {
    View view = viewOf(operand);
    view.buffer = memoryOf(operand), view.offset = 0;
    view.shape.insert(view.shape.begin(), batchRows);
    view.strides.insert(view.strides.begin(), 0);
    return {view, base};
  }

  /// The states as columns of [batch, elements], one behind the other.
  SmallVector<Place> columnsOf(Value operand) {
    SmallVector<Place> result;
    Place whole = ofItem(operand);
    int64_t first = 0;
    for (BlockArgument state : body.getArguments().take_front(states)) {
      Place place = whole;
      SmallVector<int64_t> strides = denseStrides(shapeOf(state));
      place.view.offset = first * whole.view.strides[1];
      place.view.shape.truncate(1), place.view.strides.truncate(1);
      llvm::append_range(place.view.shape, shapeOf(state));
      for (int64_t stride : strides)
        place.view.strides.push_back(stride * whole.view.strides[1]);
      first += elementCount(shapeOf(state));
      result.push_back(place);
    }
    return result;
  }

  int64_t stateElements() {
    int64_t elements = 0;
    for (BlockArgument state : body.getArguments().take_front(states))
      elements += batchRows * elementCount(shapeOf(state));
    return elements;
  }

  /// States in the trajectory, those of number `slot`.
  SmallVector<Place> slot(Value slot) {
    SmallVector<Place> result;
    const int64_t perItem = viewOf(step.getTrajectory()).shape[1];
    Value base = kernel.add(kernel.scaled(item, perItem), kernel.scaled(slot, stateElements()));
    int64_t first = 0;
    for (BlockArgument state : body.getArguments().take_front(states)) {
      View view;
      view.buffer = memoryOf(step.getTrajectory()), view.offset = first;
      view.element = elementOf(state);
      view.shape.push_back(batchRows);
      llvm::append_range(view.shape, shapeOf(state));
      view.strides = denseStrides(view.shape);
      first += view.elements();
      result.push_back({view, base});
    }
    return result;
  }

  SmallVector<Place> room() {
    SmallVector<Place> result;
    for (BlockArgument state : body.getArguments().take_front(states))
      result.push_back(emit->allocate(shapeOf(state), elementOf(state)));
    return result;
  }

  //===-- states -------------------------------------------------------------------===//

  void copy(ArrayRef<Place> from, ArrayRef<Place> to) {
    for (auto [a, b] : llvm::zip_equal(from, to))
      emit->copy(a, b);
  }

  void start(ArrayRef<Place> to, Value from) {
    if (from)
      return copy(columnsOf(from), to);
    for (const Place &place : to)
      emit->fill(place, 0);
  }

  /// Zeroes the rows in which a sequence begins at t, behind the first position.
  void reset(ArrayRef<Place> carried, Value t) {
    if (!step.getSegments())
      return;
    ImplicitLocOpBuilder &b = kernel.builder;
    Value later = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, t, kernel.index(0));
    Place ids = ofItem(step.getSegments());
    const int64_t stride = ids.view.strides[1];
    auto ifLater = scf::IfOp::create(b, later, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifLater.thenBlock());
    kernel.forCount(batchRows, [&](Value row) {
      Value here = kernel.add(kernel.add(ids.base, kernel.scaled(row, ids.view.strides[0])),
                              kernel.scaled(t, stride));
      auto load = [&](Value place) {
        return memref::LoadOp::create(b, ids.view.buffer, place).getResult();
      };
      Value before = arith::SubIOp::create(b, here, kernel.index(stride));
      Value begins = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, load(here), load(before));
      auto ifBegins = scf::IfOp::create(b, begins, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPointToStart(ifBegins.thenBlock());
      for (const Place &place : carried)
        emit->fill(emit->rowOf(place, row), 0);
    });
  }

  /// What the step takes at t from states on.
  SmallVector<Place> argumentsAt(ArrayRef<Place> from, Value t) {
    SmallVector<Place> arguments(from);
    for (Value input : step.getInputs())
      arguments.push_back(at(input, t));
    for (Value invariant : step.getInvariants())
      arguments.push_back(shared(invariant, kernel.index(0)));
    return arguments;
  }

  /// A step whose states stay where they are; its result goes to `result` if that is wanted.
  void advance(ArrayRef<Place> carried, Value t, std::optional<Place> result) {
    SmallVector<std::optional<Target>> targets;
    for (auto [i, place] : llvm::enumerate(carried))
      targets.push_back(Target{place, false, static_cast<unsigned>(i)});
    targets.push_back(result ? std::optional(Target{*result, false, {}}) : std::nullopt);
    emit->emit(body, argumentsAt(carried, t), targets);
  }

  //===-- directions ---------------------------------------------------------------===//

  void forward() {
    SmallVector<Place> carried = room();
    start(carried, step.getInitialState());
    kernel.forCount(length, [&](Value t) {
      reset(carried, t);
      advance(carried, t, at(step.getRows().front(), t));
    });
    if (step.getFinalState())
      copy(carried, columnsOf(step.getFinalState()));
  }

  void backward() {
    ImplicitLocOpBuilder &b = kernel.builder;
    const int64_t stretches = (length + kept - 1) / kept;
    SmallVector<Place> carried = room(), gradients = room();
    start(carried, step.getInitialState());
    // The states at the start of each stretch, behind the trajectory of one.
    auto checkpoint = [&](Value stretch) {
      return slot(kernel.add(stretch, kernel.index(kept + 1)));
    };
    copy(carried, checkpoint(kernel.index(0)));
    if (stretches > 1)
      kernel.forCount(stretches - 1, [&](Value stretch) {
        kernel.forCount(kept, [&](Value i) {
          Value t = kernel.add(kernel.scaled(stretch, kept), i);
          reset(carried, t);
          advance(carried, t, {});
        });
        copy(carried, checkpoint(kernel.add(stretch, kernel.index(1))));
      });
    start(gradients, step.getStateCotangent());
    for (Value sum : step.getSums())
      emit->fill(rowOfSum(sum), 0);
    kernel.forCount(stretches, [&](Value behind) {
      Value stretch = arith::SubIOp::create(b, kernel.index(stretches - 1), behind);
      Value first = kernel.scaled(stretch, kept);
      Value count = arith::MinUIOp::create(b, kernel.index(kept),
                                           arith::SubIOp::create(b, kernel.index(length), first));
      copy(checkpoint(stretch), slot(kernel.index(0)));
      kernel.forEach(kernel.index(0), count, [&](Value i) { remember(kernel.add(first, i), i); });
      kernel.forEach(kernel.index(0), count, [&](Value i) {
        Value place = arith::SubIOp::create(b, arith::SubIOp::create(b, count, kernel.index(1)), i);
        retreat(gradients, kernel.add(first, place), place);
      });
    });
    if (step.getFinalState())
      copy(gradients, columnsOf(step.getFinalState()));
  }

  /// The states behind t from those before it, in the trajectory.
  void remember(Value t, Value i) {
    SmallVector<Place> before = slot(i), behind = slot(kernel.add(i, kernel.index(1)));
    reset(before, t);
    SmallVector<std::optional<Target>> targets;
    for (const Place &place : behind)
      targets.push_back(Target{place, false, {}});
    targets.push_back(std::nullopt);
    emit->emit(body, argumentsAt(before, t), targets);
  }

  /// The gradients before t from those behind it.
  void retreat(ArrayRef<Place> gradients, Value t, Value i) {
    SmallVector<Place> arguments = argumentsAt(slot(i), t);
    SmallVector<std::optional<Target>> targets;
    for (const Place &place : gradients) {
      targets.push_back(Target{place, false, static_cast<unsigned>(arguments.size())});
      arguments.push_back(place);
    }
    arguments.push_back(at(step.getCotangent(), t));
    for (Value row : step.getRows())
      targets.push_back(Target{at(row, t), false, {}});
    for (Value sum : step.getSums())
      targets.push_back(Target{ofSum(sum), true, {}});
    emit->emit(step.getGradient().front(), arguments, targets);
    reset(gradients, t);
  }

  /// A sum of the item, which all rows add to.
  Place ofSum(Value operand) {
    View view = viewOf(operand);
    Value base = kernel.scaled(item, view.strides[0]);
    view.buffer = memoryOf(operand), view.offset = 0;
    view.shape[0] = batchRows, view.strides[0] = 0;
    return {view, base};
  }
  Place rowOfSum(Value operand) {
    Place place = ofSum(operand);
    place.view.shape[0] = 1;
    return place;
  }

  RecurrenceStepOp step;
  KernelFunction &kernel;
  const int64_t batchRows, length, kept;
  Block &body;
  const size_t states;
  Value item;
  StepEmitter *emit = nullptr;
};

} // namespace

SmallVector<View> viewsOf(RecurrenceStepOp step) {
  return llvm::map_to_vector(step->getOperands(), [](Value value) { return viewOf(value); });
}

StringRef nameOf(RecurrenceStepOp step) {
  return step.getGradient().empty() ? "recurrence" : "recurrence_grad";
}

int64_t emitRecurrence(KernelFunction &kernel, RecurrenceStepOp step) {
  return RecurrenceKernel(kernel, step).make();
}

} // namespace hybrid::loops
