//===- Memory.cpp - what the steps of a program read and write --------------===//
#include "dialect/schedule/Memory.h"
#include "mlir/IR/Iterators.h"

using namespace mlir;

namespace hybrid {

View viewOf(Value memory) {
  View view;
  auto type = cast<MemRefType>(memory.getType());
  view.shape.assign(type.getShape().begin(), type.getShape().end());
  view.element = type.getElementType();
  if (failed(type.getStridesAndOffset(view.strides, view.offset)))
    llvm_unreachable("memory has strides");
  if (auto seen = memory.getDefiningOp<BufferViewOp>())
    view.buffer = seen.getBuffer();
  else if (!memory.getDefiningOp<AbsentOp>())
    view.buffer = memory;
  return view;
}

MemRefType typeOf(const View &view) {
  MLIRContext *context = view.element.getContext();
  if (view.offset == 0 && ArrayRef(view.strides) == ArrayRef(denseStrides(view.shape)))
    return MemRefType::get(view.shape, view.element);
  return MemRefType::get(view.shape, view.element,
                         StridedLayoutAttr::get(context, view.offset, view.strides));
}

Value materialize(const View &view, OpBuilder &builder) {
  MemRefType type = typeOf(view);
  if (view.buffer.getType() == type)
    return view.buffer;
  Operation *last = view.buffer.getDefiningOp();
  for (Operation *next = last->getNextNode(); next; next = next->getNextNode()) {
    auto seen = dyn_cast<BufferViewOp>(next);
    if (!seen || seen.getBuffer() != view.buffer)
      break;
    if (seen.getType() == type)
      return seen;
    last = next;
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(last);
  return BufferViewOp::create(builder, view.buffer.getLoc(), type, view.buffer);
}

static void addAccesses(OpOperand &operand, SmallVector<Access> &accesses) {
  Operation *op = operand.getOwner();
  auto step = dyn_cast<ScheduleStep>(op);
  if (View view = viewOf(operand.get()); view.isPresent())
    accesses.push_back({op, view, step && step.writesOperand(operand.getOperandNumber())});
}

SmallVector<Access> accessesOf(Operation *step) {
  SmallVector<Access> accesses;
  step->walk([&](Operation *inner) {
    if (isa<ScheduleStep, OutputOp>(inner))
      for (OpOperand &operand : inner->getOpOperands())
        addAccesses(operand, accesses);
  });
  return accesses;
}

SmallVector<Access> usesOf(Value buffer) {
  SmallVector<Access> accesses;
  for (OpOperand &use : buffer.getUses()) {
    if (auto view = dyn_cast<BufferViewOp>(use.getOwner()))
      for (OpOperand &inner : view->getUses())
        addAccesses(inner, accesses);
    else
      addAccesses(use, accesses);
  }
  return accesses;
}

bool sameElements(const View &a, const View &b) {
  if (a.buffer != b.buffer || a.elements() != b.elements())
    return false;
  std::optional<View> other = a.reshaped(b.shape);
  if (!other || other->offset != b.offset)
    return false;
  for (size_t i = 0; i < b.shape.size(); ++i)
    if (b.shape[i] != 1 && other->strides[i] != b.strides[i])
      return false;
  return true;
}

bool mayOverlap(const View &a, const View &b) {
  if (a.buffer != b.buffer)
    return false;
  if (a.offset >= b.offset + b.extent() || b.offset >= a.offset + a.extent())
    return false;
  // Columns of equally spaced rows, as the parts of a concatenation.
  std::optional<int64_t> stride = a.rowStride();
  if (!stride || stride != b.rowStride() || *stride == 0)
    return true;
  int64_t first = a.offset % *stride, second = b.offset % *stride;
  bool wraps = first + a.columns() > *stride || second + b.columns() > *stride;
  return wraps || (first < second + b.columns() && second < first + a.columns());
}

bool conflict(ArrayRef<Access> some, ArrayRef<Access> others) {
  return llvm::any_of(some, [&](const Access &a) {
    return llvm::any_of(others, [&](const Access &b) {
      return (a.written || b.written) && mayOverlap(a.view, b.view);
    });
  });
}

bool touchedBetween(Operation *from, Operation *to, const View &view, bool writesOnly) {
  for (Operation *op = from; op != to; op = op->getNextNode())
    for (const Access &access : accessesOf(op))
      if ((access.written || !writesOnly) && mayOverlap(access.view, view))
        return true;
  return false;
}

bool readsCotangent(Operation *step) {
  return llvm::any_of(accessesOf(step), [](const Access &access) {
    auto buffer = access.view.buffer.getDefiningOp<BufferOp>();
    return !access.written && buffer && buffer.isInput() &&
           buffer.getName()->starts_with("cotangent.");
  });
}

bool runsBeforeCotangents(Operation *step) {
  for (; step; step = step->getPrevNode())
    if (isa<ScheduleStep, TileLoopOp>(step) && readsCotangent(step))
      return false;
  return true;
}

void eraseUnused(ProgramOp program) {
  program.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    auto buffer = dyn_cast<BufferOp>(op);
    if ((isa<BufferViewOp, AbsentOp>(op) || (buffer && !buffer.isInput())) && op->use_empty())
      op->erase();
  });
}

} // namespace hybrid
