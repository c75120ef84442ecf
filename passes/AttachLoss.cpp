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
struct AttachLoss : hybrid::impl::AttachLossBase<AttachLoss> {
  using AttachLossBase::AttachLossBase;

  void runOnOperation() override {
    auto forward = getOperation().lookupSymbol<func::FuncOp>("forward");
    if (!forward || getOperation().lookupSymbol("eval"))
      return;
    if (failed(verifyStraightLine(forward)))
      return signalPassFailure();
    std::optional<unsigned> index;
    for (unsigned i = 0; i < forward.getNumResults(); ++i)
      if (auto name = forward.getResultAttrOfType<StringAttr>(i, "hybrid.name");
          name && name.getValue() == "logits")
        index = i;
    if (!index)
      return;
    auto logitsType = cast<RankedTensorType>(forward.getResultTypes()[*index]);
    if (logitsType.getRank() < 2 || !isa<FloatType>(logitsType.getElementType()))
      return;
    for (unsigned i = 0; i < forward.getNumArguments(); ++i)
      if (auto name = forward.getArgAttrOfType<StringAttr>(i, "hybrid.name");
          name && name.getValue() == "targets") {
        emitError(forward.getArgument(i).getLoc())
            << "the model has an input called 'targets', which is the name of what logits are "
               "compared with: rename it";
        return signalPassFailure();
      }

    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(forward);
    auto eval = cast<func::FuncOp>(builder.clone(*forward));
    eval.setSymName("eval");
    auto targetsType = tensorOf(logitsType.getShape().drop_back(), builder.getI32Type());
    unsigned position = eval.getNumArguments();
    if (failed(eval.insertArgument(position, targetsType, {}, forward.getLoc())))
      return signalPassFailure();
    eval.setArgAttr(position, "hybrid.name", builder.getStringAttr("targets"));

    auto ret = cast<func::ReturnOp>(eval.getBody().front().getTerminator());
    builder.setInsertionPoint(ret);
    Value logits = ret.getOperand(*index);
    auto loss = CrossEntropyOp::create(builder, logits.getLoc(), logits, eval.getArgument(position),
                                       Value(), builder.getI64IntegerAttr(-100),
                                       builder.getF64FloatAttr(0));
    SmallVector<Value> results(loss.getResults());
    results.push_back(logits);
    ret.getOperandsMutable().assign(results);
    eval.setFunctionType(
        builder.getFunctionType(eval.getArgumentTypes(), ValueRange(results).getTypes()));
    eval.removeResAttrsAttr();
    StringRef names[] = {"loss", "weight", "correct", "logits"};
    for (auto [i, name] : llvm::enumerate(names))
      eval.setResultAttr(i, "hybrid.name", builder.getStringAttr(name));
  }
};
} // namespace
