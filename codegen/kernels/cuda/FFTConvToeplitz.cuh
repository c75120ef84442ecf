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
// sectors of memory are whole then in bf16, too.
//
// Lines that L2 gives out are half of what the gradient takes; units and waits, which warps take in
// turns with them, the rest (docs/decisions/046). Convolutions as products with Toeplitz blocks: Ku
// et al. 2025 (StripedHyena 2). Operator: Poli et al. 2023, section 3.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/FFTConvToeplitzBlock.cuh"

namespace hybrid::cuda {

/// Items: groups of channels fastest, so that lines of memory are read at a time; then splits.
template <typename T, ToeplitzConvParams P, typename X, typename GateIn, typename GateOut,
          typename Store>
HYBRID_DEVICE void toeplitzConvForward(int64_t item, X xBuffer, const float *filter,
                                       const float *skip, GateIn gateInBuffer,
                                       GateOut gateOutBuffer, const float *shortWeight,
                                       const float *shortBias, Store y) {
  const auto write = asStore<P.yStride>(y);
  const auto *x = readable<float>(xBuffer);
  const auto *gateIn = readable<float>(gateInBuffer);
  const auto *gateOut = readable<float>(gateOutBuffer);
  using Block = ToeplitzBlock<P>;
  constexpr int threads = toeplitzThreads(P, false);
  constexpr int most = Block::width > 1 ? 2 : 4;
  const Block block(item);
  block.template loadFilter<threads>(filter, skip, shortWeight, shortBias);
  if constexpr (P.shortTaps > 0)
    blockBarrier();
  HYBRID_NO_UNROLL
  for (int64_t step = 0; step < rowsOfSplit(P) / Block::rows; ++step) {
    const int64_t sequence = block.firstRow + step * Block::rows;
    if (P.batch % rowsOfSplit(P) != 0 && sequence >= block.endRow)
      break;
    const auto in = block.template operand<0>(x, sequence);
    const auto gate = block.template operand<1>(gateIn, sequence);
    const auto outGate = block.template operand<2>(gateOut, sequence);
    block.template loadSignal<P.hasGateIn != 0, threads, most>(0, sequence, in, gate);
    blockBarrier();
    block.template convolve<false>(block.filter(Block::channelAt(warpIndex())),
                                   block.signal(0, warpIndex()));
    blockBarrier();
    const float *result = block.result(0, Block::threadSlot());
    using OutGate = decltype(outGate);
    constexpr int span = OutGate::isShort ? 4 : 1;
    using Positions = typename OutGate::template Positions<span>;
    block.template forEachResult<span, threads, span == 1 ? most : 1, Positions>(
        sequence,
        [&](Positions &factors, int b, int t) {
          if constexpr (P.hasGateOut != 0)
            outGate.load(factors, b, t);
        },
        [&](const Positions &factors, int b, int t, int place) {
          Pack<float, Block::width> values[span];
          HYBRID_UNROLL
          for (int i = 0; i < Block::width; ++i) {
            const auto results = loadPack<span>(result + place + i * Block::apart);
            float factor[span];
            if constexpr (P.hasGateOut != 0)
              outGate.numbers(factors, i, factor);
            HYBRID_UNROLL
            for (int p = 0; p < span; ++p)
              values[p][i] = P.hasGateOut ? results[p] * factor[p] : results[p];
          }
          HYBRID_UNROLL
          for (int p = 0; p < span; ++p)
            if (Block::isPosition(t + p))
              storeNeighbours(write, (sequence + b) * P.length + t + p,
                              block.channel + Block::threadChannel(), values[p]);
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
      even = lowerHalves(first, second), odd = upperHalves(first, second);
    }
  };

  HYBRID_DEVICE void add(uint32_t *cotangent, uint32_t *signal, int firstColumn) {
    HYBRID_UNROLL
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
  /// lanes call it; scratch is of toeplitzScratch values.
  HYBRID_DEVICE void store(float *to, float *scratch, int firstColumn) const {
    constexpr int stride = static_cast<int>(toeplitzScratch) / 16;
    const int g = laneIndex() / 4, t = laneIndex() % 4, lane = laneIndex();
    HYBRID_UNROLL
    for (int d = 0; d < diagonals; ++d) {
      float sum = 0.0f;
      HYBRID_UNROLL
      for (int column = 0; column < count; ++column) {
        HYBRID_UNROLL
        for (int k = 0; k < 4; ++k)
          scratch[(2 * g + k / 2) * stride + 2 * t + k % 2] = sums[d][column][k];
        warpBarrier();
        HYBRID_UNROLL
        for (int n = 0; n < 8; ++n) {
          const int row = lane - 15 + 2 * n + column + firstColumn;
          if (row >= 0 && row < 16)
            sum += scratch[row * stride + n];
        }
        warpBarrier();
      }
      to[32 * d + lane] = sum;
    }
  }
};

/// dPartial: [splits, taps, channels]. Few loads of a buffer at a time: with more the compiler
/// takes more than the 128 registers that 512 threads have each, and spills. Items: groups of
/// channels fastest, then splits.
template <typename T, ToeplitzConvParams P, typename X, typename GateIn, typename GateOut,
          typename Dy, typename Dx, typename DGateIn, typename DGateOut>
HYBRID_DEVICE void
toeplitzConvBackward(int64_t item, X xBuffer, const float *filter, const float *skip,
                     GateIn gateInBuffer, GateOut gateOutBuffer, const float *shortWeight,
                     const float *shortBias, Dy dyBuffer, Dx dxBuffer, float *dPartial,
                     DGateIn dGateInBuffer, DGateOut dGateOutBuffer) {
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
                most = warps > 1 ? 1 : 2;
  const Block block(item);
  block.template loadFilter<threads>(filter, skip, shortWeight, shortBias);
  if constexpr (P.shortTaps > 0)
    blockBarrier();
  Correlation correlation;
  correlation.clear();
  HYBRID_NO_UNROLL
  for (int step = 0; step < static_cast<int>(rowsOfSplit(P) / Block::rows); ++step) {
    const int64_t sequence = block.firstRow + step * Block::rows;
    if (P.batch % rowsOfSplit(P) != 0 && sequence >= block.endRow)
      break;
    // First what is read once: the L1 cache keeps the rest for the end.
    block.template loadSignal<P.hasGateOut != 0, threads, most>(
        1, sequence, block.activation(dy, sequence, P.yStride),
        block.template operand<2>(gateOut, sequence));
    block.template loadSignal<P.hasGateIn != 0, threads, most>(
        0, sequence, block.template operand<0>(x, sequence),
        block.template operand<1>(gateIn, sequence));
    blockBarrier();
    // Anew in each step: kept between them, they would take registers.
    const int number = inRegister(warpIndex()), slot = number % Block::channels,
              warp = number / Block::channels;
    uint32_t *signal = block.signal(0, slot), *cotangent = block.signal(1, slot);
    correlation.add(cotangent, signal, warp);
    const uint32_t *taps = block.filter(Block::channelAt(slot));
    blockBarrier(); // both warps of a channel have read its signals
    if (P.hasGateOut && warp == 0)
      block.template convolve<false>(taps, signal);
    if (warp == warps - 1)
      block.template convolve<true>(taps, cotangent);
    blockBarrier();
    // Anew: kept through the products they would take registers that there are not.
    const auto in = block.template operand<0>(x, sequence);
    const auto gate = block.template operand<1>(gateIn, sequence);
    const auto upstream = block.activation(dy, sequence, P.yStride);
    const float *dw = block.result(1, Block::threadSlot()),
                *ungated = block.result(0, Block::threadSlot());
    using In = decltype(in);
    using Gate = decltype(gate);
    using Upstream = decltype(upstream);
    constexpr int span = P.hasGateIn != 0 && (In::isShort || Gate::isShort) ? 2 : 1;
    struct Operands {
      typename In::template Positions<span> x;
      typename Gate::template Positions<span> gate;
      typename Upstream::template Positions<span> dy;
    };
    block.template forEachResult<span, threads, span == 1 ? most : 1, Operands>(
        sequence,
        [&](Operands &o, int b, int t) {
          if constexpr (P.hasGateIn != 0)
            in.load(o.x, b, t), gate.load(o.gate, b, t);
          if constexpr (P.hasGateOut != 0)
            upstream.load(o.dy, b, t);
        },
        [&](const Operands &o, int b, int t, int place) {
          // to = results * factor, of which there may be none
          auto write = [&]<bool hasFactor, typename To>(const To &to, const float *results,
                                                        const auto &factor, const auto &positions) {
            float values[Block::width][span];
            HYBRID_UNROLL
            for (int i = 0; i < Block::width; ++i) {
              const auto result = loadPack<span>(results + place + i * Block::apart);
              if constexpr (hasFactor)
                factor.numbers(positions, i, values[i]);
              HYBRID_UNROLL
              for (int p = 0; p < span; ++p)
                values[i][p] = hasFactor ? result[p] * values[i][p] : result[p];
            }
            HYBRID_UNROLL
            for (int p = 0; p < span; ++p)
              if (Block::isPosition(t + p))
                To::Channels::store(to.at(b, t + p), [&](int i) { return values[i][p]; });
          };
          write.template operator()<P.hasGateIn != 0>(block.activation(dx, sequence, P.dxStride),
                                                      dw, gate, o.gate);
          if constexpr (P.hasGateIn != 0)
            write.template operator()<true>(block.activation(dGateIn, sequence, P.dGateInStride),
                                            dw, in, o.x);
          if constexpr (P.hasGateOut != 0)
            write.template operator()<true>(block.activation(dGateOut, sequence, P.dGateOutStride),
                                            ungated, upstream, o.dy);
        });
    blockBarrier(); // before the next sequences are loaded
  }

  // A warp's sums along diagonals, in the place of a signal of its own.
  const int slot = warpIndex() % Block::channels, warp = warpIndex() / Block::channels;
  float *sums = reinterpret_cast<float *>(block.signal(warp, slot));
  correlation.store(sums, sums + 32 * Correlation::diagonals, warp);
  blockBarrier();
  // Computed here, not kept since the filter was loaded.
  const int thread = inRegister(static_cast<int>(threadIdx.x)), lane = thread % Block::channels;
  float *out = dPartial + item / toeplitzGroups(P) * P.taps * P.channels + block.channel + lane;
  for (int m = thread / Block::channels; m < P.taps; m += threads / Block::channels) {
    const int d = m / 16, apart = m % 16;
    float sum = 0.0f;
    HYBRID_UNROLL
    for (int part = 0; part < warps; ++part) {
      const auto *of = reinterpret_cast<const float *>(block.signal(part, Block::slotOf(lane)));
      sum += of[32 * d + 15 + apart];
      if (apart > 0 && d + 1 < Correlation::diagonals)
        sum += of[32 * (d + 1) + apart - 1];
    }
    if (block.hasChannel(lane))
      out[m * P.channels] = sum;
  }
}

} // namespace hybrid::cuda
