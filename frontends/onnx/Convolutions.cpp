//===- Convolutions.cpp - short convolutions and transforms ------------------------===//
//
// ONNX has channels before positions, the dialect behind them: each is transposed, and transposes
// that meet fold away.
//
//===----------------------------------------------------------------------===//
#include "formats/onnx/Onnx.pb.h"
#include "frontends/onnx/Importer.h"

using namespace mlir;

namespace hybrid::onnx::frontend {
namespace {

/// Taps and groups of a convolution that is written tap by tap.
constexpr int64_t mostTaps = 256, mostGroups = 64;

/// Every tap beside the others, one product of all: x [B, P, C], weight [O, C, K].
mlir::Value denseConvolution(Ops &ops, mlir::Value x, mlir::Value weight, int64_t dilation,
                             int64_t length) {
  const Shape shape(shapeOf(weight));
  SmallVector<mlir::Value> taps;
  for (int64_t tap = 0; tap < shape[2]; ++tap)
    taps.push_back(ops.part(x, 1, tap * dilation, length));
  mlir::Value matrix =
      ops.reshape(ops.transpose(weight, {0, 2, 1}), {shape[0], shape[2] * shape[1]});
  return ops.one<LinearOp>({ops.concat(taps, 2), matrix});
}

/// Of each channel alone, weight [C, 1, K]: as the dialect's where it starts with zeros.
mlir::Value channelConvolution(Ops &ops, mlir::Value x, mlir::Value weight, int64_t front,
                               int64_t end, int64_t dilation, int64_t length) {
  const Shape shape(shapeOf(weight));
  const int64_t taps = shape[2];
  mlir::Value perChannel = ops.reshape(weight, {shape[0], taps});
  if (dilation == 1) {
    // What short_conv has before the start are taps - 1 zeros.
    mlir::Value padded = ops.pad(x, 1, std::max<int64_t>(0, front - (taps - 1)), end);
    mlir::Value y =
        ops.add(ShortConvOp::getOperationName(), {{padded}, {perChannel}, {}, {}, {}}, {})[0];
    return ops.part(y, 1, std::max<int64_t>(0, taps - 1 - front), length);
  }
  mlir::Value padded = ops.pad(x, 1, front, end), sum;
  for (int64_t tap = 0; tap < taps; ++tap) {
    mlir::Value factor = ops.reshape(ops.part(perChannel, 1, tap, 1), {shape[0]});
    mlir::Value part =
        ops.binary(BinaryKind::Mul, ops.part(padded, 1, tap * dilation, length), factor);
    sum = sum ? ops.binary(BinaryKind::Add, sum, part) : part;
  }
  return sum;
}

void convertConv(const Node &node) {
  Ops &ops = node.to.ops;
  const Shape &from = node.in(0).shape, &weight = node.in(1).shape;
  if (from.size() != 3 || weight.size() != 3)
    return node.fail("a convolution of " + shapeText(from) + " with " + shapeText(weight) +
                     ", expected one dimension of positions");
  const int64_t groups = node.integer("group", 1), channels = from[1];
  const Shape dilations = node.integers("dilations").value_or(Shape{1}),
              pads = node.integers("pads").value_or(Shape{0, 0}),
              strides = node.integers("strides").value_or(Shape{1});
  const std::string automatic = node.text("auto_pad", "NOTSET");
  constexpr int64_t mostPadding = int64_t(1) << 30;
  auto isPadding = [&](int64_t zeros) { return zeros >= 0 && zeros <= mostPadding; };
  if (strides != Shape{1} || dilations.size() != 1 || pads.size() != 2 ||
      !llvm::all_of(pads, isPadding) || (automatic != "NOTSET" && automatic != "VALID"))
    return node.fail("strides, or padding by another rule than two numbers up to 2^30");
  const int64_t dilation = dilations[0];
  if (weight[2] > mostTaps || dilation < 1 || dilation > from[2] + pads[0] + pads[1])
    return node.fail(Twine(weight[2]) + " taps with dilation " + Twine(dilation) +
                     ", expected at most " + Twine(mostTaps) + " within the sequence");
  const int64_t length = from[2] + pads[0] + pads[1] - dilation * (weight[2] - 1);
  if (length < 1 || groups < 1 || channels % groups != 0 || weight[0] % groups != 0 ||
      weight[1] != channels / groups)
    return node.fail("a convolution of " + shapeText(from) + " with " + shapeText(weight) + " in " +
                     Twine(groups) + " groups");
  mlir::Value x = ops.transpose(node.tensor(0), {0, 2, 1}), w = node.tensor(1), y;
  if (!ops.fault.empty())
    return;
  if (groups == channels && weight[0] == channels) {
    y = channelConvolution(ops, x, w, pads[0], pads[1], dilation, length);
  } else {
    if (groups > mostGroups)
      return node.fail(Twine(groups) + " groups, expected at most " + Twine(mostGroups) +
                       " or one a channel");
    x = ops.pad(x, 1, pads[0], pads[1]);
    SmallVector<mlir::Value> parts;
    const int64_t in = channels / groups, out = weight[0] / groups;
    for (int64_t group = 0; group < groups; ++group)
      parts.push_back(denseConvolution(ops, ops.part(x, 2, group * in, in),
                                       ops.part(w, 0, group * out, out), dilation, length));
    y = ops.concat(parts, 2);
  }
  if (node.has(2))
    y = ops.binary(BinaryKind::Add, y, node.tensor(2));
  node.give(ops.transpose(y, {0, 2, 1}));
}

void convertConvWithState(const Node &node) {
  Ops &ops = node.to.ops;
  const Shape &weight = node.in(1).shape;
  if (node.in(0).rank() != 3 || weight.size() != 3)
    return node.fail("a convolution of " + shapeText(node.in(0).shape));
  const std::string activation = node.text("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return node.fail("attribute 'activation' is '" + activation + "'");
  SmallVector<mlir::Value, 2> bias, state;
  if (node.has(2))
    bias.push_back(node.tensor(2));
  if (node.has(3))
    state.push_back(ops.transpose(node.tensor(3), {0, 2, 1}));
  SmallVector<NamedAttribute> attributes;
  const bool gives = node.gives(1) && weight[2] > 1;
  if (gives)
    attributes.push_back(ops.attribute("return_state", ops.builder.getUnitAttr()));
  auto results = ops.add(ShortConvOp::getOperationName(),
                         {{ops.transpose(node.tensor(0), {0, 2, 1})},
                          {ops.reshape(node.tensor(1), {weight[0], weight[2]})},
                          bias,
                          {},
                          state},
                         attributes, gives ? 2 : 1);
  mlir::Value y = activation == "none" ? results[0] : ops.unary(UnaryKind::Silu, results[0]);
  node.give(ops.transpose(y, {0, 2, 1}));
  if (gives)
    node.give(1, ops.transpose(results[1], {0, 2, 1}));
}

/// Columns of real numbers to half a spectrum and back: what rfft and irfft are.
void convertDFT(const Node &node) {
  Ops &ops = node.to.ops;
  const Value &x = node.in(0);
  const bool inverse = node.integer("inverse", 0) != 0, half = node.integer("onesided", 0) != 0;
  const int64_t rank = x.rank();
  const int64_t axis = node.has(2) ? node.axisOf(whole(node.knownNumber(2, "axis")), rank)
                                   : node.axis("axis", node.to.operatorSet < 20 ? 1 : -2, rank);
  if (!half || rank < 2 || axis == rank - 1 || x.shape.back() != (inverse ? 2 : 1))
    return node.fail("a transform other than of real numbers to half a spectrum (onesided), or "
                     "back from one");
  const int64_t positions = x.shape[static_cast<size_t>(axis)];
  const int64_t size = node.has(1) ? whole(node.knownNumber(1, "dft_length"))
                                   : (inverse ? 2 * (positions - 1) : positions);
  if (size < 1 || size > (int64_t(1) << 30))
    return node.fail("a transform of " + Twine(size) + " positions");
  // [..., n, ..., c] -> [n, columns], for each of the parts.
  auto columns = [&](mlir::Value value) {
    Shape order{axis};
    for (int64_t d = 0; d < rank - 1; ++d)
      if (d != axis)
        order.push_back(d);
    value = ops.transpose(value, order);
    if (!ops.fault.empty())
      return value;
    const int64_t first = shapeOf(value)[0];
    return ops.reshape(value, {first, countOf(shapeOf(value).drop_front())});
  };
  auto back = [&](mlir::Value value) {
    if (!ops.fault.empty())
      return value;
    Shape shape{shapeOf(value)[0]}, order;
    for (int64_t d = 0; d < rank - 1; ++d)
      if (d != axis)
        shape.push_back(x.shape[static_cast<size_t>(d)]);
    for (int64_t d = 0; d < rank - 1; ++d)
      order.push_back(d == axis ? 0 : d < axis ? d + 1 : d);
    value = ops.transpose(ops.reshape(value, shape), order);
    Shape apart(shapeOf(value));
    apart.push_back(1);
    return ops.reshape(value, apart);
  };
  auto part = [&](int64_t i) {
    return ops.reshape(ops.part(node.tensor(0), rank - 1, i, 1), ArrayRef(x.shape).drop_back());
  };
  auto fitted = [&](mlir::Value value, int64_t wanted) {
    if (!ops.fault.empty())
      return value;
    const int64_t has = shapeOf(value)[0];
    return has > wanted ? ops.part(value, 0, 0, wanted) : ops.pad(value, 0, 0, wanted - has);
  };
  if (inverse) {
    const int64_t bins = size / 2 + 1;
    mlir::Value y = ops.one<IrfftOp>(
        {fitted(columns(part(0)), bins), fitted(columns(part(1)), bins)},
        {ops.integer("length", size), ops.attribute("weighted", ops.builder.getUnitAttr())});
    return node.give(back(y));
  }
  auto bins = ops.add(RfftOp::getOperationName(), {{fitted(columns(part(0)), size)}}, {}, 2);
  if (!ops.fault.empty())
    return;
  node.give(ops.concat({back(bins[0]), back(bins[1])}, rank - 1));
}

} // namespace

void addConvolutions(Importer &to) {
  to.add("Conv", convertConv);
  to.add("CausalConvWithState", convertConvWithState);
  to.add("DFT", convertDFT);
}

} // namespace hybrid::onnx::frontend
