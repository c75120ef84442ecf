//===- ReverseMode.cpp - gradients of a block of hybrid ops ------------------===//
#include "dialect/ReverseMode.h"
#include "dialect/PartSums.h"
#include "dialect/Shapes.h"

using namespace mlir;
using namespace hybrid;

bool hybrid::isFloat(Value value) { return isa<FloatType>(elementOf(value)); }

void ReverseMode::require(Value root) {
  // A worklist: chains of ops are longer than the stack is deep.
  SmallVector<Value> pending{root};
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!active.insert(value).second)
      continue;
    for (Operation *user : value.getUsers())
      for (Value result : user->getResults())
        if (isFloat(result))
          pending.push_back(result);
  }
}

void ReverseMode::accumulate(Value value, Value cotangent, Location loc) {
  if (auto part = cotangent.getDefiningOp<PadOp>())
    parts[value].push_back(part);
  else
    add(value, cotangent, loc);
}

void ReverseMode::add(Value value, Value cotangent, Location loc) {
  Value &sum = gradients[value];
  sum =
      sum ? BinaryOp::create(builder, loc, BinaryKind::Add, sum, cotangent).getResult() : cotangent;
}

Value ReverseMode::cotangentOf(Value value) {
  if (auto found = parts.find(value); found != parts.end()) {
    SmallVector<PadOp> own = std::move(found->second);
    parts.erase(found);
    for (Value sum : sumOfParts(builder, own))
      add(value, sum, value.getLoc());
  }
  return gradients.lookup(value);
}

LogicalResult ReverseMode::run(ArrayRef<Operation *> ops) {
  for (Operation *op : llvm::reverse(ops)) {
    SmallVector<Value> cotangents;
    for (Value result : op->getResults())
      cotangents.push_back(cotangentOf(result));
    auto isActive = [&](Value value) { return active.contains(value); };
    // What comes from elsewhere, and what goes there: that has a gradient whoever else needs one.
    const bool passes = isa<DifferentiableOp>(op);
    const bool comes =
        passes && op->getNumOperands() == 0 && llvm::any_of(op->getResults(), isActive);
    const bool goes = passes && op->getNumResults() == 0;
    bool reached = comes || goes || llvm::any_of(cotangents, [](Value value) { return !!value; });
    bool wanted = comes || goes || llvm::any_of(op->getOperands(), isActive);
    if (!reached || !wanted)
      continue;
    auto differentiable = dyn_cast<DifferentiableOp>(op);
    if (!differentiable)
      return op->emitOpError() << "has no gradient";
    SmallVector<Value> operandCotangents;
    if (failed(differentiable.buildVjp(builder, cotangents, operandCotangents)))
      return failure();
    for (auto [operand, cotangent] : llvm::zip_equal(op->getOperands(), operandCotangents))
      if (cotangent && active.contains(operand))
        accumulate(operand, cotangent, op->getLoc());
  }
  return success();
}

Value ReverseMode::gradientOf(Value value) {
  if (Value found = cotangentOf(value))
    return found;
  return ConstantOp::create(builder, value.getLoc(), value.getType(), builder.getF64FloatAttr(0));
}
