//===- NarrowSequence.cpp - a program for fewer positions --------------------===//
#include "passes/NarrowSequence.h"
#include "dialect/Shapes.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include <numeric>

using namespace mlir;

namespace hybrid {

SequenceNarrowing::SequenceNarrowing(func::FuncOp function, int64_t length)
    : function(function), length(length), whole(shapeOf(function.getArgument(0))[1]) {}

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

LogicalResult SequenceNarrowing::apply() {
  BlockArgument tokens = function.getArgument(0);
  tokens.setType(tensorOf({shapeOf(tokens)[0], length}, elementOf(tokens)));
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front().without_terminator()))
    if (failed(apply(&op)))
      return failure();
  return success();
}

LogicalResult SequenceNarrowing::apply(Operation *op) {
  auto found = plans.find(op);
  if (length == whole || found == plans.end())
    return success();
  const Plan plan = found->second;
  for (const Cut &cut : plan.cuts)
    op->setOperand(cut.operand, narrowed(op->getOperand(cut.operand), cut));
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

Value SequenceNarrowing::narrowed(Value value, const Cut &cut) {
  auto [place, isNew] = made.try_emplace({value, cut.dimension});
  if (!isNew)
    return place->second;
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfterValue(value);
  if (cut.numbered)
    return made[{value, cut.dimension}] = lookedUp(builder, value, cut.dimension);
  SmallVector<int64_t> sizes(shapeOf(value)), starts(sizes.size(), 0);
  sizes[static_cast<size_t>(cut.dimension)] = length;
  return made[{value, cut.dimension}] =
             SliceOp::create(builder, value.getLoc(), value, builder.getDenseI64ArrayAttr(starts),
                             shapeAttr(builder.getContext(), sizes));
}

/// Rows of a table, the dimension in front of the others.
Value SequenceNarrowing::lookedUp(OpBuilder &builder, Value value, int64_t dimension) {
  Location loc = value.getLoc();
  const int64_t rank = std::ssize(shapeOf(value));
  SmallVector<int64_t> there(static_cast<size_t>(rank)), back(there);
  std::iota(there.begin(), there.end(), 0);
  std::rotate(there.begin(), there.begin() + dimension, there.begin() + dimension + 1);
  for (auto [i, from] : llvm::enumerate(there))
    back[static_cast<size_t>(from)] = static_cast<int64_t>(i);
  auto transpose = [&](Value x, ArrayRef<int64_t> order) -> Value {
    return TransposeOp::create(builder, loc, x, builder.getDenseI64ArrayAttr(order));
  };
  auto reshape = [&](Value x, ArrayRef<int64_t> shape) -> Value {
    return ReshapeOp::create(builder, loc, x, shapeAttr(builder.getContext(), shape));
  };
  Value rows = transpose(value, there);
  SmallVector<int64_t> shape(shapeOf(rows));
  Value table = reshape(rows, {whole, elementCount(value) / whole});
  Value chosen = EmbeddingOp::create(builder, loc, table, positions());
  shape[0] = length;
  return transpose(reshape(chosen, shape), back);
}

Value SequenceNarrowing::positions() {
  if (numbers)
    return numbers;
  Builder builder(function.getContext());
  const unsigned place = function.getNumArguments();
  if (failed(function.insertArgument(place, tensorOf({length}, builder.getI32Type()), {},
                                     function.getLoc())))
    return nullptr;
  function.setArgAttr(place, "hybrid.name", builder.getStringAttr("positions"));
  return numbers = function.getArgument(place);
}

} // namespace hybrid
