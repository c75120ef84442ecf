//===- StoreFusion.cpp - a kernel's result on its way to memory -------------===//
//
// What follows a kernel element by element (a rounding, a residual, a gate) is computed where the
// kernel would store: one pass over memory less.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/CudaBackend.h"
#include "codegen/cuda/ScalarText.h"
#include "codegen/cuda/TextEmitter.h"
#include "dialect/Shapes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace hybrid::cuda {

/// The region that alone uses `result`, element for element, if all else it needs is there.
static FusedOp absorbedBy(Value result, ProgramBuilder &program) {
  if (program.inTiles() || !result.hasOneUse())
    return {};
  auto fused = dyn_cast<FusedOp>(*result.user_begin());
  if (!fused || fused.getNumResults() == 0 || shapeOf(fused.getResult(0)) != shapeOf(result))
    return {};
  Operation *producer = result.getDefiningOp();
  for (Value operand : fused.getOperands()) {
    Operation *maker = operand.getDefiningOp();
    if (operand == result || !maker || isa<ParameterOp, ConstantOp>(maker))
      continue;
    if (maker->getBlock() != producer->getBlock() || !maker->isBeforeInBlock(producer))
      return {};
  }
  return fused;
}

Store CudaBackend::store(Value result, ProgramBuilder &program) const {
  FusedOp fused = absorbedBy(result, program);
  if (!fused) {
    View place = program.define(result);
    int64_t stride = *place.rowStride();
    return {{program.use(place)},
            stride,
            llvm::formatv("RowStore<{0}, {1}>", typeText(place.element), stride),
            ""};
  }
  ArrayRef<int64_t> shape = shapeOf(result);
  Store store;
  SmallVector<View> operands, results;
  size_t stored = 0;
  for (auto [i, operand] : llvm::enumerate(fused.getOperands())) {
    if (operand == result) {
      stored = i;
      continue;
    }
    View view = program.view(operand);
    store.buffers.push_back(program.use(view));
    operands.push_back(view.broadcastTo(shape));
  }
  for (Value value : fused.getResults()) {
    results.push_back(program.define(value));
    store.buffers.push_back(program.use(results.back()));
  }
  store.functor = emitStore(program.tables, &fused.getBody().front(), stored, operands, results);
  store.source = sourceName(fused);
  program.absorb(fused);
  return store;
}

} // namespace hybrid::cuda
