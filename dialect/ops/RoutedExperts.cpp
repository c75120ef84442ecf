//===- RoutedExperts.cpp - a mixture of experts -----------------------------===//
#include "dialect/Definitions.h"

using namespace mlir;
using namespace hybrid;

HYBRID_INFER(RoutedExpertsOp) {
  Region &body = adaptor.getBody();
  auto yield =
      body.empty() || body.front().empty() ? nullptr : dyn_cast<YieldOp>(body.front().back());
  if (!yield || yield.getNumOperands() != 1) // C6
    return emitOptionalError(location, "routed_experts: the body must yield one value");
  return give(types, {yield.getOperand(0).getType()});
}

SmallVector<Type> RoutedExpertsOp::getBodyArgumentTypes() {
  SmallVector<Type> types{getX().getType()};
  for (Value own : getOwn())
    types.push_back(tensorOf(shapeOf(own).drop_front(!shapeOf(own).empty()), elementOf(own)));
  return types;
}

LogicalResult RoutedExpertsOp::verify() {
  ArrayRef<int64_t> x = shapeOf(getX()), choices = shapeOf(getChoices());
  int64_t experts = getExperts();
  if (x.empty()) // C1
    return emitOpError() << "x is a single number, expected [..., channels]";
  if (choices.size() != x.size() || !sameLeading(getX(), 1, getChoices(), 1)) // C2
    return emitOpError() << "choices is " << shapeText(choices) << ", but x is " << shapeText(x)
                         << ": expected its leading dimensions and the choices of a token";
  if (!compatibleShapes(shapeOf(getWeights()), choices)) // C3
    return emitOpError() << "weights is " << shapeText(shapeOf(getWeights())) << ", but choices is "
                         << shapeText(choices) << ": expected equal shapes";
  if (experts < 1) // C4
    return emitOpError() << "experts = " << experts << ", expected at least 1";
  for (Value own : getOwn())
    if (shapeOf(own).empty() || shapeOf(own)[0] != experts) // C4
      return emitOpError() << "an own tensor is " << shapeText(shapeOf(own)) << ", but there are "
                           << experts << " experts: expected them as its first dimension";
  if (!sameLeading(getX(), 1, getResult(), 1)) // C6
    return emitOpError() << "the body yields " << shapeText(shapeOf(getResult())) << ", but x is "
                         << shapeText(x) << ": expected its leading dimensions";
  double factor = getCapacityFactor().convertToDouble();
  if (!(factor >= 0)) // C7
    return emitOpError() << "capacity_factor = " << factor << ", expected at least 0 (0: no limit)";
  return success();
}

Operation *RoutedExpertsOp::findDenseOp() {
  Block &body = getBody().front();
  llvm::SmallDenseSet<Value> rows{body.getArgument(0)};
  auto isRow = [&](Value value) { return rows.contains(value); };
  auto isOwn = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &body && argument.getArgNumber() > 0;
  };
  auto isVector = [](Value value) { return shapeOf(value).size() <= 1; };
  // Whether an op makes of each row of its operands the same row of its results.
  auto isOfOneRow = [&](Operation &op) {
    if (op.hasTrait<FusableElementwise>() && !op.hasTrait<ViewOfOperand>())
      return llvm::all_of(op.getOperands(),
                          [&](Value value) { return isRow(value) || isVector(value); });
    if (auto linear = dyn_cast<LinearOp>(op); linear && isOwn(linear.getWeight()))
      return isRow(linear.getX());
    auto rowwise = dyn_cast<RowwiseOp>(op);
    return rowwise && rowwise.isRowwise() && llvm::none_of(op.getOperands(), isOwn) &&
           llvm::all_of(op.getOpOperands(),
                        [&](OpOperand &operand) {
                          return isRow(operand.get()) ==
                                 rowwise.isRowOperand(operand.getOperandNumber());
                        }) &&
           llvm::all_of(op.getResults(), [&](OpResult result) {
             return rowwise.isRowResult(result.getResultNumber());
           });
  };
  for (Operation &op : body.without_terminator()) {
    if (!llvm::any_of(op.getOperands(), isRow) && !llvm::any_of(op.getOperands(), isOwn) &&
        op.getNumRegions() == 0)
      continue;
    if (!isOfOneRow(op) || !llvm::any_of(op.getOperands(), isRow))
      return &op;
    rows.insert(op.result_begin(), op.result_end());
  }
  Operation *yield = body.getTerminator();
  return isRow(yield->getOperand(0)) ? nullptr : yield;
}

// What runs for one expert and all tokens, times the experts of a token; or all experts.
int64_t RoutedExpertsOp::getFlops() {
  int64_t ofOne = 0;
  getBody().walk([&](CostOp cost) { ofOne += cost.getFlops(); });
  int64_t choices = lastSize(getChoices()), times = findDenseOp() ? getExperts() : choices;
  return times * ofOne + 2 * choices * elementCount(getResult());
}
StringRef RoutedExpertsOp::getFlopsFormula() { return "k·(expert + 2·B·L·D), k chosen or all"; }
// What is given and what comes out; what is inside depends on how it is expanded.
int64_t RoutedExpertsOp::getBytesMoved() { return bytesOfTensors(*this); }
// A token meets the weights of the experts that it chose.
int64_t RoutedExpertsOp::getActiveElements(OpOperand &operand) {
  int64_t all = elementCount(operand.get()), experts = getExperts();
  bool isOwn = llvm::is_contained(getOwn(), operand.get());
  return isOwn && !findDenseOp() ? all / experts * std::min(lastSize(getChoices()), experts) : all;
}

SequenceUse RoutedExpertsOp::getSequenceUse(unsigned operand, int64_t axis, unsigned) {
  if (operand > 2)
    return SequenceUse::all("an expert's weights depend on the sequence");
  if (operand > 0 && !getCapacityFactor().isZero())
    return SequenceUse::unknown("positions share the capacity of an expert");
  return leadingSequenceUse(getOperand(operand), axis);
}
// An expert sees x; its own tensors have another first dimension outside.
Value RoutedExpertsOp::getBodyRows(unsigned argument) { return argument ? Value() : getX(); }
// One that mixes positions runs for all of them, whoever chose it.
int64_t RoutedExpertsOp::getBodyStates() { return static_cast<int64_t>(getExperts()); }
