//===- LowerExpert.cpp - choosing experts and their products on a GPU -------===//
//
// Where experts' rows begin is known on the device only and stays there.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/Alignment.h"
#include "codegen/cuda/CudaBackend.h"
#include "codegen/cuda/Lowerings.h"
#include "codegen/cuda/kernels/GroupedLinearTiles.h"
#include "codegen/cuda/kernels/RoutingLaunches.h"
#include "codegen/program/ExpertLowering.h"

using namespace mlir;

namespace hybrid::cuda {

static int64_t rowsOf(const View &view) { return view.elements() / view.shape.back(); }

LogicalResult lower(TopKOp op, ProgramBuilder &program) {
  TopKParams params{};
  View x = program.rows(op.getX(), params.xStride), indices = program.defineDense(op.getResult());
  params.rows = rowsOf(x), params.columns = x.shape.back();
  params.k = static_cast<int64_t>(op.getK());
  program.launch("top_k", x.element, ceilDiv(params.rows, routingRows), wordsOf(params),
                 {program.use(x), program.use(indices)}, LaunchShape{routingThreads, 0});
  return success();
}

/// take and scatter: rows of x and rows of y, of which the one holds `columns` values and the other
/// one for each index.
template <typename Op>
static LogicalResult lowerIndexed(Op op, ProgramBuilder &program, StringRef kernel) {
  TakeParams params{};
  View x = program.rows(op.getX(), params.xStride), indices = program.dense(op.getIndices()),
       y = program.define(op.getResult());
  const View &wide = std::is_same_v<Op, TakeOp> ? x : y;
  params.rows = rowsOf(x), params.columns = wide.shape.back(), params.count = indices.shape.back();
  params.yStride = *y.rowStride();
  program.launch(kernel, x.element, ceilDiv(y.elements(), routingThreads), wordsOf(params),
                 {program.use(x), program.use(indices), program.use(y)},
                 LaunchShape{routingThreads, 0});
  return success();
}

LogicalResult lower(TakeOp op, ProgramBuilder &program) {
  return lowerIndexed(op, program, "take");
}

LogicalResult lower(ScatterOp op, ProgramBuilder &program) {
  return lowerIndexed(op, program, "scatter");
}

LogicalResult lower(RouteOp op, ProgramBuilder &program) {
  View choices = program.dense(op.getChoices()), slots = program.defineDense(op.getSlots()),
       offsets = program.defineDense(op.getOffsets());
  RouteParams params = routeParams(op);
  KernelConstants words = wordsOf(params);
  // Integers only: the type of the kernels is either.
  Type element = Float32Type::get(op.getContext());
  const int64_t chunks = routeChunks(params);
  View counts = program.temporary({chunks, params.experts + 1}, choices.element);
  BufferUse choicesUse = program.use(choices), countsUse = program.use(counts),
            offsetsUse = program.use(offsets);
  program.launch("route_count", element, chunks, words, {choicesUse, countsUse},
                 LaunchShape{routingThreads, routeCountShared(params)});
  program.launch("route_scan", element, 1, words, {countsUse, offsetsUse},
                 LaunchShape{routeScanThreads, routeScanShared(params)});
  program.launch("route_place", element, chunks, words,
                 {choicesUse, countsUse, offsetsUse, program.use(slots)},
                 LaunchShape{routingThreads, routePlaceShared});
  return success();
}

LogicalResult lower(DispatchOp op, ProgramBuilder &program) {
  DispatchParams params{};
  View x = tokenRows(program, program.view(op.getX()), params),
       slots = program.dense(op.getSlots()), y = program.define(op.getResult());
  params.rows = rowsOf(x), params.columns = x.shape.back(), params.yStride = *y.rowStride();
  program.launch("dispatch", x.element, ceilDiv(params.rows, routingRows), wordsOf(params),
                 {program.use(x), program.use(slots), program.use(y)},
                 LaunchShape{routingThreads, 0});
  return success();
}

LogicalResult lower(CollectOp op, ProgramBuilder &program) {
  DispatchParams params{};
  View x = program.rows(op.getX(), params.tokenStride), slots = program.dense(op.getSlots()),
       y = program.define(op.getResult());
  params.rows = rowsOf(x), params.columns = x.shape.back(), params.choices = 1;
  params.yStride = *y.rowStride();
  program.launch("collect", x.element, ceilDiv(params.rows, routingRows), wordsOf(params),
                 {program.use(x), program.use(slots), program.use(y)},
                 LaunchShape{routingThreads, 0});
  return success();
}

/// Sizes of both grouped products; tiles are chosen later.
static GroupedLinearTiles groupedSizes(const View &x, ArrayRef<int64_t> weight, bool transposed,
                                       const CudaBackend &backend, ArrayRef<View> views) {
  GroupedLinearTiles tiles{};
  tiles.rows = rowsOf(x), tiles.groups = weight[0], tiles.transposed = transposed;
  tiles.outputs = weight[transposed ? 2 : 1], tiles.inputs = weight[transposed ? 1 : 2];
  tiles.splits = 1, tiles.bf16 = backend.rounds && !x.element.isF64();
  tiles.alignment = commonAlignment({tiles.inputs, tiles.outputs});
  for (const View &view : views)
    tiles.alignment = std::min(tiles.alignment, commonAlignment({view.offset}));
  return tiles;
}

LogicalResult lower(GroupedLinearOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), weight = program.dense(op.getWeight()),
       offsets = program.dense(op.getOffsets());
  Store y = program.storeOf(op.getResult());
  GroupedLinearTiles sizes =
      groupedSizes(x, weight.shape, op.getTransposed(), backendOf(program), {x, weight});
  auto launch = [&]<typename T>(T) {
    GroupedLinearTiles tiles = groupedLinearTiles<T>(sizes);
    program.launch("grouped_linear", x.element, groupedLinearItems(tiles), wordsOf(tiles),
                   {program.use(x), program.use(weight), program.use(offsets)}, y,
                   LaunchShape{threads(tiles), groupedLinearShared<T>(tiles)});
  };
  x.element.isF64() ? launch(double()) : launch(float());
  return success();
}

LogicalResult lower(GroupedLinearGradOp op, ProgramBuilder &program) {
  View x = program.dense(op.getX()), dy = program.dense(op.getCotangent()),
       offsets = program.dense(op.getOffsets()), dw = program.defineDense(op.getResult());
  GroupedLinearTiles sizes = groupedSizes(x, dw.shape, false, backendOf(program), {x, dy});
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

} // namespace hybrid::cuda
