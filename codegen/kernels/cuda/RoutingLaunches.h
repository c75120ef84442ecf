//===- RoutingLaunches.h - launches of the routing kernels --------------------===//
//
// Included by the lowering and by the kernels.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernels.h"

namespace hybrid::cuda {

/// Threads of a block of every routing kernel but route_scan. top_k, dispatch and collect: a warp a
/// row, grid = ceilDiv(rows, routingRows). take, scatter: a thread an element of y, grid =
/// ceilDiv(elements of y, routingThreads). Parameters and buffers as in Kernels.h; no shared
/// memory.
constexpr int64_t routingThreads = 256, routingRows = routingThreads / 32;

/// route (RouteParams, Kernels.h) in three launches over chunks of routingThreads pairs.
/// route_count: buffers: choices, counts (int32 [chunks, experts + 1], the last column counts the
/// pairs of no expert). grid = chunks. Shared memory: routeCountShared().
/// route_scan: counts become the first row of a chunk's pairs within their expert's rows; those of
/// the last column, counted in what no expert takes. buffers: counts, offsets. grid = 1. Threads:
/// routeScanThreads. Shared memory: routeScanShared().
/// route_place: buffers: choices, counts, offsets, slots. grid = chunks. Shared memory:
/// routePlaceShared.
constexpr int64_t routeChunks(const RouteParams &p) { return ceilDiv(p.pairs, routingThreads); }

/// A thread counts one expert in a slice of a chunk.
constexpr int64_t routeSlices(const RouteParams &p) {
  int64_t slices = routingThreads / (p.experts + 1);
  return slices < 1 ? 1 : slices;
}
constexpr int64_t routeCountShared(const RouteParams &p) {
  return 4 * (routingThreads + routeSlices(p) * (p.experts + 1));
}
constexpr int64_t routePlaceShared = 4 * 2 * routingThreads;

constexpr int64_t routeScanThreads = 1024;
/// A thread sums one expert over a segment of the chunks.
constexpr int64_t routeSegments(const RouteParams &p) {
  int64_t segments = routeScanThreads / (p.experts + 1);
  return segments < 1 ? 1 : segments > routeChunks(p) ? routeChunks(p) : segments;
}
constexpr int64_t routeScanShared(const RouteParams &p) {
  return 4 * (routeSegments(p) * (p.experts + 1) + p.experts + 1 + routeScanThreads / 32);
}

} // namespace hybrid::cuda
