//===- Regions.h - ops moved into the body of one op -------------------------===//
#pragma once
#include "dialect/HybridOps.h"
#include "mlir/IR/IRMapping.h"

namespace hybrid {

/// Replaces `ops`, given in program order, by one op that `create` makes where the last of them
/// stands and whose body holds them, constants included. Its operands are what they use from
/// outside, its results what is used outside.
template <typename RegionOp, typename Create>
RegionOp outline(llvm::ArrayRef<mlir::Operation *> ops, Create create) {
  using namespace mlir;
  llvm::SmallPtrSet<Operation *, 16> inside(ops.begin(), ops.end());
  SmallVector<Value> operands, results;
  SmallVector<ConstantOp> constants;
  SmallVector<Location> locations;
  for (Operation *op : ops) {
    locations.push_back(op->getLoc());
    for (Value operand : op->getOperands()) {
      if (auto constant = operand.getDefiningOp<ConstantOp>()) {
        if (!llvm::is_contained(constants, constant))
          constants.push_back(constant);
      } else if (!inside.contains(operand.getDefiningOp()) &&
                 !llvm::is_contained(operands, operand)) {
        operands.push_back(operand);
      }
    }
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        results.push_back(result);
  }
  OpBuilder builder(ops.back());
  Location loc = builder.getFusedLoc(locations);
  RegionOp region = create(builder, loc, ValueRange(results).getTypes(), operands);
  Block *body = builder.createBlock(&region.getBody());
  IRMapping mapping;
  for (Value operand : operands)
    mapping.map(operand, body->addArgument(operand.getType(), operand.getLoc()));
  builder.setInsertionPointToStart(body);
  for (ConstantOp constant : constants)
    builder.clone(*constant, mapping);
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  SmallVector<Value> yielded;
  for (Value result : results)
    yielded.push_back(mapping.lookup(result));
  YieldOp::create(builder, loc, yielded);
  for (auto [result, replacement] : llvm::zip(results, region.getResults()))
    result.replaceAllUsesWith(replacement);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  return region;
}

} // namespace hybrid
