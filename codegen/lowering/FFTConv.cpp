//===- FFTConv.cpp - long convolutions --------------------------------------===//
//
// As matrix products (FFTConvToeplitz.h), by transforms in a cache or shared memory (FFTConv.h), or
// in two passes (FFTConvParts.h); the rule that chooses is ChooseConvolution.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/FFTConvParts.h"
#include "codegen/kernels/FFTConvToeplitz.h"
#include "codegen/lowering/Alignment.h"
#include "codegen/lowering/Lowering.h"
#include "codegen/lowering/ShortConvReaders.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

namespace {

View twiddles(ProgramBuilder &program, Type element, const FFTTwiddleParams &params) {
  return program.constantTable<FFTTwiddles>(element, params, 2 * params.count);
}
/// The factors of transforms of so many points.
View tableOf(ProgramBuilder &program, Type element, int64_t points) {
  if (program.device().kind == Device::Cpu)
    return program.constantTable<FFTTable>(element, {points}, fftTableElements(points));
  return twiddles(program, element, {points, 1, 4 * points});
}

/// Operands and, backward, results; null views where absent.
struct Operands {
  View x, filter, skip, gateIn, gateOut;
  // Of a short convolution that is computed here; x or gates are its input then.
  View shortWeight, shortBias;
  ToeplitzConvParams shortConv{};
  BufferUse segments;
  Value filterValue;
  // Forward
  View y;
  Value result;
  // Backward
  View dy, dx, dFilter, dSkip, dGateIn, dGateOut;

  Type element() const { return x.element; }
};

int64_t strideOf(const View &view) { return view.isPresent() ? *view.rowStride() : 0; }
BufferUse useOf(ProgramBuilder &program, const View &view) {
  return view.isPresent() ? program.use(view) : program.absent();
}

/// What short convolution the operand is of, which is computed where it is read, and from which
/// channel on. All of one op are of the same.
void addShortConv(Operands &o, const ShortConvChannels &channels, int64_t ToeplitzConvParams::*has,
                  int64_t ToeplitzConvParams::*first, ProgramBuilder &program) {
  ShortConvOp op = channels.op;
  o.shortWeight = program.dense(op.getWeight());
  if (op.getBias())
    o.shortBias = program.dense(op.getBias());
  o.shortConv.*has = 1, o.shortConv.*first = channels.first;
  o.shortConv.hasShortBias = !!op.getBias();
  o.shortConv.shortTaps = shapeOf(op.getWeight())[1];
  o.shortConv.repeats = repeatedChannels(program.view(op.getX()), lastSize(op.getX()));
}

template <typename Op> Operands operandsOf(Op op, ProgramBuilder &program) {
  Operands o;
  auto rows = [&](Value value, int64_t ToeplitzConvParams::*hasShort,
                  int64_t ToeplitzConvParams::*channel) {
    int64_t stride;
    if (!value)
      return View();
    if (program.view(value).isPresent())
      return program.rows(value, stride);
    ShortConvChannels channels = shortConvChannels(value);
    addShortConv(o, channels, hasShort, channel, program);
    return program.rows(channels.op.getX(), stride);
  };
  using Params = ToeplitzConvParams;
  o.x = rows(op.getX(), &Params::hasShortX, &Params::xChannel);
  o.gateIn = rows(op.getGateIn(), &Params::hasShortGateIn, &Params::gateInChannel);
  o.gateOut = rows(op.getGateOut(), &Params::hasShortGateOut, &Params::gateOutChannel);
  o.filterValue = op.getFilter(), o.filter = program.dense(op.getFilter());
  if (op.getSkip())
    o.skip = program.dense(op.getSkip());
  o.segments = program.optionalUse(op.getSegments());
  return o;
}

template <typename Op> FFTConvParams sizesOf(Op op) {
  FFTConvParams p{};
  ArrayRef<int64_t> x = shapeOf(op.getX());
  p.batch = x[0], p.length = x[1], p.channels = x[2];
  p.taps = shapeOf(op.getFilter())[0], p.points = convolutionPoints(p.length, p.taps);
  p.splits = 1;
  p.hasSkip = !!op.getSkip(), p.hasGateIn = !!op.getGateIn(), p.hasGateOut = !!op.getGateOut(),
  p.hasSegments = !!op.getSegments();
  return p;
}
template <typename Op> FFTConvParams paramsOf(Op op, const Operands &o) {
  FFTConvParams p = sizesOf(op);
  p.xStride = strideOf(o.x), p.gateInStride = strideOf(o.gateIn),
  p.gateOutStride = strideOf(o.gateOut);
  return p;
}

//===-- As matrix products -----------------------------------------------------===//

/// With the alignment of all activations but a store's, which sees to its own.
ToeplitzConvParams toeplitzParams(const Operands &o, const FFTConvParams &p) {
  ToeplitzConvParams t = o.shortConv;
  t.alignment =
      rowAlignment(p.channels, {o.x, o.gateIn, o.gateOut, o.dy, o.dx, o.dGateIn, o.dGateOut},
                   cuda::fewToeplitzLanes);
  t.alignment =
      commonAlignment({t.xChannel, t.gateInChannel, t.gateOutChannel, t.repeats}, t.alignment);
  t.batch = p.batch, t.length = p.length, t.channels = p.channels, t.taps = p.taps;
  t.xStride = p.xStride, t.gateInStride = p.gateInStride, t.gateOutStride = p.gateOutStride,
  t.yStride = p.yStride, t.dxStride = p.dxStride, t.dGateInStride = p.dGateInStride,
  t.dGateOutStride = p.dGateOutStride;
  t.hasSkip = p.hasSkip, t.hasGateIn = p.hasGateIn, t.hasGateOut = p.hasGateOut;
  return t;
}

void forwardAsProduct(const Operands &o, const FFTConvParams &whole, ProgramBuilder &program) {
  ToeplitzConvParams p = toeplitzParams(o, whole);
  p.lanes = program.ask<ToeplitzLanes>(o.element(), p, false, program.device().sharedBytes);
  p.splits = program.ask<ToeplitzSplits>(o.element(), p, false);
  Store y = program.storeOf(o.result);
  p.yStride = y.stride;
  program.launch<ToeplitzConvForward>(
      o.element(), p, {o.x, o.filter, o.skip, o.gateIn, o.gateOut, o.shortWeight, o.shortBias}, y);
}

void backwardAsProduct(const Operands &o, const FFTConvParams &whole, ProgramBuilder &program) {
  ToeplitzConvParams p = toeplitzParams(o, whole);
  p.lanes = program.ask<ToeplitzLanes>(o.element(), p, true, program.device().sharedBytes);
  p.splits = program.ask<ToeplitzSplits>(o.element(), p, true);
  View partial = program.temporary({p.splits, p.taps, p.channels}, o.element());
  program.launch<ToeplitzConvBackward>(o.element(), p,
                                       {o.x, o.filter, o.skip, o.gateIn, o.gateOut, o.shortWeight,
                                        o.shortBias, o.dy, o.dx, partial, o.dGateIn, o.dGateOut});
  const int64_t stride = p.taps * p.channels;
  program.sumPartials(partial, p.splits, stride, o.dFilter);
  if (o.dSkip.isPresent()) // the skip term is one of the first tap
    program.sumPartials(partial.sliced({0, 0, 0}, {p.splits, 1, p.channels}), p.splits, stride,
                        o.dSkip);
}

//===-- In a cache, or in shared memory ----------------------------------------===//

/// The buffers that forward and backward passes start with; the filter's spectrum is made where
/// there is none yet.
SmallVector<BufferUse> operandsInBlocks(const Operands &o, const FFTConvParams &p,
                                        const View &table, ProgramBuilder &program) {
  View spectrum = program.derived(o.filterValue, (p.points * 64 + p.lanes) * 2 + p.wide, [&] {
    FFTConvParams f = program.ask<FFTConvFilterSizes>(o.element(), p);
    f.splits = 1, f.hasSkip = 0;
    View made =
        program.temporary({program.ask<FFTConvSpectrumElements>(o.element(), p)}, o.element());
    program.launch<FFTConvSpectrum>(o.element(), f, {o.filter, table, made});
    return made;
  });
  SmallVector<BufferUse> buffers{program.use(o.x),
                                 program.use(spectrum),
                                 program.use(table),
                                 useOf(program, o.skip),
                                 useOf(program, o.gateIn),
                                 useOf(program, o.gateOut),
                                 o.segments};
  if (program.device().kind == Device::Cpu)
    buffers.push_back(program.use(o.filter));
  return buffers;
}

void forwardInBlocks(const Operands &o, FFTConvParams p, ProgramBuilder &program) {
  program.ask<FFTConvDivision>(o.element(), p, 1);
  View table = tableOf(program, o.element(), p.points);
  SmallVector<BufferUse> buffers = operandsInBlocks(o, p, table, program);
  Store y = program.storeOf(o.result);
  p.yStride = y.stride;
  program.launch<FFTConvForward>(o.element(), p, buffers, y);
}

void backwardInBlocks(const Operands &o, FFTConvParams p, ProgramBuilder &program) {
  program.ask<FFTConvDivision>(o.element(), p, 2);
  View table = tableOf(program, o.element(), p.points);
  SmallVector<BufferUse> buffers = operandsInBlocks(o, p, table, program);
  buffers.append({program.use(o.dy), program.use(o.dx)});
  const bool inOne = program.device().kind == Device::Cpu; // the filter's gradient, too
  View partial;
  if (inOne) {
    buffers.append({program.use(o.dFilter), useOf(program, o.dSkip)});
  } else {
    partial = program.temporary({p.splits, program.ask<FFTConvSpectrumElements>(o.element(), p)},
                                o.element());
    buffers.push_back(program.use(partial));
  }
  buffers.append({useOf(program, o.dGateIn), useOf(program, o.dGateOut)});
  program.launch<FFTConvBackward>(o.element(), p, buffers);
  if (!inOne)
    program.launch<FFTConvFilterGradient>(o.element(),
                                          program.ask<FFTConvFilterSizes>(o.element(), p),
                                          {partial, table, o.dFilter, o.dSkip});
}

//===-- In two passes ----------------------------------------------------------===//

/// A convolution in two passes, some channels of some sequences at a time (FFTConvStretch).
class PartsConvolution {
public:
  /// signals: 1 forward, 2 backward.
  PartsConvolution(const Operands &o, const FFTConvParams &p, int64_t signals,
                   ProgramBuilder &program)
      : o(o), p(p), program(program), element(o.element()), parts(cuda::fftconvParts(p.points)),
        inner(p.points / parts),
        outerTable(cuda::partsInRegisters(parts) ? View() : tableOf(program, element, parts)),
        innerTable(tableOf(program, element, inner)) {
    const int64_t fine = cuda::fineFactors(p.points), period = 4 * p.points;
    fineTable = twiddles(program, element, {fine, 1, period});
    coarseTable = twiddles(program, element, {period / fine, fine, period});
    stretch = stretchOf(p.batch, signals);
    spectrum = program.derived(o.filterValue, p.points * 128, [&] {
      View made = program.temporary({p.channels, parts * inner * 2}, element);
      forEachChannels(stretchOf(1, 1).channels, [&](int64_t first, int64_t count) {
        View filter = scratch(1, count);
        program.launch<FFTConvSplitFilter>(
            element, ofFilter(o.filter, count),
            {channels(o.filter, first, count), outerTable, fineTable, coarseTable, filter});
        FFTConvInnerParams params = innerParams(1, count, 1);
        program.launch<FFTConvInnerSpectrum>(element, params,
                                             {filter, innerTable, channelRows(made, first, count)});
      });
      return made;
    });
  }

  void forward() {
    SmallVector<View> rooms = forwardRooms();
    size_t turn = 0;
    forEachChannels(stretch.channels, [&](int64_t first, int64_t count) {
      forEachSequences([&](int64_t sequence) {
        View signal = partOf(rooms[turn++ % rooms.size()], count);
        auto at = [&](const View &view) { return part(view, sequence, first, count); };
        split(ofActivations(count), at(o.x), at(o.gateIn), signal);
        FFTConvInnerParams params = innerParams(stretch.batch, count, 1);
        params.hasSkip = p.hasSkip;
        program.ask<FFTConvInnerDivision>(element, params, 1, rooms.size());
        program.launch<FFTConvInnerForward>(element, params,
                                            {channelRows(spectrum, first, count),
                                             channels(o.skip, first, count), innerTable, signal});
        merge(ofActivations(count), signal, at(o.gateOut), View(), at(o.y), View());
      });
    });
  }

  void backward() {
    const int64_t beside = std::min(ceilDiv(p.channels, stretch.channels), cuda::fftconvRooms);
    forEachChannels(stretch.channels, [&](int64_t first, int64_t count) {
      FFTConvInnerParams params = innerParams(stretch.batch, count, 1);
      program.ask<FFTConvInnerDivision>(element, params, 2, beside);
      params.hasSkip = p.hasSkip, params.hasGateOut = p.hasGateOut;
      params.goesOn = stretch.batch < p.batch; // from zero, so that all stretches share their code
      View signal = scratch(stretch.batch, count), cotangent = scratch(stretch.batch, count),
           partial = scratch(params.splits, count);
      if (params.goesOn)
        program.fill(partial, 0);
      forEachSequences([&](int64_t sequence) {
        auto at = [&](const View &view) { return part(view, sequence, first, count); };
        split(ofActivations(count), at(o.x), at(o.gateIn), signal);
        split(ofActivations(count), at(o.dy), at(o.gateOut), cotangent);
        program.launch<FFTConvInnerBackward>(element, params,
                                             {channelRows(spectrum, first, count),
                                              channels(o.skip, first, count), innerTable, signal,
                                              cotangent, partial});
        merge(ofActivations(count), cotangent, at(o.gateIn), p.hasGateIn ? at(o.x) : View(),
              at(o.dx), at(o.dGateIn));
        if (p.hasGateOut)
          merge(ofActivations(count), signal, at(o.dy), View(), at(o.dGateOut), View());
      });
      View filter = scratch(1, count);
      program.launch<FFTConvInnerGradient>(element, innerParams(1, count, params.splits),
                                           {partial, innerTable, filter});
      FFTConvPartsParams outer = ofFilter(o.dFilter, count);
      outer.hasFirst = o.dSkip.isPresent();
      program.launch<FFTConvMergeFilter>(element, outer,
                                         {filter, outerTable, fineTable, coarseTable,
                                          channels(o.dFilter, first, count),
                                          channels(o.dSkip, first, count)});
    });
  }

private:
  const Operands &o;
  const FFTConvParams p;
  ProgramBuilder &program;
  Type element;
  int64_t parts, inner;
  cuda::FFTConvStretch stretch;
  View outerTable, innerTable, fineTable, coarseTable, spectrum;

  cuda::FFTConvStretch stretchOf(int64_t batch, int64_t signals) const {
    return cuda::fftconvStretch(batch, p.points, p.channels, signals,
                                fftconvElements(bytesOf(element), program.device().rounds));
  }
  void forEachChannels(int64_t atOnce, llvm::function_ref<void(int64_t, int64_t)> body) const {
    for (int64_t first = 0; first < p.channels; first += atOnce)
      body(first, std::min(atOnce, p.channels - first));
  }
  void forEachSequences(llvm::function_ref<void(int64_t)> body) const {
    for (int64_t first = 0; first < p.batch; first += stretch.batch)
      body(first);
  }
  /// These channels: of the last dimension.
  static View channels(const View &view, int64_t first, int64_t count) {
    if (!view.isPresent())
      return view;
    SmallVector<int64_t> starts(view.shape.size(), 0), sizes(view.shape);
    starts.back() = first, sizes.back() = count;
    return view.sliced(starts, sizes);
  }
  /// Of an activation [batch, length, channels] a stretch.
  View part(const View &view, int64_t sequence, int64_t first, int64_t count) const {
    if (!view.isPresent())
      return view;
    return view.sliced({sequence, 0, first}, {stretch.batch, view.shape[1], count});
  }
  static View channelRows(const View &view, int64_t first, int64_t count) {
    return view.sliced({first, 0}, {count, view.shape[1]});
  }
  /// Of the parts of a stretch of so many channels.
  int64_t elementsOf(int64_t count) const { return stretch.batch * count * parts * inner * 2; }
  SmallVector<View> forwardRooms() const {
    const int64_t stretches =
        ceilDiv(p.channels, stretch.channels) * ceilDiv(p.batch, stretch.batch);
    SmallVector<View> rooms;
    for (int64_t room = 0; room < std::min(stretches, cuda::fftconvRooms); ++room)
      rooms.push_back(program.temporary({elementsOf(stretch.channels)}, element));
    return rooms;
  }
  View partOf(const View &room, int64_t count) const {
    return *room.sliced({0}, {elementsOf(count)}).reshaped({stretch.batch, count, parts, inner, 2});
  }
  View scratch(int64_t batch, int64_t count) const {
    return program.temporary({batch, count, parts, inner, 2}, element);
  }

  FFTConvPartsParams outerParams(int64_t batch, int64_t length, int64_t count) const {
    FFTConvPartsParams params{};
    params.batch = batch, params.length = length, params.channels = count;
    params.points = p.points, params.parts = parts;
    params.lanes = cuda::partsLanes(parts, bytesOf(element));
    params.tile = cuda::fftconvTile(parts, bytesOf(element));
    params.blockThreads = cuda::fftconvPartsThreads(parts, bytesOf(element));
    return params;
  }
  FFTConvPartsParams ofActivations(int64_t count) const {
    return outerParams(stretch.batch, p.length, count);
  }
  FFTConvPartsParams ofFilter(const View &filter, int64_t count) const {
    FFTConvPartsParams params = outerParams(1, p.taps, count);
    params.stride = strideOf(filter);
    return params;
  }
  FFTConvInnerParams innerParams(int64_t batch, int64_t count, int64_t splits) const {
    FFTConvInnerParams params{};
    params.batch = batch, params.channels = count, params.parts = parts, params.points = inner;
    params.splits = splits, params.walks = 1;
    params.scale = p.points / cuda::innerRemainder(inner);
    return params;
  }

  void split(FFTConvPartsParams params, const View &x, const View &gate, const View &to) const {
    params.stride = strideOf(x), params.hasFactor = gate.isPresent(),
    params.factorStride = strideOf(gate);
    program.launch<FFTConvSplit>(element, params,
                                 {x, gate, outerTable, fineTable, coarseTable, to});
  }
  /// y = merged * gate, second = merged * secondFactor.
  void merge(FFTConvPartsParams params, const View &from, const View &gate,
             const View &secondFactor, const View &y, const View &second) const {
    params.stride = strideOf(y), params.hasFactor = gate.isPresent(),
    params.factorStride = strideOf(gate);
    params.hasSecond = second.isPresent(), params.secondStride = strideOf(second),
    params.secondFactorStride = strideOf(secondFactor);
    program.launch<FFTConvMerge>(
        element, params, {from, gate, secondFactor, outerTable, fineTable, coarseTable, y, second});
  }
};

LogicalResult refuseLongSegments(Operation *op, const FFTConvParams &p) {
  return op->emitOpError() << "packed segments in sequences of " << p.length
                           << " positions do not fit into the GPU's shared memory";
}

/// Beyond what two passes of shared memory hold.
LogicalResult refuseLength(Operation *op, const FFTConvParams &p) {
  return op->emitOpError() << "convolves " << p.length << " positions with " << p.taps
                           << " taps, more than our kernels do: compile with --transforms=auto, "
                              "for cuFFT";
}
bool fitsInParts(const Operands &o, const FFTConvParams &p, const ProgramBuilder &program) {
  return 2 * p.points <= cuda::longestInParts(bytesOf(o.element()), program.device().sharedBytes);
}

ConvAlgorithm algorithmOf(Type element, FFTConvParams &p, int64_t signals,
                          const ProgramBuilder &program) {
  const DeviceTraits &device = program.device();
  return program.ask<ChooseConvolution>(element, p, signals, device.rounds, device.sharedBytes);
}

template <typename Op>
bool computesShortConvOf(Op op, OpOperand &operand, int64_t signals,
                         const ProgramBuilder &program) {
  ShortConvOp conv = shortConvChannels(operand.get()).op;
  bool isActivation = false;
  for (Value value : {op.getX(), op.getGateIn(), op.getGateOut()}) {
    isActivation |= value == operand.get();
    if (ShortConvOp other = value ? shortConvChannels(value).op : ShortConvOp();
        other && other != conv)
      return false; // kernels have the taps of one
  }
  FFTConvParams p = sizesOf(op);
  return isActivation && shapeOf(conv.getWeight())[1] <= cuda::mostShortTaps &&
         algorithmOf(elementOf(op.getX()), p, signals, program) == ConvAlgorithm::Toeplitz;
}

} // namespace

bool computesShortConv(OpOperand &operand, const ProgramBuilder &program) {
  if (auto op = dyn_cast<FFTConvOp>(operand.getOwner()))
    return computesShortConvOf(op, operand, 1, program);
  if (auto op = dyn_cast<FFTConvGradOp>(operand.getOwner()))
    return operand.get() != op.getCotangent() && computesShortConvOf(op, operand, 2, program);
  return false;
}

template <> LogicalResult lower(FFTConvOp op, ProgramBuilder &program) {
  if (op.getInitialState() || op.getReturnState())
    return op.emitOpError() << "with a state must be canonicalised before it is lowered";
  Operands o = operandsOf(op, program);
  o.result = op.getResult();
  FFTConvParams p = paramsOf(op, o);
  switch (algorithmOf(o.element(), p, 1, program)) {
  case ConvAlgorithm::Toeplitz:
    forwardAsProduct(o, p, program);
    return success();
  case ConvAlgorithm::Blocks:
    forwardInBlocks(o, p, program);
    return success();
  case ConvAlgorithm::Parts:
    if (p.hasSegments)
      return refuseLongSegments(op, p);
    if (!fitsInParts(o, p, program))
      return refuseLength(op, p);
    o.y = program.define(op.getResult());
    p.yStride = strideOf(o.y);
    PartsConvolution(o, p, 1, program).forward();
    return success();
  }
  llvm_unreachable("an algorithm");
}

template <> LogicalResult lower(FFTConvGradOp op, ProgramBuilder &program) {
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
  o.dx = activation(true), o.dFilter = small(true), o.dSkip = small(o.skip.isPresent());
  o.dGateIn = activation(o.gateIn.isPresent()), o.dGateOut = activation(o.gateOut.isPresent());
  FFTConvParams p = paramsOf(op, o);
  p.yStride = dyStride, p.dxStride = strideOf(o.dx), p.dGateInStride = strideOf(o.dGateIn),
  p.dGateOutStride = strideOf(o.dGateOut);
  switch (algorithmOf(o.element(), p, 2, program)) {
  case ConvAlgorithm::Toeplitz:
    backwardAsProduct(o, p, program);
    return success();
  case ConvAlgorithm::Blocks:
    backwardInBlocks(o, p, program);
    return success();
  case ConvAlgorithm::Parts:
    if (p.hasSegments)
      return refuseLongSegments(op, p);
    if (!fitsInParts(o, p, program))
      return refuseLength(op, p);
    PartsConvolution(o, p, 2, program).backward();
    return success();
  }
  llvm_unreachable("an algorithm");
}

} // namespace hybrid
