//===- DeltaRule.cuh - generalized delta rule in chunks ---------------------===//
//
// A block of threads has a head of a sequence, and goes through its chunks a few at a time. The
// gradient has states in the workspace that groups of chunks start from, and goes through them
// again, the last first.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/DeltaRuleGradient.cuh"

namespace hybrid::cuda {

/// O of a chunk.
template <typename T, DeltaRuleParams p, typename Block, typename Store>
HYBRID_DEVICE void deltaRuleRead(const Block &block, const DeltaRuleTiles<T> &t, Store store) {
  constexpr int keyStride = Block::keyStride, pairStride = Block::pairStride;
  HYBRID_NO_UNROLL
  for (int valueTile = 0; valueTile < Block::valueTiles; ++valueTile) {
    const T *entry = t.entry + valueTile * 16 * keyStride,
            *corrected = t.corrected + valueTile * 16 * pairStride;
    Fragment<T> sums[2];
    HYBRID_UNROLL
    for (int key = 0; key < Block::keyTiles; ++key) {
      const LeftOperand<T> left = leftRows(entry + key * 8, keyStride);
      HYBRID_UNROLL
      for (int n = 0; n < 2; ++n)
        multiplyAdd(sums[n], left, rightRows(t.query + n * 8 * keyStride + key * 8, keyStride));
    }
    auto ofPairs = [&](const LeftOperand<T> &left, const T *pairs, int j) {
      HYBRID_UNROLL
      for (int n = j; n < 2; ++n)
        multiplyAdd(sums[n], left, rightRows(pairs + n * 8 * pairStride + j * 8, pairStride));
    };
    HYBRID_UNROLL
    for (int j = 0; j < 2; ++j) {
      ofPairs(leftRows(corrected + j * 8, pairStride), t.read, j);
      if constexpr (Block::hasB)
        ofPairs(leftOf(block.valuesOf(valueTile, j)), t.plainRead, j);
    }
    HYBRID_UNROLL
    for (int n = 0; n < 2; ++n)
      block.forFragment(valueTile, n, [&](int i, int value, int row) {
        if (block.hasRow(row) && Block::hasValue(value) && block.isRead(row))
          store(block.batch * p.length + block.tokenOf(row), block.head * Block::valueSize + value,
                sums[n].at[i]);
      });
  }
}

/// Elements of buffers.
template <typename T, typename Q, typename K, typename V, typename A, typename B>
using DeltaRuleElementsOf = DeltaRuleElements<ElementOf<T, Q>, ElementOf<T, K>, ElementOf<T, V>,
                                              ElementOf<T, A>, ElementOf<T, B>>;

template <typename T, DeltaRuleParams P, typename Q, typename K, typename V, typename A, typename B,
          typename Store>
HYBRID_DEVICE void deltaRuleForward(int64_t index, Q q, K k, V v, A a, B b, const T *decay,
                                    const int32_t *segments, const T *initialState, T *finalState,
                                    T *workspace, Store o) {
  using Block = DeltaRuleBlock<T, P, false, DeltaRuleElementsOf<T, Q, K, V, A, B>>;
  Block block(index, readable<T>(q), readable<T>(k), readable<T>(v), readable<T>(a), readable<T>(b),
              decay, segments);
  block.take(workspace + index * deltaRuleWorkspace<T>(P, false));
  block.readState(block.state, initialState, P.hasState != 0);
  const auto store = asStore<P.oStride>(o);
  const DeltaRuleTiles<T> own = block.tilesOf(block.warp);
  HYBRID_NO_UNROLL
  for (int64_t group = 0; group < Block::groups; ++group) {
    const int count = Block::chunksOf(group);
    if (block.warp < count)
      block.prepare(group * Block::together + block.warp, own);
    blockBarrier();
    block.template advance<true>(count);
    blockBarrier();
    if (block.warp < count)
      deltaRuleRead<T, P>(block, own, store);
  }
  if constexpr (P.hasFinalState != 0)
    block.writeState(finalState, block.state);
}

template <typename T, DeltaRuleParams P, typename Q, typename K, typename V, typename A, typename B,
          typename O, typename DQ, typename DK, typename DV, typename DA, typename DB>
HYBRID_DEVICE void deltaRuleBackward(int64_t index, Q q, K k, V v, A a, B b, const T *decay,
                                     const int32_t *segments, const T *initialState, O dO,
                                     const T *dFinalState, T *dInitialState, DQ dq, DK dk, DV dv,
                                     DA da, DB db, T *dDecay, T *workspace) {
  using Block = DeltaRuleBlock<T, P, true, DeltaRuleElementsOf<T, Q, K, V, A, B>>;
  constexpr int64_t size = Block::tiling.stateElements, groups = Block::groups,
                    stretch = deltaRuleStretch(P, Block::tiling),
                    stretches = deltaRuleKept(P, Block::tiling),
                    states = deltaRuleStates(P, Block::tiling);
  Block block(index, readable<T>(q), readable<T>(k), readable<T>(v), readable<T>(a), readable<T>(b),
              decay, segments);
  T *const kept = workspace + index * deltaRuleWorkspace<T>(P, true), *const ofStretch =
                                                                          kept + stretches * size;
  block.take(kept + states * size);
  using Gradients =
      DeltaRuleGradients<T, ElementOf<T, O>, DeltaRuleElementsOf<T, DQ, DK, DV, DA, DB>>;
  const DeltaRuleGradient<T, P, Block, Gradients> gradient(
      block, {readable<T>(dO), writable<T>(dq), writable<T>(dk), writable<T>(dv), writable<T>(da),
              writable<T>(db), dDecay});
  const DeltaRuleTiles<T> own = block.tilesOf(block.warp);
  // Keeps the states that every `apart`th group from `from` on starts from.
  auto keep = [&](T *to, int64_t from, int64_t last, int64_t apart) {
    HYBRID_NO_UNROLL
    for (int64_t group = from;; ++group) {
      if ((group - from) % apart == 0)
        block.copyStates(to + (group - from) / apart * size, block.state);
      if (group >= last)
        break;
      const int count = Block::chunksOf(group);
      if (block.warp < count)
        block.prepare(group * Block::together + block.warp, own);
      blockBarrier();
      block.template advance<false>(count);
      blockBarrier();
    }
  };
  block.readState(block.state, initialState, P.hasState != 0);
  keep(kept, 0, (stretches - 1) * stretch, stretch);
  block.readState(block.dState, dFinalState, P.hasFinalState != 0);
  HYBRID_NO_UNROLL
  for (int64_t i = stretches - 1; i >= 0; --i) {
    const int64_t start = i * stretch, end = minimum(start + stretch, groups);
    const T *from = kept + i * size;
    if constexpr (stretch > 1) {
      block.copyStates(block.state, from);
      keep(ofStretch, start, end - 1, 1);
      from = ofStretch;
    }
    HYBRID_NO_UNROLL
    for (int64_t group = end - 1; group >= start; --group) {
      block.copyStates(block.state, from + (group - start) * size);
      gradient.ofGroup(group, own);
    }
  }
  if constexpr (P.stateGradient != 0)
    block.writeState(dInitialState, block.dState);
}

} // namespace hybrid::cuda
