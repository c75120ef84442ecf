//===- ScanChunks.h - memory of scans that go through chunks on the CPU -----===//
//
// What the contracts of the delta rule and of linear scans share. Rows, the steps of a sequence,
// are divided into spans as long as a vector, of which each is a chunk, or several where a channel
// decays too much (cpu/ScanChunks.h). All is in blocks of a vector's lanes squared.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernel.h"

namespace hybrid::cpu {

/// What decides how much memory a head of a sequence takes.
struct ScanSizes {
  int64_t rows, keySize, valueSize;
  bool perKey; // decays are a channel's own
  bool erases; // what is written depends on the state
};

template <typename T> constexpr int64_t scanSpans(const ScanSizes &sizes) {
  return ceilDiv(sizes.rows, lanes<T>);
}
template <typename T> constexpr int64_t scanBlocks(int64_t size) { return ceilDiv(size, lanes<T>); }
template <typename T> constexpr int64_t scanStateElements(const ScanSizes &sizes) {
  return scanBlocks<T>(sizes.keySize) * scanBlocks<T>(sizes.valueSize) * lanes<T> * lanes<T>;
}
/// Spans between two states that the gradient keeps; the others are computed twice again, which is
/// a tenth of its work. So all are kept while they are small.
template <typename T> constexpr int64_t scanGroup(const ScanSizes &sizes) {
  const int64_t bytes = scanStateElements<T>(sizes) * static_cast<int64_t>(sizeof(T)),
                fit = 4 * 1024 * 1024 / bytes, most = fit > 128 ? fit : 128;
  int64_t group = 1;
  while (ceilDiv(scanSpans<T>(sizes), group) > most)
    group *= 2;
  return group;
}
/// Whether what is written is kept with the states.
template <typename T> constexpr bool scanKeepsCorrected(const ScanSizes &sizes) {
  return sizes.erases && scanGroup<T>(sizes) == 1;
}
/// Elements of so many tiles of keys, of values and of pairs of rows, and of vectors of keys.
template <typename T>
constexpr int64_t scanTiles(const ScanSizes &sizes, int64_t keyTiles, int64_t valueTiles,
                            int64_t pairTiles, int64_t keyVectors) {
  const int64_t keys = scanBlocks<T>(sizes.keySize), values = scanBlocks<T>(sizes.valueSize);
  return lanes<T> * lanes<T> * (keyTiles * keys + valueTiles * values + pairTiles) +
         keyVectors * keys * lanes<T>;
}
/// Of a chunk, with the state that it starts from.
template <typename T> constexpr int64_t scanForwardElements(const ScanSizes &sizes) {
  return scanTiles<T>(sizes, 12, 3, 7, 2) + scanStateElements<T>(sizes);
}
/// Of its gradient, with room for sums of two vectors of keys: the state's own, those that are
/// kept, those of a group, those of a span.
template <typename T> constexpr int64_t scanBackwardElements(const ScanSizes &sizes) {
  const int64_t group = scanGroup<T>(sizes), kept = ceilDiv(scanSpans<T>(sizes), group),
                states = 1 + kept + (group > 1 ? group : 0) + (sizes.perKey ? lanes<T> : 0);
  const int64_t corrected = scanKeepsCorrected<T>(sizes) ? scanSpans<T>(sizes) : 0;
  return scanForwardElements<T>(sizes) +
         corrected * scanBlocks<T>(sizes.valueSize) * lanes<T> * lanes<T> +
         scanTiles<T>(sizes, 8, 4, 11, 5) + states * scanStateElements<T>(sizes);
}

} // namespace hybrid::cpu
