//===- Route.h - contract of pairs of tokens and experts, by expert ---------===//
#pragma once
#include "codegen/kernels/Kernel.h"

namespace hybrid {

/// Counting sort of pairs by expert (see hybrid.route); `capacity` pairs an expert at most, 0: any.
struct RouteParams {
  int64_t pairs, experts, capacity;
  HYBRID_FIELDS(pairs, experts, capacity)
};

/// Buffers: choices (int32 [pairs]), slots (int32 [pairs]), offsets (int32 [experts + 1]). One
/// item. On the CPU; on CUDA in three launches, below.
struct Route : KernelOf<RouteParams, "route", 1, 2> {
  HYBRID_ON_CPU(1, 0, 2 * (p.experts + 1) * 8)
};

namespace cuda {

constexpr int64_t routeThreads = 256, routeWarps = routeThreads / 32, routeScanThreads = 1024;

constexpr int64_t routeChunks(const RouteParams &p) { return ceilDiv(p.pairs, routeThreads); }
/// A thread sums one expert over a segment of the chunks.
constexpr int64_t routeSegments(const RouteParams &p) {
  int64_t segments = routeScanThreads / p.experts;
  return segments < 1 ? 1 : segments > routeChunks(p) ? routeChunks(p) : segments;
}
/// Words between an expert's sums: odd, so that those of several lie in different banks.
constexpr int64_t routeSumStride(const RouteParams &p) { return routeSegments(p) | 1; }
/// Lanes that add up the segments of an expert.
constexpr int64_t routeScanLanes(const RouteParams &p) {
  int64_t lanes = 1;
  while (lanes < 32 && lanes * 2 <= routeSegments(p))
    lanes *= 2;
  return lanes;
}

} // namespace cuda

/// Over chunks of routeThreads pairs, whose experts every warp counts in a byte each. Buffers:
/// choices, counts (int32 [chunks, experts]). An item is a chunk.
struct RouteCount : KernelOf<RouteParams, "route_count", 1> {
  HYBRID_ON_CUDA(cuda::routeChunks(p), cuda::routeThreads, cuda::routeWarps *p.experts)
};

/// Counts become how many pairs of their expert the chunks before have. Buffers: counts, offsets.
/// One item.
struct RouteScan : KernelOf<RouteParams, "route_scan", 0, 1> {
  HYBRID_ON_CUDA(1, cuda::routeScanThreads, 4 * (cuda::routeSumStride(p) + 1) * p.experts)
};

/// Buffers: choices, counts, offsets, slots. An item is a chunk.
struct RoutePlace : KernelOf<RouteParams, "route_place", 3> {
  HYBRID_ON_CUDA(cuda::routeChunks(p), cuda::routeThreads,
                 cuda::routeWarps *p.experts + 2 * 4 * cuda::routeWarps)
};

} // namespace hybrid
