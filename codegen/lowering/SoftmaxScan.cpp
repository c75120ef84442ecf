//===- SoftmaxScan.cpp - scans with a softmax over the past -----------------===//
#include "codegen/kernels/cpu/SoftmaxScan.h"
#include "codegen/kernels/cuda/SoftmaxScanParams.h"
#include "codegen/lowering/Lowering.h"
#include "codegen/program/ScanLowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

namespace cpu {

static LogicalResult lower(SoftmaxScanOp op, ProgramBuilder &program) {
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

static LogicalResult lower(SoftmaxScanGradOp op, ProgramBuilder &program) {
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

} // namespace cpu

namespace cuda {

/// Sets what the scan and its gradient have in common, and returns the buffers both start with: k,
/// v, taps, decay, segments, initial state.
template <typename Op>
static SmallVector<BufferUse> commonOperands(Op op, ProgramBuilder &program,
                                             SoftmaxScanShape &shape) {
  SmallVector<BufferUse> buffers = softmaxScanOperands(op, program, shape);
  divideSoftmaxScan(shape);
  return buffers;
}

/// Where the blocks of a scan divided over time start: summaries of what their rows do, of `values`
/// values and a flag, by the kernel `prefix`_summary of `operands`, from which `prefix`_entries,
/// with `given` before them, finds the entries.
static BufferUse entriesOf(ProgramBuilder &program, const SoftmaxScanShape &shape, Type element,
                           const Twine &prefix, int64_t values, SmallVector<BufferUse> operands,
                           SmallVector<BufferUse> given) {
  if (shape.timeBlocks == 1)
    return program.absent();
  const int64_t columns = shape.batch * shape.channels;
  View summaries = program.temporary({shape.timeBlocks, values + 1, columns}, element),
       entries = program.temporary({shape.timeBlocks, values, columns}, element);
  operands.push_back(program.use(summaries));
  program.launch((prefix + "_summary").str(), element, softmaxScanItems(shape), wordsOf(shape),
                 operands, LaunchShape{softmaxScanThreads, 0});
  given.append({program.use(summaries), program.use(entries)});
  program.launch((prefix + "_entries").str(), element, ceilDiv(columns, softmaxScanEntriesThreads),
                 wordsOf(shape), given, LaunchShape{softmaxScanEntriesThreads, 0});
  return program.use(entries);
}

enum { Decay = 3, Segments, InitialState }; // places in the common operands

static LogicalResult lower(SoftmaxScanOp op, ProgramBuilder &program) {
  SoftmaxScanShape shape{};
  SmallVector<BufferUse> buffers = commonOperands(op, program, shape);
  View y = program.define(op.getResult()), lse = program.defineDense(op.getLse());
  shape.yStride = *y.rowStride(), shape.hasFinalState = op.getReturnState();
  BufferUse finalState = op.getReturnState() ? program.use(program.defineDense(op.getFinalState()))
                                             : program.absent(),
            entries = entriesOf(program, shape, y.element, "softmax_scan", softmaxScanTailValues,
                                buffers, {buffers[Decay], buffers[InitialState]});
  buffers.append({program.use(y), program.use(lse), finalState, entries});
  program.launch("softmax_scan_forward", y.element, softmaxScanItems(shape), wordsOf(shape),
                 buffers, LaunchShape{softmaxScanThreads, 0});
  return success();
}

static LogicalResult lower(SoftmaxScanGradOp op, ProgramBuilder &program) {
  SoftmaxScanShape shape{};
  SmallVector<BufferUse> buffers = commonOperands(op, program, shape);
  int64_t cotangentStride;
  View y = program.rows(op.getOutput(), shape.yStride),
       dy = program.rows(op.getCotangent(), cotangentStride);
  if (cotangentStride != shape.yStride) { // the kernel reads both with one stride
    if (!y.isDense())
      y = program.denseCopy(y);
    if (!dy.isDense())
      dy = program.denseCopy(dy);
    shape.yStride = *y.rowStride();
  }
  shape.hasFinalState = !!op.getStateCotangent();
  Type element = y.element;
  const int64_t batch = shape.batch, keys = shape.keys, taps = shape.taps,
                keyBlocks = softmaxScanKeyBlocks(shape);

  // Results in order: dk, dv, then those of the optional operands that are present.
  unsigned next = 2;
  Value dTapsResult = shape.taps ? op.getResult(next++) : Value(),
        dDecayResult = shape.hasDecay ? op.getResult(next++) : Value(),
        dStateResult = shape.hasState ? op.getResult(next++) : Value();
  // A key whose channels are in several blocks has a gradient in several parts.
  View dk = keyBlocks > 1 ? program.temporary({keyBlocks, batch * shape.length, keys}, element)
                          : program.define(op.getResult(0)),
       dv = program.define(op.getResult(1));
  shape.dkStride = keyBlocks > 1 ? keys : *dk.rowStride(), shape.dvStride = *dv.rowStride();
  SmallVector<BufferUse> outputs{program.use(y), program.optionalUse(op.getLse()), program.use(dy),
                                 program.optionalUse(op.getFinalState()),
                                 program.optionalUse(op.getStateCotangent())};
  SmallVector<BufferUse> operands{buffers[Decay], buffers[Segments]};
  operands.append(outputs);
  BufferUse entries = entriesOf(program, shape, element, "softmax_scan_gradient",
                                softmaxScanGradientValues, operands, {buffers[Decay]});
  buffers.append(outputs);
  buffers.append({program.use(dk), program.use(dv)});
  const int64_t rows = softmaxScanStateRows(shape), parts = shape.timeBlocks * keyBlocks * batch;
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
  buffers.push_back(temporary(shape.hasDecay, dDecay, {parts, keys}));
  buffers.push_back(temporary(shape.hasState, dWeights, {keyBlocks, batch, rows, keys}));
  buffers.push_back(entries);
  program.launch("softmax_scan_backward", element, softmaxScanItems(shape), wordsOf(shape), buffers,
                 LaunchShape{softmaxScanThreads, element.isF64()
                                                     ? softmaxScanBackwardBytes<double>(shape)
                                                     : softmaxScanBackwardBytes<float>(shape)});

  if (keyBlocks > 1)
    program.sumPartials(dk, keyBlocks, batch * shape.length * keys,
                        program.defineDense(op.getResult(0)));
  if (dTapsResult && !dTapsResult.use_empty())
    program.sumPartials(dTaps, parts, taps * keys, program.defineDense(dTapsResult));
  if (dDecayResult && !dDecayResult.use_empty())
    program.sumPartials(dDecay, parts, keys, program.defineDense(dDecayResult));
  if (dStateResult) {
    View weights = program.temporary({batch, rows, keys}, element);
    program.sumPartials(dWeights, keyBlocks, batch * rows * keys, weights);
    program.copy(weights, dState.sliced({0, 0, shape.channels}, {batch, rows, keys}));
  }
  return success();
}

} // namespace cuda

template <> LogicalResult lower(SoftmaxScanOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

template <> LogicalResult lower(SoftmaxScanGradOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

} // namespace hybrid
