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
    getOperation().walk([&](Operation *op) {
      if (!op->hasTrait<ProductFloatTypes>() || !elementOf(op->getOperand(0)).isF32())
        return;
      for (unsigned i : {0u, 1u})
        op->setOperand(i, round(op->getOperand(i)));
      ++numRounded;
    });
  }

private:
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
};
} // namespace
