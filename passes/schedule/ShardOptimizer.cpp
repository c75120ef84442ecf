//===- ShardOptimizer.cpp - every rank updates what it owns ----------------===//
#include "dialect/Shapes.h"
#include "dialect/schedule/Memory.h"
#include "dialect/schedule/RankOps.h"
#include "passes/schedule/SchedulePasses.h"
#include "passes/schedule/SharedRanges.h"

using namespace mlir;

namespace hybrid {
#define GEN_PASS_DEF_SHARDOPTIMIZER
#include "passes/schedule/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral source = "shard_optimizer";

bool isOfParameters(Space space) {
  return space == Space::Parameters || space == Space::Gradients || space == Space::Moment1 ||
         space == Space::Moment2;
}

/// The byte of the spaces laid out like parameters where a view lies; none where it lies elsewhere.
std::optional<int64_t> placeOf(const View &view) {
  auto buffer = view.isPresent() ? view.buffer.getDefiningOp<BufferOp>() : BufferOp();
  if (!buffer || !isOfParameters(buffer.getSpace()) || !buffer.getAt())
    return {};
  return static_cast<int64_t>(*buffer.getAt()) + view.offset * bytesOf(view.element);
}

ByteRange rangeOf(const View &view, int64_t at) {
  return {at, at + view.extent() * bytesOf(view.element)};
}

/// Where an elementwise region begins that computes stretches of parameters and moments from these,
/// their gradients and single numbers; none for any other.
std::optional<int64_t> stretchOf(ComputeOp op) {
  const View first = viewOf(op.getOutputs().front());
  const std::optional<int64_t> at = placeOf(first);
  if (!at)
    return {};
  auto liesThere = [&](Value value) {
    View view = viewOf(value);
    return view.isDense() && placeOf(view) == at && view.shape == first.shape;
  };
  auto isNumber = [](Value value) {
    return llvm::all_of(viewOf(value).strides, [](int64_t stride) { return stride == 0; });
  };
  const bool fits = llvm::all_of(op.getOutputs(), liesThere) &&
                    llvm::all_of(op.getInputs(),
                                 [&](Value value) { return liesThere(value) || isNumber(value); });
  return fits ? at : std::nullopt;
}

/// What all items of a launch work on.
ByteRanges rangesOf(LaunchOp launch) {
  ByteRanges ranges;
  ArrayRef<int64_t> spans = launch.getItemSpans();
  for (size_t i = 0; i < spans.size(); i += 3) {
    const int64_t end =
        i + 3 < spans.size() ? spans[i + 3] : static_cast<int64_t>(launch.getGrid());
    ranges.add({spans[i + 1], spans[i + 1] + (end - spans[i]) * spans[i + 2]});
  }
  return ranges;
}

class Sharing {
public:
  Sharing(ModuleOp module, ProgramOp update)
      : module(module), update(update), builder(module.getContext()) {}

  LogicalResult run() {
    for (Operation &op : llvm::make_early_inc_range(update.getBody().front()))
      if (auto step = dyn_cast<ScheduleStep>(op))
        look(step);
    if (const std::optional<ByteRange> twice = shared.common(whole))
      return update.emitOpError() << "updates bytes " << twice->begin << " to " << twice->end
                                  << " of the parameters both in shares and as a whole";
    if (shared.count() == 0)
      update.emitWarning() << "nothing is shared: no parameter is updated element by element";
    gather();
    SmallVector<Attribute> stretches;
    for (const ByteRange &range : shared.ranges())
      stretches.push_back(BufferAttr::get(module.getContext(), Space::Parameters, range.begin,
                                          range.end - range.begin));
    module->setAttr(sharedAttribute, builder.getArrayAttr(stretches));
    for (auto program : module.getOps<ProgramOp>())
      for (auto buffer : program.getOps<BufferOp>())
        if (buffer.getSpace() == Space::Gradients && program != update && buffer.getAt() &&
            shared.contains({static_cast<int64_t>(*buffer.getAt()),
                             static_cast<int64_t>(*buffer.getAt()) + buffer.getBytes()}))
          buffer->setAttr(toOwnersAttribute, builder.getUnitAttr());
    return success();
  }

  unsigned count() const { return static_cast<unsigned>(shared.count()); }

private:
  void look(ScheduleStep step) {
    SmallVector<View> written;
    for (unsigned i = 0; i < step->getNumOperands(); ++i)
      if (View view = viewOf(step->getOperand(i)); view.isPresent() && step.writesOperand(i))
        written.push_back(view);
    auto launch = dyn_cast<LaunchOp>(step.getOperation());
    if (launch && !launch.getItemSpans().empty()) {
      const bool updates = llvm::any_of(written, [](const View &view) { return placeOf(view); });
      if (updates)
        shared.add(rangesOf(launch));
      else
        sum(launch, written);
      return;
    }
    if (auto compute = dyn_cast<ComputeOp>(step.getOperation()))
      if (std::optional<int64_t> at = stretchOf(compute)) {
        compute->setAttr(itemsAtAttribute, builder.getI64IntegerAttr(*at));
        shared.add(rangeOf(written.front(), *at));
        return;
      }
    for (const View &view : written)
      if (std::optional<int64_t> at = placeOf(view))
        whole.add(rangeOf(view, *at));
  }

  /// What its items make of their part, 0 where a rank did not run them, over all ranks.
  void sum(LaunchOp launch, ArrayRef<View> written) {
    SmallVector<Value> results;
    for (const View &view : written)
      results.push_back(view.buffer);
    for (Value result : results) {
      builder.setInsertionPoint(launch);
      FillOp::create(builder, launch.getLoc(), result, builder.getF64FloatAttr(0),
                     builder.getStringAttr(source));
      builder.setInsertionPointAfter(launch);
      Type element = viewOf(result).element;
      auto reduce =
          AllReduceOp::create(builder, launch.getLoc(), result, builder.getArrayAttr({}), element,
                              element, /*mean=*/false, /*weighted=*/false, /*scaled=*/false,
                              /*to_owners=*/false, /*release=*/false, source);
      builder.setInsertionPointAfter(reduce);
      AwaitOp::create(builder, launch.getLoc(), result, builder.getArrayAttr({}), source);
    }
  }

  /// The new parameters, behind all steps.
  void gather() {
    if (shared.count() == 0)
      return;
    Operation *last = nullptr;
    Type element;
    for (Operation &op : update.getBody().front()) {
      if (isa<ScheduleStep>(op))
        last = &op;
      if (auto buffer = dyn_cast<BufferOp>(op); buffer && buffer.getSpace() == Space::Gradients)
        element = buffer.getType().getElementType();
    }
    builder.setInsertionPointToStart(&update.getBody().front());
    SmallVector<Value> buffers;
    for (const ByteRange &range : shared.ranges()) {
      auto type = MemRefType::get({(range.end - range.begin) / bytesOf(element)}, element);
      buffers.push_back(BufferOp::create(builder, update.getLoc(), type, Space::Parameters,
                                         /*name=*/StringAttr(),
                                         builder.getI64IntegerAttr(range.begin), IdsAttr()));
    }
    builder.setInsertionPointAfter(last);
    AllGatherOp::create(builder, last->getLoc(), buffers, builder.getArrayAttr({}), source);
    AwaitOp::create(builder, last->getLoc(), buffers, builder.getArrayAttr({}), source);
  }

  ModuleOp module;
  ProgramOp update;
  OpBuilder builder;
  ByteRanges shared, whole; // of parameters: in shares, and by all ranks
};

struct ShardOptimizer : impl::ShardOptimizerBase<ShardOptimizer> {
  using ShardOptimizerBase::ShardOptimizerBase;
  void runOnOperation() override {
    auto update = getOperation().lookupSymbol<ProgramOp>("update");
    if (!update)
      return;
    Sharing sharing(getOperation(), update);
    if (failed(sharing.run()))
      return signalPassFailure();
    numShared += sharing.count();
  }
};

} // namespace
} // namespace hybrid
