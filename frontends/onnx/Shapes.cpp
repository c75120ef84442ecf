//===- Shapes.cpp - views, parts and reductions -----------------------------------===//
//
// Each works on what is known, on weights and on tensors of the program.
//
//===----------------------------------------------------------------------===//
#include "formats/onnx/Onnx.pb.h"
#include "frontends/onnx/Importer.h"
#include <numeric>

using namespace mlir;

namespace hybrid::onnx::frontend {
namespace {

/// Whether a number of elements can be calculated with.
bool isModest(int64_t number) {
  constexpr int64_t most = int64_t(1) << 40;
  return number >= -most && number <= most;
}

/// Gives x, known or not, with the elements of `shape` in their order.
void giveReshaped(const Node &node, const Shape &shape) {
  const Value &x = node.in(0);
  if (countOf(shape) != countOf(x.shape))
    return node.fail("makes " + shapeText(shape) + " of " + shapeText(x.shape));
  if (x.known) {
    if (!node.to.mayKnow(countOf(shape)))
      return;
    return node.give(0, Known{x.type, shape, x.known->values});
  }
  Ops &ops = node.to.ops;
  Value value = node.to.valueOf(ops.reshape(x.isIds() ? x.tensor : node.tensor(0), shape), x.type);
  value.below = x.below;
  node.give(0, value);
}

void convertReshape(const Node &node) {
  const Shape &from = node.in(0).shape;
  Shape shape = node.known(1, "the shape").integers();
  const bool keepsZeros = node.integer("allowzero", 0) != 0;
  int64_t others = 1;
  std::optional<size_t> open;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0 && !keepsZeros) {
      if (d >= from.size())
        return node.fail("takes size " + Twine(d) + " of " + shapeText(from));
      shape[d] = from[d];
    }
    if (shape[d] == -1 && !open)
      open = d;
    else if (shape[d] < 0 || llvm::MulOverflow(others, shape[d], others))
      return node.fail("makes a tensor " + shapeText(shape));
  }
  if (open)
    shape[*open] = others > 0 ? countOf(from) / others : 0;
  // In a step for one sequence a batch of one stands for the batch that is written there.
  if (node.to.isInBody() && node.to.ofOneSequence > 0 && !shape.empty() && !from.empty() &&
      from[0] == 1 && shape[0] == node.to.ofOneSequence && countOf(shape) != countOf(from))
    shape[0] = 1;
  if (node.to.mixesSequences(node.in(0)) && (shape.empty() || shape[0] != 1))
    node.fail("joins the batch with another dimension");
  giveReshaped(node, shape);
}

void convertFlatten(const Node &node) {
  const Shape &from = node.in(0).shape;
  const int64_t rank = static_cast<int64_t>(from.size()), axis = node.integer("axis", 1);
  const int64_t place = axis < 0 ? axis + rank : axis;
  if (place < 0 || place > rank)
    return node.fail("axis " + Twine(axis) + " of " + shapeText(from));
  const auto in = ArrayRef(from).take_front(static_cast<size_t>(place)),
             rest = ArrayRef(from).drop_front(static_cast<size_t>(place));
  giveReshaped(node, {countOf(in), countOf(rest)});
}

void convertSqueeze(const Node &node) {
  const Shape &from = node.in(0).shape;
  std::optional<Shape> axes = node.axes(1, node.in(0).rank());
  Shape shape;
  for (size_t d = 0; d < from.size(); ++d) {
    const bool goes = axes ? llvm::is_contained(*axes, static_cast<int64_t>(d)) : from[d] == 1;
    if (goes && from[d] != 1)
      return node.fail("dimension " + Twine(d) + " of " + shapeText(from) + " is not 1");
    if (!goes)
      shape.push_back(from[d]);
  }
  giveReshaped(node, shape);
}

void convertUnsqueeze(const Node &node) {
  const Shape &from = node.in(0).shape;
  const size_t added = node.has(1) ? node.known(1, "axes").values.size()
                                   : node.integers("axes").value_or(Shape()).size();
  if (added > 64)
    return node.fail("a tensor of " + Twine(added) + " dimensions more");
  const auto rank = static_cast<int64_t>(from.size() + added);
  std::optional<Shape> axes = node.axes(1, rank);
  if (!axes || axes->size() != added)
    return node.fail("has no axes");
  Shape shape;
  size_t next = 0;
  for (int64_t d = 0; d < rank; ++d)
    shape.push_back(llvm::is_contained(*axes, d) ? 1 : from[next++]);
  giveReshaped(node, shape);
}

void convertTranspose(const Node &node) {
  const Value &x = node.in(0);
  Shape order = node.integers("perm").value_or(Shape());
  if (order.empty())
    for (int64_t d = x.rank(); d-- > 0;)
      order.push_back(d);
  Shape sorted(order), all(x.shape.size());
  llvm::sort(sorted);
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all)
    return node.fail("attribute 'perm' is " + shapeText(order) + " for " + shapeText(x.shape));
  if (!x.known) {
    if (node.to.mixesSequences(x) && !order.empty() && order[0] != 0)
      node.fail("moves the batch");
    return node.give(node.to.ops.transpose(node.tensor(0), order));
  }
  Shape shape, place(order.size());
  for (int64_t d : order)
    shape.push_back(x.shape[static_cast<size_t>(d)]);
  if (!node.to.mayKnow(countOf(shape)))
    return;
  node.give(0, made(x.type, shape, [&](ArrayRef<int64_t> index) {
              for (size_t d = 0; d < order.size(); ++d)
                place[static_cast<size_t>(order[d])] = index[d];
              return at(*x.known, place);
            }));
}

void convertExpand(const Node &node) {
  const Value &x = node.in(0);
  Shape wanted = node.known(1, "the shape").integers();
  if (node.to.isInBody() && node.to.ofOneSequence > 0 && !wanted.empty() &&
      wanted.size() == x.shape.size() && x.shape[0] == 1 && wanted[0] == node.to.ofOneSequence)
    wanted[0] = 1;
  auto shape = broadcastShapes(x.shape, wanted);
  if (!shape || countOf(*shape) < 0)
    return node.fail("expands " + shapeText(x.shape) + " to " + shapeText(wanted));
  if (!x.known)
    return node.give(node.to.ops.broadcast(node.tensor(0), *shape));
  if (node.to.mayKnow(countOf(*shape)))
    node.give(0,
              made(x.type, *shape, [&](ArrayRef<int64_t> index) { return at(*x.known, index); }));
}

void convertTile(const Node &node) {
  const Value &x = node.in(0);
  const Shape repeats = node.known(1, "repeats").integers();
  if (repeats.size() != x.shape.size() || llvm::any_of(repeats, [](int64_t n) { return n < 1; }))
    return node.fail("repeats " + shapeText(x.shape) + " by " + shapeText(repeats));
  Shape apart, wide, whole;
  for (size_t d = 0; d < repeats.size(); ++d) {
    apart.append({1, x.shape[d]}), wide.append({repeats[d], x.shape[d]});
    int64_t size;
    if (llvm::MulOverflow(repeats[d], x.shape[d], size))
      return node.fail("repeats too often");
    whole.push_back(size);
  }
  if (x.known) {
    if (!node.to.mayKnow(countOf(whole)))
      return;
    Shape place(whole.size());
    return node.give(0, made(x.type, whole, [&](ArrayRef<int64_t> index) {
                       for (size_t d = 0; d < place.size(); ++d)
                         place[d] = index[d] % x.shape[d];
                       return at(*x.known, place);
                     }));
  }
  Ops &ops = node.to.ops;
  mlir::Value value = node.tensor(0);
  for (size_t d = 0; d < repeats.size(); ++d) // a dimension at a time: a tensor has at most 8
    if (repeats[d] > 1 && ops.fault.empty()) {
      Shape now(shapeOf(value)), one(now);
      one.insert(one.begin() + static_cast<int64_t>(d), 1);
      Shape many(one);
      many[d] = repeats[d], now[d] *= repeats[d];
      value = ops.reshape(ops.broadcast(ops.reshape(value, one), many), now);
    }
  node.give(value);
}

void convertConcat(const Node &node) {
  Ops &ops = node.to.ops;
  int64_t rank = node.in(0).rank();
  const int64_t axis = node.axis("axis", 0, rank);
  if (rank == 0)
    return;
  bool isKnown = true;
  SmallVector<size_t> parts;
  Shape shape;
  for (size_t i = 0; i < node.inputs(); ++i) {
    const Value &part = node.in(i);
    if (part.rank() != rank)
      return node.fail("joins tensors of different ranks");
    if (part.shape[static_cast<size_t>(axis)] == 0)
      continue;
    if (parts.empty())
      shape = part.shape;
    else
      shape[static_cast<size_t>(axis)] += part.shape[static_cast<size_t>(axis)];
    for (int64_t d = 0; d < rank; ++d)
      if (d != axis && part.shape[static_cast<size_t>(d)] != shape[static_cast<size_t>(d)])
        return node.fail("joins " + shapeText(shape) + " and " + shapeText(part.shape));
    parts.push_back(i);
    isKnown &= part.known != nullptr;
  }
  if (parts.empty())
    return node.give(0, Value(node.in(0)));
  if (isKnown) {
    if (!node.to.mayKnow(countOf(shape)))
      return;
    Shape place;
    return node.give(0, made(node.in(parts[0]).type, shape, [&](ArrayRef<int64_t> index) {
                       place.assign(index.begin(), index.end());
                       int64_t &along = place[static_cast<size_t>(axis)];
                       for (size_t i : parts) {
                         const int64_t size = node.in(i).shape[static_cast<size_t>(axis)];
                         if (along < size)
                           return at(*node.in(i).known, place);
                         along -= size;
                       }
                       return 0.0;
                     }));
  }
  SmallVector<mlir::Value> tensors;
  for (size_t i : parts) {
    if (axis == 0 && node.to.mixesSequences(node.in(i)))
      node.fail("joins sequences");
    tensors.push_back(
        node.in(i).isIds() &&
                llvm::all_of(parts, [&](size_t each) { return node.in(each).isIds(); })
            ? node.in(i).tensor
            : node.tensor(i));
  }
  node.give(ops.concat(tensors, axis));
}

//===-- parts -------------------------------------------------------------------------===//

/// Elements start, start + step, ... of a dimension, `count` of them.
struct Places {
  int64_t axis, start, step, count;
};

void givePlaces(const Node &node, size_t result, ArrayRef<Places> all) {
  const Value &x = node.in(0);
  Ops &ops = node.to.ops;
  Shape shape = x.shape;
  for (const Places &each : all)
    shape[static_cast<size_t>(each.axis)] = each.count;
  if (x.known || llvm::is_contained(shape, 0)) {
    if (!node.to.mayKnow(countOf(shape)))
      return;
    if (llvm::is_contained(shape, 0))
      return node.give(result, Known{x.type, shape, {}});
    Shape place;
    return node.give(result, made(x.type, shape, [&](ArrayRef<int64_t> index) {
                       place.assign(index.begin(), index.end());
                       for (const Places &each : all) {
                         int64_t &along = place[static_cast<size_t>(each.axis)];
                         along = each.start + along * each.step;
                       }
                       return at(*x.known, place);
                     }));
  }
  mlir::Value value = x.isIds() ? x.tensor : node.tensor(0);
  for (const Places &each : all) {
    if (each.axis == 0 && node.to.mixesSequences(x))
      node.fail("takes sequences apart");
    const int64_t last = each.start + (each.count - 1) * each.step,
                  first = std::min(each.start, last), span = std::abs(last - each.start) + 1,
                  step = std::abs(each.step);
    value = ops.part(value, each.axis, first, span);
    if (each.step < 0 && each.count > 1)
      value = ops.reverse(value, each.axis);
    if (step == 1 || each.count == 1)
      continue;
    // Groups of `step`, of which the first is taken.
    value = ops.pad(value, each.axis, 0, each.count * step - span);
    if (!ops.fault.empty())
      return;
    Shape groups(shapeOf(value)), kept(groups);
    const auto place = static_cast<size_t>(each.axis);
    groups[place] = each.count;
    groups.insert(groups.begin() + each.axis + 1, step);
    kept[place] = each.count;
    value = ops.reshape(ops.part(ops.reshape(value, groups), each.axis + 1, 0, 1), kept);
  }
  Value given = node.to.valueOf(value, x.type);
  given.below = x.below;
  node.give(result, given);
}

void convertSlice(const Node &node) {
  const Value &x = node.in(0);
  const Shape starts = node.known(1, "starts").integers(), ends = node.known(2, "ends").integers();
  Shape axes, steps;
  if (node.has(3))
    axes = node.known(3, "axes").integers();
  if (node.has(4))
    steps = node.known(4, "steps").integers();
  if (ends.size() != starts.size() || (node.has(3) && axes.size() != starts.size()) ||
      (node.has(4) && steps.size() != starts.size()) || starts.size() > x.shape.size())
    return node.fail("starts, ends, axes and steps differ in number");
  SmallVector<Places> all;
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t axis = node.axisOf(node.has(3) ? axes[i] : static_cast<int64_t>(i), x.rank()),
                  step = node.has(4) ? steps[i] : 1;
    if (step == 0 || !isModest(step) || x.shape.empty())
      return node.fail("a step of " + Twine(step));
    if (llvm::any_of(all, [&](const Places &before) { return before.axis == axis; }))
      return node.fail("axis " + Twine(axis) + " twice");
    const int64_t size = x.shape[static_cast<size_t>(axis)];
    if (size == 0) {
      all.push_back({axis, 0, 1, 0});
      continue;
    }
    auto clamped = [&](int64_t place, int64_t least, int64_t most) {
      return std::clamp(place < 0 ? place + size : place, least, most);
    };
    const int64_t start = step > 0 ? clamped(starts[i], 0, size) : clamped(starts[i], 0, size - 1),
                  end = step > 0 ? clamped(ends[i], 0, size) : clamped(ends[i], -1, size - 1);
    const int64_t span = step > 0 ? end - start : start - end;
    all.push_back(
        {axis, start, step, span <= 0 ? 0 : (span + std::abs(step) - 1) / std::abs(step)});
  }
  givePlaces(node, 0, all);
}

void convertSplit(const Node &node) {
  const Value &x = node.in(0);
  const int64_t axis = node.axis("axis", 0, x.rank());
  if (x.shape.empty())
    return;
  const int64_t size = x.shape[static_cast<size_t>(axis)];
  std::optional<Shape> sizes = node.integers("split");
  if (node.has(1))
    sizes = node.known(1, "the sizes").integers();
  const auto count = static_cast<int64_t>(node.outputs());
  if (!sizes) {
    const int64_t each = (size + count - 1) / std::max<int64_t>(1, count);
    sizes.emplace();
    for (int64_t i = 0; i < count; ++i)
      sizes->push_back(std::min(each, size - i * each));
  }
  int64_t start = 0;
  if (static_cast<int64_t>(sizes->size()) != count ||
      llvm::any_of(*sizes, [&](int64_t part) { return part < 0 || part > size; }) ||
      std::accumulate(sizes->begin(), sizes->end(), int64_t(0)) != size)
    return node.fail("splits " + Twine(size) + " into " + shapeText(*sizes));
  for (auto [i, part] : llvm::enumerate(*sizes)) {
    givePlaces(node, i, {{axis, start, 1, part}});
    start += part;
  }
}

void convertPad(const Node &node) {
  Ops &ops = node.to.ops;
  const Value &x = node.in(0);
  Shape pads =
      node.has(1) ? node.known(1, "pads").integers() : node.integers("pads").value_or(Shape());
  const double fill = node.has(2) ? node.knownNumber(2, "the value") : node.number("value", 0);
  Shape axes;
  if (node.has(3))
    axes = node.known(3, "axes").integers();
  else
    for (int64_t d = 0; d < x.rank(); ++d)
      axes.push_back(d);
  if (node.text("mode", "constant") != "constant" || pads.size() != 2 * axes.size())
    return node.fail("pads other than with a constant, two for each dimension");
  // 1 where x is: what is filled in does not touch the numbers of x.
  mlir::Value value = node.tensor(0), inside = fill == 0 ? nullptr : ops.constant(1, x.shape);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = node.axisOf(axes[i], x.rank()), before = pads[i],
                  behind = pads[i + axes.size()];
    if (!isModest(before) || !isModest(behind))
      return node.fail("pads by " + Twine(before) + " and " + Twine(behind));
    const int64_t size = axis < static_cast<int64_t>(shapeOf(value).size())
                             ? shapeOf(value)[static_cast<size_t>(axis)]
                             : 0;
    const int64_t cutFront = std::max<int64_t>(0, -before), cutEnd = std::max<int64_t>(0, -behind);
    for (mlir::Value *each : {&value, &inside}) {
      if (!*each || !ops.fault.empty())
        continue;
      if (cutFront + cutEnd > 0)
        *each = ops.part(*each, axis, cutFront, size - cutFront - cutEnd);
      *each = ops.pad(*each, axis, std::max<int64_t>(0, before), std::max<int64_t>(0, behind));
    }
  }
  if (inside && ops.fault.empty()) {
    constexpr double most = std::numeric_limits<float>::max(); // infinity times 0 is none
    value = ops.binary(BinaryKind::Add, value,
                       ops.times(ops.oneMinus(inside), std::clamp(fill, -most, most)));
  }
  node.give(value);
}

//===-- reductions --------------------------------------------------------------------===//

mlir::Value negated(const Node &node, mlir::Value x) {
  return node.to.ops.unary(UnaryKind::Neg, x);
}

void convertReduce(const Node &node) {
  Ops &ops = node.to.ops;
  const Value &x = node.in(0);
  const std::string &op = node.proto.op_type();
  std::optional<Shape> axes = node.axes(1, x.rank());
  if ((!axes || axes->empty()) && node.integer("noop_with_empty_axes", 0) == 0) {
    axes.emplace(x.shape.size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  const bool keep = node.integer("keepdims", 1) != 0;
  mlir::Value value = node.tensor(0);
  if (!axes || axes->empty())
    return node.give(value);
  if (llvm::is_contained(*axes, 0) && node.to.mixesSequences(x))
    return node.fail("sums over sequences");
  if (op == "ReduceMax")
    value = ops.reduce(ReduceKind::Max, value, *axes, keep);
  else if (op == "ReduceMin")
    value = negated(node, ops.reduce(ReduceKind::Max, negated(node, value), *axes, keep));
  else if (op == "ReduceMean")
    value = ops.reduce(ReduceKind::Mean, value, *axes, keep);
  else if (op == "ReduceSumSquare" || op == "ReduceL2") {
    value = ops.reduce(ReduceKind::Sum, ops.unary(UnaryKind::Square, value), *axes, keep);
    value = op == "ReduceL2" ? ops.unary(UnaryKind::Sqrt, value) : value;
  } else if (op == "ReduceLogSumExp") {
    mlir::Value most = ops.reduce(ReduceKind::Max, value, *axes, true);
    mlir::Value sum = ops.reduce(
        ReduceKind::Sum, ops.unary(UnaryKind::Exp, ops.binary(BinaryKind::Sub, value, most)), *axes,
        true);
    value = ops.binary(BinaryKind::Add, most, ops.unary(UnaryKind::Log, sum));
    if (!keep) {
      Shape shape;
      for (int64_t d = 0; d < x.rank(); ++d)
        if (!llvm::is_contained(*axes, d))
          shape.push_back(x.shape[static_cast<size_t>(d)]);
      value = ops.reshape(value, shape);
    }
  } else {
    value = ops.reduce(ReduceKind::Sum, value, *axes, keep);
  }
  node.give(value);
}

void convertIdentity(const Node &node) { node.give(0, Value(node.in(0))); }

/// Nothing is dropped: training with dropout is told the trainer, not the graph.
void convertDropout(const Node &node) {
  convertIdentity(node);
  if (node.gives(1))
    node.fail("its mask is asked for");
}

} // namespace

void addShapes(Importer &to) {
  to.add("Reshape", convertReshape);
  to.add("Flatten", convertFlatten);
  to.add("Squeeze", convertSqueeze);
  to.add("Unsqueeze", convertUnsqueeze);
  to.add("Transpose", convertTranspose);
  to.add("Expand", convertExpand);
  to.add("Tile", convertTile);
  to.add("Concat", convertConcat);
  to.add("Slice", convertSlice);
  to.add("Split", convertSplit);
  to.add("Pad", convertPad);
  for (const char *op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceSumSquare",
                         "ReduceL2", "ReduceLogSumExp"})
    to.add(op, convertReduce);
  to.add("Identity", convertIdentity);
  to.add("Dropout", convertDropout);
}

} // namespace hybrid::onnx::frontend
