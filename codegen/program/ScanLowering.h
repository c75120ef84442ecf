//===- ScanLowering.h - what lowerings of scans share -----------------------===//
//
// Sizes, options and the buffers that a scan and its gradient start with. `Params` is a device's
// parameter struct, whose fields are called alike.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernels.h"
#include "codegen/program/ProgramBuilder.h"
#include "dialect/Shapes.h"

namespace hybrid {

/// Selective scan: x, dt, a, b, c, segments, initial state, step bias, skip, gate.
template <typename Op, typename Params>
llvm::SmallVector<BufferUse> selectiveScanOperands(Op op, ProgramBuilder &program, Params &params) {
  auto isConstant = [](mlir::Value map) { return shapeOf(map).size() == 2; };
  // An input or output map: rows with a stride, or dense when it is constant.
  auto mapUse = [&](mlir::Value map, int64_t &stride) {
    return isConstant(map) ? program.use(program.dense(map))
                           : program.use(program.rows(map, stride));
  };
  View x = program.rows(op.getX(), params.xStride), dt = program.rows(op.getDt(), params.dtStride);
  params.batch = x.shape[0], params.length = x.shape[1], params.channels = x.shape[2];
  params.states = lastSize(op.getA());
  params.constantB = isConstant(op.getB()), params.constantC = isConstant(op.getC());
  params.groups = 1;
  for (mlir::Value map : {op.getB(), op.getC()})
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
  return {program.use(x), program.use(dt), a, b, c, segments, state, stepBias, skip, gate};
}

/// Softmax scan: k, v, taps, decay, segments, initial state.
template <typename Op, typename Params>
llvm::SmallVector<BufferUse> softmaxScanOperands(Op op, ProgramBuilder &program, Params &params) {
  View k = program.rows(op.getK(), params.kStride), v = program.rows(op.getV(), params.vStride);
  params.batch = v.shape[0], params.length = v.shape[1], params.channels = v.shape[2];
  params.keys = k.shape[2], params.taps = op.getTaps() ? shapeOf(op.getTaps())[0] : 0;
  params.hasDecay = !!op.getDecay(), params.hasSegments = !!op.getSegments(),
  params.hasState = !!op.getInitialState();
  llvm::SmallVector<BufferUse> buffers{program.use(k), program.use(v)};
  for (mlir::Value operand : {op.getTaps(), op.getDecay(), op.getSegments(), op.getInitialState()})
    buffers.push_back(program.optionalUse(operand));
  return buffers;
}

/// What a decay is given for, by its shape.
inline ScanDecay scanDecayOf(mlir::Value decay, int64_t heads) {
  if (!decay)
    return ScanDecay::None;
  bool perHead = lastSize(decay) == heads; // with one channel a head both mean the same
  if (shapeOf(decay).size() == 3)
    return perHead ? ScanDecay::HeadAndTime : ScanDecay::KeyAndTime;
  return perHead ? ScanDecay::Head : ScanDecay::Key;
}

/// Linear scan: sizes and options; strides are left to the caller.
template <typename Params, typename Op> Params linearScanParams(Op op) {
  Params params{};
  llvm::ArrayRef<int64_t> q = shapeOf(op.getQ());
  params.batch = q[0], params.length = q[1], params.heads = static_cast<int64_t>(op.getHeads());
  params.keySize = op.getKeySize(), params.valueSize = op.getValueSize();
  params.decay = scanDecayOf(op.getDecay(), params.heads);
  params.exclusive = op.getExclusive(), params.hasSegments = !!op.getSegments();
  params.hasState = !!op.getInitialState();
  params.scale = op.getScale().convertToDouble();
  return params;
}

/// The decay as the kernels read it: a view with a stride, or a dense vector.
inline BufferUse scanDecayUse(mlir::Value decay, ProgramBuilder &program, int64_t &stride) {
  if (decay && shapeOf(decay).size() == 3)
    return program.use(program.rows(decay, stride));
  return program.optionalUse(decay);
}

} // namespace hybrid
