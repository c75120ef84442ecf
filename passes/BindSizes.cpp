//===- BindSizes.cpp - free dimensions and element types of a function -------===//
#include "passes/BindSizes.h"
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

namespace {

class Binder {
public:
  Binder(MLIRContext *context, int64_t batch, int64_t length, Type element)
      : builder(context), element(element) {
    sizes["B"] = batch;
    sizes["L"] = length;
  }

  LogicalResult bindFunction(func::FuncOp function) {
    SmallVector<Type> arguments;
    for (BlockArgument argument : function.getArguments()) {
      auto type = cast<RankedTensorType>(argument.getType());
      SmallVector<int64_t> shape(type.getShape());
      if (auto dims =
              function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "hybrid.dims")) {
        FailureOr<ArrayAttr> bound = bindSizes(dims, argument.getLoc());
        if (failed(bound))
          return failure();
        shape = sizesOf(*bound);
        function.removeArgAttr(argument.getArgNumber(), "hybrid.dims");
      }
      if (llvm::any_of(shape, ShapedType::isDynamic)) {
        emitError(argument.getLoc()) << "input " << argument.getArgNumber() << " is " << type
                                     << ", but has no hybrid.dims to name its free dimensions";
        return failure();
      }
      if (failed(checkElements(shape, argument.getLoc())))
        return failure();
      argument.setType(tensorOf(shape, convert(type.getElementType())));
      arguments.push_back(argument.getType());
    }
    if (failed(bindBlock(function.getBody().front())))
      return failure();
    auto results = function.getBody().front().getTerminator()->getOperandTypes();
    function.setFunctionType(builder.getFunctionType(arguments, results));
    return success();
  }

private:
  Type convert(Type type) const { return isa<FloatType>(type) ? element : type; }

  FailureOr<ArrayAttr> bindSizes(ArrayAttr shape, Location loc) {
    SmallVector<Attribute> bound;
    for (Attribute size : shape) {
      if (auto name = dyn_cast<StringAttr>(size)) {
        std::optional<int64_t> found = boundSize(name.getValue(), sizes);
        if (!found) {
          emitError(loc) << "free dimension '" << name.getValue()
                         << "' has no size: only B (batch) and L (length) are bound when compiling";
          return failure();
        }
        if (*found < 1) {
          emitError(loc) << "too short: " << name.getValue() << " is " << *found
                         << " here. Compile for a longer length";
          return failure();
        }
        size = builder.getI64IntegerAttr(*found);
      }
      bound.push_back(size);
    }
    return builder.getArrayAttr(bound);
  }

  LogicalResult checkElements(ArrayRef<int64_t> shape, Location loc) {
    if (isTooLarge(shape))
      return emitError(loc) << "a tensor " << shapeText(shape)
                            << " is too large: more than 2^40 elements. Compile with a smaller "
                               "--batch or --length";
    return success();
  }

  LogicalResult bindBlock(Block &block) {
    for (Operation &op : block)
      if (failed(bindOp(op)))
        return failure();
    return success();
  }

  LogicalResult bindOp(Operation &op) {
    auto sized = dyn_cast<FreeSizesOp>(op);
    if (sized && failed(sized.verifySizes(sizes)))
      return failure();
    if (sized)
      sized.placeEnds();
    auto inferrable = dyn_cast<InferTypeOpInterface>(op);
    for (NamedAttribute attribute : llvm::to_vector(op.getAttrs())) {
      if (auto type = dyn_cast<TypeAttr>(attribute.getValue()))
        op.setAttr(attribute.getName(), TypeAttr::get(convert(type.getValue())));
      auto shape = dyn_cast<ArrayAttr>(attribute.getValue());
      if (!shape || !inferrable)
        continue;
      FailureOr<ArrayAttr> bound = bindSizes(shape, op.getLoc());
      if (failed(bound))
        return failure();
      op.setAttr(attribute.getName(), *bound);
    }
    if (auto outer = dyn_cast<BodyOp>(op); outer && !op.getRegion(0).empty()) {
      Block &body = op.getRegion(0).front();
      for (auto [argument, type] :
           llvm::zip_equal(body.getArguments(), outer.getBodyArgumentTypes()))
        argument.setType(type);
      if (failed(bindBlock(body)))
        return failure();
    }
    SmallVector<Type> types;
    if (inferrable) {
      if (failed(inferrable.inferReturnTypes(op.getContext(), op.getLoc(), op.getOperands(),
                                             op.getAttrDictionary(), op.getPropertiesStorage(),
                                             op.getRegions(), types)))
        return failure();
    } else {
      for (Type type : op.getResultTypes()) {
        auto tensor = cast<RankedTensorType>(type);
        types.push_back(tensorOf(tensor.getShape(), convert(tensor.getElementType())));
      }
    }
    for (auto [result, type] : llvm::zip(op.getResults(), types)) {
      if (failed(checkElements(cast<RankedTensorType>(type).getShape(), op.getLoc())))
        return failure();
      result.setType(type);
    }
    return success();
  }

  Builder builder;
  Type element;
  llvm::StringMap<int64_t> sizes;
};

} // namespace

LogicalResult hybrid::bindSizes(func::FuncOp function, int64_t batch, int64_t length,
                                Type element) {
  return Binder(function.getContext(), batch, length, element).bindFunction(function);
}
