//===- FFTConv.cpp - gated long convolution through in-cache transforms ---===//
//
// Each sequence is convolved alone, modulo z^n = i (FFT.h): n complex points for up to 2 n real
// ones, so that a causal convolution over n positions works on n points, whatever the batch. Gates
// are applied while the outermost stages load and store, and the skip term is added to the
// spectrum, so that x is read once and y written once and nothing else leaves the cache. The factor
// 1/n is in the spectrum.
//
// Backward multiplies by conj(H) for dw and sums DS conj(W) over the batch in the frequency domain:
// on the unit circle the conjugate is the reversed signal, and what that wraps around z^n = i is
// imaginary where the result is real. The gradient of the skip term is that of the first tap.
//
// With segments the runs of equal id are convolved one by one, each with a transform just large
// enough and a spectrum of the filter computed for that size.
//
// Bound by arithmetic for transforms that fit into L2 (n <= 4096 in f32 forward), then by L3.
// Source of the operator: Poli et al. 2023, section 3.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/FFTConv.h"
#include "Activation.h"
#include "FFT.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

/// A stretch of one row of the batch that is convolved on its own, and its transform.
struct Run {
  int64_t row, start, length, taps, size;
};

/// Calls `body` for the runs of rows [row, lastRow) in order.
template <typename Body>
HYBRID_INLINE void forEachRun(const FFTConvParams &params, const void *segments, int64_t row,
                              int64_t lastRow, Body body) {
  int64_t start = 0;
  while (row < lastRow) {
    Run run{row, start, params.length, params.taps, params.points};
    if (params.hasSegments) {
      const int32_t *ids = static_cast<const int32_t *>(segments) + row * params.length;
      int64_t end = start + 1;
      while (end < params.length && ids[end] == ids[start])
        ++end;
      run.length = end - start, run.taps = minimum(params.taps, run.length);
      run.size = convolutionPoints(run.length, run.taps);
    }
    body(run);
    start += run.length;
    if (start >= params.length) {
      start = 0;
      ++row;
    }
  }
}

/// `channels` of a block of rows that lie in memory with a stride, at a run. The outermost stage
/// walks down several stretches of rows at once, which the prefetchers lose sight of.
template <typename T> struct RunView {
  static constexpr int64_t ahead = 4; // rows, into L2: in L1 the stretches share their sets

  Activation<T> data;
  int64_t stride, channels;

  RunView(Activation<T> buffer, const Run &run, int64_t length, int64_t stride,
          int64_t firstChannel, int64_t channels)
      : data(buffer ? buffer + ((run.row * length + run.start) * stride + firstChannel) : buffer),
        stride(stride), channels(channels) {}

  HYBRID_INLINE_LAMBDA Vector<T> load(int64_t t) const {
    __builtin_prefetch((data + (t + ahead) * stride).place, 0, 2);
    return loadPart(data + t * stride, channels);
  }
  HYBRID_INLINE_LAMBDA void store(int64_t t, Vector<T> v) const {
    __builtin_prefetch((data + (t + ahead) * stride).place, 1, 2);
    storePart(data + t * stride, v, channels);
  }
};

/// x * gate, or x.
template <typename T> struct Gated {
  RunView<T> x, gate;
  bool hasGate;

  HYBRID_INLINE_LAMBDA Vector<T> operator()(int64_t t) const {
    return hasGate ? x.load(t) * gate.load(t) : x.load(t);
  }
};

/// The outermost stage of a real signal of `length` <= 2 size points, which `value` gives.
template <typename T, typename Value>
HYBRID_INLINE void loadSignal(T *data, int64_t size, Twiddles<T> table, int64_t length,
                              Value value) {
  auto padded = [&](int64_t t) HYBRID_INLINE_LAMBDA { return t < length ? value(t) : splat(T(0)); };
  if (length == size)
    firstStage<T>(data, size, table, value);
  else if (length < size)
    firstStage<T>(data, size, table, padded);
  else
    firstStage<T>(data, size, table, [&](int64_t t) HYBRID_INLINE_LAMBDA {
      return Complex<T>{padded(t), padded(t + size)};
    });
}

/// The last stage, of which `use(t, value)` takes the points t < length <= 2 size.
template <typename T, typename Use>
HYBRID_INLINE void takeSignal(const T *data, int64_t size, Twiddles<T> table, int64_t length,
                              Use use) {
  if (length == size)
    lastStage<T>(data, size, table,
                 [&](int64_t t, Complex<T> value) HYBRID_INLINE_LAMBDA { use(t, value.re); });
  else
    lastStage<T>(data, size, table, [&](int64_t t, Complex<T> value) HYBRID_INLINE_LAMBDA {
      if (t < length)
        use(t, value.re);
      if (t + size < length)
        use(t + size, value.im);
    });
}

/// The spectrum of the first `taps` taps over `size` points, in permuted order, for one block of
/// channels.
template <typename T>
HYBRID_NOINLINE void spectrumOf(const T *filter, int64_t taps, int64_t stride, int64_t channels,
                                int64_t size, Twiddles<T> table, T *spectrum) {
  T factor = T(1) / static_cast<T>(size), zero[lanes<T>] = {};
  loadSignal<T>(spectrum, size, table, taps,
                [&](int64_t t) { return loadPart<T>(filter + t * stride, channels) * factor; });
  transformParts<Action::Forward>(Signals<T>{spectrum, spectrum, spectrum, spectrum, false}, size,
                                  table, zero);
}

template <typename T>
HYBRID_INLINE void fftconv_spectrum(int64_t block, Buffers buffers, const FFTConvParams &params) {
  Twiddles<T> table(buffers[1], params.points);
  int64_t channel = block * lanes<T>;
  spectrumOf<T>(buffers.at<const T>(0) + channel, params.taps, params.channels,
                lanesAt<T>(channel, params.channels), params.points, table,
                buffers.at<T>(2) + block * params.points * 2 * lanes<T>);
}

/// What forward and backward know about a block of channels.
template <typename T> struct Block {
  const FFTConvParams &params;
  Buffers buffers;
  Twiddles<T> table;
  int64_t channel, channels;
  const T *wholeSpectrum;

  Block(const FFTConvParams &params, Buffers buffers, int64_t block)
      : params(params), buffers(buffers), table(buffers[2], params.points),
        channel(block * lanes<T>), channels(lanesAt<T>(channel, params.channels)),
        wholeSpectrum(buffers.at<const T>(1) + block * params.points * 2 * lanes<T>) {}

  /// The spectrum for a run, maybe computed into `own`.
  const T *spectrum(const Run &run, T *own) const {
    if (!params.hasSegments || run.size == params.points)
      return wholeSpectrum;
    spectrumOf<T>(buffers.at<const T>(7) + channel, run.taps, params.channels, channels, run.size,
                  table, own);
    return own;
  }
  /// What to add to the spectrum.
  Vector<T> skip(const Run &run) const {
    if (!params.hasSkip)
      return splat(T(0));
    return loadPart<T>(buffers.at<const T>(3) + channel, channels) *
           (T(1) / static_cast<T>(run.size));
  }
  RunView<T> view(const Run &run, int index, int64_t stride) const {
    return {activationAt<T>(buffers, index), run, params.length, stride, channel, channels};
  }
  Gated<T> input(const Run &run) const {
    return {view(run, 0, params.xStride), view(run, 4, params.gateInStride), params.hasGateIn != 0};
  }
};

template <typename T>
HYBRID_INLINE void fftconv_forward(int64_t item, Buffers buffers, const FFTConvParams &params) {
  T *data = buffers.scratch<T>(), *own = data + params.points * 2 * lanes<T>;
  Block<T> block(params, buffers, item / params.batch);
  int64_t row = item % params.batch;
  forEachRun(params, buffers[6], row, row + 1, [&](const Run &run) HYBRID_INLINE_LAMBDA {
    const T *spectrum = block.spectrum(run, own);
    T skip[lanes<T>];
    store<T>(skip, block.skip(run));
    loadSignal<T>(data, run.size, block.table, run.length, block.input(run));
    transformParts<Action::Convolve>(Signals<T>{data, data, spectrum, data, false}, run.size,
                                     block.table, skip);
    RunView<T> gate = block.view(run, 5, params.gateOutStride),
               y = block.view(run, 8, params.yStride);
    takeSignal<T>(data, run.size, block.table, run.length,
                  [&](int64_t t, Vector<T> value) HYBRID_INLINE_LAMBDA {
                    y.store(t, params.hasGateOut ? value * gate.load(t) : value);
                  });
  });
}

template <typename T>
HYBRID_INLINE void fftconv_backward(int64_t item, Buffers buffers, const FFTConvParams &params) {
  const int64_t region = params.points * 2 * lanes<T>;
  T *signal = buffers.scratch<T>(), *cotangent = signal + region;
  T *filterGradient = cotangent + region;
  // With segments only: the run's own spectrum, and the sum over the runs, in time.
  T *own = filterGradient + region, *sum = own + region;
  Block<T> block(params, buffers, item);
  // From the summed products of spectra to taps, which `use` takes.
  auto finishFilter = [&](int64_t size, int64_t taps, auto use) HYBRID_INLINE_LAMBDA {
    T zero[lanes<T>] = {}, factor = T(1) / static_cast<T>(size);
    transformParts<Action::Inverse>(
        Signals<T>{filterGradient, filterGradient, filterGradient, filterGradient, false}, size,
        block.table, zero);
    takeSignal<T>(filterGradient, size, block.table, taps,
                  [&](int64_t t, Vector<T> value) HYBRID_INLINE_LAMBDA { use(t, value * factor); });
  };
  T *dFilter = buffers.at<T>(10) + block.channel;
  auto writeTap = [&](int64_t t, Vector<T> value) HYBRID_INLINE_LAMBDA {
    storePart<T>(dFilter + t * params.channels, value, block.channels);
    if (params.hasSkip && t == 0 && buffers[11])
      storePart<T>(buffers.at<T>(11) + block.channel, value, block.channels);
  };
  for (int64_t t = 0; params.hasSegments && t < params.taps; ++t)
    store<T>(sum + t * lanes<T>, splat(T(0)));

  forEachRun(params, buffers[6], 0, params.batch, [&](const Run &run) HYBRID_INLINE_LAMBDA {
    const T *spectrum = block.spectrum(run, own);
    T skip[lanes<T>];
    store<T>(skip, block.skip(run));
    Gated<T> input = block.input(run);
    Gated<T> upstream{block.view(run, 8, params.yStride), block.view(run, 5, params.gateOutStride),
                      params.hasGateOut != 0};
    loadSignal<T>(signal, run.size, block.table, run.length, input);
    loadSignal<T>(cotangent, run.size, block.table, run.length, upstream);
    Signals<T> whole{signal, cotangent, spectrum, filterGradient,
                     !params.hasSegments && run.row > 0};
    if (params.hasGateOut)
      transformParts<Action::GradientAndS>(whole, run.size, block.table, skip);
    else
      transformParts<Action::Gradient>(whole, run.size, block.table, skip);
    const RunView<T> &x = input.x, &gateIn = input.gate, &dy = upstream.x;
    RunView<T> dx = block.view(run, 9, params.dxStride),
               dGateIn = block.view(run, 12, params.dGateInStride);
    takeSignal<T>(cotangent, run.size, block.table, run.length,
                  [&](int64_t t, Vector<T> value) HYBRID_INLINE_LAMBDA {
                    dx.store(t, params.hasGateIn ? value * gateIn.load(t) : value);
                    if (params.hasGateIn)
                      dGateIn.store(t, value * x.load(t));
                  });
    if (params.hasGateOut) {
      RunView<T> dGateOut = block.view(run, 13, params.dGateOutStride);
      takeSignal<T>(signal, run.size, block.table, run.length,
                    [&](int64_t t, Vector<T> value)
                        HYBRID_INLINE_LAMBDA { dGateOut.store(t, value * dy.load(t)); });
    }
    if (params.hasSegments)
      finishFilter(run.size, run.taps, [&](int64_t t, Vector<T> value) HYBRID_INLINE_LAMBDA {
        store<T>(sum + t * lanes<T>, load<T>(sum + t * lanes<T>) + value);
      });
  });

  if (params.hasSegments) {
    for (int64_t t = 0; t < params.taps; ++t)
      writeTap(t, load<T>(sum + t * lanes<T>));
  } else {
    finishFilter(params.points, params.taps, writeTap);
  }
}

} // namespace

HYBRID_KERNEL(fftconv_spectrum, FFTConvParams)
HYBRID_KERNEL(fftconv_forward, FFTConvParams)
HYBRID_KERNEL(fftconv_backward, FFTConvParams)
