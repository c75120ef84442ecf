//===- ProductChain.cpp - products of what products made ----------------------===//
#include "codegen/kernels/ProductChain.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/ProductChain.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

/// A view of whole packs; copies when there is none.
static View aligned(ProgramBuilder &program, Value value) {
  int64_t stride;
  View view = program.rows(value, stride);
  const bool isAligned =
      stride % cuda::productChainAlignment == 0 && view.offset % cuda::productChainAlignment == 0;
  return isAligned ? view : program.denseCopy(view);
}

template <> LogicalResult lower(ProductChainOp op, ProgramBuilder &program) {
  if (program.device().kind != Device::Cuda)
    return op.emitOpError() << "has no " << program.device().name()
                            << " lowering: hybrid-chain-products is for CUDA";
  FailureOr<ProductChainParts> parts = partsOf(op);
  if (failed(parts))
    return failure();
  using Params = ProductChainParams;
  // What the kernel has room for is what the pass makes.
  auto tooMany = [&](size_t count, int64_t most, StringRef of) -> LogicalResult {
    if (static_cast<int64_t>(count) <= most)
      return success();
    return op.emitError() << "has " << count << " " << of << ", the kernel takes up to " << most;
  };
  SmallVector<Value> inputs; // of the body
  for (const RowsProduct &product : parts->first)
    if (!llvm::is_contained(inputs, product.rows))
      inputs.push_back(product.rows);
  if (failed(tooMany(inputs.size(), Params::mostInputs, "inputs")) ||
      failed(tooMany(parts->first.size(), Params::mostFirsts, "first products")) ||
      failed(tooMany(parts->second.size(), Params::mostSeconds, "second products")) ||
      failed(tooMany(parts->rounded.size(), Params::mostResults, "rounded values")))
    return failure();
  auto outside = [&](Value argument) {
    return op.getOperand(cast<BlockArgument>(argument).getArgNumber());
  };
  SmallVector<View> x, first, second, saved(Params::mostResults);
  Params p{};
  p.inner = shapeOf(parts->function.getResult(0)).back();
  p.outputs = shapeOf(parts->sum).back();
  p.rows = elementCount(shapeOf(parts->sum)) / p.outputs;
  using cuda::chosen;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    x.push_back(aligned(program, outside(input)));
    chosen(i, p.inputs0, p.inputs1) = x[i].columns();
    chosen(i, p.xStride0, p.xStride1) = *x[i].rowStride();
  }
  p.firsts = static_cast<int64_t>(parts->first.size());
  for (auto [i, product] : llvm::enumerate(parts->first)) {
    first.push_back(aligned(program, outside(product.weight)));
    chosen(i, p.input0, p.input1, p.input2) = llvm::find(inputs, product.rows) - inputs.begin();
    chosen(i, p.transposed0, p.transposed1, p.transposed2) = product.transposed;
    chosen(i, p.stride0, p.stride1, p.stride2) = *first[i].rowStride();
  }
  p.seconds = static_cast<int64_t>(parts->second.size());
  for (auto [j, product] : llvm::enumerate(parts->second)) {
    second.push_back(aligned(program, outside(product.weight)));
    chosen(j, p.secondTransposed0, p.secondTransposed1) = product.transposed;
    chosen(j, p.secondStride0, p.secondStride1) = *second[j].rowStride();
    // The same columns of the same matrix, by rows for the one and by columns for the other.
    for (auto [i, other] : llvm::enumerate(parts->first))
      if (other.weight == product.weight && other.transposed != product.transposed &&
          cuda::inputOf(p, cuda::firstOf(p, i).input).columns == p.outputs)
        chosen(j, p.shared0, p.shared1) = static_cast<int64_t>(i) + 1;
  }
  p.results = static_cast<int64_t>(parts->rounded.size());
  for (auto [result, yielded] :
       llvm::zip(op.getResults(), op.getBody().front().getTerminator()->getOperands()))
    if (auto round = yielded.getDefiningOp<RoundOp>()) {
      const auto k = llvm::find(parts->rounded, round) - parts->rounded.begin();
      saved[k] = program.define(result);
      chosen(k, p.savedStride0, p.savedStride1, p.savedStride2) = *saved[k].rowStride();
    }
  x.resize(Params::mostInputs), first.resize(Params::mostFirsts);
  second.resize(Params::mostSeconds);
  const Type element = cast<RankedTensorType>(op.getResult(0).getType()).getElementType();
  p = program.ask<ProductChainTiles>(element, p, program.device().sharedBytes);
  if (p.rowTile == 0)
    return op.emitError() << "has rows of " << p.inputs0
                          << (p.inputs1 ? " and " + std::to_string(p.inputs1) : "") << ", "
                          << p.inner << " between and " << p.outputs
                          << " behind; expected multiples of 16, a multiple of 32, and 32, 64 or "
                             "128, that fit the shared memory of a block ("
                          << program.device().sharedBytes << " bytes)";
  SmallVector<BufferUse> buffers;
  for (const View &view : llvm::concat<const View>(x, first, second, saved))
    buffers.push_back(view.isPresent() ? program.use(view) : ProgramBuilder::absent());
  Store y = program.storeOf(op.getResult(0));
  p.yStride = y.stride;
  program.launch<ProductChain>(element, p, ArrayRef<BufferUse>(buffers), y,
                               program.functionOf(parts->function.getBody()));
  return success();
}

} // namespace hybrid
