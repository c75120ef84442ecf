//===- EmitKernels.cpp - regions become launches of generated kernels -------===//
#include "codegen/program/KernelEmitter.h"

using namespace mlir;

namespace hybrid {
namespace {

SmallVector<View> viewsOf(ValueRange memory) {
  return llvm::map_to_vector(memory, [](Value value) { return viewOf(value); });
}

Block *bodyOf(Region &region) { return region.empty() ? nullptr : &region.front(); }

class Emission {
public:
  Emission(ModuleOp module, const KernelEmitter &emitter) : kernels(module), emitter(emitter) {}

  void emit(Operation *op) {
    if (auto step = dyn_cast<ComputeOp>(op))
      elementwise(step, bodyOf(step.getBody()), step.getInputs(), step.getOutputs());
    else if (auto step = dyn_cast<CopyOp>(op))
      elementwise(step, nullptr, step.getFrom(), step.getTo());
    else if (auto step = dyn_cast<FillOp>(op))
      launch(step, emitter.fill(kernels, viewOf(step.getTo()), step.getValue().convertToDouble()));
    else if (auto step = dyn_cast<ReductionOp>(op))
      launch(step, emitter.reduction(kernels, step.getKind(), loadOf(step), step.getAxes(),
                                     viewOf(step.getTo())));
    else if (auto step = dyn_cast<RowSumsOp>(op))
      launch(step, emitter.rowSums(kernels, loadOf(step), step.getRowsPerItem(),
                                   viewOf(step.getTo()), step.getScale().convertToDouble()));
    else if (auto step = dyn_cast<RecurrenceStepOp>(op))
      launch(step, emitter.recurrence(kernels, step));
    else if (auto step = dyn_cast<LaunchOp>(op); step && !step.getStoring().empty())
      store(step);
  }

  void emitFunction(FunctionOp op) {
    emitter.function(kernels, op.getSymName(), &op.getBody().front());
    op.erase();
  }

private:
  template <typename Op> static Load loadOf(Op op) {
    return {viewsOf(op.getInputs()), bodyOf(op.getLoad())};
  }

  void elementwise(ScheduleStep op, Block *body, ValueRange inputs, ValueRange outputs) {
    bool byRows = isa<TileLoopOp>(op->getParentOp());
    auto guard = op->getAttrOfType<IntegerAttr>("schedule.if_finite");
    std::optional<size_t> ifFinite;
    if (guard)
      ifFinite = static_cast<size_t>(guard.getInt());
    const GeneratedKernel kernel =
        emitter.elementwise(kernels, body, viewsOf(inputs), viewsOf(outputs), byRows, ifFinite);
    const auto at = op->getAttrOfType<IntegerAttr>(itemsAtAttribute);
    const int64_t bytes = bytesOf(viewOf(outputs.front()).element);
    LaunchOp made = launch(op, kernel);
    if (at)
      made.setItemSpans({0, at.getInt(), kernel.itemElements * bytes});
  }

  LaunchOp launch(ScheduleStep op, const GeneratedKernel &kernel) {
    OpBuilder builder(op);
    SmallVector<int64_t> writes;
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      if (op.writesOperand(i))
        writes.push_back(i);
    auto made =
        LaunchOp::create(builder, op.getLoc(), kernel.symbol, kernel.grid, op->getOperands(),
                         op.getSource(), /*constants=*/{}, kernel.configuration, writes);
    made.setGenerated(true);
    if (auto loop = dyn_cast<TileLoopOp>(op->getParentOp()))
      made.setItemsPerTile(loop.itemsPerTile(kernel.grid));
    op->erase();
    return made;
  }

  void store(LaunchOp op) {
    Block *body = bodyOf(op.getStoring());
    ValueRange views = op.getViews().take_back(op.getStoreBuffers());
    size_t operands = body->getNumArguments() - 1;
    op.setStore(emitter.store(kernels, body, viewsOf(views.take_front(operands)),
                              viewsOf(views.drop_front(operands))));
    op.getStoring().getBlocks().clear();
  }

  GeneratedKernels kernels;
  const KernelEmitter &emitter;
};

} // namespace

SmallVector<size_t> readThrough(ArrayRef<View> operands, ArrayRef<View> results) {
  SmallVector<size_t> buffers;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    const auto *same =
        llvm::find_if(results, [&](const View &result) { return sameElements(operand, result); });
    buffers.push_back(
        same == results.end() ? i : operands.size() + static_cast<size_t>(same - results.begin()));
  }
  return buffers;
}

void emitKernels(ModuleOp module, const KernelEmitter &emitter) {
  Emission emission(module, emitter);
  for (auto program : llvm::to_vector(module.getOps<ProgramOp>()))
    program.walk([&](Operation *op) {
      if (isa<ScheduleStep>(op))
        emission.emit(op);
    });
  for (auto function : llvm::to_vector(module.getOps<FunctionOp>()))
    emission.emitFunction(function);
}

} // namespace hybrid
