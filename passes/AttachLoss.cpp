//===- AttachLoss.cpp - the evaluation program of a model with logits -------===//
#include "dialect/HybridOps.h"
#include "dialect/Shapes.h"
#include "passes/Passes.h"
#include "passes/StraightLine.h"

namespace hybrid {
#define GEN_PASS_DEF_ATTACHLOSS
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

/// What the evaluation program returns before the output itself.
struct Loss {
  Value loss, weight, correct;
};

/// Cross-entropy of logits [..., V] against integers [...].
Loss crossEntropy(OpBuilder &builder, Value logits, Value targets, bool weightFirst) {
  auto op = CrossEntropyOp::create(builder, logits.getLoc(), logits, targets, Value(),
                                   builder.getI64IntegerAttr(-100), builder.getF64FloatAttr(0));
  Value weight = op.getTotalWeight();
  if (weightFirst)
    weight = TargetWeightOp::create(builder, op.getLoc(), weight.getType(), targets, Value(),
                                    op.getIgnoreIndexAttr());
  return {op->getResult(0), weight, op->getResult(2)};
}

/// Mean square of prediction - target over the M numbers of a position, mean over positions by
/// their weights. Nothing is ever correct.
Loss squaredError(OpBuilder &builder, Value prediction, Value targets) {
  Location loc = prediction.getLoc();
  ArrayRef<int64_t> shape = shapeOf(prediction);
  int64_t rank = std::ssize(shape);
  SmallVector<int64_t> starts(rank), weightShape(shape), all = llvm::to_vector(llvm::seq(rank));
  auto slice = [&](ArrayRef<int64_t> sizes) {
    return SliceOp::create(builder, loc, targets, builder.getDenseI64ArrayAttr(starts),
                           shapeAttr(builder.getContext(), sizes));
  };
  Value wanted = slice(shape);
  starts.back() = shape.back();
  weightShape.back() = 1;
  Value weights = slice(weightShape);
  auto sum = [&](Value value) -> Value {
    return ReduceOp::create(builder, loc, ReduceKind::Sum, value, all);
  };
  auto binary = [&](BinaryKind kind, Value a, Value b) -> Value {
    return BinaryOp::create(builder, loc, kind, a, b);
  };
  auto constant = [&](double value) -> Value {
    return ConstantOp::create(builder, loc, tensorOf({}, elementOf(prediction)),
                              builder.getF64FloatAttr(value));
  };
  Value square =
      UnaryOp::create(builder, loc, UnaryKind::Square, binary(BinaryKind::Sub, prediction, wanted));
  Value mean =
      ReduceOp::create(builder, loc, ReduceKind::Mean, square, ArrayRef(rank - 1), /*keep=*/true);
  Value weight = sum(weights);
  // Where nothing is asked the sum above is zero too.
  Value divisor = binary(BinaryKind::Max, weight, constant(1e-30));
  return {binary(BinaryKind::Div, sum(binary(BinaryKind::Mul, mean, weights)), divisor), weight,
          constant(0)};
}

struct AttachLoss : hybrid::impl::AttachLossBase<AttachLoss> {
  using AttachLossBase::AttachLossBase;

  void runOnOperation() override {
    auto forward = getOperation().lookupSymbol<func::FuncOp>("forward");
    if (!forward || getOperation().lookupSymbol("eval"))
      return;
    if (failed(verifyStraightLine(forward)))
      return signalPassFailure();
    std::optional<unsigned> index = resultCalled(forward, "logits", 2);
    bool classes = index.has_value();
    if (!classes)
      index = resultCalled(forward, "prediction", 3);
    if (!index)
      return;
    for (unsigned i = 0; i < forward.getNumArguments(); ++i)
      if (auto name = forward.getArgAttrOfType<StringAttr>(i, "hybrid.name");
          name && name.getValue() == "targets") {
        emitError(forward.getArgument(i).getLoc())
            << "the model has an input called 'targets', which is the name of what "
            << (classes ? "logits are" : "a prediction is") << " compared with: rename it";
        return signalPassFailure();
      }

    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(forward);
    auto eval = cast<func::FuncOp>(builder.clone(*forward));
    eval.setSymName("eval");
    auto outputType = cast<RankedTensorType>(forward.getResultTypes()[*index]);
    SmallVector<int64_t> shape(outputType.getShape());
    ++shape.back();
    auto targetsType = classes ? tensorOf(outputType.getShape().drop_back(), builder.getI32Type())
                               : tensorOf(shape, outputType.getElementType());
    unsigned position = eval.getNumArguments();
    if (failed(eval.insertArgument(position, targetsType, {}, forward.getLoc())))
      return signalPassFailure();
    eval.setArgAttr(position, "hybrid.name", builder.getStringAttr("targets"));

    auto ret = cast<func::ReturnOp>(eval.getBody().front().getTerminator());
    builder.setInsertionPoint(ret);
    Value output = ret.getOperand(*index), targets = eval.getArgument(position);
    Loss loss = classes ? crossEntropy(builder, output, targets, weightFirst)
                        : squaredError(builder, output, targets);
    SmallVector<Value> results = {loss.loss, loss.weight, loss.correct, output};
    ret.getOperandsMutable().assign(results);
    eval.setFunctionType(
        builder.getFunctionType(eval.getArgumentTypes(), ValueRange(results).getTypes()));
    eval.removeResAttrsAttr();
    StringRef names[] = {"loss", "weight", "correct", classes ? "logits" : "prediction"};
    for (auto [i, name] : llvm::enumerate(names))
      eval.setResultAttr(i, "hybrid.name", builder.getStringAttr(name));
  }

  /// The result of this name, if it is floating point and of `rank` dimensions at least.
  static std::optional<unsigned> resultCalled(func::FuncOp forward, StringRef wanted,
                                              int64_t rank) {
    for (unsigned i = 0; i < forward.getNumResults(); ++i)
      if (auto name = forward.getResultAttrOfType<StringAttr>(i, "hybrid.name");
          name && name.getValue() == wanted) {
        auto type = cast<RankedTensorType>(forward.getResultTypes()[i]);
        if (type.getRank() >= rank && isa<FloatType>(type.getElementType()))
          return i;
      }
    return std::nullopt;
  }
};
} // namespace
