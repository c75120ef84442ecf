//===- ProgramOps.cpp - rules of the scheduled form -------------------------===//
//
// The executable's loader checks all of this again, since it trusts nobody; here it catches a fault
// of the scheduler at the op that has it.
//
//===----------------------------------------------------------------------===//
#include "dialect/HybridOps.h"

using namespace mlir;
using namespace hybrid;

LogicalResult ProgramOp::verify() {
  int64_t arena = getArenaBytes();
  if (arena < 0) // C1
    return emitOpError() << "has an arena of " << arena << " bytes";
  for (Operation &op : getBody().front()) {
    if (!isa<LaunchOp, LibraryMatmulOp>(op)) // C2
      return op.emitOpError() << "is in a program, expected launches and library calls only";
    for (auto buffer : op.getAttrOfType<ArrayAttr>("buffers").getAsRange<BufferAttr>()) {
      bool inside = buffer.getBytes() <= arena && buffer.getOffset() <= arena - buffer.getBytes();
      if (buffer.getSpace() == Space::Arena && !inside) // C2
        return op.emitOpError() << "uses " << buffer.getBytes() << " bytes at offset "
                                << buffer.getOffset() << ", but the arena has " << arena
                                << " bytes";
    }
  }
  return success();
}

LogicalResult LaunchOp::verify() {
  int64_t grid = getGrid(), scratch = getScratchBytes();
  if (grid < 0 || scratch < 0) // C1
    return emitOpError() << "has a grid of " << grid << " and " << scratch
                         << " bytes of scratch: neither can be negative";
  return success();
}

LogicalResult LibraryMatmulOp::verify() {
  size_t buffers = getBuffers().size();
  if (buffers != 3 && buffers != 4) // C1
    return emitOpError() << "has " << buffers << " buffers, expected a, b, c and optionally bias";
  int64_t m = getM(), n = getN(), k = getK(), groups = getGroups();
  if (m < 0 || n < 0 || k < 0) // C2
    return emitOpError() << "multiplies " << m << " x " << n << " x " << k
                         << ": sizes cannot be negative";
  if (groups < 0) // C2
    return emitOpError() << "has " << groups << " groups, expected none or some";
  if (groups && buffers != 4) // C1
    return emitOpError() << "has " << buffers << " buffers, expected a, b, c and offsets";
  return success();
}
