//===- FuseElementwise.cpp - group elementwise ops into kernels -------------===//
//
// A group sinks to the position of its last op, so it is legal when nobody outside needs one of its
// values earlier. Groups grow in program order by joining the groups of their operands. In a
// gradient none has ops of both parts: outputs are there before cotangents are needed
// (ForwardPart.h).
//
//===----------------------------------------------------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "executable/Limits.h"
#include "passes/ForwardPart.h"
#include "passes/Fusion.h"
#include "passes/Passes.h"
#include "passes/Regions.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace hybrid {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

/// Integers are only ever repeated, and that is a view.
bool isElementwise(Operation *op) {
  return op->hasTrait<FusableElementwise>() && isa<FloatType>(elementOf(op->getResult(0)));
}

/// A region needs a result, so what nobody uses goes before regions are made.
void eraseUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.hasTrait<FusableElementwise>() && op.use_empty())
      op.erase();
}

/// Groups of ops of one block.
class Groups {
public:
  explicit Groups(Block &block) : forward(forwardPart(block)) {
    int64_t index = 0;
    for (Operation &op : block)
      position[&op] = index++;
    for (Operation &op : block)
      if (isElementwise(&op))
        place(&op);
  }

  int64_t groupOf(Operation *op) const {
    auto found = group.find(op);
    return found == group.end() ? -1 : found->second;
  }
  int64_t positionOf(Operation *op) const { return position.lookup(op); }
  const llvm::MapVector<int64_t, SmallVector<Operation *>> &all() const { return members; }

private:
  void place(Operation *op) {
    ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
    int64_t own = next++;
    members[own].push_back(op);
    group[op] = own;
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      int64_t other = producer ? groupOf(producer) : -1;
      if (other < 0 || other == own || shapeOf(operand) != shape ||
          forward.contains(op) != forward.contains(producer) ||
          !legal(own, other, positionOf(op)) || !fitsLaunch(own, other))
        continue;
      for (Operation *member : members[other]) {
        members[own].push_back(member);
        group[member] = own;
      }
      members.erase(other);
    }
  }

  /// Whether the values of `other` are needed nowhere before `last` but in the two groups.
  bool legal(int64_t own, int64_t other, int64_t last) const {
    for (Operation *member : members.find(other)->second)
      for (Operation *user : member->getUsers()) {
        int64_t users = groupOf(user);
        if (users != own && users != other && positionOf(user) < last)
          return false;
      }
    return true;
  }

  /// Whether the two together are one launch: its buffers are what they take from others and what
  /// others take from them.
  bool fitsLaunch(int64_t own, int64_t other) const {
    llvm::SmallPtrSet<Value, 32> buffers;
    auto isInside = [&](Operation *op) {
      const int64_t number = op ? groupOf(op) : -1;
      return number >= 0 && (number == own || number == other);
    };
    for (int64_t each : {own, other})
      for (Operation *member : members.find(each)->second) {
        for (Value operand : member->getOperands())
          if (Operation *producer = operand.getDefiningOp();
              !isInside(producer) && !(producer && producer->hasTrait<OpTrait::ConstantLike>()))
            buffers.insert(operand);
        for (Operation *user : member->getUsers())
          if (!isInside(user))
            buffers.insert(member->getResult(0));
      }
    return buffers.size() <= mostFusedBuffers;
  }

  /// What is put in front of or behind a region takes a few more.
  static constexpr size_t mostFusedBuffers = mostBlockBuffers - 8;

  const llvm::DenseSet<Operation *> forward;
  llvm::DenseMap<Operation *, int64_t> position, group;
  llvm::MapVector<int64_t, SmallVector<Operation *>> members;
  int64_t next = 0;
};

/// An elementwise value of one group used in a later one is computed again there when its operands
/// are alive there anyway: reading them once serves both, and the value need not be kept in memory.
void recomputeCheapValues(Block &block) {
  Groups groups(block);
  SmallVector<std::pair<Operation *, Operation *>> clones; // producer, user
  for (auto &[id, members] : groups.all())
    for (Operation *user : members)
      for (Value operand : user->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (!producer || groups.groupOf(producer) < 0 || groups.groupOf(producer) == id ||
            producer->hasTrait<ViewOfOperand>())
          continue;
        if (shapeOf(operand) != shapeOf(user->getResult(0)))
          continue;
        bool operandsAlive = llvm::all_of(producer->getOperands(), [&, group = id](Value value) {
          Operation *source = value.getDefiningOp();
          if (source && source->hasTrait<OpTrait::ConstantLike>())
            return true;
          if (source && groups.groupOf(source) >= 0)
            return false;
          return llvm::any_of(value.getUsers(),
                              [&](Operation *other) {
                                return other != producer &&
                                       groups.positionOf(other) >= groups.positionOf(user);
                              }) ||
                 llvm::any_of(value.getUsers(),
                              [&](Operation *other) { return groups.groupOf(other) == group; });
        });
        if (operandsAlive)
          clones.push_back({producer, user});
      }
  llvm::DenseMap<std::pair<Operation *, int64_t>, Operation *> made;
  for (auto [producer, user] : clones) {
    Operation *&clone = made[{producer, groups.groupOf(user)}];
    if (!clone) {
      OpBuilder builder(producer->getContext());
      builder.setInsertionPointAfter(producer);
      clone = builder.clone(*producer);
    }
    user->replaceUsesOfWith(producer->getResult(0), clone->getResult(0));
  }
}

/// Replaces a group by one fused op where its last member stands.
void fuse(SmallVector<Operation *> ops, const Groups &groups) {
  llvm::sort(
      ops, [&](Operation *a, Operation *b) { return groups.positionOf(a) < groups.positionOf(b); });
  outline<FusedOp>(ops, [](OpBuilder &builder, Location loc, TypeRange types, ValueRange operands) {
    return FusedOp::create(builder, loc, types, operands);
  });
}

struct FuseElementwise : hybrid::impl::FuseElementwiseBase<FuseElementwise> {
  using FuseElementwiseBase::FuseElementwiseBase;
  void runOnOperation() override {
    if (getOperation().getBody().hasOneBlock())
      numFused += fuseElementwise(getOperation().getBody().front());
  }
};
} // namespace

int64_t hybrid::fuseElementwise(Block &block) {
  eraseUnused(block);
  recomputeCheapValues(block);
  eraseUnused(block);
  Groups groups(block);
  int64_t fused = 0;
  for (auto &[id, members] : groups.all()) {
    // A lone broadcast is a view, not a kernel.
    if (members.size() == 1 && members.front()->hasTrait<ViewOfOperand>())
      continue;
    fused += static_cast<int64_t>(members.size());
    fuse(members, groups);
  }
  return fused;
}
