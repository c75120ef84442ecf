//===- ProductSums.cpp - matrix products that are added to something --------===//
//
// A sum whose terms are matrix products, and at most one more, needs no pass of its own: the first
// product adds that term, all others what is there already. A residual so saves one of two reads
// and one of two writes of its size, a sum of k products one read and one write of 2 k + 1.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/CudaBackend.h"
#include "codegen/program/ProgramBuilder.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid::cuda {
namespace {

bool isProduct(Operation *op) { return isa_and_nonnull<LinearOp, MatmulOp>(op); }

/// A sum of matrix products in program order, and perhaps of one more value, there before them.
struct ProductSum {
  FusedOp op;
  SmallVector<Value> products;
  Value other;
};

/// Whether the region adds all of its operands, each once, and does nothing else.
bool addsOperands(FusedOp fused) {
  if (fused.getNumResults() != 1)
    return false;
  Block &body = fused.getBody().front();
  for (BlockArgument argument : body.getArguments())
    if (!argument.hasOneUse() || argument.getType() != fused.getResult(0).getType())
      return false;
  for (Operation &inner : body.without_terminator()) {
    auto sum = dyn_cast<BinaryOp>(&inner);
    if (!sum || sum.getKind() != BinaryKind::Add || !sum->hasOneUse())
      return false;
  }
  return true;
}

/// The sum that alone uses `product`; none where it has another form.
std::optional<ProductSum> sumOf(Value product) {
  if (!product.hasOneUse())
    return std::nullopt;
  auto fused = dyn_cast<FusedOp>(*product.user_begin());
  if (!fused || !addsOperands(fused))
    return std::nullopt;
  ProductSum sum{fused, {}, {}};
  for (Value operand : fused.getOperands()) {
    Operation *maker = operand.getDefiningOp();
    if (isProduct(maker) && operand.hasOneUse() && maker->getBlock() == fused->getBlock())
      sum.products.push_back(operand);
    else if (sum.other)
      return std::nullopt;
    else
      sum.other = operand;
  }
  llvm::sort(sum.products, [](Value a, Value b) {
    return a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp());
  });
  Operation *maker = sum.other ? sum.other.getDefiningOp() : nullptr;
  if (maker && !isa<ParameterOp, ConstantOp>(maker) &&
      !maker->isBeforeInBlock(sum.products[0].getDefiningOp()))
    return std::nullopt;
  return sum;
}

} // namespace

ProductPlace CudaBackend::productPlace(Value result, ProgramBuilder &program) const {
  std::optional<ProductSum> sum;
  if (!program.inTiles())
    sum = sumOf(result);
  if (!sum)
    return {program.define(result), std::nullopt, ""};
  ProductPlace to;
  to.source = sourceName(sum->op);
  if (result != sum->products[0]) {
    if (!program.isAbsorbed(sum->op))
      return {program.define(result), std::nullopt, ""};
    to.place = program.view(sum->op.getResult(0));
    to.addend = to.place;
  } else {
    if (sum->other)
      to.addend = program.view(sum->other);
    to.place = program.define(sum->op.getResult(0));
    if (!to.place.rowStride() || (to.addend && !to.addend->rowStride()))
      return {program.define(result), std::nullopt, ""};
    program.absorb(sum->op);
  }
  program.alias(result, to.place);
  return to;
}

} // namespace hybrid::cuda
