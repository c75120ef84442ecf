//===- Averages.cpp - averages of the past weighted by a softmax ----------------===//
//
// What came before the taps is one average with the log of its weight; the tokens that taps still
// look at are kept as they are. Sums of exponentials are taken from their largest.
//
//===----------------------------------------------------------------------===//
#include "codegen/onnx/Conversion.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid::onnx {
namespace {

/// Log weight of nothing, as hybrid.softmax_scan has it.
constexpr double nothing = -1e30;

/// Averages [B, R, H, W] with the logs of their weights, [B, R, H, 1].
struct Rows {
  Tensor values, weights;
};

class SoftmaxScan {
public:
  SoftmaxScan(SoftmaxScanOp op, Conversion &to)
      : op(op), to(to), graph(to.graph), batch(shapeOf(op.getV())[0]),
        length(shapeOf(op.getV())[1]), heads(lastSize(op.getK())),
        width(lastSize(op.getV()) / heads), taps(op.getTaps() ? shapeOf(op.getTaps())[0] : 0) {}

  LogicalResult convert() {
    if (op.getSegments())
      return op.emitError() << "packed segments in a softmax scan have no form in ONNX here";
    Rows start = initial();
    Tensor k = byTime(to.of(op.getK()), 1), v = byTime(to.of(op.getV()), width);
    auto [states, results] =
        graph.scan({start.values, start.weights}, {k, v},
                   [&](ArrayRef<Tensor> states, ArrayRef<Tensor> slices) {
                     return step({states[0], states[1]}, {slices[1], slices[0]});
                   });
    to.define(op.getResult(), byBatch(results[0], op.getResult()));
    to.define(op.getLse(), byBatch(results[1], op.getLse()));
    if (op.getFinalState()) {
      const int64_t rows = std::max<int64_t>(taps, 1);
      to.define(op.getFinalState(),
                graph.concat({graph.reshape(states[0], {batch, rows, heads * width}),
                              graph.reshape(states[1], {batch, rows, heads})},
                             2));
    }
    return success();
  }

private:
  Tensor byTime(const Tensor &x, int64_t size) {
    return graph.transpose(graph.reshape(x, {batch, length, 1, heads, size}), {1, 0, 2, 3, 4});
  }
  Tensor byBatch(const Tensor &x, Value like) {
    return graph.reshape(graph.transpose(x, {1, 0, 2, 3, 4}), shapeOf(like));
  }

  Rows initial() {
    const int64_t rows = std::max<int64_t>(taps, 1), channels = heads * width;
    if (!op.getInitialState())
      return {graph.full(0, {batch, rows, heads, width}),
              graph.full(nothing, {batch, rows, heads, 1})};
    const Tensor &state = to.of(op.getInitialState());
    return {graph.reshape(graph.slice(state, 2, 0, channels), {batch, rows, heads, width}),
            graph.reshape(graph.slice(state, 2, channels, heads), {batch, rows, heads, 1})};
  }

  /// All rows as one average.
  Rows merged(const Rows &rows) {
    Formula weights = to.formula(rows.weights),
            most = to.formula(graph.reduce("ReduceMax", rows.weights, {1}, true));
    Formula shares = exp(weights - most);
    Formula total = to.formula(graph.reduce("ReduceSum", shares, {1}, true));
    Formula sum =
        to.formula(graph.reduce("ReduceSum", shares * to.formula(rows.values), {1}, true));
    return {sum / total, most + log(total)};
  }

  Rows joined(const Rows &a, const Rows &b) {
    return {graph.concat({a.values, b.values}, 1), graph.concat({a.weights, b.weights}, 1)};
  }
  Rows part(const Rows &rows, int64_t first, int64_t count) {
    return {graph.slice(rows.values, 1, first, count), graph.slice(rows.weights, 1, first, count)};
  }

  /// A step older.
  Rows aged(const Rows &rows) {
    if (!op.getDecay())
      return rows;
    Formula decay = to.formula(graph.reshape(to.of(op.getDecay()), {heads, 1}));
    return {rows.values, to.formula(rows.weights) + decay};
  }

  ScanStep step(const Rows &before, const Rows &token) {
    if (taps == 0) {
      Rows all = merged(joined(before, token)), next = aged(all);
      return {{next.values, next.weights}, {all.values, all.weights}};
    }
    Rows tail = part(before, 0, 1), window = token;
    if (taps > 1)
      window = joined(part(before, 1, taps - 1), token);
    // The oldest of the window has the last tap.
    Formula bias =
        to.formula(graph.reshape(graph.reverse(to.of(op.getTaps()), 0), {1, taps, heads, 1}));
    Rows all = merged(joined(tail, {window.values, to.formula(window.weights) + bias}));
    Rows next = merged(joined(aged(tail), part(window, 0, 1)));
    if (taps > 1)
      next = joined(next, part(window, 1, taps - 1));
    return {{next.values, next.weights}, {all.values, all.weights}};
  }

  SoftmaxScanOp op;
  Conversion &to;
  GraphBuilder &graph;
  const int64_t batch, length, heads, width, taps;
};

} // namespace

void addSoftmaxScan(Conversion &to) {
  to.add<SoftmaxScanOp>(
      +[](SoftmaxScanOp op, Conversion &to) { return SoftmaxScan(op, to).convert(); });
}

} // namespace hybrid::onnx
