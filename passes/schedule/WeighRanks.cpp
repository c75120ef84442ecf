//===- WeighRanks.cpp - means over ranks become sums ------------------------===//
#include "dialect/HybridOps.h"
#include "dialect/schedule/Memory.h"
#include "dialect/schedule/RankOps.h"
#include "passes/schedule/OpenStates.h"
#include "passes/schedule/SchedulePasses.h"

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_WEIGHRANKS
#include "passes/schedule/Passes.h.inc"

namespace {

class Weighing {
public:
  Weighing(ProgramOp program, bool areWeighted)
      : program(program), builder(program.getContext()), areWeighted(areWeighted) {
    for (Operation &op : program.getBody().front())
      if (isa<ScheduleStep, TileLoopOp>(op))
        steps.push_back(&op);
  }

  LogicalResult run() {
    for (auto output : program.getOps<OutputOp>())
      if (output.getName() == "weight")
        weight = output.getValue();
    Operation *known = weight ? lastWrite() : nullptr;
    if (!known)
      return program.emitOpError()
             << "computes no output 'weight': only the training of a model with a loss is reduced";
    known = meetingPlace(steps, statesAreClosed(program, steps), known);
    Value total = sum(known);
    divide(total, beforeGradients(total));
    return success();
  }

private:
  Operation *lastWrite() {
    Operation *last = nullptr;
    for (Operation *step : steps)
      for (const Access &access : accessesOf(step))
        if (access.written && access.view.buffer == viewOf(weight).buffer)
          last = step;
    return last;
  }

  /// A buffer for one number, as the weight is one.
  BufferOp number() {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&program.getBody().front());
    View view = viewOf(weight);
    return BufferOp::create(builder, program.getLoc(), MemRefType::get(view.shape, view.element),
                            Space::Arena, StringAttr(), IntegerAttr(), IdsAttr());
  }

  /// Begins to sum the weight behind `known`. It stays as it is: its sum is another number.
  Value sum(Operation *known) {
    Value total = number();
    builder.setInsertionPointAfter(known);
    CopyOp::create(builder, known->getLoc(), weight, total, source);
    Type element = viewOf(total).element;
    begun = AllReduceOp::create(builder, known->getLoc(), total, builder.getArrayAttr({}), element,
                                element, /*mean=*/false, /*weighted=*/false, /*scaled=*/false,
                                /*to_owners=*/false, /*release=*/false, source);
    return total;
  }

  /// The first step behind the sum's beginning that writes a gradient; else the one behind it.
  Operation *beforeGradients(Value total) {
    for (Operation *step = begun->getNextNode(); step; step = step->getNextNode())
      if (isa<ScheduleStep, TileLoopOp>(step))
        for (const Access &access : accessesOf(step))
          if (auto buffer = access.view.buffer.getDefiningOp<BufferOp>();
              access.written && buffer && buffer.getSpace() == Space::Gradients)
            return step;
    return begun->getNextNode();
  }

  /// Waits for the sum and computes the factors, in front of a step. Where the sum is 0 nothing was
  /// scored, and what is scaled is 0.
  void divide(Value total, Operation *before) {
    builder.setInsertionPoint(before);
    AwaitOp::create(builder, begun->getLoc(), total, builder.getArrayAttr({}), source);
    SmallVector<Value> factors;
    auto add = [&](StringRef of) {
      BufferOp factor = number();
      factor->setAttr(rankFactorAttribute, builder.getStringAttr(of));
      factors.push_back(factor);
    };
    add(ofMean);
    if (areWeighted)
      add(ofWeighted);
    auto step =
        ComputeOp::create(builder, begun->getLoc(), ValueRange{weight, total}, factors, source);
    View view = viewOf(weight);
    auto type = RankedTensorType::get(view.shape, view.element);
    Block &body = step.getBody().emplaceBlock();
    body.addArguments({type, type}, {begun->getLoc(), begun->getLoc()});
    OpBuilder inside = OpBuilder::atBlockEnd(&body);
    auto constant = [&](double value) -> Value {
      return ConstantOp::create(inside, begun->getLoc(), type, inside.getF64FloatAttr(value));
    };
    auto binary = [&](BinaryKind kind, Value left, Value right) -> Value {
      return BinaryOp::create(inside, begun->getLoc(), kind, left, right);
    };
    Value all = binary(BinaryKind::Max, body.getArgument(1), constant(1e-30));
    SmallVector<Value> results{binary(BinaryKind::Div, body.getArgument(0), all)};
    if (areWeighted)
      results.push_back(binary(BinaryKind::Div, constant(1), all));
    YieldElementsOp::create(inside, begun->getLoc(), results);
  }

  ProgramOp program;
  OpBuilder builder;
  bool areWeighted;
  SmallVector<Operation *> steps;
  Value weight;
  AllReduceOp begun;
  static constexpr llvm::StringLiteral source = "data_parallel";
};

struct WeighRanks : impl::WeighRanksBase<WeighRanks> {
  using WeighRanksBase::WeighRanksBase;
  void runOnOperation() override {
    if (getOperation().getSymName() == "train" && failed(Weighing(getOperation(), weighted).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace hybrid
