//===- Experts.cpp - choices, and mixtures of experts ----------------------------===//
//
// Every expert computes all rows, and what it was not chosen for is weighted with 0: the simplest
// form, which every runtime has, and the same numbers. Its work grows with the number of experts.
//
//===----------------------------------------------------------------------===//
#include "codegen/onnx/Conversion.h"
#include "dialect/Shapes.h"
#include <cmath>

using namespace mlir;

namespace hybrid::onnx {

static LogicalResult convertTopK(TopKOp op, Conversion &to) {
  const Tensor &x = to.of(op.getX());
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  SmallVector<Tensor> results{{"", SmallVector<int64_t>(shape), x.element},
                              {"", SmallVector<int64_t>(shape), Element::I64}};
  to.graph.node("TopK", {x, to.graph.integers({static_cast<int64_t>(op.getK())})}, results);
  to.define(op.getResult(), to.graph.cast(results[1], Element::I32));
  return success();
}

static LogicalResult convertTake(TakeOp op, Conversion &to) {
  const Tensor &x = to.of(op.getX());
  to.define(op.getResult(),
            to.graph.node("GatherElements", {x, to.of(op.getIndices())}, shapeOf(op.getResult()),
                          x.element, {{"axis", x.rank() - 1}}));
  return success();
}

static LogicalResult convertScatter(ScatterOp op, Conversion &to) {
  const Tensor &x = to.of(op.getX());
  Tensor zeros = to.graph.full(0, shapeOf(op.getResult()));
  to.define(op.getResult(),
            to.graph.node("ScatterElements", {zeros, to.of(op.getIndices()), x}, zeros.shape,
                          x.element, {{"axis", x.rank() - 1}, {"reduction", std::string("add")}}));
  return success();
}

/// Without the pairs that come to an expert after its first `most`, in row-major order.
static Tensor firstOnes(const Tensor &chosen, int64_t most, Conversion &to) {
  Tensor ones = to.graph.reshape(to.graph.cast(chosen, Element::I32), {elementCount(chosen.shape)});
  Tensor place = to.graph.elementwise(
      "Mul", // 1 for the first; 0 for those of other experts
      to.graph.node("CumSum", {ones, to.graph.integer(0)}, ones.shape, ones.element), ones);
  Tensor within = to.graph.compare("LessOrEqual", place, to.graph.integer(most, Element::I32));
  return to.graph.node("And", {chosen, to.graph.reshape(within, chosen.shape)}, chosen.shape,
                       Element::Bool);
}

static LogicalResult convertRoutedExperts(RoutedExpertsOp op, Conversion &to) {
  const auto experts = static_cast<int64_t>(op.getExperts());
  const Tensor &x = to.of(op.getX()), &choices = to.of(op.getChoices());
  const double factor = op.getCapacityFactor().convertToDouble();
  const auto capacity = static_cast<int64_t>(std::ceil(
      factor * static_cast<double>(elementCount(choices.shape)) / static_cast<double>(experts)));
  const Tensor weights = to.of(op.getWeights()), none = to.graph.constant(0);
  std::optional<Formula> sum;
  for (int64_t expert = 0; expert < experts; ++expert) {
    SmallVector<Tensor> arguments{x};
    for (Value own : op.getOwn())
      arguments.push_back(
          to.graph.reshape(to.graph.slice(to.of(own), 0, expert, 1), shapeOf(own).drop_front()));
    FailureOr<SmallVector<Tensor>> y = to.inlined(op.getBody().front(), arguments);
    if (failed(y)) // the others would say the same
      return failure();
    Tensor chosen = to.graph.compare("Equal", choices, to.graph.integer(expert, Element::I32));
    if (factor > 0)
      chosen = firstOnes(chosen, capacity, to);
    Formula weight = to.formula(to.graph.reduce("ReduceSum", to.graph.where(chosen, weights, none),
                                                {choices.rank() - 1}, true));
    Formula part = to.formula(y->front()) * weight;
    sum = sum ? *sum + part : part;
  }
  to.define(op.getResult(), *sum);
  return success();
}

void addExperts(Conversion &to) {
  to.add<TopKOp>(convertTopK);
  to.add<TakeOp>(convertTake);
  to.add<ScatterOp>(convertScatter);
  to.add<RoutedExpertsOp>(convertRoutedExperts);
}

} // namespace hybrid::onnx
