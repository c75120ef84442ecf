//===- RoundProducts.cpp - matrix products with bf16 operands ----------------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "passes/Passes.h"

namespace hybrid {
#define GEN_PASS_DEF_ROUNDPRODUCTS
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

struct RoundProducts : hybrid::impl::RoundProductsBase<RoundProducts> {
  using RoundProductsBase::RoundProductsBase;

  void runOnOperation() override {
    rounded.clear();
    // Initial values are drawn and computed in f32, whatever the products of the model are.
    if (getOperation().getSymName() == "init")
      return;
    findFilterOperands();
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
      // The products of a body that is one kernel are that kernel's.
      if (op->hasTrait<OpTrait::IsIsolatedFromAbove>() && op != getOperation())
        return WalkResult::skip();
      if (!op->hasTrait<ProductFloatTypes>() || !elementOf(op->getOperand(0)).isF32() ||
          isOfFilter(op) || !isWanted(op))
        return WalkResult::advance();
      for (unsigned i : {0u, 1u})
        op->setOperand(i, round(op->getOperand(i)));
      ++numRounded;
      return WalkResult::advance();
    });
  }

private:
  bool isWanted(Operation *product) const {
    if (mostRows == 0)
      return true;
    auto linear = dyn_cast<LinearOp>(product);
    return linear && elementCount(linear.getResult()) / lastSize(linear.getResult()) <= mostRows;
  }

  /// Finds what is multiplied by products that no input reaches: those of implicit filters, which
  /// turn positions into angles of sines, where an error of bf16 is a tenth of the result.
  void findFilterOperands() {
    llvm::DenseSet<Value> ofInputs(getOperation().getArguments().begin(),
                                   getOperation().getArguments().end());
    filterOperands.clear();
    getOperation().walk([&](Operation *op) {
      if (llvm::any_of(op->getOperands(), [&](Value value) { return ofInputs.contains(value); }))
        ofInputs.insert(op->result_begin(), op->result_end());
      else if (op->hasTrait<ProductFloatTypes>())
        filterOperands.insert(op->operand_begin(), op->operand_end());
    });
  }

  /// A product of a filter, or of its gradient: that multiplies by the same weights or features.
  bool isOfFilter(Operation *product) const {
    return llvm::any_of(product->getOperands(),
                        [&](Value value) { return filterOperands.contains(value); });
  }

  /// `value` in bf16, made behind its definition so that all products share it.
  Value round(Value value) {
    Value &result = rounded[value];
    if (result)
      return result;
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(value);
    return result = RoundOp::create(builder, value.getLoc(),
                                    tensorOf(shapeOf(value), builder.getBF16Type()), value);
  }

  llvm::DenseMap<Value, Value> rounded;
  llvm::DenseSet<Value> filterOperands;
};
} // namespace
