//===- Scoring.cpp - attention with a score of the model's own -------------------===//
//
// A layer of numbers becomes the region of `hybrid.attention` that makes a logit of a score. What
// does not depend on its numbers is computed outside, once; of tensors outside it takes elements,
// which become terms of queries or of keys.
//
//===----------------------------------------------------------------------===//
#include "dialect/Shapes.h"
#include "frontends/dsl/Builtins.h"

using namespace mlir;

namespace hybrid::dsl {

bool Scoring::Term::has(Index index) const { return llvm::is_contained(indices, index); }

std::optional<Scoring::Index> Scoring::indexOf(mlir::Value value) const {
  return value == query  ? std::optional(Index::Query)
         : value == key  ? std::optional(Index::Key)
         : value == head ? std::optional(Index::Head)
                         : std::nullopt;
}

Value Scoring::take(Emitter &emit, const Value &tensor, const std::vector<Index> &indices,
                    Place place) {
  auto wrong = [&](const llvm::Twine &message) {
    return Value(emit.diagnostics.error(
        place, message, {{tensor.origin, "the tensor " + text(tensor) + " comes from here"}}));
  };
  const size_t rank = tensor.shape.size();
  if (tensor.holdsIntegers)
    return wrong("a score takes floating point numbers, not " + text(tensor) + " of integers");
  if (rank != indices.size() && rank != indices.size() + 1)
    return wrong(llvm::Twine(indices.size()) + " indices for " + text(tensor) +
                 " in a score: expected one for each dimension, or for each behind the batch");
  for (size_t i = 0; i < indices.size(); ++i)
    if (llvm::is_contained(llvm::ArrayRef(indices).drop_front(i + 1), indices[i]))
      return wrong("an index stands twice");
  for (const Term &term : terms)
    if (term.tensor.tensor == tensor.tensor && term.indices == indices)
      return Emitter::result(term.argument, {}, place);
  auto argument = body->addArgument(query.getType(), emit.at(place));
  terms.push_back({tensor, indices, place, argument});
  if (terms.back().has(Index::Query) && terms.back().has(Index::Key))
    return wrong("a tensor in a score is indexed by the query or by the key, not by both");
  return Emitter::result(argument, {}, place);
}

namespace {

/// Writes the score of an attention that has been added without one.
class ScoreWriter {
public:
  ScoreWriter(Call &call, size_t index, AttentionOp op)
      : call(call), index(index), emit(call.emit), op(op) {}

  /// False after a report.
  bool write(const LayerValue &layer, const Shape &queries, const Shape &keys) {
    OpBuilder::InsertionGuard guard(emit.builder);
    Value logit = run(layer);
    if (logit.isPoison())
      return false;
    emit.builder.setInsertionPointToEnd(&body);
    if (logit.isNumber())
      logit = emit.scalar(logit.asNumber(), call.place);
    if (!logit.isTensor() || logit.holdsIntegers || !logit.shape.empty()) {
      call.error(index, "the score makes " + describe(logit) + ", expected a number");
      return false;
    }
    YieldOp::create(emit.builder, op.getLoc(), logit.tensor);
    emit.builder.setInsertionPoint(op);
    for (Operation &inner : llvm::make_early_inc_range(body.without_terminator()))
      if (llvm::none_of(inner.getOperands(),
                        [&](mlir::Value operand) { return operand.getParentBlock() == &body; }))
        inner.moveBefore(op);
    if (!isolate() || !assign(Scoring::Index::Query, queries, op.getQueryTermsMutable()) ||
        !assign(Scoring::Index::Key, keys, op.getKeyTermsMutable()))
      return false;
    for (size_t i = 0; i < scoring.terms.size(); ++i)
      body.eraseArgument(4);
    auto owned = std::make_unique<Block>();
    for (BlockArgument argument : body.getArguments())
      argument.replaceAllUsesWith(owned->addArgument(argument.getType(), argument.getLoc()));
    owned->getOperations().splice(owned->end(), body.getOperations());
    op.getScore().push_back(owned.release());
    return true;
  }

private:
  /// Runs the layer with the numbers that it has parameters for.
  Value run(LayerValue layer) {
    Location loc = op.getLoc();
    Type number = tensorOf({}, emit.builder.getF32Type());
    auto add = [&](llvm::StringRef name) {
      Value value = Emitter::result(body.addArgument(number, loc), {}, call.place);
      if (layer.definition &&
          llvm::any_of(layer.definition->parameters, [&](const auto &p) { return p.name == name; }))
        layer.bound.push_back({name.str(), call.places[index], value});
      return value.tensor;
    };
    add("score");
    if (layer.bound.empty() || layer.bound.back().name != "score")
      return call.error(index, "'" + layer.name() +
                                   "' has no parameter 'score': expected a layer of numbers, "
                                   "whose parameters score, query, key and head are given");
    scoring.query = add("query"), scoring.key = add("key"), scoring.head = add("head");
    emit.builder.setInsertionPointToEnd(&body);
    Scoring *outer = std::exchange(emit.scoring, &scoring);
    Value result = emit.runBound(layer, "score", call.place);
    emit.scoring = outer;
    return result;
  }

  /// What is used of outside becomes the body's own: constants are repeated, numbers are taken.
  bool isolate() {
    llvm::DenseMap<mlir::Value, mlir::Value> own;
    for (Operation &inner : llvm::make_early_inc_range(body)) {
      emit.builder.setInsertionPoint(&inner);
      for (OpOperand &operand : inner.getOpOperands()) {
        mlir::Value value = operand.get();
        if (value.getParentBlock() == &body)
          continue;
        auto [entry, inserted] = own.try_emplace(value);
        if (inserted && !shapeOf(value).empty()) {
          call.error(index, "the score uses a tensor " + shapeText(shapeOf(value)) +
                                ": expected an element of it, indexed by query, key or head");
          return false;
        }
        if (inserted && value.getDefiningOp<ConstantOp>()) {
          OpBuilder::InsertionGuard guard(emit.builder);
          emit.builder.setInsertionPointToStart(&body);
          entry->second = emit.builder.clone(*value.getDefiningOp())->getResult(0);
        } else if (inserted) {
          auto argument = body.addArgument(value.getType(), value.getLoc());
          entry->second = argument;
          scoring.terms.push_back(
              {Emitter::result(value, {}, call.place), {}, call.place, argument});
        }
        operand.set(entry->second);
      }
    }
    return true;
  }

  /// The terms of queries or keys, [batch, terms, heads, positions], and an argument for each.
  bool assign(Scoring::Index side, const Shape &rows, MutableOperandRange operand) {
    std::vector<Value> terms;
    emit.builder.setInsertionPoint(op);
    for (Scoring::Term &term : scoring.terms) {
      const bool ofKey = term.has(Scoring::Index::Key);
      if (ofKey != (side == Scoring::Index::Key))
        continue;
      if (term.tensor.tensor.getParentBlock() == &body) {
        emit.diagnostics.error(term.place, "what a score takes an element of depends on the score");
        return false;
      }
      terms.push_back(spread(term, side, rows));
      if (terms.back().isPoison())
        return false;
      term.argument.replaceAllUsesWith(
          body.addArgument(term.argument.getType(), term.argument.getLoc()));
    }
    if (terms.size() > mostTerms) {
      call.error(index, "the score takes " + llvm::Twine(terms.size()) +
                            " numbers of each position, expected at most " +
                            llvm::Twine(mostTerms));
      return false;
    }
    if (terms.empty())
      return true;
    NamedAttribute axis = emit.builder.getNamedAttr("axis", emit.builder.getI64IntegerAttr(1));
    Value all =
        terms.size() == 1
            ? terms[0]
            : call.result(emit.add(ConcatOp::getOperationName(), terms, {axis}, call.place));
    if (!all.isPoison())
      operand.assign(all.tensor);
    return !all.isPoison();
  }

  /// [batch, 1, heads, positions] of a tensor with some of these dimensions.
  Value spread(const Scoring::Term &term, Scoring::Index side, const Shape &rows) {
    const Value &tensor = term.tensor;
    const bool hasBatch = tensor.shape.size() > term.indices.size();
    Shape kept{hasBatch ? tensor.shape[0] : Dim(1), Dim(1), Dim(1), Dim(1)};
    const Shape whole{rows[0], Dim(1), Dim(static_cast<int64_t>(op.getHeads())), rows[1]};
    SmallVector<int64_t> permutation;
    if (hasBatch)
      permutation.push_back(0);
    for (auto [at, wanted] : {std::pair(2, Scoring::Index::Head), std::pair(3, side)})
      if (auto found = llvm::find(term.indices, wanted); found != term.indices.end()) {
        const auto dimension = found - term.indices.begin() + hasBatch;
        permutation.push_back(dimension);
        kept[at] = tensor.shape[dimension];
      }
    for (size_t i = 0; i < whole.size(); ++i)
      if (kept[i] != whole[i] && !kept[i].isOne())
        return emit.diagnostics.error(
            term.place,
            "what the score takes of " + text(tensor) + " has the sizes " + text(kept) +
                " of batch, 1, heads and positions, expected " + text(whole),
            {{tensor.origin, "the tensor comes from here"}});
    Value value = tensor;
    if (!llvm::is_sorted(permutation))
      value =
          call.result(emit.add(TransposeOp::getOperationName(), value,
                               {emit.builder.getNamedAttr(
                                   "permutation", emit.builder.getDenseI64ArrayAttr(permutation))},
                               term.place));
    if (!value.isPoison())
      value = call.result(emit.reshape(value, kept, term.place));
    return value.isPoison() ? value : call.result(emit.broadcastTo(value, whole, term.place));
  }

  static constexpr size_t mostTerms = 8;
  Call &call;
  size_t index;
  Emitter &emit;
  AttentionOp op;
  Block body;
  Scoring scoring{&body, {}, {}, {}, {}, nullptr};
};

const Operator &attentionOperator() {
  return *llvm::find_if(operators(), [](const Operator &op) { return op.name == "attention"; });
}

/// The op as it is, then what the language adds: `score` and `return_lse`.
Value runAttention(Call &call) {
  const size_t count = call.builtin.op->parameters.size(), score = count, returnLse = count + 1;
  Value result = runOperator(call);
  if (result.isPoison())
    return {};
  auto op = result.tensor.getDefiningOp<AttentionOp>();
  if (call.has(score)) {
    if (call.value(score).kind != Value::Kind::Layer)
      return call.error(score, "score is " + describe(call.value(score)) + ", expected a layer");
    ScoreWriter writer(call, score, op);
    if (!writer.write(*call.value(score).layer, call.value(0).shape, call.value(1).shape))
      return {};
  }
  if (!call.boolean(returnLse, false))
    return call.failed ? Value() : result;
  const Shape rows{result.shape[0], Dim(static_cast<int64_t>(op.getHeads())), result.shape[1]};
  return Value::of(std::vector<Value>{result, Emitter::result(op.getLse(), rows, call.place)});
}

} // namespace

llvm::ArrayRef<Builtin> attentionBuiltins() {
  static const Builtin builtins[] = {
      {"attention", operatorParameters(attentionOperator()) + ", score?, return_lse?", runAttention,
       &attentionOperator()}};
  return builtins;
}

} // namespace hybrid::dsl
