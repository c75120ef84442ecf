//===- SoftmaxScan.cpp - scans with a softmax over the past -----------------===//
#include "codegen/kernels/SoftmaxScan.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

enum { Decay = 3, Segments, InitialState }; // places in the common operands

/// Sets what the scan and its gradient have in common, and returns the buffers both start with: k,
/// v, taps, decay, segments, initial state.
template <typename Op>
static SmallVector<BufferUse> commonOperands(Op op, ProgramBuilder &program,
                                             SoftmaxScanParams &params) {
  View k = program.rows(op.getK(), params.kStride), v = program.rows(op.getV(), params.vStride);
  params.batch = v.shape[0], params.length = v.shape[1], params.channels = v.shape[2];
  params.keys = k.shape[2], params.taps = op.getTaps() ? shapeOf(op.getTaps())[0] : 0;
  params.hasDecay = !!op.getDecay(), params.hasSegments = !!op.getSegments(),
  params.hasState = !!op.getInitialState();
  SmallVector<BufferUse> buffers{program.use(k), program.use(v)};
  for (Value operand : {op.getTaps(), op.getDecay(), op.getSegments(), op.getInitialState()})
    buffers.push_back(program.optionalUse(operand));
  program.ask<SoftmaxScanDivision>(v.element, params);
  return buffers;
}

/// Where the blocks of a scan divided over time start: summaries of what their rows do to `values`
/// values, and a flag, by the kernel Summary of `operands`, from which the kernel Entries, with
/// `given` before them, finds the entries.
template <typename Summary, typename Entries>
static BufferUse entriesOf(ProgramBuilder &program, const SoftmaxScanParams &params, Type element,
                           int64_t values, SmallVector<BufferUse> operands,
                           SmallVector<BufferUse> given) {
  if (params.timeBlocks == 1)
    return program.absent();
  const int64_t columns = params.batch * params.channels;
  View summaries = program.temporary({params.timeBlocks, values + 1, columns}, element),
       entries = program.temporary({params.timeBlocks, values, columns}, element);
  operands.push_back(program.use(summaries));
  program.launch<Summary>(element, params, operands);
  given.append({program.use(summaries), program.use(entries)});
  program.launch<Entries>(element, params, given);
  return program.use(entries);
}

template <> LogicalResult lower(SoftmaxScanOp op, ProgramBuilder &program) {
  SoftmaxScanParams params{};
  SmallVector<BufferUse> buffers = commonOperands(op, program, params);
  View y = program.define(op.getResult()), lse = program.defineDense(op.getLse());
  params.yStride = *y.rowStride(), params.hasFinalState = op.getReturnState();
  BufferUse finalState = op.getReturnState() ? program.use(program.defineDense(op.getFinalState()))
                                             : program.absent(),
            entries = entriesOf<SoftmaxScanSummary, SoftmaxScanEntries>(
                program, params, y.element, softmaxScanTailValues, buffers,
                {buffers[Decay], buffers[InitialState]});
  buffers.append({program.use(y), program.use(lse), finalState, entries});
  program.launch<SoftmaxScanForward>(y.element, params, buffers);
  return success();
}

template <> LogicalResult lower(SoftmaxScanGradOp op, ProgramBuilder &program) {
  SoftmaxScanParams params{};
  SmallVector<BufferUse> buffers = commonOperands(op, program, params);
  auto [y, dy] = program.rowsAlike(op.getOutput(), op.getCotangent(), params.yStride);
  params.hasFinalState = !!op.getStateCotangent();
  Type element = y.element;
  const int64_t batch = params.batch, keys = params.keys, taps = params.taps,
                keyParts = program.ask<SoftmaxScanKeyParts>(element, params);

  // Results in order: dk, dv, then those of the optional operands that are present.
  unsigned next = 2;
  Value dTapsResult = params.taps ? op.getResult(next++) : Value(),
        dDecayResult = params.hasDecay ? op.getResult(next++) : Value(),
        dStateResult = params.hasState ? op.getResult(next++) : Value();
  // A key whose channels are in several blocks has a gradient in several parts.
  View dk = keyParts > 1 ? program.temporary({keyParts, batch * params.length, keys}, element)
                         : program.define(op.getResult(0)),
       dv = program.define(op.getResult(1));
  params.dkStride = keyParts > 1 ? keys : *dk.rowStride(), params.dvStride = *dv.rowStride();
  SmallVector<BufferUse> outputs{program.use(y), program.optionalUse(op.getLse()), program.use(dy),
                                 program.optionalUse(op.getFinalState()),
                                 program.optionalUse(op.getStateCotangent())};
  SmallVector<BufferUse> operands{buffers[Decay], buffers[Segments]};
  operands.append(outputs);
  BufferUse entries = entriesOf<SoftmaxScanGradientSummary, SoftmaxScanGradientEntries>(
      program, params, element, softmaxScanGradientValues, operands, {buffers[Decay]});
  buffers.append(outputs);
  buffers.append({program.use(dk), program.use(dv)});
  const int64_t rows = softmaxScanStateRows(params), parts = params.timeBlocks * keyParts * batch;
  View dState, dTaps, dDecay, dWeights;
  auto temporary = [&](bool present, View &view, ArrayRef<int64_t> size) {
    if (!present)
      return program.absent();
    view = program.temporary(size, element);
    return program.use(view);
  };
  if (dStateResult)
    dState = program.defineDense(dStateResult);
  buffers.push_back(dStateResult ? program.use(dState) : program.absent());
  buffers.push_back(temporary(taps > 0, dTaps, {parts, taps, keys}));
  buffers.push_back(temporary(params.hasDecay, dDecay, {parts, keys}));
  buffers.push_back(temporary(params.hasState, dWeights, {keyParts, batch, rows, keys}));
  buffers.push_back(entries);
  program.launch<SoftmaxScanBackward>(element, params, buffers);

  if (keyParts > 1)
    program.sumPartials(dk, keyParts, batch * params.length * keys,
                        program.defineDense(op.getResult(0)));
  if (dTapsResult && !dTapsResult.use_empty())
    program.sumPartials(dTaps, parts, taps * keys, program.defineDense(dTapsResult));
  if (dDecayResult && !dDecayResult.use_empty())
    program.sumPartials(dDecay, parts, keys, program.defineDense(dDecayResult));
  if (dStateResult) {
    View weights = program.temporary({batch, rows, keys}, element);
    program.sumPartials(dWeights, keyParts, batch * rows * keys, weights);
    program.copy(weights, dState.sliced({0, 0, params.channels}, {batch, rows, keys}));
  }
  return success();
}

} // namespace hybrid
