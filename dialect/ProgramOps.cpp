//===- ProgramOps.cpp - rules of the scheduled form -------------------------===//
//
// The executable's loader checks all of this again, since it trusts nobody; here it catches a fault
// of the scheduler at the op that has it.
//
//===----------------------------------------------------------------------===//
#include "dialect/HybridOps.h"

using namespace mlir;
using namespace hybrid;

/// Every buffer of `op` in `space` ends inside its `size` bytes.
static LogicalResult verifyBuffers(Operation *op, Space space, StringRef name, int64_t size) {
  auto buffers = op->getAttrOfType<ArrayAttr>("buffers");
  for (Attribute attribute : buffers ? buffers.getValue() : ArrayRef<Attribute>()) {
    auto buffer = cast<BufferAttr>(attribute);
    bool inside = buffer.getBytes() <= size && buffer.getOffset() <= size - buffer.getBytes();
    if (buffer.getSpace() == space && !inside)
      return op->emitOpError() << "uses " << buffer.getBytes() << " bytes at offset "
                               << buffer.getOffset() << ", but " << name << " has " << size
                               << " bytes";
  }
  return success();
}

LogicalResult ProgramOp::verify() {
  int64_t arena = getArenaBytes();
  if (arena < 0) // C1
    return emitOpError() << "has an arena of " << arena << " bytes";
  for (Operation &op : getBody().front()) {
    if (!isa<LaunchOp, LibraryMatmulOp, LibraryAttentionOp, TileLoopOp>(op)) // C2
      return op.emitOpError() << "is in a program, expected launches, library calls and loops over "
                                 "tiles only";
    WalkResult inside = op.walk([&](Operation *inner) {
      return failed(verifyBuffers(inner, Space::Arena, "the arena", arena)) // C2
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (inside.wasInterrupted())
      return failure();
  }
  return success();
}

LogicalResult TileLoopOp::verify() {
  auto rows = static_cast<int64_t>(getRows()), tile = static_cast<int64_t>(getTile()),
       bytes = static_cast<int64_t>(getTileBytes());
  if (tile < 1 || tile > rows || bytes < 0) // C1
    return emitOpError() << "has tiles of " << tile << " rows of " << rows << " in " << bytes
                         << " bytes";
  for (Operation &op : getBody().front()) {
    auto launch = dyn_cast<LaunchOp>(op);
    auto product = dyn_cast<LibraryMatmulOp>(op);
    bool cut = launch ? launch.getItemsPerTile() > 0
                      : product && product.getTileRows() != product.getTileSum();
    if (!cut) // C2
      return op.emitOpError() << "is in a loop over tiles, but does not say how it is cut";
    if (product && product.getTileSum() && !getSequential()) // C3
      return op.emitOpError() << "sums over tiles that run in parallel";
    if (failed(verifyBuffers(&op, Space::Tile, "a tile", bytes))) // C2
      return failure();
  }
  return success();
}

LogicalResult LaunchOp::verify() {
  int64_t grid = getGrid(), scratch = getScratchBytes();
  auto items = static_cast<int64_t>(getItemsPerTile());
  if (grid < 0 || scratch < 0 || items < 0 || static_cast<int64_t>(getThreads()) < 0) // C1
    return emitOpError() << "has a grid of " << grid << ", " << scratch << " bytes of scratch and "
                         << items << " items a tile: none can be negative";
  if (!getRowBytes().empty() && getRowBytes().size() != getBuffers().size()) // C2
    return emitOpError() << "has row_bytes for " << getRowBytes().size() << " of its "
                         << getBuffers().size() << " buffers";
  if (getStoreBuffers() > getBuffers().size()) // C3
    return emitOpError() << "stores to " << getStoreBuffers() << " of its " << getBuffers().size()
                         << " buffers";
  return success();
}

LogicalResult LibraryMatmulOp::verify() {
  const auto ldAddend = static_cast<int64_t>(getLdAddend());
  size_t addends = ldAddend ? 1 : 0, buffers = getBuffers().size();
  if (buffers != 3 + addends && buffers != 4 + addends) // C1
    return emitOpError() << "has " << buffers << " buffers, expected a, b, c and optionally bias"
                         << (addends ? ", then the addend" : "");
  int64_t m = getM(), n = getN(), k = getK(), groups = getGroups();
  if (m < 0 || n < 0 || k < 0) // C2
    return emitOpError() << "multiplies " << m << " x " << n << " x " << k
                         << ": sizes cannot be negative";
  if (groups < 0) // C2
    return emitOpError() << "has " << groups << " groups, expected none or some";
  if (ldAddend < 0) // C2
    return emitOpError() << "has an addend whose rows are " << ldAddend << " apart";
  if (ldAddend && (groups || getAccumulate() || getTileRows() || getTileSum())) // C3
    return emitOpError() << "has an addend, and groups or another place that it accumulates in";
  if (groups && buffers != 4) // C1
    return emitOpError() << "has " << buffers << " buffers, expected a, b, c and offsets";
  return success();
}

LogicalResult LibraryAttentionOp::verify() {
  const size_t buffers = getBackward() ? 10 : 5, tensors = getBackward() ? 8 : 4;
  if (getBuffers().size() != buffers) // C1
    return emitOpError() << "has " << getBuffers().size() << " buffers, expected " << buffers;
  const auto heads = static_cast<int64_t>(getHeads()), kvHeads = static_cast<int64_t>(getKvHeads()),
             length = static_cast<int64_t>(getLength()),
             keyLength = static_cast<int64_t>(getKeyLength());
  for (int64_t size : {static_cast<int64_t>(getBatch()), length, keyLength, heads, kvHeads,
                       static_cast<int64_t>(getHeadSize())})
    if (size < 1) // C2
      return emitOpError() << "has a size of " << size << ", expected positive sizes";
  if (heads % kvHeads != 0) // C2
    return emitOpError() << "has " << heads << " heads, no multiple of its " << kvHeads
                         << " heads of keys";
  if (getStrides().size() != 3 * tensors ||
      llvm::any_of(getStrides(), [](int64_t stride) { return stride < 0; })) // C3
    return emitOpError() << "has strides [" << getStrides() << "], expected 3 for each of "
                         << tensors << " tensors, none negative";
  if (getCausal() && length != keyLength) // C4
    return emitOpError() << "is causal, but has " << length << " queries for " << keyLength
                         << " keys";
  return success();
}
