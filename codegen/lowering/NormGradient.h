//===- NormGradient.h - what the gradients of all norms launch alike --------===//
#pragma once
#include "codegen/lowering/Alignment.h"
#include "codegen/lowering/Lowering.h"
#include <bit>

namespace hybrid {

/// Rows of an item of a norm's gradient. On CUDA they are a power of two up to a product's largest
/// tile, so that such tiles, where the gradient may be computed (FuseRows), have whole items. In a
/// loop over tiles of rows they are the loop's.
inline int64_t rowsOfNormGradient(const ProgramBuilder &program, int64_t rows) {
  constexpr uint64_t largestTile = 128;
  const int64_t some = program.rowsPerItem(rows);
  return program.device().kind == Device::Cpu || program.inTiles()
             ? some
             : static_cast<int64_t>(
                   std::min(largestTile, std::bit_ceil(static_cast<uint64_t>(some))));
}

/// Launches the gradient of a norm with respect to x. Returns the partial sums of what has a value
/// a channel, [items, sums, columns]. `params` says what is special about the norm.
template <typename Backward, typename Op, typename Params>
View launchNormGradient(Op op, Params params, int64_t sums, ProgramBuilder &program) {
  View x = program.rows(op.getX(), params.xStride),
       dy = program.rows(op.getCotangent(), params.yStride);
  View weight = program.optionalDense(op.getWeight());
  Store dx = program.storeOf(op.getDx());
  params.rows = rowCount(x), params.columns = x.shape.back();
  params.dxStride = dx.stride, params.rowsPerItem = rowsOfNormGradient(program, params.rows);
  params.hasWeight = !!op.getWeight();
  params.alignment = rowAlignment(params.columns, {x, dy, weight});
  params.eps = op.getEpsilon().convertToDouble();
  const int64_t items = ceilDiv(params.rows, params.rowsPerItem);
  View partial = program.temporary({items, sums, params.columns}, x.element);
  program.launch<Backward>(x.element, params, {x, weight, dy, partial}, dx);
  return partial;
}

} // namespace hybrid
