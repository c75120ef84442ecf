//===- ScheduleOps.cpp - rules of programs and their steps ------------------===//
//
// The executable's loader checks all of the placed form again, since it trusts nobody; here it
// catches a fault of the scheduler at the op that has it.
//
//===----------------------------------------------------------------------===//
#include "dialect/Shapes.h"
#include "dialect/schedule/Memory.h"
#include "dialect/schedule/RankOps.h"
#include "dialect/schedule/TransformOps.h"

using namespace mlir;
using namespace hybrid;

//===-- what steps write --------------------------------------------------------===//

bool ComputeOp::writesOperand(unsigned index) { return index >= getInputs().size(); }
bool CopyOp::writesOperand(unsigned index) { return index == 1; }
bool FillOp::writesOperand(unsigned) { return true; }
bool ReductionOp::writesOperand(unsigned index) { return index == getInputs().size(); }
bool RowSumsOp::writesOperand(unsigned index) { return index == getInputs().size(); }
bool RecurrenceStepOp::writesOperand(unsigned index) {
  return index >= getODSOperandIndexAndLength(6).first; // from `rows` on
}
bool LaunchOp::writesOperand(unsigned index) { return llvm::is_contained(getWrites(), index); }
bool LibraryMatmulOp::writesOperand(unsigned index) { return index == 2; }
bool LibraryAttentionOp::writesOperand(unsigned index) {
  return getBackward() ? index >= 6 : index >= 3;
}
//===-- builders ----------------------------------------------------------------===//

void ProgramOp::build(OpBuilder &builder, OperationState &state, StringRef name) {
  state.getOrAddProperties<Properties>().sym_name = builder.getStringAttr(name);
  state.addRegion();
}

void LaunchOp::build(OpBuilder &builder, OperationState &state, StringRef kernel, int64_t grid,
                     ValueRange views, StringRef source, ArrayRef<int64_t> constants,
                     LaunchConfiguration configuration, ArrayRef<int64_t> writes) {
  build(builder, state, kernel, grid, views, builder.getArrayAttr({}), writes, constants,
        configuration.scratchBytes, /*generated=*/false, /*brief=*/false, source,
        /*items_per_tile=*/0,
        /*row_bytes=*/{}, configuration.threads, /*store=*/"", /*store_buffers=*/0,
        /*functions=*/builder.getStrArrayAttr({}));
}

//===-- programs and buffers ----------------------------------------------------===//

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
  std::optional<int64_t> arena = getArenaBytes();
  if (arena && *arena < 0) // C1
    return emitOpError() << "has an arena of " << *arena << " bytes";
  for (Operation &op : getBody().front()) {
    if (!arena) {
      if (!isa<ScheduleStep, TileLoopOp, BufferOp, BufferViewOp, AbsentOp, OutputOp>(op)) // C3
        return op.emitOpError() << "is in a program, expected steps, buffers, views and outputs";
      continue;
    }
    if (!isa<LaunchOp, LibraryMatmulOp, LibraryAttentionOp, LibraryFftOp, TileLoopOp>(op) &&
        !isOverRanks(&op)) // C2
      return op.emitOpError() << "is in a program, expected launches, library calls, steps "
                                 "over ranks and loops over tiles only";
    WalkResult inside = op.walk([&](Operation *inner) {
      return failed(verifyBuffers(inner, Space::Arena, "the arena", *arena)) // C2
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (inside.wasInterrupted())
      return failure();
  }
  return success();
}

int64_t BufferOp::getBytes() {
  return getType().getNumElements() * bytesOf(getType().getElementType());
}

LogicalResult BufferOp::verify() {
  if (!getType().getLayout().isIdentity()) // C1
    return emitOpError() << "is " << getType() << ", expected elements that lie densely";
  if (getIds() && (!isInput() || !getType().getElementType().isInteger(32))) // C2
    return emitOpError() << "has ids, expected an input of i32";
  return success();
}

LogicalResult BufferViewOp::verify() {
  View view = viewOf(getResult());
  MemRefType whole = getBuffer().getType();
  if (!getBuffer().getDefiningOp<BufferOp>() || view.element != whole.getElementType() ||
      view.offset < 0 || view.offset + view.extent() > whole.getNumElements()) // C1
    return emitOpError() << "shows " << getType() << " of " << whole
                         << ", expected a part of a buffer";
  return success();
}

//===-- steps that kernels are generated for ------------------------------------===//

/// `region` computes one element of `results` from one of each of `arguments`.
static LogicalResult verifyRegion(Operation *op, Region &region, ValueRange arguments,
                                  size_t results) {
  Block &body = region.front();
  auto yield = body.empty() ? YieldElementsOp() : dyn_cast<YieldElementsOp>(body.back());
  if (!yield || body.getNumArguments() != arguments.size() || yield.getNumOperands() != results)
    return op->emitOpError() << "has a region of " << body.getNumArguments()
                             << " arguments, expected one of " << arguments.size()
                             << " that yields " << results << " values";
  for (auto [argument, memory] : llvm::zip(body.getArguments(), arguments))
    if (getElementTypeOrSelf(argument) != getElementTypeOrSelf(memory))
      return op->emitOpError() << "has a region of " << argument.getType() << " for "
                               << memory.getType();
  return success();
}

static LogicalResult verifyShapes(Operation *op, ValueRange views) {
  for (Value view : views)
    if (shapeOf(view) != shapeOf(views.front()))
      return op->emitOpError() << "has views of " << shapeText(shapeOf(views.front())) << " and "
                               << shapeText(shapeOf(view)) << ", expected one shape";
  return success();
}

LogicalResult ComputeOp::verify() {
  if (getOutputs().empty() || failed(verifyShapes(*this, getOperands()))) // C1
    return failure();
  return verifyRegion(*this, getBody(), getInputs(), getOutputs().size()); // C2
}

LogicalResult CopyOp::verify() {
  if (getFrom().getType().getElementType() != getTo().getType().getElementType())
    return emitOpError() << "copies " << getFrom().getType() << " to " << getTo().getType();
  return verifyShapes(*this, getOperands()); // C1
}

template <typename Op> static LogicalResult verifyLoad(Op op) {
  if (op.getInputs().empty() || failed(verifyShapes(op, op.getInputs()))) // C1
    return failure();
  if (!op.getLoad().empty()) // C2
    return verifyRegion(op, op.getLoad(), op.getInputs(), 1);
  if (op.getInputs().size() != 1)
    return op.emitOpError() << "reads " << op.getInputs().size() << " views without a region";
  return success();
}

LogicalResult ReductionOp::verify() {
  for (int64_t axis : getAxes())
    if (axis < 0 || axis >= cast<ShapedType>(getInputs().front().getType()).getRank()) // C1
      return emitOpError() << "reduces dimension " << axis << " of "
                           << getInputs().front().getType();
  return verifyLoad(*this);
}

LogicalResult RowSumsOp::verify() {
  auto matrix = cast<ShapedType>(getInputs().front().getType());
  auto perItem = static_cast<int64_t>(getRowsPerItem());
  if (matrix.getRank() != 2 || perItem < 1 ||
      getTo().getType().getDimSize(0) != (matrix.getDimSize(0) + perItem - 1) / perItem) // C1
    return emitOpError() << "sums " << perItem << " rows each of " << matrix << " into "
                         << getTo().getType();
  return verifyLoad(*this);
}

LogicalResult RecurrenceStepOp::verify() {
  const auto batch = static_cast<int64_t>(getBatch()), rows = static_cast<int64_t>(getBatchRows());
  if (rows < 1 || batch % rows != 0 || static_cast<int64_t>(getKept()) < 1) // C1
    return emitOpError() << "takes " << rows << " of " << batch << " sequences at once and keeps "
                         << getKept() << " states";
  for (Region *region : {&getStep(), &getGradient()})
    if (!region->empty() &&
        (region->front().empty() || !isa<YieldElementsOp>(region->front().back()))) // C2
      return emitOpError() << "has a region that does not end in schedule.yield";
  return success();
}

//===-- steps of the executable -------------------------------------------------===//

/// How many buffers a step has, which stand as operands or as places.
template <typename Op> static FailureOr<size_t> bufferCount(Op op) {
  size_t views = op.getViews().size(), places = op.getBuffers().size();
  if (views && places)
    return op.emitOpError() << "has " << views << " operands and " << places
                            << " places, expected one kind";
  return views + places;
}

int64_t TileLoopOp::rowsPerItem() {
  auto rows = static_cast<int64_t>(getTile());
  while (getSequential() && rows % 2 == 0 && rows > 16)
    rows /= 2;
  return rows;
}

int64_t TileLoopOp::itemsPerTile(int64_t grid) {
  auto rows = static_cast<int64_t>(getRows()), tile = static_cast<int64_t>(getTile());
  assert((grid == rows || grid == (rows + rowsPerItem() - 1) / rowsPerItem()) &&
         "a kernel in tiles works on rows or on groups of them");
  return grid == rows ? tile : tile / rowsPerItem();
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
    bool cut = launch    ? launch.getItemsPerTile() > 0
               : product ? product.getTileRows() != product.getTileSum()
                         : !isa<TileLoopOp, LibraryAttentionOp, LibraryFftOp>(op);
    if (!cut) // C2
      return op.emitOpError() << "is in a loop over tiles, but does not say how it is cut";
    if (product && product.getTileSum() && !getSequential()) // C3
      return op.emitOpError() << "sums over tiles that run in parallel";
    if (failed(verifyBuffers(&op, Space::Tile, "a tile", bytes))) // C2
      return failure();
  }
  return success();
}

static LogicalResult verifySpans(LaunchOp op) {
  ArrayRef<int64_t> spans = op.getItemSpans();
  if (spans.size() % 3 != 0) // C6
    return op.emitOpError() << "has " << spans.size() << " numbers in item_spans, expected threes";
  for (size_t i = 0; i < spans.size(); i += 3) {
    const bool inOrder =
        i == 0 ? spans[0] == 0
               : spans[i] > spans[i - 3] && spans[i] < static_cast<int64_t>(op.getGrid());
    if (!inOrder || spans[i + 1] < 0 || spans[i + 2] < 1) // C6
      return op.emitOpError() << "has a span from item " << spans[i] << " at byte " << spans[i + 1]
                              << " of " << spans[i + 2]
                              << " bytes an item, expected items in order from 0 on, a place and a "
                                 "size";
  }
  return success();
}

LogicalResult LaunchOp::verify() {
  int64_t grid = getGrid(), scratch = getScratchBytes();
  auto items = static_cast<int64_t>(getItemsPerTile());
  if (grid < 0 || scratch < 0 || items < 0 || static_cast<int64_t>(getThreads()) < 0) // C1
    return emitOpError() << "has a grid of " << grid << ", " << scratch << " bytes of scratch and "
                         << items << " items a tile: none can be negative";
  FailureOr<size_t> buffers = bufferCount(*this);
  if (failed(buffers)) // C4
    return failure();
  for (int64_t index : getWrites())
    if (index < 0 || index >= static_cast<int64_t>(*buffers)) // C4
      return emitOpError() << "writes operand " << index << " of " << *buffers;
  if (!getRowBytes().empty() && getRowBytes().size() != *buffers) // C2
    return emitOpError() << "has row_bytes for " << getRowBytes().size() << " of its " << *buffers
                         << " buffers";
  if (getStoreBuffers() > *buffers) // C3
    return emitOpError() << "stores to " << getStoreBuffers() << " of its " << *buffers
                         << " buffers";
  if (failed(verifySpans(*this))) // C6
    return failure();
  for (ArrayRef<int64_t> indices : {getActivations(), getRoundable(), getRounded()})
    for (int64_t index : indices)
      if (index < 0 || index >= static_cast<int64_t>(*buffers)) // C7
        return emitOpError() << "has activations in buffer " << index << " of " << *buffers;
  const auto rowOperand = static_cast<int64_t>(getRowOperand());
  if (rowOperand < -1 || rowOperand >= static_cast<int64_t>(*buffers)) // C8
    return emitOpError() << "is a function of rows of buffer " << rowOperand << " of " << *buffers;
  const auto rowBuffers = static_cast<int64_t>(getRowFunctionBuffers());
  if (rowBuffers < 0 ||
      rowBuffers + static_cast<int64_t>(getStoreBuffers()) > static_cast<int64_t>(*buffers)) // C8
    return emitOpError() << "has a row_function of " << rowBuffers << " of the buffers in front of "
                         << getStoreBuffers() << " of its store, of " << *buffers << " in all";
  if (rowBuffers > 0 && getRowFunction().empty()) // C8
    return emitOpError() << "has " << rowBuffers << " buffers of no row_function";
  if (getStoring().empty())
    return success();
  Block &body = getStoring().front();
  auto yield = body.empty() ? YieldElementsOp() : dyn_cast<YieldElementsOp>(body.back());
  if (!yield || body.getNumArguments() == 0 ||
      body.getNumArguments() - 1 + yield.getNumOperands() != getStoreBuffers()) // C5
    return emitOpError() << "has a region for another store than one of " << getStoreBuffers()
                         << " buffers";
  return success();
}

LogicalResult LibraryMatmulOp::verify() {
  const auto ldAddend = static_cast<int64_t>(getLdAddend());
  FailureOr<size_t> count = bufferCount(*this);
  if (failed(count)) // C4
    return failure();
  size_t addends = ldAddend ? 1 : 0, buffers = *count;
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
  const auto batch = static_cast<int64_t>(getBatch());
  const bool strided = getBatchStrides().size() == (batch == 1 ? 0 : 3) &&
                       llvm::none_of(getBatchStrides(), [](int64_t stride) { return stride < 0; });
  if (batch < 1 || !strided) // C5
    return emitOpError() << "is " << batch << " products with strides [" << getBatchStrides()
                         << "], expected 3, none negative, of more than one";
  if (batch > 1 && (groups || buffers != 3 || getTileRows() || getTileSum())) // C5
    return emitOpError() << "is a batch, and has groups, tiles, a bias or an addend";
  if (getRoundsResult() &&
      (!getElementType().isBF16() || ldAddend || groups || getTileSum() || getAccumulate())) // C6
    return emitOpError() << "rounds its result, expected a product of bf16 that is not added to "
                            "anything";
  return success();
}

LogicalResult LibraryAttentionOp::verify() {
  const size_t buffers = getBackward() ? 10 : 5, tensors = getBackward() ? 8 : 4;
  FailureOr<size_t> count = bufferCount(*this);
  if (failed(count)) // C5
    return failure();
  if (*count != buffers) // C1
    return emitOpError() << "has " << *count << " buffers, expected " << buffers;
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
