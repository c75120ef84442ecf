//===- LowerSoftmaxScan.cpp - the softmax scan ------------------------------===//
#include "codegen/cpu/Lowerings.h"
#include "codegen/cpu/kernels/SoftmaxScan.h"
#include "codegen/program/ScanLowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid::cpu {

LogicalResult lower(SoftmaxScanOp op, ProgramBuilder &program) {
  SoftmaxScanParams params{};
  SmallVector<BufferUse> buffers = softmaxScanOperands(op, program, params);
  View y = program.define(op.getResult()), lse = program.defineDense(op.getLse());
  params.yStride = *y.rowStride(), params.hasFinalState = op.getReturnState();
  buffers.append({program.use(y), program.use(lse),
                  op.getReturnState() ? program.use(program.defineDense(op.getFinalState()))
                                      : program.absent()});
  int64_t blocks =
      y.element.isF64() ? softmaxScanBlocks<double>(params) : softmaxScanBlocks<float>(params);
  program.launch("softmax_scan_forward", y.element, params.batch * blocks, wordsOf(params),
                 buffers);
  return success();
}

LogicalResult lower(SoftmaxScanGradOp op, ProgramBuilder &program) {
  SoftmaxScanParams params{};
  SmallVector<BufferUse> buffers = softmaxScanOperands(op, program, params);
  int64_t cotangentStride;
  View y = program.rows(op.getOutput(), params.yStride),
       dy = program.rows(op.getCotangent(), cotangentStride);
  if (cotangentStride != params.yStride) { // the kernel reads both with one stride
    if (!y.isDense())
      y = program.denseCopy(y);
    if (!dy.isDense())
      dy = program.denseCopy(dy);
    params.yStride = *y.rowStride();
  }
  params.hasFinalState = !!op.getStateCotangent();
  Type element = y.element;
  bool wide = element.isF64();
  int64_t batch = params.batch, keys = params.keys, taps = params.taps;
  int64_t blocks = wide ? softmaxScanBlocks<double>(params) : softmaxScanBlocks<float>(params),
          keyBlocks =
              wide ? softmaxScanKeyBlocks<double>(params) : softmaxScanKeyBlocks<float>(params);

  // Results in order: dk, dv, then those of the optional operands that are present.
  unsigned next = 2;
  Value dTapsResult = params.taps ? op.getResult(next++) : Value(),
        dDecayResult = params.hasDecay ? op.getResult(next++) : Value(),
        dStateResult = params.hasState ? op.getResult(next++) : Value();
  // A key whose channels are in several blocks has a gradient in several parts.
  View dk = keyBlocks > 1 ? program.temporary({keyBlocks, batch * params.length, keys}, element)
                          : program.define(op.getResult(0)),
       dv = program.define(op.getResult(1));
  params.dkStride = keyBlocks > 1 ? keys : *dk.rowStride(), params.dvStride = *dv.rowStride();
  buffers.append({program.use(y), program.optionalUse(op.getLse()), program.use(dy),
                  program.optionalUse(op.getFinalState()),
                  program.optionalUse(op.getStateCotangent()), program.use(dk), program.use(dv)});
  int64_t rows = softmaxScanStateRows(params), parts = keyBlocks * batch;
  View dState, dTaps, dDecay, dWeights;
  auto temporary = [&](bool present, View &view, ArrayRef<int64_t> shape) {
    if (!present)
      return program.absent();
    view = program.temporary(shape, element);
    return program.use(view);
  };
  if (dStateResult)
    dState = program.defineDense(dStateResult);
  buffers.push_back(dStateResult ? program.use(dState) : program.absent());
  buffers.push_back(temporary(taps > 0, dTaps, {parts, taps, keys}));
  buffers.push_back(temporary(params.hasDecay, dDecay, {parts, keys}));
  buffers.push_back(temporary(params.hasState, dWeights, {keyBlocks, batch, rows, keys}));
  program.launch("softmax_scan_backward", element, batch * blocks, wordsOf(params), buffers,
                 wide ? softmaxScanBackwardScratch<double>(params)
                      : softmaxScanBackwardScratch<float>(params));

  if (keyBlocks > 1)
    program.sumPartials(dk, keyBlocks, batch * params.length * keys,
                        program.defineDense(op.getResult(0)));
  if (dTapsResult && !dTapsResult.use_empty())
    program.sumPartials(dTaps, parts, taps * keys, program.defineDense(dTapsResult));
  if (dDecayResult && !dDecayResult.use_empty())
    program.sumPartials(dDecay, parts, keys, program.defineDense(dDecayResult));
  if (dStateResult) {
    View weights = program.temporary({batch, rows, keys}, element);
    program.sumPartials(dWeights, keyBlocks, batch * rows * keys, weights);
    program.copy(weights, dState.sliced({0, 0, params.channels}, {batch, rows, keys}));
  }
  return success();
}

} // namespace hybrid::cpu
