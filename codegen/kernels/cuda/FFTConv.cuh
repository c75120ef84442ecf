//===- FFTConv.cuh - gated long convolution in shared memory ----------------===//
//
//   y = (conv(x * gateIn, h) + skip * (x * gateIn)) * gateOut
//
// for sequences whose right-angle transform (FFT.cuh) fits into shared memory. A block takes
// `lanes` neighbouring channels of one sequence: with 8 of f32 it reads whole sectors of memory,
// and activations stay as they are, [batch, length, channels]. Each signal is transformed alone, so
// that neither the batch nor the channels need to be even. Gates are applied where the first stage
// loads and the last one stores; the skip term and 1/points are in the spectrum. x and the gates
// are read once, y is written once.
//
// Backward: with P and Q the transforms of x * gateIn and dy * gateOut, dw = Q conj(H), the
// ungated output is P H, and the filter's gradient is the sum over the batch of conj(P) Q: a block
// walks over its part of the batch and keeps that sum in registers. What these correlations wrap
// around z^points = -i is imaginary where they are real. A second kernel adds the parts and
// transforms back; the gradient of the skip term is that of the first tap.
//
// With segments each run of equal ids is transformed on its own, at full size.
//
// Bound by memory up to about 2k points on an H200, then by shared memory and arithmetic.
// Source of the operator: Poli et al. 2023, section 3.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/FFTConv.h"
#include "codegen/kernels/cuda/FFT.cuh"

namespace hybrid::cuda {

template <typename T, FFTConvParams P>
using FFTConvTransform = Transform<T, static_cast<int>(P.points), static_cast<int>(P.lanes),
                                   static_cast<int>(P.blockThreads), true, P.wide != 0>;

/// A channel's values of one sequence, from position `start` on.
template <typename T> struct Channels {
  using Element = typename WithoutConst<T>::Type;
  T *data;
  int stride; // 32 bits reach over a sequence that fits into shared memory

  HYBRID_DEVICE Channels(T *buffer, int64_t row, int64_t stride, int64_t channel)
      : data(buffer ? buffer + row * stride + channel : nullptr), stride(static_cast<int>(stride)) {
  }
  HYBRID_DEVICE T &at(int t, int lane) const { return data[t * stride + lane]; }
};

/// What a value is multiplied by, as it lies in memory; nothing where there is no factor.
template <typename Element, bool isThere> struct Factor {
  Element value;
  template <typename T> HYBRID_DEVICE T times(T other) const { return other * number(value); }
};
template <typename Element> struct Factor<Element, false> {
  template <typename T> HYBRID_DEVICE T times(T other) const { return other; }
};
template <bool isThere, typename T>
HYBRID_DEVICE Factor<typename Channels<T>::Element, isThere>
factorOf([[maybe_unused]] const Channels<T> &factors, [[maybe_unused]] int t,
         [[maybe_unused]] int lane) {
  if constexpr (isThere)
    return {factors.at(t, lane)};
  else
    return {};
}
/// A value and its gate.
template <typename Element, typename Gate> struct Gated {
  Element signal;
  Gate gate;
  HYBRID_DEVICE auto product() const { return gate.times(number(signal)); }
};
template <bool hasGate, typename T, typename G>
HYBRID_DEVICE auto gated(const Channels<T> &signals, const Channels<G> &gates, int t, int lane) {
  using Gate = Factor<typename Channels<G>::Element, hasGate>;
  return Gated<typename Channels<T>::Element, Gate>{signals.at(t, lane),
                                                    factorOf<hasGate>(gates, t, lane)};
}

/// The position behind the run of equal ids that begins at `start`. Every thread of the block calls
/// it; `scratch` is of threads / 32 words.
template <int threads>
HYBRID_DEVICE int segmentEnd(const int32_t *ids, int start, int length, int *scratch) {
  for (int first = start + 1; first < length; first += threads) {
    int t = first + static_cast<int>(threadIdx.x);
    int end = t < length && ids[t] != ids[start] ? t : length;
    end = -blockMax<threads>(-end, scratch);
    if (end < length)
      return end;
  }
  return length;
}

/// A stretch of a sequence in a block's transform.
template <typename T, FFTConvParams P> struct FFTConvRun {
  static constexpr int points = static_cast<int>(P.points), lanes = static_cast<int>(P.lanes);
  /// Whether positions from `points` on are in the imaginary parts, as z^points = -i has it.
  static constexpr bool isFolded = P.length > P.points;
  int channel, length;

  /// Is this position of the run a value of the sequence?
  HYBRID_DEVICE bool contains(int t, int lane) const {
    return ((P.length == points && !P.hasSegments) || t < length) &&
           (P.channels % P.lanes == 0 || channel + lane < P.channels);
  }
  static constexpr int halves = isFolded ? 2 : 1;
  /// operands(t, lane) of both positions in a point; zeros where there are none.
  template <typename Operands>
  HYBRID_DEVICE auto loadPoint(int t, int lane, Operands operands) const {
    struct Loaded {
      decltype(operands(0, 0)) half[halves];
    } loaded{};
    HYBRID_UNROLL
    for (int half = 0; half < halves; ++half)
      if (contains(t + half * points, lane))
        loaded.half[half] = operands(t + half * points, lane);
    return loaded;
  }
  /// The points of a transform whose signal is value(operands(t, lane)).
  template <typename Transform, typename Operands, typename Value>
  HYBRID_DEVICE void load(const Transform &transform, Operands operands, Value value) const {
    transform.load([&](int t, int lane) { return loadPoint(t, lane, operands); },
                   [&](const auto &loaded) {
                     return Complex<T>{value(loaded.half[0]),
                                       isFolded ? -value(loaded.half[halves - 1]) : T(0)};
                   });
  }
  /// use(t, lane, value, operands(t, lane)) for all values.
  template <typename Transform, typename Operands, typename Use>
  HYBRID_DEVICE void store(const Transform &transform, Operands operands, Use use) const {
    constexpr int bytes = static_cast<int>(sizeof(loadPoint(0, 0, operands))),
                  together = bytes <= 8    ? 8
                             : bytes <= 16 ? 4
                                           : 2;
    transform.template store<together>(
        [&](int t, int lane) { return loadPoint(t, lane, operands); },
        [&](int t, int lane, Complex<T> z, const auto &loaded) {
          HYBRID_UNROLL
          for (int half = 0; half < halves; ++half)
            if (contains(t + half * points, lane))
              use(t + half * points, lane, half ? -z.im : z.re, loaded.half[half]);
        });
  }
};

/// body(row, run) for the runs of a sequence; `row` is the row of activations a run begins at.
template <typename T, FFTConvParams P, typename Body>
HYBRID_DEVICE void forEachRun(int64_t sequence, int channel, const int32_t *segments, int *scratch,
                              Body body) {
  const int64_t row = sequence * P.length;
  if constexpr (P.hasSegments != 0) {
    HYBRID_NO_UNROLL
    for (int start = 0; start < P.length;) {
      int end = segmentEnd<threads(P)>(segments + row, start, static_cast<int>(P.length), scratch);
      body(row + start, FFTConvRun<T, P>{channel, end - start});
      start = end;
      blockBarrier(); // before the next run is loaded
    }
  } else {
    body(row, FFTConvRun<T, P>{channel, static_cast<int>(P.length)});
  }
}

/// Spectrum of the filter, times 1/points, [groups of channels, last, points / last, lanes] in
/// permuted order. Items: groups of channels.
template <typename T, FFTConvParams P>
HYBRID_DEVICE void fftconvSpectrum(int64_t item, const T *filter, const T *twiddles, T *spectrum) {
  using Block = FFTConvTransform<T, P>;
  const Block block{sharedMemory<Complex<T>>(), reinterpret_cast<const Complex<T> *>(twiddles)};
  const int channel = static_cast<int>(item) * Block::lanes;
  block.load([&](int t, int lane) {
    bool inside = t < P.taps && channel + lane < P.channels;
    return Complex<T>{inside ? filter[t * P.channels + channel + lane] : T(0), T(0)};
  });
  block.forward();
  block.storeSpectrum(reinterpret_cast<Complex<T> *>(spectrum) +
                          item * Block::lanes * Block::points,
                      T(1) / static_cast<T>(P.points));
}

/// The filter's spectrum, and the skip term in it.
template <typename T, FFTConvParams P> struct FFTConvFilter {
  using Block = FFTConvTransform<T, P>;
  const Complex<T> *spectrum;
  const T *skip;
  int channel;

  HYBRID_DEVICE FFTConvFilter(const T *spectrum, const T *skip, int64_t group)
      : spectrum(reinterpret_cast<const Complex<T> *>(spectrum) +
                 group * Block::lanes * Block::points),
        skip(skip), channel(static_cast<int>(group) * Block::lanes) {}

  HYBRID_DEVICE T skipOf(typename Block::Group group) const {
    if (!P.hasSkip || channel + group.lane >= P.channels)
      return T(0);
    return skip[channel + group.lane] * (T(1) / static_cast<T>(P.points));
  }
  HYBRID_DEVICE const Complex<T> *placesOf(typename Block::Group group) const {
    return opaque(spectrum) + group.spectrumAt();
  }
  HYBRID_DEVICE static Complex<T> at(const Complex<T> *place, int b, T skip) {
    Complex<T> h = place[b * Block::groups * Block::lanes];
    return {h.re + skip, h.im};
  }
};

/// Items: bands of groups of channels; in a band the batch, and for each sequence the groups.
template <typename T, FFTConvParams P, typename X, typename GateIn, typename GateOut,
          typename Store>
HYBRID_DEVICE void fftconvForward(int64_t item, X xBuffer, const T *spectrum, const T *twiddles,
                                  const T *skip, GateIn gateInBuffer, GateOut gateOutBuffer,
                                  const int32_t *segments, Store y) {
  const auto write = asStore<P.yStride>(y);
  const auto *x = readable<T>(xBuffer);
  const auto *gateIn = readable<T>(gateInBuffer);
  const auto *gateOut = readable<T>(gateOutBuffer);
  using Block = FFTConvTransform<T, P>;
  constexpr int64_t groups = channelGroups(P), band = groupsInBand(P);
  const int64_t firstGroup = item / (band * P.batch) * band, inBand = item % (band * P.batch);
  const int64_t width = minimum(band, groups - firstGroup), sequence = inBand / width;
  const Block block{sharedMemory<Complex<T>>(), reinterpret_cast<const Complex<T> *>(twiddles)};
  const FFTConvFilter<T, P> filter(spectrum, skip, firstGroup + inBand % width);
  const int channel = filter.channel;
  auto *scratch = sharedMemory<int>(sharedBytes<T>(P, 1) - 32 * 4);
  forEachRun<T, P>(
      sequence, channel, segments, scratch, [&](int64_t row, const FFTConvRun<T, P> &run) {
        const Channels in(x, row, P.xStride, channel);
        const Channels gate(gateIn, row, P.gateInStride, channel);
        const Channels outGate(gateOut, row, P.gateOutStride, channel);
        run.load(
            block, [&](int t, int lane) { return gated<P.hasGateIn>(in, gate, t, lane); },
            [](const auto &of) { return of.product(); });
        block.forward();
        block.multiply([&](typename Block::Group group, Complex<T> *v) {
          const T skipTerm = filter.skipOf(group);
          const auto *place = filter.placesOf(group);
          HYBRID_UNROLL
          for (int b = 0; b < Block::last; ++b)
            v[b] = v[b] * filter.at(place, b, skipTerm);
        });
        block.inverse();
        run.store(
            block, [&](int t, int lane) { return factorOf<P.hasGateOut>(outGate, t, lane); },
            [&](int t, int lane, T value, const auto &factor) {
              write(row + t, channel + lane, factor.times(value));
            });
      });
}

/// dPartial: [splits, groups of channels, last, points / last, lanes], complex. Items: groups of
/// channels fastest, then splits.
template <typename T, FFTConvParams P, typename X, typename GateIn, typename GateOut, typename Dy,
          typename Dx, typename DGateIn, typename DGateOut>
HYBRID_DEVICE void fftconvBackward(int64_t item, X xBuffer, const T *spectrum, const T *twiddles,
                                   const T *skip, GateIn gateInBuffer, GateOut gateOutBuffer,
                                   const int32_t *segments, Dy dyBuffer, Dx dxBuffer, T *dPartial,
                                   DGateIn dGateInBuffer, DGateOut dGateOutBuffer) {
  const auto *x = readable<T>(xBuffer);
  const auto *gateIn = readable<T>(gateInBuffer);
  const auto *gateOut = readable<T>(gateOutBuffer);
  const auto *dy = readable<T>(dyBuffer);
  auto *dx = writable<T>(dxBuffer);
  auto *dGateIn = writable<T>(dGateInBuffer);
  auto *dGateOut = writable<T>(dGateOutBuffer);
  using Block = FFTConvTransform<T, P>;
  constexpr int64_t groups = channelGroups(P), perSplit = (P.batch + P.splits - 1) / P.splits;
  const auto *table = reinterpret_cast<const Complex<T> *>(twiddles);
  auto *shared = sharedMemory<Complex<T>>();
  const Block signal{shared, table}, cotangent{shared + fftElements(P.points, P.lanes), table};
  const FFTConvFilter<T, P> filter(spectrum, skip, item % groups);
  const int channel = filter.channel;
  auto *scratch = sharedMemory<int>(sharedBytes<T>(P, 2) - 32 * 4);

  SpectrumSums<T, Block> sums(reinterpret_cast<Complex<T> *>(dPartial) +
                              item * Block::lanes * Block::points);
  const int64_t first = item / groups * perSplit, end = minimum(first + perSplit, P.batch);
  HYBRID_NO_UNROLL
  for (int64_t sequence = first; sequence < end; ++sequence) {
    forEachRun<T, P>(
        sequence, channel, segments, scratch, [&](int64_t row, const FFTConvRun<T, P> &run) {
          const Channels in(x, row, P.xStride, channel);
          const Channels gate(gateIn, row, P.gateInStride, channel);
          const Channels outGate(gateOut, row, P.gateOutStride, channel);
          const Channels upstream(dy, row, P.yStride, channel);
          // First what is read once: the L1 cache keeps the rest for the end.
          run.load(
              cotangent,
              [&](int t, int lane) { return gated<P.hasGateOut>(upstream, outGate, t, lane); },
              [](const auto &of) { return of.product(); });
          run.load(
              signal, [&](int t, int lane) { return gated<P.hasGateIn>(in, gate, t, lane); },
              [](const auto &of) { return of.product(); });
          signal.forward();
          cotangent.forward();
          sums.forEachGroup([&](int round, typename Block::Group group) {
            Complex<T> v[Block::last];
            signal.read(group, v);
            transformRegisters<Block::last, false>(v);
            signal.write(group, v); // read again below by this thread
            cotangent.read(group, v);
            transformRegisters<Block::last, false>(v);
            const T skipTerm = filter.skipOf(group);
            const auto *place = filter.placesOf(group);
            HYBRID_UNROLL
            for (int b = 0; b < Block::last; ++b) {
              Complex<T> &p = signal.element(group, b);
              const Complex<T> h = filter.at(place, b, skipTerm);
              sums.add(round, group, b, conjugate(p) * v[b]);
              if constexpr (P.hasGateOut != 0)
                p = p * h;
              v[b] = v[b] * conjugate(h);
            }
            transformRegisters<Block::last, true>(v);
            cotangent.write(group, v);
            if constexpr (P.hasGateOut != 0) {
              signal.read(group, v);
              transformRegisters<Block::last, true>(v);
              signal.write(group, v);
            }
          });
          cotangent.inverse();
          // Anew: kept through the transforms they would take the last registers.
          const Channels xAgain(opaque(x), row, P.xStride, channel);
          const Channels gateAgain(opaque(gateIn), row, P.gateInStride, channel);
          const Channels dyAgain(opaque(dy), row, P.yStride, channel);
          const Channels dIn(dx, row, P.dxStride, channel);
          const Channels dGate(dGateIn, row, P.dGateInStride, channel);
          const Channels dOutGate(dGateOut, row, P.dGateOutStride, channel);
          run.store(
              cotangent,
              [&](int t, int lane) { return gated<P.hasGateIn>(xAgain, gateAgain, t, lane); },
              [&](int t, int lane, T value, const auto &of) {
                if constexpr (P.hasGateIn != 0)
                  put(dGate.at(t, lane), value * number(of.signal));
                put(dIn.at(t, lane), of.gate.times(value));
              });
          if constexpr (P.hasGateOut != 0) {
            signal.inverse();
            run.store(
                signal, [&](int t, int lane) { return factorOf<true>(dyAgain, t, lane); },
                [&](int t, int lane, T value, const auto &factor) {
                  put(dOutGate.at(t, lane), factor.times(value));
                });
          }
          blockBarrier(); // before the next sequence is loaded
        });
  }

  sums.store();
}

/// dFilter and dSkip from the partial sums. Items: groups of channels.
template <typename T, FFTConvParams P>
HYBRID_DEVICE void fftconvFilterGradient(int64_t item, const T *dPartial, const T *twiddles,
                                         T *dFilter, T *dSkip) {
  using Block = FFTConvTransform<T, P>;
  constexpr int64_t groups = channelGroups(P), perGroup = P.lanes * P.points;
  const Block block{sharedMemory<Complex<T>>(), reinterpret_cast<const Complex<T> *>(twiddles)};
  block.loadSum(reinterpret_cast<const Complex<T> *>(dPartial) + item * perGroup, P.splits,
                groups * perGroup);
  block.inverse();
  const int channel = static_cast<int>(item) * Block::lanes;
  constexpr T factor = T(1) / static_cast<T>(P.points);
  block.store([&](int t, int lane, Complex<T> z) {
    if (t >= P.taps || channel + lane >= P.channels)
      return;
    dFilter[t * P.channels + channel + lane] = z.re * factor;
    if (P.hasSkip && t == 0 && dSkip)
      dSkip[channel + lane] = z.re * factor;
  });
}

} // namespace hybrid::cuda
