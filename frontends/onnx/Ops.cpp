//===- Ops.cpp - ops of the dialect for values of a foreign graph ---------------===//
#include "frontends/onnx/Ops.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;

namespace hybrid::onnx::frontend {

constexpr int64_t mostOps = 200000;
constexpr size_t mostDimensions = 8;

/// What is wrong with the types of results, or nothing.
static std::string faultOf(TypeRange types) {
  for (Type type : types) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
    if (shape.size() > mostDimensions)
      return ("a tensor of " + Twine(shape.size()) + " dimensions, expected at most " +
              Twine(mostDimensions))
          .str();
    if (countOf(shape) < 1)
      return "a tensor " + shapeText(shape) + ", expected 1 to 2^40 elements";
  }
  return "";
}

SmallVector<Value> Ops::add(StringRef name, Operands groups, ArrayRef<NamedAttribute> attributes,
                            size_t wanted, Block *body) {
  if (++count > mostOps)
    fail("the graph has more than " + Twine(mostOps) + " operations here");
  Operation *made = nullptr;
  if (fault.empty()) {
    ScopedDiagnosticHandler handler(builder.getContext(), [&](Diagnostic &diagnostic) {
      fail(diagnostic.str());
      return success();
    });
    OperationState state(location, name);
    SmallVector<int32_t> segments;
    for (const auto &group : groups) {
      state.addOperands(group);
      segments.push_back(static_cast<int32_t>(group.size()));
    }
    state.attributes = NamedAttrList(attributes);
    if (state.name.hasTrait<OpTrait::AttrSizedOperandSegments>())
      state.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr(segments));
    const bool hasRegion = state.name.hasTrait<OpTrait::OneRegion>();
    auto withRegion = [&] {
      if (hasRegion) {
        Region *region = state.addRegion();
        if (body)
          region->push_back(body);
      }
      return Operation::create(state);
    };
    // Without results yet: it holds the properties, defaults included, that inference asks for.
    Operation *bare = withRegion();
    SmallVector<Type> types;
    const bool good = succeeded(cast<InferTypeOpInterface>(bare).inferReturnTypes(
        builder.getContext(), location, bare->getOperands(), bare->getRawDictionaryAttrs(),
        bare->getPropertiesStorage(), bare->getRegions(), types));
    if (hasRegion && body)
      body->getParent()->getBlocks().remove(body);
    bare->destroy();
    if (good) {
      if (std::string wrong = faultOf(types); !wrong.empty())
        fail(wrong);
      state.regions.clear();
      state.addTypes(types);
      made = withRegion();
      if (failed(made->getName().verifyInvariants(made)))
        fail("an op that is not valid");
      if (!fault.empty()) {
        if (body)
          body->getParent()->getBlocks().remove(body);
        made->destroy();
        made = nullptr;
      }
    } else {
      fail("shapes that do not fit");
    }
  }
  if (!made) {
    delete body;
    return SmallVector<Value>(std::max<size_t>(wanted, 1), constant(0));
  }
  builder.insert(made);
  SmallVector<Value> results(made->getResults());
  while (results.size() < wanted)
    results.push_back({});
  return results;
}

Value Ops::constant(double value, ArrayRef<int64_t> shape) {
  if (std::string wrong = faultOf(type(shape)); !wrong.empty()) {
    fail(wrong);
    shape = {};
  }
  return ConstantOp::create(builder, location, type(shape), builder.getF64FloatAttr(value));
}

Value Ops::unary(UnaryKind kind, Value x) {
  return one<UnaryOp>({x}, {attribute("kind", UnaryKindAttr::get(builder.getContext(), kind))});
}

Value Ops::binary(BinaryKind kind, Value a, Value b) {
  return one<BinaryOp>({a, b},
                       {attribute("kind", BinaryKindAttr::get(builder.getContext(), kind))});
}

Value Ops::reduce(ReduceKind kind, Value x, ArrayRef<int64_t> axes, bool keep) {
  if (axes.empty())
    return x;
  SmallVector<NamedAttribute> attributes{
      attribute("kind", ReduceKindAttr::get(builder.getContext(), kind)), places("axes", axes)};
  if (keep)
    attributes.push_back(attribute("keep", builder.getUnitAttr()));
  return one<ReduceOp>({x}, attributes);
}

Value Ops::reshape(Value x, ArrayRef<int64_t> shape) {
  if (shapeOf(x) == shape)
    return x;
  return one<ReshapeOp>({x}, {sizes("shape", shape)});
}

Value Ops::transpose(Value x, ArrayRef<int64_t> permutation) {
  bool moves = permutation.size() != shapeOf(x).size();
  for (auto [to, from] : llvm::enumerate(permutation))
    moves |= static_cast<int64_t>(to) != from;
  return moves ? one<TransposeOp>({x}, {places("permutation", permutation)}) : x;
}

Value Ops::broadcast(Value x, ArrayRef<int64_t> shape) {
  if (shapeOf(x) == shape)
    return x;
  return one<BroadcastOp>({x}, {sizes("shape", shape)});
}

Value Ops::part(Value x, int64_t axis, int64_t start, int64_t size) {
  const auto place = static_cast<size_t>(axis);
  Shape starts(shapeOf(x).size(), 0), all(shapeOf(x));
  if (place >= all.size()) {
    fail("a part along dimension " + Twine(axis) + " of " + shapeText(shapeOf(x)));
    return x;
  }
  if (start == 0 && size == all[place])
    return x;
  starts[place] = start, all[place] = size;
  return one<SliceOp>({x}, {places("starts", starts), sizes("sizes", all)});
}

Value Ops::concat(ArrayRef<Value> parts, int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  return one<ConcatOp>(
      parts, {attribute("axis", builder.getIntegerAttr(builder.getIntegerType(64), axis))});
}

Value Ops::pad(Value x, int64_t axis, int64_t before, int64_t behind) {
  if (before == 0 && behind == 0)
    return x;
  Shape starts(shapeOf(x).size(), 0), all(shapeOf(x));
  if (static_cast<size_t>(axis) >= all.size()) {
    fail("zeros along dimension " + Twine(axis) + " of " + shapeText(shapeOf(x)));
    return x;
  }
  starts[static_cast<size_t>(axis)] = before;
  all[static_cast<size_t>(axis)] += before + behind;
  return one<PadOp>({x}, {places("starts", starts), sizes("shape", all)});
}

Value Ops::reverse(Value x, int64_t axis) {
  return one<ReverseOp>(
      {x}, {attribute("axis", builder.getIntegerAttr(builder.getIntegerType(64), axis))});
}

Value Ops::moveLast(Value x, int64_t axis) {
  Shape order;
  const auto rank = static_cast<int64_t>(shapeOf(x).size());
  for (int64_t d = 0; d < rank; ++d)
    if (d != axis)
      order.push_back(d);
  order.push_back(axis);
  return transpose(x, order);
}

Value Ops::moveBack(Value x, int64_t axis) {
  Shape order;
  const auto rank = static_cast<int64_t>(shapeOf(x).size());
  if (rank == 0)
    return x;
  for (int64_t d = 0; d < rank - 1; ++d)
    order.push_back(d);
  order.insert(order.begin() + std::min(axis, rank - 1), rank - 1);
  return transpose(x, order);
}

} // namespace hybrid::onnx::frontend
