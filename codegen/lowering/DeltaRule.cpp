//===- DeltaRule.cpp - the generalized delta rule ---------------------------===//
#include "codegen/kernels/DeltaRule.h"
#include "codegen/lowering/Lowering.h"
#include "dialect/Shapes.h"

using namespace mlir;

namespace hybrid {

/// What a decay is given for, by its shape.
static DeltaRuleDecay decayOf(Value decay, int64_t heads) {
  if (!decay)
    return DeltaRuleDecay::None;
  // With one channel a head both mean the same.
  return lastSize(decay) == heads ? DeltaRuleDecay::HeadAndTime : DeltaRuleDecay::KeyAndTime;
}

/// The operands that the rule and its gradient share: the first eight buffers of their launches.
template <typename Op>
static SmallVector<BufferUse> operandsOf(Op op, ProgramBuilder &program, DeltaRuleParams &params,
                                         Type &element) {
  View q = program.rows(op.getQ(), params.qStride), k = program.rows(op.getK(), params.kStride),
       v = program.rows(op.getV(), params.vStride), a = program.rows(op.getA(), params.aStride);
  element = q.element;
  params.batch = q.shape[0], params.length = q.shape[1];
  params.heads = static_cast<int64_t>(op.getHeads());
  params.steps = static_cast<int64_t>(op.getSteps());
  params.keySize = op.getKeySize(), params.valueSize = op.getValueSize();
  params.decay = decayOf(op.getDecay(), params.heads);
  params.hasB = !!op.getB(), params.hasSegments = !!op.getSegments();
  params.hasState = !!op.getInitialState();
  params.scale = op.getScale().convertToDouble();
  auto rows = [&](Value value, int64_t &stride) {
    return value ? program.use(program.rows(value, stride)) : program.absent();
  };
  return {program.use(q),
          program.use(k),
          program.use(v),
          program.use(a),
          rows(op.getB(), params.bStride),
          rows(op.getDecay(), params.decayStride),
          program.optionalUse(op.getSegments()),
          program.optionalUse(op.getInitialState())};
}

template <typename Workspace>
static BufferUse workspace(ProgramBuilder &program, Type element, const DeltaRuleParams &params) {
  const int64_t elements = program.ask<Workspace>(element, params);
  return elements > 0 ? program.use(program.temporary({elements}, element)) : program.absent();
}

template <> LogicalResult lower(DeltaRuleOp op, ProgramBuilder &program) {
  DeltaRuleParams params{};
  Type element;
  SmallVector<BufferUse> buffers = operandsOf(op, program, params, element);
  Store out = program.storeOf(op.getResult());
  params.oStride = out.stride, params.hasFinalState = op.getReturnState();
  buffers.push_back(op.getReturnState() ? program.use(program.defineDense(op.getFinalState()))
                                        : program.absent());
  buffers.push_back(workspace<DeltaRuleForwardWorkspace>(program, element, params));
  program.launch<DeltaRuleForward>(element, params, buffers, out);
  return success();
}

template <> LogicalResult lower(DeltaRuleGradOp op, ProgramBuilder &program) {
  DeltaRuleParams params{};
  Type element;
  SmallVector<BufferUse> buffers = operandsOf(op, program, params, element);
  buffers.push_back(program.use(program.rows(op.getCotangent(), params.oStride)));
  buffers.push_back(program.optionalUse(op.getStateCotangent()));
  params.hasFinalState = !!op.getStateCotangent();
  Value dInitial = op.getDinitialState(), dDecay = op.getDdecay();
  params.stateGradient = dInitial && !dInitial.use_empty();
  params.decayGradient = dDecay && !dDecay.use_empty();
  buffers.push_back(params.stateGradient ? program.use(program.defineDense(dInitial))
                                         : program.absent());
  auto define = [&](Value gradient, int64_t &stride, bool wanted) {
    if (!wanted) {
      buffers.push_back(program.absent());
      return;
    }
    View view = program.define(gradient);
    stride = *view.rowStride();
    buffers.push_back(program.use(view));
  };
  define(op.getDq(), params.dqStride, true), define(op.getDk(), params.dkStride, true);
  define(op.getDv(), params.dvStride, true), define(op.getDa(), params.daStride, true);
  define(op.getDb(), params.dbStride, params.hasB);
  define(dDecay, params.dDecayStride, params.decayGradient);
  buffers.push_back(workspace<DeltaRuleBackwardWorkspace>(program, element, params));
  program.launch<DeltaRuleBackward>(element, params, buffers);
  return success();
}

} // namespace hybrid
