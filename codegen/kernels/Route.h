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

constexpr int64_t routeThreads = 256, routeScanThreads = 1024;

constexpr int64_t routeChunks(const RouteParams &p) { return ceilDiv(p.pairs, routeThreads); }
/// A thread counts one expert in a slice of a chunk.
constexpr int64_t routeSlices(const RouteParams &p) {
  int64_t slices = routeThreads / (p.experts + 1);
  return slices < 1 ? 1 : slices;
}
/// A thread sums one expert over a segment of the chunks.
constexpr int64_t routeSegments(const RouteParams &p) {
  int64_t segments = routeScanThreads / (p.experts + 1);
  return segments < 1 ? 1 : segments > routeChunks(p) ? routeChunks(p) : segments;
}

} // namespace cuda

/// Over chunks of routeThreads pairs. Buffers: choices, counts (int32 [chunks, experts + 1], the
/// last column counts the pairs of no expert). An item is a chunk.
struct RouteCount : KernelOf<RouteParams, "route_count", 1> {
  HYBRID_ON_CUDA(cuda::routeChunks(p), cuda::routeThreads,
                 4 * (cuda::routeThreads + cuda::routeSlices(p) * (p.experts + 1)))
};

/// Counts become the first row of a chunk's pairs within their expert's rows; those of the last
/// column, counted in what no expert takes. Buffers: counts, offsets. One item.
struct RouteScan : KernelOf<RouteParams, "route_scan", 0, 1> {
  HYBRID_ON_CUDA(1, cuda::routeScanThreads,
                 4 * (cuda::routeSegments(p) * (p.experts + 1) + p.experts + 1 +
                      cuda::routeScanThreads / 32))
};

/// Buffers: choices, counts, offsets, slots. An item is a chunk.
struct RoutePlace : KernelOf<RouteParams, "route_place", 3> {
  HYBRID_ON_CUDA(cuda::routeChunks(p), cuda::routeThreads, 4 * 2 * cuda::routeThreads)
};

} // namespace hybrid
