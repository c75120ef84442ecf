//===- RepeatChannels.cpp - channels again and again, in memory once ------===//
#include "dialect/Definitions.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(RepeatChannelsOp) {
  SmallVector<int64_t> shape(shapeOf(adaptor.getX()));
  const int64_t times = adaptor.getTimes();
  if (shape.empty())
    return emitOptionalError(location, "repeat_channels: x has no dimension to repeat along"); // C1
  if (times < 1)
    return emitOptionalError(location, "repeat_channels: times = ", times,
                             ", expected 1 or more"); // C2
  if (!ShapedType::isDynamic(shape.back()))
    shape.back() *= times;
  return give(types, {tensorOf(shape, elementOf(adaptor.getX()))});
}
