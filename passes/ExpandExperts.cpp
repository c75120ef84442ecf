//===- ExpandExperts.cpp - mixtures of experts as small ops ------------------===//
//
// An expert whose body looks at one row at a time is computed for the rows that chose it: rows come
// into the order of their experts, products with own weights become grouped products, everything
// between them stays what it is. The number of (token, choice) pairs is known when compiling, only
// where one expert's rows end is data. A body that mixes positions runs for every expert and all
// positions, since a token may read any of them. See docs/decisions/005-routed-experts.md.
//
//===----------------------------------------------------------------------===//
#include "dialect/Gradients.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"

namespace hybrid {
#define GEN_PASS_DEF_EXPANDEXPERTS
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

/// Common to both ways: what an op's body and its own tensors are.
class Expansion {
public:
  Expansion(RoutedExpertsOp op)
      : op(op), builder(op), e{builder, op.getLoc()}, body(op.getBody().front()),
        choices(lastSize(op.getChoices())) {}

protected:
  /// The tensor of all experts that an argument of the body is one expert's part of, or null.
  Value ownTensor(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    bool isOwn = argument && argument.getOwner() == &body && argument.getArgNumber() > 0;
    return isOwn ? op.getOwn()[argument.getArgNumber() - 1] : Value();
  }
  Location loc() { return op.getLoc(); }

  RoutedExpertsOp op;
  OpBuilder builder;
  ExpressionBuilder e;
  Block &body;
  int64_t choices;
};

/// Rows in expert order, of all (token, choice) pairs: [..., choices, channels].
class SparseExpansion : Expansion {
public:
  using Expansion::Expansion;

  Value run() {
    route = RouteOp::create(builder, loc(), op.getChoices(), op.getExpertsAttr(),
                            op.getCapacityFactorAttr());
    Value x = op.getX();
    SmallVector<int64_t> shape(shapeOf(x));
    shape.insert(std::prev(shape.end()), 1);
    Value pairs = e.reshape(x, shape);
    pairs = e.broadcast(pairs, pairShape(lastSize(x)));
    mapping.map(body.getArgument(0),
                DispatchOp::create(builder, loc(), pairs, route.getSlots()).getResult());
    for (Operation &inner : body.without_terminator())
      expand(inner);
    Value rows = mapping.lookup(body.getTerminator()->getOperand(0));
    // Rows that belong to no expert are zeros behind a grouped product.
    if (!rows.getDefiningOp<GroupedLinearOp>())
      rows = e.mul(rows, ofEachRow(e.broadcast(e.constant(1, x), {experts(), 1})));
    Value results = CollectOp::create(builder, loc(), rows, route.getSlots());
    SmallVector<int64_t> weightShape = pairShape(1);
    Value weighted = e.mul(results, e.reshape(op.getWeights(), weightShape));
    return e.reduce(ReduceKind::Sum, weighted, std::ssize(weightShape) - 2);
  }

private:
  int64_t experts() { return static_cast<int64_t>(op.getExperts()); }
  SmallVector<int64_t> pairShape(int64_t channels) {
    SmallVector<int64_t> shape(shapeOf(op.getChoices()));
    shape.push_back(channels);
    return shape;
  }
  Value grouped(Value x, Value weight, Location at) {
    return GroupedLinearOp::create(builder, at, x, weight, route.getOffsets(), false);
  }
  /// For each row its expert's vector of `own`, [experts, channels].
  Value ofEachRow(Value own) {
    Value ones = e.broadcast(e.constant(1, own), pairShape(1));
    return grouped(ones, e.reshape(own, {experts(), lastSize(own), 1}), loc());
  }
  Value lookup(Value value) {
    if (Value own = ownTensor(value); own && !mapping.contains(value))
      mapping.map(value, ofEachRow(own));
    return mapping.lookupOrDefault(value);
  }

  void expand(Operation &inner) {
    auto linear = dyn_cast<LinearOp>(inner);
    Value own = linear ? ownTensor(linear.getWeight()) : Value();
    if (own) {
      Value y = grouped(lookup(linear.getX()), own, inner.getLoc());
      if (Value bias = linear.getBias())
        y = BinaryOp::create(builder, inner.getLoc(), BinaryKind::Add, y, lookup(bias));
      mapping.map(linear.getResult(), y);
      return;
    }
    for (Value operand : inner.getOperands())
      lookup(operand);
    Operation *copy = builder.clone(inner, mapping);
    auto inferrable = dyn_cast<InferTypeOpInterface>(copy);
    SmallVector<Type> types;
    if (!inferrable ||
        failed(inferrable.inferReturnTypes(copy->getContext(), copy->getLoc(), copy->getOperands(),
                                           copy->getAttrDictionary(), copy->getPropertiesStorage(),
                                           copy->getRegions(), types)))
      return; // a constant; row-wise ops take any leading dimensions
    for (auto [result, type] : llvm::zip_equal(copy->getResults(), types))
      result.setType(type);
  }

  RouteOp route;
  IRMapping mapping;
};

/// The body once an expert, weighted with 0 where a token has not chosen it.
class DenseExpansion : Expansion {
public:
  using Expansion::Expansion;

  Value run() {
    auto experts = static_cast<int64_t>(op.getExperts());
    Value weights = ScatterOp::create(builder, loc(), op.getWeights(), op.getChoices(), experts),
          sum;
    for (int64_t expert = 0; expert < experts; ++expert) {
      IRMapping mapping;
      mapping.map(body.getArgument(0), op.getX());
      for (BlockArgument argument : body.getArguments().drop_front())
        mapping.map(argument, e.reshape(part(ownTensor(argument), 0, expert), shapeOf(argument)));
      for (Operation &inner : body.without_terminator())
        builder.clone(inner, mapping);
      Value result = mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
      Value weighted = e.mul(result, part(weights, std::ssize(shapeOf(weights)) - 1, expert));
      sum = sum ? e.add(sum, weighted) : weighted;
    }
    return sum;
  }

private:
  /// x at `place` of dimension `axis`, which stays with size 1.
  Value part(Value x, int64_t axis, int64_t place) {
    SmallVector<int64_t> starts(shapeOf(x).size()), sizes(shapeOf(x));
    starts[axis] = place;
    sizes[axis] = 1;
    return SliceOp::create(builder, loc(), x, builder.getDenseI64ArrayAttr(starts),
                           shapeAttr(builder.getContext(), sizes));
  }
};

/// As many as a model may have as it is written.
constexpr uint64_t mostCopiedOps = 200000;

struct ExpandExperts : hybrid::impl::ExpandExpertsBase<ExpandExperts> {
  using ExpandExpertsBase::ExpandExpertsBase;

  void runOnOperation() override {
    // The inner ones of a nest come first, and are copied with the outer ones' bodies.
    SmallVector<RoutedExpertsOp> found;
    getOperation().walk([&](RoutedExpertsOp op) { found.push_back(op); });
    for (RoutedExpertsOp op : found)
      if (failed(expand(op)))
        return signalPassFailure();
  }

private:
  LogicalResult expand(RoutedExpertsOp op) {
    Operation *mixing = op.findDenseOp();
    if (!cast<RankedTensorType>(op.getX().getType()).hasStaticShape())
      return op.emitError() << "has free dimensions: specialize it first";
    if (mixing && op.getCapacityFactor().convertToDouble() > 0) {
      InFlightDiagnostic diagnostic = op.emitError()
                                      << "a capacity limits the rows of an expert, but this expert "
                                         "needs more than single rows: leave it out";
      diagnostic.attachNote(mixing->getLoc()) << "'" << mixing->getName() << "' is here";
      return diagnostic;
    }
    const auto copied = static_cast<uint64_t>(op.getBody().front().getOperations().size());
    if (mixing && op.getExperts() > mostCopiedOps / copied) {
      InFlightDiagnostic diagnostic = op.emitError()
                                      << op.getExperts() << " experts of " << copied
                                      << " operations are too many to write out, as an expert that "
                                         "needs more than single rows is: expected at most "
                                      << mostCopiedOps << " operations in all";
      diagnostic.attachNote(mixing->getLoc()) << "'" << mixing->getName() << "' is here";
      return diagnostic;
    }
    Value result = mixing ? DenseExpansion(op).run() : SparseExpansion(op).run();
    ++(mixing ? numDense : numSparse);
    op.replaceAllUsesWith(result);
    op.erase();
    return success();
  }
};
} // namespace
