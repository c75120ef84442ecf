//===- CarriedState.cpp - ops that go on from what came in before ------------===//
#include "dialect/CarriedState.h"

using namespace mlir;

namespace hybrid {

Value cutPositions(ExpressionBuilder &e, Value x, int64_t axis, int64_t from, int64_t count) {
  SmallVector<int64_t> starts(shapeOf(x).size(), 0), sizes(shapeOf(x));
  starts[static_cast<size_t>(axis)] = from;
  sizes[static_cast<size_t>(axis)] = count;
  return SliceOp::create(e.builder, e.loc, x, e.builder.getDenseI64ArrayAttr(starts),
                         shapeAttr(e.builder.getContext(), sizes));
}

Value behindHistory(ExpressionBuilder &e, Value x, int64_t axis, int64_t positions,
                    StateOfType stateOfType, SmallVectorImpl<Value> &finalStates) {
  SmallVector<int64_t> shape(shapeOf(x));
  const int64_t length = std::exchange(shape[static_cast<size_t>(axis)], positions);
  Value before = stateOfType(tensorOf(shape, elementOf(x)));
  Value whole = ConcatOp::create(e.builder, e.loc, ValueRange{before, x}, axis);
  finalStates.push_back(cutPositions(e, whole, axis, length, positions));
  return whole;
}

StringAttr countOfRing(Value value) {
  auto read = value ? value.getDefiningOp<ParameterOp>() : ParameterOp();
  return read ? read->getAttrOfType<StringAttr>(ringAttribute) : StringAttr();
}

void makeRing(Value state, Value count) {
  state.getDefiningOp()->setAttr(ringAttribute, count.getDefiningOp<ParameterOp>().getNameAttr());
}

Value countFrom(ExpressionBuilder &e, double start, int64_t length, Type element) {
  return IotaOp::create(
      e.builder, e.loc, tensorOf({length}, element), shapeAttr(e.builder.getContext(), {length}),
      e.builder.getF64FloatAttr(start), e.builder.getF64FloatAttr(1), TypeAttr::get(element));
}

} // namespace hybrid
