//===- Lookups.cpp - what is chosen by number: rows, places, the largest ------------===//
#include "formats/onnx/Onnx.pb.h"
#include "frontends/onnx/Importer.h"

using namespace mlir;

namespace hybrid::onnx::frontend {
namespace {

/// Parts that known indices choose may be so many: each run of neighbours is one.
constexpr size_t mostRuns = 256;

/// Rows of a table by ids that are read at run time.
void gatherRows(const Node &node) {
  Ops &ops = node.to.ops;
  const Value &table = node.in(0), &ids = node.in(1);
  if (node.axis("axis", 0, table.rank()) != 0)
    return node.fail("chooses by ids of another dimension than the first");
  mlir::Value rows = node.tensor(0);
  const int64_t classes = table.shape[0],
                width = countOf(table.shape) / std::max<int64_t>(1, classes);
  rows = ops.reshape(rows, {classes, width});
  Shape shape(ids.shape);
  shape.append(table.shape.begin() + 1, table.shape.end());
  node.give(ops.reshape(ops.one<EmbeddingOp>({rows, ids.tensor}), shape));
}

void convertGather(const Node &node) {
  Ops &ops = node.to.ops;
  const Value &x = node.in(0);
  if (x.shape.empty())
    return node.fail("chooses of a scalar");
  if (node.in(1).isIds())
    return gatherRows(node);
  const int64_t axis = node.axis("axis", 0, x.rank());
  const Known indices = node.known(1, "indices");
  const int64_t size = x.shape[static_cast<size_t>(axis)];
  if (axis == 0 && node.to.mixesSequences(x))
    node.fail("chooses sequences");
  Shape places = indices.integers();
  for (int64_t &place : places) {
    place += place < 0 ? size : 0;
    if (place < 0 || place >= size)
      return node.fail("index " + Twine(place) + " of " + shapeText(x.shape));
  }
  if (places.empty())
    return node.fail("chooses nothing");
  mlir::Value tensor = x.isIds() ? x.tensor : node.tensor(0);
  SmallVector<mlir::Value> parts;
  for (size_t first = 0; first < places.size();) {
    size_t end = first + 1;
    while (end < places.size() && places[end] == places[end - 1] + 1)
      ++end;
    parts.push_back(ops.part(tensor, axis, places[first], static_cast<int64_t>(end - first)));
    first = end;
    if (parts.size() > mostRuns)
      return node.fail("chooses more than " + Twine(mostRuns) + " parts by known indices");
  }
  Shape shape(ArrayRef(x.shape).take_front(static_cast<size_t>(axis)));
  llvm::append_range(shape, indices.shape);
  llvm::append_range(shape, ArrayRef(x.shape).drop_front(static_cast<size_t>(axis) + 1));
  Value value = node.to.valueOf(ops.reshape(ops.concat(parts, axis), shape), x.type);
  value.below = x.below;
  node.give(0, value);
}

/// A fault unless the axis is the last, of which the dialect's choices are.
bool isLast(const Node &node, int64_t otherwise) {
  const int64_t rank = node.in(0).rank();
  if (node.axis("axis", otherwise, rank) == rank - 1)
    return true;
  node.fail("chooses along another dimension than the last");
  return false;
}

void convertGatherElements(const Node &node) {
  if (!isLast(node, 0))
    return;
  if (!node.in(1).isIds())
    return node.fail("indices must be integers of the program");
  node.give(node.to.ops.one<TakeOp>({node.tensor(0), node.in(1).tensor}));
}

/// Values added to zeros; without `reduction` they must go to different places, as those of a TopK.
void convertScatterElements(const Node &node) {
  if (!isLast(node, 0))
    return;
  const Value &into = node.in(0), &indices = node.in(1);
  const std::string how = node.text("reduction", "none");
  const bool isTopK = indices.below > 0;
  if (!into.known || into.known->everywhere() != 0.0 || !indices.isIds() ||
      !(how == "add" || (how == "none" && isTopK)))
    return node.fail("expected zeros to which is added, by integers of the program");
  Ops &ops = node.to.ops;
  mlir::Value values = ops.one<ScatterOp>({node.tensor(2), indices.tensor},
                                          {ops.integer("size", into.shape.back())});
  node.giveAs(into.type, values);
  if (Shape(shapeOf(values)) != into.shape)
    node.fail("gives " + shapeText(shapeOf(values)) + " for zeros " + shapeText(into.shape));
}

void convertTopK(const Node &node) {
  Ops &ops = node.to.ops;
  const Value &x = node.in(0);
  if (!isLast(node, -1))
    return;
  if (node.integer("largest", 1) == 0)
    return node.fail("the smallest are asked for");
  const double k = node.knownNumber(1, "k");
  mlir::Value numbers = node.tensor(0);
  mlir::Value indices = ops.one<TopKOp>({numbers}, {ops.integer("k", whole(k))});
  Value ids = node.to.valueOf(indices, DataType::I64);
  ids.below = x.shape.empty() ? 0 : x.shape.back();
  if (!ops.fault.empty())
    return;
  if (node.gives(0))
    node.give(0, ops.one<TakeOp>({numbers, indices}));
  node.give(1, ids);
}

/// Sums so far along a dimension: a linear scan that keeps all of its state.
void convertCumSum(const Node &node) {
  Ops &ops = node.to.ops;
  const Value &x = node.in(0);
  const int64_t axis = node.axisOf(whole(node.knownNumber(1, "axis")), x.rank());
  const bool exclusive = node.integer("exclusive", 0) != 0, back = node.integer("reverse", 0) != 0;
  if (x.shape.empty() || node.to.isInBody())
    return node.fail("sums of a scalar or within a step");
  mlir::Value numbers = node.tensor(0);
  if (!ops.fault.empty())
    return;
  const Shape shape(shapeOf(numbers));
  const auto at = static_cast<size_t>(axis);
  const ArrayRef<int64_t> sizes(shape);
  const int64_t length = sizes[at], behind = countOf(sizes.drop_front(at + 1));
  const Shape rows{countOf(sizes.take_front(at)), length, behind};
  mlir::Value values = ops.reshape(numbers, rows);
  if (back)
    values = ops.reverse(values, 1);
  mlir::Value ones = ops.constant(1, rows);
  mlir::Value sums =
      ops.add(LinearScanOp::getOperationName(), {{ones}, {ones}, {values}, {}, {}, {}},
              {ops.integer("heads", behind)})[0];
  if (exclusive)
    sums = ops.part(ops.pad(sums, 1, 1, 0), 1, 0, length);
  if (back)
    sums = ops.reverse(sums, 1);
  node.give(ops.reshape(sums, shape));
}

} // namespace

void addLookups(Importer &to) {
  to.add("Gather", convertGather);
  to.add("GatherElements", convertGatherElements);
  to.add("ScatterElements", convertScatterElements);
  to.add("TopK", convertTopK);
  to.add("CumSum", convertCumSum);
}

} // namespace hybrid::onnx::frontend
