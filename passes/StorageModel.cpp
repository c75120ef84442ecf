//===- StorageModel.cpp - which tensors lie in the same memory --------------===//
#include "passes/StorageModel.h"
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace hybrid {

/// An op that writes its result into a place that may be chosen for it.
static bool isComputed(Value value) {
  Operation *op = value.getDefiningOp();
  return op && !isa<ParameterOp, ConstantOp, IotaOp>(op) && !StorageModel::isView(op);
}

bool StorageModel::isView(Operation *op) { return op->hasTrait<ViewOfOperand>(); }

int64_t StorageModel::of(Value value) const {
  auto found = index.find(value);
  return found == index.end() ? -1 : found->second;
}

int64_t StorageModel::add(Value value) {
  int64_t bytes =
      elementCount(shapeOf(value)) * ((elementOf(value).getIntOrFloatBitWidth() + 7) / 8);
  storages.push_back({static_cast<int64_t>(llvm::alignTo(std::max<int64_t>(bytes, 1), 64))});
  return storages.size() - 1;
}

StorageModel::StorageModel(func::FuncOp function) {
  Block &block = function.getBody().front();
  for (BlockArgument argument : block.getArguments()) {
    index[argument] = add(argument);
    storages.back().input = true;
  }
  llvm::StringSet<> parameters;
  for (auto parameter : function.getOps<ParameterOp>()) {
    parameters.insert(parameter.getName());
    index[parameter] = -1;
  }
  auto ret = cast<func::ReturnOp>(block.getTerminator());
  auto isGradient = [&](unsigned result) {
    auto name = function.getResultAttrOfType<StringAttr>(result, "hybrid.name");
    return name && name.getValue().starts_with("grad.") &&
           parameters.contains(name.getValue().drop_front(5));
  };
  for (unsigned i = 0; i < ret.getNumOperands(); ++i)
    if (isGradient(i) && isComputed(ret.getOperand(i)))
      index.try_emplace(ret.getOperand(i), -1);
  // An outer concatenation decides before the inner ones.
  for (Operation &op : llvm::reverse(block))
    if (auto concat = dyn_cast<ConcatOp>(op)) {
      auto [whole, inserted] = index.try_emplace(concat.getResult(), -1);
      if (inserted)
        whole->second = add(concat.getResult());
      int64_t storage = whole->second;
      for (Value part : concat.getParts())
        if (isComputed(part))
          index.try_emplace(part, storage);
    }
  for (Operation &op : block.without_terminator())
    for (Value result : op.getResults()) {
      if (index.contains(result) || isa<ConstantOp>(op) || !isa<RankedTensorType>(result.getType()))
        continue;
      int64_t storage = isView(&op) ? of(op.getOperand(0)) : add(result);
      index[result] = storage;
    }
  for (unsigned i = 0; i < ret.getNumOperands(); ++i)
    if (int64_t storage = of(ret.getOperand(i)); storage >= 0 && !isGradient(i))
      storages[storage].output = true;
}

} // namespace hybrid
