//===- TransformOps.cpp - rules of transforms by a library --------------------===//
#include "dialect/schedule/TransformOps.h"
#include "dialect/schedule/Memory.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace hybrid;

#define GET_OP_CLASSES
#include "dialect/schedule/TransformOps.cpp.inc"

/// The inverse uses the spectrum up.
bool LibraryFftOp::writesOperand(unsigned index) { return index == 1 || getInverse(); }

LogicalResult LibraryFftOp::verify() {
  const size_t views = getViews().size(), places = getBuffers().size();
  if (views && places) // C4
    return emitOpError() << "has " << views << " operands and " << places
                         << " places, expected one kind";
  if (views + places != 2) // C1
    return emitOpError() << "has " << views + places
                         << " buffers, expected real numbers and a spectrum";
  const auto points = static_cast<int64_t>(getPoints()),
             signals = static_cast<int64_t>(getSignals());
  if (points < 1 || signals < 1) // C2
    return emitOpError() << "has " << points << " points and " << signals
                         << " signals, expected positive sizes";
  if (!getElementType().isF32() && !getElementType().isF64()) // C3
    return emitOpError() << "is of " << getElementType() << ", expected f32 or f64";
  const int64_t elements[] = {points * signals, (points / 2 + 1) * signals * 2};
  for (auto [view, expected] : llvm::zip(getViews(), elements)) {
    auto type = cast<MemRefType>(view.getType());
    if (type.getNumElements() != expected || type.getElementType() != getElementType() ||
        !viewOf(view).isDense()) // C5
      return emitOpError() << "has an operand " << type << ", expected " << expected
                           << " elements of " << getElementType() << " that lie densely";
  }
  return success();
}
