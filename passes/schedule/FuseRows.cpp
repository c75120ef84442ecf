//===- FuseRows.cpp - functions of rows on their way to memory ---------------===//
#include "dialect/schedule/Memory.h"
#include "executable/Limits.h"
#include "passes/schedule/SchedulePasses.h"

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_FUSEROWS
#include "passes/schedule/Passes.h.inc"

namespace {

/// The launch that makes the rows that `function` takes, where nobody else uses them; null if there
/// is none.
LaunchOp producerOf(LaunchOp function, const View &rows) {
  auto buffer = rows.buffer.getDefiningOp<BufferOp>();
  if (!buffer || buffer.getSpace() != Space::Arena || buffer.isInput())
    return {};
  LaunchOp producer;
  bool taken = false; // by the function, once
  for (const Access &use : usesOf(buffer)) {
    if (!mayOverlap(use.view, rows))
      continue;
    auto launch = dyn_cast<LaunchOp>(use.step);
    if (launch == function && !use.written && !taken)
      taken = true;
    else if (launch && use.written && !producer && sameElements(use.view, rows))
      producer = launch;
    else
      return {};
  }
  return producer;
}

/// Whether `function` could run where `producer` does.
bool canMove(LaunchOp function, LaunchOp producer, const View &rows) {
  if (readsCotangent(function) && runsBeforeCotangents(producer))
    return false;
  const SmallVector<Access> others = accessesOf(producer);
  for (OpOperand &operand : function.getViewsMutable()) {
    const View view = viewOf(operand.get());
    if (!view.isPresent() || sameElements(view, rows))
      continue;
    // What is read must be there by then, and nobody else may be at what is written.
    const bool written = function.writesOperand(operand.getOperandNumber());
    if (touchedBetween(producer, function, view, /*writesOnly=*/!written) ||
        (written && llvm::any_of(others, [&](const Access &other) {
           return other.view.buffer == view.buffer && mayOverlap(other.view, view);
         })))
      return false;
  }
  return true;
}

/// Makes the rows' producer store what `function` makes of them.
bool fuse(LaunchOp function) {
  const auto taken = static_cast<int64_t>(function.getRowOperand());
  if (taken < 0 || function.getItemsPerTile() != 0)
    return false;
  const View rows = viewOf(function.getViews()[static_cast<size_t>(taken)]);
  LaunchOp producer = producerOf(function, rows);
  if (!producer || producer->getBlock() != function->getBlock() ||
      !producer->isBeforeInBlock(function) || !producer.getStoresRows() ||
      producer.getStoreBuffers() != 1 || !producer.getStoring().empty() ||
      !producer.getRowFunction().empty())
    return false;
  const View result = viewOf(producer.getViews().back());
  // What the function writes an item is shared out to the producer's items.
  if (!sameElements(result, rows) || result.columns() != rows.columns() ||
      function.getGrid() % producer.getGrid() != 0 ||
      producer.getViews().size() + function.getViews().size() - 2 > mostBlockBuffers ||
      !canMove(function, producer, rows))
    return false;

  SmallVector<Value> operands(producer.getViews().drop_back());
  const auto own = static_cast<int64_t>(operands.size());
  auto keepOwn = [&](ArrayRef<int64_t> numbers) {
    return llvm::to_vector(llvm::make_filter_range(numbers, [&](int64_t i) { return i < own; }));
  };
  SmallVector<int64_t> writes = keepOwn(producer.getWrites()),
                       activations = keepOwn(producer.getActivations()),
                       roundable = keepOwn(producer.getRoundable());
  auto moved = [&](ArrayRef<int64_t> numbers, SmallVector<int64_t> &to) {
    for (int64_t number : numbers)
      if (number != taken)
        to.push_back(own + number - (number > taken));
  };
  moved(function.getWrites(), writes);
  moved(function.getActivations(), activations);
  moved(function.getRoundable(), roundable);
  for (auto [i, view] : llvm::enumerate(function.getViews()))
    if (static_cast<int64_t>(i) != taken)
      operands.push_back(view);

  producer.getViewsMutable().assign(operands);
  producer.setWrites(writes);
  producer.setActivations(activations);
  producer.setRoundable(roundable);
  producer.setRowFunction(function.getKernel());
  producer.setRowFunctionBuffers(function.getViews().size() - function.getStoreBuffers() - 1);
  producer.setStore(function.getStore());
  producer.setStoreBuffers(function.getStoreBuffers());
  producer.setStoresRows(false);
  producer.setSource((producer.getSource() + " + " + function.getSource()).str());
  producer.getStoring().takeBody(function.getStoring());
  function.erase();
  return true;
}

struct FuseRows : impl::FuseRowsBase<FuseRows> {
  using FuseRowsBase::FuseRowsBase;
  void runOnOperation() override {
    for (auto launch : llvm::make_early_inc_range(getOperation().getOps<LaunchOp>()))
      if (fuse(launch))
        ++numFused;
    eraseUnused(getOperation());
  }
};

} // namespace
} // namespace hybrid
