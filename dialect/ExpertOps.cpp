//===- ExpertOps.cpp - rules of the ops that route tokens to experts --------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

static Type integers(MLIRContext *context) { return IntegerType::get(context, 32); }

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape(shapeOf(adaptor.getX()));
  int64_t k = adaptor.getK();
  if (shape.empty()) // C1
    return emitOptionalError(location, "top_k: x is a single number, expected [..., values]");
  if (k < 1 || (!ShapedType::isDynamic(shape.back()) && k > shape.back())) // C2
    return emitOptionalError(location, "top_k: k = ", k, ", but x is ", shapeText(shape),
                             ": expected 1 to its last dimension");
  shape.back() = k;
  types.push_back(tensorOf(shape, integers(context)));
  return success();
}

/// Whether all dimensions of `a` but the last `skipA` are those of `b` but the last `skipB`.
static bool sameLeading(Value a, size_t skipA, Value b, size_t skipB) {
  ArrayRef<int64_t> left = shapeOf(a), right = shapeOf(b);
  return left.size() >= skipA && right.size() >= skipB &&
         compatibleShapes(left.drop_back(skipA), right.drop_back(skipB));
}

LogicalResult TakeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (!sameLeading(adaptor.getX(), 1, adaptor.getIndices(), 1)) // C1
    return emitOptionalError(location, "take: x is ", shapeText(shapeOf(adaptor.getX())),
                             " and indices ", shapeText(shapeOf(adaptor.getIndices())),
                             ": expected equal sizes but the last");
  types.push_back(tensorOf(shapeOf(adaptor.getIndices()), elementOf(adaptor.getX())));
  return success();
}

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape(shapeOf(adaptor.getX()));
  int64_t size = adaptor.getSize();
  if (shape.empty() || !sameLeading(adaptor.getX(), 0, adaptor.getIndices(), 0)) // C1
    return emitOptionalError(location, "scatter: x is ", shapeText(shape), " and indices ",
                             shapeText(shapeOf(adaptor.getIndices())),
                             ": expected the same shape, [..., values]");
  if (size < 1) // C2
    return emitOptionalError(location, "scatter: size = ", size, ", expected at least 1");
  shape.back() = size;
  types.push_back(tensorOf(shape, elementOf(adaptor.getX())));
  return success();
}

LogicalResult RouteOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &types) {
  int64_t experts = adaptor.getExperts();
  if (shapeOf(adaptor.getChoices()).empty()) // C1
    return emitOptionalError(location,
                             "route: choices is a single number, expected [..., choices]");
  if (experts < 1) // C2
    return emitOptionalError(location, "route: experts = ", experts, ", expected at least 1");
  types.push_back(adaptor.getChoices().getType());
  types.push_back(tensorOf({experts + 1}, integers(context)));
  return success();
}
LogicalResult RouteOp::verify() {
  double factor = getCapacityFactor().convertToDouble();
  if (!(factor >= 0)) // C3
    return emitOpError() << "capacity_factor = " << factor << ", expected at least 0 (0: no limit)";
  return success();
}

/// What dispatch and collect have in common: C1.
template <typename Adaptor>
static LogicalResult inferRows(StringRef name, std::optional<Location> location, Adaptor adaptor,
                               SmallVectorImpl<Type> &types) {
  if (!sameLeading(adaptor.getX(), 1, adaptor.getSlots(), 0))
    return emitOptionalError(location, name, ": x is ", shapeText(shapeOf(adaptor.getX())),
                             " and slots ", shapeText(shapeOf(adaptor.getSlots())),
                             ": expected a slot for every row of x");
  types.push_back(adaptor.getX().getType());
  return success();
}
LogicalResult DispatchOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferRows("dispatch", location, adaptor, types);
}
LogicalResult CollectOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferRows("collect", location, adaptor, types);
}

LogicalResult GroupedLinearOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape(shapeOf(adaptor.getX()));
  ArrayRef<int64_t> weight = shapeOf(adaptor.getWeight());
  if (weight.size() != 3) // C2
    return emitOptionalError(location, "grouped_linear: weight is ", shapeText(weight),
                             ", expected [experts, out, in]");
  int64_t in = weight[adaptor.getTransposed() ? 1 : 2],
          out = weight[adaptor.getTransposed() ? 2 : 1];
  if (shape.size() < 2 || !compatible(shape.back(), in)) // C1
    return emitOptionalError(location, "grouped_linear: weight ", shapeText(weight), " takes ", in,
                             " channels, but x is ", shapeText(shape), ": expected [..., ", in,
                             "]");
  shape.back() = out;
  types.push_back(tensorOf(shape, elementOf(adaptor.getX())));
  return success();
}
LogicalResult GroupedLinearOp::verify() {
  ArrayRef<int64_t> offsets = shapeOf(getOffsets()), weight = shapeOf(getWeight());
  if (weight.size() != 3) // C2
    return emitOpError() << "weight is " << shapeText(weight) << ", expected [experts, out, in]";
  int64_t experts = weight[0];
  if (offsets.size() != 1 || !compatible(offsets[0], experts + 1)) // C3
    return emitOpError() << "offsets is " << shapeText(offsets) << ", but there are " << experts
                         << " experts: expected [" << experts + 1 << "]";
  return success();
}

LogicalResult GroupedLinearGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                    Adaptor adaptor, SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> offsets = shapeOf(adaptor.getOffsets());
  if (!sameLeading(adaptor.getX(), 1, adaptor.getCotangent(), 1)) // C1
    return emitOptionalError(location, "grouped_linear_grad: x is ",
                             shapeText(shapeOf(adaptor.getX())), " and the cotangent ",
                             shapeText(shapeOf(adaptor.getCotangent())),
                             ": expected equal sizes but the last");
  if (offsets.size() != 1 || offsets[0] < 2) // C2
    return emitOptionalError(location, "grouped_linear_grad: offsets is ", shapeText(offsets),
                             ", expected one more element than there are experts");
  types.push_back(
      tensorOf({offsets[0] - 1, lastSize(adaptor.getCotangent()), lastSize(adaptor.getX())},
               elementOf(adaptor.getX())));
  return success();
}
