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
#include "passes/Destinations.h"
#include "passes/Passes.h"
#include "passes/RecomputePlan.h"
#include "passes/StraightLine.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringSet.h"

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
  if (op->hasTrait<ViewOfOperand>() || isa<ParameterOp, ConstantOp>(op))
    return 0;
  auto cost = dyn_cast<CostOp>(op);
  int64_t bytes = cost ? cost.getBytesMoved() : bytesOfTensors(op);
  return std::max(static_cast<double>(flopsOf(op)), flopsPerByte * static_cast<double>(bytes));
}

/// What a value takes of an arena.
int64_t arenaBytes(Value value) {
  int64_t bytes = elementCount(value) * bytesOf(elementOf(value));
  return static_cast<int64_t>(llvm::alignTo(std::max<int64_t>(bytes, 1), 64));
}

RecomputeGraph graphOf(func::FuncOp function) {
  llvm::StringSet<> parameters;
  for (auto parameter : function.getOps<ParameterOp>())
    parameters.insert(parameter.getName());
  Destinations destinations(function, [&](StringRef name) { return parameters.contains(name); });
  Block &block = function.getBody().front();
  RecomputeGraph graph;
  llvm::DenseMap<Value, int32_t> numbers; // of values with memory: their storages
  auto storageOf = [&](Value value) {
    Value owner = destinations.ownerOf(value);
    if (!owner)
      return -1;
    auto [entry, isNew] = numbers.try_emplace(owner, static_cast<int32_t>(graph.storages.size()));
    if (isNew)
      graph.storages.push_back({arenaBytes(owner)});
    return entry->second;
  };
  for (BlockArgument argument : block.getArguments())
    graph.storages[storageOf(argument)].input = true;
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands()))
    if (int32_t storage = storageOf(value); storage >= 0 && !destinations.gradientOf(i))
      graph.storages[storage].output = true;
  // Storages that one op writes are given up together.
  llvm::EquivalenceClasses<int32_t> together;
  llvm::DenseSet<int32_t> fixed;
  llvm::DenseMap<Operation *, int32_t> position;
  for (Operation &op : block) {
    position[&op] = static_cast<int32_t>(position.size());
    SmallVector<int32_t> written;
    for (Value result : op.getResults())
      if (int32_t storage = storageOf(result); storage >= 0)
        written.push_back(storage);
    for (int32_t storage : written) {
      together.unionSets(written.front(), storage);
      if (!isMemoryEffectFree(&op) || graph.storages[storage].input ||
          graph.storages[storage].output)
        fixed.insert(storage);
    }
  }
  llvm::DenseSet<int32_t> fixedLeaders;
  for (int32_t storage : fixed)
    fixedLeaders.insert(together.getLeaderValue(storage));
  llvm::DenseMap<int32_t, int32_t> units;
  for (Operation &op : block) {
    RecomputeGraph::Node node;
    for (Value operand : op.getOperands()) {
      Operation *producer = operand.getDefiningOp();
      node.producers.push_back(producer ? position.lookup(producer) : -1);
      node.reads.push_back(storageOf(operand));
    }
    for (Value result : op.getResults())
      if (int32_t storage = storageOf(result); storage >= 0) {
        node.writes.push_back(storage);
        int32_t leader = together.getLeaderValue(storage);
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
    RecomputeGraph graph = graphOf(function);
    RecomputePlan plan(graph);
    if (plan.peakBytes() <= budget)
      return;
    plan.reduce(budget);
    numRecomputed += rewrite(block, plan.steps());
  }
};
} // namespace
