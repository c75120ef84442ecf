//===- DeltaRule.h - contract of the generalized delta rule -----------------===//
//
// S_t = diag(e^g_t) S_(t-1) + b_t a_t' S_(t-1) + k_t v_t', o_t = scale S_t' q_t, b being -k where
// it is not given. A token takes `steps` steps, of which the first decays and the last is read. q:
// [batch, length, heads*keySize], o: [batch, length, heads*valueSize]; k, a, b and v the same times
// steps, step after step (views with strides); states [batch, heads, keySize, valueSize], dense.
// With segments (int32 [batch, length]) S is zero before every token whose id is not that of the
// one before.
//
// Rows are steps here: length * steps of them, in chunks.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernel.h"
#include "codegen/kernels/ScanChunks.h"

namespace hybrid {

/// How the decay is shaped: views with a stride.
enum class DeltaRuleDecay : int64_t {
  None,
  KeyAndTime,  // [batch, length, heads*keySize]
  HeadAndTime, // [batch, length, heads]
};

struct DeltaRuleParams {
  int64_t batch, length, steps, heads, keySize, valueSize;
  int64_t qStride, kStride, vStride, aStride, bStride, decayStride, oStride /* also do */;
  int64_t dqStride, dkStride, dvStride, daStride, dbStride, dDecayStride;
  DeltaRuleDecay decay;
  int64_t hasB, hasSegments, hasState, hasFinalState;
  int64_t decayGradient, stateGradient; // wanted
  double scale;
  HYBRID_FIELDS(batch, length, steps, heads, keySize, valueSize, qStride, kStride, vStride, aStride,
                bStride, decayStride, oStride, dqStride, dkStride, dvStride, daStride, dbStride,
                dDecayStride, decay, hasB, hasSegments, hasState, hasFinalState, decayGradient,
                stateGradient, scale)
};

constexpr int64_t deltaRuleRows(const DeltaRuleParams &p) { return p.length * p.steps; }
/// Whether the state is multiplied with anything: by a decay, or by zero where a segment starts.
constexpr bool deltaRuleDecays(const DeltaRuleParams &p) {
  return p.decay != DeltaRuleDecay::None || p.hasSegments;
}

/// Rows of a chunk: a vector of the CPU, so that a lane can be a row. The products of a chunk are
/// more, the longer it is, those with the state fewer; on CUDA the same balance is struck.
template <typename T> constexpr int64_t deltaRuleChunk = lanes<T>;
template <typename T> constexpr int64_t deltaRuleChunks(const DeltaRuleParams &p) {
  return ceilDiv(deltaRuleRows(p), deltaRuleChunk<T>);
}
/// Chunks between two states that the gradient keeps; the others are computed twice again.
template <typename T> constexpr int64_t deltaRuleGroup(const DeltaRuleParams &p) {
  int64_t group = 1;
  while (ceilDiv(deltaRuleChunks<T>(p), group) > 128)
    group *= 2;
  return group;
}
/// States that the gradient has at a time: those that it keeps, and those of a group.
template <typename T> constexpr int64_t deltaRuleStates(const DeltaRuleParams &p) {
  const int64_t group = deltaRuleGroup<T>(p);
  return ceilDiv(deltaRuleChunks<T>(p), group) + (group > 1 ? group : 0);
}

//===-- On the CPU -------------------------------------------------------------===//

namespace cpu {

constexpr ScanSizes deltaRuleSizes(const DeltaRuleParams &p) {
  return {deltaRuleRows(p), p.keySize, p.valueSize, p.decay == DeltaRuleDecay::KeyAndTime, true};
}
/// Items are heads of sequences.
template <typename T> constexpr Grid deltaRuleGrid(const DeltaRuleParams &p, int64_t elements) {
  return {p.batch * p.heads, 0, elements * static_cast<int64_t>(sizeof(T))};
}

} // namespace cpu

//===-- On CUDA ----------------------------------------------------------------===//

namespace cuda {

constexpr int deltaRuleThreads = 256;
/// Shared memory that the tiles of a chunk may take; larger ones lie in the workspace.
constexpr int64_t deltaRuleMostBytes = 96 * 1024;

/// Elements of a block's tiles: of so many rows of keys, rows of values, and pairs of rows.
template <typename T>
constexpr int64_t deltaRuleTiles(const DeltaRuleParams &p, int64_t keyTiles, int64_t valueTiles,
                                 int64_t pairTiles) {
  return deltaRuleChunk<T> *
         (keyTiles * p.keySize + valueTiles * p.valueSize + pairTiles * deltaRuleChunk<T>)+2 *
         p.keySize;
}
template <typename T> constexpr int64_t deltaRuleForwardTiles(const DeltaRuleParams &p) {
  return deltaRuleTiles<T>(p, 9, 2, 4);
}
template <typename T> constexpr int64_t deltaRuleBackwardTiles(const DeltaRuleParams &p) {
  return deltaRuleTiles<T>(p, 18, 4, 8);
}
template <typename T> constexpr bool deltaRuleTilesAreShared(int64_t elements) {
  return elements * static_cast<int64_t>(sizeof(T)) <= deltaRuleMostBytes;
}
/// Elements of the workspace of a block: its states, and tiles that are too large.
template <typename T>
constexpr int64_t deltaRuleWorkspace(const DeltaRuleParams &p, int64_t states, int64_t tiles) {
  return states * p.keySize * p.valueSize + (deltaRuleTilesAreShared<T>(tiles) ? 0 : tiles);
}
template <typename T> constexpr Grid deltaRuleGrid(const DeltaRuleParams &p, int64_t tiles) {
  return {p.batch * p.heads, deltaRuleThreads,
          deltaRuleTilesAreShared<T>(tiles)
              ? ceilDiv(tiles * static_cast<int64_t>(sizeof(T)), 16) * 16
              : 0};
}

} // namespace cuda

//===-- What a device decides --------------------------------------------------===//

/// Elements of the workspaces of the kernels; on the CPU they have scratch memory instead.
struct DeltaRuleForwardWorkspace {
  template <typename T> static constexpr int64_t onCpu(const DeltaRuleParams &) { return 0; }
  template <typename T> static constexpr int64_t onCuda(const DeltaRuleParams &p) {
    return p.batch * p.heads * cuda::deltaRuleWorkspace<T>(p, 1, cuda::deltaRuleForwardTiles<T>(p));
  }
};
struct DeltaRuleBackwardWorkspace {
  template <typename T> static constexpr int64_t onCpu(const DeltaRuleParams &) { return 0; }
  template <typename T> static constexpr int64_t onCuda(const DeltaRuleParams &p) {
    return p.batch * p.heads *
           cuda::deltaRuleWorkspace<T>(p, deltaRuleStates<T>(p) + 2,
                                       cuda::deltaRuleBackwardTiles<T>(p));
  }
};

//===-- Kernels ----------------------------------------------------------------===//

/// Buffers: q, k, v, a, b (optional), decay (optional), segments (optional), initialState
/// (optional), finalState (optional), workspace (on CUDA), o, a store.
struct DeltaRuleForward : KernelOf<DeltaRuleParams, "delta_rule_forward", 8, 9> {
  HYBRID_ON_CPU(cpu::deltaRuleGrid<T>(p, cpu::scanForwardElements<T>(cpu::deltaRuleSizes(p))))
  HYBRID_ON_CUDA(cuda::deltaRuleGrid<T>(p, cuda::deltaRuleForwardTiles<T>(p)))
};

/// Buffers: q, k, v, a, b (optional), decay (optional), segments (optional), initialState
/// (optional), do, dFinalState (optional), dInitialState (optional), dq, dk, dv, da, db (optional),
/// dDecay (optional), workspace (on CUDA).
struct DeltaRuleBackward
    : KernelOf<DeltaRuleParams, "delta_rule_backward", 10, 11, 12, 13, 14, 15, 16, 17> {
  HYBRID_ON_CPU(cpu::deltaRuleGrid<T>(p, cpu::scanBackwardElements<T>(cpu::deltaRuleSizes(p))))
  HYBRID_ON_CUDA(cuda::deltaRuleGrid<T>(p, cuda::deltaRuleBackwardTiles<T>(p)))
};

} // namespace hybrid
