//===- LinearScan.cpp - scans of a decayed outer-product state --------------===//
#include "codegen/kernels/LinearScan.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

/// What a decay is given for, by its shape.
static ScanDecay scanDecayOf(Value decay, int64_t heads) {
  if (!decay)
    return ScanDecay::None;
  bool perHead = lastSize(decay) == heads; // with one channel a head both mean the same
  if (shapeOf(decay).size() == 3)
    return perHead ? ScanDecay::HeadAndTime : ScanDecay::KeyAndTime;
  return perHead ? ScanDecay::Head : ScanDecay::Key;
}

namespace {

/// The operands that a scan and its gradient share, and what is the same in their launches.
struct Operands {
  LinearScanParams params{};
  Type element;
  BufferUse q, k, v, decay, segments, initialState;

  template <typename Op> Operands(Op op, ProgramBuilder &program) {
    View qView = program.rows(op.getQ(), params.qStride),
         kView = program.rows(op.getK(), params.kStride),
         vView = program.rows(op.getV(), params.vStride);
    element = qView.element;
    params.batch = qView.shape[0], params.length = qView.shape[1];
    params.heads = static_cast<int64_t>(op.getHeads());
    params.keySize = op.getKeySize(), params.valueSize = op.getValueSize();
    params.decay = scanDecayOf(op.getDecay(), params.heads);
    params.exclusive = op.getExclusive(), params.hasSegments = !!op.getSegments();
    params.hasState = !!op.getInitialState();
    params.scale = op.getScale().convertToDouble();
    program.ask<LinearScanDivision>(element, params);
    // The decay is a view with a stride, or a dense vector.
    decay = op.getDecay() && shapeOf(op.getDecay()).size() == 3
                ? program.use(program.rows(op.getDecay(), params.decayStride))
                : program.optionalUse(op.getDecay());
    segments = program.optionalUse(op.getSegments());
    initialState = program.optionalUse(op.getInitialState());
    q = program.use(qView), k = program.use(kView), v = program.use(vView);
  }
};

/// A scan divided over time: the steps that find what its blocks start from, or end with.
class Division {
public:
  Division(ProgramBuilder &program, const Operands &o)
      : program(program), o(o), common{o.params.batch,
                                       o.params.length,
                                       o.params.blocks,
                                       o.params.blockRows,
                                       o.params.heads,
                                       o.params.keySize,
                                       o.params.valueSize,
                                       o.params.decayStride,
                                       o.params.decay,
                                       o.params.hasSegments,
                                       0,
                                       0,
                                       0} {}

  bool divides() const { return common.blocks > 1; }

  /// Replaces `state`, of the sequences, by one for each block. `summarise(offsets)` launches what
  /// every block makes of a state of zero; `last` receives what is behind the last block, or in
  /// reverse before the first.
  void enter(BufferUse &state, int64_t &hasState, BufferUse last, bool reverse,
             llvm::function_ref<void(BufferUse offsets)> summarise) {
    const int64_t blocks = common.batch * common.blocks;
    if (!products) {
      products = program.temporary({blocks, common.heads * common.keySize}, o.element);
      program.launch<LinearScanProducts>(o.element, common, {o.decay, o.segments, *products});
    }
    SmallVector<int64_t> states{blocks, common.heads, common.keySize, common.valueSize};
    View offsets = program.temporary(states, o.element),
         entries = program.temporary(states, o.element);
    summarise(program.use(offsets));
    LinearScanDivisionParams params = common;
    params.hasState = hasState, params.hasLast = !!last, params.reverse = reverse;
    program.launch<LinearScanEntries>(o.element, params,
                                      {*products, offsets, o.segments, state, entries, last});
    state = program.use(entries), hasState = 1;
  }

  /// Finds the states that the blocks start from.
  void enterForward(LinearScanParams &params, BufferUse &initialState, BufferUse finalState) {
    enter(initialState, params.hasState, finalState, false, [&](BufferUse offsets) {
      LinearScanParams summary = params;
      summary.stateOnly = 1, summary.hasState = 0, summary.hasFinalState = 1;
      program.launch<LinearScanForward>(
          o.element, summary, {o.q, o.k, o.v, o.decay, o.segments, program.absent(), offsets},
          noResult());
    });
  }

  /// The result of a scan that is for its last state alone.
  Store noResult() const {
    Store store;
    store.buffers = {program.absent()};
    return store;
  }

private:
  ProgramBuilder &program;
  const Operands &o;
  LinearScanDivisionParams common;
  std::optional<View> products;
};

} // namespace

template <> LogicalResult lower(LinearScanOp op, ProgramBuilder &program) {
  const Operands o(op, program);
  LinearScanParams params = o.params;
  Store out = program.storeOf(op.getResult());
  params.oStride = out.stride, params.hasFinalState = op.getReturnState();
  BufferUse initialState = o.initialState,
            finalState = op.getReturnState() ? program.use(program.defineDense(op.getFinalState()))
                                             : program.absent();
  Division division(program, o);
  if (division.divides()) {
    division.enterForward(params, initialState, finalState);
    params.hasFinalState = 0, finalState = program.absent(); // it has been found already
  }
  program.launch<LinearScanForward>(
      o.element, params, {o.q, o.k, o.v, o.decay, o.segments, initialState, finalState}, out);
  return success();
}

/// Defines ddecay, and returns the buffer the kernel writes: the gradient itself where every
/// element belongs to one item, else partial sums, `count` of them.
static View decayGradient(LinearScanGradOp op, ProgramBuilder &program, LinearScanParams &params,
                          Type element, int64_t &count) {
  const int64_t keyBlocks = program.ask<LinearScanKeyBlocks>(element, params);
  count = 1;
  switch (params.decay) {
  case ScanDecay::KeyAndTime: {
    View view = program.define(op.getDdecay());
    params.dDecayStride = *view.rowStride();
    return view;
  }
  case ScanDecay::HeadAndTime:
    count = keyBlocks;
    break;
  case ScanDecay::Key:
    count = params.batch * params.blocks;
    break;
  case ScanDecay::Head:
    count = keyBlocks * params.batch * params.blocks;
    break;
  case ScanDecay::None:
    llvm_unreachable("no decay has no gradient");
  }
  if (count == 1)
    return program.defineDense(op.getDdecay());
  return program.temporary({count, elementCount(shapeOf(op.getDdecay()))}, element);
}

template <> LogicalResult lower(LinearScanGradOp op, ProgramBuilder &program) {
  const Operands o(op, program);
  LinearScanParams params = o.params;
  BufferUse initialState = o.initialState,
            dOut = program.use(program.rows(op.getCotangent(), params.oStride)),
            stateCotangent = program.optionalUse(op.getStateCotangent());
  params.hasFinalState = !!op.getStateCotangent();
  const bool inChunks = program.ask<LinearScanGradientInChunks>(o.element, params) != 0;
  Store dv = program.storeOf(op.getDv());
  params.dvStride = dv.stride;
  Value dInitial = op.getDinitialState();
  BufferUse dInitialState = dInitial && !dInitial.use_empty()
                                ? program.use(program.defineDense(dInitial))
                                : program.absent();
  auto values = [&](const LinearScanParams &of, BufferUse cotangent, BufferUse state,
                    const Store &to) {
    program.launch<LinearScanBackwardValues>(
        o.element, of, {o.q, o.k, o.decay, o.segments, dOut, cotangent, state}, to);
  };
  Division division(program, o);
  if (division.divides()) {
    division.enterForward(params, initialState, program.absent());
    division.enter(stateCotangent, params.hasFinalState, dInitialState, true,
                   [&](BufferUse offsets) {
                     LinearScanParams summary = params;
                     summary.stateOnly = 1, summary.hasState = 1, summary.hasFinalState = 0;
                     values(summary, program.absent(), offsets, division.noResult());
                   });
    dInitialState = program.absent(); // it has been found already
  }
  if (!inChunks)
    values(params, stateCotangent, dInitialState, dv);

  params.decayGradient = op.getDdecay() && !op.getDdecay().use_empty();
  int64_t count = 1;
  std::optional<View> gradient;
  auto decayUse = [&] {
    if (params.decayGradient)
      gradient = decayGradient(op, program, params, o.element, count);
    return gradient ? program.use(*gradient) : program.absent();
  };
  if (program.device().kind == Device::Cpu) {
    View dq = program.define(op.getDq()), dk = program.define(op.getDk());
    params.dqStride = *dq.rowStride(), params.dkStride = *dk.rowStride();
    BufferUse dDecay = decayUse();
    if (inChunks)
      program.launch<LinearScanBackward>(o.element, params,
                                         {o.q, o.k, o.v, o.decay, o.segments, initialState, dOut,
                                          stateCotangent, dInitialState, dq, dk, dv.buffers.front(),
                                          dDecay});
    else
      program.launch<LinearScanBackwardQueriesKeys>(
          o.element, params,
          {o.q, o.k, o.v, o.decay, o.segments, initialState, dOut, stateCotangent, dq, dk, dDecay});
  } else {
    // The gradient of the keys reads that of the queries for the gradient of the decay.
    Store dq = program.storeOf(op.getDq()), dk = program.storeOf(op.getDk());
    params.dqStride = dq.stride, params.dkStride = dk.stride;
    BufferUse dqRead = program.absent(), anchors = program.absent();
    if (params.decayGradient) {
      View view = program.view(op.getDq());
      dqRead = program.use(view), params.dqStride = *view.rowStride();
    }
    BufferUse dDecay = decayUse();
    if (params.decayGradient)
      anchors = program.use(
          program.temporary({program.ask<LinearScanAnchors>(o.element, params)}, o.element));
    program.launch<LinearScanBackwardQueries>(
        o.element, params, {o.k, o.v, o.decay, o.segments, initialState, dOut, anchors}, dq);
    program.launch<LinearScanBackwardKeys>(
        o.element, params,
        {o.q, o.k, o.v, o.decay, o.segments, dOut, stateCotangent, dqRead, anchors, dDecay}, dk);
  }
  if (count > 1)
    program.sumPartials(*gradient, count, elementCount(shapeOf(op.getDdecay())),
                        program.defineDense(op.getDdecay()));
  return success();
}

} // namespace hybrid
