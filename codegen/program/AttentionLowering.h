//===- AttentionLowering.h - what lowerings of attention share --------------===//
#pragma once
#include "codegen/kernels/Kernels.h"
#include "codegen/program/ProgramBuilder.h"
#include "dialect/Shapes.h"

namespace hybrid {

/// Sizes and masks; strides and scale are left to the caller.
template <typename Op> AttentionParams attentionParams(Op op) {
  AttentionParams params{};
  llvm::ArrayRef<int64_t> q = shapeOf(op.getQ());
  params.batch = q[0], params.length = q[1], params.keyLength = shapeOf(op.getK())[1];
  params.heads = op.getHeads(), params.kvHeads = op.getKvHeads(),
  params.headSize = q[2] / params.heads;
  params.causal = op.getCausal(), params.window = static_cast<int64_t>(op.getWindow());
  params.rotaryDims = op.getRotaryDims(), params.rotaryInterleaved = op.getRotaryInterleaved();
  params.hasSegments = !!op.getSegments();
  return params;
}

/// The angles of all positions, or nothing.
template <typename Op>
BufferUse rotaryTable(Op op, ProgramBuilder &program, const AttentionParams &params) {
  if (params.rotaryDims == 0)
    return program.absent();
  RotaryTableParams table{params.keyLength, params.rotaryDims, op.getRotaryBase().convertToDouble(),
                          1.0, op.getXposBase().convertToDouble()};
  return program.use(program.constantTable("rotary_table", elementOf(op.getQ()), table.positions,
                                           wordsOf(table), table.positions * table.dims / 2 * 4));
}

} // namespace hybrid
