//===- SelectiveScan.cuh - Mamba's scan (Gu and Dao 2023, section 3) --------===//
//
// Rows of an activation are read a channel a lane, in whole lines, and turned into steps and inputs
// in shared memory. The states of a channel are shared out to a few threads, which hold them in
// registers down the whole sequence: four states of two neighbouring channels each, so that what
// shared memory hands out is used more than once, the maps b and c of a token by both channels.
// Rows come in tiles; the next tile is on its way from memory while one is computed. What the
// threads of a channel add up goes through shared memory, in a fixed order.
//
// The decay exp(dt a) is 2^(dt a log2(e)): one instruction of the special function unit, 16 of
// which a multiprocessor executes a cycle. They are the floor of the forward pass.
//
// The backward pass walks forward first and keeps the state at the start of each tile; then it
// takes the tiles from the last to the first, computes the states and decays of a tile's rows again
// into registers, and walks back over them. The gradients of b and c are summed over a thread's
// channels, and then over the block's on chip: 32 values are folded over 16 lanes by 30 exchanges.
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
  constexpr int perThread = Block::perThread, held = Block::held, ownRows = Block::ownRows,
                rows = Block::rows;
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

  T rate[held], h[held];
  block.readStates(a, T(Block::log2e), rate);
  block.readInitial(initialState, h);
  const T skipScale = p.hasSkip && block.active ? skip[block.channel] : T(0);

  typename Operands::Loads next;
  operands.template load<true, true>(block, block.from, Operands::noCotangent, next);
  HYBRID_NO_UNROLL
  for (int first = block.from; first < block.to; first += rows) {
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
        block, tile, 0, rate, h, [&](int row, const T(&)[held], const T(&after)[held]) {
          T map[Operands::heldC], sum[Block::channelsHeld] = {};
          operands.mapC(block, tile, row, map);
          HYBRID_UNROLL
          for (int i = 0; i < held; ++i)
            sum[i / perThread] += map[i % Operands::heldC] * after[i];
          operands.write(block, sum, sums + block.split * Block::tile, row);
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
        values[j] *= gates[j] * logistic(gates[j]);
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
  constexpr int perThread = Block::perThread, held = Block::held, ownRows = Block::ownRows,
                rows = Block::rows;
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
  T rate[held], h[held], product[held], carry[held];
  block.readStates(a, T(Block::log2e), rate);
  HYBRID_UNROLL
  for (int i = 0; i < held; ++i)
    h[i] = carry[i] = T(0), product[i] = T(1);

  const ElementOf<T, Dy> *cotangent = gradient ? readable<T>(dy) : nullptr;
  typename Operands::Loads next;
  operands.template load<gradient, gradient>(block, block.from, cotangent, next);
  HYBRID_NO_UNROLL
  for (int first = block.from; first < block.to; first += rows) {
    operands.template share<gradient>(block, next, first, tile);
    if constexpr (gradient) {
      HYBRID_UNROLL
      for (int j = 0; j < ownRows; ++j)
        if (block.owns(j))
          tile.dy[block.at(j)] =
              p.hasGate ? number(next.dy[j]) * number(next.gate[j]) * logistic(number(next.gate[j]))
                        : number(next.dy[j]);
    }
    blockBarrier();
    if (first + rows < block.to)
      operands.template load<gradient, gradient>(block, first + rows, cotangent, next);
    operands.template walk<rows>(
        block, tile, 0, rate, h, [&](int row, const T(&decay)[held], const T(&)[held]) {
          T map[Operands::heldC];
          typename Operands::Channels g;
          if constexpr (gradient)
            operands.mapC(block, tile, row, map), g = operands.read(block, tile.dy, row);
          HYBRID_UNROLL
          for (int i = 0; i < held; ++i) {
            product[i] *= decay[i];
            if constexpr (gradient)
              carry[i] += product[i] * map[i % Operands::heldC] * g[i / perThread];
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
  constexpr int perThread = Block::perThread, held = Block::held, ownRows = Block::ownRows,
                rows = Block::rows, splits = Block::splits, threads = Block::threads,
                padded = Block::padded, steps = selectiveScanSteps<T>(p), subTiles = rows / steps,
                folded = steps * perThread, foldedLanes = selectiveScanFoldedLanes(p);
  constexpr int mapSumCount = selectiveScanMapSums(p);
  const Block block(item);
  const Operands operands(block, readable<T>(x), readable<T>(raw), b, c, segments, stepBias,
                          readable<T>(gate));
  // Kept by each thread for itself: x, the derivatives of the step and of the gate.
  T *const shared = sharedMemory<T>(), *const values = shared + 3 * Block::tile,
           *const stepSlopes = values + Block::tile,
           *const gateSlopes = stepSlopes + (p.softplusStep ? Block::tile : 0),
           *const maps = shared + selectiveScanKept(p) * Block::tile,
           *const sums = maps + 2 * Block::mapTile, // [2 or 3][split][row][channel]
               *const mapSums =
                   sums + selectiveScanSums(p) * splits * Block::tile, // [2][lanes][row][state]
                   *const entries = mapSums + 2 * mapSumCount * Block::mapTile;
  const typename Operands::Tile tile{
      shared,
      shared + Block::tile,
      shared + 2 * Block::tile,
      maps,
      maps + Block::mapTile,
      reinterpret_cast<int32_t *>(entries + (subTiles - 1) * held * threads)};
  block.clearMap(tile.b), block.clearMap(tile.c);

  T rate[held], h[held];
  block.readStates(a, T(Block::log2e), rate);
  block.readInitial(initialState, h);

  // Forward, leaving the state at the start of each tile.
  const int tiles = block.tiles();
  T *const kept = checkpoints + item * ceilDiv(p.blockRows, rows) * held * threads;
  typename Operands::Loads next;
  if (tiles > 1)
    operands.template load<false, false>(block, block.from, Operands::noCotangent, next);
  HYBRID_NO_UNROLL
  for (int index = 0; index + 1 < tiles; ++index) {
    const int first = block.from + index * rows;
    operands.template share<false>(block, next, first, tile);
    blockBarrier();
    if (index + 2 < tiles)
      operands.template load<false, false>(block, first + rows, Operands::noCotangent, next);
    storeByThreads<threads>(h, kept + index * held * threads, block.thread);
    operands.template walk<rows>(block, tile, 0, rate, h);
    blockBarrier();
  }

  // Backward. h: at the start of the tile.
  T carry[held], rateSum[held], bSum[held], cSum[held];
  HYBRID_UNROLL
  for (int i = 0; i < held; ++i)
    carry[i] = rateSum[i] = bSum[i] = cSum[i] = T(0);
  if constexpr (p.hasFinalState)
    block.readStates(dFinalState + block.stateOffset(true), T(1), carry);
  const T skipScale = p.hasSkip && block.active ? skip[block.channel] : T(0);
  T biasSum = T(0), skipSum = T(0);
  operands.template load<true, true>(block, block.from + (tiles - 1) * rows, dy, next);
  HYBRID_NO_UNROLL
  for (int index = tiles - 1; index >= 0; --index) {
    const int first = block.from + index * rows;
    operands.template share<true>(block, next, first, tile);
    HYBRID_UNROLL
    for (int j = 0; j < ownRows; ++j) {
      if (!block.owns(j))
        continue;
      const int at = block.at(j);
      T gradient = number(next.dy[j]), slope;
      values[at] = number(next.x[j]);
      if constexpr (p.softplusStep) {
        operands.step(block, next, first, j, slope);
        stepSlopes[at] = slope;
      }
      if constexpr (p.hasGate) {
        const T z = number(next.gate[j]), s = logistic(z);
        gateSlopes[at] = gradient * s * (T(1) + z * (T(1) - s));
        gradient *= z * s;
      }
      tile.dy[at] = gradient;
    }
    blockBarrier();
    T *const entry = kept + index * held * threads;
    if (index + 1 < tiles)
      loadByThreads<threads>(entry, block.thread, h);
    else if constexpr (subTiles == 1)
      storeByThreads<threads>(h, entry, block.thread);
    HYBRID_NO_UNROLL
    for (int sub = 0; sub + 1 < subTiles; ++sub) {
      storeByThreads<threads>(h, entries + sub * held * threads, block.thread);
      operands.template walk<steps>(block, tile, sub * steps, rate, h);
    }
    HYBRID_NO_UNROLL
    for (int sub = subTiles - 1; sub >= 0; --sub) {
      if (sub + 1 < subTiles)
        loadByThreads<threads>(entries + sub * held * threads, block.thread, h);
      T befores[steps][held], decays[steps][held];
      HYBRID_UNROLL
      for (int i = 0; i < steps; ++i) {
        HYBRID_UNROLL
        for (int k = 0; k < held; ++k)
          befores[i][k] = h[k];
        operands.step(block, tile, sub * steps + i, rate, h, decays[i]);
      }
      T dB[folded], dC[folded]; // summed over the thread's channels
      HYBRID_UNROLL
      for (int i = steps - 1; i >= 0; --i) {
        const int row = sub * steps + i;
        const bool start = operands.starts(tile, row);
        const auto g = operands.read(block, tile.dy, row),
                   input = operands.read(block, tile.inputs, row),
                   dt = operands.read(block, tile.steps, row);
        if constexpr (subTiles == 1) // again, which leaves its registers to others until now
          if (i == 0) {
            T again[held] = {};
            loadByThreads<threads>(entry, block.thread, befores[0]);
            operands.step(block, tile, 0, rate, again, decays[0]);
          }
        T mapB[Operands::heldB], mapC[Operands::heldC];
        operands.mapB(block, tile, row, mapB), operands.mapC(block, tile, row, mapC);
        T inputSum[Block::channelsHeld] = {}, stepSum[Block::channelsHeld] = {},
          sum[Block::channelsHeld] = {};
        HYBRID_UNROLL
        for (int k = 0; k < perThread; ++k)
          dB[i * perThread + k] = dC[i * perThread + k] = T(0);
        HYBRID_UNROLL
        for (int k = 0; k < held; ++k) {
          const int j = k / perThread;                                  // channel
          const T dState = carry[k] + mapC[k % Operands::heldC] * g[j]; // λ_t
          const T after = i + 1 < steps ? befores[i + 1][k] : h[k];
          if constexpr (p.hasGate)
            sum[j] += mapC[k % Operands::heldC] * after;
          inputSum[j] += dState * mapB[k % Operands::heldB];
          carry[k] = dState * decays[i][k];
          const T dExponent = carry[k] * (start ? T(0) : befores[i][k]);
          stepSum[j] += dExponent * rate[k];
          rateSum[k] += dExponent * dt[j];
          if constexpr (p.constantC)
            cSum[k] += g[j] * after;
          else
            dC[i * perThread + k % perThread] += g[j] * after;
          if constexpr (p.constantB)
            bSum[k] += dState * input[j];
          else
            dB[i * perThread + k % perThread] += dState * input[j];
        }
        T *const to = sums + block.split * Block::tile;
        operands.write(block, inputSum, to, row);
        operands.write(block, stepSum, to + splits * Block::tile, row);
        if constexpr (p.hasGate)
          operands.write(block, sum, to + 2 * splits * Block::tile, row);
      }
      auto foldMap = [&](T(&gradients)[folded], int which) {
        foldLanes<folded, foldedLanes / 2>(gradients);
        constexpr int left = folded > foldedLanes ? folded / foldedLanes : 1;
        const int lane = block.thread % foldedLanes, value = foldedValue<folded, foldedLanes>(lane);
        T *const to = mapSums +
                      ((which * mapSumCount + block.thread % Block::slots / foldedLanes) * rows +
                       sub * steps) *
                          padded +
                      block.firstState;
        if (hasFoldedValue<folded, foldedLanes>(lane)) {
          HYBRID_UNROLL
          for (int i = 0; i < left; ++i)
            to[(value + i) / perThread * padded + (value + i) % perThread] = gradients[i];
        }
      };
      if constexpr (!p.constantB)
        foldMap(dB, 0);
      if constexpr (!p.constantC)
        foldMap(dC, 1);
    }
    // Not before, as states and decays take all registers.
    if (index > 0)
      operands.template load<true, true>(block, first - rows, dy, next);
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
      dSteps[j] = value * inputs + total(1) * T(Block::ln2);
      if constexpr (p.softplusStep)
        dSteps[j] *= stepSlopes[at];
      if constexpr (p.hasStepBias)
        biasSum += block.hasRow(first, j) ? dSteps[j] : T(0);
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
        if (block.hasMapRow(first, row)) {
          T sum = T(0);
          HYBRID_UNROLL
          for (int s = 0; s < mapSumCount; ++s)
            sum += mapSums[((which * mapSumCount + s) * rows + row) * padded + n];
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
    if (block.ownRow == 0 && block.active) {
      T sum = T(0);
      HYBRID_UNROLL
      for (int s = 0; s < Block::rowThreads; ++s)
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
