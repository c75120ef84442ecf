//===- Differentiate.cpp - reverse mode over a function of hybrid ops -------===//
//
// The op's interface knows its vector-Jacobian product; this pass only orders, accumulates and
// leaves out what nothing asks for.
//
//===----------------------------------------------------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/ReverseMode.h"
#include "dialect/Shapes.h"
#include "passes/Dropout.h"
#include "passes/Passes.h"
#include "passes/StraightLine.h"

namespace hybrid {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

SmallVector<ParameterOp> trainableParameters(func::FuncOp function) {
  SmallVector<ParameterOp> parameters;
  for (auto parameter : function.getOps<ParameterOp>())
    if (parameter.getTrainable())
      parameters.push_back(parameter);
  return parameters;
}

/// What comes from elsewhere, as from another rank, may depend on the parameters, which are there
/// too.
void requireReceived(func::FuncOp function, ReverseMode &reverse) {
  for (auto op : function.getOps<DifferentiableOp>())
    if (op->getNumOperands() == 0)
      for (Value result : op->getResults())
        reverse.require(result);
}

/// A copy of `source` called `name`, whose return becomes `outputs` named `names` when finish() is
/// called.
struct DerivedFunction {
  OpBuilder builder;
  func::FuncOp function;
  SmallVector<Operation *> forwardOps;
  func::ReturnOp ret;
  SmallVector<Value> outputs;
  SmallVector<std::string> names;

  DerivedFunction(func::FuncOp source, StringRef name) : builder(source.getContext()) {
    builder.setInsertionPointAfter(source);
    function = cast<func::FuncOp>(builder.clone(*source));
    function.setSymName(name);
    ret = cast<func::ReturnOp>(function.getBody().front().getTerminator());
    builder.setInsertionPoint(ret);
    listForwardOps();
  }

  void listForwardOps() {
    forwardOps.clear();
    for (Operation &op : function.getBody().front().without_terminator())
      forwardOps.push_back(&op);
  }

  void output(Value value, const Twine &name) {
    outputs.push_back(value);
    names.push_back(name.str());
  }

  void finish() {
    ret.getOperandsMutable().assign(outputs);
    function.setFunctionType(
        builder.getFunctionType(function.getArgumentTypes(), ValueRange(outputs).getTypes()));
    function.removeResAttrsAttr();
    for (auto [i, name] : llvm::enumerate(names))
      function.setResultAttr(i, "hybrid.name", builder.getStringAttr(name));
  }

  std::string argumentName(unsigned index) {
    auto name = function.getArgAttrOfType<StringAttr>(index, "hybrid.name");
    return name ? name.str() : "input" + std::to_string(index);
  }
};

LogicalResult deriveVjp(func::FuncOp forward) {
  DerivedFunction derived(forward, "vjp");
  ReverseMode reverse(derived.builder);
  unsigned numInputs = forward.getNumArguments();
  for (unsigned i = 0; i < numInputs; ++i)
    if (isFloat(derived.function.getArgument(i)))
      reverse.require(derived.function.getArgument(i));
  SmallVector<ParameterOp> parameters = trainableParameters(derived.function);
  for (ParameterOp parameter : parameters)
    reverse.require(parameter);
  requireReceived(derived.function, reverse);

  for (unsigned i = 0; i < forward.getNumResults(); ++i) {
    Value output = derived.ret.getOperand(i);
    auto name = forward.getResultAttrOfType<StringAttr>(i, "hybrid.name");
    std::string outputName = name ? name.str() : "output" + std::to_string(i);
    derived.output(output, outputName);
    auto differentiable = forward.getResultAttrOfType<BoolAttr>(i, "hybrid.differentiable");
    if (!isFloat(output) || (differentiable && !differentiable.getValue()))
      continue;
    unsigned position = derived.function.getNumArguments();
    if (failed(derived.function.insertArgument(position, output.getType(), {}, forward.getLoc())))
      return failure();
    derived.function.setArgAttr(position, "hybrid.name",
                                derived.builder.getStringAttr("cotangent." + outputName));
    reverse.accumulate(output, derived.function.getArgument(position), output.getLoc());
  }
  if (failed(reverse.run(derived.forwardOps)))
    return failure();
  for (unsigned i = 0; i < numInputs; ++i)
    if (isFloat(derived.function.getArgument(i)))
      derived.output(reverse.gradientOf(derived.function.getArgument(i)),
                     "grad." + derived.argumentName(i));
  for (ParameterOp parameter : parameters)
    derived.output(reverse.gradientOf(parameter), "grad." + parameter.getName());
  derived.finish();
  return success();
}

/// `weighted`: of loss times weight.
LogicalResult deriveTrain(func::FuncOp eval, bool weighted) {
  if (eval.getNumResults() < 3 || cast<RankedTensorType>(eval.getResultTypes()[0]).getRank() != 0)
    return eval.emitError() << "@eval returns " << eval.getResultTypes()
                            << ", expected a scalar loss, its weight, and correct";
  DerivedFunction derived(eval, "train");
  if (failed(drawDropout(derived.function)))
    return failure();
  derived.listForwardOps();
  ReverseMode reverse(derived.builder);
  SmallVector<ParameterOp> parameters = trainableParameters(derived.function);
  for (ParameterOp parameter : parameters)
    reverse.require(parameter);
  requireReceived(derived.function, reverse);
  Value loss = derived.ret.getOperand(0);
  Value cotangent = derived.ret.getOperand(1);
  if (!weighted)
    cotangent = ConstantOp::create(derived.builder, loss.getLoc(), loss.getType(),
                                   derived.builder.getF64FloatAttr(1));
  reverse.accumulate(loss, cotangent, loss.getLoc());
  if (failed(reverse.run(derived.forwardOps)))
    return failure();
  StringRef names[] = {"loss", "weight", "correct"};
  for (auto [i, name] : llvm::enumerate(names))
    derived.output(derived.ret.getOperand(i), name);
  for (ParameterOp parameter : parameters)
    derived.output(reverse.gradientOf(parameter), "grad." + parameter.getName());
  derived.finish();
  return success();
}

/// Whether the model computes what is minimised itself: a scalar output 'loss'.
bool hasOwnLoss(func::FuncOp forward) {
  for (unsigned i = 0; i < forward.getNumResults(); ++i) {
    auto name = forward.getResultAttrOfType<StringAttr>(i, "hybrid.name");
    auto type = cast<RankedTensorType>(forward.getResultTypes()[i]);
    if (name && name.getValue() == "loss" && type.getRank() == 0 &&
        isa<FloatType>(type.getElementType()))
      return true;
  }
  return false;
}

void addUpdate(func::FuncOp after, func::FuncOp forward) {
  OpBuilder builder(after.getContext());
  builder.setInsertionPointAfter(after);
  SmallVector<Attribute> names;
  Type element;
  for (ParameterOp parameter : trainableParameters(forward)) {
    names.push_back(parameter.getNameAttr());
    element = elementOf(parameter);
  }
  if (names.empty())
    return;
  auto hyper = tensorOf({8}, builder.getF64Type()), norm = tensorOf({}, element);
  auto update = func::FuncOp::create(builder, forward.getLoc(), "update",
                                     builder.getFunctionType({hyper}, {norm}));
  Block *body = update.addEntryBlock();
  update.setArgAttr(0, "hybrid.name", builder.getStringAttr("hyper"));
  update.setResultAttr(0, "hybrid.name", builder.getStringAttr("gradient_norm"));
  builder.setInsertionPointToStart(body);
  auto step = AdamWOp::create(builder, forward.getLoc(), norm, body->getArgument(0),
                              builder.getArrayAttr(names));
  func::ReturnOp::create(builder, forward.getLoc(), step.getGradientNorm());
}

struct Differentiate : hybrid::impl::DifferentiateBase<Differentiate> {
  using DifferentiateBase::DifferentiateBase;
  void runOnOperation() override {
    auto forward = getOperation().lookupSymbol<func::FuncOp>("forward");
    if (!forward || getOperation().lookupSymbol("vjp"))
      return;
    auto eval = getOperation().lookupSymbol<func::FuncOp>("eval");
    if (failed(verifyStraightLine(forward)) || (eval && failed(verifyStraightLine(eval))))
      return signalPassFailure();
    if (failed(deriveVjp(forward)))
      return signalPassFailure();
    if (eval && failed(deriveTrain(eval, weighted)))
      return signalPassFailure();
    if (!eval && hasOwnLoss(forward)) {
      // Its gradients are those of @vjp, whose values are @forward's.
      WalkResult found = forward.walk([](DropoutOp op) {
        op.emitError() << "dropout: a model with an output 'loss' of its own is not trained with "
                          "it, since nothing tells its loss while training from that of an "
                          "evaluation: give the model an output 'logits' or 'prediction'";
        return WalkResult::interrupt();
      });
      if (found.wasInterrupted())
        return signalPassFailure();
    }
    // Of optimizers that the model was given, it is there.
    auto update = getOperation().lookupSymbol<func::FuncOp>("update");
    auto last = getOperation().lookupSymbol<func::FuncOp>(eval ? "train" : "vjp");
    if (!eval && !hasOwnLoss(forward)) {
      if (update)
        update.erase();
    } else if (update) {
      update->moveAfter(last);
    } else {
      addUpdate(last, forward);
    }
  }
};
} // namespace
