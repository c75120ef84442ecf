//===- LowerSequence.cpp - convolutions and attention -----------------------===//
#include "codegen/cpu/Lowerings.h"
#include "codegen/kernels/Kernels.h"
#include "codegen/program/AttentionLowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid::cpu {

//===-- short_conv -------------------------------------------------------------===//

static ShortConvParams shortConvParams(const View &x, Value weight) {
  ShortConvParams params{};
  params.batch = x.shape[0], params.length = x.shape[1], params.channels = x.shape[2];
  params.taps = shapeOf(weight)[1];
  // Whole rows of a sequence an item: long enough that the taps' halo is small, short enough for
  // many items.
  params.rowsPerItem = std::min<int64_t>(params.length, 128);
  return params;
}

LogicalResult lower(ShortConvOp op, ProgramBuilder &program) {
  int64_t xStride;
  View x = program.rows(op.getX(), xStride), y = program.define(op.getResult());
  ShortConvParams params = shortConvParams(x, op.getWeight());
  params.xStride = xStride, params.yStride = *y.rowStride();
  params.hasBias = !!op.getBias(), params.hasSegments = !!op.getSegments(),
  params.hasState = !!op.getInitialState();
  params.hasFinalState = op.getReturnState();
  BufferUse finalState =
      op.getReturnState() ? program.use(program.defineDense(op.getFinalState())) : program.absent();
  program.launch("short_conv_forward", x.element,
                 params.batch * ceilDiv(params.length, params.rowsPerItem), wordsOf(params),
                 {program.use(x), program.optionalUse(op.getWeight()),
                  program.optionalUse(op.getBias()), program.optionalUse(op.getSegments()),
                  program.optionalUse(op.getInitialState()), program.use(y), finalState});
  return success();
}

LogicalResult lower(ShortConvGradOp op, ProgramBuilder &program) {
  int64_t xStride, dyStride;
  View x = program.rows(op.getX(), xStride), dy = program.rows(op.getCotangent(), dyStride),
       dx = program.define(op.getDx());
  ShortConvParams params = shortConvParams(x, op.getWeight());
  params.xStride = xStride, params.yStride = dyStride, params.dxStride = *dx.rowStride();
  params.hasSegments = !!op.getSegments(), params.hasState = !!op.getInitialState(),
  params.hasFinalState = !!op.getStateCotangent();
  int64_t grid = params.batch * ceilDiv(params.length, params.rowsPerItem), taps = params.taps,
          channels = params.channels;
  View partial = program.temporary({grid, taps + 1, channels}, x.element);
  BufferUse dState = op.getDinitialState() ? program.use(program.defineDense(op.getDinitialState()))
                                           : program.absent();
  program.launch("short_conv_backward", x.element, grid, wordsOf(params),
                 {program.use(x), program.optionalUse(op.getWeight()),
                  program.optionalUse(op.getSegments()), program.optionalUse(op.getInitialState()),
                  program.use(dy), program.optionalUse(op.getStateCotangent()), program.use(dx),
                  dState, program.use(partial)});
  int64_t stride = (taps + 1) * channels;
  if (!op.getDweight().use_empty()) {
    View tapMajor = program.temporary({taps, channels}, x.element);
    program.sumPartials(partial, grid, stride, tapMajor);
    program.copy(tapMajor.transposed({1, 0}), program.define(op.getDweight())); // any layout
  }
  if (!op.getDbias().use_empty())
    program.sumPartials(partial.sliced({0, taps, 0}, {grid, 1, channels}), grid, stride,
                        program.defineDense(op.getDbias()));
  return success();
}

//===-- fftconv ----------------------------------------------------------------===//

namespace {
/// Constants and tables a forward and a backward convolution share.
struct Convolution {
  FFTConvParams params{};
  View spectrum, twiddles, filter;
  int64_t channelBlocks = 0;
  Type element;

  Convolution(ProgramBuilder &program, const View &x, Value filterValue) : element(x.element) {
    params.batch = x.shape[0], params.length = x.shape[1], params.channels = x.shape[2];
    params.taps = shapeOf(filterValue)[0];
    params.transformSize = fftconvTransformSize(params.length, params.taps);
    bool wide = element.isF64();
    channelBlocks = ceilDiv(params.channels, wide ? lanes<double> : lanes<float>);
    int64_t elements =
        wide ? fftconvSpectrumElements<double>(params) : fftconvSpectrumElements<float>(params);
    // The spectrum kernel reads nothing but these: its constants are the same for all uses of a
    // filter shape.
    FFTConvParams spectrumParams{};
    spectrumParams.channels = params.channels, spectrumParams.taps = params.taps,
    spectrumParams.transformSize = params.transformSize;
    filter = program.dense(filterValue);
    FFTConvParams tableParams{};
    tableParams.transformSize = params.transformSize;
    twiddles = program.constantTable("fftconv_twiddles", element, 1, wordsOf(tableParams),
                                     wide ? fftconvTwiddleElements<double>(params.transformSize)
                                          : fftconvTwiddleElements<float>(params.transformSize));
    spectrum = program.derived(filterValue, params.transformSize, [&] {
      View made = program.temporary({elements}, element);
      program.launch("fftconv_spectrum", element, channelBlocks, wordsOf(spectrumParams),
                     {program.use(filter), program.use(twiddles), program.use(made)});
      return made;
    });
  }

  int64_t forwardScratch() const {
    return element.isF64() ? fftconvForwardScratch<double>(params)
                           : fftconvForwardScratch<float>(params);
  }
  int64_t backwardScratch() const {
    return element.isF64() ? fftconvBackwardScratch<double>(params)
                           : fftconvBackwardScratch<float>(params);
  }
};
} // namespace

static BufferUse gate(ProgramBuilder &program, Value value, int64_t &has, int64_t &stride) {
  has = !!value;
  return value ? program.use(program.rows(value, stride)) : program.absent();
}

/// Sets what a forward and a backward convolution have in common, and returns the buffers both
/// start with: x, spectrum, twiddles, skip, gates, segments, filter.
template <typename Op>
static SmallVector<BufferUse> commonOperands(Op op, ProgramBuilder &program, const View &x,
                                             Convolution &conv) {
  FFTConvParams &params = conv.params;
  BufferUse gateIn = gate(program, op.getGateIn(), params.hasGateIn, params.gateInStride);
  BufferUse gateOut = gate(program, op.getGateOut(), params.hasGateOut, params.gateOutStride);
  params.hasSkip = !!op.getSkip(), params.hasSegments = !!op.getSegments();
  BufferUse skip = program.optionalUse(op.getSkip()),
            segments = program.optionalUse(op.getSegments());
  return {
      program.use(x), program.use(conv.spectrum), program.use(conv.twiddles), skip, gateIn, gateOut,
      segments,       program.use(conv.filter)};
}

LogicalResult lower(FFTConvOp op, ProgramBuilder &program) {
  if (op.getInitialState() || op.getReturnState())
    return op.emitOpError() << "with a state and packed segments together is not supported on the "
                               "CPU: carry the state or pack, not both";
  int64_t xStride;
  View x = program.rows(op.getX(), xStride);
  Convolution conv(program, x, op.getFilter());
  FFTConvParams &params = conv.params;
  params.xStride = xStride;
  SmallVector<BufferUse> buffers = commonOperands(op, program, x, conv);
  View y = program.define(op.getResult());
  params.yStride = *y.rowStride();
  buffers.push_back(program.use(y));
  program.launch("fftconv_forward", x.element, conv.channelBlocks * params.batch, wordsOf(params),
                 buffers, conv.forwardScratch());
  return success();
}

LogicalResult lower(FFTConvGradOp op, ProgramBuilder &program) {
  int64_t xStride;
  View x = program.rows(op.getX(), xStride);
  Convolution conv(program, x, op.getFilter());
  FFTConvParams &params = conv.params;
  params.xStride = xStride;
  SmallVector<BufferUse> buffers = commonOperands(op, program, x, conv);
  View dy = program.rows(op.getCotangent(), params.yStride);

  // Results in order: dx, dfilter, then those of the optional operands that are present.
  unsigned next = 0;
  auto activation = [&](bool present, int64_t &stride) {
    if (!present)
      return program.absent();
    View view = program.define(op.getResult(next++));
    stride = *view.rowStride();
    return program.use(view);
  };
  auto small = [&](bool present) {
    return present ? program.use(program.defineDense(op.getResult(next++))) : program.absent();
  };
  BufferUse dx = activation(true, params.dxStride), dFilter = small(true),
            dSkip = small(params.hasSkip);
  BufferUse dGateIn = activation(params.hasGateIn, params.dGateInStride),
            dGateOut = activation(params.hasGateOut, params.dGateOutStride);
  buffers.append({program.use(dy), dx, dFilter, dSkip, dGateIn, dGateOut});
  program.launch("fftconv_backward", x.element, conv.channelBlocks, wordsOf(params), buffers,
                 conv.backwardScratch());
  return success();
}

//===-- attention --------------------------------------------------------------===//

LogicalResult lower(AttentionOp op, ProgramBuilder &program) {
  AttentionParams params = attentionParams(op);
  params.scale = op.getSoftmaxScale();
  View q = program.rows(op.getQ(), params.qStride), k = program.rows(op.getK(), params.kStride),
       v = program.rows(op.getV(), params.vStride);
  BufferUse segments = program.optionalUse(op.getSegments()),
            rotary = rotaryTable(op, program, params);
  View o = program.define(op.getResult()), lse = program.defineDense(op.getLse());
  params.oStride = *o.rowStride();
  program.launch("attention_forward", q.element, params.batch * params.heads, wordsOf(params),
                 {program.use(q), program.use(k), program.use(v), segments, rotary, program.use(o),
                  program.use(lse)},
                 q.element.isF64() ? attentionForwardScratch<double>(params)
                                   : attentionForwardScratch<float>(params));
  return success();
}

LogicalResult lower(AttentionGradOp op, ProgramBuilder &program) {
  AttentionParams params = attentionParams(op);
  params.scale = op.getScale().convertToDouble();
  View q = program.rows(op.getQ(), params.qStride), k = program.rows(op.getK(), params.kStride),
       v = program.rows(op.getV(), params.vStride);
  BufferUse segments = program.optionalUse(op.getSegments()),
            rotary = rotaryTable(op, program, params);
  View o = program.rows(op.getOutput(), params.oStride), lse = program.dense(op.getLse());
  int64_t cotangentStride;
  View dy = program.rows(op.getCotangent(), cotangentStride);
  if (cotangentStride != params.oStride) { // the kernel reads both with one stride
    if (!o.isDense())
      o = program.denseCopy(o);
    if (!dy.isDense())
      dy = program.denseCopy(dy);
    params.oStride = *o.rowStride();
  }
  View dq = program.define(op.getDq()), dk = program.define(op.getDk()),
       dv = program.define(op.getDv());
  params.dqStride = *dq.rowStride(), params.dkStride = *dk.rowStride(),
  params.dvStride = *dv.rowStride();
  program.launch("attention_backward", q.element, params.batch * params.kvHeads, wordsOf(params),
                 {program.use(q), program.use(k), program.use(v), segments, rotary, program.use(o),
                  program.use(lse), program.use(dy), program.use(dq), program.use(dk),
                  program.use(dv)},
                 q.element.isF64() ? attentionBackwardScratch<double>(params)
                                   : attentionBackwardScratch<float>(params));
  return success();
}

} // namespace hybrid::cpu
