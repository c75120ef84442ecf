//===- Emitter.cpp - adds ops for values of the language -----------------------===//
#include "frontends/dsl/Emitter.h"
#include "dialect/Shapes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace hybrid::dsl {

constexpr int64_t mostOps = 200000;
constexpr uint64_t mostSteps = 2000000;
constexpr size_t mostDimensions = 8;

Location Emitter::at(Place place) {
  if (++ops == mostOps + 1) {
    diagnostics.error(place, "this model has more than " + llvm::Twine(mostOps) +
                                 " operations: does a loop repeat too often?");
    stopped = true;
  }
  return diagnostics.location(place);
}

Shape Emitter::ofAllExperts(Shape shape) const {
  for (Experts *around = experts; around; around = around->outer)
    shape.insert(shape.begin(), Dim(around->count));
  return shape;
}

mlir::Value Emitter::ownPart(mlir::Value parameter, Experts *experts) {
  if (!experts)
    return parameter;
  mlir::Value whole = ownPart(parameter, experts->outer);
  auto type = cast<RankedTensorType>(whole.getType());
  experts->own.push_back(whole);
  return experts->body->addArgument(
      RankedTensorType::get(type.getShape().drop_front(), type.getElementType()), whole.getLoc());
}

bool Emitter::step(Place place, uint64_t count) {
  if (isStopped())
    return false;
  steps += count;
  if (steps > mostSteps) {
    diagnostics.error(place, "this model takes more than " + llvm::Twine(mostSteps) +
                                 " steps to write out: does a loop repeat too often?");
    stopped = true;
  }
  return !stopped;
}

Value Emitter::result(mlir::Value tensor, Shape shape, Place origin) {
  Value value;
  value.kind = Value::Kind::Tensor;
  value.tensor = tensor;
  value.shape = std::move(shape);
  value.origin = origin;
  value.holdsIntegers = !isa<FloatType>(elementOf(tensor));
  return value;
}

Value Emitter::scalar(double value, Place place) {
  Location loc = at(place);
  return result(ConstantOp::create(builder, loc, type({}), builder.getF64FloatAttr(value)), {},
                place);
}

Value Emitter::filled(double value, const Shape &shape, Place place) {
  if (!check(shape, place))
    return {};
  if (llvm::any_of(shape, [](const Dim &dim) { return dim.isFree(); }))
    return broadcastTo(scalar(value, place), shape, place).results[0];
  Location loc = at(place);
  return result(ConstantOp::create(builder, loc, type(shape), builder.getF64FloatAttr(value)),
                shape, place);
}

Value Emitter::unary(UnaryKind kind, const Value &x, Place place) {
  NamedAttribute attribute =
      builder.getNamedAttr("kind", UnaryKindAttr::get(builder.getContext(), kind));
  return add(UnaryOp::getOperationName(), x, {attribute}, place).results[0];
}

Emitter::Added Emitter::binary(BinaryKind kind, const Value &left, const Value &right,
                               Place place) {
  NamedAttribute attribute =
      builder.getNamedAttr("kind", BinaryKindAttr::get(builder.getContext(), kind));
  return add(BinaryOp::getOperationName(), {left, right}, {attribute}, place);
}

Emitter::Added Emitter::broadcastTo(const Value &x, const Shape &shape, Place place) {
  if (x.shape == shape)
    return {{x}, ""};
  return add(BroadcastOp::getOperationName(), x, {builder.getNamedAttr("shape", attribute(shape))},
             place);
}

Emitter::Added Emitter::reshape(const Value &x, const Shape &shape, Place place) {
  if (x.shape == shape)
    return {{x}, ""};
  return add(ReshapeOp::getOperationName(), x, {builder.getNamedAttr("shape", attribute(shape))},
             place);
}

Value Emitter::transpose(const Value &x, llvm::ArrayRef<int64_t> permutation, Place place) {
  if (llvm::is_sorted(permutation))
    return x;
  NamedAttribute order =
      builder.getNamedAttr("permutation", builder.getDenseI64ArrayAttr(permutation));
  return add(TransposeOp::getOperationName(), x, {order}, place).results[0];
}

Value Emitter::sum(const Value &x, llvm::ArrayRef<int64_t> axes, Place place) {
  if (axes.empty())
    return x;
  NamedAttrList attributes;
  attributes.append("kind", ReduceKindAttr::get(builder.getContext(), ReduceKind::Sum));
  attributes.append("axes", builder.getDenseI64ArrayAttr(axes));
  return add(ReduceOp::getOperationName(), x, attributes, place).results[0];
}

Value Emitter::slice(const Value &x, llvm::ArrayRef<int64_t> starts, const Shape &sizes,
                     Place place) {
  if (sizes == x.shape)
    return x;
  Location loc = at(place);
  return result(SliceOp::create(builder, loc, x.tensor, starts, attribute(sizes)), sizes, place);
}

Value Emitter::random(Distribution distribution, double a, double b, Place place) {
  // A second draw for the same parameter must not repeat the first.
  std::string stream = initial->stream;
  if (initial->draws++)
    stream += "#" + std::to_string(initial->draws);
  Location loc = at(place);
  auto op = RandomOp::create(
      builder, loc, type(initial->shape), DistributionAttr::get(builder.getContext(), distribution),
      builder.getF64FloatAttr(a), builder.getF64FloatAttr(b), builder.getStringAttr(stream));
  return result(op, initial->shape, place);
}

std::string Emitter::faultOf(const Shape &shape) {
  if (shape.size() > mostDimensions)
    return ("a tensor has at most " + llvm::Twine(mostDimensions) + " dimensions, this one has " +
            llvm::Twine(shape.size()))
        .str();
  int64_t elements = 1;
  for (const Dim &dim : shape) {
    if (dim.isFree())
      continue;
    if (dim.size < 1)
      return "the shape " + text(shape) + " has a size of " + text(dim) + ": expected at least 1";
    if (llvm::MulOverflow(elements, dim.size, elements) || elements > mostTensorElements)
      return "a tensor " + text(shape) + " is too large: more than 2^40 elements";
  }
  return "";
}

bool Emitter::check(const Shape &shape, Place place) {
  std::string fault = faultOf(shape);
  if (!fault.empty())
    diagnostics.error(place, fault);
  return fault.empty();
}

ArrayAttr Emitter::attribute(const Shape &shape) {
  llvm::SmallVector<Attribute> sizes;
  for (const Dim &dim : shape)
    sizes.push_back(dim.isFree() ? Attribute(builder.getStringAttr(text(dim)))
                                 : Attribute(builder.getI64IntegerAttr(dim.size)));
  return builder.getArrayAttr(sizes);
}

RankedTensorType Emitter::type(const Shape &shape) {
  llvm::SmallVector<int64_t> sizes;
  for (const Dim &dim : shape)
    sizes.push_back(dim.isFree() ? ShapedType::kDynamic : dim.size);
  return tensorOf(sizes, builder.getF32Type());
}

} // namespace hybrid::dsl
