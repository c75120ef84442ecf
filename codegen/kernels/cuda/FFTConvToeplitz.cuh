//===- FFTConvToeplitz.cuh - gated convolution of short sequences ------------===//
//
//   y = (conv(x * gateIn, h) + skip * (x * gateIn)) * gateOut
//
// of sequences so short that the product with the Toeplitz matrix of the filter, on matrix units,
// takes less time than its operands take from memory. A block takes 8 or 16 channels, a sector of
// memory, of 8 sequences at a time. For a channel Y[position, sequence] = T X, with T[t, s] = h[t -
// s]: in tiles of 16 x 16 and 16 x 8, without the tiles above the diagonal. T is never made: all
// tiles of a diagonal are equal, and a fragment is three words of the array (h[m], h[m - 1]) of
// pairs of bf16, two of them new on each diagonal.
//
// Activations are rounded to bf16, filters are the sum of two bf16 (what rounding leaves is the
// second): two products. The skip term is added to the first tap.
//
// Backward, with ds = dy * gateOut and w = x * gateIn: dw = T' ds, whose fragments are the same
// words with their halves exchanged, and dh[m] = sum over sequences and t of ds[t] w[t - m]. That
// is the sums of the diagonals of ds w', contracted over 8 sequences of two tiles of a diagonal at
// a time; a fragment's sums stay in registers for a block's whole part of the batch, and are added
// along diagonals at its end. The gradient of the skip term is that of the first tap.
//
// Where channels are aligned, a thread moves 4 at a time, and where it can a block has 16 channels:
// sectors of memory are whole then in bf16, too. With 8 an H200 took 135 us for the gradients of 8M
// values, for which it moved 400 MB between its L2 cache and multiprocessors.
//
// By count bound by memory, numbers are in FFTConvToeplitz.h; measured it is not: loading and
// multiplying take turns, as the warps of a multiprocessor do both at the same time. Convolutions
// as products with Toeplitz blocks: Ku et al. 2025 (StripedHyena 2). Operator: Poli et al. 2023,
// section 3.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/FFTConvToeplitz.h"
#include "codegen/kernels/cuda/FFT.cuh"

namespace hybrid::cuda {

/// A block's part of a convolution, and how a thread sees it.
template <ToeplitzConvParams P> struct ToeplitzBlock {
  static constexpr int length = static_cast<int>(P.length), tiles = static_cast<int>(panelTiles(P)),
                       panelSize = static_cast<int>(panelLength(P)),
                       panelCount = static_cast<int>(panels(P)),
                       padded = static_cast<int>(paddedLength(P)),
                       channels = static_cast<int>(P.lanes), rows = static_cast<int>(toeplitzRows),
                       signalStride = static_cast<int>(signalWords(P)),
                       resultStride = static_cast<int>(resultWords(P));
  static_assert(padded <= longestToeplitz && channels % static_cast<int>(toeplitzWidth(P)) == 0);

  uint32_t *filters, *signals;
  int64_t channel; // the first
  int64_t firstRow, endRow;

  HYBRID_DEVICE explicit ToeplitzBlock(int64_t item)
      : filters(sharedMemory<uint32_t>()), signals(filters + channels * filterStride(P)),
        channel(item % toeplitzGroups(P) * channels),
        firstRow(item / toeplitzGroups(P) * rowsOfSplit(P)),
        endRow(minimum(firstRow + rowsOfSplit(P), P.batch)) {}

  HYBRID_DEVICE bool hasChannel(int lane) const {
    return P.channels % channels == 0 || channel + lane < P.channels;
  }
  /// A channel's panels of signal `index`.
  HYBRID_DEVICE uint32_t *signal(int index, int lane) const {
    return signals + (index * channels + lane) * static_cast<int>(channelWords(P));
  }
  HYBRID_DEVICE static uint32_t *panel(uint32_t *signal, int index) {
    return signal + index * static_cast<int>(panelWords(P));
  }
  /// What convolve() leaves in place of a signal.
  HYBRID_DEVICE const float *result(int index, int lane) const {
    return reinterpret_cast<const float *>(signal(index, lane));
  }
  /// A channel's filter, at the pair of the first tap; its low parts are filterWords() on.
  HYBRID_DEVICE const uint32_t *filter(int lane) const {
    return filters + lane * static_cast<int>(filterStride(P)) + 16;
  }
  /// Channels of a thread where memory is read or written: neighbouring threads have neighbouring
  /// ones.
  static constexpr int width = static_cast<int>(toeplitzWidth(P)),
                       threadsOfPlace = channels / width;
  HYBRID_DEVICE static int threadChannel() {
    return static_cast<int>(threadIdx.x) % threadsOfPlace * width;
  }
  /// An activation at that channel, from sequence `sequence` on.
  template <typename T> struct Activation {
    using Channels = Pack<typename WithoutConst<T>::Type, width>;
    T *data;
    int stride; // 32 bits reach over 8 short sequences
    HYBRID_DEVICE T *at(int b, int t) const { return data + (b * length + t) * stride; }
    /// As it lies in memory; 0 where there is none. What turns it into a number waits for it, so
    /// loads that are to be under way together are all of these.
    HYBRID_DEVICE Channels stored(int b, int t, bool exists = true) const {
      if (exists)
        return loadPack<width>(at(b, t));
      return {};
    }
  };
  template <typename T>
  HYBRID_DEVICE Activation<T> activation(T *buffer, int64_t sequence, int64_t stride) const {
    return {buffer ? opaque(buffer) + sequence * length * stride + channel + threadChannel()
                   : nullptr,
            static_cast<int>(stride)};
  }

  template <int threads>
  HYBRID_DEVICE void loadFilter(const float *filter, const float *skip) const {
    const int lane = static_cast<int>(threadIdx.x) % channels;
    auto tap = [&](int m) {
      float h =
          m >= 0 && m < P.taps && hasChannel(lane) ? filter[m * P.channels + channel + lane] : 0.0f;
      if (P.hasSkip && m == 0 && hasChannel(lane))
        h += skip[channel + lane];
      return h;
    };
    uint32_t *to = filters + lane * static_cast<int>(filterStride(P));
    for (int i = static_cast<int>(threadIdx.x) / channels; i < filterWords(P);
         i += threads / channels) {
      const float first = tap(i - 16), second = tap(i - 17);
      const uint32_t high = packBf16(first, second);
      to[i] = high;
      to[filterWords(P) + i] =
          packBf16(first - fromBits(high << 16), second - fromBits(high & 0xffff0000u));
    }
  }

  /// body<atOnce>(columns, sequences) for `columns` columns of the 8 sequences of a step, of which
  /// a thread takes `atOnce` together, up to `most`: columns[i] of sequences[i].
  template <int threads, int most, int columns, typename Body>
  HYBRID_DEVICE static void forEachPlace(Body body) {
    constexpr int step = threads / threadsOfPlace, places = columns * rows,
                  each = (places + step - 1) / step, atOnce = each < most ? each : most;
    const int place = static_cast<int>(threadIdx.x) / threadsOfPlace;
    HYBRID_NO_UNROLL
    for (int first = 0; first < each; first += atOnce) {
      int column[atOnce], sequence[atOnce];
      HYBRID_UNROLL
      for (int k = 0; k < atOnce; ++k) {
        const int at = place + (first + k) * step;
        column[k] = at % columns, sequence[k] = at / columns; // rows: there is no such place
      }
      body.template operator()<atOnce>(column, sequence);
    }
  }

  /// value(operands(b, t), i) of channel i of a thread, of the 8 sequences from `sequence` on,
  /// becomes signal `index`. Loads of several sequences come before what is done with them.
  template <int threads, int most, typename Operands, typename Value>
  HYBRID_DEVICE void loadSignal(int index, int64_t sequence, Operands operands, Value value) const {
    const int count = hasChannel(threadChannel()) ? static_cast<int>(endRow - sequence) : 0;
    uint32_t *to = signal(index, threadChannel());
    forEachPlace<threads, most, padded / 2>(
        [&]<int atOnce>(const int (&column)[atOnce], const int (&b)[atOnce]) {
          decltype(operands(0, 0)) loaded[atOnce][2];
          HYBRID_UNROLL
          for (int k = 0; k < atOnce; ++k)
            HYBRID_UNROLL
          for (int odd = 0; odd < 2; ++odd)
            loaded[k][odd] = b[k] < count && 2 * column[k] + odd < length
                                 ? operands(b[k], 2 * column[k] + odd)
                                 : decltype(operands(0, 0)){};
          HYBRID_UNROLL
          for (int k = 0; k < atOnce; ++k) {
            if (b[k] >= rows)
              continue;
            uint32_t *words = panel(to, 2 * column[k] / panelSize) + column[k] % (panelSize / 2) +
                              b[k] * signalStride;
            HYBRID_UNROLL
            for (int i = 0; i < width; ++i)
              words[i * static_cast<int>(channelWords(P))] =
                  packBf16(value(loaded[k][0], i), value(loaded[k][1], i));
          }
        });
  }

  /// use(operands(b, t), b, t, place among results) for what the 8 sequences from `sequence` on
  /// have. The places of a thread's channels are channelWords() apart.
  template <int threads, int most, typename Operands, typename Use>
  HYBRID_DEVICE void forEachResult(int64_t sequence, Operands operands, Use use) const {
    const int count = hasChannel(threadChannel()) ? static_cast<int>(endRow - sequence) : 0;
    forEachPlace<threads, most, padded>(
        [&]<int atOnce>(const int (&t)[atOnce], const int (&b)[atOnce]) {
          decltype(operands(0, 0)) values[atOnce];
          HYBRID_UNROLL
          for (int k = 0; k < atOnce; ++k)
            if (b[k] < count && t[k] < length)
              values[k] = operands(b[k], t[k]);
          HYBRID_UNROLL
          for (int k = 0; k < atOnce; ++k)
            if (b[k] < count && t[k] < length)
              use(values[k], b[k], t[k],
                  t[k] / panelSize * static_cast<int>(panelWords(P)) + t[k] % panelSize +
                      b[k] * resultStride);
        });
  }

  /// A warp's sums += a panel of T, or of its transpose, times a panel of a signal; `apart`: panels
  /// between the two.
  template <bool transposed, bool same>
  HYBRID_DEVICE static void multiply(float (&sums)[tiles][4], const uint32_t *filter, int apart,
                                     const uint32_t *panel) {
    const int g = laneIndex() / 4, t = laneIndex() % 4;
    uint32_t signal[tiles][2];
    HYBRID_UNROLL
    for (int j = 0; j < tiles; ++j) {
      const uint32_t *at = panel + g * signalStride + j * 8 + t;
      signal[j][0] = at[0], signal[j][1] = at[4];
    }
    // T[s, t] of the transpose at columns t, t + 1 is (h[m], h[m + 1]): the pair of m + 1, turned.
    const uint32_t *pairs = filter + apart * panelSize + (transposed ? 2 * t - g + 1 : g - 2 * t);
    auto pairAt = [](const uint32_t *at) { return transposed ? *at << 16 | *at >> 16 : *at; };
    constexpr int first = same ? 0 : 1 - tiles;
    HYBRID_NO_UNROLL // low parts of the filter first, then high ones: both take registers
        for (int part = 1; part >= 0; --part) {
      const uint32_t *at = pairs + part * static_cast<int>(filterWords(P));
      uint32_t before = pairAt(at + 16 * first - 8);
      HYBRID_UNROLL
      for (int diagonal = first; diagonal < tiles; ++diagonal) {
        const uint32_t middle = pairAt(at + 16 * diagonal), after = pairAt(at + 16 * diagonal + 8);
        const uint32_t matrix[4] = {middle, transposed ? before : after,
                                    transposed ? after : before, middle};
        HYBRID_UNROLL
        for (int j = 0; j < tiles; ++j) {
          const int i = transposed ? j - diagonal : j + diagonal;
          if (i >= 0 && i < tiles)
            mmaBf16(sums[i], matrix, signal[j]);
        }
        before = after;
      }
    }
  }

  /// A warp's channel: its signal becomes T signal, or T' signal. Panels are taken in the order in
  /// which no later one needs the signal they replace.
  template <bool transposed>
  HYBRID_DEVICE void convolve(const uint32_t *filter, uint32_t *signal) const {
    // Panels further apart have no taps in common.
    constexpr int furthest = static_cast<int>((P.taps - 1 + panelSize - 1) / panelSize);
    const int g = laneIndex() / 4, t = laneIndex() % 4;
    HYBRID_NO_UNROLL
    for (int step = 0; step < panelCount; ++step) {
      const int i = transposed ? step : panelCount - 1 - step;
      float sums[tiles][4];
      HYBRID_UNROLL
      for (int tile = 0; tile < tiles; ++tile)
        HYBRID_UNROLL
      for (int k = 0; k < 4; ++k)
        sums[tile][k] = 0.0f;
      const int reach = minimum(furthest, transposed ? panelCount - 1 - i : i);
      HYBRID_NO_UNROLL
      for (int apart = reach; apart > 0; --apart)
        multiply<transposed, false>(sums, filter, apart,
                                    panel(signal, transposed ? i + apart : i - apart));
      multiply<transposed, true>(sums, filter, 0, panel(signal, i));
      warpBarrier(); // all lanes have read the panel
      auto *result = reinterpret_cast<float *>(panel(signal, i));
      HYBRID_UNROLL
      for (int tile = 0; tile < tiles; ++tile)
        HYBRID_UNROLL
      for (int k = 0; k < 4; ++k)
        result[(2 * t + k % 2) * resultStride + tile * 16 + g + k / 2 * 8] = sums[tile][k];
    }
  }
};

/// A thread's channels of an activation and its gate, as they lie in memory.
template <bool hasGate, typename X, typename Gate> struct GatedActivation {
  X x;
  Gate gate;

  HYBRID_DEVICE float product(int i) const {
    return hasGate ? number(x[i]) * number(gate[i]) : number(x[i]);
  }
};

/// loadSignal() of an activation with its gate.
template <bool hasGate, int threads, int most, typename Block, typename X, typename Gate>
HYBRID_DEVICE void loadGated(const Block &block, int index, int64_t sequence, const X &x,
                             const Gate &gate) {
  using Loaded = GatedActivation<hasGate, decltype(x.stored(0, 0)), decltype(gate.stored(0, 0))>;
  block.template loadSignal<threads, most>(
      index, sequence,
      [&](int b, int t) { return Loaded{x.stored(b, t), gate.stored(b, t, hasGate)}; },
      [](const Loaded &loaded, int i) { return loaded.product(i); });
}

/// Items: groups of channels fastest, so that lines of memory are read at a time; then splits.
template <typename T, ToeplitzConvParams P, typename X, typename GateIn, typename GateOut,
          typename Store>
HYBRID_DEVICE void toeplitzConvForward(int64_t item, X xBuffer, const float *filter,
                                       const float *skip, GateIn gateInBuffer,
                                       GateOut gateOutBuffer, Store y) {
  const auto write = asStore<P.yStride>(y);
  const auto *x = readable<float>(xBuffer);
  const auto *gateIn = readable<float>(gateInBuffer);
  const auto *gateOut = readable<float>(gateOutBuffer);
  using Block = ToeplitzBlock<P>;
  constexpr int threads = toeplitzThreads(P, false), apart = static_cast<int>(channelWords(P));
  constexpr int most = Block::width > 1 ? 2 : 4;
  const Block block(item);
  block.template loadFilter<threads>(filter, skip);
  HYBRID_NO_UNROLL
  for (int64_t sequence = block.firstRow; sequence < block.endRow; sequence += Block::rows) {
    const auto in = block.activation(x, sequence, P.xStride);
    const auto gate = block.activation(gateIn, sequence, P.gateInStride);
    const auto outGate = block.activation(gateOut, sequence, P.gateOutStride);
    loadGated<P.hasGateIn != 0, threads, most>(block, 0, sequence, in, gate);
    blockBarrier();
    block.template convolve<false>(block.filter(warpIndex()), block.signal(0, warpIndex()));
    blockBarrier();
    const float *result = block.result(0, Block::threadChannel());
    block.template forEachResult<threads, most>(
        sequence, [&](int b, int t) { return outGate.stored(b, t, P.hasGateOut != 0); },
        [&](const auto &factor, int b, int t, int place) {
          Pack<float, Block::width> values;
          HYBRID_UNROLL
          for (int i = 0; i < Block::width; ++i)
            values[i] = P.hasGateOut ? result[place + i * apart] * number(factor[i])
                                     : result[place + i * apart];
          storeNeighbours(write, (sequence + b) * P.length + t,
                          block.channel + Block::threadChannel(), values);
        });
    blockBarrier(); // before the next sequences are loaded
  }
}

/// A warp's sums of ds w' for the gradient of its channel's filter. Tile d: positions 16 d apart
/// and up to 15 more or less; row and column of fragment `column` stand for positions 2 g, 2 g + 1
/// (in the lower half) of ds and 2 n + column of w, so that words of two positions need no
/// exchange. column: of a warp's `count` columns from `first` on.
template <ToeplitzConvParams P> struct ToeplitzCorrelation {
  using Block = ToeplitzBlock<P>;
  static constexpr int tiles = Block::panelCount * Block::tiles, warps = toeplitzWarps(P, true),
                       count = 2 / warps,
                       // Tiles further apart have no tap.
      reached = static_cast<int>((P.taps + 14) / 16) + 1,
                       diagonals = reached < tiles ? reached : tiles;

  float sums[diagonals][count][4];

  HYBRID_DEVICE void clear() {
    HYBRID_UNROLL
    for (int d = 0; d < diagonals; ++d)
      HYBRID_UNROLL
    for (int column = 0; column < count; ++column)
      HYBRID_UNROLL
    for (int k = 0; k < 4; ++k)
      sums[d][column][k] = 0.0f;
  }

  /// Of tile `tile` of a signal, at the even or odd positions, the values of two sequences.
  struct Pairs {
    uint32_t even, odd;

    HYBRID_DEVICE Pairs(uint32_t *signal, int tile) {
      const int g = laneIndex() / 4, t = laneIndex() % 4;
      const uint32_t *at = Block::panel(signal, tile / Block::tiles) + 2 * t * Block::signalStride +
                           tile % Block::tiles * 8 + g;
      const bool exists = tile < tiles;
      const uint32_t first = exists ? at[0] : 0, second = exists ? at[Block::signalStride] : 0;
      even = (first & 0xffffu) | second << 16;
      odd = first >> 16 | (second & 0xffff0000u);
    }
  };

  HYBRID_DEVICE void add(uint32_t *cotangent, uint32_t *signal, int firstColumn) {
    HYBRID_NO_UNROLL
    for (int j = 0; j < tiles; j += 2) {
      uint32_t right[count][2];
      const Pairs lower(signal, j), upper(signal, j + 1);
      HYBRID_UNROLL
      for (int column = 0; column < count; ++column) {
        const bool odd = column + firstColumn == 1;
        right[column][0] = odd ? lower.odd : lower.even;
        right[column][1] = odd ? upper.odd : upper.even;
      }
      Pairs here(cotangent, j);
      HYBRID_UNROLL
      for (int d = 0; d < diagonals; ++d) {
        if (j + d >= tiles)
          continue;
        const Pairs next(cotangent, j + d + 1);
        const uint32_t left[4] = {here.even, here.odd, next.even, next.odd};
        HYBRID_UNROLL
        for (int column = 0; column < count; ++column)
          mmaBf16(sums[d][column], left, right[column]);
        here = next;
      }
    }
  }

  /// Adds along diagonals: to[32 d + 15 + m] is the sum of tile d's products 16 d + m apart. All
  /// lanes call it; scratch is of 128 values.
  HYBRID_DEVICE void store(float *to, float *scratch, int firstColumn) const {
    const int g = laneIndex() / 4, t = laneIndex() % 4, lane = laneIndex();
    HYBRID_UNROLL
    for (int d = 0; d < diagonals; ++d) {
      float sum = 0.0f;
      HYBRID_UNROLL
      for (int column = 0; column < count; ++column) {
        HYBRID_UNROLL
        for (int k = 0; k < 4; ++k)
          scratch[(2 * g + k / 2) * 8 + 2 * t + k % 2] = sums[d][column][k];
        warpBarrier();
        HYBRID_UNROLL
        for (int n = 0; n < 8; ++n) {
          const int row = lane - 15 + 2 * n + column + firstColumn;
          if (row >= 0 && row < 16)
            sum += scratch[row * 8 + n];
        }
        warpBarrier();
      }
      to[32 * d + lane] = sum;
    }
  }
};

/// dPartial: [splits, taps, channels]. Few loads of a buffer at a time: with more the compiler
/// takes more than 128 registers, and a multiprocessor has no second block. Items: groups of
/// channels fastest, then splits.
template <typename T, ToeplitzConvParams P, typename X, typename GateIn, typename GateOut,
          typename Dy, typename Dx, typename DGateIn, typename DGateOut>
HYBRID_DEVICE void
toeplitzConvBackward(int64_t item, X xBuffer, const float *filter, const float *skip,
                     GateIn gateInBuffer, GateOut gateOutBuffer, Dy dyBuffer, Dx dxBuffer,
                     float *dPartial, DGateIn dGateInBuffer, DGateOut dGateOutBuffer) {
  const auto *x = readable<float>(xBuffer);
  const auto *gateIn = readable<float>(gateInBuffer);
  const auto *gateOut = readable<float>(gateOutBuffer);
  const auto *dy = readable<float>(dyBuffer);
  auto *dx = writable<float>(dxBuffer);
  auto *dGateIn = writable<float>(dGateInBuffer);
  auto *dGateOut = writable<float>(dGateOutBuffer);
  using Block = ToeplitzBlock<P>;
  using Correlation = ToeplitzCorrelation<P>;
  constexpr int threads = toeplitzThreads(P, true), warps = Correlation::warps,
                apart = static_cast<int>(channelWords(P)), most = warps > 1 ? 1 : 2;
  const Block block(item);
  block.template loadFilter<threads>(filter, skip);
  const int channel = warpIndex() % Block::channels, warp = warpIndex() / Block::channels;
  uint32_t *signal = block.signal(0, channel), *cotangent = block.signal(1, channel);
  Correlation correlation;
  correlation.clear();
  HYBRID_NO_UNROLL
  for (int64_t sequence = block.firstRow; sequence < block.endRow; sequence += Block::rows) {
    const auto in = block.activation(x, sequence, P.xStride);
    const auto gate = block.activation(gateIn, sequence, P.gateInStride);
    const auto outGate = block.activation(gateOut, sequence, P.gateOutStride);
    const auto upstream = block.activation(dy, sequence, P.yStride);
    loadGated<P.hasGateIn != 0, threads, most>(block, 0, sequence, in, gate);
    loadGated<P.hasGateOut != 0, threads, most>(block, 1, sequence, upstream, outGate);
    blockBarrier();
    correlation.add(cotangent, signal, warp);
    blockBarrier(); // both warps of a channel have read its signals
    if (P.hasGateOut && warp == 0)
      block.template convolve<false>(block.filter(channel), signal);
    if (warp == warps - 1)
      block.template convolve<true>(block.filter(channel), cotangent);
    blockBarrier();
    // Anew: kept through the products they would take the registers of a second block.
    const auto inAgain = block.activation(x, sequence, P.xStride);
    const auto gateAgain = block.activation(gateIn, sequence, P.gateInStride);
    const auto upstreamAgain = block.activation(dy, sequence, P.yStride);
    const auto dIn = block.activation(dx, sequence, P.dxStride);
    const auto dGate = block.activation(dGateIn, sequence, P.dGateInStride);
    const auto dOutGate = block.activation(dGateOut, sequence, P.dGateOutStride);
    const float *dw = block.result(1, Block::threadChannel()),
                *ungated = block.result(0, Block::threadChannel());
    struct Operands {
      Pack<ElementOf<float, X>, Block::width> x;
      Pack<ElementOf<float, GateIn>, Block::width> gate;
      Pack<ElementOf<float, Dy>, Block::width> dy;
    };
    block.template forEachResult<threads, most>(
        sequence,
        [&](int b, int t) {
          return Operands{inAgain.stored(b, t, P.hasGateIn != 0),
                          gateAgain.stored(b, t, P.hasGateIn != 0),
                          upstreamAgain.stored(b, t, P.hasGateOut != 0)};
        },
        [&](const Operands &o, int b, int t, int place) {
          auto write = [&]<typename To>(const To &to, auto value) {
            typename To::Channels values;
            HYBRID_UNROLL
            for (int i = 0; i < Block::width; ++i)
              put(values[i], value(i));
            storeGlobal(to.at(b, t), values);
          };
          if constexpr (P.hasGateOut != 0)
            write(dOutGate, [&](int i) { return ungated[place + i * apart] * number(o.dy[i]); });
          if constexpr (P.hasGateIn != 0)
            write(dGate, [&](int i) { return dw[place + i * apart] * number(o.x[i]); });
          write(dIn, [&](int i) {
            return P.hasGateIn ? dw[place + i * apart] * number(o.gate[i]) : dw[place + i * apart];
          });
        });
    blockBarrier(); // before the next sequences are loaded
  }

  // A warp's sums along diagonals, in the place of a signal of its own.
  float *sums = reinterpret_cast<float *>(block.signal(warp, channel));
  correlation.store(sums, sums + 32 * Correlation::diagonals, warp);
  blockBarrier();
  const int lane = static_cast<int>(threadIdx.x) % Block::channels;
  float *out = dPartial + item / toeplitzGroups(P) * P.taps * P.channels + block.channel + lane;
  for (int m = static_cast<int>(threadIdx.x) / Block::channels; m < P.taps;
       m += threads / Block::channels) {
    const int d = m / 16, apart = m % 16;
    float sum = 0.0f;
    HYBRID_UNROLL
    for (int part = 0; part < warps; ++part) {
      const auto *of = reinterpret_cast<const float *>(block.signal(part, lane));
      sum += of[32 * d + 15 + apart];
      if (apart > 0 && d + 1 < Correlation::diagonals)
        sum += of[32 * (d + 1) + apart - 1];
    }
    if (block.hasChannel(lane))
      out[m * P.channels] = sum;
  }
}

} // namespace hybrid::cuda
