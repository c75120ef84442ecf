//===- Node.cpp - a node as its conversion sees it ---------------------------------===//
#include "formats/onnx/Onnx.pb.h"
#include "frontends/onnx/Importer.h"

using namespace mlir;

namespace hybrid::onnx::frontend {

void Node::fail(const Twine &message) const { to.ops.fail(message); }

size_t Node::inputs() const { return static_cast<size_t>(proto.input_size()); }
size_t Node::outputs() const { return static_cast<size_t>(proto.output_size()); }

bool Node::has(size_t i) const { return i < inputs() && !proto.input(static_cast<int>(i)).empty(); }
bool Node::gives(size_t i) const {
  return i < outputs() && !proto.output(static_cast<int>(i)).empty();
}

const Value &Node::in(size_t i) const {
  if (has(i))
    return *to.find(proto.input(static_cast<int>(i)));
  fail("lacks its input " + Twine(i));
  static const Value scalar = [] {
    Value value;
    value.known = std::make_shared<const Known>(Known{DataType::F32, {}, {0}});
    return value;
  }();
  return scalar;
}

mlir::Value Node::tensor(size_t i) const { return to.numbers(in(i)); }

Known Node::known(size_t i, const char *what) const {
  const Value &value = in(i);
  if (KnownPtr known = to.knownOf(value))
    return *known;
  fail(Twine(what) + " (input " + Twine(i) + ") must be known when compiling");
  const int64_t count = countOf(value.shape);
  return {value.type, value.shape,
          std::vector<double>(static_cast<size_t>(count < 0 || count > mostKnown ? 0 : count))};
}

double Node::knownNumber(size_t i, const char *what) const {
  Known value = known(i, what);
  if (value.values.size() != 1)
    fail(Twine(what) + " (input " + Twine(i) + ") has " + Twine(value.values.size()) +
         " elements, expected one");
  return value.values.size() == 1 ? value.values[0] : 0;
}

static const AttributeProto *attributeOf(const NodeProto &proto, StringRef name) {
  for (const AttributeProto &attribute : proto.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

int64_t Node::integer(StringRef name, int64_t otherwise) const {
  const AttributeProto *attribute = attributeOf(proto, name);
  return attribute ? attribute->i() : otherwise;
}
double Node::number(StringRef name, double otherwise) const {
  const AttributeProto *attribute = attributeOf(proto, name);
  return attribute ? static_cast<double>(attribute->f()) : otherwise;
}
std::string Node::text(StringRef name, StringRef otherwise) const {
  const AttributeProto *attribute = attributeOf(proto, name);
  return attribute ? attribute->s() : otherwise.str();
}
std::optional<Shape> Node::integers(StringRef name) const {
  const AttributeProto *attribute = attributeOf(proto, name);
  if (!attribute)
    return std::nullopt;
  return Shape(attribute->ints().begin(), attribute->ints().end());
}
const GraphProto *Node::graph(StringRef name) const {
  const AttributeProto *attribute = attributeOf(proto, name);
  return attribute && attribute->has_g() ? &attribute->g() : nullptr;
}
const TensorProto *Node::stored(StringRef name) const {
  const AttributeProto *attribute = attributeOf(proto, name);
  return attribute && attribute->has_t() ? &attribute->t() : nullptr;
}

int64_t Node::axisOf(int64_t axis, int64_t rank) const {
  const int64_t place = axis < 0 ? axis + rank : axis;
  if (place >= 0 && place < rank)
    return place;
  fail("axis " + Twine(axis) + " of a tensor of " + Twine(rank) + " dimensions");
  return 0;
}

std::optional<Shape> Node::axes(size_t input, int64_t rank) const {
  std::optional<Shape> given = integers("axes");
  if (has(input))
    given = known(input, "axes").integers();
  if (!given)
    return std::nullopt;
  Shape places;
  for (int64_t axis : *given)
    places.push_back(axisOf(axis, rank));
  llvm::sort(places);
  if (std::adjacent_find(places.begin(), places.end()) != places.end())
    fail("an axis is named twice");
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

void Node::give(size_t i, Value value) const {
  value.node = &proto;
  if (gives(i))
    to.define(proto.output(static_cast<int>(i)), std::move(value));
}

void Node::give(size_t i, mlir::Value tensor) const {
  DataType type = DataType::F32;
  if (has(0) && to.find(proto.input(0)))
    type = in(0).type;
  const bool isInteger = !isa<FloatType>(elementOf(tensor));
  if (isInteger && isFloat(type))
    type = DataType::I64;
  give(i, to.valueOf(tensor, type));
}

void Node::giveAs(DataType type, mlir::Value tensor) const { give(0, to.valueOf(tensor, type)); }
void Node::give(size_t i, Known known) const { give(i, to.valueOf(std::move(known))); }

} // namespace hybrid::onnx::frontend
