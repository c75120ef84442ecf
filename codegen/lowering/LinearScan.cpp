//===- LinearScan.cpp - scans of a decayed outer-product state --------------===//
#include "codegen/kernels/cuda/LinearScanParams.h"
#include "codegen/lowering/Lowering.h"
#include "codegen/program/ScanLowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

namespace cpu {

static int64_t blocksOf(int64_t size, Type element) {
  return ceilDiv(size, element.isF64() ? lanes<double> : lanes<float>);
}
static int64_t rowScratch(const LinearScanParams &params, Type element) {
  return element.isF64() ? linearScanRowScratch<double>(params)
                         : linearScanRowScratch<float>(params);
}
static int64_t keyScratch(const LinearScanParams &params, Type element) {
  return element.isF64() ? linearScanKeyScratch<double>(params)
                         : linearScanKeyScratch<float>(params);
}

/// A scan divided over time (linearScanBlocks): the steps that find what its blocks start from, or
/// end with. Its kernels then take every block for a sequence of its own.
class Division {
public:
  Division(ProgramBuilder &program, LinearScanParams &params, Type element, BufferUse decay,
           BufferUse segments)
      : program(program), element(element), decay(decay), segments(segments), batch(params.batch),
        blocks(element.isF64() ? linearScanBlocks<double>(params)
                               : linearScanBlocks<float>(params)) {
    params.batch *= blocks, params.length /= blocks;
    common = {blocks,
              params.length,
              params.heads,
              params.keySize,
              params.valueSize,
              params.decayStride,
              params.decay,
              params.hasSegments,
              0,
              0,
              0};
  }

  bool divides() const { return blocks > 1; }

  /// Replaces `state`, of the sequences, by one for each block. `summarise(offsets)` launches what
  /// every block makes of a state of zero; `last` receives what is behind the last block, or in
  /// reverse before the first.
  void enter(BufferUse &state, int64_t &hasState, BufferUse last, bool reverse,
             llvm::function_ref<void(BufferUse offsets)> summarise) {
    if (!products) {
      products = program.temporary({batch * blocks, common.heads * common.keySize}, element);
      int64_t columns = blocksOf(common.heads * common.keySize, element);
      program.launch("linear_scan_products", element, batch * blocks * columns, wordsOf(common),
                     {decay, segments, program.use(*products)});
    }
    SmallVector<int64_t> shape{batch * blocks, common.heads, common.keySize, common.valueSize};
    View offsets = program.temporary(shape, element), entries = program.temporary(shape, element);
    summarise(program.use(offsets));
    LinearScanDivisionParams params = common;
    params.hasState = hasState, params.hasLast = last.storage >= 0, params.reverse = reverse;
    program.launch("linear_scan_entries", element, batch * common.heads * common.keySize,
                   wordsOf(params),
                   {program.use(*products), program.use(offsets), segments, state,
                    program.use(entries), last});
    state = program.use(entries), hasState = 1;
  }

private:
  ProgramBuilder &program;
  Type element;
  BufferUse decay, segments;
  int64_t batch, blocks;
  LinearScanDivisionParams common;
  std::optional<View> products;
};

/// Finds the states that the blocks of a divided scan start from.
static void enterForward(Division &division, ProgramBuilder &program, LinearScanParams &params,
                         Type element, ArrayRef<BufferUse> operands /* q, k, v, decay, segments */,
                         BufferUse &initialState, BufferUse finalState) {
  division.enter(initialState, params.hasState, finalState, false, [&](BufferUse offsets) {
    LinearScanParams summary = params;
    summary.stateOnly = 1, summary.hasState = 0, summary.hasFinalState = 1;
    SmallVector<BufferUse> buffers(operands);
    buffers.append({program.absent(), program.absent(), offsets});
    program.launch("linear_scan_forward", element,
                   params.batch * params.heads * blocksOf(params.valueSize, element),
                   wordsOf(summary), buffers, rowScratch(params, element));
  });
}

static LogicalResult lower(LinearScanOp op, ProgramBuilder &program) {
  LinearScanParams params = linearScanParams<LinearScanParams>(op);
  View q = program.rows(op.getQ(), params.qStride), k = program.rows(op.getK(), params.kStride),
       v = program.rows(op.getV(), params.vStride);
  BufferUse decay = scanDecayUse(op.getDecay(), program, params.decayStride),
            segments = program.optionalUse(op.getSegments()),
            initialState = program.optionalUse(op.getInitialState());
  View o = program.define(op.getResult());
  params.oStride = *o.rowStride(), params.hasFinalState = op.getReturnState();
  BufferUse finalState =
      op.getReturnState() ? program.use(program.defineDense(op.getFinalState())) : program.absent();
  Division division(program, params, q.element, decay, segments);
  if (division.divides()) {
    enterForward(division, program, params, q.element,
                 {program.use(q), program.use(k), program.use(v), decay, segments}, initialState,
                 finalState);
    params.hasFinalState = 0, finalState = program.absent(); // it has been found already
  }
  program.launch("linear_scan_forward", q.element,
                 params.batch * params.heads * blocksOf(params.valueSize, q.element),
                 wordsOf(params),
                 {program.use(q), program.use(k), program.use(v), decay, segments, initialState,
                  program.use(o), finalState},
                 rowScratch(params, q.element));
  return success();
}

/// Defines ddecay, and returns the buffer the kernel writes: the gradient itself where every
/// element belongs to one item, else partial sums, `count` of them.
static View decayGradient(LinearScanGradOp op, ProgramBuilder &program, LinearScanParams &params,
                          int64_t keyBlocks, Type element, int64_t &count) {
  params.decayGradient = 1;
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
    count = params.batch;
    break;
  case ScanDecay::Head:
    count = keyBlocks * params.batch;
    break;
  case ScanDecay::None:
    llvm_unreachable("no decay has no gradient");
  }
  if (count == 1)
    return program.defineDense(op.getDdecay());
  return program.temporary({count, elementCount(shapeOf(op.getDdecay()))}, element);
}

static LogicalResult lower(LinearScanGradOp op, ProgramBuilder &program) {
  LinearScanParams params = linearScanParams<LinearScanParams>(op);
  View q = program.rows(op.getQ(), params.qStride), k = program.rows(op.getK(), params.kStride),
       v = program.rows(op.getV(), params.vStride),
       dy = program.rows(op.getCotangent(), params.oStride);
  Type element = q.element;
  BufferUse decay = scanDecayUse(op.getDecay(), program, params.decayStride),
            segments = program.optionalUse(op.getSegments()),
            initialState = program.optionalUse(op.getInitialState()),
            stateCotangent = program.optionalUse(op.getStateCotangent());
  params.hasFinalState = !!op.getStateCotangent();

  View dv = program.define(op.getDv());
  params.dvStride = *dv.rowStride();
  Value dInitial = op.getDinitialState();
  BufferUse dInitialState = dInitial && !dInitial.use_empty()
                                ? program.use(program.defineDense(dInitial))
                                : program.absent();
  Division division(program, params, element, decay, segments);
  if (division.divides()) {
    enterForward(division, program, params, element,
                 {program.use(q), program.use(k), program.use(v), decay, segments}, initialState,
                 program.absent());
    division.enter(
        stateCotangent, params.hasFinalState, dInitialState, true, [&](BufferUse offsets) {
          LinearScanParams summary = params;
          summary.stateOnly = 1, summary.hasState = 1, summary.hasFinalState = 0;
          program.launch("linear_scan_backward_values", element,
                         params.batch * params.heads * blocksOf(params.valueSize, element),
                         wordsOf(summary),
                         {program.use(q), program.use(k), decay, segments, program.use(dy),
                          program.absent(), program.absent(), offsets},
                         rowScratch(params, element));
        });
    dInitialState = program.absent(); // it has been found already
  }
  program.launch("linear_scan_backward_values", element,
                 params.batch * params.heads * blocksOf(params.valueSize, element), wordsOf(params),
                 {program.use(q), program.use(k), decay, segments, program.use(dy), stateCotangent,
                  program.use(dv), dInitialState},
                 rowScratch(params, element));

  View dq = program.define(op.getDq()), dk = program.define(op.getDk());
  params.dqStride = *dq.rowStride(), params.dkStride = *dk.rowStride();
  int64_t keyBlocks = blocksOf(params.keySize, element), count = 1;
  std::optional<View> dDecay;
  if (op.getDdecay() && !op.getDdecay().use_empty())
    dDecay = decayGradient(op, program, params, keyBlocks, element, count);
  program.launch("linear_scan_backward_keys", element, params.batch * params.heads * keyBlocks,
                 wordsOf(params),
                 {program.use(q), program.use(k), program.use(v), decay, segments, initialState,
                  program.use(dy), stateCotangent, program.use(dq), program.use(dk),
                  dDecay ? program.use(*dDecay) : program.absent()},
                 keyScratch(params, element));
  if (count > 1)
    program.sumPartials(*dDecay, count, elementCount(shapeOf(op.getDdecay())),
                        program.defineDense(op.getDdecay()));
  return success();
}

} // namespace cpu

namespace cuda {

template <typename Op> static LinearScanShape scanShape(Op op, Type element) {
  LinearScanShape shape = linearScanParams<LinearScanShape>(op);
  divideLinearScan(shape, element.isF64() ? 8 : 4);
  return shape;
}

static LinearScanTiling tilingOf(const LinearScanShape &shape, LinearScanPart part, Type element) {
  return linearScanTiling(shape, part, element.isF64() ? 8 : 4);
}

static void launchScan(ProgramBuilder &program, StringRef name, Type element,
                       const LinearScanShape &shape, LinearScanPart part,
                       ArrayRef<BufferUse> buffers, const Store &result) {
  LinearScanTiling tiling = tilingOf(shape, part, element);
  program.launch(
      name, element, linearScanItems(shape, part, tiling), wordsOf(shape), buffers, result,
      LaunchShape{tiling.threads(), element.isF64() ? linearScanBytes<double>(shape, part)
                                                    : linearScanBytes<float>(shape, part)});
}

/// The result of a scan that is for its last state alone.
static Store noResult() { return {{ProgramBuilder::absent()}, 0, "", ""}; }

/// A scan divided over time (divideLinearScan): the steps that find what its blocks start from, or
/// end with.
class Division {
public:
  Division(ProgramBuilder &program, const LinearScanShape &shape, Type element, BufferUse decay,
           BufferUse segments)
      : program(program), element(element), decay(decay), segments(segments),
        common{shape.batch,
               shape.length,
               shape.blocks,
               shape.blockRows,
               shape.heads,
               shape.keySize,
               shape.valueSize,
               shape.decayStride,
               shape.decay,
               shape.hasSegments,
               0,
               0,
               0} {}

  bool divides() const { return common.blocks > 1; }

  /// Replaces `state`, of the sequences, by one for each block. `summarise(offsets)` launches what
  /// every block makes of a state of zero; `last` receives what is behind the last block, or in
  /// reverse before the first.
  void enter(BufferUse &state, int64_t &hasState, BufferUse last, bool reverse,
             llvm::function_ref<void(BufferUse offsets)> summarise) {
    const int64_t blocks = common.batch * common.blocks, channels = common.heads * common.keySize;
    if (!products) {
      products = program.temporary({blocks, channels}, element);
      program.launch("linear_scan_products", element,
                     blocks * ceilDiv(channels, linearScanColumnThreads), wordsOf(common),
                     {decay, segments, program.use(*products)},
                     LaunchShape{linearScanColumnThreads, 0});
    }
    SmallVector<int64_t> states{blocks, common.heads, common.keySize, common.valueSize};
    View offsets = program.temporary(states, element), entries = program.temporary(states, element);
    summarise(program.use(offsets));
    LinearScanDivisionShape shape = common;
    shape.hasState = hasState, shape.hasLast = last.storage >= 0, shape.reverse = reverse;
    program.launch(
        "linear_scan_entries", element,
        ceilDiv(common.batch * channels * common.valueSize, linearScanEntriesThreads),
        wordsOf(shape),
        {program.use(*products), program.use(offsets), segments, state, program.use(entries), last},
        LaunchShape{linearScanEntriesThreads, 0});
    state = program.use(entries), hasState = 1;
  }

private:
  ProgramBuilder &program;
  Type element;
  BufferUse decay, segments;
  LinearScanDivisionShape common;
  std::optional<View> products;
};

/// Finds the states that the blocks of a divided scan start from.
static void enterForward(Division &division, ProgramBuilder &program, LinearScanShape &shape,
                         Type element, ArrayRef<BufferUse> operands /* q, k, v, decay, segments */,
                         BufferUse &initialState, BufferUse finalState) {
  division.enter(initialState, shape.hasState, finalState, false, [&](BufferUse offsets) {
    LinearScanShape summary = shape;
    summary.stateOnly = 1, summary.hasState = 0, summary.hasFinalState = 1;
    SmallVector<BufferUse> buffers(operands);
    buffers.append({program.absent(), offsets});
    launchScan(program, "linear_scan_forward", element, summary, LinearScanPart::Forward, buffers,
               noResult());
  });
}

static LogicalResult lower(LinearScanOp op, ProgramBuilder &program) {
  View q, k, v;
  int64_t qStride, kStride, vStride;
  q = program.rows(op.getQ(), qStride), k = program.rows(op.getK(), kStride);
  v = program.rows(op.getV(), vStride);
  LinearScanShape shape = scanShape(op, q.element);
  shape.qStride = qStride, shape.kStride = kStride, shape.vStride = vStride;
  BufferUse decay = scanDecayUse(op.getDecay(), program, shape.decayStride),
            segments = program.optionalUse(op.getSegments()),
            initialState = program.optionalUse(op.getInitialState());
  Store o = program.storeOf(op.getResult());
  shape.oStride = o.stride, shape.hasFinalState = op.getReturnState();
  BufferUse finalState =
      op.getReturnState() ? program.use(program.defineDense(op.getFinalState())) : program.absent();
  SmallVector<BufferUse> operands{program.use(q), program.use(k), program.use(v), decay, segments};
  Division division(program, shape, q.element, decay, segments);
  if (division.divides()) {
    enterForward(division, program, shape, q.element, operands, initialState, finalState);
    shape.hasFinalState = 0, finalState = program.absent(); // it has been found already
  }
  operands.append({initialState, finalState});
  launchScan(program, "linear_scan_forward", q.element, shape, LinearScanPart::Forward, operands,
             o);
  return success();
}

/// Defines ddecay, and returns the buffer the kernel writes: the gradient itself where every
/// element belongs to one item, else partial sums, `count` of them.
static View decayGradient(LinearScanGradOp op, ProgramBuilder &program, LinearScanShape &shape,
                          Type element, int64_t &count) {
  const int64_t keyBlocks = linearScanColumnBlocks(shape, LinearScanPart::Keys,
                                                   tilingOf(shape, LinearScanPart::Keys, element));
  count = 1;
  switch (shape.decay) {
  case ScanDecay::KeyAndTime: {
    View view = program.define(op.getDdecay());
    shape.dDecayStride = *view.rowStride();
    return view;
  }
  case ScanDecay::HeadAndTime:
    count = keyBlocks;
    break;
  case ScanDecay::Key:
    count = shape.batch * shape.blocks;
    break;
  case ScanDecay::Head:
    count = keyBlocks * shape.batch * shape.blocks;
    break;
  case ScanDecay::None:
    llvm_unreachable("no decay has no gradient");
  }
  if (count == 1)
    return program.defineDense(op.getDdecay());
  return program.temporary({count, elementCount(shapeOf(op.getDdecay()))}, element);
}

static LogicalResult lower(LinearScanGradOp op, ProgramBuilder &program) {
  int64_t qStride, kStride, vStride, oStride;
  View q = program.rows(op.getQ(), qStride), k = program.rows(op.getK(), kStride),
       v = program.rows(op.getV(), vStride), dy = program.rows(op.getCotangent(), oStride);
  Type element = q.element;
  LinearScanShape shape = scanShape(op, element);
  shape.qStride = qStride, shape.kStride = kStride, shape.vStride = vStride;
  shape.oStride = oStride;
  BufferUse decay = scanDecayUse(op.getDecay(), program, shape.decayStride),
            segments = program.optionalUse(op.getSegments()),
            initialState = program.optionalUse(op.getInitialState()),
            stateCotangent = program.optionalUse(op.getStateCotangent());
  shape.hasFinalState = !!op.getStateCotangent();

  Store dv = program.storeOf(op.getDv());
  shape.dvStride = dv.stride;
  Value dInitial = op.getDinitialState();
  BufferUse dInitialState = dInitial && !dInitial.use_empty()
                                ? program.use(program.defineDense(dInitial))
                                : program.absent();
  Division division(program, shape, element, decay, segments);
  auto values = [&](const LinearScanShape &of, BufferUse cotangent, BufferUse state,
                    const Store &to) {
    launchScan(program, "linear_scan_backward_values", element, of, LinearScanPart::Values,
               {program.use(q), program.use(k), decay, segments, program.use(dy), cotangent, state},
               to);
  };
  if (division.divides()) {
    enterForward(division, program, shape, element,
                 {program.use(q), program.use(k), program.use(v), decay, segments}, initialState,
                 program.absent());
    division.enter(stateCotangent, shape.hasFinalState, dInitialState, true,
                   [&](BufferUse offsets) {
                     LinearScanShape summary = shape;
                     summary.stateOnly = 1, summary.hasState = 1, summary.hasFinalState = 0;
                     values(summary, program.absent(), offsets, noResult());
                   });
    dInitialState = program.absent(); // it has been found already
  }
  values(shape, stateCotangent, dInitialState, dv);

  // The gradient of the keys reads that of the queries for the gradient of the decay.
  shape.decayGradient = op.getDdecay() && !op.getDdecay().use_empty();
  Store dq = program.storeOf(op.getDq(), /*kept=*/shape.decayGradient),
        dk = program.storeOf(op.getDk());
  shape.dqStride = dq.stride, shape.dkStride = dk.stride;
  BufferUse dqRead = program.absent();
  if (shape.decayGradient) {
    View view = program.view(op.getDq());
    dqRead = program.use(view), shape.dqStride = *view.rowStride();
  }
  int64_t count = 1;
  BufferUse dDecay = program.absent(), anchors = program.absent();
  std::optional<View> gradient;
  if (shape.decayGradient) {
    gradient = decayGradient(op, program, shape, element, count);
    dDecay = program.use(*gradient);
    anchors =
        program.use(program.temporary({element.isF64() ? linearScanAnchorElements<double>(shape)
                                                       : linearScanAnchorElements<float>(shape)},
                                      element));
  }
  launchScan(
      program, "linear_scan_backward_queries", element, shape, LinearScanPart::Queries,
      {program.use(k), program.use(v), decay, segments, initialState, program.use(dy), anchors},
      dq);
  launchScan(program, "linear_scan_backward_keys", element, shape, LinearScanPart::Keys,
             {program.use(q), program.use(k), program.use(v), decay, segments, program.use(dy),
              stateCotangent, dqRead, anchors, dDecay},
             dk);
  if (count > 1)
    program.sumPartials(*gradient, count, elementCount(shapeOf(op.getDdecay())),
                        program.defineDense(op.getDdecay()));
  return success();
}

} // namespace cuda

template <> LogicalResult lower(LinearScanOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

template <> LogicalResult lower(LinearScanGradOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

} // namespace hybrid
