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

/// Rows of a chunk: those of a product of the matrix units.
constexpr int deltaRuleChunk = 16;
constexpr int64_t deltaRuleChunks(const DeltaRuleParams &p) {
  return ceilDiv(deltaRuleRows(p), deltaRuleChunk);
}
/// Shared memory that the tiles of a block may take; larger ones lie in the workspace.
constexpr int64_t deltaRuleMostBytes = 96 * 1024;
/// Groups of chunks between two states that the gradient keeps are one as long as these are enough.
constexpr int64_t deltaRuleMostKept = 128;

/// What a block of threads, which has a head, does at a time.
struct DeltaRuleTiling {
  int keys, values;          // with zeros behind them: multiples of 8 and of 16
  int keyStride, pairStride; // of rows of tiles: even, and few banks meet twice
  int together;              // chunks, a warp each
  int warps;                 // 16 values each, where states go from chunk to chunk
  int64_t chunkElements, stateElements, elements; // of a chunk's tiles, of a state, of all
  bool shared, statesShared;                      // whether these, and states, are in shared memory

  constexpr int threads() const { return 32 * warps; }
};

constexpr DeltaRuleTiling deltaRuleTiling(const DeltaRuleParams &p, bool backward,
                                          int64_t elementBytes) {
  DeltaRuleTiling t{};
  t.keys = static_cast<int>(ceilDiv(p.keySize, 8) * 8);
  t.values = static_cast<int>(ceilDiv(p.valueSize, 16) * 16);
  t.keyStride = t.keys + 4, t.pairStride = deltaRuleChunk + 4;
  const int64_t b = p.hasB ? 1 : 0, ofKeys = deltaRuleChunk * t.keyStride,
                ofPairs = deltaRuleChunk * t.pairStride, ofValues = t.values * t.pairStride,
                ofStates = t.values * t.keyStride;
  t.chunkElements = (3 + b + (deltaRuleDecays(p) ? 1 : 0)) * ofKeys + (2 + 2 * b) * ofPairs +
                    ofValues + (1 + b) * ofStates + t.keys;
  if (backward)
    t.chunkElements += 2 * ofValues + ofStates + t.keys;
  t.stateElements = static_cast<int64_t>(t.keys) * t.values;
  const int64_t states = (backward ? 2 : 1) * t.stateElements;
  t.statesShared = true;
  auto fits = [&] {
    t.elements = t.together * t.chunkElements + (t.statesShared ? states : 0);
    return t.elements * elementBytes <= deltaRuleMostBytes;
  };
  // The more chunks, the less is waited for; with blocks enough others work in the meantime.
  t.together = p.batch * p.heads < 2 * 132 ? 8 : 4;
  while (t.together > 1 && (!fits() || t.together / 2 >= deltaRuleChunks(p)))
    t.together /= 2;
  t.statesShared = fits(); // states are read less often than all else
  t.shared = fits();
  const int parts = t.values / 16 < 8 ? t.values / 16 : 8;
  t.warps = t.together > parts ? t.together : parts;
  return t;
}
template <typename T>
constexpr DeltaRuleTiling deltaRuleTilingOf(const DeltaRuleParams &p, bool backward) {
  return deltaRuleTiling(p, backward, static_cast<int64_t>(sizeof(T)));
}

/// Groups of chunks that a block does together, and how many lie between two states that it keeps.
constexpr int64_t deltaRuleGroups(const DeltaRuleParams &p, const DeltaRuleTiling &t) {
  return ceilDiv(deltaRuleChunks(p), t.together);
}
constexpr int64_t deltaRuleStretch(const DeltaRuleParams &p, const DeltaRuleTiling &t) {
  int64_t stretch = 1;
  while (ceilDiv(deltaRuleGroups(p, t), stretch) > deltaRuleMostKept)
    stretch *= 2;
  return stretch;
}
/// States in the workspace of a block: those that are kept, and those of a stretch.
constexpr int64_t deltaRuleKept(const DeltaRuleParams &p, const DeltaRuleTiling &t) {
  return ceilDiv(deltaRuleGroups(p, t), deltaRuleStretch(p, t));
}
constexpr int64_t deltaRuleStates(const DeltaRuleParams &p, const DeltaRuleTiling &t) {
  const int64_t stretch = deltaRuleStretch(p, t);
  return deltaRuleKept(p, t) + (stretch > 1 ? stretch : 0);
}
/// Elements of the workspace of a block.
template <typename T>
constexpr int64_t deltaRuleWorkspace(const DeltaRuleParams &p, bool backward) {
  const DeltaRuleTiling t = deltaRuleTilingOf<T>(p, backward);
  return (backward ? deltaRuleStates(p, t) * t.stateElements : 0) +
         (t.statesShared ? 0 : (backward ? 2 : 1) * t.stateElements) + (t.shared ? 0 : t.elements);
}
template <typename T> constexpr Grid deltaRuleGrid(const DeltaRuleParams &p, bool backward) {
  const DeltaRuleTiling t = deltaRuleTilingOf<T>(p, backward);
  return {p.batch * p.heads, t.threads(),
          t.shared ? ceilDiv(t.elements * static_cast<int64_t>(sizeof(T)), 16) * 16 : 0};
}

} // namespace cuda

//===-- What a device decides --------------------------------------------------===//

/// Elements of the workspaces of the kernels; on the CPU they have scratch memory instead.
struct DeltaRuleForwardWorkspace {
  template <typename T> static constexpr int64_t onCpu(const DeltaRuleParams &) { return 0; }
  template <typename T> static constexpr int64_t onCuda(const DeltaRuleParams &p) {
    return p.batch * p.heads * cuda::deltaRuleWorkspace<T>(p, false);
  }
};
struct DeltaRuleBackwardWorkspace {
  template <typename T> static constexpr int64_t onCpu(const DeltaRuleParams &) { return 0; }
  template <typename T> static constexpr int64_t onCuda(const DeltaRuleParams &p) {
    return p.batch * p.heads * cuda::deltaRuleWorkspace<T>(p, true);
  }
};

//===-- Kernels ----------------------------------------------------------------===//

/// Buffers: q, k, v, a, b (optional), decay (optional), segments (optional), initialState
/// (optional), finalState (optional), workspace (on CUDA), o, a store.
struct DeltaRuleForward : KernelOf<DeltaRuleParams, "delta_rule_forward", 8, 9> {
  HYBRID_ACTIVATIONS(0, 1, 2, 3, 4, 10)
  HYBRID_ON_CPU(cpu::deltaRuleGrid<T>(p, cpu::scanForwardElements<T>(cpu::deltaRuleSizes(p))))
  HYBRID_ON_CUDA(cuda::deltaRuleGrid<T>(p, false))
};

/// Buffers: q, k, v, a, b (optional), decay (optional), segments (optional), initialState
/// (optional), do, dFinalState (optional), dInitialState (optional), dq, dk, dv, da, db (optional),
/// dDecay (optional), workspace (on CUDA).
struct DeltaRuleBackward
    : KernelOf<DeltaRuleParams, "delta_rule_backward", 10, 11, 12, 13, 14, 15, 16, 17> {
  HYBRID_ACTIVATIONS(0, 1, 2, 3, 4, 8, 11, 12, 13, 14, 15)
  HYBRID_ON_CPU(cpu::deltaRuleGrid<T>(p, cpu::scanBackwardElements<T>(cpu::deltaRuleSizes(p))))
  HYBRID_ON_CUDA(cuda::deltaRuleGrid<T>(p, true))
};

} // namespace hybrid
