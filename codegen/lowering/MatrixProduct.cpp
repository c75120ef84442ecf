//===- MatrixProduct.cpp - products of matrices ----------------------------===//
#include "codegen/lowering/MatrixProduct.h"
#include "codegen/kernels/FewRows.h"
#include "codegen/kernels/RoundedLinear.h"
#include "codegen/kernels/SmallProduct.h"
#include "codegen/lowering/NormGradient.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

/// An operand of a matrix product: contiguous rows, or the transpose of such (then `transpose` is
/// flipped).
static View matrixOperand(ProgramBuilder &program, Value value, bool &transpose) {
  View view = program.view(value);
  if (view.rowStride())
    return view;
  if (view.shape.size() == 2 && view.strides[0] == 1 && view.strides[1] >= view.shape[0]) {
    transpose = !transpose;
    return view.transposed({1, 0});
  }
  int64_t stride;
  return program.rows(value, stride);
}

/// Whether the CPU's kernel for a few rows of bf16 computes a product.
static bool isOfFewRows(const ProgramBuilder &program, const View &a, bool transposeA,
                        const View &b, bool transposeB) {
  return program.device().kind == Device::Cpu && !program.inTiles() && a.element.isBF16() &&
         b.element.isBF16() && !transposeA && transposeB &&
         a.elements() / a.columns() <= mostFewRows;
}

static void multiplyFewRows(ProgramBuilder &program, const View &a, const View &b, Value bias,
                            const View &out) {
  FewRowsParams params{};
  params.inner = a.columns(), params.rows = a.elements() / params.inner;
  params.columns = out.columns();
  params.xStride = *a.rowStride(), params.weightStride = *b.rowStride();
  params.yStride = *out.rowStride(), params.hasBias = !!bias;
  program.launch<FewRowsProduct>(out.element, params, {a, b, program.optionalUse(bias), out});
}

/// Whether all that `user` reads beside `result` is there before the product that makes that.
static bool readsOnlyEarlier(Operation *user, Value result) {
  return llvm::all_of(user->getOperands(), [&](Value operand) {
    Operation *made = operand.getDefiningOp();
    return operand == result || !made || made->isBeforeInBlock(result.getDefiningOp());
  });
}

/// Whether `result` is read first by a region that FuseStores can compute where it is stored: all
/// else that it reads is there by then. Sums alone are computed by the library's products
/// (SumProducts), and what is only rounded is rounded by them (RoundBuffers).
static bool meetsRegion(Value result) {
  Operation *first = nullptr;
  for (Operation *user : result.getUsers())
    if (!first || user->isBeforeInBlock(first))
      first = user;
  auto region = dyn_cast_if_present<FusedOp>(first);
  if (!region || elementCount(region->getResult(0)) != elementCount(result))
    return false;
  const bool computes = llvm::any_of(region.getBody().front(), [](Operation &op) {
    auto binary = dyn_cast<BinaryOp>(op);
    return (binary && binary.getKind() != BinaryKind::Add) || isa<UnaryOp>(op);
  });
  return computes && readsOnlyEarlier(region, result);
}

/// Whether `result` is the cotangent of a function of rows alone, which a kernel of ours can
/// compute where it stores them (FuseRows).
static bool meetsRowGradient(Value result) {
  if (!result.hasOneUse())
    return false;
  auto gradient = dyn_cast<RowGradientOp>(*result.user_begin());
  return gradient && gradient.getCotangent() == result && readsOnlyEarlier(gradient, result);
}

/// A product by our own kernel, where that lets be computed in its store what comes next: a region,
/// or of few columns a gradient of rows.
static bool multiplyInFrontOf(ProgramBuilder &program, const View &a, const View &b,
                              bool transposeB, Value result) {
  Type element = cast<RankedTensorType>(result.getType()).getElementType();
  if (!program.device().rounds || program.inTiles() || !a.element.isBF16() || !b.element.isBF16() ||
      !element.isF32() || b.shape.size() != 2)
    return false;
  const bool isOfRows = meetsRowGradient(result);
  if (!isOfRows && !meetsRegion(result))
    return false;
  RoundedLinearParams params{};
  params.inputs = a.columns(), params.rows = a.elements() / params.inputs;
  params.outputs = shapeOf(result).back(), params.transposed = !transposeB;
  params.xStride = *a.rowStride(), params.weightStride = *b.rowStride();
  if (!program.ask<PaysRoundedLinear>(element, params, isOfRows, program.device().sharedBytes) ||
      a.offset % cuda::roundedLinearAlignment != 0 || b.offset % cuda::roundedLinearAlignment != 0)
    return false;
  params = program.ask<RoundedLinearTiles>(element, params, isOfRows);
  if (isOfRows && params.rowTile % rowsOfNormGradient(program, params.rows) != 0)
    return false;
  Store y = program.storeOf(result);
  params.yStride = y.stride;
  program.launch<RoundedLinear>(element, params, {a, b}, y);
  return true;
}

/// A product by our own kernel, where it is so small that a library takes longer to begin.
static bool multiplySmall(ProgramBuilder &program, const View &a, bool transposeA, const View &b,
                          bool transposeB, Value bias, Value result) {
  Type element = cast<RankedTensorType>(result.getType()).getElementType();
  if (program.device().products != ProductsBy::Auto || program.inTiles() || a.element != element ||
      b.element != element || element.isBF16() || b.shape.size() != 2)
    return false;
  SmallProductParams params{};
  const int64_t rows = a.elements() / a.columns();
  params.rows = transposeA ? a.columns() : rows, params.inner = transposeA ? rows : a.columns();
  params.columns = shapeOf(result).back(), params.hasBias = !!bias;
  params.transposeA = transposeA, params.transposeB = transposeB;
  params.aStride = *a.rowStride(), params.bStride = *b.rowStride();
  if (!program.ask<PaysSmallProduct>(element, params))
    return false;
  const BufferUse biasUse = program.optionalUse(bias);
  Store y = program.storeOf(result);
  params.yStride = y.stride;
  program.launch<SmallProduct>(element, params, {a, b, biasUse}, y);
  return true;
}

void multiply(ProgramBuilder &program, Value a, bool transposeA, Value b, bool transposeB,
              Value bias, Value result) {
  View left = matrixOperand(program, a, transposeA), right = matrixOperand(program, b, transposeB);
  if (!transposeA && !bias && multiplyInFrontOf(program, left, right, transposeB, result))
    return;
  if (multiplySmall(program, left, transposeA, right, transposeB, bias, result))
    return;
  std::optional<View> biasView;
  if (bias)
    biasView = program.dense(bias);
  View place = program.define(result), out = place;
  if (!place.rowStride())
    out = program.temporary(place.shape, place.element);
  if (isOfFewRows(program, left, transposeA, right, transposeB))
    multiplyFewRows(program, left, right, bias, out);
  else
    program.matmul(left, transposeA, right, transposeB, out, biasView);
  if (out.buffer != place.buffer)
    program.copy(out, place);
}

/// [batch..., rows..., columns], the first `batch` dimensions as one and the rows as one; nothing
/// where no view can be that.
static std::optional<View> asMatrices(const View &view, size_t batch) {
  int64_t count = 1, rows = 1;
  for (auto [i, size] : llvm::enumerate(ArrayRef(view.shape).drop_back()))
    (i < batch ? count : rows) *= size;
  return view.reshaped({count, rows, view.columns()});
}

static bool hasRows(const View &matrices) {
  return !!matrices.sliced({0, 0, 0}, {1, matrices.shape[1], matrices.shape[2]}).rowStride();
}

/// Matrices of an operand, or their transposes (then `transpose` is flipped).
static View matricesOf(ProgramBuilder &program, Value value, size_t batch, bool &transpose) {
  View view = program.view(value);
  // One matrix that is repeated is written out: not every library reads it from one place.
  std::optional<View> matrices = asMatrices(view, batch);
  if (matrices && (matrices->shape[0] == 1 || matrices->strides[0] > 0)) {
    if (hasRows(*matrices))
      return *matrices;
    if (View turned = matrices->transposed({0, 2, 1}); hasRows(turned)) {
      transpose = !transpose;
      return turned;
    }
  }
  return *asMatrices(program.denseCopy(view), batch);
}

void multiplyEach(ProgramBuilder &program, Value a, Value b, bool transposeB, Value result) {
  const size_t batch = shapeOf(b).size() - 2;
  bool transposeA = false;
  View left = matricesOf(program, a, batch, transposeA),
       right = matricesOf(program, b, batch, transposeB), place = program.define(result);
  std::optional<View> out = asMatrices(place, batch);
  const bool inPlace = out && hasRows(*out);
  View aside;
  if (!inPlace) {
    aside = program.temporary(place.shape, place.element);
    out = asMatrices(aside, batch);
  }
  if (left.shape[0] == 1) { // one matrix
    auto only = [](const View &view) { return *view.reshaped({view.shape[1], view.shape[2]}); };
    program.matmul(only(left), transposeA, only(right), transposeB, only(*out), std::nullopt);
  } else {
    program.batchedMatmul(left, transposeA, right, transposeB, *out);
  }
  if (!inPlace)
    program.copy(aside, place);
}

} // namespace hybrid
