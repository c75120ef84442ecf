//===- LinearAttention.cpp - recurrences that are one operator of ONNX -----------===//
//
// The operator's delta rule is S̄ = exp(g) S, S = S̄ + β k (v - S̄ᵀk)ᵀ, with a number β a head. The
// dialect's takes products: of v and β, and of exp(g), β and k. Which they are is seen from what
// they are computed from.
//
//===----------------------------------------------------------------------===//
#include "codegen/onnx/LinearAttention.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid::onnx {
namespace {

/// A value under its reshapes: the same numbers in the same order.
Value withoutReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  return value;
}

/// What a factor of a product over heads has numbers for.
enum class Each { Channel, Head, Nothing };

struct Factor {
  Value value; // without reshapes
  Each each;

  bool operator==(const Factor &other) const { return value == other.value && each == other.each; }
};

/// The factors of tensors [batch, length, heads * size], whose heads may be a dimension of their
/// own in between.
class Product {
public:
  Product(int64_t batch, int64_t length, int64_t heads, int64_t size)
      : ofChannels{batch, length, heads * size}, ofHeads{batch, length, heads}, size(size) {}

  /// False where something is multiplied that is neither of channels nor of heads nor one number.
  /// What `isWhole` is one factor, though it is a product.
  bool collect(Value value, Value isWhole) {
    std::optional<Each> each = eachOf(value);
    if (!each)
      return false;
    Value under = withoutReshapes(value);
    auto multiply = under.getDefiningOp<BinaryOp>();
    if (multiply && under != isWhole && multiply.getKind() == BinaryKind::Mul &&
        eachOf(under) == each && areAligned(multiply))
      return collect(multiply.getLhs(), isWhole) && collect(multiply.getRhs(), isWhole);
    factors.push_back({under, *each});
    return true;
  }

  /// Takes a factor out, if it is there.
  bool take(const Factor &factor) {
    auto *found = llvm::find(factors, factor);
    if (found == factors.end())
      return false;
    factors.erase(found);
    return true;
  }

  SmallVector<Factor> factors;

private:
  std::optional<Each> eachOf(Value value) const {
    SmallVector<int64_t> shape(shapeOf(value));
    SmallVector<int64_t> channelsApart(ofHeads), headsApart(ofHeads);
    channelsApart.push_back(size);
    headsApart.push_back(1);
    if (shape == ofChannels || shape == channelsApart)
      return Each::Channel;
    if (shape == ofHeads || shape == headsApart)
      return Each::Head;
    return elementCount(shape) == 1 ? std::optional(Each::Nothing) : std::nullopt;
  }

  /// Heads meet heads only if both sides have as many dimensions.
  static bool areAligned(BinaryOp op) {
    ArrayRef<int64_t> a = shapeOf(op.getLhs()), b = shapeOf(op.getRhs());
    return a.size() == b.size() || elementCount(a) == 1 || elementCount(b) == 1;
  }

  const SmallVector<int64_t> ofChannels, ofHeads;
  const int64_t size;
};

struct Heads {
  const int64_t batch, length, count;
  Conversion &to;

  /// The product of factors, [batch, length, count * size].
  Tensor product(ArrayRef<Factor> factors, int64_t size) const {
    const SmallVector<int64_t> apart{batch, length, count, size};
    std::optional<Formula> all;
    for (const Factor &factor : factors) {
      Tensor value = to.of(factor.value);
      if (factor.each != Each::Nothing)
        value =
            to.graph.reshape(value, {batch, length, count, factor.each == Each::Head ? 1 : size});
      else
        value = to.graph.reshape(value, {1, 1, 1, 1});
      all = all ? *all * to.formula(value) : to.formula(value);
    }
    Tensor value = all ? all->value : to.graph.full(1, {1, 1, 1, 1});
    return to.graph.reshape(to.graph.expand(value, apart), {batch, length, count * size});
  }
};

/// Of a delta rule: its v and β, where the operator has its form.
struct DeltaFactors {
  SmallVector<Factor> values, beta;
};

std::optional<DeltaFactors> factorsOf(DeltaRuleOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getQ());
  const auto heads = static_cast<int64_t>(op.getHeads());
  if (op.getB() || op.getSteps() != 1)
    return std::nullopt;
  Product erased(shape[0], shape[1], heads, op.getKeySize());
  Product written(shape[0], shape[1], heads, op.getValueSize());
  Value key = withoutReshapes(op.getK());
  if (!erased.collect(op.getA(), key) || !written.collect(op.getV(), {}) ||
      !erased.take({key, Each::Channel}))
    return std::nullopt;
  if (op.getDecay()) {
    Value decay = withoutReshapes(op.getDecay());
    auto *found = llvm::find_if(erased.factors, [&](const Factor &factor) {
      auto exp = factor.value.getDefiningOp<UnaryOp>();
      return exp && exp.getKind() == UnaryKind::Exp && withoutReshapes(exp.getX()) == decay;
    });
    if (found == erased.factors.end())
      return std::nullopt;
    erased.factors.erase(found);
  }
  for (const Factor &factor : erased.factors)
    if (factor.each == Each::Channel || !written.take(factor))
      return std::nullopt;
  return DeltaFactors{written.factors, erased.factors};
}

template <typename Op> bool hasOperator(Op op, Conversion &to) {
  // A scale of 0 is the default there.
  return to.hasLayerOperators() && !op.getSegments() && !op.getScale().isZero();
}

template <typename Op>
void write(Op op, StringRef rule, const Tensor &values, const Tensor &beta, Conversion &to) {
  ArrayRef<int64_t> shape = shapeOf(op.getQ());
  const auto heads = static_cast<int64_t>(op.getHeads());
  SmallVector<Tensor> inputs{to.of(op.getQ()), to.of(op.getK()),
                             values,           to.optional(op.getInitialState()),
                             Tensor(),         beta};
  if (op.getDecay()) // those that are the same at all times are repeated for each
    inputs[4] =
        to.graph.expand(to.of(op.getDecay()), {shape[0], shape[1], lastSize(op.getDecay())});
  while (inputs.back().name.empty())
    inputs.pop_back();
  SmallVector<Tensor> results{
      {"", values.shape, values.element},
      {"", {shape[0], heads, op.getKeySize(), op.getValueSize()}, values.element}};
  to.graph.node("LinearAttention", inputs, results,
                {{"q_num_heads", heads},
                 {"kv_num_heads", heads},
                 {"update_rule", rule.str()},
                 {"scale", static_cast<float>(op.getScale().convertToDouble())}});
  to.define(op.getResult(), results[0]);
  if (op.getFinalState())
    to.define(op.getFinalState(), results[1]);
}

} // namespace

bool convertAsLinearAttention(LinearScanOp op, Conversion &to) {
  if (!hasOperator(op, to) || op.getExclusive())
    return false;
  write(op, op.getDecay() ? "gated" : "linear", to.of(op.getV()), {}, to);
  return true;
}

bool convertAsLinearAttention(DeltaRuleOp op, Conversion &to) {
  if (!hasOperator(op, to))
    return false;
  std::optional<DeltaFactors> factors = factorsOf(op);
  if (!factors)
    return false;
  ArrayRef<int64_t> shape = shapeOf(op.getQ());
  const Heads heads{shape[0], shape[1], static_cast<int64_t>(op.getHeads()), to};
  write(op, op.getDecay() ? "gated_delta" : "delta",
        heads.product(factors->values, op.getValueSize()), heads.product(factors->beta, 1), to);
  return true;
}

} // namespace hybrid::onnx
