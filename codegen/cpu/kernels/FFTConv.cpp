//===- FFTConv.cpp - gated long convolution through in-cache transforms ---===//
//
// Two sequences are convolved at once, as real and imaginary part of one complex signal: the filter
// is real, so they never mix. Gates are applied while the outermost stages load and store, and the
// skip term is added to the spectrum, so that x is read once and y written once and nothing else
// leaves the cache. The factor 1/n is in the spectrum.
//
// Backward sums conj(W) DS over the batch in the frequency domain; with two packed sequences its
// imaginary part is the cross terms, which the last inverse transform discards. The gradient of the
// skip term is that of the filter's first tap.
//
// With segments the runs of equal id are convolved one by one, packed two by two, each pair with a
// transform just large enough and a spectrum of the filter computed for that size.
//
// Bound by L1 traffic for transforms that fit there (n <= 256 in f32), then by L2. Sources of
// operators: Poli et al. 2023, section 3; packing and permuted order are the classical ones.
//
//===----------------------------------------------------------------------===//
#include "FFT.h"

using namespace hybrid::cpu;

namespace {

/// A stretch of one row of the batch that is convolved on its own.
struct Run {
  int64_t row = 0, start = 0, length = 0;
};

/// Walks over the runs of rows [row, lastRow).
struct RunCursor {
  const FFTConvParams &params;
  const int32_t *segments;
  int64_t row, lastRow, start = 0;

  /// An empty run after the last one.
  Run next() {
    if (row >= lastRow)
      return {row - 1, 0, 0};
    Run run{row, start, params.length - start};
    if (params.hasSegments) {
      const int32_t *ids = segments + row * params.length;
      int64_t end = start + 1;
      while (end < params.length && ids[end] == ids[start])
        ++end;
      run.length = end - start;
    }
    start = run.start + run.length;
    if (start >= params.length) {
      start = 0;
      ++row;
    }
    return run;
  }
};

/// Two runs in one transform.
struct RunPair {
  Run first, second;
  int64_t longest, size;

  RunPair(RunCursor &cursor, const FFTConvParams &params)
      : first(cursor.next()), second(cursor.next()), longest(maximum(first.length, second.length)),
        size(params.hasSegments ? fftconvTransformSize(longest, minimum(longest, params.taps))
                                : params.transformSize) {}
};

/// `channels` of a block of rows that lie in memory with a stride, at the runs of a pair.
template <typename T> struct PairView {
  T *first, *second;
  int64_t stride, channels;

  PairView(void *buffer, const RunPair &pair, int64_t length, int64_t stride, int64_t firstChannel,
           int64_t channels)
      : first(at(buffer, pair.first, length, stride, firstChannel)),
        second(at(buffer, pair.second, length, stride, firstChannel)), stride(stride),
        channels(channels) {}

  Vector<T> load0(int64_t t) const { return loadPart<T>(first + t * stride, channels); }
  Vector<T> load1(int64_t t) const { return loadPart<T>(second + t * stride, channels); }
  void store0(int64_t t, Vector<T> v) const { storePart<T>(first + t * stride, v, channels); }
  void store1(int64_t t, Vector<T> v) const { storePart<T>(second + t * stride, v, channels); }

private:
  static T *at(void *buffer, const Run &run, int64_t length, int64_t stride, int64_t channel) {
    if (!buffer)
      return nullptr;
    return static_cast<T *>(buffer) + (run.row * length + run.start) * stride + channel;
  }
};

/// x * gate, or x; points of a run behind its end are zero.
template <typename T> struct GatedPair {
  PairView<T> x, gate;
  int64_t length0, length1;
  bool hasGate;

  Complex<T> operator()(int64_t t) const {
    Complex<T> value{splat(T(0)), splat(T(0))};
    if (t < length0)
      value.re = hasGate ? x.load0(t) * gate.load0(t) : x.load0(t);
    if (t < length1)
      value.im = hasGate ? x.load1(t) * gate.load1(t) : x.load1(t);
    return value;
  }
};

/// The spectrum of the first `taps` taps over `size`, in permuted order, for one block of channels.
template <typename T>
HYBRID_NOINLINE void spectrumOf(const T *filter, int64_t taps, int64_t stride, int64_t channels,
                                int64_t size, const Twiddles<T> &table, T *spectrum) {
  T factor = T(1) / static_cast<T>(size);
  firstStage<T>(spectrum, size, table, taps, [&](int64_t t) -> Complex<T> {
    if (t >= taps)
      return {splat(T(0)), splat(T(0))};
    return {loadPart<T>(filter + t * stride, channels) * factor, splat(T(0))};
  });
  T zero[lanes<T>] = {};
  int64_t part = size / 4;
  Signals<T> whole{spectrum, spectrum, spectrum, spectrum};
  for (int64_t k = 0; k < 4; ++k)
    transformBlock<Action::Forward>(whole.at(k * part), logarithmOfSize(part), table, zero);
}

template <typename T>
HYBRID_INLINE void fftconv_twiddles(int64_t lo, int64_t hi, void *const *buffers, void *,
                                    const FFTConvParams &params) {
  if (lo >= hi)
    return;
  T *table = static_cast<T *>(buffers[0]);
  int64_t n = params.transformSize;
  auto fill = [&](T *rows, int64_t size, int64_t radix) {
    for (int64_t j = 0; j < size / radix; ++j)
      for (int64_t k = 1; k < radix; ++k) {
        // j k / size is exact in double.
        double angle = -6.283185307179586476925286766559 *
                       (static_cast<double>(j * k) / static_cast<double>(size));
        *rows++ = static_cast<T>(__builtin_cos(angle));
        *rows++ = static_cast<T>(__builtin_sin(angle));
      }
  };
  for (int64_t i = 0; i < fftconvTwiddleElements<T>(n); ++i)
    table[i] = T(0);
  for (int64_t size = 16; size <= n; size *= 2)
    fill(table + size + size / 2, size, 4);
  for (int64_t size = 32; size <= n / 4; size *= 2)
    fill(table + 3 * n + size + 3 * size / 4, size, 8);
}

template <typename T>
HYBRID_INLINE void fftconv_spectrum(int64_t lo, int64_t hi, void *const *buffers, void *,
                                    const FFTConvParams &params) {
  Twiddles<T> table(buffers[1], params.transformSize);
  for (int64_t block = lo; block < hi; ++block) {
    int64_t channel = block * lanes<T>;
    spectrumOf<T>(static_cast<const T *>(buffers[0]) + channel, params.taps, params.channels,
                  lanesAt<T>(channel, params.channels), params.transformSize, table,
                  static_cast<T *>(buffers[2]) + block * params.transformSize * 2 * lanes<T>);
  }
}

template <typename T>
HYBRID_INLINE void fftconv_forward(int64_t lo, int64_t hi, void *const *buffers, void *scratch,
                                   const FFTConvParams &params) {
  const int64_t pairs = ceilDiv(params.batch, 2), point = 2 * lanes<T>;
  Twiddles<T> table(buffers[2], params.transformSize);
  T *data = static_cast<T *>(scratch), *ownSpectrum = data + params.transformSize * point;
  for (int64_t item = lo; item < hi; ++item) {
    int64_t block = item / pairs, row = item % pairs * 2, channel = block * lanes<T>;
    int64_t channels = lanesAt<T>(channel, params.channels);
    RunCursor cursor{params, static_cast<const int32_t *>(buffers[6]), row,
                     minimum(row + 2, params.batch)};
    do {
      RunPair pair(cursor, params);
      const T *spectrum = static_cast<const T *>(buffers[1]) + block * params.transformSize * point;
      if (params.hasSegments && pair.size != params.transformSize) {
        spectrumOf<T>(static_cast<const T *>(buffers[7]) + channel,
                      minimum(params.taps, pair.longest), params.channels, channels, pair.size,
                      table, ownSpectrum);
        spectrum = ownSpectrum;
      }
      T skip[lanes<T>];
      store<T>(skip, params.hasSkip
                         ? loadPart<T>(static_cast<const T *>(buffers[3]) + channel, channels) *
                               (T(1) / static_cast<T>(pair.size))
                         : splat(T(0)));
      auto view = [&](int index, int64_t stride) {
        return PairView<T>(buffers[index], pair, params.length, stride, channel, channels);
      };
      GatedPair<T> input{view(0, params.xStride), view(4, params.gateInStride), pair.first.length,
                         pair.second.length, params.hasGateIn != 0};
      firstStage<T>(data, pair.size, table, pair.longest, input);
      int64_t part = pair.size / 4;
      Signals<T> whole{data, data, spectrum, data};
      for (int64_t k = 0; k < 4; ++k)
        transformBlock<Action::Convolve>(whole.at(k * part), logarithmOfSize(part), table, skip);
      PairView<T> gate = view(5, params.gateOutStride), y = view(8, params.yStride);
      lastStage<T>(data, pair.size, table, pair.longest, [&](int64_t t, Complex<T> value) {
        if (t < pair.first.length)
          y.store0(t, params.hasGateOut ? value.re * gate.load0(t) : value.re);
        if (t < pair.second.length)
          y.store1(t, params.hasGateOut ? value.im * gate.load1(t) : value.im);
      });
    } while (cursor.row < cursor.lastRow);
  }
}

template <typename T>
HYBRID_INLINE void fftconv_backward(int64_t lo, int64_t hi, void *const *buffers, void *scratch,
                                    const FFTConvParams &params) {
  const int64_t point = 2 * lanes<T>, region = params.transformSize * point;
  Twiddles<T> table(buffers[2], params.transformSize);
  T *signal = static_cast<T *>(scratch), *cotangent = signal + region;
  T *filterGradient = cotangent + region;
  // With segments only: the pair's own spectrum, and the sum over the pairs, in time.
  T *ownSpectrum = filterGradient + region, *sum = ownSpectrum + region;
  for (int64_t block = lo; block < hi; ++block) {
    int64_t channel = block * lanes<T>, channels = lanesAt<T>(channel, params.channels);
    auto clear = [](T *at, int64_t vectors) {
      for (int64_t i = 0; i < vectors; ++i)
        store<T>(at + i * lanes<T>, splat(T(0)));
    };
    // From the summed products of spectra to taps, which `use` takes.
    auto finishFilter = [&](int64_t size, int64_t taps, auto use) {
      int64_t part = size / 4;
      T zero[lanes<T>] = {};
      Signals<T> whole{filterGradient, filterGradient, filterGradient, filterGradient};
      for (int64_t k = 0; k < 4; ++k)
        transformBlock<Action::Inverse>(whole.at(k * part), logarithmOfSize(part), table, zero);
      T factor = T(1) / static_cast<T>(size);
      lastStage<T>(filterGradient, size, table, taps, [&](int64_t t, Complex<T> value) {
        if (t < taps)
          use(t, value.re * factor);
      });
    };
    T *dFilter = static_cast<T *>(buffers[10]) + channel;
    auto writeTap = [&](int64_t t, Vector<T> value) {
      storePart<T>(dFilter + t * params.channels, value, channels);
      if (params.hasSkip && t == 0 && buffers[11])
        storePart<T>(static_cast<T *>(buffers[11]) + channel, value, channels);
    };
    if (params.hasSegments)
      clear(sum, params.taps);
    else
      clear(filterGradient, 2 * params.transformSize);

    RunCursor cursor{params, static_cast<const int32_t *>(buffers[6]), 0, params.batch};
    do {
      RunPair pair(cursor, params);
      int64_t part = pair.size / 4, taps = minimum(params.taps, pair.longest);
      const T *spectrum = static_cast<const T *>(buffers[1]) + block * region;
      if (params.hasSegments) {
        clear(filterGradient, 2 * pair.size);
        if (pair.size != params.transformSize) {
          spectrumOf<T>(static_cast<const T *>(buffers[7]) + channel, taps, params.channels,
                        channels, pair.size, table, ownSpectrum);
          spectrum = ownSpectrum;
        }
      }
      T skip[lanes<T>];
      store<T>(skip, params.hasSkip
                         ? loadPart<T>(static_cast<const T *>(buffers[3]) + channel, channels) *
                               (T(1) / static_cast<T>(pair.size))
                         : splat(T(0)));
      auto view = [&](int index, int64_t stride) {
        return PairView<T>(buffers[index], pair, params.length, stride, channel, channels);
      };
      int64_t length0 = pair.first.length, length1 = pair.second.length;
      GatedPair<T> input{view(0, params.xStride), view(4, params.gateInStride), length0, length1,
                         params.hasGateIn != 0};
      GatedPair<T> upstream{view(8, params.yStride), view(5, params.gateOutStride), length0,
                            length1, params.hasGateOut != 0};
      firstStage<T>(signal, pair.size, table, pair.longest, input);
      firstStage<T>(cotangent, pair.size, table, pair.longest, upstream);
      Signals<T> whole{signal, cotangent, spectrum, filterGradient};
      for (int64_t k = 0; k < 4; ++k) {
        if (params.hasGateOut)
          transformBlock<Action::GradientAndS>(whole.at(k * part), logarithmOfSize(part), table,
                                               skip);
        else
          transformBlock<Action::Gradient>(whole.at(k * part), logarithmOfSize(part), table, skip);
      }
      const PairView<T> &x = input.x, &gateIn = input.gate, &dy = upstream.x;
      PairView<T> dx = view(9, params.dxStride), dGateIn = view(12, params.dGateInStride);
      lastStage<T>(cotangent, pair.size, table, pair.longest, [&](int64_t t, Complex<T> value) {
        if (t < length0) {
          dx.store0(t, params.hasGateIn ? value.re * gateIn.load0(t) : value.re);
          if (params.hasGateIn)
            dGateIn.store0(t, value.re * x.load0(t));
        }
        if (t < length1) {
          dx.store1(t, params.hasGateIn ? value.im * gateIn.load1(t) : value.im);
          if (params.hasGateIn)
            dGateIn.store1(t, value.im * x.load1(t));
        }
      });
      if (params.hasGateOut) {
        PairView<T> dGateOut = view(13, params.dGateOutStride);
        lastStage<T>(signal, pair.size, table, pair.longest, [&](int64_t t, Complex<T> value) {
          if (t < length0)
            dGateOut.store0(t, value.re * dy.load0(t));
          if (t < length1)
            dGateOut.store1(t, value.im * dy.load1(t));
        });
      }
      if (params.hasSegments)
        finishFilter(pair.size, taps, [&](int64_t t, Vector<T> value) {
          store<T>(sum + t * lanes<T>, load<T>(sum + t * lanes<T>) + value);
        });
    } while (cursor.row < cursor.lastRow);

    if (params.hasSegments) {
      for (int64_t t = 0; t < params.taps; ++t)
        writeTap(t, load<T>(sum + t * lanes<T>));
    } else {
      finishFilter(params.transformSize, params.taps, writeTap);
    }
  }
}

} // namespace

HYBRID_KERNEL(fftconv_twiddles, FFTConvParams)
HYBRID_KERNEL(fftconv_spectrum, FFTConvParams)
HYBRID_KERNEL(fftconv_forward, FFTConvParams)
HYBRID_KERNEL(fftconv_backward, FFTConvParams)
