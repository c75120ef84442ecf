//===- LowerSelectiveScan.cpp - the selective scan --------------------------===//
#include "codegen/cuda/Lowerings.h"
#include "codegen/cuda/kernels/SelectiveScanParams.h"
#include "codegen/program/ScanLowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid::cuda {

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

LogicalResult lower(SelectiveScanOp op, ProgramBuilder &program) {
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

LogicalResult lower(SelectiveScanGradOp op, ProgramBuilder &program) {
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

} // namespace hybrid::cuda
