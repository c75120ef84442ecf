//===- RankParts.cpp - the parts that ranks have of a value ------------------===//
#include "passes/RankParts.h"
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include <numeric>

using namespace mlir;

namespace hybrid {
namespace {

Value reshape(OpBuilder &builder, Value x, ArrayRef<int64_t> shape) {
  return ReshapeOp::create(builder, x.getLoc(), x, shapeAttr(builder.getContext(), shape));
}

/// Moves a dimension to another place among the others.
Value move(OpBuilder &builder, Value x, int64_t from, int64_t to) {
  if (from == to)
    return x;
  SmallVector<int64_t> order(shapeOf(x).size());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return TransposeOp::create(builder, x.getLoc(), x, builder.getDenseI64ArrayAttr(order));
}

} // namespace

Value RankParts::apart(OpBuilder &builder, Value x, int64_t dimension) const {
  SmallVector<int64_t> shape(shapeOf(x));
  shape[static_cast<size_t>(dimension)] /= ranks;
  shape.insert(shape.begin() + dimension, ranks);
  return move(builder, reshape(builder, x, shape), dimension, 0);
}

Value RankParts::together(OpBuilder &builder, Value x, int64_t dimension) const {
  Value beside = move(builder, x, 0, dimension);
  SmallVector<int64_t> shape(shapeOf(beside));
  shape.erase(shape.begin() + dimension);
  shape[static_cast<size_t>(dimension)] *= ranks;
  return reshape(builder, beside, shape);
}

Value RankParts::own(OpBuilder &builder, Value x, int64_t dimension) const {
  Value parts = apart(builder, x, dimension);
  ArrayRef<int64_t> shape = shapeOf(parts);
  Value table = reshape(builder, parts, {ranks, elementCount(parts) / ranks});
  Value place =
      RankPlaceOp::create(builder, x.getLoc(), tensorOf({1}, builder.getI32Type()), ranks);
  Value part = EmbeddingOp::create(builder, x.getLoc(), table, place);
  return reshape(builder, part, shape.drop_front());
}

Value RankParts::swap(OpBuilder &builder, Value x, int64_t from, int64_t to) const {
  Value parts = apart(builder, x, to);
  return together(builder, AllToAllOp::create(builder, x.getLoc(), parts), from);
}

Value RankParts::gather(OpBuilder &builder, Value x, int64_t dimension) const {
  SmallVector<int64_t> shape(shapeOf(x));
  shape.insert(shape.begin(), ranks);
  Value same = BroadcastOp::create(builder, x.getLoc(), x, shapeAttr(builder.getContext(), shape));
  return together(builder, AllToAllOp::create(builder, x.getLoc(), same), dimension);
}

} // namespace hybrid
