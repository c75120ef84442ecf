//===- SoftmaxAttention.cpp - attention as products and a softmax ---------------===//
#include "codegen/onnx/Conversion.h"
#include "dialect/Shapes.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace hybrid::onnx {
namespace {

class Attention {
public:
  Attention(AttentionOp op, Conversion &to)
      : op(op), to(to), graph(to.graph), batch(shapeOf(op.getQ())[0]),
        length(shapeOf(op.getQ())[1]), heads(static_cast<int64_t>(op.getHeads())),
        kvHeads(static_cast<int64_t>(op.getKvHeads())) {}

  LogicalResult convert() {
    Tensor k = behind(op.getPastK(), op.getK()), v = behind(op.getPastV(), op.getV());
    keys = k.shape[1];
    Tensor q = rotated(split(to.of(op.getQ()), heads), keys - length, false);
    k = rotated(split(k, kvHeads), 0, true);
    if (isOperator()) {
      defineResult(operatorOf(q, k, split(v, kvHeads)));
      return success();
    }
    Tensor product = graph.matmul(q, graph.transpose(forAllHeads(k), {0, 1, 3, 2}));
    Formula score = to.formula(product) * op.getSoftmaxScale();
    if (!op.getScore().empty()) {
      FailureOr<SmallVector<Tensor>> own = to.inlined(op.getScore().front(), arguments(score));
      if (failed(own))
        return failure();
      score = to.formula(graph.expand(own->front(), product.shape));
    }
    Tensor logits = score;
    if (Tensor seen = mask(); !seen.name.empty())
      logits = graph.where(seen, logits, graph.constant(-std::numeric_limits<double>::infinity()));
    Tensor weights =
        graph.node("Softmax", logits, logits.shape, logits.element, {{"axis", logits.rank() - 1}});
    Tensor values = graph.matmul(weights, forAllHeads(split(v, kvHeads)));
    defineResult(values);
    if (!op.getLse().use_empty())
      to.define(op.getLse(), graph.reduce("ReduceLogSumExp", logits, {3}, false));
    return success();
  }

private:
  /// Of [B, heads, L, size].
  void defineResult(const Tensor &values) {
    to.define(op.getResult(),
              graph.reshape(graph.transpose(values, {0, 2, 1, 3}), shapeOf(op.getResult())));
  }

  /// Whether it has the form of ONNX's Attention, which takes a scale of 0 for the default.
  bool isOperator() {
    return to.hasLayerOperators() && op.getScore().empty() && op.getLse().use_empty() &&
           op.getSoftmaxScale() != 0;
  }

  Tensor operatorOf(const Tensor &q, const Tensor &k, const Tensor &v) {
    const bool isCausal = op.getCausal() && op.getWindow() < 0 && keys == length &&
                          !op.getSegments(); // of all that came before, and nothing else
    SmallVector<Tensor> inputs{q, k, v};
    if (Tensor seen = isCausal ? Tensor() : mask(); !seen.name.empty())
      inputs.push_back(seen);
    return graph.node(
        "Attention", inputs, {batch, heads, length, v.shape[3]}, q.element,
        {{"is_causal", int64_t(isCausal)}, {"scale", static_cast<float>(op.getSoftmaxScale())}});
  }

  Tensor behind(Value past, Value own) {
    return past ? graph.concat({to.of(past), to.of(own)}, 1) : to.of(own);
  }

  /// [B, L, heads * size] -> [B, heads, L, size].
  Tensor split(const Tensor &x, int64_t count) {
    return graph.transpose(graph.reshape(x, {batch, x.shape[1], count, x.shape[2] / count}),
                           {0, 2, 1, 3});
  }

  /// Each of keys' heads, once for each head of queries that looks at it.
  Tensor forAllHeads(const Tensor &x) {
    if (heads == kvHeads)
      return x;
    const int64_t group = heads / kvHeads, positions = x.shape[2], size = x.shape[3];
    Tensor each = graph.reshape(x, {batch, kvHeads, 1, positions, size});
    return graph.reshape(graph.expand(each, {batch, kvHeads, group, positions, size}),
                         {batch, heads, positions, size});
  }

  /// The first dimensions turned by their positions, which start at `first`; with xPos' scales,
  /// those of keys upside down.
  Tensor rotated(const Tensor &x, int64_t first, bool ofKeys) {
    const auto dims = static_cast<int64_t>(op.getRotaryDims());
    if (dims == 0)
      return x;
    const int64_t positions = x.shape[2], half = dims / 2;
    const double logBase = std::log(op.getRotaryBase().convertToDouble()),
                 xpos = op.getXposBase().convertToDouble(), width = static_cast<double>(dims);
    SmallVector<double> cosines, sines;
    for (int64_t position = first; position < first + positions; ++position)
      for (int64_t i = 0; i < half; ++i) {
        const auto pair = static_cast<double>(i);
        const double angle = static_cast<double>(position) * std::exp(-2 * pair / width * logBase);
        double scale = 1;
        if (xpos > 0) // Sun et al. 2022: zeta to the power of the distance from the middle
          scale = std::pow((2 * pair + 0.4 * width) / (1.4 * width),
                           static_cast<double>(position - keys / 2) / xpos);
        scale = ofKeys ? 1 / scale : scale;
        cosines.push_back(std::cos(angle) * scale);
        sines.push_back(std::sin(angle) * scale);
      }
    const bool apart = op.getRotaryInterleaved();
    if (to.hasLayerOperators()) {
      auto ids = llvm::to_vector(llvm::seq<int64_t>(0, positions));
      return graph.node("RotaryEmbedding",
                        {x, graph.constant({positions, half}, cosines),
                         graph.constant({positions, half}, sines),
                         graph.expand(graph.integers(ids), {batch, positions})},
                        x.shape, x.element,
                        {{"interleaved", int64_t(apart)},
                         {"rotary_embedding_dim", dims},
                         {"num_heads", x.shape[1]}});
    }
    // A pair is two halves, or two neighbours: a dimension of its own in either case.
    const int64_t axis = apart ? 4 : 3, count = x.shape[1];
    Tensor pairs = graph.slice(x, 3, 0, dims);
    pairs = apart ? graph.reshape(pairs, {batch, count, positions, half, 2})
                  : graph.reshape(pairs, {batch, count, positions, 2, half});
    SmallVector<int64_t> tableShape =
        apart ? SmallVector<int64_t>{positions, half, 1} : SmallVector<int64_t>{positions, 1, half};
    Formula a = to.formula(graph.slice(pairs, axis, 0, 1)),
            b = to.formula(graph.slice(pairs, axis, 1, 1)),
            cosine = to.formula(graph.constant(tableShape, cosines)),
            sine = to.formula(graph.constant(tableShape, sines));
    Formula turnedA = a * cosine - b * sine, turnedB = b * cosine + a * sine;
    Tensor turned = graph.reshape(graph.concat({turnedA.value, turnedB.value}, axis),
                                  {batch, count, positions, dims});
    if (dims == x.shape[3])
      return turned;
    return graph.concat({turned, graph.slice(x, 3, dims, x.shape[3] - dims)}, 3);
  }

  /// What the function of the score takes, as tensors that broadcast to [B, heads, L, S].
  SmallVector<Tensor> arguments(const Tensor &product) {
    auto numbers = [&](int64_t first, int64_t count, ArrayRef<int64_t> shape) {
      SmallVector<double> values;
      for (int64_t i = first; i < first + count; ++i)
        values.push_back(static_cast<double>(i));
      return graph.constant(shape, values);
    };
    SmallVector<Tensor> all{product, numbers(keys - length, length, {length, 1}),
                            numbers(0, keys, {keys}), numbers(0, heads, {heads, 1, 1})};
    auto addTerms = [&](Value terms, ArrayRef<int64_t> shape) {
      if (terms)
        for (int64_t term = 0; term < shapeOf(terms)[1]; ++term)
          all.push_back(graph.reshape(graph.slice(to.of(terms), 1, term, 1), shape));
    };
    addTerms(op.getQueryTerms(), {batch, heads, length, 1});
    addTerms(op.getKeyTerms(), {batch, heads, 1, keys});
    return all;
  }

  /// Which keys a query sees, or nothing where it sees all. A window without causality looks both
  /// ways.
  Tensor mask() {
    const auto window = static_cast<int64_t>(op.getWindow());
    SmallVector<int64_t> sees;
    for (int64_t t = keys - length; t < keys; ++t)
      for (int64_t s = 0; s < keys; ++s)
        sees.push_back((!op.getCausal() || s <= t) && (window < 0 || std::abs(s - t) <= window));
    Tensor seen;
    if (llvm::is_contained(sees, 0))
      seen = graph.cast(graph.reshape(graph.integers(sees, Element::I32), {length, keys}),
                        Element::Bool);
    if (!op.getSegments())
      return seen;
    const Tensor &ids = to.of(op.getSegments());
    Tensor same = graph.compare("Equal", graph.reshape(ids, {batch, 1, length, 1}),
                                graph.reshape(ids, {batch, 1, 1, length}));
    if (seen.name.empty())
      return same;
    return graph.node("And", {seen, same}, same.shape, Element::Bool);
  }

  AttentionOp op;
  Conversion &to;
  GraphBuilder &graph;
  const int64_t batch, length, heads, kvHeads;
  int64_t keys = 0;
};

} // namespace

void addAttention(Conversion &to) {
  to.add<AttentionOp>(+[](AttentionOp op, Conversion &to) { return Attention(op, to).convert(); });
}

} // namespace hybrid::onnx
