//===- SelectiveScan.cuh - Mamba's scan (Gu and Dao 2023, section 3) --------===//
//
// Lanes are channels, so that rows of an activation are read in whole lines. The states of a
// channel are shared out to the threads of equal lane of a few warps, which hold them in registers
// down the whole sequence; the maps b and c of a token are read from shared memory, by all channels
// of the block. Rows come in tiles; the next tile is on its way from memory while one is computed.
// What the warps of a channel add up goes through shared memory, in a fixed order.
//
// The decay exp(dt a) is 2^(dt a log2(e)): one instruction of the special function unit, 16 of
// which a multiprocessor executes a cycle. They are the floor of the forward pass.
//
// The backward pass walks forward first and keeps the state at the start of each tile; then it
// takes the tiles from the last to the first, computes the states and decays of a few rows again
// into registers, and walks back over them. The gradients of b and c are summed over the channels
// of the block on chip: 32 values are folded over 32 lanes by 31 exchanges.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/SelectiveScanOperands.cuh"

namespace hybrid::cuda {

template <typename T, SelectiveScanParams p, typename X, typename Raw, typename Gate,
          typename Store>
HYBRID_DEVICE void selectiveScanForward(int64_t item, X x, Raw raw, const T *a, const T *b,
                                        const T *c, const int32_t *segments, const T *initialState,
                                        const T *stepBias, const T *skip, Gate gate, T *finalState,
                                        Store y) {
  using Block = SelectiveScanBlock<T, p>;
  using Operands =
      SelectiveScanOperands<T, p, ElementOf<T, X>, ElementOf<T, Raw>, ElementOf<T, Gate>>;
  constexpr int perThread = Block::perThread, ownRows = Block::ownRows, rows = Block::rows;
  const Block block(item);
  const Operands operands(block, readable<T>(x), readable<T>(raw), b, c, segments, stepBias,
                          readable<T>(gate));
  T *const shared = sharedMemory<T>();
  T *const sums = shared + 2 * Block::tile + 2 * Block::mapTile; // [split][row][channel]
  const typename Operands::Tile tile{
      shared,
      shared + Block::tile,
      nullptr,
      shared + 2 * Block::tile,
      shared + 2 * Block::tile + Block::mapTile,
      reinterpret_cast<int32_t *>(sums + Block::splits * Block::tile)};
  block.clearMap(tile.b), block.clearMap(tile.c);

  T rate[perThread], h[perThread];
  block.readStates(a, T(Block::log2e), rate);
  block.readInitial(initialState, h);
  const T skipScale = p.hasSkip && block.active ? skip[block.channel] : T(0);

  typename Operands::Loads next;
  operands.template load<true, true>(block, block.from, Operands::noCotangent, next);
  HYBRID_NO_UNROLL
  for (int64_t first = block.from; first < block.to; first += rows) {
    operands.template share<true>(block, next, first, tile);
    T skipped[ownRows], gates[ownRows];
    HYBRID_UNROLL
    for (int j = 0; j < ownRows; ++j)
      skipped[j] = skipScale * number(next.x[j]),
      gates[j] = p.hasGate ? number(next.gate[j]) : T(0);
    blockBarrier();
    if (first + rows < block.to)
      operands.template load<true, true>(block, first + rows, Operands::noCotangent, next);
    operands.template walk<rows>(
        block, tile, 0, rate, h,
        [&](int row, const T(&)[perThread], const T(&)[perThread], const T(&after)[perThread]) {
          T map[perThread], sum = T(0);
          operands.mapC(block, tile, row, map);
          HYBRID_UNROLL
          for (int k = 0; k < perThread; ++k)
            sum += map[k] * after[k];
          sums[block.split * Block::tile + row * Block::channels + block.lane] = sum;
        });
    blockBarrier();
    T values[ownRows];
    HYBRID_UNROLL
    for (int j = 0; j < ownRows; ++j) {
      values[j] = skipped[j];
      if (block.owns(j)) {
        HYBRID_UNROLL
        for (int s = 0; s < Block::splits; ++s)
          values[j] += sums[s * Block::tile + block.at(j)];
      }
      if constexpr (p.hasGate)
        values[j] *= gates[j] * sigmoid(gates[j]);
    }
    block.storeRows(values, first, asStore<p.yStride>(y));
  }
  if constexpr (p.hasFinalState)
    if (block.time == p.timeBlocks - 1)
      block.writeStates(h, finalState + block.stateOffset(false));
}

template <typename T, SelectiveScanParams p, typename X, typename Raw, typename Gate, typename Dy>
HYBRID_DEVICE void selectiveScanSummary(int64_t item, X x, Raw raw, const T *a, const T *b,
                                        const T *c, const int32_t *segments, const T *,
                                        const T *stepBias, const T *, Gate gate, Dy dy, T *decays,
                                        T *offsets, T *carries) {
  using Block = SelectiveScanBlock<T, p>;
  using Operands = SelectiveScanOperands<T, p, ElementOf<T, X>, ElementOf<T, Raw>,
                                         ElementOf<T, Gate>, ElementOf<T, Dy>>;
  constexpr int perThread = Block::perThread, ownRows = Block::ownRows, rows = Block::rows;
  constexpr bool gradient = p.summariseGradient;
  const Block block(item);
  const Operands operands(block, readable<T>(x), readable<T>(raw), b, c, segments, stepBias,
                          readable<T>(gate));
  T *const shared = sharedMemory<T>();
  T *const maps = shared + 3 * Block::tile;
  const typename Operands::Tile tile{
      shared, shared + Block::tile,  shared + 2 * Block::tile,
      maps,   maps + Block::mapTile, reinterpret_cast<int32_t *>(maps + 2 * Block::mapTile)};
  block.clearMap(tile.b), block.clearMap(tile.c);
  T rate[perThread], h[perThread], product[perThread], carry[perThread];
  block.readStates(a, T(Block::log2e), rate);
  HYBRID_UNROLL
  for (int k = 0; k < perThread; ++k)
    h[k] = carry[k] = T(0), product[k] = T(1);

  const ElementOf<T, Dy> *cotangent = gradient ? readable<T>(dy) : nullptr;
  typename Operands::Loads next;
  operands.template load<gradient, gradient>(block, block.from, cotangent, next);
  HYBRID_NO_UNROLL
  for (int64_t first = block.from; first < block.to; first += rows) {
    operands.template share<gradient>(block, next, first, tile);
    if constexpr (gradient) {
      HYBRID_UNROLL
      for (int j = 0; j < ownRows; ++j)
        if (block.owns(j))
          tile.dy[block.at(j)] =
              p.hasGate ? number(next.dy[j]) * number(next.gate[j]) * sigmoid(number(next.gate[j]))
                        : number(next.dy[j]);
    }
    blockBarrier();
    if (first + rows < block.to)
      operands.template load<gradient, gradient>(block, first + rows, cotangent, next);
    operands.template walk<rows>(
        block, tile, 0, rate, h,
        [&](int row, const T(&)[perThread], const T(&decay)[perThread], const T(&)[perThread]) {
          T map[perThread], g = T(0);
          if constexpr (gradient) {
            operands.mapC(block, tile, row, map);
            g = tile.dy[row * Block::channels + block.lane];
          }
          HYBRID_UNROLL
          for (int k = 0; k < perThread; ++k) {
            product[k] *= decay[k];
            if constexpr (gradient)
              carry[k] += product[k] * map[k] * g;
          }
        });
    blockBarrier();
  }
  const int64_t offset = block.stateOffset(true);
  block.writeStates(product, decays + offset);
  block.writeStates(h, offsets + offset);
  if constexpr (gradient)
    block.writeStates(carry, carries + offset);
}

template <typename T, SelectiveScanEntriesParams p>
HYBRID_DEVICE void selectiveScanEntries(int64_t item, const T *decay, const T *offset,
                                        const T *state, T *entries) {
  const int64_t at = item * selectiveScanEntriesThreads + static_cast<int64_t>(threadIdx.x);
  if (at < p.elements) {
    T value = p.hasState ? state[at] : T(0);
    constexpr int together = 8; // loads in flight
    HYBRID_NO_UNROLL
    for (int64_t first = 0; first < p.timeBlocks; first += together) {
      T factors[together], terms[together];
      auto place = [&](int i) {
        return (p.reverse ? p.timeBlocks - 1 - first - i : first + i) * p.elements + at;
      };
      HYBRID_UNROLL
      for (int i = 0; i < together; ++i)
        if (first + i < p.timeBlocks)
          factors[i] = decay[place(i)], terms[i] = offset[place(i)];
      HYBRID_UNROLL
      for (int i = 0; i < together; ++i)
        if (first + i < p.timeBlocks) {
          entries[place(i)] = value;
          value = factors[i] * value + terms[i];
        }
    }
  }
}

template <typename T, SelectiveScanParams p, typename X, typename Raw, typename Gate, typename Dy,
          typename Dx, typename DRaw, typename DGate>
HYBRID_DEVICE void selectiveScanBackward(int64_t item, X x, Raw raw, const T *a, const T *b,
                                         const T *c, const int32_t *segments, const T *initialState,
                                         const T *stepBias, const T *skip, Gate gate, Dy dyBuffer,
                                         const T *dFinalState, Dx dx, DRaw dRaw, T *dInitialState,
                                         DGate dGate, T *partialA, T *partialB, T *partialC,
                                         T *partialStepBias, T *partialSkip, T *checkpoints) {
  using Block = SelectiveScanBlock<T, p>;
  using Operands = SelectiveScanOperands<T, p, ElementOf<T, X>, ElementOf<T, Raw>,
                                         ElementOf<T, Gate>, ElementOf<T, Dy>>;
  const auto *dy = readable<T>(dyBuffer);
  constexpr int perThread = Block::perThread, ownRows = Block::ownRows, rows = Block::rows,
                splits = Block::splits, threads = Block::threads, padded = Block::padded,
                steps = selectiveScanSteps<T>(p), subTiles = rows / steps,
                folded = steps * perThread;
  constexpr int warps = static_cast<int>(p.blocksPerItem);
  const Block block(item);
  const Operands operands(block, readable<T>(x), readable<T>(raw), b, c, segments, stepBias,
                          readable<T>(gate));
  // Kept by each thread for itself: x, the derivatives of the step and of the gate.
  T *const shared = sharedMemory<T>(), *const values = shared + 3 * Block::tile,
           *const stepSlopes = values + Block::tile, *const gateSlopes = stepSlopes + Block::tile,
           *const maps = gateSlopes + Block::tile,
           *const sums = maps + 2 * Block::mapTile,              // [3][split][row][channel]
               *const mapSums = sums + 3 * splits * Block::tile, // [2][warp][row][state]
                   *const entries = mapSums + 2 * warps * Block::mapTile; // [subTile][k][thread]
  const typename Operands::Tile tile{
      shared,
      shared + Block::tile,
      shared + 2 * Block::tile,
      maps,
      maps + Block::mapTile,
      reinterpret_cast<int32_t *>(entries + (subTiles - 1) * perThread * threads)};
  block.clearMap(tile.b), block.clearMap(tile.c);

  T rate[perThread], h[perThread];
  block.readStates(a, T(Block::log2e), rate);
  block.readInitial(initialState, h);

  // Forward, leaving the state at the start of each tile.
  const int64_t tiles = block.tiles();
  T *const kept =
      checkpoints + item * ceilDiv(p.blockRows, rows) * perThread * threads + block.thread;
  auto keep = [&](int64_t index) {
    HYBRID_UNROLL
    for (int k = 0; k < perThread; ++k)
      kept[(index * perThread + k) * threads] = h[k];
  };
  typename Operands::Loads next;
  if (tiles > 1)
    operands.template load<false, false>(block, block.from, Operands::noCotangent, next);
  HYBRID_NO_UNROLL
  for (int64_t index = 0; index + 1 < tiles; ++index) {
    const int64_t first = block.from + index * rows;
    operands.template share<false>(block, next, first, tile);
    blockBarrier();
    if (index + 2 < tiles)
      operands.template load<false, false>(block, first + rows, Operands::noCotangent, next);
    keep(index);
    operands.template walk<rows>(
        block, tile, 0, rate, h,
        [](int, const T(&)[perThread], const T(&)[perThread], const T(&)[perThread]) {});
    blockBarrier();
  }

  // Backward. h: at the start of the tile.
  T carry[perThread], rateSum[perThread], bSum[perThread], cSum[perThread];
  HYBRID_UNROLL
  for (int k = 0; k < perThread; ++k)
    carry[k] = rateSum[k] = bSum[k] = cSum[k] = T(0);
  if constexpr (p.hasFinalState)
    block.readStates(dFinalState + block.stateOffset(true), T(1), carry);
  const T skipScale = p.hasSkip && block.active ? skip[block.channel] : T(0);
  T biasSum = T(0), skipSum = T(0);
  operands.template load<true, true>(block, block.from + (tiles - 1) * rows, dy, next);
  HYBRID_NO_UNROLL
  for (int64_t index = tiles - 1; index >= 0; --index) {
    const int64_t first = block.from + index * rows;
    operands.template share<true>(block, next, first, tile);
    HYBRID_UNROLL
    for (int j = 0; j < ownRows; ++j) {
      if (!block.owns(j))
        continue;
      const int at = block.at(j);
      T gradient = number(next.dy[j]), slope;
      operands.step(block, next, first, j, slope);
      values[at] = number(next.x[j]), stepSlopes[at] = slope;
      if constexpr (p.hasGate) {
        const T z = number(next.gate[j]), s = sigmoid(z);
        gateSlopes[at] = gradient * s * (T(1) + z * (T(1) - s));
        gradient *= z * s;
      }
      tile.dy[at] = gradient;
    }
    blockBarrier();
    if (index > 0)
      operands.template load<true, true>(block, first - rows, dy, next);
    if (index + 1 < tiles) {
      HYBRID_UNROLL
      for (int k = 0; k < perThread; ++k)
        h[k] = kept[(index * perThread + k) * threads];
    }
    HYBRID_NO_UNROLL
    for (int sub = 0; sub + 1 < subTiles; ++sub) {
      HYBRID_UNROLL
      for (int k = 0; k < perThread; ++k)
        entries[(sub * perThread + k) * threads + block.thread] = h[k];
      operands.template walk<steps>(
          block, tile, sub * steps, rate, h,
          [](int, const T(&)[perThread], const T(&)[perThread], const T(&)[perThread]) {});
    }
    HYBRID_NO_UNROLL
    for (int sub = subTiles - 1; sub >= 0; --sub) {
      if (sub + 1 < subTiles) {
        HYBRID_UNROLL
        for (int k = 0; k < perThread; ++k)
          h[k] = entries[(sub * perThread + k) * threads + block.thread];
      }
      // The states before, and the decays; later the gradients of c and b.
      T befores[folded], decays[folded];
      HYBRID_UNROLL
      for (int i = 0; i < steps; ++i)
        operands.step(block, tile, sub * steps + i, rate, h,
                      [&](int, const T(&before)[perThread], const T(&decay)[perThread],
                          const T(&)[perThread]) {
                        HYBRID_UNROLL
                        for (int k = 0; k < perThread; ++k) {
                          befores[i * perThread + k] = before[k];
                          decays[i * perThread + k] = decay[k];
                        }
                      });
      HYBRID_UNROLL
      for (int i = steps - 1; i >= 0; --i) {
        const int row = sub * steps + i, at = row * Block::channels + block.lane;
        const T g = tile.dy[at], input = tile.inputs[at], dt = tile.steps[at];
        T mapB[perThread], mapC[perThread], inputSum = T(0), stepSum = T(0), sum = T(0);
        operands.mapB(block, tile, row, mapB), operands.mapC(block, tile, row, mapC);
        HYBRID_UNROLL
        for (int k = 0; k < perThread; ++k) {
          T &before = befores[i * perThread + k], &decay = decays[i * perThread + k];
          const T dState = carry[k] + mapC[k] * g; // λ_t
          const T after = decay * before + input * mapB[k];
          if constexpr (p.hasGate)
            sum += mapC[k] * after;
          inputSum += dState * mapB[k];
          carry[k] = dState * decay;
          const T dExponent = carry[k] * before;
          stepSum += dExponent * rate[k];
          rateSum[k] += dExponent * dt;
          if constexpr (p.constantC)
            cSum[k] += g * after;
          if constexpr (p.constantB)
            bSum[k] += dState * input;
          before = g * after, decay = dState * input;
        }
        sums[block.split * Block::tile + at] = inputSum;
        sums[(splits + block.split) * Block::tile + at] = stepSum;
        if constexpr (p.hasGate)
          sums[(2 * splits + block.split) * Block::tile + at] = sum;
      }
      const int value = foldedValue<folded, warpSize>(laneIndex()), warp = block.lane / warpSize;
      const int to = (warp * rows + sub * steps + value / perThread) * padded + block.firstState +
                     value % perThread;
      const bool writes = hasFoldedValue<folded, warpSize>(laneIndex());
      if constexpr (!p.constantB) {
        foldLanes<folded>(decays);
        if (writes)
          mapSums[to] = decays[0];
      }
      if constexpr (!p.constantC) {
        foldLanes<folded>(befores);
        if (writes)
          mapSums[warps * Block::mapTile + to] = befores[0];
      }
    }
    blockBarrier();

    T dValues[ownRows], dSteps[ownRows], dGates[ownRows];
    HYBRID_UNROLL
    for (int j = 0; j < ownRows; ++j) {
      dValues[j] = dSteps[j] = dGates[j] = T(0);
      if (!block.owns(j))
        continue;
      const int at = block.at(j);
      auto total = [&](int which) {
        T result = T(0);
        HYBRID_UNROLL
        for (int s = 0; s < splits; ++s)
          result += sums[(which * splits + s) * Block::tile + at];
        return result;
      };
      const T inputs = total(0), gradient = tile.dy[at], value = values[at];
      dValues[j] = tile.steps[at] * inputs;
      if constexpr (p.hasSkip)
        dValues[j] += skipScale * gradient, skipSum += value * gradient;
      dSteps[j] = (value * inputs + total(1) * T(Block::ln2)) * stepSlopes[at];
      if constexpr (p.hasStepBias)
        biasSum += first + block.split + j * splits < block.to ? dSteps[j] : T(0);
      if constexpr (p.hasGate)
        dGates[j] = gateSlopes[at] * (skipScale * value + total(2));
    }
    block.store(dValues, writable<T>(dx), p.dxStride, first);
    block.store(dSteps, writable<T>(dRaw), p.ddtStride, first);
    if constexpr (p.hasGate)
      block.store(dGates, writable<T>(dGate), p.dGateStride, first);
    auto storeMap = [&](T *partial, int which) {
      constexpr int64_t stride = p.groups * p.states;
      T *to = partial + ((block.indexInGroup * p.batch + block.batch) * p.length + first) * stride +
              block.group * p.states;
      HYBRID_UNROLL
      for (int j = 0; j < Block::ownMap; ++j) {
        const int i = block.thread + j * threads, row = i / Block::states, n = i % Block::states;
        if (row < rows && first + row < block.to) {
          T sum = T(0);
          HYBRID_UNROLL
          for (int warp = 0; warp < warps; ++warp)
            sum += mapSums[((which * warps + warp) * rows + row) * padded + n];
          to[row * stride + n] = sum;
        }
      }
    };
    if constexpr (!p.constantB)
      storeMap(partialB, 0);
    if constexpr (!p.constantC)
      storeMap(partialC, 1);
  }

  if constexpr (p.stateGradient)
    if (block.time == 0)
      block.writeStates(carry, dInitialState + block.stateOffset(false));
  const int64_t row = block.time * p.batch + block.batch;
  block.writeTransposed(rateSum, partialA + row * p.states * p.channels);
  if constexpr (p.constantB)
    block.writeTransposed(bSum, partialB + row * p.states * p.channels);
  if constexpr (p.constantC)
    block.writeTransposed(cSum, partialC + row * p.states * p.channels);
  auto storeChannel = [&](T value, T *partial) {
    blockBarrier();
    sums[block.thread] = value;
    blockBarrier();
    if (block.split == 0 && block.active) {
      T sum = T(0);
      HYBRID_UNROLL
      for (int s = 0; s < splits; ++s)
        sum += sums[s * Block::channels + block.lane];
      partial[row * p.channels + block.channel] = sum;
    }
  };
  if constexpr (p.hasStepBias)
    storeChannel(biasSum, partialStepBias);
  if constexpr (p.hasSkip)
    storeChannel(skipSum, partialSkip);
}

} // namespace hybrid::cuda
