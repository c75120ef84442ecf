//===- Destinations.cpp - where the values of a function lie ----------------===//
#include "passes/Destinations.h"
#include "dialect/Shapes.h"
#include "passes/ParameterSlots.h"
#include "passes/StateNames.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace hybrid {

/// All of a tensor.
static View wholeOf(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  return {{}, 0, SmallVector<int64_t>(shape), denseStrides(shape), elementOf(value)};
}

/// A value can be computed straight into the place of its user unless it is a view of something
/// else or has a place already.
void Destinations::claim(Value value, Destination place) {
  Operation *op = value.getDefiningOp();
  if (op && !op->hasTrait<ViewOfOperand>() && !isa<ParameterOp, ConstantOp, IotaOp>(op))
    places.try_emplace(value, std::move(place));
}

Destinations::Destinations(func::FuncOp function, IsParameter isParameter) {
  Block &block = function.getBody().front();
  llvm::DenseSet<StringAttr> read; // by name, and not to be overwritten before they are
  for (auto parameter : function.getOps<ParameterOp>())
    read.insert(parameter.getNameAttr());
  function.walk([&](AssignOp assign) {
    Value value = assign.getValue();
    if (isState(assign) && read.contains(assign.getNameAttr()))
      return;
    claim(value, {spaceOf(assign), assign.getNameAttr(), {}, wholeOf(value)});
  });
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
    auto name = function.getResultAttrOfType<StringAttr>(i, "hybrid.name");
    StringRef parameter = name ? name.getValue() : "";
    bool isGradient = parameter.consume_front("grad.") && isParameter(parameter);
    gradients.push_back(isGradient ? StringAttr::get(name.getContext(), parameter) : StringAttr());
    if (isGradient)
      claim(value, {Space::Gradients, gradients.back(), {}, wholeOf(value)});
  }
  // Parts of a concat are computed in place; an outer concat before the inner ones, so walk
  // backwards.
  for (Operation &op : llvm::reverse(block)) {
    auto concat = dyn_cast<ConcatOp>(op);
    if (!concat)
      continue;
    Value result = concat.getResult();
    if (places.try_emplace(result, Destination{Space::Arena, {}, result, wholeOf(result)}).second)
      owners.push_back(result);
    const Destination whole = places.lookup(result);
    SmallVector<int64_t> starts(whole.view.shape.size(), 0);
    for (Value part : concat.getParts()) {
      Destination place = whole;
      place.view = whole.view.sliced(starts, shapeOf(part));
      starts[concat.getAxis()] += shapeOf(part)[concat.getAxis()];
      // Kernels write rows: a part that is none is copied instead.
      if (place.view.rowStride())
        claim(part, place);
    }
  }
  // What tiles make goes where the whole is wanted.
  for (auto tiles : function.getOps<RowTilesOp>())
    for (auto [inner, outer] :
         llvm::zip(tiles.getBody().front().getTerminator()->getOperands(), tiles->getResults()))
      if (const Destination *place = of(outer))
        places[inner] = Destination(*place);
}

const Destination *Destinations::of(Value value) const {
  auto found = places.find(value);
  return found == places.end() ? nullptr : &found->second;
}

Value Destinations::ownerOf(Value value) const {
  while (value.getDefiningOp() && value.getDefiningOp()->hasTrait<ViewOfOperand>())
    value = value.getDefiningOp()->getOperand(0);
  if (const Destination *place = of(value))
    return place->whole;
  return isa_and_nonnull<ParameterOp, ConstantOp, IotaOp>(value.getDefiningOp()) ? Value() : value;
}

} // namespace hybrid
