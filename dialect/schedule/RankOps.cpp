//===- RankOps.cpp - rules of steps that all ranks take together -------------===//
#include "dialect/schedule/RankOps.h"
#include "dialect/schedule/Memory.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace hybrid;

#define GET_OP_CLASSES
#include "dialect/schedule/RankOps.cpp.inc"

bool AllReduceOp::writesOperand(unsigned index) {
  return !hasWeight() || index + 1 < getViews().size();
}
bool ExchangeOp::writesOperand(unsigned index) { return !gives() || index == 1; }
/// Behind these they hold what they did not before.
bool AwaitOp::writesOperand(unsigned) { return true; }
bool AllGatherOp::writesOperand(unsigned) { return true; }
bool ReleaseOp::writesOperand(unsigned) { return true; }

template <typename Op> static LogicalResult verifyOneKind(Op op) {
  const size_t views = op.getViews().size(), places = op.getBuffers().size();
  if (views && places)
    return op.emitOpError() << "has " << views << " operands and " << places
                            << " places, expected one kind";
  return success();
}

/// Whether a view is of a buffer in `space`.
static bool liesIn(Value value, Space space) {
  auto buffer = viewOf(value).buffer.getDefiningOp<BufferOp>();
  return buffer && buffer.getSpace() == space;
}

LogicalResult AllReduceOp::verify() {
  const Type element = getElementType(), wire = getWire();
  if (getWeighted() && !getMean()) // C4
    return emitOpError() << "is weighted, but no mean";
  if (getScaled() && getMean()) // C4
    return emitOpError() << "is scaled, and a mean";
  if (getRelease() && !getToOwners()) // C5
    return emitOpError() << "releases what is not reduced to owners";
  const size_t reducedViews = getViews().size() - (hasWeight() && !getViews().empty() ? 1 : 0),
               reducedPlaces = getBuffers().size() - (hasWeight() && !getBuffers().empty() ? 1 : 0);
  if (getToOwners()) // C5
    for (Value value : getViews().take_front(reducedViews))
      if (!liesIn(value, Space::Gradients))
        return emitOpError() << "reduces " << value.getType() << " to owners, expected gradients";
  if (getToOwners()) // C5
    for (Attribute buffer : getBuffers().getValue().take_front(reducedPlaces))
      if (cast<BufferAttr>(buffer).getSpace() != Space::Gradients)
        return emitOpError() << "reduces " << buffer << " to owners, expected gradients";
  if (!element.isF32() && !element.isF64()) // C1
    return emitOpError() << "reduces elements of " << element << ", expected f32 or f64";
  if (wire != element && !wire.isBF16()) // C1
    return emitOpError() << "sends " << element << " as " << wire << ", expected " << element
                         << " or bf16";
  const size_t count = getViews().size() + getBuffers().size();
  if (failed(verifyOneKind(*this))) // C3
    return failure();
  if (count < (hasWeight() ? 2u : 1u)) // C2
    return emitOpError() << "has " << count << " buffers, expected something to reduce"
                         << (hasWeight() ? " and a weight" : "");
  for (Value value : getViews()) {
    View view = viewOf(value);
    if (view.element != element || !view.isDense()) // C3
      return emitOpError() << "reduces " << value.getType() << ", expected dense elements of "
                           << element;
  }
  const int64_t bytes = bytesOf(element);
  for (auto [i, attribute] : llvm::enumerate(getBuffers())) {
    const auto buffer = cast<BufferAttr>(attribute);
    const bool isWeight = hasWeight() && i + 1 == count;
    if (buffer.getBytes() < bytes || buffer.getBytes() % bytes != 0 ||
        (isWeight && buffer.getBytes() != bytes)) // C2
      return emitOpError() << "has a buffer of " << buffer.getBytes() << " bytes, expected "
                           << (isWeight ? "one element" : "whole elements") << " of " << element;
  }
  if (hasWeight() && !getViews().empty() && viewOf(getViews().back()).extent() != 1) // C2
    return emitOpError() << "has a weight of " << viewOf(getViews().back()).extent()
                         << " elements, expected one";
  return success();
}

LogicalResult AwaitOp::verify() { return verifyOneKind(*this); } // C1

/// Of ops over parameters that ranks have shares of.
template <typename Op> static LogicalResult verifyShared(Op op) {
  if (failed(verifyOneKind(op))) // C1
    return failure();
  if (op.getViews().empty() && op.getBuffers().empty()) // C1
    return op.emitOpError() << "has no buffers, expected parameters";
  for (Value value : op.getViews()) {
    if (!viewOf(value).isDense()) // C1
      return op.emitOpError() << "has " << value.getType() << ", expected dense elements";
    if (!liesIn(value, Space::Parameters)) // C2
      return op.emitOpError() << "has " << value.getType() << ", expected parameters";
  }
  for (Attribute buffer : op.getBuffers())
    if (cast<BufferAttr>(buffer).getSpace() != Space::Parameters) // C2
      return op.emitOpError() << "has " << buffer << ", expected parameters";
  return success();
}

LogicalResult AllGatherOp::verify() { return verifyShared(*this); }
LogicalResult ReleaseOp::verify() { return verifyShared(*this); }

LogicalResult ExchangeOp::verify() {
  if (getRanks() < 2) // C1
    return emitOpError() << "is of " << getRanks() << " ranks, expected at least 2";
  if (failed(verifyOneKind(*this))) // C2
    return failure();
  SmallVector<int64_t> sizes;
  for (Value value : getViews()) {
    View view = viewOf(value);
    if (!view.isDense()) // C2
      return emitOpError() << "has " << value.getType() << ", expected dense elements";
    sizes.push_back(view.elements() * bytesOf(view.element));
  }
  for (Attribute buffer : getBuffers())
    sizes.push_back(cast<BufferAttr>(buffer).getBytes());
  const size_t expected = givesToAll() ? 2 : 1;
  if (sizes.size() != expected) // C2
    return emitOpError() << "has " << sizes.size() << " buffers, expected " << expected;
  if (givesToAll() &&
      (sizes[0] != sizes[1] || sizes[0] % static_cast<int64_t>(getRanks()) != 0)) // C3
    return emitOpError() << "has buffers of " << sizes[0] << " and " << sizes[1]
                         << " bytes, expected " << getRanks() << " equal parts in both";
  if (getPattern() == RankPattern::Place && sizes[0] != 4) // C3
    return emitOpError() << "writes a place into " << sizes[0] << " bytes, expected 4";
  return success();
}
