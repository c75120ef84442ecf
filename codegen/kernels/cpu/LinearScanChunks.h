//===- LinearScanChunks.h - linear scans chunk by chunk -------------------===//
//
// A linear scan is a scan in chunks that erases nothing (ScanChunks.h).
//
//===----------------------------------------------------------------------===//
#pragma once
#include "ScanChunksGradient.h"
#include "codegen/kernels/LinearScan.h"

namespace hybrid::cpu {

/// Which head of which sequence, a block of a divided one being one, an item is about.
struct ScannedHead {
  int64_t batch, head;
  const LinearScanParams &params;

  ScannedHead(int64_t index, const LinearScanParams &params)
      : batch(index / params.heads), head(index % params.heads), params(params) {}

  /// Of nothing where the buffer is absent.
  template <typename Pointer>
  Steps<Pointer> part(Pointer buffer, int64_t stride, int64_t size) const {
    if (!buffer)
      return {};
    return {buffer + (batch * params.blockRows * stride + head * size), stride, 0};
  }
  /// Decays, or their gradient: constant ones have a stride of 0.
  template <typename T> Steps<T *> ofDecay(T *buffer, int64_t stride) const {
    const int64_t size = linearScanPerKey(params) ? params.keySize : 1;
    if (params.decay == ScanDecay::Key || params.decay == ScanDecay::Head)
      return {buffer ? buffer + head * size : nullptr, 0, 0};
    return part(buffer, stride, size);
  }
  template <typename T> T *state(void *buffer, bool is) const {
    return is ? static_cast<T *>(buffer) +
                    (batch * params.heads + head) * params.keySize * params.valueSize
              : nullptr;
  }

  template <typename T> ScanOperands<T> operands(Buffers buffers) const {
    ScanOperands<T> of{};
    of.sizes = linearScanSizes(params), of.steps = 1;
    of.factors = linearScanPerKey(params)                                ? Factors::Key
                 : params.decay != ScanDecay::None || params.hasSegments ? Factors::Head
                                                                         : Factors::None;
    of.exclusive = params.exclusive, of.constantFactors = params.decay == ScanDecay::Key;
    of.scale = static_cast<T>(params.scale);
    of.q = part(activationAt<T>(buffers, 0), params.qStride, params.keySize);
    of.k = part(activationAt<T>(buffers, 1), params.kStride, params.keySize);
    of.v = part(activationAt<T>(buffers, 2), params.vStride, params.valueSize);
    if (params.decay != ScanDecay::None)
      of.decay = ofDecay(buffers.at<const T>(3), params.decayStride);
    if (params.hasSegments)
      of.segments = static_cast<const int32_t *>(buffers[4]) + batch * params.blockRows;
    return of;
  }
};

template <typename T>
HYBRID_INLINE void scanChunksForward(int64_t index, Buffers buffers, const LinearScanParams &p) {
  const ScannedHead item(index, p);
  Memory<T> memory{buffers.scratch<T>()};
  ScanChunk<T> chunk(item.operands<T>(buffers), memory);
  scanForward(chunk, item.state<const T>(buffers[5], p.hasState),
              item.state<T>(buffers[6], p.hasFinalState),
              item.part(activationAt<T>(buffers, 7), p.oStride, p.valueSize));
}

template <typename T>
HYBRID_INLINE void scanChunksBackward(int64_t index, Buffers buffers, const LinearScanParams &p) {
  const ScannedHead item(index, p);
  Memory<T> memory{buffers.scratch<T>()};
  ScanChunk<T> chunk(item.operands<T>(buffers), memory);
  const ScanGradients<T> to{item.part(activationAt<T>(buffers, 6), p.oStride, p.valueSize),
                            item.part(activationAt<T>(buffers, 9), p.dqStride, p.keySize),
                            item.part(activationAt<T>(buffers, 10), p.dkStride, p.keySize),
                            item.part(activationAt<T>(buffers, 11), p.dvStride, p.valueSize),
                            {},
                            {},
                            p.decayGradient != 0};
  ScanGradient<T> gradient(chunk, to, memory);
  const bool constant = p.decay == ScanDecay::Key || p.decay == ScanDecay::Head;
  const int64_t width = linearScanPerKey(p) ? p.keySize : 1;
  // A constant decay has the sum over all rows: sums of a chunk, and then their sum, as its error
  // grows with the root of the length.
  T *sums = memory.take(2 * chunk.keyBlocks * lanes<T>),
    *ofChunk = sums + chunk.keyBlocks * lanes<T>;
  for (int64_t at = 0; constant && at < 2 * chunk.keyBlocks * lanes<T>; at += lanes<T>)
    store(sums + at, splat(T(0)));
  auto endChunk = [&](int64_t block) HYBRID_INLINE_LAMBDA {
    T *from = ofChunk + block * lanes<T>, *into = sums + block * lanes<T>;
    store(into, load(into) + load(from)), store(from, splat(T(0)));
  };
  T *dDecay = buffers.at<T>(12);
  const Steps<T *> ofRows =
      item.ofDecay(dDecay, p.decay == ScanDecay::HeadAndTime ? p.heads : p.dDecayStride);
  scanBackward(chunk, gradient, item.state<const T>(buffers[5], p.hasState),
               item.state<const T>(buffers[7], p.hasFinalState),
               item.state<T>(buffers[8], buffers[8] != nullptr), memory,
               [&](int64_t row, int64_t block, Vector<T> sum) HYBRID_INLINE_LAMBDA {
                 if (constant) {
                   T *into = ofChunk + block * lanes<T>;
                   store(into, load(into) + sum);
                   if (row % lanes<T> == 0)
                     endChunk(block);
                 } else if (linearScanPerKey(p))
                   storePart(ofRows.at(chunk.tokenOf(row), 0) + block * lanes<T>, sum,
                             chunk.keysAt(block));
                 else
                   *ofRows.at(chunk.tokenOf(row), 0) = sumOfLanes(sum);
               });
  if (!constant || !p.decayGradient)
    return;
  T *into = dDecay + (item.batch * p.heads + item.head) * width;
  for (int64_t block = 0; block < (linearScanPerKey(p) ? chunk.keyBlocks : 1); ++block) {
    endChunk(block);
    const Vector<T> sum = load(sums + block * lanes<T>);
    if (linearScanPerKey(p))
      storePart(into + block * lanes<T>, sum, chunk.keysAt(block));
    else
      *into = sumOfLanes(sum);
  }
}

} // namespace hybrid::cpu
