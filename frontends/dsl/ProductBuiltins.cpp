//===- ProductBuiltins.cpp - matmul of any rank, and einsum --------------------===//
//
// Both are products of two tensors whose dimensions have names: those that both have and the result
// has too number the products, those that it has not are summed over. They become one `matmul`,
// with what numbers rows left as it is; nothing is repeated to the size of the other operand.
//
//===----------------------------------------------------------------------===//
#include "frontends/dsl/Builtins.h"
#include "frontends/dsl/FreeSizes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace hybrid::dsl {
namespace {

using Names = std::vector<std::string>;

/// A tensor with a name for each dimension.
struct Term {
  Value x;
  Names names;

  const Dim &sizeOf(const std::string &name) const {
    return x.shape[static_cast<size_t>(llvm::find(names, name) - names.begin())];
  }
};

Names operator+(Names a, const Names &b) {
  llvm::append_range(a, b);
  return a;
}

class Contraction {
public:
  explicit Contraction(Call &call) : call(call) {}

  /// The product of a and b, summed over what `wanted` does not hold, in some order.
  Term run(Term a, Term b, const Names &wanted);
  /// The dimensions in this order, those of other names summed over.
  Value arranged(const Term &term, const Names &order);
  Term summed(Term term, function_ref<bool(const std::string &)> isKept);

private:
  Shape sizesOf(const Term &term, const Names &names) {
    Shape sizes;
    for (const std::string &name : names)
      sizes.push_back(term.sizeOf(name));
    return sizes;
  }
  Value reshaped(const Value &x, const Shape &shape) {
    return call.failed ? Value() : call.result(call.emit.reshape(x, shape, call.place));
  }
  Value elementwise(const Term &a, const Term &b);
  Value matmul(const Value &a, const Value &b, StringRef flag);
  Value byRows(const Term &a, const Term &b, const Names &rows, const Names &columns,
               const Dim &inner, const Dim &outer);
  Value byColumns(const Term &a, const Term &b, const Dim &left, const Dim &right);

  Call &call;
  Names batch, contracted;
};

Value Contraction::arranged(const Term &term, const Names &order) {
  SmallVector<int64_t> permutation;
  for (const std::string &name : order)
    permutation.push_back(llvm::find(term.names, name) - term.names.begin());
  return call.failed ? Value() : call.emit.transpose(term.x, permutation, call.place);
}

Term Contraction::summed(Term term, function_ref<bool(const std::string &)> isKept) {
  SmallVector<int64_t> axes;
  Names kept;
  for (auto [axis, name] : llvm::enumerate(term.names)) {
    if (isKept(name))
      kept.push_back(name);
    else
      axes.push_back(static_cast<int64_t>(axis));
  }
  return {call.emit.sum(term.x, axes, call.place), kept};
}

/// [batch..., names of a..., of b..., contracted...], the contracted ones summed over.
Value Contraction::elementwise(const Term &a, const Term &b) {
  Names order = batch;
  const Term *terms[] = {&a, &b};
  for (const Term *term : terms)
    for (const std::string &name : term->names)
      if (!llvm::is_contained(order, name) && !llvm::is_contained(contracted, name))
        order.push_back(name);
  order = order + contracted;
  Value sides[2];
  for (auto [side, term] : llvm::zip(sides, terms)) {
    Names own;
    Shape shape;
    for (const std::string &name : order) {
      const bool has = llvm::is_contained(term->names, name);
      shape.push_back(has ? term->sizeOf(name) : Dim(1));
      if (has)
        own.push_back(name);
    }
    side = reshaped(arranged(*term, own), shape);
  }
  if (call.failed)
    return {};
  Value product = call.result(call.emit.binary(BinaryKind::Mul, sides[0], sides[1], call.place));
  if (call.failed)
    return {};
  auto axes = llvm::to_vector(
      llvm::seq<int64_t>(std::ssize(order) - std::ssize(contracted), std::ssize(order)));
  return call.emit.sum(product, axes, call.place);
}

Value Contraction::matmul(const Value &a, const Value &b, StringRef flag) {
  if (call.failed)
    return {};
  NamedAttrList attributes;
  if (!flag.empty())
    attributes.append(flag, call.emit.builder.getUnitAttr());
  return call.result(call.emit.add(MatmulOp::getOperationName(), {a, b}, attributes, call.place));
}

/// [batch..., rows..., columns...]: b's columns are one dimension of its matrices.
Value Contraction::byRows(const Term &a, const Term &b, const Names &rows, const Names &columns,
                          const Dim &inner, const Dim &outer) {
  Shape shape = sizesOf(a, batch + rows), matrices = sizesOf(b, batch);
  Value left = reshaped(arranged(a, batch + rows + contracted), [&] {
    Shape own = shape;
    own.push_back(inner);
    return own;
  }());
  const bool innerLast = llvm::is_contained(contracted, b.names.back());
  llvm::append_range(matrices, innerLast ? Shape{outer, inner} : Shape{inner, outer});
  Value right = reshaped(
      arranged(b, batch + (innerLast ? columns + contracted : contracted + columns)), matrices);
  Value product = matmul(left, right, innerLast ? "transpose_b" : "");
  llvm::append_range(shape, sizesOf(b, columns));
  return reshaped(product, shape);
}

/// [left..., right...] of a sum over what both begin with, which need not be one dimension.
Value Contraction::byColumns(const Term &a, const Term &b, const Dim &left, const Dim &right) {
  auto isColumn = [&](const std::string &name) { return !llvm::is_contained(contracted, name); };
  const Term *terms[] = {&a, &b};
  const Dim sizes[] = {left, right};
  Shape shape;
  Value sides[2];
  for (auto [side, term, columns] : llvm::zip(sides, terms, sizes)) {
    Names own;
    llvm::copy_if(term->names, std::back_inserter(own), isColumn);
    Shape rows = sizesOf(*term, contracted);
    rows.push_back(columns);
    side = reshaped(arranged(*term, contracted + own), rows);
    llvm::append_range(shape, sizesOf(*term, own));
  }
  return reshaped(matmul(sides[0], sides[1], "transpose_a"), shape);
}

Term Contraction::run(Term a, Term b, const Names &wanted) {
  auto isIn = [](const Names &names) {
    return [&](const std::string &name) { return llvm::is_contained(names, name); };
  };
  auto isWanted = isIn(wanted);
  a = summed(std::move(a), [&](auto &name) { return isWanted(name) || isIn(b.names)(name); });
  b = summed(std::move(b), [&](auto &name) { return isWanted(name) || isIn(a.names)(name); });
  Names left, right;
  batch.clear(), contracted.clear();
  for (const std::string &name : a.names)
    (!isIn(b.names)(name) ? left : isWanted(name) ? batch : contracted).push_back(name);
  llvm::copy_if(b.names, std::back_inserter(right),
                [&](const std::string &name) { return !isIn(a.names)(name); });
  const Names both = left + right;
  if (contracted.empty() || both.empty())
    return {elementwise(a, b), batch + both};
  const std::optional<Dim> inner = productOf(sizesOf(a, contracted)),
                           rows = productOf(sizesOf(a, left)),
                           columns = productOf(sizesOf(b, right));
  if (inner && columns)
    return {byRows(a, b, left, right, *inner, *columns), batch + both};
  if (inner && rows)
    return {byRows(b, a, right, left, *inner, *rows), batch + right + left};
  if (batch.empty() && rows && columns)
    return {byColumns(a, b, *rows, *columns), both};
  call.errorHere("the product of " + text(a.x) + " and " + text(b.x) +
                 " has matrices whose sizes are products of what is only known when compiling");
  return {};
}

//===-- matmul ----------------------------------------------------------------===//

/// Dimensions in front of the matrices are aligned at the last one; one of size 1 is any.
Value runMatmul(Call &call) {
  Value a = call.tensor(0), b = call.tensor(1);
  const bool transposeA = call.boolean(2, false), transposeB = call.boolean(3, false);
  if (call.failed)
    return {};
  if (b.shape.size() == 2 && !transposeA) {
    NamedAttrList attributes;
    if (transposeB)
      attributes.append("transpose_b", call.emit.builder.getUnitAttr());
    return call.result(call.emit.add(MatmulOp::getOperationName(), {a, b}, attributes, call.place));
  }
  for (size_t side : {0, 1})
    if ((side ? b : a).shape.size() < 2)
      return call.error(
          side, call.names[side] + " is " + text(side ? b : a) + ", expected [..., rows, columns]",
          {side});
  const size_t rank = std::max(a.shape.size(), b.shape.size());
  auto isRepeated = [&](const Value &own, const Value &other, size_t place) {
    const size_t after = rank - place; // dimensions from here on
    return after <= own.shape.size() && own.shape[own.shape.size() - after].isOne() &&
           after <= other.shape.size() && !other.shape[other.shape.size() - after].isOne();
  };
  Names wanted;
  for (size_t place = 0; place + 2 < rank; ++place)
    wanted.push_back(std::to_string(place));
  auto named = [&](const Value &own, const Value &other, const Names &matrix) {
    Term term;
    Shape shape;
    for (size_t place = rank - own.shape.size(); place < rank; ++place) {
      const bool ofMatrix = place + 2 >= rank;
      if (!ofMatrix && isRepeated(own, other, place))
        continue;
      shape.push_back(own.shape[place - (rank - own.shape.size())]);
      term.names.push_back(ofMatrix ? matrix[place + 2 - rank] : std::to_string(place));
    }
    term.x = call.result(call.emit.reshape(own, shape, call.place));
    return term;
  };
  Term left = named(a, b, transposeA ? Names{"inner", "row"} : Names{"row", "inner"}),
       right = named(b, a, transposeB ? Names{"column", "inner"} : Names{"inner", "column"});
  for (const std::string &name : left.names)
    if (llvm::is_contained(right.names, name) && left.sizeOf(name) != right.sizeOf(name))
      return call.errorHere("a is " + text(a) + " and b is " + text(b) + ": " +
                                (name == "inner" ? "inner sizes " : "leading sizes ") +
                                text(left.sizeOf(name)) + " and " + text(right.sizeOf(name)) +
                                " differ",
                            {0, 1});
  wanted.insert(wanted.end(), {"row", "column"});
  Contraction contraction(call);
  Term product = contraction.run(std::move(left), std::move(right), wanted);
  return contraction.arranged(product, wanted);
}

//===-- einsum ----------------------------------------------------------------===//

/// The names of a term, separated by spaces.
Names namesOf(StringRef term) {
  Names names;
  for (StringRef name : llvm::split(term, ' '))
    if (!name.empty())
      names.push_back(name.str());
  return names;
}

/// What is wrong with names of dimensions, or nothing.
std::string faultOf(const Names &names) {
  for (auto [i, name] : llvm::enumerate(names)) {
    if (!llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; }))
      return "'" + name + "' is no name of a dimension: expected letters, digits and '_'";
    if (llvm::is_contained(ArrayRef(names).take_front(i), name))
      return "'" + name + "' stands twice in a term";
  }
  return "";
}

Value runEinsum(Call &call) {
  const Value &given = call.value(0);
  if (given.kind != Value::Kind::String)
    return call.wrong(0, "a string such as \"b l d, d e -> b l e\"");
  std::vector<Value> tensors{call.tensor(1)};
  if (call.has(2)) {
    const Value &others = call.value(2);
    if (others.kind != Value::Kind::List)
      return call.wrong(2, "a list of tensors");
    for (const Value &other : *others.list) {
      if (!other.isTensor() || other.holdsIntegers)
        return other.isPoison()
                   ? Value()
                   : call.errorHere("expected tensors of numbers, but got " + describe(other));
      tensors.push_back(other);
    }
  }
  if (call.failed)
    return {};
  auto [operands, result] = StringRef(given.string).split("->");
  if (!StringRef(given.string).contains("->") || result.contains("->"))
    return call.error(0, "\"" + given.string +
                             "\" has no result: expected terms such as \"b l d, d e -> b l e\"");
  SmallVector<StringRef> parts;
  operands.split(parts, ',');
  if (parts.size() != tensors.size())
    return call.error(0, "\"" + given.string + "\" is of " + llvm::Twine(parts.size()) +
                             " tensors, but " + llvm::Twine(tensors.size()) + " are given");
  const Names wanted = namesOf(result);
  std::string fault = faultOf(wanted);
  std::vector<Term> terms;
  llvm::StringMap<Dim> sizes;
  for (auto [part, tensor] : llvm::zip(parts, tensors)) {
    Term &term = terms.emplace_back(Term{tensor, namesOf(part)});
    if (fault.empty())
      fault = faultOf(term.names);
    if (fault.empty() && term.names.size() != tensor.shape.size())
      fault = "the tensor " + text(tensor) + " has " + std::to_string(tensor.shape.size()) +
              " dimensions, but '" + part.trim().str() + "' are " +
              std::to_string(term.names.size()) + " names (separated by spaces)";
    for (size_t i = 0; fault.empty() && i < term.names.size(); ++i) {
      auto [size, isNew] = sizes.try_emplace(term.names[i], tensor.shape[i]);
      if (!isNew && size->second != tensor.shape[i])
        fault =
            "'" + term.names[i] + "' is " + text(size->second) + " and " + text(tensor.shape[i]);
    }
  }
  for (const std::string &name : wanted)
    if (fault.empty() && !sizes.contains(name))
      fault = "'" + name + "' of the result is a dimension of no tensor";
  if (!fault.empty())
    return call.error(0, fault);
  Contraction contraction(call);
  Term product = terms.front();
  for (size_t next = 1; next < terms.size() && !call.failed; ++next) {
    Names needed = wanted; // by the result and by what is still to come
    for (const Term &later : ArrayRef(terms).drop_front(next + 1))
      llvm::append_range(needed, later.names);
    product = contraction.run(std::move(product), terms[next], needed);
  }
  if (call.failed)
    return {};
  product = contraction.summed(std::move(product), [&](const std::string &name) {
    return llvm::is_contained(wanted, name);
  });
  return contraction.arranged(product, wanted);
}

} // namespace

llvm::ArrayRef<Builtin> productBuiltins() {
  static const Builtin builtins[] = {
      {"matmul", "a, b, transpose_a?, transpose_b?", runMatmul, nullptr,
       "Matrix products of a [..., M, K] and b [..., K, N]; with `transpose_a` a is [..., K, M], "
       "with `transpose_b` b is\n  [..., N, K]. Leading dimensions are aligned at the last one; a "
       "missing one or one of size 1 is any."},
      {"einsum", "terms, x, others*", runEinsum, nullptr,
       "Product of tensors whose dimensions have names, separated by spaces: \"b l d, d e -> b l "
       "e\". A dimension that the\n  result has not is summed over. Several tensors are multiplied "
       "from left to right."},
  };
  return builtins;
}

} // namespace hybrid::dsl
