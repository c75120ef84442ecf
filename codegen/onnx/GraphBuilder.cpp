//===- GraphBuilder.cpp - nodes of an ONNX graph ------------------------------===//
#include "codegen/onnx/GraphBuilder.h"
#include "dialect/Shapes.h"
#include "formats/onnx/Onnx.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace hybrid::onnx {
namespace {

void describe(ValueInfoProto &info, StringRef name, ArrayRef<int64_t> shape, Element element) {
  info.set_name(name.str());
  TypeProto::Tensor *type = info.mutable_type()->mutable_tensor_type();
  type->set_elem_type(static_cast<int32_t>(element));
  TensorShapeProto *sizes = type->mutable_shape(); // there is one for a scalar, too
  for (int64_t size : shape)
    sizes->add_dim()->set_dim_value(size);
}

void put(AttributeProto &to, const Attribute &attribute) {
  to.set_name(attribute.name.str());
  if (const auto *integer = std::get_if<int64_t>(&attribute.value)) {
    to.set_type(AttributeProto::INT);
    to.set_i(*integer);
  } else if (const auto *number = std::get_if<float>(&attribute.value)) {
    to.set_type(AttributeProto::FLOAT);
    to.set_f(*number);
  } else if (const auto *text = std::get_if<std::string>(&attribute.value)) {
    to.set_type(AttributeProto::STRING);
    to.set_s(*text);
  } else {
    to.set_type(AttributeProto::INTS);
    for (int64_t value : std::get<SmallVector<int64_t>>(attribute.value))
      to.add_ints(value);
  }
}

template <typename T, typename From> std::string packed(ArrayRef<From> values) {
  std::string bytes;
  for (From value : values) {
    const auto element = static_cast<T>(value);
    bytes.append(reinterpret_cast<const char *>(&element), sizeof(T));
  }
  return bytes;
}

/// The shape that both broadcast to; callers ask for shapes that do.
SmallVector<int64_t> together(const Tensor &a, const Tensor &b) {
  std::optional<SmallVector<int64_t>> shape = broadcastShapes(a.shape, b.shape);
  if (!shape)
    report_fatal_error("ONNX export: shapes " + StringRef(shapeText(a.shape)) + " and " +
                       shapeText(b.shape) + " do not broadcast");
  return *shape;
}

/// What a node reads, in its bodies, too.
void addRead(const NodeProto &node, StringSet<> &names) {
  for (const std::string &input : node.input())
    names.insert(input);
  for (const AttributeProto &attribute : node.attribute())
    for (const NodeProto &inner : attribute.g().node())
      addRead(inner, names);
}

/// Takes out the nodes that nothing is computed from: a conversion may have found a form that does
/// without what stands before.
void removeUnread(GraphProto &graph) {
  StringSet<> read;
  for (const ValueInfoProto &output : graph.output())
    read.insert(output.name());
  auto &nodes = *graph.mutable_node();
  int kept = nodes.size();
  for (int i = nodes.size() - 1; i >= 0; --i) {
    if (any_of(nodes[i].output(), [&](const std::string &name) { return read.contains(name); })) {
      addRead(nodes[i], read);
      nodes.SwapElements(i, --kept);
    }
  }
  nodes.DeleteSubrange(0, kept);
}

} // namespace

int64_t bytesOf(Element element) {
  switch (element) {
  case Element::Bool:
    return 1;
  case Element::F32:
  case Element::I32:
    return 4;
  case Element::I64:
  case Element::F64:
    return 8;
  }
  llvm_unreachable("an element of another type");
}

GraphBuilder::GraphBuilder(StringRef name, Element number)
    : outermost(std::make_unique<GraphProto>()), graph(outermost.get()), real(number) {
  graph->set_name(name.str());
}
GraphBuilder::~GraphBuilder() = default;
std::unique_ptr<GraphProto> GraphBuilder::take() {
  removeUnread(*outermost);
  return std::move(outermost);
}

/// Parameters are named by identifiers and dots: a slash keeps apart.
std::string GraphBuilder::fresh(StringRef op) { return op.str() + "/" + std::to_string(count++); }

Tensor GraphBuilder::input(StringRef name, ArrayRef<int64_t> shape, Element element) {
  describe(*outermost->add_input(), name, shape, element);
  return {name.str(), SmallVector<int64_t>(shape), element};
}

void GraphBuilder::output(StringRef name, const Tensor &value) {
  NodeProto *node = graph->add_node();
  node->set_op_type("Identity");
  node->set_name(fresh("Identity"));
  node->add_input(value.name);
  node->add_output(name.str());
  describe(*graph->add_output(), name, value.shape, value.element);
}

static void describe(TensorProto &tensor, ArrayRef<int64_t> shape, Element element) {
  for (int64_t size : shape)
    tensor.add_dims(size);
  tensor.set_data_type(static_cast<int32_t>(element));
}

static void fill(TensorProto &tensor, ArrayRef<int64_t> shape, Element element, std::string bytes) {
  describe(tensor, shape, element);
  tensor.set_raw_data(std::move(bytes));
}

Tensor GraphBuilder::stored(StringRef name, ArrayRef<int64_t> shape, Element element,
                            std::string bytes) {
  TensorProto *tensor = outermost->add_initializer();
  tensor->set_name(name.str());
  fill(*tensor, shape, element, std::move(bytes));
  return {name.str(), SmallVector<int64_t>(shape), element};
}

Tensor GraphBuilder::storedBeside(StringRef name, ArrayRef<int64_t> shape, Element element,
                                  StringRef file, uint64_t offset) {
  TensorProto *tensor = outermost->add_initializer();
  tensor->set_name(name.str());
  describe(*tensor, shape, element);
  tensor->set_data_location(TensorProto::EXTERNAL);
  auto say = [&](const char *key, std::string value) {
    StringStringEntryProto *entry = tensor->add_external_data();
    entry->set_key(key);
    entry->set_value(std::move(value));
  };
  const auto bytes =
      static_cast<uint64_t>(mlir::ShapedType::getNumElements(shape) * bytesOf(element));
  say("location", file.str());
  say("offset", std::to_string(offset));
  say("length", std::to_string(bytes));
  return {name.str(), SmallVector<int64_t>(shape), element};
}

Tensor GraphBuilder::held(StringRef name, ArrayRef<int64_t> shape, Element element,
                          std::string bytes) {
  // It stands before the node that is being made, also where that holds a body.
  NodeProto *node = outermost->add_node();
  node->set_op_type("Constant");
  node->set_name(name.str());
  node->add_output(name.str());
  AttributeProto *value = node->add_attribute();
  value->set_name("value");
  value->set_type(AttributeProto::TENSOR);
  fill(*value->mutable_t(), shape, element, std::move(bytes));
  return {name.str(), SmallVector<int64_t>(shape), element};
}

//===-- constants ------------------------------------------------------------------===//

Tensor GraphBuilder::known(ArrayRef<int64_t> shape, Element element, std::string bytes) {
  const std::string key = std::to_string(static_cast<int32_t>(element)) + shapeText(shape) + bytes;
  auto [place, isNew] = constants.try_emplace(key);
  if (!isNew)
    return place->second;
  place->second = held(fresh("Constant"), shape, element, std::move(bytes));
  return place->second;
}

Tensor GraphBuilder::constant(double value) { return constant({}, {value}); }

Tensor GraphBuilder::constant(ArrayRef<int64_t> shape, ArrayRef<double> values) {
  return known(shape, real, real == Element::F64 ? packed<double>(values) : packed<float>(values));
}

Tensor GraphBuilder::integers(ArrayRef<int64_t> values, Element element) {
  return known({static_cast<int64_t>(values.size())}, element,
               element == Element::I32 ? packed<int32_t>(values) : packed<int64_t>(values));
}

Tensor GraphBuilder::integer(int64_t value, Element element) {
  return known({}, element,
               element == Element::I32 ? packed<int32_t>(ArrayRef(value))
                                       : packed<int64_t>(ArrayRef(value)));
}

Tensor GraphBuilder::full(double value, ArrayRef<int64_t> shape) {
  return expand(constant(value), shape);
}

//===-- nodes ----------------------------------------------------------------------===//

void GraphBuilder::node(StringRef op, ArrayRef<Tensor> inputs, MutableArrayRef<Tensor> results,
                        ArrayRef<Attribute> attributes) {
  NodeProto *node = graph->add_node();
  node->set_op_type(op.str());
  for (const Tensor &input : inputs)
    node->add_input(input.name);
  for (Tensor &result : results) {
    result.name = fresh(op);
    node->add_output(result.name);
  }
  node->set_name(results.front().name);
  for (const Attribute &attribute : attributes)
    put(*node->add_attribute(), attribute);
}

Tensor GraphBuilder::node(StringRef op, ArrayRef<Tensor> inputs, ArrayRef<int64_t> shape,
                          Element element, ArrayRef<Attribute> attributes) {
  Tensor result{"", SmallVector<int64_t>(shape), element};
  node(op, inputs, result, attributes);
  return result;
}

Tensor GraphBuilder::elementwise(StringRef op, const Tensor &x, ArrayRef<Attribute> attributes) {
  return node(op, x, x.shape, x.element, attributes);
}

Tensor GraphBuilder::elementwise(StringRef op, const Tensor &a, const Tensor &b) {
  return node(op, {a, b}, together(a, b), a.element);
}

Tensor GraphBuilder::compare(StringRef op, const Tensor &a, const Tensor &b) {
  return node(op, {a, b}, together(a, b), Element::Bool);
}

Tensor GraphBuilder::where(const Tensor &condition, const Tensor &a, const Tensor &b) {
  Tensor both{"", together(a, b), a.element};
  return node("Where", {condition, a, b}, together(condition, both), a.element);
}

Tensor GraphBuilder::cast(const Tensor &x, Element element) {
  if (x.element == element)
    return x;
  return node("Cast", x, x.shape, element, {{"to", static_cast<int64_t>(element)}});
}

Tensor GraphBuilder::reshape(const Tensor &x, ArrayRef<int64_t> shape) {
  if (ArrayRef<int64_t>(x.shape) == shape)
    return x;
  return node("Reshape", {x, integers(shape)}, shape, x.element);
}

Tensor GraphBuilder::transpose(const Tensor &x, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> shape;
  bool moves = false;
  for (auto [to, from] : enumerate(permutation)) {
    shape.push_back(x.shape[from]);
    moves |= static_cast<int64_t>(to) != from;
  }
  if (!moves)
    return x;
  return node("Transpose", x, shape, x.element, {{"perm", SmallVector<int64_t>(permutation)}});
}

Tensor GraphBuilder::expand(const Tensor &x, ArrayRef<int64_t> shape) {
  if (ArrayRef<int64_t>(x.shape) == shape)
    return x;
  return node("Expand", {x, integers(shape)}, shape, x.element);
}

Tensor GraphBuilder::slice(const Tensor &x, int64_t axis, int64_t start, int64_t size) {
  if (start == 0 && size == x.shape[axis])
    return x;
  SmallVector<int64_t> shape = x.shape;
  shape[axis] = size;
  return node("Slice", {x, integers({start}), integers({start + size}), integers({axis})}, shape,
              x.element);
}

Tensor GraphBuilder::reverse(const Tensor &x, int64_t axis) {
  // From the last element down to before the first, which no index from the end can name.
  return node("Slice", {x, integers({-1}), integers({INT64_MIN}), integers({axis}), integers({-1})},
              x.shape, x.element);
}

Tensor GraphBuilder::concat(ArrayRef<Tensor> parts, int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  SmallVector<int64_t> shape = parts.front().shape;
  for (const Tensor &part : parts.drop_front())
    shape[axis] += part.shape[axis];
  return node("Concat", parts, shape, parts.front().element, {{"axis", axis}});
}

Tensor GraphBuilder::reduce(StringRef op, const Tensor &x, ArrayRef<int64_t> axes, bool keep) {
  SmallVector<int64_t> shape;
  for (auto [axis, size] : enumerate(x.shape))
    if (!is_contained(axes, static_cast<int64_t>(axis)))
      shape.push_back(size);
    else if (keep)
      shape.push_back(1);
  return node(op, {x, integers(axes)}, shape, x.element, {{"keepdims", int64_t(keep)}});
}

Tensor GraphBuilder::matmul(const Tensor &a, const Tensor &b) {
  Tensor outerA{"", SmallVector<int64_t>(ArrayRef(a.shape).drop_back(2)), a.element},
      outerB{"", SmallVector<int64_t>(ArrayRef(b.shape).drop_back(2)), b.element};
  SmallVector<int64_t> shape = together(outerA, outerB);
  shape.append({a.shape[a.rank() - 2], b.shape.back()});
  return node("MatMul", {a, b}, shape, a.element);
}

Tensor GraphBuilder::gemm(const Tensor &a, const Tensor &b, const Tensor &bias, bool transposeA,
                          bool transposeB) {
  SmallVector<Tensor> inputs{a, b};
  if (!bias.name.empty())
    inputs.push_back(bias);
  return node("Gemm", inputs, {a.shape[transposeA ? 1 : 0], b.shape[transposeB ? 0 : 1]}, a.element,
              {{"transA", int64_t(transposeA)}, {"transB", int64_t(transposeB)}});
}

//===-- scans ----------------------------------------------------------------------===//

std::pair<SmallVector<Tensor>, SmallVector<Tensor>>
GraphBuilder::scan(ArrayRef<Tensor> initial, ArrayRef<Tensor> sequences, ScanBody body) {
  const int64_t steps = sequences.front().shape.front();
  SmallVector<Tensor> states(initial), slices, stacked;
  if (steps == 1) { // no loop: a program that takes one token has none
    for (const Tensor &sequence : sequences)
      slices.push_back(reshape(sequence, ArrayRef(sequence.shape).drop_front()));
    ScanStep step = body(states, slices);
    for (const Tensor &result : step.results) {
      SmallVector<int64_t> shape{1};
      shape.append(result.shape);
      stacked.push_back(reshape(result, shape));
    }
    return {step.states, stacked};
  }
  AttributeProto attribute;
  attribute.set_name("body");
  attribute.set_type(AttributeProto::GRAPH);
  GraphProto *outer = std::exchange(graph, attribute.mutable_g());
  graph->set_name(fresh("body"));
  for (Tensor &state : states) {
    state.name = fresh("state");
    describe(*graph->add_input(), state.name, state.shape, state.element);
  }
  for (const Tensor &sequence : sequences) {
    Tensor slice{fresh("slice"), SmallVector<int64_t>(ArrayRef(sequence.shape).drop_front()),
                 sequence.element};
    describe(*graph->add_input(), slice.name, slice.shape, slice.element);
    slices.push_back(slice);
  }
  ScanStep step = body(states, slices);
  for (const Tensor &state : step.states)
    output(fresh("next"), state);
  for (const Tensor &result : step.results) {
    output(fresh("result"), result);
    Tensor all{"", {steps}, result.element};
    all.shape.append(result.shape);
    stacked.push_back(all);
  }
  graph = outer;
  SmallVector<Tensor> inputs(initial), results = step.states;
  inputs.append(sequences.begin(), sequences.end());
  results.append(stacked);
  node("Scan", inputs, results, {{"num_scan_inputs", static_cast<int64_t>(sequences.size())}});
  graph->mutable_node()->rbegin()->add_attribute()->Swap(&attribute);
  return {SmallVector<Tensor>(ArrayRef(results).take_front(states.size())),
          SmallVector<Tensor>(ArrayRef(results).drop_front(states.size()))};
}

} // namespace hybrid::onnx
