//===- SelectiveScan.cpp - scans with a selective state ---------------------===//
#include "codegen/kernels/SelectiveScan.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

/// Sets what the scan and its gradient have in common, and returns the buffers both start with: x,
/// dt, a, b, c, segments, initial state, step bias, skip, gate.
template <typename Op>
static SmallVector<BufferUse> commonOperands(Op op, ProgramBuilder &program,
                                             SelectiveScanParams &params) {
  auto isConstant = [](Value map) { return shapeOf(map).size() == 2; };
  // An input or output map: rows with a stride, or dense when it is constant.
  auto mapUse = [&](Value map, int64_t &stride) {
    return isConstant(map) ? program.use(program.dense(map))
                           : program.use(program.rows(map, stride));
  };
  View x = program.rows(op.getX(), params.xStride), dt = program.rows(op.getDt(), params.dtStride);
  params.batch = x.shape[0], params.length = x.shape[1], params.channels = x.shape[2];
  params.states = lastSize(op.getA());
  params.constantB = isConstant(op.getB()), params.constantC = isConstant(op.getC());
  params.groups = 1;
  for (Value map : {op.getB(), op.getC()})
    if (!isConstant(map))
      params.groups = lastSize(map) / params.states;
  params.hasSegments = !!op.getSegments(), params.hasState = !!op.getInitialState();
  params.hasStepBias = !!op.getDtBias(), params.softplusStep = op.getDtSoftplus();
  params.hasSkip = !!op.getSkip(), params.hasGate = !!op.getGate();
  BufferUse a = program.use(program.dense(op.getA())), b = mapUse(op.getB(), params.bStride),
            c = mapUse(op.getC(), params.cStride), segments = program.optionalUse(op.getSegments()),
            state = program.optionalUse(op.getInitialState()),
            stepBias = program.optionalUse(op.getDtBias()),
            skip = program.optionalUse(op.getSkip()),
            gate = op.getGate() ? program.use(program.rows(op.getGate(), params.gateStride))
                                : program.absent();
  program.ask<SelectiveScanDivision>(x.element, params);
  return {program.use(x), program.use(dt), a, b, c, segments, state, stepBias, skip, gate};
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
  program.launch<SelectiveScanSummary>(element, summaryParams, summary);
  auto entries = [&](const View &from, BufferUse &state, int64_t &has, bool reverse) {
    View result = perBlock();
    program.launch<SelectiveScanEntries>(element, {elements, params.timeBlocks, has, reverse},
                                         {decay, from, state, result});
    state = program.use(result), has = 1;
  };
  entries(offset, buffers[initialState], params.hasState, false);
  if (carry)
    entries(*carry, *stateCotangent, params.hasFinalState, true);
}

template <> LogicalResult lower(SelectiveScanOp op, ProgramBuilder &program) {
  SelectiveScanParams params{};
  SmallVector<BufferUse> buffers = commonOperands(op, program, params);
  Type element = elementOf(op.getResult());
  Store y = program.storeOf(op.getResult());
  params.yStride = y.stride, params.hasFinalState = op.getReturnState();
  divideOverTime(program, params, buffers, element);
  buffers.push_back(op.getReturnState() ? program.use(program.defineDense(op.getFinalState()))
                                        : program.absent());
  program.launch<SelectiveScanForward>(element, params, buffers, y);
  return success();
}

template <> LogicalResult lower(SelectiveScanGradOp op, ProgramBuilder &program) {
  SelectiveScanParams params{};
  SmallVector<BufferUse> buffers = commonOperands(op, program, params);
  View dy = program.rows(op.getCotangent(), params.yStride), dx = program.define(op.getDx()),
       ddt = program.define(op.getDdt());
  Type element = dy.element;
  params.dxStride = *dx.rowStride(), params.ddtStride = *ddt.rowStride();
  params.hasFinalState = !!op.getStateCotangent();
  // The gradients that are there when their operand is, in this order.
  auto optional = op.getOptionalGradients().begin();
  Value dInitialState = op.getInitialState() ? *optional++ : Value(),
        dStepBias = op.getDtBias() ? *optional++ : Value(),
        dSkip = op.getSkip() ? *optional++ : Value(), dGate = op.getGate() ? *optional++ : Value();
  BufferUse stateCotangent = program.optionalUse(op.getStateCotangent());
  divideOverTime(program, params, buffers, element, &dy, &stateCotangent);
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
  const int64_t sums = params.batch * params.timeBlocks, // partial sums over time
      groupItems = program.ask<SelectiveScanGroupItems>(element, params),
                mapWidth = params.groups * params.states;
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
  if (int64_t checkpoints = program.ask<SelectiveScanCheckpoints>(element, params))
    buffers.push_back(program.use(program.temporary({checkpoints}, element)));
  program.launch<SelectiveScanBackward>(element, params, buffers);

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

} // namespace hybrid
