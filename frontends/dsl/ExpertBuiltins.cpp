//===- ExpertBuiltins.cpp - choosing experts, and their projections ------------===//
#include "frontends/dsl/Operands.h"

using namespace mlir;

namespace hybrid::dsl {
namespace {

bool sameLeading(const Shape &a, size_t skipA, const Shape &b, size_t skipB) {
  return a.size() >= skipA && b.size() >= skipB && a.size() - skipA == b.size() - skipB &&
         std::equal(a.begin(), a.end() - static_cast<std::ptrdiff_t>(skipA), b.begin());
}

Value runTopK(Call &call) {
  Value x = call.tensor(0);
  int64_t k = call.integer(1, 1, 1, INT32_MAX);
  if (call.failed)
    return {};
  if (x.shape.empty() || x.shape.back().isFree() || x.shape.back().size < k) {
    call.errorHere("k = " + llvm::Twine(k) + " of " + text(x) +
                       ": expected at most its last size, which must be known",
                   {0});
    return {};
  }
  Shape shape = x.shape;
  shape.back() = Dim(k);
  Location loc = call.emit.at(call.place);
  return Emitter::result(TopKOp::create(call.emit.builder, loc, x.tensor, k), shape, call.place);
}

Value runTake(Call &call) {
  Value x = call.tensor(0), indices = call.integers(1);
  if (call.failed)
    return {};
  if (!sameLeading(x.shape, 1, indices.shape, 1)) {
    call.errorHere("x is " + text(x) + " and indices " + text(indices) +
                       ": expected equal sizes but the last",
                   {0, 1});
    return {};
  }
  Location loc = call.emit.at(call.place);
  return Emitter::result(TakeOp::create(call.emit.builder, loc, x.tensor, indices.tensor),
                         indices.shape, call.place);
}

Value runScatter(Call &call) {
  Value x = call.tensor(0), indices = call.integers(1);
  int64_t size = call.integer(2, 1, 1, INT32_MAX);
  if (call.failed)
    return {};
  if (x.shape.empty() || x.shape != indices.shape) {
    call.errorHere(
        "x is " + text(x) + " and indices " + text(indices) + ": expected the same shape", {0, 1});
    return {};
  }
  Shape shape = x.shape;
  shape.back() = Dim(size);
  Location loc = call.emit.at(call.place);
  return Emitter::result(ScatterOp::create(call.emit.builder, loc, x.tensor, indices.tensor, size),
                         shape, call.place);
}

Value runRoute(Call &call) {
  Value choices = call.integers(0);
  int64_t experts = call.integer(1, 1, 1, INT32_MAX - 1);
  double capacity = call.number(2, 0);
  if (call.failed)
    return {};
  if (choices.shape.empty()) {
    call.error(0, "choices is a single number, expected [..., choices]", {0});
    return {};
  }
  if (!(capacity >= 0)) {
    call.error(2, "capacity_factor = " + text(capacity) + ", expected at least 0 (0: no limit)");
    return {};
  }
  OpBuilder &builder = call.emit.builder;
  Location loc = call.emit.at(call.place);
  auto op = RouteOp::create(builder, loc, choices.tensor, builder.getI64IntegerAttr(experts),
                            builder.getF64FloatAttr(capacity));
  Value slots = Emitter::result(op.getSlots(), choices.shape, call.place),
        offsets = Emitter::result(op.getOffsets(), {Dim(experts + 1)}, call.place);
  return Value::of(std::vector<Value>{slots, offsets});
}

/// x [..., k, D] with a slot for each row, or x [..., D] whose rows go to each of their k slots.
Value runDispatch(Call &call) {
  Value x = call.tensor(0), slots = call.integers(1);
  if (call.failed)
    return {};
  bool repeated = sameLeading(x.shape, 1, slots.shape, 1);
  if (!repeated && !sameLeading(x.shape, 1, slots.shape, 0)) {
    call.errorHere("x is " + text(x) + " and slots " + text(slots) +
                       ": expected a slot, or several, for each row of x",
                   {0, 1});
    return {};
  }
  if (repeated) {
    Shape shape = x.shape;
    shape.insert(shape.end() - 1, Dim(1));
    x = call.emit.reshape(x, shape, call.place);
    shape[shape.size() - 2] = slots.shape.back();
    if (!call.emit.check(shape, call.place))
      return {};
    x = call.emit.broadcastTo(x, shape, call.place);
  }
  Location loc = call.emit.at(call.place);
  return Emitter::result(DispatchOp::create(call.emit.builder, loc, x.tensor, slots.tensor),
                         x.shape, call.place);
}

Value runCollect(Call &call) {
  Value x = call.tensor(0), slots = call.integers(1);
  if (call.failed)
    return {};
  if (!sameLeading(x.shape, 1, slots.shape, 0)) {
    call.errorHere("x is " + text(x) + " and slots " + text(slots) +
                       ": expected a slot for each row of x",
                   {0, 1});
    return {};
  }
  Location loc = call.emit.at(call.place);
  return Emitter::result(CollectOp::create(call.emit.builder, loc, x.tensor, slots.tensor), x.shape,
                         call.place);
}

Value runGroupedLinear(Call &call) {
  Value x = call.tensor(0), weight = call.tensor(1), offsets = call.integers(2);
  if (call.failed || !hasRank(call, 1, weight, 3, "[experts, out, in]"))
    return {};
  if (x.shape.size() < 2 || x.shape.back() != weight.shape[2]) {
    call.errorHere("weight takes " + text(weight.shape[2]) + " channels, but x is " + text(x),
                   {1, 0});
    return {};
  }
  if (weight.shape[0].isFree() || offsets.shape != Shape{Dim(weight.shape[0].size + 1)}) {
    call.error(2,
               "offsets is " + text(offsets) + ", but weight is " + text(weight) +
                   ": expected one more than there are experts",
               {2, 1});
    return {};
  }
  Shape shape = x.shape;
  shape.back() = weight.shape[1];
  Location loc = call.emit.at(call.place);
  return Emitter::result(GroupedLinearOp::create(call.emit.builder, loc, x.tensor, weight.tensor,
                                                 offsets.tensor, false),
                         shape, call.place);
}

} // namespace

llvm::ArrayRef<Builtin> expertBuiltins() {
  static const Builtin builtins[] = {
      {"top_k", "x, k", runTopK},
      {"take", "x, indices", runTake},
      {"scatter", "x, indices, size", runScatter},
      {"route", "choices, experts, capacity_factor?", runRoute},
      {"dispatch", "x, slots", runDispatch},
      {"collect", "x, slots", runCollect},
      {"routed_experts", "x, choices, weights, experts, expert, capacity_factor?",
       runRoutedExperts},
      {"grouped_linear", "x, weight, offsets", runGroupedLinear},
  };
  return builtins;
}

} // namespace hybrid::dsl
