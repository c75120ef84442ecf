//===- SelectiveScan.cpp - scans with a selective state ---------------------===//
#include "codegen/kernels/cpu/SelectiveScan.h"
#include "codegen/kernels/cuda/SelectiveScanParams.h"
#include "codegen/lowering/Lowering.h"
#include "codegen/program/ScanLowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

namespace cpu {

/// Sets what the scan and its gradient have in common, and returns the buffers both start with.
template <typename Op>
static SmallVector<BufferUse> commonOperands(Op op, ProgramBuilder &program,
                                             SelectiveScanParams &params) {
  SmallVector<BufferUse> buffers = selectiveScanOperands(op, program, params);
  if (elementOf(op.getX()).isF64()) {
    params.blocksPerItem = selectiveScanBlocksPerItem<double>(params);
    divideSelectiveScan<double>(params);
  } else {
    params.blocksPerItem = selectiveScanBlocksPerItem<float>(params);
    divideSelectiveScan<float>(params);
  }
  return buffers;
}

static int64_t gridOf(const SelectiveScanParams &params, Type element) {
  return params.batch * params.timeBlocks *
         (element.isF64() ? selectiveScanItems<double>(params) : selectiveScanItems<float>(params));
}

/// Where each block of rows starts: replaces the initial state in `buffers`, which are those of
/// commonOperands, and for a gradient, where `dy` is given, `stateCotangent`.
static void divideOverTime(ProgramBuilder &program, SelectiveScanParams &params,
                           SmallVector<BufferUse> &buffers, Type element, const View *dy = nullptr,
                           BufferUse *stateCotangent = nullptr) {
  if (params.timeBlocks == 1)
    return;
  constexpr int64_t initialState = 6; // place in the buffers
  const int64_t elements = params.batch * params.channels * params.states;
  auto perBlock = [&] { return program.temporary({params.timeBlocks, elements}, element); };
  View decay = perBlock(), offset = perBlock();
  std::optional<View> carry;
  if (dy)
    carry = perBlock();
  SmallVector<BufferUse> summary = buffers;
  SelectiveScanParams summaryParams = params;
  summaryParams.hasState = 0, summaryParams.summariseGradient = dy != nullptr;
  summary[initialState] = program.absent();
  summary.append({dy ? program.use(*dy) : program.absent(), program.use(decay), program.use(offset),
                  carry ? program.use(*carry) : program.absent()});
  program.launch("selective_scan_summary", element, gridOf(params, element), wordsOf(summaryParams),
                 summary,
                 element.isF64() ? selectiveScanSummaryScratch<double>(params)
                                 : selectiveScanSummaryScratch<float>(params));
  auto entries = [&](const View &from, BufferUse &state, int64_t &has, bool reverse) {
    View result = perBlock();
    SelectiveScanEntriesParams entriesParams{elements, params.timeBlocks, has, reverse};
    program.launch("selective_scan_entries", element,
                   ceilDiv(elements, element.isF64() ? lanes<double> : lanes<float>),
                   wordsOf(entriesParams),
                   {program.use(decay), program.use(from), state, program.use(result)});
    state = program.use(result), has = 1;
  };
  entries(offset, buffers[initialState], params.hasState, false);
  if (carry)
    entries(*carry, *stateCotangent, params.hasFinalState, true);
}

static LogicalResult lower(SelectiveScanOp op, ProgramBuilder &program) {
  SelectiveScanParams params{};
  SmallVector<BufferUse> buffers = commonOperands(op, program, params);
  View y = program.define(op.getResult());
  params.yStride = *y.rowStride(), params.hasFinalState = op.getReturnState();
  divideOverTime(program, params, buffers, y.element);
  buffers.push_back(program.use(y));
  buffers.push_back(op.getReturnState() ? program.use(program.defineDense(op.getFinalState()))
                                        : program.absent());
  bool wide = y.element.isF64();
  program.launch("selective_scan_forward", y.element, gridOf(params, y.element), wordsOf(params),
                 buffers,
                 wide ? selectiveScanForwardScratch<double>(params)
                      : selectiveScanForwardScratch<float>(params));
  return success();
}

static LogicalResult lower(SelectiveScanGradOp op, ProgramBuilder &program) {
  SelectiveScanParams params{};
  SmallVector<BufferUse> buffers = commonOperands(op, program, params);
  View dy = program.rows(op.getCotangent(), params.yStride), dx = program.define(op.getDx()),
       ddt = program.define(op.getDdt());
  params.dxStride = *dx.rowStride(), params.ddtStride = *ddt.rowStride();
  params.hasFinalState = !!op.getStateCotangent();
  // The gradients that are there when their operand is, in this order.
  auto optional = op.getOptionalGradients().begin();
  Value dInitialState = op.getInitialState() ? *optional++ : Value(),
        dStepBias = op.getDtBias() ? *optional++ : Value(),
        dSkip = op.getSkip() ? *optional++ : Value(), dGate = op.getGate() ? *optional++ : Value();
  BufferUse stateCotangent = program.optionalUse(op.getStateCotangent());
  divideOverTime(program, params, buffers, dy.element, &dy, &stateCotangent);
  buffers.append({program.use(dy), stateCotangent, program.use(dx), program.use(ddt)});
  params.stateGradient = !!dInitialState;
  buffers.push_back(dInitialState ? program.use(program.defineDense(dInitialState))
                                  : program.absent());
  if (dGate) {
    View view = program.define(dGate);
    params.dGateStride = *view.rowStride();
    buffers.push_back(program.use(view));
  } else {
    buffers.push_back(program.absent());
  }
  Type element = dy.element;
  bool wide = element.isF64();
  int64_t sums = params.batch * params.timeBlocks, // partial sums over time
      groupItems =
          wide ? selectiveScanGroupItems<double>(params) : selectiveScanGroupItems<float>(params);
  int64_t mapWidth = params.groups * params.states;
  auto partialOf = [&](bool constant) {
    return constant
               ? program.temporary({sums, params.states, params.channels}, element)
               : program.temporary({groupItems, params.batch, params.length, mapWidth}, element);
  };
  View partialA = partialOf(true), partialB = partialOf(params.constantB),
       partialC = partialOf(params.constantC);
  buffers.append({program.use(partialA), program.use(partialB), program.use(partialC)});
  auto channelPartial = [&](Value gradient) -> std::optional<View> {
    if (!gradient)
      return std::nullopt;
    return program.temporary({sums, params.channels}, element);
  };
  std::optional<View> partialStepBias = channelPartial(dStepBias),
                      partialSkip = channelPartial(dSkip);
  for (const std::optional<View> &partial : {partialStepBias, partialSkip})
    buffers.push_back(partial ? program.use(*partial) : program.absent());
  program.launch("selective_scan_backward", element, gridOf(params, element), wordsOf(params),
                 buffers,
                 wide ? selectiveScanBackwardScratch<double>(params)
                      : selectiveScanBackwardScratch<float>(params));

  auto reduce = [&](const View &partial, bool constant, Value result) {
    if (result.use_empty())
      return;
    if (!constant) {
      program.sumPartials(partial, groupItems, params.batch * params.length * mapWidth,
                          program.defineDense(result));
      return;
    }
    View stateMajor = program.temporary({params.states, params.channels}, element);
    program.sumPartials(partial, sums, params.states * params.channels, stateMajor);
    program.copy(stateMajor.transposed({1, 0}), program.define(result)); // any layout
  };
  reduce(partialA, true, op.getDa());
  reduce(partialB, params.constantB, op.getDb());
  reduce(partialC, params.constantC, op.getDc());
  for (auto [partial, result] :
       {std::pair(partialStepBias, dStepBias), std::pair(partialSkip, dSkip)})
    if (partial && !result.use_empty())
      program.sumPartials(*partial, sums, params.channels, program.defineDense(result));
  return success();
}

} // namespace cpu

namespace cuda {

/// Sets what the scan and its gradient have in common, and returns the buffers both start with.
template <typename Op>
static SmallVector<BufferUse> commonOperands(Op op, ProgramBuilder &program,
                                             SelectiveScanShape &shape) {
  SmallVector<BufferUse> buffers = selectiveScanOperands(op, program, shape);
  divideSelectiveScan(shape);
  return buffers;
}

/// A launch over the blocks of `shape`.
static void launchScan(ProgramBuilder &program, StringRef name, Type element,
                       const SelectiveScanShape &shape, ArrayRef<BufferUse> buffers,
                       int64_t sharedBytes) {
  program.launch(name, element, selectiveScanItems(shape), wordsOf(shape), buffers,
                 LaunchShape{selectiveScanThreads(shape), sharedBytes});
}

/// Where each block of rows starts: replaces the initial state in `buffers`, which are those of
/// commonOperands, and for a gradient, where `dy` is given, `stateCotangent`.
static void divideOverTime(ProgramBuilder &program, SelectiveScanShape &shape,
                           SmallVector<BufferUse> &buffers, Type element, const View *dy = nullptr,
                           BufferUse *stateCotangent = nullptr) {
  if (shape.timeBlocks == 1)
    return;
  constexpr int64_t initialState = 6; // place in the buffers
  const int64_t elements = shape.batch * shape.channels * shape.states;
  auto perBlock = [&] { return program.temporary({shape.timeBlocks, elements}, element); };
  View decay = perBlock(), offset = perBlock();
  std::optional<View> carry;
  if (dy)
    carry = perBlock();
  SmallVector<BufferUse> summary = buffers;
  SelectiveScanShape summaryShape = shape;
  summaryShape.hasState = 0, summaryShape.summariseGradient = dy != nullptr;
  summary[initialState] = program.absent();
  summary.append({dy ? program.use(*dy) : program.absent(), program.use(decay), program.use(offset),
                  carry ? program.use(*carry) : program.absent()});
  launchScan(program, "selective_scan_summary", element, summaryShape, summary,
             element.isF64() ? selectiveScanSummaryBytes<double>(shape)
                             : selectiveScanSummaryBytes<float>(shape));
  auto entries = [&](const View &from, BufferUse &state, int64_t &has, bool reverse) {
    View result = perBlock();
    SelectiveScanEntriesShape entriesShape{elements, shape.timeBlocks, has, reverse};
    program.launch("selective_scan_entries", element,
                   ceilDiv(elements, selectiveScanEntriesThreads), wordsOf(entriesShape),
                   {program.use(decay), program.use(from), state, program.use(result)},
                   LaunchShape{selectiveScanEntriesThreads, 0});
    state = program.use(result), has = 1;
  };
  entries(offset, buffers[initialState], shape.hasState, false);
  if (carry)
    entries(*carry, *stateCotangent, shape.hasFinalState, true);
}

static LogicalResult lower(SelectiveScanOp op, ProgramBuilder &program) {
  SelectiveScanShape shape{};
  SmallVector<BufferUse> buffers = commonOperands(op, program, shape);
  Type element = elementOf(op.getResult());
  Store y = program.storeOf(op.getResult());
  shape.yStride = y.stride, shape.hasFinalState = op.getReturnState();
  divideOverTime(program, shape, buffers, element);
  buffers.push_back(op.getReturnState() ? program.use(program.defineDense(op.getFinalState()))
                                        : program.absent());
  program.launch("selective_scan_forward", element, selectiveScanItems(shape), wordsOf(shape),
                 buffers, y,
                 LaunchShape{selectiveScanThreads(shape),
                             element.isF64() ? selectiveScanForwardBytes<double>(shape)
                                             : selectiveScanForwardBytes<float>(shape)});
  return success();
}

static LogicalResult lower(SelectiveScanGradOp op, ProgramBuilder &program) {
  SelectiveScanShape shape{};
  SmallVector<BufferUse> buffers = commonOperands(op, program, shape);
  View dy = program.rows(op.getCotangent(), shape.yStride), dx = program.define(op.getDx()),
       ddt = program.define(op.getDdt());
  shape.dxStride = *dx.rowStride(), shape.ddtStride = *ddt.rowStride();
  shape.hasFinalState = !!op.getStateCotangent();
  // The gradients that are there when their operand is, in this order.
  auto optional = op.getOptionalGradients().begin();
  Value dInitialState = op.getInitialState() ? *optional++ : Value(),
        dStepBias = op.getDtBias() ? *optional++ : Value(),
        dSkip = op.getSkip() ? *optional++ : Value(), dGate = op.getGate() ? *optional++ : Value();
  BufferUse stateCotangent = program.optionalUse(op.getStateCotangent());
  divideOverTime(program, shape, buffers, dy.element, &dy, &stateCotangent);
  buffers.append({program.use(dy), stateCotangent, program.use(dx), program.use(ddt)});
  shape.stateGradient = !!dInitialState;
  buffers.push_back(dInitialState ? program.use(program.defineDense(dInitialState))
                                  : program.absent());
  if (dGate) {
    View view = program.define(dGate);
    shape.dGateStride = *view.rowStride();
    buffers.push_back(program.use(view));
  } else {
    buffers.push_back(program.absent());
  }
  Type element = dy.element;
  const int64_t sums = shape.batch * shape.timeBlocks, // partial sums over time
      groupBlocks = selectiveScanGroupBlocks(shape), mapWidth = shape.groups * shape.states;
  auto partialOf = [&](bool constant) {
    return constant
               ? program.temporary({sums, shape.states, shape.channels}, element)
               : program.temporary({groupBlocks, shape.batch, shape.length, mapWidth}, element);
  };
  View partialA = partialOf(true), partialB = partialOf(shape.constantB),
       partialC = partialOf(shape.constantC);
  buffers.append({program.use(partialA), program.use(partialB), program.use(partialC)});
  auto channelPartial = [&](Value gradient) -> std::optional<View> {
    if (!gradient)
      return std::nullopt;
    return program.temporary({sums, shape.channels}, element);
  };
  std::optional<View> partialStepBias = channelPartial(dStepBias),
                      partialSkip = channelPartial(dSkip);
  for (const std::optional<View> &partial : {partialStepBias, partialSkip})
    buffers.push_back(partial ? program.use(*partial) : program.absent());
  bool wide = element.isF64();
  View checkpoints = program.temporary(
      {wide ? selectiveScanCheckpoints<double>(shape) : selectiveScanCheckpoints<float>(shape)},
      element);
  buffers.push_back(program.use(checkpoints));
  launchScan(program, "selective_scan_backward", element, shape, buffers,
             wide ? selectiveScanBackwardBytes<double>(shape)
                  : selectiveScanBackwardBytes<float>(shape));

  auto reduce = [&](const View &partial, bool constant, Value result) {
    if (result.use_empty())
      return;
    if (!constant) {
      program.sumPartials(partial, groupBlocks, shape.batch * shape.length * mapWidth,
                          program.defineDense(result));
      return;
    }
    View stateMajor = program.temporary({shape.states, shape.channels}, element);
    program.sumPartials(partial, sums, shape.states * shape.channels, stateMajor);
    program.copy(stateMajor.transposed({1, 0}), program.define(result)); // any layout
  };
  reduce(partialA, true, op.getDa());
  reduce(partialB, shape.constantB, op.getDb());
  reduce(partialC, shape.constantC, op.getDc());
  for (auto [partial, result] :
       {std::pair(partialStepBias, dStepBias), std::pair(partialSkip, dSkip)})
    if (partial && !result.use_empty())
      program.sumPartials(*partial, sums, shape.channels, program.defineDense(result));
  return success();
}

} // namespace cuda

template <> LogicalResult lower(SelectiveScanOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

template <> LogicalResult lower(SelectiveScanGradOp op, ProgramBuilder &program) {
  return program.device().kind == Device::Cpu ? cpu::lower(op, program) : cuda::lower(op, program);
}

} // namespace hybrid
