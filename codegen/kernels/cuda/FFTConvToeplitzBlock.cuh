//===- FFTConvToeplitzBlock.cuh - a block's part of such a convolution -------===//
//
// What kernels of short sequences (FFTConvToeplitz.cuh) are made of: a block's shared memory, how
// threads move activations there and back, and the product with a filter's Toeplitz matrix.
//
// An operand that is a short convolution's result, which is in memory nowhere, is made of its
// input: a thread loads the positions in front of those that it has, too, and rounds what it
// computes as it would be stored.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/FFTConvToeplitz.h"
#include "codegen/kernels/cuda/FFT.cuh"

namespace hybrid::cuda {

/// A thread's channels at a position as they lie in memory. What turns one into a number waits for
/// it, so loads that are to be under way together are all of these.
template <typename T, int width> struct ToeplitzRow {
  Pack<T, width> channels;

  HYBRID_DEVICE void load(const T *from) { channels = loadPack<width>(from); }
  HYBRID_DEVICE float operator[](int i) const { return number(channels[i]); }
  template <typename Value> HYBRID_DEVICE static void store(T *to, Value value) {
    Pack<T, width> values;
    HYBRID_UNROLL
    for (int i = 0; i < width; ++i)
      put(values[i], value(i));
    storeGlobal(to, values);
  }
};
/// Of bf16 in words: halves of them, one by one, would be cut out and then widened.
template <int width>
  requires(width % 2 == 0)
struct ToeplitzRow<bf16, width> {
  Pack<uint32_t, width / 2> words;

  HYBRID_DEVICE void load(const bf16 *from) {
    words = loadPack<width / 2>(reinterpret_cast<const uint32_t *>(from));
  }
  HYBRID_DEVICE float operator[](int i) const {
    return fromBits(i % 2 == 0 ? words[i / 2] << 16 : words[i / 2] & 0xffff0000u);
  }
  template <typename Value> HYBRID_DEVICE static void store(bf16 *to, Value value) {
    uint32_t values[width / 2];
    HYBRID_UNROLL
    for (int i = 0; i < width; i += 2)
      values[i / 2] = packBf16(value(i), value(i + 1));
    storeWords(to, values);
  }
};

/// A block's part of a convolution, and how a thread sees it.
template <ToeplitzConvParams P> struct ToeplitzBlock {
  static constexpr int length = static_cast<int>(P.length), tiles = static_cast<int>(panelTiles(P)),
                       panelSize = static_cast<int>(panelLength(P)),
                       panelCount = static_cast<int>(panels(P)),
                       padded = static_cast<int>(paddedLength(P)),
                       channels = static_cast<int>(P.lanes), rows = static_cast<int>(toeplitzRows),
                       signalStride = static_cast<int>(signalWords(P)),
                       resultStride = static_cast<int>(resultWords(P));
  /// Channels of a thread where memory is read or written: neighbouring threads have neighbouring
  /// ones, which are `apart` words from each other as signals.
  static constexpr int width = static_cast<int>(toeplitzWidth(P)),
                       threadsOfPlace = static_cast<int>(toeplitzThreadsOfPlace(P)),
                       apart = threadsOfPlace * static_cast<int>(channelWords(P));
  static_assert(padded <= longestToeplitz && channels % width == 0);

  uint32_t *filters, *signals;
  int channel; // the first
  int64_t firstRow, endRow;

  HYBRID_DEVICE explicit ToeplitzBlock(int64_t item)
      : filters(sharedMemory<uint32_t>()), signals(filters + channels * filterStride(P)),
        channel(static_cast<int>(item % toeplitzGroups(P)) * channels),
        firstRow(item / toeplitzGroups(P) * rowsOfSplit(P)),
        endRow(minimum(firstRow + rowsOfSplit(P), P.batch)) {}

  HYBRID_DEVICE bool hasChannel(int lane) const {
    return P.channels % channels == 0 || channel + lane < P.channels;
  }
  /// Channels lie in another order, channelWords() says why: where one is, and which is there.
  static constexpr int slotOf(int lane) { return lane % width * threadsOfPlace + lane / width; }
  static constexpr int channelAt(int slot) {
    return slot % threadsOfPlace * width + slot / threadsOfPlace;
  }
  /// A channel's panels of signal `index`.
  HYBRID_DEVICE uint32_t *signal(int index, int slot) const {
    return signals + (index * channels + slot) * static_cast<int>(channelWords(P));
  }
  HYBRID_DEVICE static uint32_t *panel(uint32_t *signal, int index) {
    return signal + index * static_cast<int>(panelWords(P));
  }
  /// What convolve() leaves in place of a signal.
  HYBRID_DEVICE const float *result(int index, int slot) const {
    return reinterpret_cast<const float *>(signal(index, slot));
  }
  /// A channel's filter, at the pair of the first tap; its low parts are filterWords() on.
  HYBRID_DEVICE const uint32_t *filter(int lane) const {
    return filters + lane * static_cast<int>(filterStride(P)) + static_cast<int>(toeplitzFront);
  }
  HYBRID_DEVICE static int threadSlot() { return static_cast<int>(threadIdx.x) % threadsOfPlace; }
  HYBRID_DEVICE static int threadChannel() { return threadSlot() * width; }
  static constexpr bool isPosition(int t) { return padded == length || t < length; }
  /// Whether all sequences of a step are there, with all channels.
  static constexpr bool isWhole = P.batch % rows == 0 && P.channels % channels == 0;

  /// An activation at that channel, from sequence `sequence` on.
  template <typename T> struct Activation {
    static constexpr bool isShort = false;
    using Channels = ToeplitzRow<typename WithoutConst<T>::Type, width>;
    /// Neighbouring positions.
    template <int span> struct Positions {
      Channels rows[span];
    };
    T *data;
    int stride; // 32 bits reach over 8 short sequences

    HYBRID_DEVICE T *at(int b, int t) const { return data + (b * length + t) * stride; }
    HYBRID_DEVICE Channels row(int b, int t, bool exists) const {
      Channels row{};
      if (exists && isPosition(t))
        row.load(at(b, t));
      return row;
    }
    /// `span` of them from t on; 0 where there are none.
    template <int span>
    HYBRID_DEVICE void load(Positions<span> &to, int b, int t, bool exists = true) const {
      HYBRID_UNROLL
      for (int p = 0; p < span; ++p)
        to.rows[p] = row(b, t + p, exists);
    }
    /// Of channel i of a thread.
    template <int span>
    HYBRID_DEVICE void numbers(const Positions<span> &from, int i, float (&to)[span]) const {
      HYBRID_UNROLL
      for (int p = 0; p < span; ++p)
        to[p] = from.rows[p][i];
    }
  };
  template <typename T>
  HYBRID_DEVICE Activation<T> activation(T *buffer, int64_t sequence, int64_t stride,
                                         int first) const {
    return {buffer ? opaque(buffer) + sequence * length * stride + first : nullptr,
            static_cast<int>(stride)};
  }
  template <typename T>
  HYBRID_DEVICE Activation<T> activation(T *buffer, int64_t sequence, int64_t stride) const {
    return activation(buffer, sequence, stride, channel + threadChannel());
  }

  /// A result of the short convolution whose input `input` is: rounded to bf16, as it would lie in
  /// memory.
  template <typename T> struct ConvolvedActivation {
    static constexpr bool isShort = true;
    static constexpr int taps = static_cast<int>(P.shortTaps), before = taps - 1;
    static_assert(taps > 0 && taps <= mostShortTaps);
    template <int span> struct Positions {
      typename Activation<T>::Channels rows[before + span];
    };
    Activation<T> input;
    const float *coefficients; // of the thread's first channel

    template <int span>
    HYBRID_DEVICE void load(Positions<span> &to, int b, int t, bool exists = true) const {
      static_assert(before <= span); // t is a multiple of it
      HYBRID_UNROLL
      for (int p = 0; p < before + span; ++p)
        to.rows[p] = input.row(b, t - before + p, exists && (p >= before || t > 0));
    }
    template <int span>
    HYBRID_DEVICE void numbers(const Positions<span> &from, int i, float (&to)[span]) const {
      static_assert(span % 2 == 0);
      const auto of = loadPack<4>(coefficients + i * apart);
      HYBRID_UNROLL
      for (int p = 0; p < span; ++p) {
        to[p] = of[3];
        HYBRID_UNROLL
        for (int j = 0; j < taps; ++j)
          to[p] = multiplyAdd(of[j], from.rows[p + j][i], to[p]);
      }
      HYBRID_UNROLL
      for (int p = 0; p < span; p += 2) {
        const uint32_t rounded = packBf16(to[p], to[p + 1]);
        to[p] = fromBits(rounded << 16), to[p + 1] = fromBits(rounded & 0xffff0000u);
      }
    }
  };
  /// Taps and bias of a channel of operand `index`, four words that neither signals nor results
  /// take: behind the last rows of the first panel's results.
  HYBRID_DEVICE float *coefficients(int index, int slot) const {
    constexpr int free = panelSize + (rows - 3) * resultStride;
    static_assert(free >= rows * signalStride && resultStride >= panelSize + 4 &&
                  mostShortTaps == 3);
    return reinterpret_cast<float *>(signal(0, slot)) + free + index * resultStride;
  }
  /// Operand `index` from sequence `sequence` on.
  template <int index, typename T> HYBRID_DEVICE auto operand(T *buffer, int64_t sequence) const {
    constexpr ToeplitzOperand of = toeplitzOperand(P, index);
    if constexpr (of.isShort != 0) {
      // Anew for each step: registers are needed for other things in between.
      int first = inRegister(static_cast<int>(of.channel) + channel + threadChannel());
      if constexpr (P.repeats > 0)
        first %= static_cast<int>(P.repeats);
      return ConvolvedActivation<T>{activation(buffer, sequence, of.stride, first),
                                    coefficients(index, threadSlot())};
    } else {
      return activation(buffer, sequence, of.stride);
    }
  }

  /// The filter, and what makes a short convolution's results. All loads are under way together.
  template <int threads>
  HYBRID_DEVICE void loadFilter(const float *filter, const float *skip, const float *shortWeight,
                                const float *shortBias) const {
    constexpr int step = threads / channels, words = static_cast<int>(filterWords(P)),
                  each = (words + step - 1) / step, front = static_cast<int>(toeplitzFront);
    const int lane = static_cast<int>(threadIdx.x) % channels,
              place = static_cast<int>(threadIdx.x) / channels;
    const bool isThere = hasChannel(lane);
    auto tap = [&](int m) {
      return m >= 0 && m < P.taps && isThere ? filter[m * P.channels + channel + lane] : 0.0f;
    };
    float first[each], second[each];
    HYBRID_UNROLL
    for (int k = 0; k < each; ++k)
      first[k] = tap(place + k * step - front), second[k] = tap(place + k * step - front - 1);
    const float ofFirst = P.hasSkip && isThere ? skip[channel + lane] : 0.0f;
    if constexpr (P.shortTaps > 0)
      if (const ToeplitzOperand operand = toeplitzOperand(P, place);
          place < 3 && operand.isShort && isThere) {
        const int64_t of = operand.channel + channel + lane;
        Pack<float, 4> values{};
        HYBRID_UNROLL
        for (int64_t j = 0; j < P.shortTaps; ++j)
          values[static_cast<int>(j)] = shortWeight[of * P.shortTaps + j];
        if constexpr (P.hasShortBias != 0)
          values[3] = shortBias[of];
        storePack(coefficients(place, slotOf(lane)), values);
      }
    uint32_t *to = filters + lane * static_cast<int>(filterStride(P));
    HYBRID_UNROLL
    for (int k = 0; k < each; ++k) {
      const int i = place + k * step;
      if (i >= words)
        break;
      if (i == front)
        first[k] += ofFirst;
      if (i == front + 1)
        second[k] += ofFirst;
      const uint32_t high = packBf16(first[k], second[k]);
      to[i] = high;
      to[words + i] =
          packBf16(first[k] - fromBits(high << 16), second[k] - fromBits(high & 0xffff0000u));
    }
  }

  /// body<atOnce>(columns, sequences), from the last places on if `backwards`, for `columns`
  /// columns of the 8 sequences of a step, of which a thread takes `atOnce` together, up to `most`:
  /// columns[i] of sequences[i].
  template <int threads, int most, int columns, bool backwards, typename Body>
  HYBRID_DEVICE static void forEachPlace(Body body) {
    constexpr int step = threads / threadsOfPlace, places = columns * rows,
                  each = (places + step - 1) / step, atOnce = each < most ? each : most,
                  last = (each + atOnce - 1) / atOnce * atOnce - 1;
    const auto place =
        static_cast<unsigned>(inRegister(static_cast<int>(threadIdx.x / threadsOfPlace)));
    HYBRID_NO_UNROLL
    for (int first = 0; first < each; first += atOnce) {
      int column[atOnce], sequence[atOnce];
      HYBRID_UNROLL
      for (int k = 0; k < atOnce; ++k) {
        const int number = backwards ? last - first - k : first + k;
        const unsigned at = place + static_cast<unsigned>(number * step);
        column[k] = static_cast<int>(at % columns);
        sequence[k] = static_cast<int>(at / columns);
      }
      body.template operator()<atOnce>(column, sequence);
    }
  }

  /// Whether a place of it is one of the 8 sequences, and of the `count` that there are.
  template <int threads, int columns, int atOnce> HYBRID_DEVICE static bool isPlace(int sequence) {
    return columns * rows % (threads / threadsOfPlace * atOnce) == 0 || sequence < rows;
  }
  template <int threads, int columns, int atOnce>
  HYBRID_DEVICE static bool exists(int sequence, int count) {
    return isPlace<threads, columns, atOnce>(sequence) && (isWhole || sequence < count);
  }

  /// Of the 8 sequences from `sequence` on x, times a gate if there is one, becomes signal `index`:
  /// of a short convolution's results 4 positions at a time, which share what lies in front of
  /// them. Loads of several places come before what is done with them.
  template <bool hasGate, int threads, int most, typename X, typename Gate>
  HYBRID_DEVICE void loadSignal(int index, int64_t sequence, const X &x, const Gate &gate) const {
    constexpr bool isShort = X::isShort || (hasGate && Gate::isShort);
    constexpr int span = isShort ? 4 : 2, together = isShort && most > 1 ? most / 2 : most,
                  columns = padded / span;
    const int count = hasChannel(threadChannel()) ? static_cast<int>(endRow - sequence) : 0;
    uint32_t *to = signal(index, threadSlot());
    forEachPlace<threads, together, columns, false>(
        [&]<int atOnce>(const int (&column)[atOnce], const int (&b)[atOnce]) {
          typename X::template Positions<span> values[atOnce];
          typename Gate::template Positions<span> gates[atOnce];
          HYBRID_UNROLL
          for (int k = 0; k < atOnce; ++k) {
            const bool isThere = exists<threads, columns, atOnce>(b[k], count);
            x.load(values[k], b[k], span * column[k], isThere);
            gate.load(gates[k], b[k], span * column[k], hasGate && isThere);
          }
          HYBRID_UNROLL
          for (int k = 0; k < atOnce; ++k) {
            if (!isPlace<threads, columns, atOnce>(b[k]))
              continue;
            const int t = span * column[k];
            uint32_t *words = panel(to, t / panelSize) + t % panelSize / 2 + b[k] * signalStride;
            HYBRID_UNROLL
            for (int i = 0; i < width; ++i) {
              float product[span];
              x.numbers(values[k], i, product);
              if constexpr (hasGate) {
                float factor[span];
                gate.numbers(gates[k], i, factor);
                HYBRID_UNROLL
                for (int p = 0; p < span; ++p)
                  product[p] *= factor[p];
              }
              if constexpr (isShort && !(isWhole && padded == length)) // else there is a bias
                HYBRID_UNROLL
              for (int p = 0; p < span; ++p)
                if (!exists<threads, columns, atOnce>(b[k], count) || !isPosition(t + p))
                  product[p] = 0.0f;
              Pack<uint32_t, span / 2> packed;
              HYBRID_UNROLL
              for (int p = 0; p < span; p += 2)
                packed[p / 2] = packBf16(product[p], product[p + 1]);
              storePack(words + i * apart, packed);
            }
          }
        });
  }

  /// use(operands, b, t, place among results) for `span` positions from t on of what the 8
  /// sequences from `sequence` on have, behind load(operands, b, t), the last first: what
  /// loadSignal() read last, and may be an operand here, is still in the L1 cache. The places of a
  /// thread's channels are channelWords() apart.
  template <int span, int threads, int most, typename Operands, typename Load, typename Use>
  HYBRID_DEVICE void forEachResult(int64_t sequence, Load load, Use use) const {
    const int count = hasChannel(threadChannel()) ? static_cast<int>(endRow - sequence) : 0;
    forEachPlace<threads, most, padded / span, true>(
        [&]<int atOnce>(const int (&column)[atOnce], const int (&b)[atOnce]) {
          Operands values[atOnce];
          HYBRID_UNROLL
          for (int k = 0; k < atOnce; ++k)
            if (exists<threads, padded / span, atOnce>(b[k], count) && isPosition(span * column[k]))
              load(values[k], b[k], span * column[k]);
          HYBRID_UNROLL
          for (int k = 0; k < atOnce; ++k)
            if (const int t = span * column[k];
                exists<threads, padded / span, atOnce>(b[k], count) && isPosition(t))
              use(values[k], b[k], t,
                  t / panelSize * static_cast<int>(panelWords(P)) + t % panelSize +
                      b[k] * resultStride);
        });
  }

  /// A warp's sums += a panel of T, or of its transpose, times a panel of a signal; `apart`: panels
  /// between the two.
  template <bool transposed, bool same>
  HYBRID_DEVICE static void multiply(float (&sums)[tiles][4], const uint32_t *filter, int apart,
                                     const uint32_t *panel, int lane) {
    const int g = lane / 4, t = lane % 4;
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
    // Anew in each call: kept between the steps of a block, it would take registers.
    const int lane = inRegister(laneIndex()), g = lane / 4, t = lane % 4;
    HYBRID_UNROLL
    for (int step = 0; step < panelCount; ++step) {
      const int i = transposed ? step : panelCount - 1 - step;
      float sums[tiles][4];
      HYBRID_UNROLL
      for (int tile = 0; tile < tiles; ++tile)
        HYBRID_UNROLL
      for (int k = 0; k < 4; ++k)
        sums[tile][k] = 0.0f;
      const int reach = minimum(furthest, transposed ? panelCount - 1 - i : i);
      HYBRID_UNROLL
      for (int apart = reach; apart > 0; --apart)
        multiply<transposed, false>(sums, filter, apart,
                                    panel(signal, transposed ? i + apart : i - apart), lane);
      multiply<transposed, true>(sums, filter, 0, panel(signal, i), lane);
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

} // namespace hybrid::cuda
