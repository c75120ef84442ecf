//===- HybridDialect.cpp - registration of the hybrid dialect ---------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "executable/ReplicaStride.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace hybrid;

#include "dialect/HybridDialect.cpp.inc"
#include "dialect/HybridEnums.cpp.inc"
#include "dialect/HybridInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/HybridAttributes.cpp.inc"

void HybridDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/HybridAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/HybridOps.cpp.inc"
      >();
}

LogicalResult IdsAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t below,
                              int64_t also) {
  if (below < 1 || also < INT32_MIN || also > INT32_MAX)
    return emitError() << "ids below " << below << " or " << also
                       << ", expected a bound of at least 1 and 32-bit integers";
  return success();
}

LogicalResult hybrid::verifyOneFloatType(Operation *op) {
  Type first;
  auto agrees = [&](Type type, StringRef what, unsigned index) -> LogicalResult {
    Type element = getElementTypeOrSelf(type);
    if (!isa<FloatType>(element))
      return success();
    if (!first)
      first = element;
    if (element != first)
      return op->emitOpError() << what << " " << index << " is " << type
                               << ", but the first tensor has elements of " << first;
    return success();
  };
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
    if (failed(agrees(type, "operand", i)))
      return failure();
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    if (failed(agrees(type, "result", i)))
      return failure();
  return success();
}

int64_t hybrid::bytesOfTensors(Operation *op) {
  int64_t bytes = 0;
  auto add = [&](Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      bytes += tensor.getNumElements() * ((tensor.getElementTypeBitWidth() + 7) / 8);
  };
  llvm::for_each(op->getOperandTypes(), add);
  llvm::for_each(op->getResultTypes(), add);
  return bytes;
}

Type hybrid::productResultElement(Type operand) {
  return operand.isBF16() ? Float32Type::get(operand.getContext()) : operand;
}

LogicalResult hybrid::verifyProductFloatTypes(Operation *op) {
  Type first = getElementTypeOrSelf(op->getOperand(0)),
       second = getElementTypeOrSelf(op->getOperand(1));
  if (first != second)
    return op->emitOpError() << "operand 1 is " << op->getOperand(1).getType()
                             << ", but the first tensor has elements of " << first;
  Type sums = productResultElement(first);
  auto agrees = [&](Type type, StringRef what, unsigned index) -> LogicalResult {
    Type element = getElementTypeOrSelf(type);
    if (isa<FloatType>(element) && element != sums)
      return op->emitOpError() << what << " " << index << " is " << type
                               << ", but sums of products of " << first << " are " << sums;
    return success();
  };
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
    if (i > 1 && failed(agrees(type, "operand", i)))
      return failure();
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    if (failed(agrees(type, "result", i)))
      return failure();
  return success();
}

/// `hybrid.dims` decides the shapes that specialize gives to arguments, so it is checked where it
/// is written.
static LogicalResult verifyDims(Operation *op, Type type, Attribute value) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto dims = dyn_cast<ArrayAttr>(value);
  if (!tensor || !dims || static_cast<int64_t>(dims.size()) != tensor.getRank())
    return op->emitError() << "hybrid.dims is " << value
                           << ", expected a list of one size or name for each dimension of "
                           << type;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    int64_t size = tensor.getDimSize(i);
    auto integer = dyn_cast<IntegerAttr>(dim);
    if (!integer && !isa<StringAttr>(dim))
      return op->emitError() << "hybrid.dims has " << dim << " for dimension " << i
                             << ", expected an integer or a name";
    if (integer ? integer.getValue().trySExtValue() != std::optional(size)
                : !ShapedType::isDynamic(size))
      return op->emitError() << "hybrid.dims has " << dim << " for dimension " << i << " of "
                             << type
                             << ": a name stands for a free dimension, an integer for a known size";
  }
  return success();
}

/// `hybrid.published`: FLOPs as papers count them, one dictionary a term (see the language's
/// `published`). Read by the cost report alone.
static LogicalResult verifyPublished(Operation *op, Attribute value) {
  auto terms = dyn_cast<ArrayAttr>(value);
  auto isTerm = [](Attribute attribute) {
    auto term = dyn_cast<DictionaryAttr>(attribute);
    return term && term.getAs<StringAttr>("layer") && term.getAs<StringAttr>("method") &&
           term.getAs<StringAttr>("term") && term.getAs<FloatAttr>("coefficient") &&
           term.getAs<IntegerAttr>("length") && term.getAs<IntegerAttr>("log_length");
  };
  if (!terms || !llvm::all_of(terms, isTerm))
    return op->emitError() << "hybrid.published is " << value
                           << ", expected a list of terms {layer, method, term, coefficient, "
                              "length, log_length}";
  return success();
}

LogicalResult HybridDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == "hybrid.published")
    return verifyPublished(op, attribute.getValue());
  return success();
}

LogicalResult HybridDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                      NamedAttribute attribute) {
  if (attribute.getName() == "hybrid.name" && !isa<StringAttr>(attribute.getValue()))
    return op->emitError() << "hybrid.name is " << attribute.getValue() << ", expected a string";
  if (attribute.getName() == "hybrid.ids" && !isa<IdsAttr>(attribute.getValue()))
    return op->emitError() << "hybrid.ids is " << attribute.getValue()
                           << ", expected a range as #hybrid.ids<below 16>";
  auto function = dyn_cast<func::FuncOp>(op);
  if (attribute.getName() == "hybrid.dims" && function)
    return verifyDims(op, function.getArgumentTypes()[index], attribute.getValue());
  return success();
}
