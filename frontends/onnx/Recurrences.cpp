//===- Recurrences.cpp - scans over positions ---------------------------------------===//
//
// The body of a Scan is the step of a hybrid.recurrence: for one sequence, where the graph's first
// dimension is a batch whose rows never meet, else for the whole batch as if it were one.
//
//===----------------------------------------------------------------------===//
#include "formats/onnx/Onnx.pb.h"
#include "frontends/onnx/Importer.h"
#include <cmath>

using namespace mlir;

namespace hybrid::onnx::frontend {
namespace {

class ScanWriter {
public:
  ScanWriter(const Node &node, const GraphProto &graph)
      : node(node), to(node.to), ops(to.ops), graph(graph),
        slices(static_cast<size_t>(node.integer("num_scan_inputs", 0))),
        states(node.inputs() - std::min(node.inputs(), slices)) {}

  void write() {
    if (to.isInBody() || slices < 1 || slices > node.inputs() ||
        static_cast<size_t>(graph.input_size()) != node.inputs() ||
        static_cast<size_t>(graph.output_size()) != node.outputs() || node.outputs() < states)
      return node.fail("a body that does not take and give the states and slices, or a scan in a "
                       "scan");
    if (!readSequences())
      return;
    // For one sequence, if that is possible, else for all at once.
    if (batch > 0 && writeStep(batch))
      return;
    to.failsForOne = false;
    writeStep(0);
  }

private:
  int64_t listed(StringRef name, size_t i) {
    const Shape list = node.integers(name).value_or(Shape());
    return i < list.size() ? list[i] : 0;
  }

  bool readSequences() {
    for (size_t i = 0; i < slices; ++i) {
      mlir::Value x = node.tensor(states + i);
      const auto rank = static_cast<int64_t>(shapeOf(x).size());
      const int64_t axis = node.axisOf(listed("scan_input_axes", i), rank);
      if (!ops.fault.empty())
        return false;
      Shape order{axis};
      for (int64_t d = 0; d < rank; ++d)
        if (d != axis)
          order.push_back(d);
      x = ops.transpose(x, order);
      if (listed("scan_input_directions", i) != 0)
        x = ops.reverse(x, 0);
      if (!ops.fault.empty())
        return false;
      if (i > 0 && shapeOf(x)[0] != length)
        return node.fail("sequences of different lengths"), false;
      length = shapeOf(x)[0];
      sequences.push_back(x);
    }
    for (size_t i = 0; i < states; ++i)
      initial.push_back(node.tensor(i));
    if (!ops.fault.empty())
      return false;
    // The batch: the first dimension of everything, if that is one size.
    batch = shapeOf(sequences[0]).size() > 1 ? shapeOf(sequences[0])[1] : 0;
    for (mlir::Value x : sequences)
      if (shapeOf(x).size() < 2 || shapeOf(x)[1] != batch)
        batch = 0;
    for (mlir::Value x : initial)
      if (shapeOf(x).empty() || shapeOf(x)[0] != batch)
        batch = 0;
    return true;
  }

  /// The shape of a state or slice in the step.
  static Shape inStep(ArrayRef<int64_t> shape, bool ofOne) {
    Shape own(shape);
    if (ofOne)
      own[0] = 1;
    return own;
  }

  /// A step for one of `sequencesOfStep` sequences; 0: for all of them. False when it is not one.
  bool writeStep(int64_t sequencesOfStep) {
    const bool ofOne = sequencesOfStep > 0;
    const int64_t rows = ofOne ? sequencesOfStep : 1;
    Body body;
    body.block = new Block();
    body.outside = ops.builder.saveInsertionPoint();
    SmallVector<mlir::Value> arguments;
    for (mlir::Value x : initial)
      arguments.push_back(
          body.block->addArgument(ops.type(inStep(shapeOf(x), ofOne)), ops.location));
    for (mlir::Value x : sequences)
      arguments.push_back(
          body.block->addArgument(ops.type(inStep(shapeOf(x).drop_front(), ofOne)), ops.location));
    ops.builder.setInsertionPointToEnd(body.block);
    to.body = &body, to.ofOneSequence = ofOne ? batch : 0;
    to.pushScope();
    for (auto [i, argument] : llvm::enumerate(arguments))
      to.define(graph.input(static_cast<int>(i)).name(), to.valueOf(argument, DataType::F32));
    SmallVector<mlir::Value> yielded, results;
    bool whole = true;
    to.convert(graph, [&](size_t i, const Value &value) {
      if (value.isPoison || value.isIds()) {
        whole = false;
        return;
      }
      (i < states ? yielded : results).push_back(to.numbers(value));
    });
    to.popScope();
    whole &= ops.fault.empty() && yielded.size() == states && !to.failsForOne;
    for (size_t i = 0; whole && i < states; ++i)
      whole &= yielded[i].getType() == arguments[i].getType();
    for (mlir::Value result : results)
      whole &= !ofOne || (!shapeOf(result).empty() && shapeOf(result)[0] == 1);
    SmallVector<Shape> resultShapes;
    SmallVector<mlir::Value> lines;
    if (whole) {
      for (mlir::Value result : results) {
        resultShapes.push_back(Shape(shapeOf(result)));
        lines.push_back(ops.reshape(result, {countOf(shapeOf(result))}));
      }
      if (lines.empty())
        lines.push_back(ops.constant(0, {1}));
      yielded.push_back(ops.concat(lines, 0));
      YieldOp::create(ops.builder, ops.location, yielded);
    }
    to.body = nullptr, to.ofOneSequence = 0;
    ops.builder.restoreInsertionPoint(body.outside);
    if (!whole) {
      delete body.block;
      if (ofOne)
        ops.fault.clear();
      else
        ops.fail("its body cannot be a step of a recurrence");
      return false;
    }
    finish(body, rows, ofOne, resultShapes, yielded.back());
    return true;
  }

  void finish(Body &body, int64_t rows, bool ofOne, ArrayRef<Shape> resultShapes,
              mlir::Value line) {
    const int64_t size = countOf(shapeOf(line));
    SmallVector<mlir::Value, 2> inputs, before;
    for (mlir::Value x : sequences) { // [L, B, ...] -> [B, L, 1, ...], or [1, L, B, ...]
      Shape shape{rows, length};
      llvm::append_range(shape, inStep(shapeOf(x).drop_front(), ofOne));
      Shape order;
      for (int64_t d = 0; d < static_cast<int64_t>(shapeOf(x).size()); ++d)
        order.push_back(d);
      if (ofOne)
        std::swap(order[0], order[1]);
      inputs.push_back(ops.reshape(ops.transpose(x, order), shape));
    }
    for (mlir::Value x : initial)
      before.push_back(ops.reshape(x, {rows, countOf(shapeOf(x)) / rows}));
    SmallVector<NamedAttribute> attributes;
    const bool givesStates = states > 0;
    if (givesStates) {
      attributes.push_back(ops.attribute("return_state", ops.builder.getUnitAttr()));
      before = {ops.concat(before, 1)};
    }
    auto made = ops.add(RecurrenceOp::getOperationName(), {inputs, body.invariants, {}, before},
                        attributes, givesStates ? 2 : 1, body.block);
    if (!ops.fault.empty())
      return;
    int64_t start = 0;
    for (size_t i = 0; i < states; ++i) {
      const int64_t count = countOf(shapeOf(initial[i])) / rows;
      node.give(i, to.valueOf(ops.reshape(ops.part(made[1], 1, start, count), shapeOf(initial[i])),
                              DataType::F32));
      start += count;
    }
    mlir::Value all = ops.reshape(made[0], {rows, length, size});
    start = 0;
    for (auto [i, shape] : llvm::enumerate(resultShapes)) {
      const int64_t count = countOf(shape);
      mlir::Value part = ops.part(all, 2, start, count);
      start += count;
      // [B, L, 1, ...] -> [L, B, ...].
      Shape stacked{rows, length}, order{1, 0};
      stacked.append(shape.begin() + (ofOne ? 1 : 0), shape.end());
      part = ops.reshape(part, stacked);
      for (size_t d = 2; d < stacked.size(); ++d)
        order.push_back(static_cast<int64_t>(d));
      part = ops.transpose(part, order);
      if (!ofOne) { // the one row that there is
        Shape joined{length};
        llvm::append_range(joined, shape);
        part = ops.reshape(part, joined);
      }
      if (listed("scan_output_directions", i) != 0)
        part = ops.reverse(part, 0);
      const auto rank = static_cast<int64_t>(shapeOf(part).size());
      const int64_t axis = node.axisOf(listed("scan_output_axes", i), rank);
      if (axis != 0) {
        Shape moved;
        for (int64_t d = 1; d < rank; ++d)
          moved.push_back(d);
        moved.insert(moved.begin() + axis, 0);
        part = ops.transpose(part, moved);
      }
      node.give(states + i, to.valueOf(part, DataType::F32));
    }
  }

  const Node &node;
  Importer &to;
  Ops &ops;
  const GraphProto &graph;
  const size_t slices, states;
  SmallVector<mlir::Value> sequences, initial;
  int64_t length = 0, batch = 0;
};

void convertScan(const Node &node) {
  const GraphProto *graph = node.graph("body");
  if (!graph)
    return node.fail("has no body");
  ScanWriter(node, *graph).write();
}

/// Heads that are read by several, repeated: [B, T, H*D] -> [B, T, heads*D].
mlir::Value forHeads(Ops &ops, mlir::Value x, int64_t has, int64_t heads) {
  if (has == heads)
    return x;
  const Shape shape(shapeOf(x));
  const int64_t size = shape[2] / has;
  return ops.reshape(ops.broadcast(ops.reshape(x, {shape[0], shape[1], has, 1, size}),
                                   {shape[0], shape[1], has, heads / has, size}),
                     {shape[0], shape[1], heads * size});
}

void convertLinearAttention(const Node &node) {
  Ops &ops = node.to.ops;
  const int64_t heads = node.integer("q_num_heads", 0), own = node.integer("kv_num_heads", 0);
  const std::string rule = node.text("update_rule", "gated_delta");
  const bool gated = rule == "gated" || rule == "gated_delta",
             delta = rule == "delta" || rule == "gated_delta";
  if (heads < 1 || own < 1 || heads % own != 0 || (rule != "linear" && !gated && !delta))
    return node.fail("update_rule '" + rule + "' with " + Twine(heads) + " heads of " + Twine(own));
  for (size_t i = 0; i < 3; ++i)
    if (node.in(i).rank() != 3)
      return node.fail("input " + Twine(i) + " is " + shapeText(node.in(i).shape));
  for (size_t i : {4, 5})
    if ((i == 4 ? gated : delta) && node.in(i).rank() != 3)
      return node.fail(Twine(i == 4 ? "decay" : "beta") +
                       " must be [batch, length, heads] or more");
  const Shape shape(node.in(0).shape);
  if (node.in(1).shape[2] % own != 0 || heads != own)
    return node.fail("expected as many heads of keys as of queries");
  const int64_t size = node.in(1).shape[2] / heads;
  double scale = node.number("scale", 0);
  scale = scale == 0 ? 1 / std::sqrt(static_cast<double>(size)) : scale;
  mlir::Value q = node.tensor(0), k = node.tensor(1), v = node.tensor(2), decay;
  SmallVector<mlir::Value, 2> decays, state;
  if (gated)
    decays.push_back(decay = node.tensor(4));
  if (node.has(3))
    state.push_back(node.tensor(3));
  SmallVector<NamedAttribute> attributes{ops.integer("heads", heads), ops.number("scale", scale)};
  if (node.gives(1))
    attributes.push_back(ops.attribute("return_state", ops.builder.getUnitAttr()));
  const size_t wanted = node.gives(1) ? 2 : 1;
  SmallVector<mlir::Value> results;
  if (delta) {
    // Keys are written by beta and read as they are, behind the decay.
    mlir::Value beta = node.tensor(5);
    if (shapeOf(beta).size() != 3 || heads % std::max<int64_t>(1, lastSize(beta)) != 0)
      return node.fail("beta is " + shapeText(shapeOf(beta)));
    beta = forHeads(ops, beta, lastSize(beta), heads);
    auto spread = [&](mlir::Value x) { // a number a head, or a channel
      if (lastSize(x) == heads * size)
        return x;
      return ops.reshape(ops.broadcast(ops.reshape(x, {shape[0], shape[1], heads, 1}),
                                       {shape[0], shape[1], heads, size}),
                         {shape[0], shape[1], heads * size});
    };
    mlir::Value written = ops.binary(BinaryKind::Mul, k, spread(beta)), read = k;
    if (gated)
      read = ops.binary(BinaryKind::Mul, k, spread(ops.unary(UnaryKind::Exp, decay)));
    results = ops.add(DeltaRuleOp::getOperationName(),
                      {{q}, {written}, {v}, {read}, {}, decays, {}, state}, attributes, wanted);
  } else {
    results = ops.add(LinearScanOp::getOperationName(), {{q}, {k}, {v}, decays, {}, state},
                      attributes, wanted);
  }
  node.give(results[0]);
  if (wanted == 2)
    node.give(1, results[1]);
}

} // namespace

void addRecurrences(Importer &to) {
  to.add("Scan", convertScan);
  to.add("LinearAttention", convertLinearAttention);
}

} // namespace hybrid::onnx::frontend
