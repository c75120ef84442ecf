//===- TileRows.cpp - row-wise neighbours run tile by tile --------------------===//
//
// Norm, projection, activation, projection, residual: each position goes through all of them by
// itself. Run op by op, every value between two of them travels to memory and back; run tile by
// tile, it stays in cache.
//
//===----------------------------------------------------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/ForwardPart.h"
#include "passes/Passes.h"
#include "passes/Regions.h"

namespace hybrid {
#define GEN_PASS_DEF_TILEROWS
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

RowwiseOp rowwise(Operation *op) {
  auto result = dyn_cast<RowwiseOp>(op);
  return result && result.isRowwise() ? result : nullptr;
}

/// What a region starts with: it has row results. Sums over rows only join.
RowwiseOp seedOf(Operation *op) {
  RowwiseOp result = rowwise(op);
  return result && result.isRowResult(0) && !result.accumulatesOverRows() ? result : nullptr;
}

/// A region that grows from its first op in program order.
class Growth {
public:
  /// `forward`: of the block, as forwardPart() gives it; a region lies in it or behind it.
  Growth(RowwiseOp seed, const llvm::DenseSet<Operation *> &forward)
      : forward(forward), isForward(forward.contains(seed)), rows(seed.getRowCount()) {
    add(seed);
  }

  /// Looks at the next op in program order; false when the region ends before it.
  bool consider(Operation *op) {
    bool onRegion = llvm::any_of(
        op->getOperands(), [&](Value value) { return members.contains(value.getDefiningOp()); });
    // What uses nothing of the region runs before it, unless it reads the same rows.
    if (fits(op) && (onRegion || (seedOf(op) && sharesRows(op))))
      add(op);
    else if (onRegion)
      return false;
    return true;
  }

  ArrayRef<Operation *> ops() const { return members.getArrayRef(); }
  int64_t rowCount() const { return rows; }
  /// Bytes of the longest row of a value inside.
  int64_t longestRow() const { return longest; }
  /// Whether a sum over rows grows in one place.
  bool accumulates() const { return sums; }

private:
  void add(Operation *op) {
    members.insert(op);
    auto member = cast<RowwiseOp>(op);
    sums |= member.accumulatesOverRows();
    for (OpResult result : op->getResults())
      if (member.isRowResult(result.getResultNumber()))
        longest = std::max<int64_t>(longest, lastSize(result) *
                                                 elementOf(result).getIntOrFloatBitWidth() / 8);
    for (auto [i, value] : llvm::enumerate(op->getOperands()))
      if (member.isRowOperand(i))
        read.insert(value);
  }

  /// Whether what `op` uses of the region's values is their rows.
  bool fits(Operation *op) {
    RowwiseOp next = rowwise(op);
    if (!next || next.getRowCount() != rows || forward.contains(op) != isForward)
      return false;
    for (auto [i, value] : llvm::enumerate(op->getOperands())) {
      Operation *producer = value.getDefiningOp();
      if (!producer || !members.contains(producer))
        continue;
      unsigned result = cast<OpResult>(value).getResultNumber();
      if (!next.isRowOperand(i) || !cast<RowwiseOp>(producer).isRowResult(result))
        return false;
    }
    return true;
  }

  bool sharesRows(Operation *op) {
    auto next = cast<RowwiseOp>(op);
    for (auto [i, value] : llvm::enumerate(op->getOperands()))
      if (next.isRowOperand(i) && read.contains(value))
        return true;
    return false;
  }

  const llvm::DenseSet<Operation *> &forward;
  bool isForward;
  int64_t rows, longest = 0;
  llvm::SmallSetVector<Operation *, 16> members;
  bool sums = false;
  llvm::DenseSet<Value> read;
};

struct TileRows : hybrid::impl::TileRowsBase<TileRows> {
  using TileRowsBase::TileRowsBase;

  void runOnOperation() override {
    if (!getOperation().getBody().hasOneBlock())
      return;
    Block &block = getOperation().getBody().front();
    llvm::DenseSet<Operation *> forward = forwardPart(block);
    for (Operation *op = block.empty() ? nullptr : &block.front(); op;) {
      Operation *before = op->getPrevNode(), *next = op->getNextNode();
      RowwiseOp seed = seedOf(op);
      if (seed && seed.getRowCount() >= minRows && grow(seed, forward)) {
        // The seed is gone; what stood between it and the last op of its region is looked at again.
        next = before ? before->getNextNode() : &block.front();
        forward = forwardPart(block);
      }
      op = next;
    }
  }

private:
  /// Rows a tile. In parallel: enough that a matrix product runs at full speed, few enough for 32
  /// tiles. One after another: enough that a product feeds many threads. Long rows, as logits over
  /// a large vocabulary are, shorten it: what is made for one tile shall stay in cache.
  int64_t tileOf(const Growth &growth) const {
    int64_t rows = growth.rowCount(), parts = growth.accumulates() ? 4 : 32,
            most = growth.accumulates() ? maxSequentialTile : maxTile,
            bytes = growth.accumulates() ? sequentialBytes : parallelBytes;
    int64_t fair = std::min(rows / parts, bytes / growth.longestRow()) / 32 * 32;
    return std::clamp<int64_t>(fair, 32, most);
  }

  bool grow(RowwiseOp seed, const llvm::DenseSet<Operation *> &forward) {
    Growth growth(seed, forward);
    for (Operation *op = seed->getNextNode(); op && !op->hasTrait<OpTrait::IsTerminator>();
         op = op->getNextNode())
      if (!growth.consider(op))
        break;
    if (growth.ops().size() < 2 || growth.rowCount() * growth.longestRow() < leastBytes)
      return false;
    outline<RowTilesOp>(
        growth.ops(), [&](OpBuilder &builder, Location loc, TypeRange types, ValueRange operands) {
          return RowTilesOp::create(builder, loc, types, operands, growth.rowCount(),
                                    tileOf(growth), growth.accumulates());
        });
    ++numRegions;
    return true;
  }
};
} // namespace
