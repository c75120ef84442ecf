//===- SelectiveScan.cuh - Mamba's scan (Gu and Dao 2023, section 3) --------===//
//
// Rows of an activation are read a channel a lane, in whole lines, and turned into steps and
// inputs, in registers where a thread has all states of a channel, otherwise in shared memory. The
// states of a channel are shared out to a few threads, which hold them in registers down the whole
// sequence: four states of two neighbouring channels each, or two where warps are few, so that what
// shared memory hands out is used more than once, the maps b and c of a token by both channels.
// Rows come in tiles; the next ones are on their way from memory while one is computed. What the
// threads of a channel add up goes through shared memory, in a fixed order.
//
// The decay exp(dt a) is 2^(dt a log2(e)): one instruction of the special function unit, 16 of
// which a multiprocessor executes a cycle. They are the floor of the forward pass.
//
// The backward pass walks forward first and keeps the state at the start of each tile; then it
// takes the tiles from the last to the first, computes the states and decays of a tile's rows again
// into registers, and walks back over them. The gradients of b and c are summed over a thread's
// channels, and then over the block's: lanes leave theirs in shared memory, and add up some rows of
// all, which takes half of the instructions that exchanges between lanes would.
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
  T *const maps = shared + 2 * Block::tile, *const shares = maps + 2 * Block::mapTile;
  typename Operands::Tile tile{SelectiveScanTile<T, p, 2>(shared),
                               SelectiveScanTile<T, p, 1>(nullptr), maps, maps + Block::mapTile,
                               reinterpret_cast<int32_t *>(shares + Block::splits * Block::tile)};
  SelectiveScanTile<T, p, 1, Block::splits> sums(shares);
  block.clearMap(tile.b), block.clearMap(tile.c);

  T rate[held], h[held];
  block.readStates(a, T(Block::log2e), rate);
  block.readInitial(initialState, h);
  const T skipScale = p.hasSkip && block.active ? skip[block.channel] : T(0);

  constexpr int ahead = Operands::ahead;
  typename Operands::Loads next[ahead];
  auto request = [&](int first, typename Operands::Loads &loads) {
    if (first < block.to)
      operands.template load<true, true>(block, first, Operands::noCotangent, loads);
  };
  auto take = [&](int first, typename Operands::Loads &loads) {
    operands.template share<true>(block, loads, first, tile);
    T skipped[ownRows], gates[ownRows];
    HYBRID_UNROLL
    for (int j = 0; j < ownRows; ++j)
      skipped[j] = skipScale * number(loads.x[j]),
      gates[j] = p.hasGate ? number(loads.gate[j]) : T(0);
    blockBarrier();
    request(first + ahead * rows, loads);
    operands.template walk<rows>(block, tile, 0, rate, h,
                                 [&](int row, const T(&)[held], const T(&after)[held]) {
                                   T map[Operands::heldC];
                                   typename Operands::Channels sum = {};
                                   operands.mapC(block, tile, row, map);
                                   HYBRID_UNROLL
                                   for (int i = 0; i < held; ++i)
                                     sum[i / perThread] += map[i % Operands::heldC] * after[i];
                                   sums.write(block, row, sum);
                                 });
    blockBarrier();
    T values[ownRows];
    HYBRID_UNROLL
    for (int j = 0; j < ownRows; ++j) {
      values[j] = skipped[j];
      if (block.owns(j))
        values[j] += sums.total(block, j)[0];
      if constexpr (p.hasGate)
        values[j] *= gates[j] * logistic(gates[j]);
    }
    block.storeRows(values, first, asStore<p.yStride>(y));
  };
  HYBRID_UNROLL
  for (int i = 0; i < ahead; ++i)
    request(block.from + i * rows, next[i]);
  HYBRID_NO_UNROLL
  for (int first = block.from; first < block.to; first += ahead * rows) {
    HYBRID_UNROLL
    for (int i = 0; i < ahead; ++i)
      if (first + i * rows < block.to)
        take(first + i * rows, next[i]);
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
  typename Operands::Tile tile{
      SelectiveScanTile<T, p, 2>(shared), SelectiveScanTile<T, p, 1>(shared + 2 * Block::tile),
      maps, maps + Block::mapTile, reinterpret_cast<int32_t *>(maps + 2 * Block::mapTile)};
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
          tile.dy.put(block, j,
                      {{p.hasGate ? number(next.dy[j]) * number(next.gate[j]) *
                                        logistic(number(next.gate[j]))
                                  : number(next.dy[j])}});
    }
    blockBarrier();
    if (first + rows < block.to)
      operands.template load<gradient, gradient>(block, first + rows, cotangent, next);
    operands.template walk<rows>(
        block, tile, 0, rate, h, [&](int row, const T(&decay)[held], const T(&)[held]) {
          T map[Operands::heldC];
          typename Operands::Channels g;
          if constexpr (gradient)
            operands.mapC(block, tile, row, map), g = tile.dy.read(block, row);
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
                steps = selectiveScanSteps<T>(p), subTiles = rows / steps;
  using MapSums = SelectiveScanMapSums<T, p>;
  const Block block(item);
  const Operands operands(block, readable<T>(x), readable<T>(raw), b, c, segments, stepBias,
                          readable<T>(gate));
  using Tile = SelectiveScanTile<T, p, 1>;
  T *const shared = sharedMemory<T>(), *const mapTiles = shared + selectiveScanKept * Block::tile,
           *const shares = mapTiles + 2 * Block::mapTile,
           *const mapSums = shares + selectiveScanSums(p) * splits * Block::tile,
           *const slopes = mapSums + MapSums::elements,
           *const entries = slopes + selectiveScanSlopes(p) * Block::plane;
  typename Operands::Tile tile{
      SelectiveScanTile<T, p, 2>(shared), Tile(shared + 2 * Block::tile), mapTiles,
      mapTiles + Block::mapTile,
      reinterpret_cast<int32_t *>(entries + (subTiles - 1) * held * threads)};
  // Kept by each thread for itself: x, the derivatives of the step and of the gate.
  Tile values(shared + 3 * Block::tile);
  T *const stepSlopes = slopes, *const gateSlopes = slopes + (p.softplusStep ? Block::plane : 0);
  SelectiveScanTile<T, p, 2, splits> inputSums(shares); // gradients of dt x, and of dt a
  SelectiveScanTile<T, p, 1, splits> outputs(shares + 2 * splits * Block::tile);
  block.clearMap(tile.b), block.clearMap(tile.c);
  const MapSums maps(block, mapSums);

  T rate[held], h[held];
  block.readStates(a, T(Block::log2e), rate);
  block.readInitial(initialState, h);

  // Forward, leaving the state at the start of each tile.
  const int tiles = block.tiles();
  T *const kept = checkpoints + item * ceilDiv(p.blockRows, rows) * held * threads;
  constexpr int ahead = Operands::ahead;
  typename Operands::Loads forward[ahead];
  auto request = [&](int index, typename Operands::Loads &loads) {
    if (index + 1 < tiles)
      operands.template load<false, false>(block, block.from + index * rows, Operands::noCotangent,
                                           loads);
  };
  auto walkForward = [&](int index, typename Operands::Loads &loads) {
    operands.template share<false>(block, loads, block.from + index * rows, tile);
    blockBarrier();
    request(index + ahead, loads);
    storeByThreads<threads>(h, kept + index * held * threads, block.thread);
    operands.template walk<rows>(block, tile, 0, rate, h);
    blockBarrier();
  };
  HYBRID_UNROLL
  for (int i = 0; i < ahead; ++i)
    request(i, forward[i]);
  HYBRID_NO_UNROLL
  for (int index = 0; index + 1 < tiles; index += ahead) {
    HYBRID_UNROLL
    for (int i = 0; i < ahead; ++i)
      if (index + i + 1 < tiles)
        walkForward(index + i, forward[i]);
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
  typename Operands::Loads next;
  T entry[held]; // the state that the next tile starts from
  // Asked for before a tile is computed, or after it where states and decays take all registers.
  constexpr bool early = held <= 4;
  auto requestBackward = [&](int index) {
    operands.template load<true, true>(block, block.from + index * rows, dy, next);
    if (index + 1 < tiles)
      loadByThreads<threads>(kept + index * held * threads, block.thread, entry);
  };
  requestBackward(tiles - 1);
  HYBRID_NO_UNROLL
  for (int index = tiles - 1; index >= 0; --index) {
    const int first = block.from + index * rows;
    operands.template share<true>(block, next, first, tile);
    HYBRID_UNROLL
    for (int j = 0; j < ownRows; ++j) {
      if (!block.owns(j))
        continue;
      T gradient = number(next.dy[j]), slope;
      values.put(block, j, {{number(next.x[j])}});
      if constexpr (p.softplusStep) {
        operands.step(block, next, first, j, slope);
        stepSlopes[block.at(j)] = slope;
      }
      if constexpr (p.hasGate) {
        const T z = number(next.gate[j]), s = logistic(z);
        gateSlopes[block.at(j)] = gradient * s * (T(1) + z * (T(1) - s));
        gradient *= z * s;
      }
      tile.dy.put(block, j, {{gradient}});
    }
    blockBarrier();
    if (early && index > 0)
      requestBackward(index - 1);
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
      T dB[MapSums::values], dC[MapSums::values]; // summed over the thread's channels
      HYBRID_UNROLL
      for (int i = steps - 1; i >= 0; --i) {
        const int row = sub * steps + i;
        const bool start = operands.starts(tile, row);
        const auto g = tile.dy.read(block, row);
        const auto inputs = tile.inputs.read(block, row);
        T mapB[Operands::heldB], mapC[Operands::heldC];
        operands.mapB(block, tile, row, mapB), operands.mapC(block, tile, row, mapC);
        Pack<T, 2 * Block::channelsHeld> sums = {};
        typename Operands::Channels output = {};
        HYBRID_UNROLL
        for (int k = 0; k < perThread; ++k)
          dB[i * perThread + k] = dC[i * perThread + k] = T(0);
        HYBRID_UNROLL
        for (int k = 0; k < held; ++k) {
          const int j = k / perThread;                                  // channel
          const T dState = carry[k] + mapC[k % Operands::heldC] * g[j]; // λ_t
          const T after = i + 1 < steps ? befores[i + 1][k] : h[k];
          if constexpr (p.hasGate)
            output[j] += mapC[k % Operands::heldC] * after;
          sums[2 * j] += dState * mapB[k % Operands::heldB];
          carry[k] = dState * decays[i][k];
          const T dExponent = carry[k] * (start ? T(0) : befores[i][k]);
          sums[2 * j + 1] += dExponent * rate[k];
          rateSum[k] += dExponent * inputs[2 * j];
          if constexpr (p.constantC)
            cSum[k] += g[j] * after;
          else
            dC[i * perThread + k % perThread] += g[j] * after;
          if constexpr (p.constantB)
            bSum[k] += dState * inputs[2 * j + 1];
          else
            dB[i * perThread + k % perThread] += dState * inputs[2 * j + 1];
        }
        inputSums.write(block, row, sums);
        if constexpr (p.hasGate)
          outputs.write(block, row, output);
        maps.template add<false>(block, i, row, dB), maps.template add<true>(block, i, row, dC);
      }
      maps.template fold<false>(block, sub * steps, dB);
      maps.template fold<true>(block, sub * steps, dC);
    }
    if (!early && index > 0)
      requestBackward(index - 1);
    blockBarrier();

    T dValues[ownRows], dSteps[ownRows], dGates[ownRows];
    HYBRID_UNROLL
    for (int j = 0; j < ownRows; ++j) {
      dValues[j] = dSteps[j] = dGates[j] = T(0);
      if (!block.owns(j))
        continue;
      const auto sums = inputSums.total(block, j);
      const T gradient = tile.dy.total(block, j)[0], value = values.total(block, j)[0];
      dValues[j] = tile.inputs.total(block, j)[0] * sums[0];
      if constexpr (p.hasSkip)
        dValues[j] += skipScale * gradient, skipSum += value * gradient;
      dSteps[j] = value * sums[0] + sums[1] * T(Block::ln2);
      if constexpr (p.softplusStep)
        dSteps[j] *= stepSlopes[block.at(j)];
      if constexpr (p.hasStepBias)
        biasSum += block.hasRow(first, j) ? dSteps[j] : T(0);
      if constexpr (p.hasGate)
        dGates[j] = gateSlopes[block.at(j)] * (skipScale * value + outputs.total(block, j)[0]);
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
        if (block.hasMapRow(first, row))
          to[row * stride + n] = maps.total(which, row, n);
      }
    };
    if constexpr (!p.constantB)
      storeMap(partialB, 0);
    if constexpr (!p.constantC)
      storeMap(partialC, 1);
    HYBRID_UNROLL
    for (int i = 0; i < held; ++i)
      h[i] = entry[i];
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
    if constexpr (Block::rowThreads > 1) {
      blockBarrier();
      shares[block.thread] = value;
      blockBarrier();
      value = T(0);
      HYBRID_UNROLL
      for (int s = 0; s < Block::rowThreads; ++s)
        value += shares[s * Block::channels + block.lane];
    }
    if (block.ownRow == 0 && block.active)
      partial[row * p.channels + block.channel] = value;
  };
  if constexpr (p.hasStepBias)
    storeChannel(biasSum, partialStepBias);
  if constexpr (p.hasSkip)
    storeChannel(skipSum, partialSkip);
}

} // namespace hybrid::cuda
