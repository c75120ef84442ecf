//===- ShortConv.cpp - short convolutions -----------------------------------===//
#include "codegen/kernels/ShortConv.h"
#include "codegen/lowering/Alignment.h"
#include "codegen/lowering/Lowering.h"
#include "codegen/lowering/ShortConvReaders.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

ShortConvChannels shortConvChannels(Value value) {
  int64_t first = 0;
  for (;;) {
    Operation *op = value.getDefiningOp();
    const auto channels = static_cast<int64_t>(shapeOf(value).size()) - 1;
    if (auto conv = dyn_cast_or_null<ShortConvOp>(op); conv && value == conv.getResult())
      return {conv, first};
    if (auto split = dyn_cast_or_null<SplitOp>(op);
        split && static_cast<int64_t>(split.getAxis()) == channels) {
      for (Value part : split.getParts().take_front(cast<OpResult>(value).getResultNumber()))
        first += shapeOf(part).back();
      value = split.getX();
    } else if (auto slice = dyn_cast_or_null<SliceOp>(op);
               slice && shapeOf(slice.getX()).drop_back() == shapeOf(value).drop_back()) {
      first += slice.getStarts().back();
      value = slice.getX();
    } else {
      return {};
    }
  }
}

/// Whether all that read `value`, channels of `conv`, compute them themselves.
static bool allCompute(ShortConvOp conv, Value value, const ProgramBuilder &program) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    ResultRange results = use.getOwner()->getResults();
    const bool isPart =
        llvm::any_of(results, [&](Value result) { return shortConvChannels(result).op == conv; });
    return isPart ? llvm::all_of(results,
                                 [&](Value result) { return allCompute(conv, result, program); })
                  : computesShortConv(use, program);
  });
}

/// Whether its result need not be in memory.
static bool isComputedByReaders(ShortConvOp op, const ProgramBuilder &program) {
  return program.device().kind == Device::Cuda && !op.getSegments() && !op.getInitialState() &&
         !op.getReturnState() && allCompute(op, op.getResult(), program);
}

/// Sizes and options of both directions; `rows` are what neighbouring channels are moved of.
template <typename Op>
static ShortConvParams shortConvParams(Op op, const View &x, ArrayRef<View> rows,
                                       ProgramBuilder &program) {
  ShortConvParams params{};
  ArrayRef<int64_t> weight = shapeOf(op.getWeight());
  params.batch = x.shape[0], params.length = x.shape[1], params.channels = weight[0];
  params.taps = weight[1];
  params.sumsRepeats = lastSize(op.getX()) != weight[0];
  params.repeats = repeatedChannels(x, params.channels);
  params.together = program.ask<ShortConvTogether>(x.element, params,
                                                   rowAlignment(params.channels, rows, /*most=*/2));
  params.rowsPerItem = program.ask<ShortConvRows>(x.element, params);
  params.hasSegments = !!op.getSegments(), params.hasState = !!op.getInitialState();
  return params;
}

template <> LogicalResult lower(ShortConvOp op, ProgramBuilder &program) {
  if (isComputedByReaders(op, program)) {
    program.alias(op.getResult(), View());
    return success();
  }
  int64_t xStride;
  View x = program.rows(op.getX(), xStride);
  const View bias = program.optionalDense(op.getBias()),
             state = program.optionalDense(op.getInitialState()),
             finalState = op.getReturnState() ? program.defineDense(op.getFinalState()) : View();
  Store y = program.storeOf(op.getResult());
  ShortConvParams params = shortConvParams(op, x, {x, bias, state, finalState}, program);
  params.xStride = xStride, params.yStride = y.stride;
  params.hasBias = bias.isPresent(), params.hasFinalState = finalState.isPresent();
  program.launch<ShortConvForward>(x.element, params,
                                   {x, program.optionalUse(op.getWeight()), bias,
                                    program.optionalUse(op.getSegments()), state, finalState},
                                   y);
  return success();
}

template <> LogicalResult lower(ShortConvGradOp op, ProgramBuilder &program) {
  if (program.device().kind != Device::Cuda && lastSize(op.getX()) != lastSize(op.getCotangent()))
    return op.emitOpError() << "x has " << lastSize(op.getX()) << " channels and the cotangent "
                            << lastSize(op.getCotangent())
                            << ": channels that share an input are for CUDA";
  int64_t xStride, dyStride;
  View x = program.rows(op.getX(), xStride), dy = program.rows(op.getCotangent(), dyStride);
  Store dx = program.storeOf(op.getDx());
  const View state = program.optionalDense(op.getInitialState()),
             dFinal = program.optionalDense(op.getStateCotangent()),
             dInitial = op.getDinitialState() ? program.defineDense(op.getDinitialState()) : View();
  ShortConvParams params = shortConvParams(op, x, {x, dy, state, dFinal, dInitial}, program);
  params.xStride = xStride, params.yStride = dyStride, params.dxStride = dx.stride;
  params.hasFinalState = dFinal.isPresent();
  const int64_t items = shortConvItems(params), taps = params.taps, channels = params.channels;
  View partial = program.temporary({items, taps + 1, channels}, x.element);
  program.launch<ShortConvBackward>(x.element, params,
                                    {x, program.optionalUse(op.getWeight()),
                                     program.optionalUse(op.getSegments()), state, dy, dFinal,
                                     dInitial, partial, program.absent()},
                                    dx);
  const int64_t stride = (taps + 1) * channels;
  if (!op.getDweight().use_empty()) {
    View tapMajor = program.temporary({taps, channels}, x.element);
    program.sumPartials(partial, items, stride, tapMajor);
    program.copy(tapMajor.transposed({1, 0}), program.define(op.getDweight())); // any layout
  }
  if (!op.getDbias().use_empty())
    program.sumPartials(partial.sliced({0, taps, 0}, {items, 1, channels}), items, stride,
                        program.defineDense(op.getDbias()));
  return success();
}

} // namespace hybrid
