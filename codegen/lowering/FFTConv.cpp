//===- FFTConv.cpp - long convolutions --------------------------------------===//
#include "codegen/kernels/Kernels.h"
#include "codegen/kernels/cuda/ToeplitzConvLaunch.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

namespace cpu {

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

static LogicalResult lower(FFTConvOp op, ProgramBuilder &program) {
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

static LogicalResult lower(FFTConvGradOp op, ProgramBuilder &program) {
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

} // namespace cpu

namespace cuda {

namespace {

View twiddles(ProgramBuilder &program, Type element, const FFTTwiddleParams &params) {
  return program.constantTable("fftconv_twiddles", element, blocks(params), wordsOf(params),
                               2 * params.count, LaunchShape{threads(params), 0});
}
View quarterCircle(ProgramBuilder &program, Type element, int64_t points) {
  return twiddles(program, element, {points, 1, 4 * points});
}

/// Operands and, backward, results; null views where absent.
struct Operands {
  View x, filter, skip, gateIn, gateOut;
  BufferUse segments;
  Value filterValue;
  // Forward
  View y;
  Value result;
  // Backward
  View dy, dx, dFilter, dSkip, dGateIn, dGateOut;

  Type element() const { return x.element; }
};

bool isPresent(const View &view) { return view.storage >= 0; }
int64_t strideOf(const View &view) { return isPresent(view) ? *view.rowStride() : 0; }
BufferUse useOf(ProgramBuilder &program, const View &view) {
  return isPresent(view) ? program.use(view) : program.absent();
}

template <typename Op> Operands operandsOf(Op op, ProgramBuilder &program) {
  auto rows = [&](Value value) {
    int64_t stride;
    return value ? program.rows(value, stride) : View();
  };
  Operands o;
  o.x = rows(op.getX()), o.gateIn = rows(op.getGateIn()), o.gateOut = rows(op.getGateOut());
  o.filterValue = op.getFilter(), o.filter = program.dense(op.getFilter());
  if (op.getSkip())
    o.skip = program.dense(op.getSkip());
  o.segments = program.optionalUse(op.getSegments());
  return o;
}

FFTConvBlockParams blockParams(const Operands &o) {
  FFTConvBlockParams p{};
  p.batch = o.x.shape[0], p.length = o.x.shape[1], p.channels = o.x.shape[2];
  p.taps = o.filter.shape[0], p.points = fftconvPoints(p.length, p.taps);
  p.splits = 1;
  p.hasSkip = isPresent(o.skip), p.hasGateIn = isPresent(o.gateIn),
  p.hasGateOut = isPresent(o.gateOut), p.hasSegments = o.segments.storage >= 0;
  p.xStride = strideOf(o.x), p.gateInStride = strideOf(o.gateIn),
  p.gateOutStride = strideOf(o.gateOut);
  return p;
}

template <typename Params> int64_t shared(Type element, const Params &params, int64_t signals) {
  return element.isF64() ? sharedBytes<double>(params, signals)
                         : sharedBytes<float>(params, signals);
}

//===-- As matrix products -----------------------------------------------------===//

ConvAlgorithm algorithmOf(const Operands &o, FFTConvBlockParams &p, int64_t signals,
                          const ProgramBuilder &program) {
  const DeviceTraits &device = program.device();
  p.lanes = fftconvLanes(p, signals, bytesOf(o.element()), device.sharedBytes);
  return convAlgorithm(p, signals, device.rounds && !o.element().isF64(), device.sharedBytes);
}

ToeplitzConvParams toeplitzParams(const FFTConvBlockParams &p) {
  ToeplitzConvParams t{};
  t.batch = p.batch, t.length = p.length, t.channels = p.channels, t.taps = p.taps;
  t.xStride = p.xStride, t.gateInStride = p.gateInStride, t.gateOutStride = p.gateOutStride,
  t.yStride = p.yStride, t.dxStride = p.dxStride, t.dGateInStride = p.dGateInStride,
  t.dGateOutStride = p.dGateOutStride;
  t.hasSkip = p.hasSkip, t.hasGateIn = p.hasGateIn, t.hasGateOut = p.hasGateOut;
  return t;
}

void forwardAsProduct(const Operands &o, const FFTConvBlockParams &block, ProgramBuilder &program) {
  ToeplitzConvParams p = toeplitzParams(block);
  p.splits = toeplitzForwardSplits(p);
  Store y = program.storeOf(o.result);
  p.yStride = y.stride;
  program.launch("toeplitz_conv_forward", o.element(), toeplitzGroups(p) * p.splits, wordsOf(p),
                 {program.use(o.x), program.use(o.filter), useOf(program, o.skip),
                  useOf(program, o.gateIn), useOf(program, o.gateOut)},
                 y, LaunchShape{toeplitzThreads(p, false), sharedBytes(p, 1)});
}

void backwardAsProduct(const Operands &o, const FFTConvBlockParams &block,
                       ProgramBuilder &program) {
  ToeplitzConvParams p = toeplitzParams(block);
  p.splits = toeplitzBackwardSplits(p);
  View partial = program.temporary({p.splits, p.taps, p.channels}, o.element());
  program.launch("toeplitz_conv_backward", o.element(), toeplitzGroups(p) * p.splits, wordsOf(p),
                 {program.use(o.x), program.use(o.filter), useOf(program, o.skip),
                  useOf(program, o.gateIn), useOf(program, o.gateOut), program.use(o.dy),
                  program.use(o.dx), program.use(partial), useOf(program, o.dGateIn),
                  useOf(program, o.dGateOut)},
                 LaunchShape{toeplitzThreads(p, true), sharedBytes(p, 2)});
  const int64_t stride = p.taps * p.channels;
  program.sumPartials(partial, p.splits, stride, o.dFilter);
  if (isPresent(o.dSkip)) // the skip term is one of the first tap
    program.sumPartials(partial.sliced({0, 0, 0}, {p.splits, 1, p.channels}), p.splits, stride,
                        o.dSkip);
}

//===-- In shared memory -------------------------------------------------------===//

/// What fftconv_spectrum and fftconv_filter_gradient read, so that they are the same for all uses
/// of a filter shape.
FFTConvBlockParams filterParams(const FFTConvBlockParams &p) {
  FFTConvBlockParams f{};
  f.batch = 1, f.length = p.taps, f.channels = p.channels, f.taps = p.taps, f.points = p.points;
  f.lanes = p.lanes, f.splits = p.splits, f.wide = p.wide, f.hasSkip = p.hasSkip;
  f.blockThreads = fftconvThreads(f, 1);
  return f;
}

View spectrumOf(const Operands &o, const FFTConvBlockParams &p, const View &table,
                ProgramBuilder &program) {
  return program.derived(o.filterValue, (p.points * 64 + p.lanes) * 2 + p.wide, [&] {
    FFTConvBlockParams f = filterParams(p);
    f.splits = 1, f.hasSkip = 0;
    View made = program.temporary({spectrumElements(p)}, o.element());
    program.launch("fftconv_spectrum", o.element(), channelGroups(f), wordsOf(f),
                   {program.use(o.filter), program.use(table), program.use(made)},
                   LaunchShape{threads(f), shared(o.element(), f, 1)});
    return made;
  });
}

void forwardInBlocks(const Operands &o, FFTConvBlockParams p, ProgramBuilder &program) {
  p.wide = true, p.blockThreads = fftconvThreads(p, 1);
  View table = quarterCircle(program, o.element(), p.points);
  View spectrum = spectrumOf(o, p, table, program);
  Store y = program.storeOf(o.result);
  p.yStride = y.stride;
  program.launch("fftconv_forward", o.element(), channelGroups(p) * p.batch, wordsOf(p),
                 {program.use(o.x), program.use(spectrum), program.use(table),
                  useOf(program, o.skip), useOf(program, o.gateIn), useOf(program, o.gateOut),
                  o.segments},
                 y, LaunchShape{threads(p), shared(o.element(), p, 1)});
}

void backwardInBlocks(const Operands &o, FFTConvBlockParams p, ProgramBuilder &program) {
  p.blockThreads = fftconvThreads(p, 2);
  const int64_t sharedBytes = shared(o.element(), p, 2);
  p.splits = fftconvSplits(p.batch, channelGroups(p), fftconvBlocksAtOnce(threads(p), sharedBytes));
  View table = quarterCircle(program, o.element(), p.points);
  View spectrum = spectrumOf(o, p, table, program);
  View partial = program.temporary({p.splits, spectrumElements(p)}, o.element());
  program.launch("fftconv_backward", o.element(), channelGroups(p) * p.splits, wordsOf(p),
                 {program.use(o.x), program.use(spectrum), program.use(table),
                  useOf(program, o.skip), useOf(program, o.gateIn), useOf(program, o.gateOut),
                  o.segments, program.use(o.dy), program.use(o.dx), program.use(partial),
                  useOf(program, o.dGateIn), useOf(program, o.dGateOut)},
                 LaunchShape{threads(p), sharedBytes});
  FFTConvBlockParams f = filterParams(p);
  program.launch(
      "fftconv_filter_gradient", o.element(), channelGroups(f), wordsOf(f),
      {program.use(partial), program.use(table), program.use(o.dFilter), useOf(program, o.dSkip)},
      LaunchShape{threads(f), shared(o.element(), f, 1)});
}

//===-- In two passes ----------------------------------------------------------===//

/// A convolution in two passes, some channels at a time.
class PartsConvolution {
public:
  PartsConvolution(const Operands &o, const FFTConvBlockParams &p, ProgramBuilder &program)
      : o(o), p(p), program(program), element(o.element()), parts(fftconvParts(p.points)),
        inner(p.points / parts), outerTable(quarterCircle(program, element, parts)),
        innerTable(quarterCircle(program, element, inner)) {
    const int64_t fine = fineFactors(p.points), period = 4 * p.points;
    fineTable = twiddles(program, element, {fine, 1, period});
    coarseTable = twiddles(program, element, {period / fine, fine, period});
    atOnce = fftconvChannelsAtOnce(p.batch, p.points, p.channels, bytesOf(element));
    spectrum = program.derived(o.filterValue, p.points * 128, [&] {
      View made = program.temporary({p.channels, parts * inner * 2}, element);
      forEachStretch([&](int64_t first, int64_t count) {
        View filter = scratch(1, count);
        split(ofFilter(count), channels(o.filter, first, count), View(), filter);
        FFTConvInnerParams params = innerParams(1, count, 1);
        launchInner("fftconv_inner_spectrum", params, count * parts, 1,
                    {program.use(filter), program.use(innerTable),
                     program.use(channelRows(made, first, count))});
      });
      return made;
    });
  }

  void forward() {
    forEachStretch([&](int64_t first, int64_t count) {
      View signal = scratch(p.batch, count);
      split(ofActivations(count), channels(o.x, first, count), channels(o.gateIn, first, count),
            signal);
      FFTConvInnerParams params = innerParams(p.batch, count, 1);
      params.hasSkip = p.hasSkip;
      launchInner("fftconv_inner_forward", params, p.batch * count * parts, 1,
                  {program.use(channelRows(spectrum, first, count)),
                   useOf(program, channels(o.skip, first, count)), program.use(innerTable),
                   program.use(signal)});
      merge(ofActivations(count), signal, channels(o.gateOut, first, count), View(),
            channels(o.y, first, count), View(), View());
    });
  }

  void backward() {
    forEachStretch([&](int64_t first, int64_t count) {
      auto at = [&](const View &view) { return channels(view, first, count); };
      View signal = scratch(p.batch, count), cotangent = scratch(p.batch, count);
      split(ofActivations(count), at(o.x), at(o.gateIn), signal);
      split(ofActivations(count), at(o.dy), at(o.gateOut), cotangent);
      FFTConvInnerParams params = innerParams(p.batch, count, 1);
      params.splits = fftconvSplits(
          p.batch, count * parts, fftconvBlocksAtOnce(threads(params), shared(element, params, 2)));
      params.hasSkip = p.hasSkip, params.hasGateOut = p.hasGateOut;
      View partial = scratch(params.splits, count);
      launchInner("fftconv_inner_backward", params, count * parts * params.splits, 2,
                  {program.use(channelRows(spectrum, first, count)), useOf(program, at(o.skip)),
                   program.use(innerTable), program.use(signal), program.use(cotangent),
                   program.use(partial)});
      merge(ofActivations(count), cotangent, at(o.gateIn), p.hasGateIn ? at(o.x) : View(), at(o.dx),
            at(o.dGateIn), View());
      if (p.hasGateOut)
        merge(ofActivations(count), signal, at(o.dy), View(), at(o.dGateOut), View(), View());
      View filter = scratch(1, count);
      launchInner("fftconv_inner_gradient", innerParams(1, count, params.splits), count * parts, 1,
                  {program.use(partial), program.use(innerTable), program.use(filter)});
      merge(ofFilter(count), filter, View(), View(), at(o.dFilter), View(), at(o.dSkip));
    });
  }

private:
  const Operands &o;
  const FFTConvBlockParams p;
  ProgramBuilder &program;
  Type element;
  int64_t parts, inner, atOnce;
  View outerTable, innerTable, fineTable, coarseTable, spectrum;

  void forEachStretch(llvm::function_ref<void(int64_t, int64_t)> body) const {
    for (int64_t first = 0; first < p.channels; first += atOnce)
      body(first, std::min(atOnce, p.channels - first));
  }
  /// These channels: of the last dimension.
  static View channels(const View &view, int64_t first, int64_t count) {
    if (!isPresent(view))
      return view;
    SmallVector<int64_t> starts(view.shape.size(), 0), sizes(view.shape);
    starts.back() = first, sizes.back() = count;
    return view.sliced(starts, sizes);
  }
  static View channelRows(const View &view, int64_t first, int64_t count) {
    return view.sliced({first, 0}, {count, view.shape[1]});
  }
  View scratch(int64_t batch, int64_t count) const {
    return program.temporary({batch, count, parts, inner, 2}, element);
  }

  FFTConvPartsParams outerParams(int64_t batch, int64_t length, int64_t count) const {
    FFTConvPartsParams params{};
    params.batch = batch, params.length = length, params.channels = count;
    params.points = p.points, params.parts = parts;
    params.tile = fftconvTile(parts, bytesOf(element)), params.blockThreads = 256;
    return params;
  }
  FFTConvPartsParams ofActivations(int64_t count) const {
    return outerParams(p.batch, p.length, count);
  }
  FFTConvPartsParams ofFilter(int64_t count) const { return outerParams(1, p.taps, count); }
  FFTConvInnerParams innerParams(int64_t batch, int64_t count, int64_t splits) const {
    return {batch, count, parts, inner, splits, p.points, 0, 0};
  }

  LaunchShape outerShape(const FFTConvPartsParams &params) const {
    return {threads(params),
            element.isF64() ? sharedBytes<double>(params) : sharedBytes<float>(params)};
  }
  void split(FFTConvPartsParams params, const View &x, const View &gate, const View &to) const {
    params.stride = strideOf(x), params.hasFactor = isPresent(gate),
    params.factorStride = strideOf(gate);
    program.launch("fftconv_split", element, blocks(params), wordsOf(params),
                   {program.use(x), useOf(program, gate), program.use(outerTable),
                    program.use(fineTable), program.use(coarseTable), program.use(to)},
                   outerShape(params));
  }
  /// y = merged * gate, second = merged * secondFactor, first = its first row.
  void merge(FFTConvPartsParams params, const View &from, const View &gate,
             const View &secondFactor, const View &y, const View &second, const View &first) const {
    params.stride = strideOf(y), params.hasFactor = isPresent(gate),
    params.factorStride = strideOf(gate);
    params.hasSecond = isPresent(second), params.secondStride = strideOf(second),
    params.secondFactorStride = strideOf(secondFactor);
    params.hasFirst = isPresent(first);
    program.launch("fftconv_merge", element, blocks(params), wordsOf(params),
                   {program.use(from), useOf(program, gate), useOf(program, secondFactor),
                    program.use(outerTable), program.use(fineTable), program.use(coarseTable),
                    program.use(y), useOf(program, second), useOf(program, first)},
                   outerShape(params));
  }
  void launchInner(StringRef kernel, const FFTConvInnerParams &params, int64_t grid,
                   int64_t signals, ArrayRef<BufferUse> buffers) const {
    program.launch(kernel, element, grid, wordsOf(params), buffers,
                   LaunchShape{threads(params), shared(element, params, signals)});
  }
};

LogicalResult refuseLongSegments(Operation *op, const FFTConvBlockParams &p) {
  return op->emitOpError() << "packed segments in sequences of " << p.length
                           << " positions do not fit into the GPU's shared memory";
}

} // namespace

static LogicalResult lower(FFTConvOp op, ProgramBuilder &program) {
  if (op.getInitialState() || op.getReturnState())
    return op.emitOpError() << "with a state and packed segments together is not supported on "
                               "CUDA: carry the state or pack, not both";
  Operands o = operandsOf(op, program);
  o.result = op.getResult();
  FFTConvBlockParams p = blockParams(o);
  switch (algorithmOf(o, p, 1, program)) {
  case ConvAlgorithm::Toeplitz:
    forwardAsProduct(o, p, program);
    return success();
  case ConvAlgorithm::Blocks:
    forwardInBlocks(o, p, program);
    return success();
  case ConvAlgorithm::Parts:
    if (p.hasSegments)
      return refuseLongSegments(op, p);
    o.y = program.define(op.getResult());
    p.yStride = strideOf(o.y);
    PartsConvolution(o, p, program).forward();
    return success();
  }
  llvm_unreachable("an algorithm");
}

static LogicalResult lower(FFTConvGradOp op, ProgramBuilder &program) {
  Operands o = operandsOf(op, program);
  int64_t dyStride;
  o.dy = program.rows(op.getCotangent(), dyStride);
  // Results in order: dx, dfilter, then those of the optional operands that are present.
  unsigned next = 0;
  auto activation = [&](bool present) {
    return present ? program.define(op.getResult(next++)) : View();
  };
  auto small = [&](bool present) {
    return present ? program.defineDense(op.getResult(next++)) : View();
  };
  o.dx = activation(true), o.dFilter = small(true), o.dSkip = small(isPresent(o.skip));
  o.dGateIn = activation(isPresent(o.gateIn)), o.dGateOut = activation(isPresent(o.gateOut));
  FFTConvBlockParams p = blockParams(o);
  p.yStride = dyStride, p.dxStride = strideOf(o.dx), p.dGateInStride = strideOf(o.dGateIn),
  p.dGateOutStride = strideOf(o.dGateOut);
  switch (algorithmOf(o, p, 2, program)) {
  case ConvAlgorithm::Toeplitz:
    backwardAsProduct(o, p, program);
    return success();
  case ConvAlgorithm::Blocks:
    backwardInBlocks(o, p, program);
    return success();
  case ConvAlgorithm::Parts:
    if (p.hasSegments)
      return refuseLongSegments(op, p);
    PartsConvolution(o, p, program).backward();
    return success();
  }
  llvm_unreachable("an algorithm");
}

} // namespace cuda

template <> LogicalResult lower(FFTConvOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

template <> LogicalResult lower(FFTConvGradOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

} // namespace hybrid
