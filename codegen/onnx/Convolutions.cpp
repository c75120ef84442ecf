//===- Convolutions.cpp - short and long convolutions, filters, transforms ------===//
#include "codegen/onnx/Conversion.h"
#include "dialect/Shapes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace hybrid::onnx {

//===-- the short one ----------------------------------------------------------------===//

/// Tap by tap, where positions of other segments are left out.
static Tensor packedShortConv(ShortConvOp op, const Tensor &x, Conversion &to) {
  GraphBuilder &graph = to.graph;
  const Tensor &weight = to.of(op.getWeight()), &ids = to.of(op.getSegments());
  const int64_t length = x.shape[1], channels = x.shape[2], taps = weight.shape[1];
  std::optional<Formula> sum;
  for (int64_t lag = 0; lag < std::min(taps, length); ++lag) {
    Formula tap = to.formula(graph.reshape(graph.slice(weight, 1, taps - 1 - lag, 1), {channels}));
    const int64_t kept = length - lag;
    Formula part = to.formula(graph.slice(x, 1, 0, kept)) * tap;
    if (lag > 0) {
      Tensor same =
          graph.compare("Equal", graph.slice(ids, 1, 0, kept), graph.slice(ids, 1, lag, kept));
      part =
          select(to.formula(graph.reshape(same, {ids.shape[0], kept, 1})), part, part.constant(0));
      part = to.formula(graph.concat({graph.full(0, {x.shape[0], lag, channels}), part.value}, 1));
    }
    sum = sum ? *sum + part : part;
  }
  return op.getBias() ? (*sum + to.formula(op.getBias())).value : sum->value;
}

/// As CausalConvWithState, which has the channels before the positions in states, too.
static LogicalResult convertShortConvWithState(ShortConvOp op, Conversion &to) {
  GraphBuilder &graph = to.graph;
  const Tensor &x = to.of(op.getX()), &weight = to.of(op.getWeight());
  const int64_t channels = weight.shape[0], taps = weight.shape[1];
  SmallVector<Tensor> inputs{graph.transpose(x, {0, 2, 1}),
                             graph.reshape(weight, {channels, 1, taps}), to.optional(op.getBias())};
  if (op.getInitialState())
    inputs.push_back(graph.transpose(to.of(op.getInitialState()), {0, 2, 1}));
  SmallVector<Tensor> results{{"", {x.shape[0], channels, x.shape[1]}, x.element},
                              {"", {x.shape[0], channels, taps - 1}, x.element}};
  graph.node("CausalConvWithState", inputs, results);
  to.define(op.getResult(), graph.transpose(results[0], {0, 2, 1}));
  if (op.getReturnState())
    to.define(op.getFinalState(), graph.transpose(results[1], {0, 2, 1}));
  return success();
}

static LogicalResult convertShortConv(ShortConvOp op, Conversion &to) {
  GraphBuilder &graph = to.graph;
  if (to.hasLayerOperators() && !op.getSegments() && shapeOf(op.getWeight())[1] > 1)
    return convertShortConvWithState(op, to);
  const Tensor &x = to.of(op.getX()), &weight = to.of(op.getWeight());
  const int64_t channels = weight.shape[0], taps = weight.shape[1];
  Tensor whole = x; // with what came before it, where that is known
  if (op.getInitialState())
    whole = graph.concat({to.of(op.getInitialState()), x}, 1);
  else if (op.getReturnState())
    whole = graph.concat({graph.full(0, {x.shape[0], taps - 1, channels}), x}, 1);
  if (op.getReturnState())
    to.define(op.getFinalState(), graph.slice(whole, 1, whole.shape[1] - (taps - 1), taps - 1));
  if (op.getSegments()) {
    if (op.getInitialState())
      return op.emitError() << "packed segments with an initial state have no form in ONNX here";
    to.define(op.getResult(), packedShortConv(op, x, to));
    return success();
  }
  const int64_t zeros = x.shape[1] + taps - 1 - whole.shape[1];
  SmallVector<Tensor> inputs{graph.transpose(whole, {0, 2, 1}),
                             graph.reshape(weight, {channels, 1, taps})};
  if (op.getBias())
    inputs.push_back(to.of(op.getBias()));
  Tensor y = graph.node("Conv", inputs, {x.shape[0], channels, x.shape[1]}, x.element,
                        {{"group", channels}, {"pads", SmallVector<int64_t>{zeros, 0}}});
  to.define(op.getResult(), graph.transpose(y, {0, 2, 1}));
  return success();
}

//===-- transforms --------------------------------------------------------------------===//

/// The spectra of real columns along `axis`, of `size` positions: [..., size/2 + 1, ..., 2].
static Tensor spectrum(const Tensor &x, int64_t axis, int64_t size, GraphBuilder &graph) {
  SmallVector<int64_t> shape = x.shape;
  shape.push_back(1);
  Tensor real = graph.reshape(x, shape);
  shape[axis] = size / 2 + 1, shape.back() = 2;
  return graph.node("DFT", {real, graph.integer(size), graph.integer(axis)}, shape, x.element,
                    {{"onesided", int64_t(1)}});
}

/// The columns of such spectra.
static Tensor columns(const Tensor &x, int64_t axis, int64_t size, GraphBuilder &graph) {
  SmallVector<int64_t> shape = x.shape;
  shape[axis] = size, shape.back() = 1;
  Tensor real = graph.node("DFT", {x, graph.integer(size), graph.integer(axis)}, shape, x.element,
                           {{"inverse", int64_t(1)}, {"onesided", int64_t(1)}});
  shape.pop_back();
  return graph.reshape(real, shape);
}

static Tensor complexProduct(const Tensor &a, const Tensor &b, GraphBuilder &graph) {
  auto part = [&](const Tensor &x, int64_t i) {
    return Formula(graph, graph.slice(x, x.rank() - 1, i, 1));
  };
  Formula aRe = part(a, 0), aIm = part(a, 1), bRe = part(b, 0), bIm = part(b, 1);
  Formula re = aRe * bRe - aIm * bIm, im = aRe * bIm + aIm * bRe;
  return graph.concat({re.value, im.value}, re.value.rank() - 1);
}

/// c_k/N of the bins, [N/2 + 1, 1]: how often a bin of half a spectrum is in the whole one.
static SmallVector<double> binWeights(int64_t size) {
  SmallVector<double> weights;
  for (int64_t bin = 0; bin <= size / 2; ++bin)
    weights.push_back((bin == 0 || 2 * bin == size ? 1.0 : 2.0) / static_cast<double>(size));
  return weights;
}

static LogicalResult convertRfft(RfftOp op, Conversion &to) {
  const Tensor &x = to.of(op.getX());
  const int64_t size = x.shape[0], bins = size / 2 + 1;
  Formula all = to.formula(spectrum(x, 0, size, to.graph));
  if (op.getWeighted())
    all = all * to.formula(to.graph.constant({bins, 1, 1}, binWeights(size)));
  for (auto [part, result] : llvm::enumerate(op.getResults()))
    to.define(result, to.graph.reshape(to.graph.slice(all, 2, static_cast<int64_t>(part), 1),
                                       shapeOf(result)));
  return success();
}

static LogicalResult convertIrfft(IrfftOp op, Conversion &to) {
  const auto size = static_cast<int64_t>(op.getLength()), bins = size / 2 + 1;
  SmallVector<double> ofReal(bins, 1), ofImaginary(bins, 1); // DFT weights with c_k/N itself
  if (!op.getWeighted())
    for (auto [bin, weight] : llvm::enumerate(binWeights(size)))
      ofReal[bin] = ofImaginary[bin] = 1 / weight;
  ofImaginary[0] = 0;
  if (size % 2 == 0)
    ofImaginary[bins - 1] = 0;
  auto part = [&](Value value, ArrayRef<double> weights) {
    Formula weighted = to.formula(value) * to.formula(to.graph.constant({bins, 1}, weights));
    return to.graph.reshape(weighted, {bins, shapeOf(value)[1], 1});
  };
  Tensor both = to.graph.concat({part(op.getRe(), ofReal), part(op.getIm(), ofImaginary)}, 2);
  to.define(op.getResult(), columns(both, 0, size, to.graph));
  return success();
}

//===-- the long one ------------------------------------------------------------------===//

/// As a product of spectra, zeros behind both so that nothing comes round from the end.
static LogicalResult convertFFTConv(FFTConvOp op, Conversion &to) {
  if (op.getSegments())
    return op.emitError() << "packed segments in a long convolution have no form in ONNX here";
  GraphBuilder &graph = to.graph;
  Formula w = to.formula(op.getX());
  if (op.getGateIn())
    w = w * to.formula(op.getGateIn());
  const int64_t length = w.value.shape[1];
  Tensor whole = w;
  if (op.getInitialState())
    whole = graph.concat({to.of(op.getInitialState()), w}, 1);
  if (op.getReturnState())
    to.define(op.getFinalState(), whole);
  const Tensor &filter = to.of(op.getFilter());
  const int64_t positions = whole.shape[1], taps = filter.shape[0];
  const auto size = static_cast<int64_t>(
      llvm::PowerOf2Ceil(static_cast<uint64_t>(std::max<int64_t>(2, positions + taps - 1))));
  Tensor product = complexProduct(
      spectrum(whole, 1, size, graph),
      graph.reshape(spectrum(filter, 0, size, graph), {1, size / 2 + 1, filter.shape[1], 2}),
      graph);
  Formula y =
      to.formula(graph.slice(columns(product, 1, size, graph), 1, positions - length, length));
  if (op.getSkip())
    y = y + to.formula(op.getSkip()) * w;
  if (op.getGateOut())
    y = y * to.formula(op.getGateOut());
  to.define(op.getResult(), y);
  return success();
}

/// Each oscillation at each position, summed: it depends on weights alone, and a runtime computes
/// it once, as it loads them.
static LogicalResult convertModalFilter(ModalFilterOp op, Conversion &to) {
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  SmallVector<double> positions;
  for (int64_t t = 0; t < shape[0]; ++t)
    positions.push_back(static_cast<double>(t));
  Formula t = to.formula(to.graph.constant({shape[0], 1, 1}, positions));
  Formula angle = to.formula(op.getAngle()) * t;
  Formula wave = to.formula(op.getRe()) * cos(angle) - to.formula(op.getIm()) * sin(angle);
  Formula damped = exp(to.formula(op.getLogDecay()) * t) * wave;
  to.define(op.getResult(), to.graph.reduce("ReduceSum", damped, {1}, false));
  return success();
}

void addConvolutions(Conversion &to) {
  to.add<ShortConvOp>(convertShortConv);
  to.add<RfftOp>(convertRfft);
  to.add<IrfftOp>(convertIrfft);
  to.add<FFTConvOp>(convertFFTConv);
  to.add<ModalFilterOp>(convertModalFilter);
}

} // namespace hybrid::onnx
