//===- Route.cuh - pairs of tokens and experts, by expert -------------------===//
//
// A few integers a token beside matrix products of thousands of multiplications: stable order, no
// atomics, and the offsets never leave the device.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Route.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// The column that counts a pair: its expert, or the last one.
template <RouteParams P> HYBRID_DEVICE int routeColumn(const int32_t *choices, int64_t pair) {
  const int32_t expert = pair < P.pairs ? choices[pair] : -1;
  return expert >= 0 && expert < P.experts ? expert : static_cast<int>(P.experts);
}

template <typename T, RouteParams P>
HYBRID_DEVICE void routeCount(int64_t item, const int32_t *choices, int32_t *counts) {
  constexpr int threads = static_cast<int>(routeThreads);
  constexpr int columns = static_cast<int>(P.experts) + 1,
                slices = static_cast<int>(routeSlices(P));
  constexpr int slice = (threads + slices - 1) / slices;
  const int64_t first = item * threads;
  const int count = static_cast<int>(minimum(P.pairs - first, int64_t(threads)));
  int32_t *chosen = sharedMemory<int32_t>(), *parts = chosen + threads;
  const int thread = static_cast<int>(threadIdx.x);
  chosen[thread] = routeColumn<P>(choices, first + thread);
  blockBarrier();
  HYBRID_NO_UNROLL
  for (int i = thread; i < slices * columns; i += threads) {
    const int column = i % columns, begin = i / columns * slice;
    const int end = minimum(minimum(begin + slice, threads), count);
    int found = 0;
    for (int pair = begin; pair < end; ++pair)
      found += chosen[pair] == column;
    parts[i] = found;
  }
  blockBarrier();
  HYBRID_NO_UNROLL
  for (int column = thread; column < columns; column += threads) {
    int sum = 0;
    for (int i = 0; i < slices; ++i)
      sum += parts[i * columns + column];
    counts[item * columns + column] = sum;
  }
}

/// Sum of the values of the threads before, of a block of `threads`; `scratch` holds threads / 32.
template <int threads> HYBRID_DEVICE int blockSumBefore(int value, int32_t *scratch) {
  int through = value;
  HYBRID_UNROLL
  for (int delta = 1; delta < warpSize; delta *= 2) {
    const int other = shuffleUp(through, delta);
    through += laneIndex() >= delta ? other : 0;
  }
  if (laneIndex() == warpSize - 1)
    scratch[warpIndex()] = through;
  blockBarrier();
  int before = through - value;
  HYBRID_NO_UNROLL
  for (int warp = 0; warp < threads / warpSize; ++warp)
    before += warp < warpIndex() ? scratch[warp] : 0;
  blockBarrier();
  return before;
}

template <typename T, RouteParams P>
HYBRID_DEVICE void routeScan(int64_t, int32_t *counts, int32_t *offsets) {
  constexpr int threads = static_cast<int>(routeScanThreads);
  constexpr int columns = static_cast<int>(P.experts) + 1,
                chunks = static_cast<int>(routeChunks(P));
  constexpr int segments = static_cast<int>(routeSegments(P));
  constexpr int segment = (chunks + segments - 1) / segments;
  constexpr int capacity = static_cast<int>(P.capacity > 0 ? P.capacity : P.pairs);
  int32_t *sums = sharedMemory<int32_t>(), *totals = sums + segments * columns;
  int32_t *scratch = totals + columns;
  const int thread = static_cast<int>(threadIdx.x);

  // Each expert over each segment, then over the segments.
  HYBRID_NO_UNROLL
  for (int i = thread; i < segments * columns; i += threads) {
    const int begin = i / columns * segment, end = minimum(begin + segment, chunks);
    int sum = 0;
    for (int chunk = begin; chunk < end; ++chunk)
      sum += counts[chunk * columns + i % columns];
    sums[i] = sum;
  }
  blockBarrier();
  HYBRID_NO_UNROLL
  for (int column = thread; column < columns; column += threads) {
    int before = 0;
    for (int i = 0; i < segments; ++i) {
      const int own = sums[i * columns + column];
      sums[i * columns + column] = before;
      before += own;
    }
    totals[column] = before;
  }
  blockBarrier();
  // What the experts take, up to their capacity, one behind the other.
  int start = 0;
  HYBRID_NO_UNROLL
  for (int base = 0; base < columns; base += threads) {
    const int column = base + thread;
    const int taken = column < columns - 1 ? minimum(totals[column], capacity) : 0;
    const int before = blockSumBefore<threads>(taken, scratch);
    if (column < columns)
      offsets[column] = start + before;
    start += blockSum<threads>(taken, scratch);
  }
  // Counts become starts; the last column waits for what experts leave.
  HYBRID_NO_UNROLL
  for (int i = thread; i < segments * columns; i += threads) {
    if (i % columns == columns - 1)
      continue;
    const int begin = i / columns * segment, end = minimum(begin + segment, chunks);
    int before = sums[i];
    for (int chunk = begin; chunk < end; ++chunk) {
      const int own = counts[chunk * columns + i % columns];
      counts[chunk * columns + i % columns] = before;
      before += own;
    }
  }
  blockBarrier();
  // Pairs of a chunk that nobody takes.
  auto left = [&](int chunk) -> int {
    int count = counts[chunk * columns + columns - 1];
    if constexpr (P.capacity > 0)
      for (int expert = 0; expert < columns - 1; ++expert) {
        const int begin = counts[chunk * columns + expert];
        const int end =
            chunk + 1 < chunks ? counts[(chunk + 1) * columns + expert] : totals[expert];
        count += end - maximum(begin, minimum(end, capacity));
      }
    return count;
  };
  constexpr int run = (chunks + threads - 1) / threads;
  const int begin = thread * run, end = minimum(begin + run, chunks);
  int sum = 0;
  for (int chunk = begin; chunk < end; ++chunk)
    sum += left(chunk);
  int before = blockSumBefore<threads>(sum, scratch);
  for (int chunk = begin; chunk < end; ++chunk) {
    const int own = left(chunk);
    counts[chunk * columns + columns - 1] = before;
    before += own;
  }
}

template <typename T, RouteParams P>
HYBRID_DEVICE void routePlace(int64_t item, const int32_t *choices, const int32_t *counts,
                              const int32_t *offsets, int32_t *slots) {
  constexpr int threads = static_cast<int>(routeThreads), nobody = static_cast<int>(P.experts);
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t pair = item * threads + thread;
  int32_t *chosen = sharedMemory<int32_t>(), *left = chosen + threads;
  const int32_t *starts = counts + item * (P.experts + 1);
  const int own = routeColumn<P>(choices, pair);
  chosen[thread] = own;
  blockBarrier();
  int rank = own == nobody ? 0 : starts[own];
  HYBRID_NO_UNROLL
  for (int i = 0; i < threads; ++i)
    rank += i < thread && chosen[i] == own;
  const bool taken = own != nobody && (P.capacity <= 0 || rank < P.capacity);
  left[thread] = !taken;
  blockBarrier();
  int rankLeft = starts[nobody];
  HYBRID_NO_UNROLL
  for (int i = 0; i < threads; ++i)
    rankLeft += i < thread && left[i];
  if (pair < P.pairs)
    slots[pair] = taken ? offsets[own] + rank : offsets[nobody] + rankLeft;
}

} // namespace hybrid::cuda
