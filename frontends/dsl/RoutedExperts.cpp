//===- RoutedExperts.cpp - a mixture around any layer --------------------------===//
//
// The layer becomes the body of `hybrid.routed_experts`. What it declares with `param` exists once
// an expert: the parameter has the experts as first dimension, and the body sees its expert's part.
// What does not depend on the expert or its input is computed outside.
//
//===----------------------------------------------------------------------===//
#include "frontends/dsl/Builtins.h"

using namespace mlir;

namespace hybrid::dsl {

void hoistInvariant(Block &body, OpBuilder &builder) {
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
    if (op.getNumRegions() == 0 && llvm::none_of(op.getOperands(), [&](mlir::Value operand) {
          return operand.getParentBlock() == &body;
        }))
      op.moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
}

static bool operandsFit(Call &call, const Value &x, const Value &choices, const Value &weights) {
  Shape leading = choices.shape;
  if (!leading.empty())
    leading.pop_back();
  if (x.shape.empty() || choices.shape.empty() ||
      leading != Shape(x.shape.begin(), x.shape.end() - 1)) {
    call.errorHere("choices is " + text(choices) + ", but x is " + text(x) +
                       ": expected its leading dimensions and the choices of a token",
                   {1, 0});
    return false;
  }
  if (weights.shape != choices.shape) {
    call.error(2,
               "weights is " + text(weights) + ", but choices is " + text(choices) +
                   ": expected one for each",
               {2, 1});
    return false;
  }
  return true;
}

static Value runRoutedExperts(Call &call) {
  Value x = call.tensor(0), choices = call.integers(1), weights = call.tensor(2);
  int64_t experts = call.integer(3, 1, 1, INT32_MAX - 1);
  double capacity = call.number(5, 0);
  if (call.failed || !operandsFit(call, x, choices, weights))
    return {};
  if (call.value(4).kind != Value::Kind::Layer)
    return call.error(4, "expert is " + describe(call.value(4)) + ", expected a layer");
  if (!(capacity >= 0))
    return call.error(5, "capacity_factor = " + text(capacity) +
                             ", expected at least 0 (0: no limit)");
  Emitter &emit = call.emit;
  OpBuilder &builder = emit.builder;
  Location loc = emit.at(call.place);
  auto body = std::make_unique<Block>();
  Emitter::Experts inside{experts, body.get(), {}, emit.experts};
  Value result;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(body.get());
    Value argument = Emitter::result(body->addArgument(x.tensor.getType(), loc), x.shape, x.origin);
    emit.experts = &inside;
    result = emit.runLayer(*call.value(4).layer, argument, "experts", call.place);
    emit.experts = inside.outer;
    if (result.isPoison())
      return {};
    bool fits = result.isTensor() && !result.holdsIntegers && !result.shape.empty() &&
                std::equal(x.shape.begin(), x.shape.end() - 1, result.shape.begin(),
                           result.shape.end() - 1);
    if (!fits)
      return call.error(4, "the expert makes " + describe(result) + " of " + text(x) +
                               ": expected numbers with its leading dimensions");
    YieldOp::create(builder, loc, result.tensor);
  }
  hoistInvariant(*body, builder);
  auto op = RoutedExpertsOp::create(builder, loc, result.tensor.getType(), x.tensor, choices.tensor,
                                    weights.tensor, inside.own, builder.getI64IntegerAttr(experts),
                                    builder.getF64FloatAttr(capacity));
  op.getBody().push_back(body.release());
  return Emitter::result(op.getResult(), result.shape, call.place);
}

llvm::ArrayRef<Builtin> expertBuiltins() {
  static const Builtin builtins[] = {{"routed_experts",
                                      "x, choices, weights, experts, expert, capacity_factor?",
                                      runRoutedExperts}};
  return builtins;
}

} // namespace hybrid::dsl
