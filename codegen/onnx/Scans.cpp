//===- Scans.cpp - recurrences, a step at a time ---------------------------------===//
//
// Each is a Scan over the first dimension, which every runtime has. What does not depend on the
// state is computed for all positions before.
//
//===----------------------------------------------------------------------===//
#include "codegen/onnx/LinearAttention.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid::onnx {
namespace {

/// A scan over the positions of tensors [B, L, ...].
class TimeScan {
public:
  TimeScan(Conversion &to, int64_t batch, int64_t length) : to(to), batch(batch), length(length) {}

  /// Adds x with its channels as `inner` dimensions. Gives its number among the slices.
  size_t over(const Tensor &x, ArrayRef<int64_t> inner) {
    SmallVector<int64_t> shape{batch, length}, order{1, 0};
    for (int64_t size : inner) {
      shape.push_back(size);
      order.push_back(static_cast<int64_t>(order.size()));
    }
    sequences.push_back(to.graph.transpose(to.graph.reshape(x, shape), order));
    return sequences.size() - 1;
  }

  /// The state starts anew where an id of `segments` changes.
  void restartAt(Value segments, int64_t stateRank) {
    if (!segments)
      return;
    starts = over(to.segmentStarts(segments), SmallVector<int64_t>(stateRank - 1, 1));
  }

  /// Runs the steps; `result` becomes of the one result of each, [B, ...], and `last` of the state.
  void run(const Tensor &initial,
           llvm::function_ref<std::pair<Formula, Formula>(Formula state,
                                                          llvm::function_ref<Formula(size_t)>)>
               step,
           Value result, Value last) {
    auto [states, results] =
        to.graph.scan(initial, sequences, [&](ArrayRef<Tensor> states, ArrayRef<Tensor> slices) {
          auto slice = [&](size_t i) { return to.formula(slices[i]); };
          Formula state = to.formula(states.front());
          if (starts)
            state = select(slice(*starts), 0.0, state);
          auto [next, y] = step(state, slice);
          return ScanStep{{next.value}, {y.value}};
        });
    SmallVector<int64_t> order{1, 0};
    for (int64_t i = 2; i < results.front().rank(); ++i)
      order.push_back(i);
    to.define(result,
              to.graph.reshape(to.graph.transpose(results.front(), order), shapeOf(result)));
    if (last)
      to.define(last, states.front());
  }

private:
  Conversion &to;
  const int64_t batch, length;
  SmallVector<Tensor> sequences;
  std::optional<size_t> starts;
};

/// exp(decay) as it meets a state of [B, H, K, V]: a number a key channel or a head, at each
/// position or always.
struct Decay {
  std::optional<size_t> slice;
  std::optional<Formula> fixed;

  Decay(Value decay, int64_t heads, int64_t keySize, Conversion &to, TimeScan &scan) {
    if (!decay)
      return;
    Formula factor = exp(to.formula(decay));
    const bool ofKeys = lastSize(decay) == heads * keySize;
    const SmallVector<int64_t> inner{heads, ofKeys ? keySize : 1, 1};
    if (shapeOf(decay).size() == 3)
      slice = scan.over(factor, inner);
    else
      fixed = to.formula(to.graph.reshape(factor, inner));
  }

  Formula of(Formula state, llvm::function_ref<Formula(size_t)> slices) const {
    return slice ? slices(*slice) * state : fixed ? *fixed * state : state;
  }
};

Formula product(const Formula &a, const Formula &b) { return {*a.graph, a.graph->matmul(a, b)}; }

/// What reads the state, times the scale of what is read.
template <typename Op> Formula scaledQuery(Op op, Conversion &to) {
  Formula q = to.formula(op.getQ());
  const double scale = op.getScale().convertToDouble();
  return scale == 1 ? q : q * scale;
}

template <typename Op> Tensor initialState(Op op, ArrayRef<int64_t> shape, Conversion &to) {
  return op.getInitialState() ? to.of(op.getInitialState()) : to.graph.full(0, shape);
}

LogicalResult convertLinearScan(LinearScanOp op, Conversion &to) {
  if (convertAsLinearAttention(op, to))
    return success();
  ArrayRef<int64_t> shape = shapeOf(op.getQ());
  const auto heads = static_cast<int64_t>(op.getHeads());
  const int64_t keySize = op.getKeySize(), valueSize = op.getValueSize();
  TimeScan scan(to, shape[0], shape[1]);
  const size_t q = scan.over(scaledQuery(op, to), {heads, 1, keySize}),
               k = scan.over(to.of(op.getK()), {heads, keySize, 1}),
               v = scan.over(to.of(op.getV()), {heads, 1, valueSize});
  Decay decay(op.getDecay(), heads, keySize, to, scan);
  scan.restartAt(op.getSegments(), 4);
  scan.run(
      initialState(op, {shape[0], heads, keySize, valueSize}, to),
      [&](Formula state, llvm::function_ref<Formula(size_t)> slice) {
        Formula next = decay.of(state, slice) + slice(k) * slice(v);
        return std::pair(next, product(slice(q), op.getExclusive() ? state : next));
      },
      op.getResult(), op.getFinalState());
  return success();
}

LogicalResult convertDeltaRule(DeltaRuleOp op, Conversion &to) {
  if (convertAsLinearAttention(op, to))
    return success();
  ArrayRef<int64_t> shape = shapeOf(op.getQ());
  const auto heads = static_cast<int64_t>(op.getHeads()),
             steps = static_cast<int64_t>(op.getSteps());
  const int64_t keySize = op.getKeySize(), valueSize = op.getValueSize();
  TimeScan scan(to, shape[0], shape[1]);
  const size_t q = scan.over(scaledQuery(op, to), {heads, 1, keySize}),
               k = scan.over(to.of(op.getK()), {steps, heads, keySize, 1}),
               v = scan.over(to.of(op.getV()), {steps, heads, 1, valueSize}),
               a = scan.over(to.of(op.getA()), {steps, heads, 1, keySize});
  std::optional<size_t> b;
  if (op.getB())
    b = scan.over(to.of(op.getB()), {steps, heads, keySize, 1});
  Decay decay(op.getDecay(), heads, keySize, to, scan);
  scan.restartAt(op.getSegments(), 4);
  scan.run(
      initialState(op, {shape[0], heads, keySize, valueSize}, to),
      [&](Formula state, llvm::function_ref<Formula(size_t)> slice) {
        auto ofStep = [&](size_t which, int64_t step) {
          Tensor part = to.graph.slice(slice(which), 1, step, 1);
          SmallVector<int64_t> inner(part.shape);
          inner.erase(inner.begin() + 1);
          return to.formula(to.graph.reshape(part, inner));
        };
        for (int64_t step = 0; step < steps; ++step) {
          Formula read = product(ofStep(a, step), state), key = ofStep(k, step),
                  value = ofStep(v, step);
          Formula kept = step == 0 ? decay.of(state, slice) : state;
          state = b ? kept + ofStep(*b, step) * read + key * value : kept + key * (value - read);
        }
        return std::pair(state, product(slice(q), state));
      },
      op.getResult(), op.getFinalState());
  return success();
}

LogicalResult convertSelectiveScan(SelectiveScanOp op, Conversion &to) {
  ArrayRef<int64_t> shape = shapeOf(op.getX());
  const int64_t batch = shape[0], channels = shape[2], states = shapeOf(op.getA())[1];
  Formula x = to.formula(op.getX()), dt = to.formula(op.getDt()), a = to.formula(op.getA());
  if (op.getDtBias())
    dt = dt + to.formula(op.getDtBias());
  if (op.getDtSoftplus())
    dt = softplus(dt);
  TimeScan scan(to, batch, shape[1]);
  const size_t step = scan.over(dt, {channels, 1}), input = scan.over(dt * x, {channels, 1});
  auto map = [&](Value value) { // b or c: of each token, or always the same
    return shapeOf(value).size() == 3
               ? std::optional(scan.over(to.of(value), {lastSize(value) / states, states}))
               : std::nullopt;
  };
  const std::optional<size_t> b = map(op.getB()), c = map(op.getC());
  scan.restartAt(op.getSegments(), 3);
  scan.run(
      initialState(op, {batch, channels, states}, to),
      [&](Formula state, llvm::function_ref<Formula(size_t)> slice) {
        auto mapped = [&](std::optional<size_t> which, Value fixed) {
          if (!which)
            return to.formula(fixed);
          Formula groups = slice(*which); // [B, G, N]
          const int64_t count = groups.value.shape[1];
          if (count == 1)
            return groups;
          Tensor each = to.graph.reshape(groups, {batch, count, 1, states});
          return to.formula(
              to.graph.reshape(to.graph.expand(each, {batch, count, channels / count, states}),
                               {batch, channels, states}));
        };
        Formula next = exp(slice(step) * a) * state + slice(input) * mapped(b, op.getB());
        Formula y =
            to.formula(to.graph.reduce("ReduceSum", next * mapped(c, op.getC()), {2}, false));
        return std::pair(next, y);
      },
      op.getResult(), op.getFinalState());
  Formula y = to.formula(op.getResult());
  if (op.getSkip())
    y = y + to.formula(op.getSkip()) * x;
  if (op.getGate())
    y = y * silu(to.formula(op.getGate()));
  to.define(op.getResult(), y);
  return success();
}

} // namespace

void addScans(Conversion &to) {
  to.add<LinearScanOp>(convertLinearScan);
  to.add<DeltaRuleOp>(convertDeltaRule);
  to.add<SelectiveScanOp>(convertSelectiveScan);
}

} // namespace hybrid::onnx
