//===- LoopEmitter.cpp - generated kernels as loops -------------------------===//
#include "codegen/cpu/LoopEmitter.h"
#include "codegen/loops/KernelFunction.h"
#include "codegen/loops/Recurrence.h"
#include "codegen/loops/ScalarExpressions.h"
#include "codegen/program/IterationSpace.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace hybrid::cpu {
using loops::emitBody;
using loops::KernelFunction;

namespace {

/// Elements an innermost loop covers when everything is contiguous.
constexpr int64_t blockElements = 2048;

} // namespace

GeneratedKernel LoopEmitter::elementwise(GeneratedKernels &kernels, Block *body,
                                         ArrayRef<View> operands, ArrayRef<View> results,
                                         bool byRows, std::optional<size_t> ifFinite) const {
  SmallVector<View> buffers(operands);
  buffers.append(results.begin(), results.end());
  IterationSpace space = collapse(results[0].shape, buffers, byRows);
  KernelFunction kernel(kernels, buffers);
  const SmallVector<size_t> source = readThrough(operands, results);
  auto element = [&](ArrayRef<Value> at) {
    SmallVector<Value> loaded;
    for (size_t i = 0; i < operands.size(); ++i)
      loaded.push_back(kernel.load(source[i], at[source[i]]));
    for (auto [i, value] : llvm::enumerate(emitBody(kernel.builder, body, loaded)))
      kernel.store(value, operands.size() + i, at[operands.size() + i]);
  };
  int64_t inner = space.shape.back();
  auto at = [&](Value j, ArrayRef<Value> base) {
    SmallVector<Value> positions;
    for (size_t v = 0; v < buffers.size(); ++v) {
      int64_t stride = space.strides[v].back();
      positions.push_back(stride ? kernel.add(base[v], kernel.scaled(j, stride)) : base[v]);
    }
    return positions;
  };
  // What follows is done only if the number is finite: if x - x = 0.
  auto enterIfFinite = [&] {
    if (!ifFinite)
      return;
    ImplicitLocOpBuilder &b = kernel.builder;
    Value number = kernel.load(*ifFinite, kernel.index(0));
    Value zero = arith::ConstantOp::create(b, b.getFloatAttr(number.getType(), 0));
    Value finite = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                                         arith::SubFOp::create(b, number, number), zero);
    b.setInsertionPointToStart(scf::IfOp::create(b, finite, /*withElseRegion=*/false).thenBlock());
  };
  int64_t grid;
  if (space.shape.size() == 1) { // one long row, cut into blocks
    grid = (inner + blockElements - 1) / blockElements;
    kernel.forGrid([&](Value block) {
      OpBuilder::InsertionGuard guard(kernel.builder);
      enterIfFinite();
      Value lo = kernel.scaled(block, blockElements);
      Value hi = arith::MinUIOp::create(kernel.builder, kernel.add(lo, kernel.index(blockElements)),
                                        kernel.index(inner));
      SmallVector<Value> base(buffers.size(), kernel.index(0));
      kernel.forEach(lo, hi, [&](Value j) { element(at(j, base)); });
    });
  } else {
    ArrayRef<int64_t> outer = ArrayRef(space.shape).drop_back();
    grid = elementCount(outer);
    SmallVector<SmallVector<int64_t>> outerStrides;
    for (auto &strides : space.strides)
      outerStrides.push_back(SmallVector<int64_t>(ArrayRef(strides).drop_back()));
    kernel.forGrid([&](Value row) {
      OpBuilder::InsertionGuard guard(kernel.builder);
      enterIfFinite();
      SmallVector<Value> base = kernel.offsetsAt(row, outer, outerStrides);
      kernel.forCount(inner, [&](Value j) { element(at(j, base)); });
    });
  }
  return {kernel.finish(body ? "fused" : "copy"),
          grid,
          {},
          space.shape.size() == 1 ? blockElements : inner};
}

GeneratedKernel LoopEmitter::fill(GeneratedKernels &kernels, const View &to, double value) const {
  IterationSpace space = collapse(to.shape, {to});
  KernelFunction kernel(kernels, {to});
  ArrayRef<int64_t> outer = ArrayRef(space.shape).drop_back();
  SmallVector<SmallVector<int64_t>> outerStrides{
      SmallVector<int64_t>(ArrayRef(space.strides[0]).drop_back())};
  kernel.forGrid([&](Value row) {
    Value constant =
        arith::ConstantOp::create(kernel.builder, kernel.builder.getFloatAttr(to.element, value));
    Value base = kernel.offsetsAt(row, outer, outerStrides)[0];
    kernel.forCount(space.shape.back(), [&](Value j) {
      kernel.store(constant, 0, kernel.add(base, kernel.scaled(j, space.strides[0].back())));
    });
  });
  return {kernel.finish("fill"), elementCount(outer)};
}

GeneratedKernel LoopEmitter::reduction(GeneratedKernels &kernels, ReduceKind kind, const Load &load,
                                       ArrayRef<int64_t> axes, const View &to) const {
  assert(load.operands.size() == 1 && "reductions are not fused here");
  const View &from = load.operands.front();
  // Kept dimensions are the grid, reduced ones the loops inside.
  SmallVector<int64_t> keptShape, keptStrides, reducedShape, reducedStrides;
  for (size_t i = 0; i < from.shape.size(); ++i) {
    bool reduced = llvm::is_contained(axes, static_cast<int64_t>(i));
    (reduced ? reducedShape : keptShape).push_back(from.shape[i]);
    (reduced ? reducedStrides : keptStrides).push_back(from.strides[i]);
  }
  View target = to; // `keep` leaves sizes of 1 behind: drop them
  target.shape = keptShape;
  target.strides = denseStrides(keptShape);
  View kept = from, inner = from;
  kept.shape = keptShape, kept.strides = keptStrides;
  inner.shape = reducedShape, inner.strides = reducedStrides;
  IterationSpace outer = collapse(keptShape, {kept, target}),
                 loops = collapse(reducedShape, {inner});
  int64_t count = elementCount(reducedShape);

  KernelFunction kernel(kernels, {from, to});
  ImplicitLocOpBuilder &b = kernel.builder;
  auto number = [&](double value) {
    return arith::ConstantOp::create(b, b.getFloatAttr(to.element, value));
  };
  auto reassociate = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::reassoc);
  kernel.forGrid([&](Value row) {
    SmallVector<Value> base = kernel.offsetsAt(row, outer.shape, outer.strides);
    double neutral = kind == ReduceKind::Max ? -std::numeric_limits<double>::infinity() : 0;
    std::function<Value(size_t, Value, Value)> nest = [&](size_t depth, Value offset,
                                                          Value value) -> Value {
      return kernel.fold(loops.shape[depth], value, [&](Value i, Value sum) -> Value {
        Value at = kernel.add(offset, kernel.scaled(i, loops.strides[0][depth]));
        if (depth + 1 < loops.shape.size())
          return nest(depth + 1, at, sum);
        Value loaded = emitBody(b, load.body, kernel.load(0, at)).front();
        if (kind == ReduceKind::Max)
          return arith::MaximumFOp::create(b, sum, loaded);
        return arith::AddFOp::create(b, sum, loaded, reassociate);
      });
    };
    Value result = nest(0, base[0], number(neutral));
    if (kind == ReduceKind::Mean)
      result = arith::MulFOp::create(b, result, number(1.0 / static_cast<double>(count)));
    kernel.store(result, 1, base[1]);
  });
  return {kernel.finish("reduce"), elementCount(keptShape)};
}

GeneratedKernel LoopEmitter::rowSums(GeneratedKernels &kernels, const Load &load,
                                     int64_t rowsPerItem, const View &partial, double scale) const {
  assert(load.operands.size() == 1 && "reductions are not fused here");
  const View &from = load.operands.front();
  int64_t rows = from.shape[0], columns = from.shape[1];
  KernelFunction kernel(kernels, {from, partial});
  ImplicitLocOpBuilder &b = kernel.builder;
  kernel.forGrid([&](Value item) {
    Value lo = kernel.scaled(item, rowsPerItem);
    Value hi =
        arith::MinUIOp::create(b, kernel.add(lo, kernel.index(rowsPerItem)), kernel.index(rows));
    Value base = kernel.scaled(item, columns);
    Value zero = arith::ConstantOp::create(b, b.getFloatAttr(partial.element, 0));
    kernel.forCount(columns, [&](Value j) { kernel.store(zero, 1, kernel.add(base, j)); });
    Value factor = arith::ConstantOp::create(b, b.getFloatAttr(partial.element, scale));
    kernel.forEach(lo, hi, [&](Value row) {
      Value source = kernel.scaled(row, from.strides[0]);
      kernel.forCount(columns, [&](Value j) {
        Value at = kernel.add(base, j);
        Value value =
            emitBody(b, load.body,
                     kernel.load(0, kernel.add(source, kernel.scaled(j, from.strides[1]))))
                .front();
        if (scale != 1)
          value = arith::MulFOp::create(b, value, factor);
        kernel.store(arith::AddFOp::create(b, kernel.load(1, at), value), 1, at);
      });
    });
  });
  return {kernel.finish("row_sums"), (rows + rowsPerItem - 1) / rowsPerItem};
}

GeneratedKernel LoopEmitter::recurrence(GeneratedKernels &kernels, RecurrenceStepOp step) const {
  KernelFunction kernel(kernels, loops::viewsOf(step));
  const int64_t items = loops::emitRecurrence(kernel, step);
  return {kernel.finish(loops::nameOf(step)), items};
}

std::string LoopEmitter::store(GeneratedKernels &, Block *, ArrayRef<View>, ArrayRef<View>) const {
  llvm_unreachable("kernels for the CPU store elements themselves");
}

void LoopEmitter::function(GeneratedKernels &kernels, StringRef name, Block *body) const {
  MLIRContext *context = kernels.module.getContext();
  ImplicitLocOpBuilder builder(UnknownLoc::get(context), context);
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto function =
      func::FuncOp::create(builder, name, builder.getFunctionType({pointer, pointer}, {}));
  function.setPrivate();
  builder.setInsertionPointToStart(function.addEntryBlock());
  Type element = elementOf(body->getArgument(0));
  auto type = VectorType::get({64 / bytesOf(element)}, element);
  auto place = [&](unsigned argument, int64_t i) {
    return LLVM::GEPOp::create(builder, pointer, type, function.getArgument(argument),
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
  };
  SmallVector<Value> operands;
  for (unsigned i = 0; i < body->getNumArguments(); ++i)
    operands.push_back(LLVM::LoadOp::create(builder, type, place(0, i)));
  for (auto [i, value] : llvm::enumerate(emitBody(builder, body, operands)))
    LLVM::StoreOp::create(builder, value, place(1, static_cast<int64_t>(i)));
  func::ReturnOp::create(builder);
  kernels.module.push_back(function);
}

} // namespace hybrid::cpu
