//===- StepEmitter.cpp - the ops of a step, for some sequences at once -------===//
#include "codegen/loops/StepEmitter.h"
#include "codegen/program/IterationSpace.h"
#include "dialect/Shapes.h"
#include <numeric>

using namespace mlir;

namespace hybrid::loops {

//===-- places ---------------------------------------------------------------------===//

Place StepEmitter::allocate(ArrayRef<int64_t> shape, Type element) {
  View view;
  view.buffer = frame, view.element = element, view.offset = used;
  view.shape.push_back(rows);
  llvm::append_range(view.shape, shape);
  view.strides = denseStrides(view.shape);
  used += view.elements();
  return {view, base};
}

Place StepEmitter::homeOf(Value value) {
  auto found = homes.find(value);
  if (found != homes.end())
    return found->second;
  return homes[value] = allocate(shapeOf(value), elementOf(value));
}

Place StepEmitter::repeated(Value value, ArrayRef<int64_t> shape) {
  Place place = places.lookup(value);
  View &view = place.view;
  while (view.shape.size() < shape.size() + 1) {
    view.shape.insert(view.shape.begin() + 1, 1);
    view.strides.insert(view.strides.begin() + 1, 0);
  }
  for (size_t i = 0; i < shape.size(); ++i)
    if (view.shape[i + 1] != shape[i])
      view.shape[i + 1] = shape[i], view.strides[i + 1] = 0;
  return place;
}

Place StepEmitter::reshaped(const Place &from, ArrayRef<int64_t> shape) {
  View inner = from.view; // of a row
  inner.shape.erase(inner.shape.begin());
  inner.strides.erase(inner.strides.begin());
  std::optional<View> result = inner.reshaped(shape);
  if (!result) {
    Place dense = allocate(inner.shape, inner.element);
    copy(from, dense);
    return reshaped(dense, shape);
  }
  result->shape.insert(result->shape.begin(), rows);
  result->strides.insert(result->strides.begin(), from.view.strides[0]);
  return {*result, from.base};
}

Place StepEmitter::rowOf(const Place &place, Value row) {
  Place result = place;
  result.view.shape[0] = 1;
  result.base = kernel.add(place.base, kernel.scaled(row, place.view.strides[0]));
  return result;
}

//===-- loops over elements --------------------------------------------------------===//

void StepEmitter::forIndices(const IterationSpace &space, size_t dimensions, ArrayRef<Value> starts,
                             llvm::function_ref<void(ArrayRef<Value>)> body) {
  if (kernel.workers == Workers::Block)
    return forShared(space, dimensions, starts, body);
  std::function<void(size_t, ArrayRef<Value>)> nest = [&](size_t depth, ArrayRef<Value> offsets) {
    if (depth == dimensions)
      return body(offsets);
    kernel.forCount(space.shape[depth], [&](Value i) {
      SmallVector<Value> inner;
      for (auto [offset, strides] : llvm::zip_equal(offsets, space.strides))
        inner.push_back(strides[depth] ? kernel.add(offset, kernel.scaled(i, strides[depth]))
                                       : offset);
      nest(depth + 1, inner);
    });
  };
  nest(0, starts);
}

/// The threads of a block have a sequence, so no two indices are of the same written element.
void StepEmitter::forShared(const IterationSpace &space, size_t dimensions, ArrayRef<Value> starts,
                            llvm::function_ref<void(ArrayRef<Value>)> body) {
  assert(rows == 1 && "sums over rows are one thread's");
  ArrayRef<int64_t> shape = ArrayRef(space.shape).take_front(dimensions);
  kernel.forThreads(elementCount(shape), [&](Value flat) {
    SmallVector<Value> offsets = kernel.offsetsAt(flat, shape, space.strides);
    for (auto [offset, start] : llvm::zip_equal(offsets, starts))
      offset = kernel.add(start, offset);
    body(offsets);
  });
}

void StepEmitter::forElements(ArrayRef<Place> all, llvm::function_ref<void(ArrayRef<Value>)> body) {
  SmallVector<View> views;
  SmallVector<Value> starts;
  for (const Place &place : all) {
    views.push_back(place.view);
    starts.push_back(at(place));
  }
  IterationSpace space = collapse(views.front().shape, views);
  forIndices(space, space.shape.size(), starts, body);
}

static Value loaded(ImplicitLocOpBuilder &b, const Place &place, Value at) {
  return memref::LoadOp::create(b, place.view.buffer, at);
}

/// Stores, or adds to what is there.
static void stored(ImplicitLocOpBuilder &b, Value value, const Place &place, Value at, bool adds) {
  if (adds)
    value = arith::AddFOp::create(b, loaded(b, place, at), value);
  memref::StoreOp::create(b, value, place.view.buffer, at);
}

void StepEmitter::copy(const Place &from, const Place &to, bool adds) {
  forElements({from, to},
              [&](ArrayRef<Value> at) { stored(b, loaded(b, from, at[0]), to, at[1], adds); });
}

void StepEmitter::fill(const Place &to, double value) {
  Value constant = arith::ConstantOp::create(b, b.getFloatAttr(to.view.element, value));
  forElements(to, [&](ArrayRef<Value> at) { stored(b, constant, to, at[0], false); });
}

//===-- where values go ------------------------------------------------------------===//

static bool isView(Operation *op) { return op->hasTrait<ViewOfOperand>(); }
static bool isComputed(Value value) {
  Operation *op = value.getDefiningOp();
  return op && !isView(op) && !isa<ConstantOp>(op);
}

/// Whether a value may be computed in the memory of an argument of its type: who reads the argument
/// does so before, or element by element with it.
bool StepEmitter::mayReplace(Value value, BlockArgument argument) {
  auto fused = value.getDefiningOp<FusedOp>();
  if (!fused)
    return false;
  SmallVector<Value> pending{argument};
  while (!pending.empty()) {
    Value read = pending.pop_back_val();
    for (Operation *user : read.getUsers()) {
      if (user->hasTrait<OpTrait::IsTerminator>())
        return false;
      if (isView(user)) {
        llvm::append_range(pending, user->getResults());
        continue;
      }
      if (user == fused ? read != argument : !user->isBeforeInBlock(fused))
        return false;
    }
  }
  return true;
}

/// Parts are computed where they stand in the whole.
void StepEmitter::planParts(Operation &op) {
  auto concat = cast<ConcatOp>(op);
  Place whole = homeOf(concat.getResult());
  SmallVector<int64_t> starts(whole.view.shape.size(), 0);
  const auto axis = static_cast<size_t>(concat.getAxis()) + 1;
  for (Value part : concat.getParts()) {
    SmallVector<int64_t> sizes(whole.view.shape);
    sizes[axis] = shapeOf(part)[axis - 1];
    Place place{whole.view.sliced(starts, sizes), whole.base};
    if (isComputed(part) && !homes.contains(part))
      homes[part] = place;
    starts[axis] += sizes[axis];
  }
}

void StepEmitter::plan(Block &block, ArrayRef<std::optional<Target>> targets) {
  places.clear(), homes.clear(), copies.clear(), needed.clear(), last.clear();
  for (auto [value, target] : llvm::zip_equal(block.getTerminator()->getOperands(), targets)) {
    if (!target)
      continue;
    needed.insert(value);
    if (target->argument && value == block.getArgument(*target->argument))
      continue; // it stays as it is
    const bool isLate =
        target->argument && !mayReplace(value, block.getArgument(*target->argument));
    if (!isComputed(value) || isLate)
      last.push_back({value, *target});
    else if (target->adds || !homes.try_emplace(value, target->place).second)
      copies[value].push_back(*target);
  }
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (llvm::none_of(op.getResults(), [&](Value value) { return needed.contains(value); }))
      continue;
    needed.insert(op.operand_begin(), op.operand_end());
    if (isa<ConcatOp>(op))
      planParts(op);
  }
}

void StepEmitter::emit(Block &block, ArrayRef<Place> arguments,
                       ArrayRef<std::optional<Target>> targets) {
  const int64_t before = used;
  plan(block, targets);
  for (auto [argument, place] : llvm::zip_equal(block.getArguments(), arguments))
    places[argument] = place;
  for (Operation &op : block.without_terminator())
    if (llvm::any_of(op.getResults(), [&](Value value) { return needed.contains(value); }))
      emitOp(op);
  finish(block, targets);
  used = before;
}

/// What could not be computed where it goes; first aside what an argument's memory holds.
void StepEmitter::finish(Block &block, ArrayRef<std::optional<Target>> targets) {
  for (auto &[value, target] : last) {
    if (isComputed(value))
      continue;
    Place aside = allocate(shapeOf(value), elementOf(value));
    copy(places.lookup(value), aside);
    places[value] = aside;
  }
  for (auto &[value, target] : last)
    copy(places.lookup(value), target.place, target.adds);
}

//===-- ops ------------------------------------------------------------------------===//

/// Dimensions of a tensor as those behind the rows.
static SmallVector<int64_t> behindRows(int64_t ofRows, ArrayRef<int64_t> values) {
  SmallVector<int64_t> result{ofRows};
  llvm::append_range(result, values);
  return result;
}

void StepEmitter::emitOp(Operation &op) {
  if (auto constant = dyn_cast<ConstantOp>(op)) { // one element, repeated
    Place place = allocate(shapeOf(constant.getResult()), elementOf(constant.getResult()));
    Place one = place;
    one.view.shape.assign(1, 1), one.view.strides.assign(1, 0);
    fill(one, constant.getValue().convertToDouble());
    place.view.strides.assign(place.view.strides.size(), 0);
    places[constant.getResult()] = place;
    return;
  }
  if (isView(&op)) {
    Value x = op.getOperand(0);
    Place from = places.lookup(x);
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      SmallVector<int64_t> order{0};
      for (int64_t axis : transpose.getPermutation())
        order.push_back(axis + 1);
      from.view = from.view.transposed(order);
      places[transpose.getResult()] = from;
    } else if (auto slice = dyn_cast<SliceOp>(op)) {
      from.view = from.view.sliced(behindRows(0, slice.getStarts()),
                                   behindRows(rows, shapeOf(slice.getResult())));
      places[slice.getResult()] = from;
    } else if (auto split = dyn_cast<SplitOp>(op)) {
      SmallVector<int64_t> starts(from.view.shape.size(), 0);
      const auto axis = static_cast<size_t>(split.getAxis()) + 1;
      for (Value part : split.getParts()) {
        places[part] = {from.view.sliced(starts, behindRows(rows, shapeOf(part))), from.base};
        starts[axis] += shapeOf(part)[axis - 1];
      }
    } else if (isa<BroadcastOp>(op)) {
      places[op.getResult(0)] = repeated(x, shapeOf(op.getResult(0)));
    } else {
      places[op.getResult(0)] = reshaped(from, shapeOf(op.getResult(0)));
    }
    return;
  }
  if (auto fused = dyn_cast<FusedOp>(op))
    return emitFused(fused); // with its copies
  Value result = op.getResult(0);
  places[result] = homeOf(result);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    emitReduce(reduce);
  else if (auto linear = dyn_cast<LinearOp>(op))
    emitLinear(linear);
  else if (auto matmul = dyn_cast<MatmulOp>(op))
    emitMatmul(matmul);
  else if (auto concat = dyn_cast<ConcatOp>(op))
    emitConcat(concat);
  else {
    auto pad = cast<PadOp>(op);
    Place whole = places.lookup(result);
    fill(whole, 0);
    Place inside = whole;
    inside.view =
        whole.view.sliced(behindRows(0, pad.getStarts()), behindRows(rows, shapeOf(pad.getX())));
    copy(places.lookup(pad.getX()), inside);
  }
  for (const Target &target : copies.lookup(result))
    copy(places.lookup(result), target.place, target.adds);
}

void StepEmitter::emitFused(FusedOp op) {
  SmallVector<Place> all;
  ArrayRef<int64_t> shape = shapeOf(op.getResult(0));
  for (Value operand : op.getOperands())
    all.push_back(repeated(operand, shape));
  const size_t operands = all.size();
  struct Store {
    size_t result;
    bool adds;
  };
  SmallVector<Store> stores;
  for (OpResult result : op.getResults()) {
    if (!needed.contains(result))
      continue;
    auto wanted = copies.find(result);
    const bool onlyAdded = wanted != copies.end() && result.hasOneUse() && !homes.contains(result);
    if (!onlyAdded) {
      places[result] = homeOf(result);
      all.push_back(places[result]);
      stores.push_back({result.getResultNumber(), false});
    }
    if (wanted != copies.end())
      for (const Target &target : wanted->second) {
        all.push_back(target.place);
        stores.push_back({result.getResultNumber(), target.adds});
      }
  }
  forElements(all, [&](ArrayRef<Value> at) {
    SmallVector<Value> values;
    for (size_t i = 0; i < operands; ++i)
      values.push_back(loaded(b, all[i], at[i]));
    SmallVector<Value> results = emitBody(b, &op.getBody().front(), values);
    for (auto [i, store] : llvm::enumerate(stores))
      stored(b, results[store.result], all[operands + i], at[operands + i], store.adds);
  });
}

void StepEmitter::emitConcat(ConcatOp op) {
  Place whole = places.lookup(op.getResult());
  SmallVector<int64_t> starts(whole.view.shape.size(), 0);
  const auto axis = static_cast<size_t>(op.getAxis()) + 1;
  for (Value part : op.getParts()) {
    Place from = places.lookup(part), to{whole.view.sliced(starts, from.view.shape), whole.base};
    const bool isThere = from.view.buffer == to.view.buffer && from.base == to.base &&
                         from.view.offset == to.view.offset && from.view.strides == to.view.strides;
    if (!isThere)
      copy(from, to);
    starts[axis] += shapeOf(part)[axis - 1];
  }
}

void StepEmitter::emitReduce(ReduceOp op) {
  Place from = places.lookup(op.getX()), to = places.lookup(op.getResult());
  View inner = from.view, outer = from.view;
  for (View *view : {&inner, &outer})
    view->shape.clear(), view->strides.clear();
  for (size_t i = 0; i < from.view.shape.size(); ++i) {
    const bool reduced = i > 0 && llvm::is_contained(op.getAxes(), static_cast<int64_t>(i) - 1);
    (reduced ? inner : outer).shape.push_back(from.view.shape[i]);
    (reduced ? inner : outer).strides.push_back(from.view.strides[i]);
  }
  Place target = to; // `keep` leaves sizes of 1 behind: drop them
  for (size_t i = target.view.shape.size(); op.getKeep() && i-- > 1;)
    if (llvm::is_contained(op.getAxes(), static_cast<int64_t>(i) - 1)) {
      target.view.shape.erase(target.view.shape.begin() + i);
      target.view.strides.erase(target.view.strides.begin() + i);
    }
  const bool isMax = op.getKind() == ReduceKind::Max;
  IterationSpace loops = collapse(inner.shape, {inner});
  auto flags = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::reassoc);
  const double neutral = isMax ? -std::numeric_limits<double>::infinity() : 0;
  const double count = static_cast<double>(elementCount(inner.shape));
  forElements({Place{outer, from.base}, target}, [&](ArrayRef<Value> at) {
    std::function<Value(size_t, Value, Value)> nest = [&](size_t depth, Value offset, Value value) {
      return kernel.fold(loops.shape[depth], value, [&](Value i, Value sum) -> Value {
        Value place = kernel.add(offset, kernel.scaled(i, loops.strides[0][depth]));
        if (depth + 1 < loops.shape.size())
          return nest(depth + 1, place, sum);
        Value element = loaded(b, from, place);
        return isMax ? arith::MaximumFOp::create(b, sum, element).getResult()
                     : arith::AddFOp::create(b, sum, element, flags).getResult();
      });
    };
    Type element = from.view.element;
    Value result = nest(0, at[0], arith::ConstantOp::create(b, b.getFloatAttr(element, neutral)));
    if (op.getKind() == ReduceKind::Mean)
      result = arith::MulFOp::create(
          b, result, arith::ConstantOp::create(b, b.getFloatAttr(element, 1 / count)));
    stored(b, result, target, at[1], false);
  });
}

} // namespace hybrid::loops
