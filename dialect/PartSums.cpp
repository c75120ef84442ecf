//===- PartSums.cpp - sums of tensors that are zero around a part -----------===//
//
// A sequence that is taken apart position by position has a gradient for each of them. As tensors
// of its whole shape they would take length times its memory, and their sum as much time; joined
// they are one tensor. Dimension by dimension: parts that differ in their place along it alone are
// laid side by side, in as many layers as overlap.
//
//===----------------------------------------------------------------------===//
#include "dialect/PartSums.h"
#include "dialect/Shapes.h"
#include <map>

using namespace mlir;
using namespace hybrid;

namespace {

struct Part {
  SmallVector<int64_t> starts;
  Value value;

  ArrayRef<int64_t> sizes() const { return shapeOf(value); }
  int64_t start(size_t axis) const { return starts[axis]; }
  int64_t end(size_t axis) const { return starts[axis] + sizes()[axis]; }
};

/// Where parts lie, but along `axis`; with no axis all of it.
std::vector<int64_t> placeOf(const Part &part, std::optional<size_t> axis) {
  std::vector<int64_t> place;
  for (size_t i = 0; i < part.starts.size(); ++i)
    if (i != axis)
      place.insert(place.end(), {part.start(i), part.sizes()[i]});
  return place;
}

class Joining {
public:
  Joining(OpBuilder &builder, Location loc, ArrayRef<PadOp> pads) : builder(builder), loc(loc) {
    for (PadOp pad : pads)
      parts.push_back({SmallVector<int64_t>(pad.getStarts()), pad.getX()});
  }

  SmallVector<Part> run() {
    addEqual();
    for (size_t axis = parts.front().starts.size(); axis-- > 0;)
      join(axis);
    return std::move(parts);
  }

private:
  /// Replaces the parts of each group by what `body` makes of them, in the order of their places.
  template <typename Body> void forGroups(std::optional<size_t> axis, Body body) {
    std::map<std::vector<int64_t>, SmallVector<Part>> groups;
    for (Part &part : parts)
      groups[placeOf(part, axis)].push_back(std::move(part));
    parts.clear();
    for (auto &[place, group] : groups)
      body(group);
  }

  void addEqual() {
    forGroups(std::nullopt, [&](ArrayRef<Part> equal) {
      Part sum = equal.front();
      for (const Part &part : equal.drop_front())
        sum.value = BinaryOp::create(builder, loc, BinaryKind::Add, sum.value, part.value);
      parts.push_back(std::move(sum));
    });
  }

  void join(size_t axis) {
    forGroups(axis, [&](SmallVector<Part> &group) {
      llvm::sort(group, [&](const Part &a, const Part &b) {
        return std::pair(a.start(axis), a.end(axis)) < std::pair(b.start(axis), b.end(axis));
      });
      SmallVector<SmallVector<Part>> layers;
      for (Part &part : group) {
        auto layer = llvm::find_if(layers, [&](ArrayRef<Part> below) {
          return below.back().end(axis) <= part.start(axis);
        });
        if (layer == layers.end())
          layers.emplace_back(), layer = std::prev(layers.end());
        layer->push_back(std::move(part));
      }
      for (ArrayRef<Part> layer : layers)
        parts.push_back(joined(layer, axis));
    });
  }

  /// One part of several, with zeros in the gaps between them.
  Part joined(ArrayRef<Part> layer, size_t axis) {
    if (layer.size() == 1)
      return layer.front();
    SmallVector<Value> values;
    int64_t end = layer.front().start(axis);
    for (const Part &part : layer) {
      if (int64_t gap = part.start(axis) - end; gap > 0) {
        SmallVector<int64_t> sizes(part.sizes());
        sizes[axis] = gap;
        values.push_back(ConstantOp::create(builder, loc, tensorOf(sizes, elementOf(part.value)),
                                            builder.getF64FloatAttr(0)));
      }
      values.push_back(part.value);
      end = part.end(axis);
    }
    return {layer.front().starts, ConcatOp::create(builder, loc, values, axis)};
  }

  OpBuilder &builder;
  Location loc;
  SmallVector<Part> parts;
};

} // namespace

SmallVector<Value> hybrid::sumOfParts(OpBuilder &builder, ArrayRef<PadOp> pads) {
  PadOp first = pads.front();
  if (pads.size() == 1)
    return {first.getResult()};
  return llvm::map_to_vector(
      Joining(builder, first.getLoc(), pads).run(), [&](const Part &part) -> Value {
        if (part.sizes() == shapeOf(first))
          return part.value;
        return PadOp::create(builder, first.getLoc(), part.value,
                             builder.getDenseI64ArrayAttr(part.starts), first.getShape());
      });
}
