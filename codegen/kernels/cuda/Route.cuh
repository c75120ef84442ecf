//===- Route.cuh - pairs of tokens and experts, by expert -------------------===//
//
// A few integers a token beside matrix products of thousands of multiplications: stable order, no
// atomics, and the offsets never leave the device. A pair's place among those of its expert is the
// sum of three: chunks before, of one block; warps before, in shared memory; lanes before, by
// ballots.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Route.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// The pairs that an expert takes at most.
template <RouteParams P>
constexpr int routeCapacity = static_cast<int>(P.capacity > 0 ? P.capacity : P.pairs);

/// The expert of this thread's pair of a chunk, P.experts if it has none.
template <RouteParams P> HYBRID_DEVICE int routeExpert(int64_t chunk, const int32_t *choices) {
  const int64_t pair = chunk * routeThreads + threadIdx.x;
  const int32_t expert = pair < P.pairs ? choices[pair] : -1;
  return expert >= 0 && expert < P.experts ? expert : static_cast<int>(P.experts);
}

/// Pairs of a chunk by expert: a word of shared memory an expert, a byte of it a warp.
template <RouteParams P> class RouteChunk {
  static_assert(routeWarps == sizeof(uint64_t));
  static constexpr uint32_t experts = P.experts;

public:
  /// Pairs of this thread's expert, or without one, that lanes before have.
  int inWarp;

  HYBRID_DEVICE explicit RouteChunk(int ownExpert) {
    const auto own = static_cast<uint32_t>(ownExpert);
    HYBRID_NO_UNROLL
    for (uint32_t expert = threadIdx.x; expert < experts; expert += routeThreads)
      sharedMemory<uint64_t>()[expert] = 0;
    uint32_t same = ~0u;
    HYBRID_UNROLL
    for (uint32_t bit = 1; bit <= experts; bit *= 2) {
      const uint32_t set = ballot((own & bit) != 0);
      same &= (own & bit) != 0 ? set : ~set;
    }
    inWarp = populationCount(same & ((1u << laneIndex()) - 1));
    blockBarrier();
    if (own < experts && inWarp == 0)
      sharedMemory<uint8_t>()[own * routeWarps + warpIndex()] =
          static_cast<uint8_t>(populationCount(same));
    blockBarrier();
  }
  HYBRID_DEVICE int count(int expert) const { return sum(sharedMemory<uint64_t>()[expert]); }
  /// Those of the warps before this thread's.
  HYBRID_DEVICE int inWarpsBefore(int expert) const {
    return sum(sharedMemory<uint64_t>()[expert] & ((uint64_t(1) << 8 * warpIndex()) - 1));
  }

private:
  /// Of eight bytes of at most 32, which four of them do not make a byte overflow.
  HYBRID_DEVICE static int sum(uint64_t bytes) {
    constexpr uint32_t ones = 0x01010101;
    const uint32_t low = static_cast<uint32_t>(bytes) * ones >> 24;
    return static_cast<int>(low + (static_cast<uint32_t>(bytes >> 32) * ones >> 24));
  }
};

template <typename T, RouteParams P>
HYBRID_DEVICE void routeCount(int64_t item, const int32_t *choices, int32_t *counts) {
  const RouteChunk<P> chunk(routeExpert<P>(item, choices));
  HYBRID_NO_UNROLL
  for (int expert = static_cast<int>(threadIdx.x); expert < P.experts; expert += routeThreads)
    counts[item * P.experts + expert] = chunk.count(expert);
}

/// Of the first `lanes` of a warp and again of those behind: the sum of those before.
template <int lanes> HYBRID_DEVICE int laneSumBefore(int value) {
  int through = value;
  HYBRID_UNROLL
  for (int delta = 1; delta < lanes; delta *= 2) {
    const int other = shuffleUp(through, delta);
    through += laneIndex() % lanes >= delta ? other : 0;
  }
  return through - value;
}

/// The chunks are cut into segments. A thread adds up an expert's pairs of a segment, lanes go over
/// the sums of an expert, and a thread goes over its segment again, knowing what is before.
template <typename T, RouteParams P>
HYBRID_DEVICE void routeScan(int64_t, int32_t *counts, int32_t *offsets) {
  constexpr int threads = static_cast<int>(routeScanThreads);
  constexpr int experts = static_cast<int>(P.experts), chunks = static_cast<int>(routeChunks(P));
  constexpr int segments = static_cast<int>(routeSegments(P)), all = segments * experts;
  constexpr int stride = static_cast<int>(routeSumStride(P));
  int32_t *sums = sharedMemory<int32_t>(), *totals = sums + stride * experts;
  const int thread = static_cast<int>(threadIdx.x);

  // So many counts of a segment are on their way at once; if they are all, they stay in registers.
  constexpr int segment = (chunks + segments - 1) / segments;
  constexpr int together = segment < 8 ? segment : 8;
  constexpr bool loadedOnce = segment == together && all <= threads;
  int loaded[together];
  auto address = [&](int i, int chunk) -> int32_t * {
    const bool exists = chunk < segment && i / experts * segment + chunk < chunks;
    return exists ? counts + (i / experts * segment + chunk) * experts + i % experts : nullptr;
  };
  auto load = [&](int i, int first) {
    HYBRID_UNROLL
    for (int k = 0; k < together; ++k) {
      const int32_t *count = address(i, first + k);
      loaded[k] = count ? *count : 0;
    }
  };
  HYBRID_NO_UNROLL
  for (int i = thread; i < all; i += threads) {
    int sum = 0;
    HYBRID_NO_UNROLL
    for (int first = 0; first < segment; first += together) {
      load(i, first);
      HYBRID_UNROLL
      for (int k = 0; k < together; ++k)
        sum += loaded[k];
    }
    sums[i % experts * stride + i / experts] = sum;
  }
  blockBarrier();

  constexpr int lanes = static_cast<int>(routeScanLanes(P));
  constexpr int each = (segments + lanes - 1) / lanes;
  HYBRID_NO_UNROLL
  for (int base = warpIndex() * (warpSize / lanes); base < experts; base += threads / lanes) {
    const int expert = base + laneIndex() / lanes, begin = laneIndex() % lanes * each;
    const int count = expert < experts ? minimum(each, segments - begin) : 0;
    int32_t *own = sums + expert * stride + begin;
    int before[each + 1];
    before[0] = 0;
    HYBRID_UNROLL
    for (int k = 0; k < each; ++k)
      before[k + 1] = before[k] + (k < count ? own[k] : 0);
    const int start = laneSumBefore<lanes>(before[each]);
    HYBRID_UNROLL
    for (int k = 0; k < each; ++k)
      if (k < count)
        own[k] = start + before[k];
    if (expert < experts && laneIndex() % lanes == lanes - 1)
      totals[expert] = start + before[each];
  }
  blockBarrier();

  HYBRID_NO_UNROLL
  for (int i = thread; i < all; i += threads) {
    int before = sums[i % experts * stride + i / experts];
    HYBRID_NO_UNROLL
    for (int first = 0; first < segment; first += together) {
      if constexpr (!loadedOnce)
        load(i, first);
      HYBRID_UNROLL
      for (int k = 0; k < together; ++k) {
        if (int32_t *count = address(i, first + k))
          *count = before;
        before += loaded[k];
      }
    }
  }

  // What the experts take, up to their capacity, one behind the other.
  if (warpIndex() > 0)
    return;
  int start = 0;
  HYBRID_UNROLL_BY_8
  for (int base = 0; base <= experts; base += warpSize) {
    const int expert = base + laneIndex();
    const int taken = expert < experts ? minimum(totals[expert], routeCapacity<P>) : 0;
    const int before = start + laneSumBefore<warpSize>(taken);
    if (expert <= experts)
      offsets[expert] = before;
    start = shuffle(before + taken, warpSize - 1);
  }
}

template <typename T, RouteParams P>
HYBRID_DEVICE void routePlace(int64_t item, const int32_t *choices, const int32_t *counts,
                              const int32_t *offsets, int32_t *slots) {
  constexpr int nobody = static_cast<int>(P.experts), capacity = routeCapacity<P>;
  const int32_t *starts = counts + item * P.experts;
  const int own = routeExpert<P>(item, choices);
  // What the experts take of the chunks before; the rest of those is before what nobody takes here.
  int taken = 0;
  HYBRID_NO_UNROLL
  for (int expert = static_cast<int>(threadIdx.x); expert < nobody; expert += routeThreads)
    taken += minimum(starts[expert], capacity);
  const int start = own == nobody ? 0 : starts[own], offset = offsets[own];
  const int leftOffset = offsets[nobody];

  const RouteChunk<P> chunk(own);
  const int rank = own == nobody ? capacity : start + chunk.inWarpsBefore(own) + chunk.inWarp;
  const bool isLeft = rank >= capacity;
  const uint32_t left = ballot(isLeft);
  int32_t *takenOf = sharedMemory<int32_t>(routeWarps * P.experts), *leftOf = takenOf + routeWarps;
  const int takenByWarp = warpSum(taken);
  if (laneIndex() == 0) {
    takenOf[warpIndex()] = takenByWarp;
    leftOf[warpIndex()] = populationCount(left);
  }
  blockBarrier();
  int leftRank =
      static_cast<int>(item * routeThreads) + populationCount(left & ((1u << laneIndex()) - 1));
  HYBRID_UNROLL
  for (int warp = 0; warp < routeWarps; ++warp)
    leftRank += (warp < warpIndex() ? leftOf[warp] : 0) - takenOf[warp];
  const int64_t pair = item * routeThreads + threadIdx.x;
  if (pair < P.pairs)
    slots[pair] = isLeft ? leftOffset + leftRank : offset + rank;
}

} // namespace hybrid::cuda
