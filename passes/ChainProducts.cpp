//===- ChainProducts.cpp - products of what products made as one op ---------===//
//
// Between the projections of a feed-forward layer lies what is a few times as wide as its input and
// output. Multiplied, put through a function and multiplied again in one kernel it need not be in
// memory, and what a gradient needs of it is multiplied once more there.
//
// A chain is traced back from what the last products multiply: through elementwise ops to products,
// which may be ones of the forward pass. What others need of its values has to be one of the few
// rounded ones that a chain in front of them saves; where a value has no such chain, the chains
// that have it are none.
//
//===----------------------------------------------------------------------===//
#include "dialect/ProductChain.h"
#include "dialect/Shapes.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/Sums.h"
#include "llvm/ADT/MapVector.h"

namespace hybrid {
#define GEN_PASS_DEF_CHAINPRODUCTS
#include "passes/Passes.h.inc"
} // namespace hybrid

using namespace mlir;
using namespace hybrid;

namespace {

/// What the kernel takes (codegen/kernels/ProductChain.h): sizes of matrix units and of its tiles,
/// and as much as shared memory and registers hold.
constexpr int64_t mostContracted = 128, contractedPart = 16, innerPart = 32;
constexpr size_t mostInputs = 2, mostFirst = 3, mostSecond = 2, mostRounded = 3;
/// Elementwise ops on the way: a region of more is the matter of a kernel of its own.
constexpr size_t mostElements = 64;
bool isOutputSize(int64_t size) { return size == 32 || size == 64 || size == 128; }

struct Chain {
  llvm::SetVector<Operation *> first, elements; // products, and the elementwise ops of them
  SmallVector<Operation *> second;
  Value sum;
  /// What is rounded: for the second products, in their order, then for others.
  llvm::SetVector<Operation *> rounded;
  /// Position of the last op that it reads: it can stand behind that.
  int64_t place = 0;
  size_t visited = 0; // by one trace()
  bool isAlive = true;

  bool has(Operation *op) const {
    return first.contains(op) || elements.contains(op) || rounded.contains(op);
  }
  /// Whether `user` is part of it.
  bool takes(Operation *user) const { return has(user) || llvm::is_contained(second, user); }
};

/// A product that may be one of the first of a chain whose inner values have this shape.
bool isFirst(Operation *op, ArrayRef<int64_t> shape) {
  std::optional<RowsProduct> product = rowsProductOf(op);
  if (!product || shapeOf(product->result()) != shape || !product->rows.getDefiningOp<RoundOp>() ||
      !product->weight.getDefiningOp<RoundOp>())
    return false;
  const int64_t contracted = lastSize(product->rows);
  return contracted <= mostContracted && contracted % contractedPart == 0 &&
         shape.back() >= 2 * contracted;
}

bool traceFrom(Value value, Chain &chain) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != chain.second.front()->getBlock())
    return false;
  if (chain.first.contains(op) || chain.elements.contains(op))
    return true;
  ArrayRef<int64_t> shape = shapeOf(rowsProductOf(chain.second.front())->rows);
  if (isFirst(op, shape)) {
    chain.first.insert(op);
    return chain.first.size() <= mostFirst;
  }
  if (!isa<UnaryOp, BinaryOp>(op) || shapeOf(value) != shape || ++chain.visited > mostElements)
    return false;
  for (Value operand : op->getOperands())
    if (!operand.getDefiningOp<ConstantOp>() && !traceFrom(operand, chain))
      return false;
  chain.elements.insert(op);
  return true;
}

/// Adds what `value` is computed of to the chain: elementwise ops of products of its shape; false
/// where there is anything else, or too much of it.
bool trace(Value value, Chain &chain) {
  chain.visited = 0;
  return traceFrom(value, chain);
}

size_t inputsOf(const Chain &chain) {
  llvm::SmallDenseSet<Value> inputs;
  for (Operation *op : chain.first)
    inputs.insert(rowsProductOf(op)->rows);
  return inputs.size();
}

/// Whether an input is multiplied twice, as a gated unit does. One product and what it gave, as of
/// a perceptron or RWKV's channel mixing, take longer than as two launches on an H100
/// (docs/decisions/040).
bool isGated(const Chain &chain) { return chain.first.size() > inputsOf(chain); }

/// The chain that ends in this product alone.
std::optional<Chain> chainOf(Operation *op) {
  std::optional<RowsProduct> product = rowsProductOf(op);
  auto round = product ? product->rows.getDefiningOp<RoundOp>() : nullptr;
  if (!round || !product->weight.getDefiningOp<RoundOp>())
    return std::nullopt;
  const int64_t outputs = lastSize(product->result()), inner = lastSize(product->rows);
  if (!isOutputSize(outputs) || inner % innerPart != 0 || inner < 2 * outputs)
    return std::nullopt;
  Chain chain;
  chain.second.push_back(op);
  chain.sum = product->result();
  chain.rounded.insert(round);
  if (!trace(round.getX(), chain) || inputsOf(chain) > mostInputs)
    return std::nullopt;
  return chain;
}

/// Both in one, whose results are added; nothing where that is too much.
std::optional<Chain> joined(const Chain &a, const Chain &b) {
  Chain both = a;
  both.first.insert_range(b.first), both.elements.insert_range(b.elements);
  both.rounded.insert_range(b.rounded), both.second.append(b.second);
  if (both.first.size() > mostFirst || both.second.size() > mostSecond ||
      both.rounded.size() != both.second.size() || inputsOf(both) > mostInputs ||
      shapeOf(a.sum) != shapeOf(b.sum) ||
      shapeOf(a.rounded.front()->getResult(0)) != shapeOf(b.rounded.front()->getResult(0)))
    return std::nullopt;
  both.sum = Value();
  return both;
}

class Chains {
public:
  Chains(func::FuncOp function, bool ungated) : function(function) {
    int64_t index = 0;
    for (Operation &op : function.getBody().front())
      position[&op] = index++;
    for (Operation &op : function.getBody().front())
      if (std::optional<Chain> chain = chainOf(&op))
        chains.push_back(std::move(*chain));
    for (BinaryOp sum : wholeSums(function))
      joinTerms(sum);
    for (Chain &chain : chains)
      chain.place = placeOf(chain), chain.isAlive = ungated || isGated(chain);
    while (leaveOut())
      ;
  }

  /// Makes ops of them; how many.
  int64_t make() {
    int64_t made = 0;
    for (Chain &chain : chains)
      if (chain.isAlive)
        make(chain), ++made;
    // Only now: chains compute values of one another again.
    SmallVector<Operation *> replaced;
    for (Chain &chain : chains)
      if (chain.isAlive) {
        replaced.push_back(chain.sum.getDefiningOp());
        for (auto &[value, uses] : saved[&chain])
          replaced.push_back(value);
      }
    eraseDead(replaced);
    return made;
  }

private:
  /// The first two terms of a sum that are chains which fit together are one.
  void joinTerms(BinaryOp sum) {
    SmallVector<Value> terms;
    collectTerms(sum, terms);
    for (auto [i, term] : llvm::enumerate(terms))
      for (Value other : ArrayRef(terms).drop_front(i + 1)) {
        Chain *a = chainOfSum(term), *b = chainOfSum(other);
        if (!a || !b || !term.hasOneUse() || !other.hasOneUse())
          continue;
        if (std::optional<Chain> both = joined(*a, *b)) {
          both->sum = replaceTerms(sum, terms, term, other);
          *a = std::move(*both);
          chains.erase(b);
          return;
        }
      }
  }
  Chain *chainOfSum(Value value) {
    Chain *found = llvm::find_if(chains, [&](const Chain &chain) { return chain.sum == value; });
    return found == chains.end() ? nullptr : found;
  }
  /// The sum of two terms of `sum`, as its first addition.
  Value replaceTerms(BinaryOp sum, ArrayRef<Value> terms, Value a, Value b) {
    OpBuilder builder(sum);
    auto add = [&](Value left, Value right) {
      auto made = BinaryOp::create(builder, sum.getLoc(), BinaryKind::Add, left, right);
      position[made] = position[sum];
      return made.getResult();
    };
    const Value both = add(a, b);
    Value result = both;
    for (Value term : terms)
      if (term != a && term != b)
        result = add(result, term);
    sum.replaceAllUsesWith(result);
    eraseDead(sum.getOperation());
    return both;
  }

  /// Where the chain can stand: behind all that it reads.
  int64_t placeOf(const Chain &chain) const {
    int64_t place = 0;
    auto read = [&](Value value) {
      place = std::max(place, position.lookup(value.getDefiningOp()));
    };
    for (Operation *op : chain.first)
      read(rowsProductOf(op)->rows), read(rowsProductOf(op)->weight);
    for (Operation *op : chain.second)
      read(rowsProductOf(op)->weight);
    return place;
  }

  /// The last chain in front of `user` that has, or with what it has can have, the rounded value.
  Chain *saverOf(RoundOp round, Operation *user) {
    Chain *last = nullptr;
    for (Chain &chain : chains) {
      if (!chain.isAlive || chain.place >= position.lookup(user) ||
          (last && chain.place < last->place))
        continue;
      Chain trial = chain;
      if (trace(round.getX(), trial) && trial.first.size() == chain.first.size())
        last = &chain;
    }
    return last;
  }

  /// Whether another chain that has the value computes it again for `user`.
  bool isComputedAgain(Operation *op, Operation *user) const {
    return llvm::any_of(chains, [&](const Chain &chain) {
      return chain.isAlive && chain.has(op) && chain.takes(user);
    });
  }

  /// Finds who saves what others read, and gives up chains of which something cannot be saved.
  /// Whether there was one: then others may have lost who computes their values again, or saves
  /// them.
  bool leaveOut() {
    saved.clear();
    bool changed = false;
    auto giveUp = [&](Chain &chain) { chain.isAlive = false, changed = true; };
    for (Chain &chain : chains)
      if (chain.isAlive && !findSavers(chain))
        giveUp(chain);
    for (Chain &chain : chains) {
      llvm::SetVector<Operation *> all = chain.rounded;
      for (auto &[value, uses] : saved[&chain])
        all.insert(value);
      if (chain.isAlive && all.size() > mostRounded)
        giveUp(chain);
    }
    return changed;
  }

  /// Whether all that others read of the chain's values is saved by one, and no product is computed
  /// more than once again.
  bool findSavers(const Chain &chain) {
    auto computedBy = [&](Operation *op) {
      return llvm::count_if(
          chains, [&](const Chain &other) { return other.isAlive && other.first.contains(op); });
    };
    llvm::SetVector<Operation *> ops(chain.first.begin(), chain.first.end());
    ops.insert_range(chain.elements), ops.insert_range(chain.rounded);
    for (Operation *op : ops) {
      if (computedBy(op) > 2)
        return false;
      for (OpOperand &use : op->getUses()) {
        if (isComputedAgain(op, use.getOwner()))
          continue;
        auto round = dyn_cast<RoundOp>(op);
        Chain *saver = round ? saverOf(round, use.getOwner()) : nullptr;
        if (!saver)
          return false;
        saved[saver][op].insert(&use);
      }
    }
    return true;
  }

  void make(Chain &chain) {
    llvm::MapVector<Operation *, llvm::SetVector<OpOperand *>> &values = saved[&chain];
    for (auto &[value, uses] : values) {
      trace(cast<RoundOp>(value).getX(), chain);
      chain.rounded.insert(value);
    }
    auto inOrder = [&](const llvm::SetVector<Operation *> &ops) {
      SmallVector<Operation *> sorted(ops.begin(), ops.end());
      llvm::sort(sorted, [&](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
      return sorted;
    };
    const SmallVector<Operation *> first = inOrder(chain.first), elements = inOrder(chain.elements);
    SmallVector<Value> operands, results{chain.sum};
    Operation *last = nullptr; // of what it reads
    auto read = [&](Value value) {
      if (llvm::is_contained(operands, value))
        return;
      operands.push_back(value);
      if (!last || last->isBeforeInBlock(value.getDefiningOp()))
        last = value.getDefiningOp();
    };
    for (Operation *op : first)
      read(rowsProductOf(op)->rows), read(rowsProductOf(op)->weight);
    for (Operation *op : chain.second)
      read(rowsProductOf(op)->weight);
    for (auto &[value, uses] : values)
      results.push_back(value->getResult(0));

    SmallVector<Location> locations;
    for (Operation *op : llvm::concat<Operation *const>(first, chain.second))
      locations.push_back(op->getLoc());
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfter(last);
    const Location loc = builder.getFusedLoc(locations);
    auto op = ProductChainOp::create(builder, loc, ValueRange(results).getTypes(), operands);
    Block *body = builder.createBlock(&op.getBody());
    IRMapping mapping;
    for (Value operand : operands)
      mapping.map(operand, body->addArgument(operand.getType(), operand.getLoc()));
    builder.setInsertionPointToStart(body);
    for (Operation *product : first)
      builder.clone(*product, mapping);
    makeFunction(builder, loc, chain, first, elements, mapping);
    Value sum;
    for (Operation *product : chain.second) {
      Value term = builder.clone(*product, mapping)->getResult(0);
      sum = sum ? BinaryOp::create(builder, loc, BinaryKind::Add, sum, term).getResult() : term;
    }
    mapping.map(chain.sum, sum);
    SmallVector<Value> yielded;
    for (Value result : results)
      yielded.push_back(mapping.lookup(result));
    YieldOp::create(builder, loc, yielded);

    chain.sum.replaceAllUsesWith(op.getResult(0));
    IRMapping made;
    for (auto [result, entry] : llvm::zip(op.getResults().drop_front(), values))
      made.map(entry.first->getResult(0), result);
    layBeside(chain, op, made);
    for (auto &[value, uses] : values)
      for (OpOperand *use : uses)
        use->set(made.lookup(value->getResult(0)));
  }

  /// Saved values that the second products multiply are columns of one, as parameters lie: so do
  /// the gradients of their weights, which are one product then (JoinGradients).
  static void layBeside(const Chain &chain, ProductChainOp op, IRMapping &made) {
    struct Part {
      ParameterOp parameter;
      Value value;
      int64_t size;
    };
    SmallVector<Part> parts;
    for (auto [product, rounded] : llvm::zip(chain.second, chain.rounded)) {
      auto weight = rowsProductOf(product)->weight.getDefiningOp<RoundOp>();
      auto parameter = weight.getX().getDefiningOp<ParameterOp>();
      Value value = rounded->getResult(0);
      if (!parameter || !made.contains(value))
        return;
      parts.push_back({parameter, value, lastSize(value)});
    }
    if (parts.size() < 2)
      return;
    llvm::sort(parts, [](const Part &a, const Part &b) {
      return a.parameter->isBeforeInBlock(b.parameter);
    });
    SmallVector<Value> columns;
    SmallVector<int64_t> sizes;
    for (const Part &part : parts)
      columns.push_back(made.lookup(part.value)), sizes.push_back(part.size);
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    const auto axis = static_cast<int64_t>(shapeOf(columns.front()).size()) - 1;
    Value whole = ConcatOp::create(builder, op.getLoc(), columns, axis);
    auto split = SplitOp::create(builder, op.getLoc(), whole, axis, sizes);
    for (auto [part, column] : llvm::zip(parts, split.getParts()))
      made.map(part.value, column);
  }

  /// hybrid.fused of the first products, and hybrid.round of what it gives.
  void makeFunction(OpBuilder &builder, Location loc, const Chain &chain,
                    ArrayRef<Operation *> first, ArrayRef<Operation *> elements,
                    IRMapping &mapping) {
    SmallVector<Value> given, values;
    for (Operation *product : first)
      given.push_back(mapping.lookup(product->getResult(0)));
    for (Operation *round : chain.rounded)
      values.push_back(cast<RoundOp>(round).getX());
    auto fused = FusedOp::create(builder, loc, ValueRange(values).getTypes(), given);
    OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(&fused.getBody());
    IRMapping inside;
    for (Operation *product : first)
      inside.map(product->getResult(0),
                 body->addArgument(product->getResult(0).getType(), product->getLoc()));
    for (Operation *op : elements) {
      for (Value operand : op->getOperands())
        if (auto constant = operand.getDefiningOp<ConstantOp>();
            constant && !inside.contains(operand))
          builder.clone(*constant, inside);
      builder.clone(*op, inside);
    }
    SmallVector<Value> yielded;
    for (Value value : values)
      yielded.push_back(inside.lookup(value));
    YieldOp::create(builder, loc, yielded);
    builder.setInsertionPointAfter(fused);
    for (auto [round, value] : llvm::zip(chain.rounded, fused.getResults()))
      mapping.map(round->getResult(0),
                  RoundOp::create(builder, round->getLoc(), round->getResult(0).getType(), value)
                      .getResult());
  }

  func::FuncOp function;
  llvm::DenseMap<Operation *, int64_t> position;
  SmallVector<Chain, 8> chains;
  llvm::DenseMap<Chain *, llvm::MapVector<Operation *, llvm::SetVector<OpOperand *>>> saved;
};

struct ChainProducts : hybrid::impl::ChainProductsBase<ChainProducts> {
  using ChainProductsBase::ChainProductsBase;

  void runOnOperation() override {
    if (getOperation().getBody().hasOneBlock())
      numChains += Chains(getOperation(), ungated).make();
  }
};

} // namespace
