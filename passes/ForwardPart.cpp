//===- ForwardPart.cpp - what a gradient computes before it needs a cotangent ===//
#include "passes/ForwardPart.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

llvm::DenseSet<Operation *> hybrid::forwardPart(Block &block) {
  llvm::DenseSet<Operation *> part;
  auto function = dyn_cast_if_present<func::FuncOp>(block.getParentOp());
  auto hasName = [](StringAttr name, StringRef prefix) {
    return name && name.getValue().starts_with(prefix);
  };
  if (!function || llvm::none_of(block.getArguments(), [&](BlockArgument argument) {
        return hasName(
            function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "hybrid.name"),
            "cotangent.");
      }))
    return part;
  llvm::DenseSet<Value> needed;
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands()))
    if (!hasName(function.getResultAttrOfType<StringAttr>(static_cast<unsigned>(i), "hybrid.name"),
                 "grad."))
      needed.insert(value);
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (llvm::any_of(op.getResults(), [&](Value result) { return needed.contains(result); })) {
      part.insert(&op);
      needed.insert(op.operand_begin(), op.operand_end());
    }
  return part;
}
