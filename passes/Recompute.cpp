//===- Recompute.cpp - trade arithmetic for memory --------------------------===//
//
// Runs on fused functions, behind the last elimination of common subexpressions: what a kernel
// costs and which values exist at all is decided by then, and every op that is run again is the
// very kernel that ran before, so that all results keep their bits.
//
//===----------------------------------------------------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/RecomputePlan.h"
#include "passes/StorageModel.h"
#include "passes/StraightLine.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace hybrid {
#define GEN_PASS_DEF_RECOMPUTE
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

/// FLOPs that take as long as moving a byte: what an op costs is the longer of the two.
constexpr double flopsPerByte = 4;

int64_t flopsOf(Operation *op) {
  int64_t flops = 0;
  op->walk([&](CostOp cost) { flops += cost.getFlops(); });
  return flops;
}

double costOf(Operation *op) {
  if (StorageModel::isView(op) || isa<ParameterOp, ConstantOp>(op))
    return 0;
  auto cost = dyn_cast<CostOp>(op);
  int64_t bytes = cost ? cost.getBytesMoved() : bytesOfTensors(op);
  return std::max(static_cast<double>(flopsOf(op)), flopsPerByte * static_cast<double>(bytes));
}

RecomputeGraph graphOf(Block &block, const StorageModel &storages) {
  RecomputeGraph graph;
  for (int64_t i = 0; i < storages.count(); ++i)
    graph.storages.push_back({storages.bytes(i), storages.isInput(i), storages.isOutput(i)});
  // Storages that one op writes are given up together.
  llvm::EquivalenceClasses<int64_t> together;
  llvm::DenseSet<int64_t> fixed;
  llvm::DenseMap<Operation *, int32_t> position;
  for (Operation &op : block) {
    position[&op] = static_cast<int32_t>(position.size());
    SmallVector<int64_t> written;
    for (Value result : op.getResults())
      if (int64_t storage = storages.of(result); storage >= 0)
        written.push_back(storage);
    for (int64_t storage : written) {
      together.unionSets(written.front(), storage);
      if (!isMemoryEffectFree(&op) || storages.isInput(storage) || storages.isOutput(storage))
        fixed.insert(storage);
    }
  }
  llvm::DenseSet<int64_t> fixedLeaders;
  for (int64_t storage : fixed)
    fixedLeaders.insert(together.getLeaderValue(storage));
  llvm::DenseMap<int64_t, int32_t> units;
  for (Operation &op : block) {
    RecomputeGraph::Node node;
    for (Value operand : op.getOperands()) {
      Operation *producer = operand.getDefiningOp();
      node.producers.push_back(producer ? position.lookup(producer) : -1);
      node.reads.push_back(static_cast<int32_t>(storages.of(operand)));
    }
    for (Value result : op.getResults())
      if (int64_t storage = storages.of(result); storage >= 0) {
        node.writes.push_back(static_cast<int32_t>(storage));
        int64_t leader = together.getLeaderValue(storage);
        if (!fixedLeaders.contains(leader))
          node.unit = units.try_emplace(leader, static_cast<int32_t>(units.size())).first->second;
      }
    node.cost = costOf(&op);
    node.required = !isMemoryEffectFree(&op) || op.hasTrait<OpTrait::IsTerminator>();
    graph.nodes.push_back(std::move(node));
  }
  graph.units = static_cast<int32_t>(units.size());
  return graph;
}

/// Drops results of a fused region that nobody reads, and what only they needed.
void dropUnusedResults(FusedOp fused) {
  SmallVector<unsigned> used;
  for (OpResult result : fused->getResults())
    if (!result.use_empty())
      used.push_back(result.getResultNumber());
  if (used.size() == fused.getNumResults())
    return;
  Block &old = fused.getBody().front();
  llvm::SmallDenseSet<Value> needed;
  for (unsigned result : used)
    needed.insert(old.getTerminator()->getOperand(result));
  SmallVector<Operation *> ops;
  for (Operation &op : llvm::reverse(old.without_terminator()))
    if (needed.contains(op.getResult(0))) {
      ops.push_back(&op);
      needed.insert(op.operand_begin(), op.operand_end());
    }
  OpBuilder builder(fused);
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (auto [operand, argument] : llvm::zip(fused.getOperands(), old.getArguments()))
    if (needed.contains(argument))
      operands.push_back(operand);
  for (unsigned result : used)
    types.push_back(fused.getResult(result).getType());
  auto slim = FusedOp::create(builder, fused.getLoc(), types, operands);
  slim->setDiscardableAttrs(fused->getDiscardableAttrDictionary());
  Block *body = builder.createBlock(&slim.getBody());
  IRMapping mapping;
  for (BlockArgument argument : old.getArguments())
    if (needed.contains(argument))
      mapping.map(argument, body->addArgument(argument.getType(), argument.getLoc()));
  for (Operation *op : llvm::reverse(ops))
    builder.clone(*op, mapping);
  SmallVector<Value> yielded;
  for (auto [i, result] : llvm::enumerate(used)) {
    yielded.push_back(mapping.lookup(old.getTerminator()->getOperand(result)));
    fused.getResult(result).replaceAllUsesWith(slim.getResult(i));
  }
  YieldOp::create(builder, fused.getLoc(), yielded);
  fused.erase();
}

/// Makes the block what the plan says. Clones keep the location of their op, and say which time it
/// is that the op runs: so they are no common subexpressions of each other. Returns how many.
size_t rewrite(Block &block, ArrayRef<RecomputeStep> steps) {
  SmallVector<Operation *> originals, clones;
  for (Operation &op : block)
    originals.push_back(&op);
  llvm::DenseMap<std::pair<int32_t, int32_t>, Operation *> made;
  llvm::DenseMap<Operation *, int32_t> position;
  for (auto [i, op] : llvm::enumerate(originals))
    position[op] = static_cast<int32_t>(i);
  llvm::DenseSet<Operation *> kept;
  std::vector<int64_t> timesRun(originals.size());
  // An original's operands are looked up before they change.
  SmallVector<SmallVector<Value>> operandsOf;
  for (Operation *op : originals)
    operandsOf.emplace_back(op->operand_begin(), op->operand_end());
  for (const RecomputeStep &step : steps) {
    Operation *op = originals[step.node];
    if (step.version > 0) {
      OpBuilder builder(originals[step.at]);
      op = builder.clone(*op);
      clones.push_back(op);
      // One whose op does not run before has only moved.
      if (int64_t times = timesRun[step.node])
        op->setAttr("hybrid.recomputed", builder.getI64IntegerAttr(times));
    }
    ++timesRun[step.node];
    made[{step.node, step.version}] = op;
    kept.insert(op);
    for (auto [i, value] : llvm::enumerate(operandsOf[step.node]))
      if (auto result = dyn_cast<OpResult>(value)) {
        Operation *producer =
            made.lookup({position.lookup(result.getOwner()), step.producerVersions[i]});
        op->setOperand(i, producer->getResult(result.getResultNumber()));
      }
  }
  for (Operation *op : llvm::reverse(originals))
    if (!kept.contains(op))
      op->erase();
  for (Operation *op : clones)
    if (auto fused = dyn_cast<FusedOp>(op))
      dropUnusedResults(fused);
  return clones.size();
}

struct Recompute : hybrid::impl::RecomputeBase<Recompute> {
  using RecomputeBase::RecomputeBase;
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // Other functions keep nothing from a forward part for a backward part.
    if (budget < 0 || (function.getSymName() != "train" && function.getSymName() != "vjp"))
      return;
    if (failed(verifyStraightLine(function)))
      return signalPassFailure();
    Block &block = function.getBody().front();
    RecomputeGraph graph = graphOf(block, StorageModel(function));
    RecomputePlan plan(graph);
    if (plan.peakBytes() <= budget)
      return;
    plan.reduce(budget);
    numRecomputed += rewrite(block, plan.steps());
  }
};
} // namespace
