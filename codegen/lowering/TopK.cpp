//===- TopK.cpp - places of the largest values ------------------------------===//
#include "codegen/kernels/TopK.h"
#include "codegen/lowering/Alignment.h"
#include "codegen/lowering/Lowering.h"

using namespace mlir;

namespace hybrid {

template <> LogicalResult lower(TopKOp op, ProgramBuilder &program) {
  TopKParams params{};
  View x = program.rows(op.getX(), params.xStride), indices = program.defineDense(op.getResult());
  params.rows = rowCount(x), params.columns = x.shape.back();
  params.k = static_cast<int64_t>(op.getK());
  params.alignment = rowAlignment(params.columns, {x});
  program.launch<TopK>(x.element, params, {x, indices});
  return success();
}

} // namespace hybrid
