//===- PrepareDecoding.cpp - what is the same at every token, once ----------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/CSE.h"
#include "passes/Passes.h"
#include "passes/StateNames.h"
#include "passes/StraightLine.h"

namespace hybrid {
#define GEN_PASS_DEF_PREPAREDECODING
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

/// Views that keep their elements where they are, or repeat them: to store what they show would
/// gain nothing.
bool isCheapView(Operation *op) {
  return op && op->hasTrait<ViewOfOperand>() && !isa<TransposeOp>(op);
}

/// Values of a function that depend on no input and on no state.
class Fixed {
public:
  bool operator()(Value value) {
    auto known = fixed.find(value);
    if (known != fixed.end())
      return known->second;
    Operation *op = value.getDefiningOp();
    const bool is =
        op && !isState(op) && isPure(op) &&
        llvm::all_of(op->getOperands(), [&](Value operand) { return (*this)(operand); });
    fixed[value] = is;
    return is;
  }

private:
  llvm::DenseMap<Value, bool> fixed;
};

struct PrepareDecoding : hybrid::impl::PrepareDecodingBase<PrepareDecoding> {
  using PrepareDecodingBase::PrepareDecodingBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    prepared = 0;
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto prepare =
        func::FuncOp::create(builder, module.getLoc(), "prepare", builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(prepare.addEntryBlock());
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
      if (function.getSymName() == "step" || function.getSymName().starts_with("prefill"))
        take(function, builder);
    if (prepared == 0)
      return prepare.erase();
    func::ReturnOp::create(builder, module.getLoc());
    share(prepare);
  }

  /// Lets programs read one state of what they would have computed alike.
  void share(func::FuncOp prepare) {
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(prepare);
    eliminateCommonSubExpressions(rewriter, dominance, prepare);
    llvm::DenseMap<Value, StringAttr> names;
    llvm::DenseMap<StringAttr, StringAttr> renamed;
    prepared = 0;
    for (AssignOp write : llvm::make_early_inc_range(prepare.getOps<AssignOp>())) {
      auto [first, isNew] = names.try_emplace(write.getValue());
      if (isNew)
        first->second = StringAttr::get(&getContext(), preparedState(prepared++));
      renamed[write.getNameAttr()] = first->second;
      if (isNew)
        write.setNameAttr(first->second);
      else
        write.erase();
    }
    getOperation().walk([&](ParameterOp read) {
      if (auto name = renamed.find(read.getNameAttr()); isState(read) && name != renamed.end())
        read.setNameAttr(name->second);
    });
    numPrepared = prepared;
  }

  /// Moves what is fixed to where `builder` is, as far as other ops ask for it.
  void take(func::FuncOp function, OpBuilder &builder) {
    Fixed isFixed;
    llvm::SetVector<Value> wanted;
    auto want = [&](Value value) {
      while (isCheapView(value.getDefiningOp()))
        value = value.getDefiningOp()->getOperand(0);
      if (!isa<ParameterOp, ConstantOp, IotaOp>(value.getDefiningOp()) &&
          isa<FloatType>(elementOf(value)))
        wanted.insert(value);
    };
    function.walk([&](Operation *op) {
      if (op == function)
        return;
      const bool stays = op->getNumResults() == 0 || !isFixed(op->getResult(0));
      for (Value operand : op->getOperands())
        if (stays && isOutside(operand, function) && isFixed(operand))
          want(operand);
    });
    IRMapping mapping;
    for (Value value : wanted) { // whole slices, before a state takes the place of a part
      for (Operation *op : sliceOf(value))
        if (!mapping.contains(op->getResult(0)))
          builder.clone(*op, mapping);
    }
    for (Value value : wanted) {
      const std::string name = preparedState(prepared++);
      writeState(builder, value.getLoc(), name, mapping.lookup(value));
      OpBuilder reader = OpBuilder::atBlockBegin(&function.getBody().front());
      value.replaceAllUsesWith(readState(reader, value.getLoc(), name, value.getType()));
    }
  }

  size_t prepared = 0;

  /// Whether a value is one of the function's own block, and none of a body in it.
  static bool isOutside(Value value, func::FuncOp function) {
    return value.getParentBlock() == &function.getBody().front() && value.getDefiningOp();
  }
};

} // namespace
