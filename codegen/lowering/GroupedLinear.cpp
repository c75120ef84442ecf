//===- GroupedLinear.cpp - products of groups of rows -----------------------===//
#include "codegen/cuda/Alignment.h"
#include "codegen/kernels/cuda/GroupedLinearTiles.h"
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

namespace cpu {

static LogicalResult lower(GroupedLinearOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), weight = program.dense(op.getWeight()),
       offsets = program.dense(op.getOffsets()), y = program.defineDense(op.getResult());
  program.groupedMatmul(x, false, weight, !op.getTransposed(), y, offsets);
  return success();
}

static LogicalResult lower(GroupedLinearGradOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), dy = program.dense(op.getCotangent()),
       offsets = program.dense(op.getOffsets()), dw = program.defineDense(op.getResult());
  program.groupedMatmul(dy, true, x, false, dw, offsets);
  return success();
}

} // namespace cpu

namespace cuda {

/// Sizes of both grouped products; tiles are chosen later.
static GroupedLinearTiles groupedSizes(const View &x, ArrayRef<int64_t> weight, bool transposed,
                                       const DeviceTraits &device, ArrayRef<View> views) {
  GroupedLinearTiles tiles{};
  tiles.rows = rowCount(x), tiles.groups = weight[0], tiles.transposed = transposed;
  tiles.outputs = weight[transposed ? 2 : 1], tiles.inputs = weight[transposed ? 1 : 2];
  tiles.splits = 1, tiles.bf16 = device.rounds && !x.element.isF64();
  tiles.alignment = commonAlignment({tiles.inputs, tiles.outputs});
  for (const View &view : views)
    tiles.alignment = std::min(tiles.alignment, commonAlignment({view.offset}));
  return tiles;
}

static LogicalResult lower(GroupedLinearOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), weight = program.dense(op.getWeight()),
       offsets = program.dense(op.getOffsets());
  Store y = program.storeOf(op.getResult());
  GroupedLinearTiles sizes =
      groupedSizes(x, weight.shape, op.getTransposed(), program.device(), {x, weight});
  auto launch = [&]<typename T>(T) {
    GroupedLinearTiles tiles = groupedLinearTiles<T>(sizes);
    program.launch("grouped_linear", x.element, groupedLinearItems(tiles), wordsOf(tiles),
                   {program.use(x), program.use(weight), program.use(offsets)}, y,
                   LaunchShape{threads(tiles), groupedLinearShared<T>(tiles)});
  };
  x.element.isF64() ? launch(double()) : launch(float());
  return success();
}

static LogicalResult lower(GroupedLinearGradOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), dy = program.dense(op.getCotangent()),
       offsets = program.dense(op.getOffsets()), dw = program.defineDense(op.getResult());
  GroupedLinearTiles sizes = groupedSizes(x, dw.shape, false, program.device(), {x, dy});
  auto launch = [&]<typename T>(T) {
    GroupedLinearTiles tiles = groupedLinearGradTiles<T>(sizes);
    View partial =
        tiles.splits == 1 ? dw : program.temporary({tiles.splits, dw.elements()}, dw.element);
    program.launch("grouped_linear_grad", x.element, groupedLinearGradItems(tiles), wordsOf(tiles),
                   {program.use(x), program.use(dy), program.use(offsets), program.use(partial)},
                   LaunchShape{threads(tiles), groupedLinearGradShared<T>(tiles)});
    if (tiles.splits > 1)
      program.sumPartials(partial, tiles.splits, dw.elements(), dw);
  };
  x.element.isF64() ? launch(double()) : launch(float());
  return success();
}

} // namespace cuda

template <> LogicalResult lower(GroupedLinearOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

template <> LogicalResult lower(GroupedLinearGradOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

} // namespace hybrid
