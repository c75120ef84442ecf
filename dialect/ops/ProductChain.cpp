//===- ProductChain.cpp - products of what products made ------------------===//
#include "dialect/ProductChain.h"

using namespace mlir;
using namespace hybrid;

std::optional<RowsProduct> hybrid::rowsProductOf(Operation *op) {
  if (auto linear = dyn_cast_if_present<LinearOp>(op); linear && !linear.getBias())
    return RowsProduct{op, linear.getX(), linear.getWeight(), false};
  auto matmul = dyn_cast_if_present<MatmulOp>(op);
  if (matmul && !matmul.getTransposeA() &&
      cast<RankedTensorType>(matmul.getB().getType()).getRank() == 2)
    return RowsProduct{op, matmul.getA(), matmul.getB(), !matmul.getTransposeB()};
  return std::nullopt;
}

FailureOr<ProductChainParts> hybrid::partsOf(ProductChainOp op) {
  Block &body = op.getBody().front();
  ProductChainParts parts;
  SmallVector<Value> terms;
  auto complain = [&](Operation &inner) {
    InFlightDiagnostic diagnostic =
        op.emitOpError() << "body holds '" << inner.getName()
                         << "' out of order, expected products of rows from outside, one "
                            "hybrid.fused of them, hybrid.round of its results, products of those, "
                            "and their sum";
    diagnostic.attachNote(inner.getLoc()) << "the op is here";
    return failure();
  };
  auto isOutside = [&](Value value) { return value.getDefiningOp() == nullptr; };
  for (Operation &inner : body.without_terminator()) { // C3
    if (std::optional<RowsProduct> product = rowsProductOf(&inner)) {
      const bool isFirst = isOutside(product->rows);
      auto round = product->rows.getDefiningOp<RoundOp>();
      if (!isOutside(product->weight) || isFirst == !!parts.function ||
          (!isFirst && (parts.second.size() == parts.rounded.size() ||
                        round != parts.rounded[parts.second.size()])))
        return complain(inner);
      (isFirst ? parts.first : parts.second).push_back(*product);
      if (!isFirst)
        terms.push_back(product->result());
    } else if (auto fused = dyn_cast<FusedOp>(inner)) {
      if (parts.function || fused.getNumOperands() != parts.first.size() ||
          !llvm::all_of_zip(fused.getOperands(), parts.first,
                            [](Value operand, const RowsProduct &product) {
                              return product.result() == operand;
                            }))
        return complain(inner);
      parts.function = fused;
    } else if (auto round = dyn_cast<RoundOp>(inner)) {
      if (!parts.function || parts.rounded.size() == parts.function.getNumResults() ||
          round.getX() != parts.function.getResult(parts.rounded.size()))
        return complain(inner);
      parts.rounded.push_back(round);
    } else {
      auto sum = dyn_cast<BinaryOp>(inner);
      if (!sum || sum.getKind() != BinaryKind::Add || !llvm::is_contained(terms, sum.getLhs()) ||
          !llvm::is_contained(terms, sum.getRhs()))
        return complain(inner);
      llvm::erase(terms, sum.getLhs()), llvm::erase(terms, sum.getRhs());
      terms.push_back(sum.getResult());
    }
  }
  if (parts.function && parts.rounded.size() != parts.function.getNumResults())
    return complain(*parts.function);
  OperandRange yielded = body.getTerminator()->getOperands();
  if (terms.size() != 1 || yielded.empty() || yielded.front() != terms.front() || // C4
      !llvm::all_of(yielded.drop_front(),
                    [](Value value) { return value.getDefiningOp<RoundOp>(); })) {
    op.emitOpError() << "yields something else than the sum of the products behind its "
                        "hybrid.fused, then results of hybrid.round";
    return failure();
  }
  parts.sum = terms.front();
  return parts;
}

LogicalResult ProductChainOp::verify() { return failure(failed(partsOf(*this))); }
