//===- LowerChannel.cpp - projections, norms and embeddings -----------------===//
#include "codegen/kernels/Kernels.h"
#include "codegen/program/ProgramBuilder.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

static int64_t rowCount(const View &view) { return view.elements() / view.shape.back(); }

/// An operand of a matrix product: contiguous rows, or the transpose of such (then `transpose` is
/// flipped).
static View matrixOperand(ProgramBuilder &program, Value value, bool &transpose) {
  View view = program.view(value);
  if (view.rowStride())
    return view;
  if (view.shape.size() == 2 && view.strides[0] == 1 && view.strides[1] >= view.shape[0]) {
    transpose = !transpose;
    return view.transposed({1, 0});
  }
  int64_t stride;
  return program.rows(value, stride);
}

/// The result of a matrix product must have rows too; otherwise it is computed aside and copied.
static void product(ProgramBuilder &program, Value a, bool transposeA, Value b, bool transposeB,
                    Value bias, Value result) {
  View left = matrixOperand(program, a, transposeA), right = matrixOperand(program, b, transposeB);
  std::optional<View> biasView;
  if (bias)
    biasView = program.dense(bias);
  ProductPlace out = program.backend().productPlace(result, program);
  View place = out.place;
  if (!place.rowStride())
    out.place = program.temporary(place.shape, place.element);
  program.matmul(left, transposeA, right, transposeB, out, biasView);
  if (out.place.storage != place.storage)
    program.copy(out.place, place);
}

LogicalResult lower(LinearOp op, ProgramBuilder &program) {
  product(program, op.getX(), false, op.getWeight(), true, op.getBias(), op.getResult());
  return success();
}

LogicalResult lower(MatmulOp op, ProgramBuilder &program) {
  product(program, op.getA(), op.getTransposeA(), op.getB(), op.getTransposeB(), Value(),
          op.getResult());
  return success();
}

LogicalResult lower(RmsNormOp op, ProgramBuilder &program) {
  RmsNormParams params{};
  View x = program.rows(op.getX(), params.xStride);
  BufferUse weight = program.optionalUse(op.getWeight());
  Store y = program.storeOf(op.getResult());
  params.rows = rowCount(x), params.columns = x.shape.back();
  params.yStride = y.stride;
  params.hasWeight = !!op.getWeight(), params.epsOutside = op.getEpsilonOutside();
  params.eps = op.getEpsilon().convertToDouble();
  program.launch("rmsnorm_forward", x.element, params.rows, wordsOf(params),
                 {program.use(x), weight}, y);
  return success();
}

LogicalResult lower(RmsNormGradOp op, ProgramBuilder &program) {
  RmsNormParams params{};
  View x = program.rows(op.getX(), params.xStride),
       dy = program.rows(op.getCotangent(), params.yStride);
  BufferUse weight = program.optionalUse(op.getWeight());
  Store dx = program.storeOf(op.getDx());
  params.rows = rowCount(x), params.columns = x.shape.back();
  params.dxStride = dx.stride, params.rowsPerItem = program.rowsPerItem(params.rows);
  params.hasWeight = !!op.getWeight(), params.epsOutside = op.getEpsilonOutside();
  params.eps = op.getEpsilon().convertToDouble();
  int64_t grid = ceilDiv(params.rows, params.rowsPerItem);
  View partial = program.temporary({grid, params.columns}, x.element);
  program.launch("rmsnorm_backward", x.element, grid, wordsOf(params),
                 {program.use(x), weight, program.use(dy), program.use(partial)}, dx);
  if (!op.getDweight().use_empty())
    program.sumPartials(partial, grid, params.columns, program.defineDense(op.getDweight()));
  return success();
}

LogicalResult lower(LayerNormOp op, ProgramBuilder &program) {
  LayerNormParams params{};
  View x = program.rows(op.getX(), params.xStride);
  BufferUse weight = program.optionalUse(op.getWeight()), bias = program.optionalUse(op.getBias());
  Store y = program.storeOf(op.getResult());
  params.rows = rowCount(x), params.columns = x.shape.back();
  params.yStride = y.stride;
  params.hasWeight = !!op.getWeight(), params.hasBias = !!op.getBias();
  params.eps = op.getEpsilon().convertToDouble();
  program.launch("layernorm_forward", x.element, params.rows, wordsOf(params),
                 {program.use(x), weight, bias}, y);
  return success();
}

LogicalResult lower(LayerNormGradOp op, ProgramBuilder &program) {
  LayerNormParams params{};
  View x = program.rows(op.getX(), params.xStride),
       dy = program.rows(op.getCotangent(), params.yStride);
  BufferUse weight = program.optionalUse(op.getWeight());
  Store dx = program.storeOf(op.getDx());
  params.rows = rowCount(x), params.columns = x.shape.back();
  params.dxStride = dx.stride, params.rowsPerItem = program.rowsPerItem(params.rows);
  params.hasWeight = !!op.getWeight();
  params.eps = op.getEpsilon().convertToDouble();
  int64_t grid = ceilDiv(params.rows, params.rowsPerItem), columns = params.columns;
  View partial = program.temporary({grid, 2, columns}, x.element);
  program.launch("layernorm_backward", x.element, grid, wordsOf(params),
                 {program.use(x), weight, program.use(dy), program.use(partial)}, dx);
  if (!op.getDweight().use_empty())
    program.sumPartials(partial, grid, 2 * columns, program.defineDense(op.getDweight()));
  if (!op.getDbias().use_empty())
    program.sumPartials(partial.sliced({0, 1, 0}, {grid, 1, columns}), grid, 2 * columns,
                        program.defineDense(op.getDbias()));
  return success();
}

LogicalResult lower(EmbeddingOp op, ProgramBuilder &program) {
  View table = program.dense(op.getTable()), ids = program.dense(op.getIds());
  Store y = program.storeOf(op.getResult());
  EmbeddingParams params{ids.elements(), table.shape[1], table.shape[0], y.stride};
  program.launch("embedding_forward", table.element, params.rows, wordsOf(params),
                 {program.use(table), program.use(ids)}, y);
  return success();
}

} // namespace hybrid
