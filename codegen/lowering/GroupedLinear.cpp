//===- GroupedLinear.cpp - products of groups of rows -----------------------===//
#include "codegen/kernels/GroupedLinear.h"
#include "codegen/lowering/Alignment.h"
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

/// Sizes of both grouped products on CUDA; tiles are chosen later.
static GroupedLinearParams groupedSizes(const View &x, ArrayRef<int64_t> weight, bool transposed,
                                        const DeviceTraits &device, ArrayRef<View> views) {
  GroupedLinearParams params{};
  params.rows = rowCount(x), params.groups = weight[0], params.transposed = transposed;
  params.outputs = weight[transposed ? 2 : 1], params.inputs = weight[transposed ? 1 : 2];
  params.splits = 1, params.bf16 = device.rounds && !x.element.isF64();
  params.alignment = commonAlignment({params.inputs, params.outputs});
  for (const View &view : views)
    params.alignment = std::min(params.alignment, commonAlignment({view.offset}));
  return params;
}

template <> LogicalResult lower(GroupedLinearOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), weight = program.dense(op.getWeight()),
       offsets = program.dense(op.getOffsets());
  if (program.device().kind == Device::Cpu) {
    program.groupedMatmul(x, false, weight, !op.getTransposed(),
                          program.defineDense(op.getResult()), offsets);
    return success();
  }
  Store y = program.storeOf(op.getResult());
  auto sizes = groupedSizes(x, weight.shape, op.getTransposed(), program.device(), {x, weight});
  program.launch<GroupedLinear>(x.element, program.ask<GroupedLinearTiles>(x.element, sizes),
                                {x, weight, offsets}, y);
  return success();
}

template <> LogicalResult lower(GroupedLinearGradOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), dy = program.dense(op.getCotangent()),
       offsets = program.dense(op.getOffsets()), dw = program.defineDense(op.getResult());
  if (program.device().kind == Device::Cpu) {
    program.groupedMatmul(dy, true, x, false, dw, offsets);
    return success();
  }
  auto sizes = groupedSizes(x, dw.shape, false, program.device(), {x, dy, dw});
  const GroupedLinearParams params = program.ask<GroupedLinearGradTiles>(x.element, sizes);
  const int64_t splits = params.splits;
  View partial = splits == 1 ? dw : program.temporary({splits, dw.elements()}, dw.element);
  program.launch<GroupedLinearGrad>(x.element, params, {x, dy, offsets, partial});
  if (splits > 1)
    program.sumPartials(partial, splits, dw.elements(), dw);
  return success();
}

} // namespace hybrid
