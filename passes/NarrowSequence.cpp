//===- NarrowSequence.cpp - a program for fewer positions --------------------===//
#include "passes/NarrowSequence.h"
#include "dialect/Shapes.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "passes/RankParts.h"
#include <numeric>

using namespace mlir;

namespace hybrid {

SequenceNarrowing::SequenceNarrowing(func::FuncOp function, int64_t length, int64_t ranks)
    : function(function), length(length), whole(shapeOf(function.getArgument(0))[1]), ranks(ranks) {
}

void SequenceNarrowing::plan(Operation *op, SequenceAxes &axes) {
  for (Region &region : op->getRegions())
    if (!op->hasTrait<OpTrait::IsIsolatedFromAbove>())
      for (Operation &inner : region.getOps())
        plan(&inner, axes);
  Plan plan;
  bool along = false;
  for (OpResult result : op->getResults()) {
    const Positions &positions = axes.of(result);
    plan.dimensions.push_back(positions.axes.empty() ? -1 : positions.axes.front().dimension);
    along |= !positions.axes.empty();
  }
  if (!along)
    return;
  for (OpOperand &use : op->getOpOperands()) {
    if (axes.of(use.get()).ofInput())
      continue;
    for (auto [i, size] : llvm::enumerate(shapeOf(use.get()))) {
      const auto dimension = static_cast<int64_t>(i);
      SequenceUse read = sequenceUseOf(op, use.getOperandNumber(), dimension, 0);
      const bool isTied =
          read.kind == SequenceUse::Kind::Same || read.kind == SequenceUse::Kind::Past;
      if (size != 1 && isTied && read.axis == plan.dimensions[0])
        plan.cuts.push_back({use.getOperandNumber(), dimension,
                             axes.of(use.get()).varies[static_cast<unsigned>(dimension)]});
    }
  }
  plans[op] = std::move(plan);
}

/// Whether an op may read a looked-up operand with the batch in front: it repeats over the batch
/// what has none.
bool SequenceNarrowing::takesRows(Operation *op, const Cut &cut) {
  const ArrayRef<int64_t> result = shapeOf(op->getResult(0));
  const ArrayRef<int64_t> operand = shapeOf(op->getOperand(cut.operand));
  const int64_t place = cut.dimension + std::ssize(result) - std::ssize(operand);
  return op->hasTrait<FusableElementwise>() && op->getNumResults() == 1 && place > 0 &&
         result[0] == shapeOf(function.getArgument(0))[0] &&
         (operand.size() < result.size() || operand[0] == 1);
}

LogicalResult SequenceNarrowing::apply() {
  BlockArgument tokens = function.getArgument(0);
  for (auto &[op, plan] : plans)
    for (const Cut &cut : plan.cuts)
      areOfRows &= ranks == 0 && (!cut.numbered || takesRows(op, cut));
  SmallVector<int64_t> shape(shapeOf(tokens));
  shape[1] = length;
  tokens.setType(tensorOf(shape, elementOf(tokens)));
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front().without_terminator()))
    if (failed(apply(&op)))
      return failure();
  return success();
}

LogicalResult SequenceNarrowing::apply(Operation *op) {
  if (auto other = replaced.find(op); other != replaced.end())
    return other->second(op);
  auto found = plans.find(op);
  if (length == whole || found == plans.end())
    return success();
  const Plan plan = found->second;
  for (const Cut &cut : plan.cuts)
    op->setOperand(cut.operand, narrowed(op, op->getOperand(cut.operand), cut));
  Builder builder(op->getContext());
  const size_t rank = shapeOf(op->getResult(0)).size();
  const int64_t dimension = plan.dimensions[0];
  for (NamedAttribute attribute : llvm::to_vector(op->getAttrs())) {
    auto sizes = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!sizes || sizes.size() != rank || dimension < 0)
      continue;
    SmallVector<Attribute> entries(sizes.begin(), sizes.end());
    Attribute &entry = entries[static_cast<size_t>(dimension)];
    if (entry == builder.getI64IntegerAttr(whole))
      entry = builder.getI64IntegerAttr(length);
    op->setAttr(attribute.getName(), builder.getArrayAttr(entries));
  }
  if (auto outer = dyn_cast<BodyOp>(op);
      outer && !op->getRegion(0).empty() && !op->hasTrait<OpTrait::IsIsolatedFromAbove>()) {
    Block &body = op->getRegion(0).front();
    for (auto [argument, type] : llvm::zip_equal(body.getArguments(), outer.getBodyArgumentTypes()))
      argument.setType(type);
    for (Operation &inner : body.without_terminator())
      if (failed(apply(&inner)))
        return failure();
  }
  auto inferrable = dyn_cast<InferTypeOpInterface>(op);
  if (!inferrable)
    return op->emitError() << "cannot be had for another length of the sequence";
  SmallVector<Type> types;
  if (failed(inferrable.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(),
                                         op->getAttrDictionary(), op->getPropertiesStorage(),
                                         op->getRegions(), types)))
    return failure();
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
    result.setType(type);
  return success();
}

Value SequenceNarrowing::narrowed(Operation *op, Value value, const Cut &cut) {
  OpBuilder builder(function.getContext());
  int64_t dimension = cut.dimension;
  if (cut.numbered && areOfRows) { // as many dimensions as the result, the batch in front
    const int64_t rank = std::ssize(shapeOf(op->getResult(0))), own = std::ssize(shapeOf(value));
    dimension += rank - own;
    auto [place, isNew] = made.try_emplace({value, dimension});
    if (!isNew)
      return place->second;
    builder.setInsertionPointAfterValue(value);
    SmallVector<int64_t> shape(static_cast<size_t>(rank - own), 1);
    llvm::append_range(shape, shapeOf(value));
    Value padded =
        ReshapeOp::create(builder, value.getLoc(), value, shapeAttr(builder.getContext(), shape));
    return made[{value, dimension}] = lookedUp(builder, padded, dimension);
  }
  auto [place, isNew] = made.try_emplace({value, dimension});
  if (!isNew)
    return place->second;
  builder.setInsertionPointAfterValue(value);
  if (cut.numbered)
    return made[{value, dimension}] = ranks ? RankParts{ranks}.own(builder, value, dimension)
                                            : lookedUp(builder, value, dimension);
  SmallVector<int64_t> sizes(shapeOf(value)), starts(sizes.size(), 0);
  sizes[static_cast<size_t>(dimension)] = length;
  return made[{value, dimension}] =
             SliceOp::create(builder, value.getLoc(), value, builder.getDenseI64ArrayAttr(starts),
                             shapeAttr(builder.getContext(), sizes));
}

/// Rows of a table, the dimension in front of the others but, with numbers of rows, behind the
/// batch.
Value SequenceNarrowing::lookedUp(OpBuilder &builder, Value value, int64_t dimension) {
  Location loc = value.getLoc();
  const size_t rank = shapeOf(value).size(), first = areOfRows ? 1 : 0;
  SmallVector<int64_t> toFront(rank), there(rank), back(rank);
  std::iota(toFront.begin(), toFront.end(), 0);
  there = toFront;
  std::rotate(toFront.begin(), toFront.begin() + dimension, toFront.begin() + dimension + 1);
  std::rotate(there.begin() + static_cast<ptrdiff_t>(first), there.begin() + dimension,
              there.begin() + dimension + 1);
  for (auto [i, from] : llvm::enumerate(there))
    back[static_cast<size_t>(from)] = static_cast<int64_t>(i);
  auto transpose = [&](Value x, ArrayRef<int64_t> order) -> Value {
    return TransposeOp::create(builder, loc, x, builder.getDenseI64ArrayAttr(order));
  };
  auto reshape = [&](Value x, ArrayRef<int64_t> shape) -> Value {
    return ReshapeOp::create(builder, loc, x, shapeAttr(builder.getContext(), shape));
  };
  Value table = reshape(transpose(value, toFront), {whole, elementCount(value) / whole});
  Value chosen = EmbeddingOp::create(builder, loc, table, positions());
  SmallVector<int64_t> shape;
  for (int64_t from : there)
    shape.push_back(shapeOf(value)[static_cast<size_t>(from)]);
  shape[first] = length;
  if (areOfRows)
    shape[0] = shapeOf(function.getArgument(0))[0];
  return transpose(reshape(chosen, shape), back);
}

Value SequenceNarrowing::positions() {
  if (numbers)
    return numbers;
  Builder builder(function.getContext());
  const unsigned place = function.getNumArguments();
  SmallVector<int64_t> shape{length};
  if (areOfRows)
    shape.insert(shape.begin(), shapeOf(function.getArgument(0))[0]);
  if (failed(function.insertArgument(place, tensorOf(shape, builder.getI32Type()), {},
                                     function.getLoc())))
    return nullptr;
  function.setArgAttr(place, "hybrid.name", builder.getStringAttr("positions"));
  return numbers = function.getArgument(place);
}

} // namespace hybrid
