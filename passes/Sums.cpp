//===- Sums.cpp - terms of sums ----------------------------------------------===//
#include "passes/Sums.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace hybrid {

BinaryOp sumOf(Value value) {
  auto sum = value.getDefiningOp<BinaryOp>();
  return sum && sum.getKind() == BinaryKind::Add && sum.getLhs().getType() == sum.getType() &&
                 sum.getRhs().getType() == sum.getType()
             ? sum
             : nullptr;
}

bool isTerm(BinaryOp sum) {
  auto user = sum->hasOneUse() ? dyn_cast<BinaryOp>(*sum->user_begin()) : nullptr;
  return user && user->getBlock() == sum->getBlock() && sumOf(user.getResult());
}

void collectTerms(BinaryOp sum, SmallVectorImpl<Value> &terms) {
  for (Value term : {sum.getLhs(), sum.getRhs()})
    if (BinaryOp inner = sumOf(term); inner && isTerm(inner))
      collectTerms(inner, terms);
    else
      terms.push_back(term);
}

SmallVector<BinaryOp> wholeSums(func::FuncOp function) {
  SmallVector<BinaryOp> sums;
  for (auto op : function.getOps<BinaryOp>())
    if (sumOf(op.getResult()) && !isTerm(op))
      sums.push_back(op);
  return sums;
}

void eraseDead(ArrayRef<Operation *> ops) {
  llvm::SetVector<Operation *> candidates(ops.begin(), ops.end());
  while (!candidates.empty()) {
    Operation *candidate = candidates.pop_back_val();
    if (!isOpTriviallyDead(candidate))
      continue;
    for (Value operand : candidate->getOperands())
      if (Operation *made = operand.getDefiningOp())
        candidates.insert(made);
    candidate->erase();
  }
}

} // namespace hybrid
