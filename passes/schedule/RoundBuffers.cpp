//===- RoundBuffers.cpp - activations that lie in memory as bf16 -------------===//
#include "dialect/schedule/Memory.h"
#include "passes/schedule/Identity.h"
#include "passes/schedule/SchedulePasses.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_ROUNDBUFFERS
#include "passes/schedule/Passes.h.inc"

namespace {

/// The step of the program that `step` is, or is in.
Operation *stepOfProgram(Operation *step) {
  while (!isa<ProgramOp>(step->getParentOp()))
    step = step->getParentOp();
  return step;
}

/// How a step would take a buffer of bf16 in place of f32.
enum class Taking {
  Refused,
  Possible, // a region widens what it reads and rounds what it yields, a kernel says it can
  Wanted    // it computes activations: this is one
};

/// The index of `operand` behind those in front of a launch's store; negative for these.
int64_t placeInStore(LaunchOp launch, OpOperand &operand) {
  return static_cast<int64_t>(operand.getOperandNumber()) -
         static_cast<int64_t>(launch.getViews().size() - launch.getStoreBuffers());
}

/// The bias of a product without groups; null where it has none.
Value biasOf(LibraryMatmulOp product) {
  OperandRange views = product.getViews();
  return views.size() > (product.getLdAddend() ? 4 : 3) ? views[3] : Value();
}

/// The library adds a bias of the result's type. That of a parameter is rounded in one launch with
/// the weights; for any other there would be a launch that costs what it saves.
bool canRoundBias(LibraryMatmulOp product) {
  Value bias = biasOf(product);
  return !bias || viewOf(bias).buffer.getDefiningOp<BufferOp>().getSpace() == Space::Parameters;
}

Taking takingOf(OpOperand &operand) {
  Operation *owner = operand.getOwner();
  const unsigned index = operand.getOperandNumber();
  auto when = [](bool possible, Taking then) { return possible ? then : Taking::Refused; };
  return llvm::TypeSwitch<Operation *, Taking>(owner)
      .Case([&](ComputeOp compute) {
        return when(!compute->hasAttr("schedule.if_finite"), Taking::Possible);
      })
      .Case<ReductionOp, RowSumsOp>([&](auto reduction) {
        return when(index < reduction.getInputs().size(), Taking::Possible);
      })
      .Case([&](CopyOp) { return Taking::Possible; })
      .Case([&](LibraryMatmulOp product) { // the sums are rounded when they are complete
        return when(index == 2 && product.getElementType().isBF16() && product.getLdAddend() == 0 &&
                        !product.getAccumulate() && !product.getTileSum() &&
                        product.getGroups() == 0 && canRoundBias(product),
                    Taking::Wanted);
      })
      .Case([&](LaunchOp launch) {
        if (llvm::is_contained(launch.getActivations(), index))
          return Taking::Wanted;
        return when(llvm::is_contained(launch.getRoundable(), index) ||
                        (!launch.getStoring().empty() && placeInStore(launch, operand) >= 0),
                    Taking::Possible);
      })
      .Default(Taking::Refused);
}

/// All operands that show a part of `buffer`.
SmallVector<OpOperand *> operandsOf(BufferOp buffer) {
  SmallVector<OpOperand *> operands;
  for (OpOperand &use : buffer->getUses()) {
    if (auto view = dyn_cast<BufferViewOp>(use.getOwner()))
      for (OpOperand &inner : view->getUses())
        operands.push_back(&inner);
    else
      operands.push_back(&use);
  }
  return operands;
}

/// A region that computes elements of memory: operand i of its step that it reads, from argument
/// `firstArgument` on, is its argument i - firstRead, and from `firstWritten` on operands take what
/// it yields.
struct Elements {
  Block *body = nullptr;
  unsigned firstWritten = 0;
  int64_t firstRead = 0, firstArgument = 0;
};

/// Without a body where the step has no such region.
Elements elementsOf(Operation *step) {
  if (auto compute = dyn_cast<ComputeOp>(step))
    return {&compute.getBody().front(), static_cast<unsigned>(compute.getInputs().size())};
  auto launch = dyn_cast<LaunchOp>(step);
  if (!launch || launch.getStoring().empty())
    return {};
  Block &body = launch.getStoring().front(); // its first argument is the kernel's own element
  const auto store = static_cast<unsigned>(launch.getViews().size() - launch.getStoreBuffers());
  return {&body, store + body.getNumArguments() - 1, static_cast<int64_t>(store) - 1, 1};
}

/// What a region yields for `operand`; null where no region does.
OpOperand *yieldedFor(OpOperand &operand) {
  const Elements elements = elementsOf(operand.getOwner());
  const unsigned index = operand.getOperandNumber();
  return !elements.body || index < elements.firstWritten
             ? nullptr
             : &elements.body->getTerminator()->getOpOperand(index - elements.firstWritten);
}

/// Whether the region that writes `operand` yields it in bf16 as well.
bool isRoundedBeside(OpOperand &operand) {
  OpOperand *yielded = yieldedFor(operand);
  return yielded && llvm::any_of(yielded->get().getUsers(), [&](Operation *user) {
           return isa<RoundOp>(user) && llvm::is_contained(user->getUsers(), yielded->getOwner());
         });
}

/// Whether a region takes the operand for nothing but to round it.
bool isOnlyRounded(OpOperand &operand) {
  const Elements elements = elementsOf(operand.getOwner());
  const int64_t argument = static_cast<int64_t>(operand.getOperandNumber()) - elements.firstRead;
  return elements.body && argument >= elements.firstArgument &&
         operand.getOperandNumber() < elements.firstWritten &&
         llvm::all_of(
             elements.body->getArgument(static_cast<unsigned>(argument)).getUsers(),
             [](Operation *user) { return isa<RoundOp>(user); });
}

bool isTemporary(BufferOp buffer) {
  return (buffer.getSpace() == Space::Arena || buffer.getSpace() == Space::Tile) &&
         !buffer.isInput();
}

bool shouldRound(BufferOp buffer) {
  if (!isTemporary(buffer) || !buffer.getType().getElementType().isF32())
    return false;
  // Sums over what is there in bf16 anyway, as a bias' gradient beside those of the weights, are
  // over that. What all readers round can be rounded before.
  bool wanted = false, read = false, summed = true, roundedBeside = false, onlyRounded = true;
  for (OpOperand *operand : operandsOf(buffer)) {
    const Taking taking = takingOf(*operand);
    if (taking == Taking::Refused)
      return false;
    wanted |= taking == Taking::Wanted;
    if (cast<ScheduleStep>(operand->getOwner()).writesOperand(operand->getOperandNumber()))
      roundedBeside |= isRoundedBeside(*operand);
    else {
      read = true;
      summed &= isa<ReductionOp, RowSumsOp>(operand->getOwner());
      onlyRounded &= isOnlyRounded(*operand);
    }
  }
  // What stays in a tile passes no memory: nothing is lost there for nothing.
  if (buffer.getSpace() == Space::Tile)
    return read && onlyRounded;
  return wanted || (read && onlyRounded) || (summed && roundedBeside);
}

//===-- steps that take it so --------------------------------------------------===//

/// The argument stands for an element of bf16, which all but those that round it use as f32.
void widen(BlockArgument argument) {
  OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
  auto computed = cast<RankedTensorType>(argument.getType());
  argument.setType(computed.clone(builder.getBF16Type()));
  auto widened = WidenOp::create(builder, argument.getLoc(), computed, argument);
  argument.replaceAllUsesExcept(widened.getResult(), widened);
  for (Operation *user : llvm::make_early_inc_range(widened->getUsers()))
    if (auto round = dyn_cast<RoundOp>(user)) {
      round.replaceAllUsesWith(Value(argument));
      round.erase();
    }
  if (widened.use_empty())
    widened.erase();
}

/// What the region yields as `yielded` is rounded.
void round(Block &body, unsigned yielded) {
  Operation *yield = body.getTerminator();
  OpOperand &operand = yield->getOpOperand(yielded);
  OpBuilder builder(yield);
  if (auto widened = operand.get().getDefiningOp<WidenOp>()) {
    operand.set(widened.getX());
    if (widened.use_empty())
      widened.erase();
    return;
  }
  auto computed = cast<RankedTensorType>(operand.get().getType());
  operand.set(RoundOp::create(builder, yield->getLoc(), computed.clone(builder.getBF16Type()),
                              operand.get()));
}

Type f32Of(Operation *op) { return Float32Type::get(op->getContext()); }

void take(ComputeOp compute, unsigned index) {
  Block &body = compute.getBody().front();
  const auto inputs = static_cast<unsigned>(compute.getInputs().size());
  if (index < inputs)
    widen(body.getArgument(index));
  else
    round(body, index - inputs);
}

template <typename Reduction> void takeInput(Reduction reduction, unsigned index) {
  if (reduction.getLoad().empty())
    addIdentity(reduction.getLoad(), viewOf(reduction.getInputs().front()).shape, f32Of(reduction),
                reduction.getLoc());
  widen(reduction.getLoad().front().getArgument(index));
}

void take(LaunchOp launch, OpOperand &operand) {
  const int64_t place = placeInStore(launch, operand);
  if (place < 0) {
    SmallVector<int64_t> rounded(launch.getRounded());
    rounded.push_back(operand.getOperandNumber());
    llvm::sort(rounded);
    return launch.setRounded(rounded);
  }
  if (launch.getStoring().empty()) {
    addIdentity(launch.getStoring(), viewOf(operand.get()).shape, f32Of(launch), launch.getLoc());
    launch.setStore("");
  }
  Block &body = launch.getStoring().front();
  const int64_t read = body.getNumArguments() - 1; // behind the element itself
  if (place < read)
    widen(body.getArgument(static_cast<unsigned>(place + 1)));
  else
    round(body, static_cast<unsigned>(place - read));
}

void take(LibraryMatmulOp product) {
  product.setRoundsResult(true);
  Value bias = biasOf(product);
  if (!bias)
    return;
  OpBuilder builder(product);
  const View from = viewOf(bias);
  auto type = MemRefType::get(from.shape, builder.getBF16Type());
  builder.setInsertionPointAfter(from.buffer.getDefiningOp());
  Value rounded = BufferOp::create(builder, product.getLoc(), type, Space::Arena, StringAttr(),
                                   IntegerAttr(), IdsAttr());
  builder.setInsertionPoint(stepOfProgram(product));
  auto compute = ComputeOp::create(builder, product.getLoc(), ValueRange{bias}, ValueRange{rounded},
                                   "fused(round)");
  round(addIdentity(compute.getBody(), from.shape, f32Of(product), product.getLoc()), 0);
  product.getViewsMutable()[3].assign(rounded);
}

void takeRounded(OpOperand &operand) {
  const unsigned index = operand.getOperandNumber();
  llvm::TypeSwitch<Operation *>(operand.getOwner())
      .Case([&](ComputeOp compute) { take(compute, index); })
      .Case<ReductionOp, RowSumsOp>([&](auto reduction) { takeInput(reduction, index); })
      .Case([&](LibraryMatmulOp product) { take(product); })
      .Case([&](LaunchOp launch) { take(launch, operand); });
}

void roundBuffer(BufferOp buffer) {
  llvm::SetVector<CopyOp> copies;
  for (OpOperand *operand : operandsOf(buffer))
    if (auto copy = dyn_cast<CopyOp>(operand->getOwner()))
      copies.insert(copy);
  for (CopyOp copy : copies)
    makeCompute(copy);
  for (OpOperand *operand : operandsOf(buffer))
    takeRounded(*operand);
  auto rounded = [](Value memory) {
    auto type = cast<MemRefType>(memory.getType());
    memory.setType(MemRefType::Builder(type).setElementType(BFloat16Type::get(type.getContext())));
  };
  for (Operation *user : buffer->getUsers())
    if (auto view = dyn_cast<BufferViewOp>(user))
      rounded(view);
  rounded(buffer);
}

//===-- what is there twice ----------------------------------------------------===//

/// Whether the region gives what it takes.
bool isIdentity(ComputeOp compute) {
  Block &body = compute.getBody().front();
  return compute.getInputs().size() == 1 && compute.getOutputs().size() == 1 &&
         body.getTerminator()->getOperand(0) == body.getArgument(0);
}

/// Whether `earlier` is done with before `step`: in one loop over tiles, for a tile's rows.
bool isBefore(Operation *earlier, Operation *step) {
  if (earlier->getBlock() != step->getBlock())
    earlier = stepOfProgram(earlier), step = stepOfProgram(step);
  return earlier != step && earlier->isBeforeInBlock(step);
}

/// Lets those who read `copy`, which `step` made, read `from`, the same elements, as far as that is
/// dense and stays what it is.
bool forward(Operation *step, const View &from, const View &copy) {
  auto made = copy.buffer.getDefiningOp<BufferOp>();
  const bool dense = ArrayRef(from.strides) == ArrayRef(denseStrides(from.shape)),
             inTile = from.buffer.getDefiningOp<BufferOp>().getSpace() == Space::Tile;
  if (!made || !isTemporary(made) || !dense || from.buffer == copy.buffer ||
      copy.buffer.getType() != typeOf(copy))
    return false;
  SmallVector<OpOperand *> readers;
  for (OpOperand *operand : operandsOf(made)) {
    Operation *owner = operand->getOwner();
    if (owner == step)
      continue;
    auto reader = dyn_cast<ScheduleStep>(owner);
    if (!reader || reader.writesOperand(operand->getOperandNumber()) || !isBefore(step, owner) ||
        (inTile && owner->getBlock() != step->getBlock()))
      return false;
    readers.push_back(operand);
  }
  auto isRead = [&](Operation *other) { // behind it, or in its loop
    return llvm::any_of(readers, [&](OpOperand *reader) {
      return reader->getOwner() != other &&
             !isBefore(stepOfProgram(reader->getOwner()), stepOfProgram(other));
    });
  };
  for (const Access &access : usesOf(from.buffer))
    if (access.written && access.step != step && !isBefore(access.step, step) &&
        mayOverlap(access.view, from) && isRead(access.step))
      return false;
  if (readers.empty())
    return false;
  OpBuilder builder(step);
  for (OpOperand *reader : readers) {
    View view = viewOf(reader->get());
    view.buffer = from.buffer;
    view.offset += from.offset;
    reader->set(materialize(view, builder));
  }
  return true;
}

/// Lets what `step` copies to `copy` be computed there: `from` is a buffer of the same elements
/// that nothing changes behind the step, and nothing else writes `copy`.
bool computeInPlace(Operation *step, const View &from, const View &copy) {
  auto made = from.buffer.getDefiningOp<BufferOp>(), place = copy.buffer.getDefiningOp<BufferOp>();
  if (!made || !place || made == place || !isTemporary(made) || !isTemporary(place) ||
      made.getType() != place.getType() || made.getType() != typeOf(from) ||
      place.getType() != typeOf(copy) ||
      (place.getSpace() == Space::Tile && made.getSpace() != Space::Tile))
    return false;
  for (const Access &access : usesOf(made))
    if (access.step != step && access.written && !isBefore(access.step, step))
      return false;
  for (const Access &access : usesOf(place))
    if (access.step != step && (access.written || isBefore(access.step, step)))
      return false;
  if (made->getBlock() == place->getBlock())
    place->moveBefore(made);
  made.replaceAllUsesWith(place.getResult());
  made.erase();
  return true;
}

/// Lets all steps do without a copy where they can.
bool dropCopy(ComputeOp compute) {
  const View from = viewOf(compute.getInputs().front()), to = viewOf(compute.getOutputs().front());
  return forward(compute, from, to) || computeInPlace(compute, from, to);
}

/// Whether two values that a region yields are the same numbers.
bool sameNumbers(Value a, Value b) {
  auto round = a.getDefiningOp<RoundOp>(), other = b.getDefiningOp<RoundOp>();
  return a == b || (round && other && round.getX() == other.getX() && a.getType() == b.getType());
}

/// The region no longer yields its value `index`, and its step has no operand for it.
void dropYielded(Operation *step, const Elements &elements, unsigned index) {
  Operation *yield = elements.body->getTerminator();
  Operation *computed = yield->getOperand(index).getDefiningOp();
  yield->eraseOperand(index);
  if (computed && computed->use_empty())
    computed->erase();
  if (auto compute = dyn_cast<ComputeOp>(step))
    return compute.getOutputsMutable().erase(index);
  auto launch = cast<LaunchOp>(step);
  const int64_t dropped = elements.firstWritten + index;
  SmallVector<int64_t> writes;
  for (int64_t written : launch.getWrites())
    if (written != dropped)
      writes.push_back(written - (written > dropped));
  launch.getViewsMutable().erase(static_cast<unsigned>(dropped));
  launch.setWrites(writes);
  launch.setStoreBuffers(launch.getStoreBuffers() - 1);
}

/// Drops what the step's region yields a second time, as activations that it rounded for a product
/// before: those who read that read the first. Returns how many were dropped.
int64_t dropTwins(Operation *step) {
  const Elements elements = elementsOf(step);
  if (!elements.body)
    return 0;
  auto viewAt = [&](unsigned index) {
    return viewOf(step->getOperand(elements.firstWritten + index));
  };
  Operation *yield = elements.body->getTerminator();
  int64_t dropped = 0;
  for (unsigned first = 0; first < yield->getNumOperands(); ++first)
    for (unsigned second = yield->getNumOperands() - 1; second > first; --second)
      if (sameNumbers(yield->getOperand(first), yield->getOperand(second)) &&
          forward(step, viewAt(first), viewAt(second))) {
        dropYielded(step, elements, second);
        ++dropped;
      }
  return dropped;
}

struct RoundBuffers : impl::RoundBuffersBase<RoundBuffers> {
  using RoundBuffersBase::RoundBuffersBase;
  void runOnOperation() override {
    ProgramOp program = getOperation();
    SmallVector<BufferOp> chosen;
    program.walk([&](BufferOp buffer) {
      if (shouldRound(buffer))
        chosen.push_back(buffer);
    });
    for (BufferOp buffer : chosen)
      roundBuffer(buffer);
    numRounded += chosen.size();
    SmallVector<Operation *> steps;
    program.walk([&](Operation *step) {
      if (isa<ScheduleStep>(step) && !isa<TileLoopOp>(step))
        steps.push_back(step);
    });
    for (Operation *step : steps) {
      if (auto launch = dyn_cast<LaunchOp>(step)) {
        launch.setActivations({});
        launch.setRoundable({});
      }
      auto compute = dyn_cast<ComputeOp>(step);
      if (compute && isIdentity(compute) && dropCopy(compute)) {
        compute.erase();
        ++numForwarded;
      } else {
        numForwarded += dropTwins(step);
      }
    }
    eraseUnused(program);
  }
};

} // namespace
} // namespace hybrid
