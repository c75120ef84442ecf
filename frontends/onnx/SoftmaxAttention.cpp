//===- SoftmaxAttention.cpp - attention, as an operator or written out ---------------===//
//
// Exporters write attention as products around a softmax. It is recognised from its end, the second
// product, and what it was made of is left without a use.
//
//===----------------------------------------------------------------------===//
#include "formats/onnx/Onnx.pb.h"
#include "frontends/onnx/Importer.h"
#include <cmath>

using namespace mlir;

namespace hybrid::onnx::frontend {
namespace {

/// What a masked score is below, added or in its place.
constexpr double hidden = -1e4;

/// Which keys are seen, as hybrid.attention says it.
struct Sight {
  bool causal = false;
  int64_t window = -1;
};

/// Whether so many queries and keys are few enough to look at each pair.
bool canCompare(int64_t length, int64_t keys) {
  const int64_t pairs = countOf({length, keys});
  return pairs >= 0 && pairs <= mostKnown;
}

/// The sight that a mask [L, S] is, where `sees` says it; nothing when it is another one.
std::optional<Sight> sightOf(int64_t length, int64_t keys,
                             llvm::function_ref<bool(int64_t, int64_t)> sees) {
  const int64_t offset = keys - length;
  if (offset < 0)
    return std::nullopt;
  Sight sight;
  int64_t past = 0, future = 0, unseen = keys; // how far back and ahead, and the nearest unseen
  for (int64_t t = 0; t < length; ++t)
    for (int64_t s = 0; s < keys; ++s) {
      const int64_t lag = t + offset - s;
      if (sees(t, s)) {
        past = std::max(past, lag), future = std::max(future, -lag);
      } else if (lag >= 0) {
        unseen = std::min(unseen, lag);
      }
    }
  sight.causal = future == 0;
  if (unseen < keys)
    sight.window = past;
  for (int64_t t = 0; t < length; ++t)
    for (int64_t s = 0; s < keys; ++s) {
      const int64_t lag = t + offset - s;
      const bool seen =
          (!sight.causal || lag >= 0) && (sight.window < 0 || std::abs(lag) <= sight.window);
      if (seen != sees(t, s))
        return std::nullopt;
    }
  return sight;
}

/// A mask over [..., L, S], of which all but the last two dimensions are 1.
std::optional<Sight> sightOf(const Known &mask, int64_t length, int64_t keys, bool isCondition,
                             bool hides) {
  const size_t rank = mask.shape.size();
  for (size_t d = 0; d + 2 < rank; ++d)
    if (mask.shape[d] != 1)
      return std::nullopt;
  if (!canCompare(length, keys) ||
      !broadcastShapes(ArrayRef(mask.shape).take_back(2), {length, keys}))
    return std::nullopt;
  bool isMask = true;
  Known flat = mask;
  flat.shape = Shape(ArrayRef(mask.shape).take_back(2));
  std::optional<Sight> sight = sightOf(length, keys, [&](int64_t t, int64_t s) {
    const double value = at(flat, {t, s});
    isMask &= isCondition || value == 0 || value <= hidden;
    return isCondition ? (value != 0) != hides : value == 0;
  });
  return isMask ? sight : std::nullopt;
}

/// Reads a graph backwards from a value.
class Pattern {
public:
  explicit Pattern(const Node &node) : node(node), to(node.to) {}

  /// `name` is what its node made, through what changes nothing.
  const NodeProto *maker(StringRef name) const {
    const Value *value = to.find(name);
    return value && value->tensor ? value->node : nullptr;
  }
  std::optional<double> scalar(StringRef name) const {
    const Value *value = to.find(name);
    KnownPtr known = value ? to.knownOf(*value) : nullptr;
    return known ? known->everywhere() : std::nullopt;
  }

  /// x without factors that are the same for all elements, which go to `scale`.
  std::string withoutScale(std::string name) {
    while (const NodeProto *made = maker(name)) {
      if (made->input_size() != 2 || (made->op_type() != "Mul" && made->op_type() != "Div"))
        break;
      const bool divides = made->op_type() == "Div";
      if (std::optional<double> factor = scalar(made->input(1))) {
        scale = divides ? scale / *factor : scale * *factor;
        name = made->input(0);
      } else if (auto first = scalar(made->input(0)); first && !divides) {
        scale *= *first;
        name = made->input(1);
      } else {
        break;
      }
    }
    return name;
  }

  /// The scores q kᵀ behind masks; false where this is something else.
  bool readScores(std::string name, int64_t length, int64_t keys) {
    for (int step = 0; step < 8; ++step) {
      name = withoutScale(name);
      const NodeProto *made = maker(name);
      if (!made)
        return false;
      if (made->op_type() == "MatMul") {
        q = withoutScale(made->input(0));
        k = withoutScale(made->input(1));
        return true;
      }
      const bool isSum = made->op_type() == "Add" && made->input_size() == 2;
      const bool isChoice = made->op_type() == "Where" && made->input_size() == 3;
      if (sight || (!isSum && !isChoice) || scale != 1)
        return false; // a mask that is scaled, or a second one
      std::string rest;
      const Known *mask = nullptr;
      bool hides = false;
      for (int i = 0; i < made->input_size(); ++i) {
        const Value *value = to.find(made->input(i));
        if (isSum && value && value->known)
          mask = value->known.get(), rest = made->input(1 - i);
      }
      if (isChoice) {
        const Value *condition = to.find(made->input(0));
        hides = scalar(made->input(1)) && *scalar(made->input(1)) <= hidden;
        const bool shows = scalar(made->input(2)) && *scalar(made->input(2)) <= hidden;
        if (!condition || hides == shows)
          return false;
        mask = condition->known.get();
        rest = made->input(hides ? 2 : 1);
      }
      if (!mask)
        return false;
      sight = sightOf(*mask, length, keys, isChoice, hides);
      if (!sight)
        return false;
      name = rest;
    }
    return false;
  }

  const Node &node;
  Importer &to;
  std::string q, k;
  double scale = 1;
  std::optional<Sight> sight;
};

/// [B, H, L, D] or [B, L, D] -> [B, L, H*D].
mlir::Value asChannels(Ops &ops, mlir::Value x) {
  const Shape shape(shapeOf(x));
  if (shape.size() == 3)
    return x;
  return ops.reshape(ops.transpose(x, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
}

struct Heads {
  mlir::Value q, k, v; // [B, L, heads*D], [B, S, kvHeads*D], [B, S, kvHeads*E]
  mlir::Value pastK, pastV;
  int64_t heads, kvHeads;
  double scale;
  Sight sight;
};

mlir::Value attention(Ops &ops, const Heads &of) {
  OpBuilder &builder = ops.builder;
  SmallVector<mlir::Value, 2> pastK, pastV;
  if (of.pastK)
    pastK.push_back(of.pastK), pastV.push_back(of.pastV);
  return ops.add(AttentionOp::getOperationName(),
                 {{of.q}, {of.k}, {of.v}, {}, pastK, pastV, {}, {}},
                 {ops.integer("heads", of.heads), ops.integer("kv_heads", of.kvHeads),
                  ops.attribute("causal", builder.getBoolAttr(of.sight.causal)),
                  ops.integer("window", of.sight.window), ops.number("scale", of.scale)},
                 2)[0];
}

//===-- operators -----------------------------------------------------------------------===//

/// [B, H, L, D] or, with `heads`, [B, L, H*D] -> [B, L, H*D]; counts the heads.
mlir::Value channelsOf(const Node &node, size_t i, int64_t &heads) {
  mlir::Value x = node.tensor(i);
  if (shapeOf(x).size() == 4)
    heads = shapeOf(x)[1];
  else if (shapeOf(x).size() != 3 || heads < 1)
    node.fail("input " + Twine(i) + " is " + shapeText(shapeOf(x)) +
              ", expected [batch, heads, length, size], or [batch, length, heads * size] and the "
              "number of heads");
  return shapeOf(x).size() == 4 ? asChannels(node.to.ops, x) : x;
}

void convertAttentionOperator(const Node &node) {
  Ops &ops = node.to.ops;
  Heads of{};
  of.heads = node.integer("q_num_heads", 0), of.kvHeads = node.integer("kv_num_heads", 0);
  int64_t ofValues = of.kvHeads;
  const bool isApart = node.in(0).rank() == 4;
  of.q = channelsOf(node, 0, of.heads);
  of.k = channelsOf(node, 1, of.kvHeads);
  of.v = channelsOf(node, 2, ofValues);
  if (!ops.fault.empty())
    return;
  int64_t past = 0;
  if (node.has(4) && node.has(5)) {
    int64_t heads = 0;
    of.pastK = channelsOf(node, 4, heads), of.pastV = channelsOf(node, 5, heads);
    past = shapeOf(of.pastK).size() == 3 ? shapeOf(of.pastK)[1] : 0;
  }
  if (node.number("softcap", 0) != 0 || node.gives(3) || node.has(6) || ofValues != of.kvHeads)
    return node.fail("a softcap, scores as output, lengths of a cache, or heads of keys and values "
                     "that differ");
  const int64_t length = shapeOf(of.q)[1], keys = past + shapeOf(of.k)[1];
  of.scale = node.number("scale", 0);
  const bool isCausal = node.integer("is_causal", 0) != 0;
  const int64_t left = node.integer("left_window_size", -1),
                right = node.integer("right_window_size", -1);
  std::optional<Known> mask;
  if (node.has(3))
    mask = node.known(3, "attn_mask");
  if (mask && mask->shape.size() < 2)
    return node.fail("attn_mask is " + shapeText(mask->shape));
  Known flat = mask.value_or(Known{DataType::Bool, {1, 1}, {1}});
  if (llvm::any_of(ArrayRef(flat.shape).drop_back(2), [](int64_t size) { return size != 1; }))
    return node.fail("attn_mask differs from head to head or from sequence to sequence");
  flat.shape = Shape(ArrayRef(flat.shape).take_back(2));
  if (!canCompare(length, keys))
    return node.fail("masks " + Twine(keys) + " keys for each of " + Twine(length) +
                     " queries: expected at most " + Twine(mostKnown) + " pairs");
  if (!broadcastShapes(flat.shape, {length, keys}))
    return node.fail("attn_mask is " + shapeText(flat.shape));
  bool isMask = true;
  std::optional<Sight> sight = sightOf(length, keys, [&](int64_t t, int64_t s) {
    const double value = at(flat, {t, s});
    const int64_t lag = t + past - s; // positions of queries begin behind the past
    isMask &= flat.type == DataType::Bool || value == 0 || value <= hidden;
    return (flat.type == DataType::Bool ? value != 0 : value == 0) && (!isCausal || lag >= 0) &&
           (left < 0 || lag <= left) && (right < 0 || -lag <= right);
  });
  if (!sight || !isMask)
    return node.fail("attn_mask is neither causal nor a window");
  of.sight = *sight;
  mlir::Value y = attention(ops, of);
  if (isApart && ops.fault.empty())
    y = ops.transpose(ops.reshape(y, {shapeOf(y)[0], length, of.heads, lastSize(y) / of.heads}),
                      {0, 2, 1, 3});
  node.give(y);
  auto giveAll = [&](size_t output, mlir::Value before, mlir::Value own) {
    if (!node.gives(output) || !ops.fault.empty())
      return;
    mlir::Value all = before ? ops.concat({before, own}, 1) : own;
    if (!ops.fault.empty())
      return;
    node.give(output, ops.transpose(ops.reshape(all, {shapeOf(all)[0], keys, of.kvHeads,
                                                      lastSize(all) / of.kvHeads}),
                                    {0, 2, 1, 3}));
  };
  giveAll(1, of.pastK, of.k);
  giveAll(2, of.pastV, of.v);
}

/// The first dimensions of each head turned by tables of cosines and sines.
void convertRotary(const Node &node) {
  Ops &ops = node.to.ops;
  int64_t heads = node.integer("num_heads", 0);
  const bool isApart = node.in(0).rank() == 4, isInterleaved = node.integer("interleaved", 0) != 0;
  mlir::Value x = channelsOf(node, 0, heads);
  if (!ops.fault.empty())
    return;
  const int64_t batch = shapeOf(x)[0], length = shapeOf(x)[1], width = lastSize(x),
                size = width / std::max<int64_t>(1, heads);
  int64_t dims = node.integer("rotary_embedding_dim", 0);
  dims = dims == 0 ? size : dims;
  const int64_t half = dims / 2;
  auto table = [&](size_t i) -> mlir::Value {
    const Value &values = node.in(i);
    Known known = node.known(i, i == 1 ? "cos_cache" : "sin_cache");
    if (!ops.fault.empty())
      return ops.constant(0);
    if (node.has(3)) { // rows by the positions
      Known positions = node.known(3, "position_ids");
      if (known.shape.size() != 2 || positions.shape.size() != 2 || known.shape[1] != half)
        return node.fail("caches are " + shapeText(known.shape)), ops.constant(0);
      if (positions.shape[1] != length || !node.to.mayKnow(positions.shape[0] * length * half))
        return node.fail("position_ids are " + shapeText(positions.shape)), ops.constant(0);
      bool inside = true;
      Known rows = made(known.type, {positions.shape[0], length, half}, [&](ArrayRef<int64_t> at3) {
        const int64_t row = whole(at(positions, {at3[0], at3[1]}));
        inside &= row >= 0 && row < known.shape[0];
        return inside ? at(known, {row, at3[2]}) : 0.0;
      });
      if (!inside)
        node.fail("positions outside of the caches");
      known = std::move(rows);
    }
    Known shaped{values.type, {}, known.values};
    if (countOf(known.shape) == length * half)
      shaped.shape = {1, length, 1, half};
    else if (countOf(known.shape) == batch * length * half)
      shaped.shape = {batch, length, 1, half};
    else
      return node.fail("caches are " + shapeText(known.shape)), ops.constant(0);
    return node.to.numbers(node.to.valueOf(std::move(shaped)));
  };
  if (dims < 2 || dims % 2 != 0 || dims > size)
    return node.fail("turns " + Twine(dims) + " of " + Twine(size) + " dimensions");
  mlir::Value cosine = table(1), sine = table(2);
  mlir::Value all = ops.reshape(x, {batch, length, heads, size}),
              turned = ops.part(all, 3, 0, dims);
  const Shape pairs =
      isInterleaved ? Shape{batch, length, heads, half, 2} : Shape{batch, length, heads, 2, half};
  const int64_t axis = isInterleaved ? 4 : 3;
  const Shape each{batch, length, heads, half};
  turned = ops.reshape(turned, pairs);
  mlir::Value a = ops.reshape(ops.part(turned, axis, 0, 1), each),
              b = ops.reshape(ops.part(turned, axis, 1, 1), each);
  auto times = [&](mlir::Value left, mlir::Value right) {
    return ops.binary(BinaryKind::Mul, left, right);
  };
  Shape one(pairs);
  one[static_cast<size_t>(axis)] = 1;
  mlir::Value first = ops.binary(BinaryKind::Sub, times(a, cosine), times(b, sine)),
              second = ops.binary(BinaryKind::Add, times(b, cosine), times(a, sine));
  mlir::Value y = ops.reshape(ops.concat({ops.reshape(first, one), ops.reshape(second, one)}, axis),
                              {batch, length, heads, dims});
  if (dims < size)
    y = ops.concat({y, ops.part(all, 3, dims, size - dims)}, 3);
  node.give(isApart ? ops.transpose(y, {0, 2, 1, 3}) : ops.reshape(y, {batch, length, width}));
}

} // namespace

bool convertAttentionPattern(const Node &node) {
  Importer &to = node.to;
  Ops &ops = to.ops;
  if (node.inputs() != 2 || to.isInBody())
    return false;
  Pattern pattern(node);
  const NodeProto *softmax = pattern.maker(node.proto.input(0));
  if (!softmax || softmax->op_type() != "Softmax")
    return false;
  const Value &weights = node.in(0), &v = node.in(1);
  const int64_t rank = weights.rank();
  if ((rank != 3 && rank != 4) || v.rank() != rank || v.known)
    return false;
  int64_t axis = -1;
  for (const AttributeProto &attribute : softmax->attribute())
    if (attribute.name() == "axis")
      axis = attribute.i();
  const int64_t length = weights.shape[static_cast<size_t>(rank) - 2],
                keys = weights.shape[static_cast<size_t>(rank) - 1];
  if ((axis != -1 && axis != rank - 1) || !pattern.readScores(softmax->input(0), length, keys))
    return false;
  const Value *q = to.find(pattern.q), *k = to.find(pattern.k);
  if (!q || !k || q->rank() != rank || k->rank() != rank || !(pattern.scale > 0) || keys < length)
    return false;
  const Shape leading(ArrayRef(weights.shape).drop_back(2));
  for (const Value *value : {q, k, &v})
    if (value->isPoison || Shape(ArrayRef(value->shape).drop_back(2)) != leading)
      return false;
  const int64_t heads = rank == 4 ? leading[1] : 1;
  Heads of{};
  of.q = asChannels(ops, to.numbers(*q));
  of.k = asChannels(ops, rank == 4 ? ops.transpose(to.numbers(*k), {0, 1, 3, 2})
                                   : ops.transpose(to.numbers(*k), {0, 2, 1}));
  of.v = asChannels(ops, to.numbers(v));
  of.heads = of.kvHeads = heads;
  of.scale = pattern.scale;
  of.sight = pattern.sight.value_or(Sight{});
  mlir::Value y = attention(ops, of);
  if (rank == 4 && ops.fault.empty())
    y = ops.transpose(ops.reshape(y, {leading[0], length, heads, v.shape.back()}), {0, 2, 1, 3});
  node.give(y);
  return true;
}

void addAttention(Importer &to) {
  to.add("Attention", convertAttentionOperator);
  to.add("RotaryEmbedding", convertRotary);
}

} // namespace hybrid::onnx::frontend
