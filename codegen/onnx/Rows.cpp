//===- Rows.cpp - what is done to each row: products, norms, look-ups -----------===//
#include "codegen/onnx/Conversion.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid::onnx {

/// All dimensions but the last as one.
static Tensor asMatrix(const Tensor &x, Conversion &to) {
  const int64_t columns = x.shape.back();
  return to.graph.reshape(x, {elementCount(ArrayRef(x.shape).drop_back()), columns});
}

/// Gemm keeps weights as they are stored; where x has more than a matrix's dimensions, they become
/// one.
static LogicalResult convertLinear(LinearOp op, Conversion &to) {
  Tensor product = to.graph.gemm(asMatrix(to.of(op.getX()), to), to.of(op.getWeight()),
                                 to.optional(op.getBias()), false, true);
  to.define(op.getResult(), to.graph.reshape(product, shapeOf(op.getResult())));
  return success();
}

/// MatMul takes the matrices of both by their place: [batch..., rows, k] by [batch..., k, n].
static LogicalResult convertProducts(MatmulOp op, Conversion &to) {
  const size_t batch = shapeOf(op.getB()).size() - 2;
  const Tensor &a = to.of(op.getA());
  Tensor b = to.of(op.getB());
  if (op.getTransposeB()) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(batch) + 2));
    std::swap(order[batch], order[batch + 1]);
    b = to.graph.transpose(b, order);
  }
  SmallVector<int64_t> rows(ArrayRef(a.shape).take_front(batch));
  rows.push_back(elementCount(ArrayRef(a.shape).drop_front(batch).drop_back()));
  rows.push_back(a.shape.back());
  SmallVector<int64_t> shape(rows);
  shape.back() = b.shape.back();
  Tensor product = to.graph.node("MatMul", {to.graph.reshape(a, rows), b}, shape, a.element);
  to.define(op.getResult(), to.graph.reshape(product, shapeOf(op.getResult())));
  return success();
}

static LogicalResult convertMatmul(MatmulOp op, Conversion &to) {
  if (!op.isRowwise())
    return convertProducts(op, to);
  Tensor product =
      to.graph.gemm(asMatrix(to.of(op.getA()), to),
                    op.getTransposeA() ? asMatrix(to.of(op.getB()), to) : to.of(op.getB()), {},
                    op.getTransposeA(), op.getTransposeB());
  to.define(op.getResult(), to.graph.reshape(product, shapeOf(op.getResult())));
  return success();
}

static LogicalResult convertRmsNorm(RmsNormOp op, Conversion &to) {
  Formula x = to.formula(op.getX());
  const int64_t last = x.value.rank() - 1;
  if (to.hasLayerOperators() && !op.getEpsilonOutside()) {
    Tensor weight =
        op.getWeight() ? to.of(op.getWeight()) : to.graph.full(1, {x.value.shape.back()});
    to.define(op.getResult(),
              to.graph.node("RMSNormalization", {x.value, weight}, x.value.shape, x.value.element,
                            {{"epsilon", static_cast<float>(op.getEpsilon().convertToDouble())}}));
    return success();
  }
  Formula square = to.formula(to.graph.reduce("ReduceMean", x * x, {last}, true));
  const double epsilon = op.getEpsilon().convertToDouble();
  Formula y = x / (op.getEpsilonOutside() ? sqrt(square) + epsilon : sqrt(square + epsilon));
  to.define(op.getResult(), op.getWeight() ? y * to.formula(op.getWeight()) : y);
  return success();
}

static LogicalResult convertLayerNorm(LayerNormOp op, Conversion &to) {
  const Tensor &x = to.of(op.getX());
  SmallVector<Tensor> inputs{x, op.getWeight() ? to.of(op.getWeight())
                                               : to.graph.full(1, {x.shape.back()})};
  if (op.getBias())
    inputs.push_back(to.of(op.getBias()));
  to.define(op.getResult(),
            to.graph.node("LayerNormalization", inputs, x.shape, x.element,
                          {{"epsilon", static_cast<float>(op.getEpsilon().convertToDouble())}}));
  return success();
}

static LogicalResult convertEmbedding(EmbeddingOp op, Conversion &to) {
  const Tensor &table = to.of(op.getTable());
  to.define(op.getResult(), to.graph.node("Gather", {table, to.of(op.getIds())},
                                          shapeOf(op.getResult()), table.element));
  return success();
}

void addRows(Conversion &to) {
  to.add<LinearOp>(convertLinear);
  to.add<MatmulOp>(convertMatmul);
  to.add<RmsNormOp>(convertRmsNorm);
  to.add<LayerNormOp>(convertLayerNorm);
  to.add<EmbeddingOp>(convertEmbedding);
}

} // namespace hybrid::onnx
