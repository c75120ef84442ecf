//===- LinearScanDivision.cpp - from block to block of a divided scan -------===//
//
// A linear scan that is divided over time runs as so many sequences of a block's length
// (codegen/lowering/LinearScan.cpp). What is between the blocks happens here.
//
//===----------------------------------------------------------------------===//
#include "Vector.h"
#include "codegen/kernels/LinearScan.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

/// Whether a segment starts at row t of a whole sequence of ids.
HYBRID_INLINE bool startsAt(const int32_t *ids, int64_t t) {
  return ids && t > 0 && ids[t] != ids[t - 1];
}

template <typename T>
HYBRID_INLINE void linear_scan_products(int64_t index, Buffers buffers,
                                        const LinearScanDivisionParams &params) {
  const T *decay = buffers.at<const T>(0);
  const int64_t channels = params.heads * params.keySize, columns = ceilDiv(channels, lanes<T>),
                rows = params.blockRows;
  const bool perHead = params.decay == ScanDecay::HeadAndTime || params.decay == ScanDecay::Head;
  const bool constant = params.decay == ScanDecay::Key || params.decay == ScanDecay::Head;
  const int64_t block = index / columns, channel = index % columns * lanes<T>;
  const int64_t first = block % params.blocks * rows, sequence = block / params.blocks;
  const int32_t *ids =
      params.hasSegments ? buffers.at<const int32_t>(1) + sequence * params.blocks * rows : nullptr;
  bool starts = false;
  for (int64_t t = first; params.hasSegments && t < first + rows; ++t)
    starts = starts || startsAt(ids, t);
  T *to = buffers.at<T>(2) + block * channels + channel;
  const int64_t count = lanesAt<T>(channel, channels);
  T sums[lanes<T>] = {};
  if (params.decay == ScanDecay::KeyAndTime) {
    Vector<T> sum = splat(T(0));
    for (int64_t t = 0; t < rows; ++t)
      sum += loadPart(decay + (block * rows + t) * params.decayStride + channel, count);
    store(sums, sum);
  } else if (params.decay != ScanDecay::None) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t column = perHead ? (channel + i) / params.keySize : channel + i;
      if (constant)
        sums[i] = decay[column] * static_cast<T>(rows);
      else if (i > 0 && column == (channel + i - 1) / params.keySize)
        sums[i] = sums[i - 1]; // of the same head
      else
        for (int64_t t = 0; t < rows; ++t)
          sums[i] += decay[(block * rows + t) * params.decayStride + column];
    }
  }
  storePart(to, starts ? splat(T(0)) : exponential(load(sums)), count);
}

template <typename T>
HYBRID_INLINE void linear_scan_entries(int64_t index, Buffers buffers,
                                       const LinearScanDivisionParams &params) {
  const T *products = buffers.at<const T>(0), *offsets = buffers.at<const T>(1),
          *given = buffers.at<const T>(3);
  T *entries = buffers.at<T>(4), *last = buffers.at<T>(5);
  const int64_t channels = params.heads * params.keySize, values = params.valueSize;
  const int64_t sequence = index / channels, channel = index % channels;
  const int32_t *ids = params.hasSegments ? buffers.at<const int32_t>(2) +
                                                sequence * params.blocks * params.blockRows
                                          : nullptr;
  for (int64_t v = 0; v < values; v += lanes<T>) {
    const int64_t count = lanesAt<T>(v, values);
    Vector<T> state = params.hasState ? loadPart(given + index * values + v, count) : splat(T(0));
    for (int64_t i = 0; i < params.blocks; ++i) {
      const int64_t block = params.reverse ? params.blocks - 1 - i : i;
      const int64_t row = (sequence * params.blocks + block) * channels + channel;
      const bool starts = startsAt(ids, block * params.blockRows);
      if (!params.reverse && starts)
        state = splat(T(0));
      storePart(entries + row * values + v, state, count);
      state = products[row] * state + loadPart(offsets + row * values + v, count);
      if (params.reverse && starts)
        state = splat(T(0));
    }
    if (params.hasLast)
      storePart(last + index * values + v, state, count);
  }
}

} // namespace

HYBRID_KERNEL(linear_scan_products, LinearScanDivisionParams)
HYBRID_KERNEL(linear_scan_entries, LinearScanDivisionParams)
