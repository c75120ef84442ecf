//===- SequenceModels.cpp - how positions go through ops that mix or move them ===//
#include "dialect/SequenceUse.h"
#include "dialect/Shapes.h"
#include <numeric>

using namespace mlir;
using namespace hybrid;

namespace {

template <typename Model, typename Op> using PositionsModel = PositionsOp::ExternalModel<Model, Op>;

struct SliceModel : PositionsModel<SliceModel, SliceOp> {
  SequenceUse getSequenceUse(Operation *op, unsigned, int64_t axis, unsigned) const {
    return SequenceUse::same(axis, cast<SliceOp>(op).getStarts()[static_cast<size_t>(axis)]);
  }
};

struct PadModel : PositionsModel<PadModel, PadOp> {
  SequenceUse getSequenceUse(Operation *op, unsigned, int64_t axis, unsigned) const {
    return SequenceUse::same(axis, -cast<PadOp>(op).getStarts()[static_cast<size_t>(axis)]);
  }
};

/// Along the dimension that is cut.
struct SplitModel : PositionsModel<SplitModel, SplitOp> {
  SequenceUse getSequenceUse(Operation *op, unsigned, int64_t axis, unsigned result) const {
    auto before = cast<SplitOp>(op).getSizes().take_front(result);
    return SequenceUse::same(axis, std::accumulate(before.begin(), before.end(), int64_t(0)));
  }
};

/// Along the dimension that is joined.
struct ConcatModel : PositionsModel<ConcatModel, ConcatOp> {
  SequenceUse getSequenceUse(Operation *op, unsigned operand, int64_t axis, unsigned) const {
    int64_t before = 0;
    for (Value part : op->getOperands().take_front(operand))
      before += shapeOf(part)[static_cast<size_t>(axis)];
    return SequenceUse::same(axis, -before);
  }
};

/// Along the dimension that is turned round.
struct ReverseModel : PositionsModel<ReverseModel, ReverseOp> {
  SequenceUse getSequenceUse(Operation *, unsigned, int64_t axis, unsigned) const {
    return SequenceUse::all("it cuts, joins or shifts along the sequence", axis);
  }
};

/// Where the dimension is not among those of the result.
struct ReshapeModel : PositionsModel<ReshapeModel, ReshapeOp> {
  SequenceUse getSequenceUse(Operation *op, unsigned, int64_t axis, unsigned) const {
    return shapeOf(op->getOperand(0))[static_cast<size_t>(axis)] == 1
               ? SequenceUse::all("it drops the dimension of the sequence")
               : SequenceUse::unknown("it mixes the sequence with another dimension");
  }
};

/// Along a dimension that is reduced. A maximum is often taken away again, as in a softmax.
struct ReduceModel : PositionsModel<ReduceModel, ReduceOp> {
  SequenceUse getSequenceUse(Operation *op, unsigned, int64_t, unsigned) const {
    StringRef why = "it needs all positions";
    return cast<ReduceOp>(op).getKind() == ReduceKind::Max ? SequenceUse::unknown(why)
                                                           : SequenceUse::all(why);
  }
};

/// Of ops whose operands have one shape but for the last dimension, which alone is mixed.
SequenceUse leadingUse(Operation *op, unsigned operand, int64_t axis) {
  bool last = axis + 1 == std::ssize(shapeOf(op->getOperand(operand)));
  return last ? SequenceUse::all("positions meet other positions") : SequenceUse::same(axis);
}

template <typename Op> struct LeadingModel : PositionsModel<LeadingModel<Op>, Op> {
  SequenceUse getSequenceUse(Operation *op, unsigned operand, int64_t axis, unsigned) const {
    return leadingUse(op, operand, axis);
  }
};

struct ExpertsModel : PositionsModel<ExpertsModel, RoutedExpertsOp> {
  SequenceUse getSequenceUse(Operation *op, unsigned operand, int64_t axis, unsigned) const {
    if (operand > 2)
      return SequenceUse::all("an expert's weights depend on the sequence");
    if (operand > 0 && !cast<RoutedExpertsOp>(op).getCapacityFactor().isZero())
      return SequenceUse::unknown("positions share the capacity of an expert");
    return leadingUse(op, operand, axis);
  }
  // An expert sees x; its own tensors have another first dimension outside.
  Value getBodyRows(Operation *op, unsigned argument) const {
    return argument ? Value() : cast<RoutedExpertsOp>(op).getX();
  }
  // One that mixes positions runs for all of them, whoever chose it.
  int64_t getBodyStates(Operation *op) const {
    return static_cast<int64_t>(cast<RoutedExpertsOp>(op).getExperts());
  }
};

struct AttentionModel : PositionsModel<AttentionModel, AttentionOp> {
  SequenceUse getSequenceUse(Operation *operation, unsigned operand, int64_t axis,
                             unsigned result) const {
    auto op = cast<AttentionOp>(operation);
    auto isOf = [&](MutableOperandRange terms) {
      return !terms.empty() && terms[0].getOperandNumber() == operand;
    };
    const bool ofQuery = isOf(op.getQueryTermsMutable()), ofKey = isOf(op.getKeyTermsMutable());
    if (axis != (ofQuery || ofKey ? 3 : 1))
      return SequenceUse::unknown("the sequence is not where its positions are");
    const int64_t place = result ? 2 : 1;
    if (operand == 0 || ofQuery)
      return SequenceUse::same(place);
    return op.getCausal() ? SequenceUse::past(place, shapeOf(op.getK())[1] - shapeOf(op.getQ())[1])
                          : SequenceUse::all("each position sees all, the later ones too");
  }
};

/// The state are the last keys and values that the window reaches, and for each of them a 1: there
/// is no key where a 0 stands, as before the start. Those places and the positions are then packed
/// sequences, so that no query sees them. Only the distance between positions matters, rotated or
/// not.
struct WindowModel : CarriedOp::ExternalModel<WindowModel, AttentionOp> {
  StringRef getObstacle(Operation *operation) const {
    auto op = cast<AttentionOp>(operation);
    if (!op.getCausal())
      return "each position sees all, the later ones too";
    if (op.getSegments())
      return "sequences are packed";
    if (!op.getScore().empty())
      return "its score may depend on where the chunk lies";
    return op.getPastK() || shapeOf(op.getK())[1] != shapeOf(op.getQ())[1]
               ? "its state is not one that a chunk can hand to the next"
               : "";
  }
  Value buildCarried(Operation *operation, OpBuilder &builder,
                     llvm::function_ref<Value(Type)> stateOfType,
                     SmallVectorImpl<Value> &finalStates) const {
    auto op = cast<AttentionOp>(operation);
    auto window = static_cast<int64_t>(op.getWindow());
    if (window == 0)
      return builder.clone(*operation)->getResult(0);
    Location loc = op.getLoc();
    ArrayRef<int64_t> q = shapeOf(op.getQ());
    const int64_t batch = q[0], length = q[1], all = window + length;
    Type element = elementOf(op.getQ());
    auto filled = [&](double value, ArrayRef<int64_t> shape) -> Value {
      return ConstantOp::create(builder, loc, tensorOf(shape, element),
                                builder.getF64FloatAttr(value));
    };
    auto cut = [&](Value x, int64_t from, int64_t positions) -> Value {
      return SliceOp::create(builder, loc, x, builder.getDenseI64ArrayAttr({0, from, 0}),
                             shapeAttr(op.getContext(), {batch, positions, lastSize(x)}));
    };
    auto join = [&](Value before, Value x, int64_t axis) -> Value {
      return ConcatOp::create(builder, loc, ValueRange{before, x}, axis);
    };
    auto resume = [&](Value x) {
      Value whole = join(stateOfType(tensorOf({batch, window, lastSize(x)}, element)), x, 1);
      finalStates.push_back(cut(whole, length, window));
      return whole;
    };
    Value k = resume(op.getK()), v = resume(op.getV()),
          there = resume(filled(1, {batch, length, 1}));
    Value ids = TopKOp::create(builder, loc, join(filled(0.5, {batch, all, 1}), there, 2), 1);
    ids = ReshapeOp::create(builder, loc, ids, shapeAttr(op.getContext(), {batch, all}));
    Value queries = join(filled(0, {batch, window, q[2]}), op.getQ(), 1);
    auto whole = cast<AttentionOp>(builder.clone(*operation));
    whole.getQMutable().assign(queries);
    whole.getKMutable().assign(k);
    whole.getVMutable().assign(v);
    whole.getSegmentsMutable().assign(ids);
    whole.getResult().setType(tensorOf({batch, all, lastSize(op.getResult())}, element));
    whole.getLse().setType(tensorOf({batch, static_cast<int64_t>(op.getHeads()), all}, element));
    return cut(whole.getResult(), window, length);
  }
};

} // namespace

void hybrid::attachSequenceModels(MLIRContext &context) {
  SliceOp::attachInterface<SliceModel>(context);
  PadOp::attachInterface<PadModel>(context);
  SplitOp::attachInterface<SplitModel>(context);
  ConcatOp::attachInterface<ConcatModel>(context);
  ReverseOp::attachInterface<ReverseModel>(context);
  ReshapeOp::attachInterface<ReshapeModel>(context);
  ReduceOp::attachInterface<ReduceModel>(context);
  TopKOp::attachInterface<LeadingModel<TopKOp>>(context);
  TakeOp::attachInterface<LeadingModel<TakeOp>>(context);
  ScatterOp::attachInterface<LeadingModel<ScatterOp>>(context);
  RoutedExpertsOp::attachInterface<ExpertsModel>(context);
  AttentionOp::attachInterface<AttentionModel, WindowModel>(context);
}
