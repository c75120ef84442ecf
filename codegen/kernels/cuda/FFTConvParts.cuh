//===- FFTConvParts.cuh - long convolution in two passes --------------------===//
//
// The convolution of FFTConv.cuh for sequences whose transform does not fit into shared memory.
// With points = parts * m, position t = j + m a and frequency k = b + parts k',
//
//   X_k = sum_j e^(-2 pi i j k' / m) [ e^(-2 pi i j (b + 1/4) / points)
//                                      sum_a x_(j + m a) e^(-2 pi i a (b + 1/4) / parts) ]:
//
// fftconvSplit does the outer sums (a twisted transform of `parts` points) for a tile of j of some
// neighbouring channels, gates applied, and writes them as [batch, channels, parts, m]: a part, in
// the permuted order of frequencies, is a sequence of m points. Up to 32 parts a thread does them
// in registers. The inner kernels transform parts (of 512 points down to remainders of two
// coefficients), multiply by the filter's spectrum, and transform back, in place; fftconvMerge
// undoes the outer transform, with the gates. A warp's neighbouring threads have neighbouring
// channels of activations, and behind shared memory neighbouring inner points of parts: L2 is asked
// for as few lines as can be. Three passes: 16 bytes an element of gated activations through memory
// and 32 of the parts between, in f32, or half of each in bf16. Parts stay in L2, as few channels
// of few sequences are convolved at a time. The filter's parts and its spectrum are never rounded.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/FFTConvParts.h"
#include "codegen/kernels/cuda/FFT.cuh"

namespace hybrid::cuda {

template <typename T, FFTConvPartsParams P>
using PartsTransform = Transform<T, static_cast<int>(P.parts), static_cast<int>(P.tile *P.lanes),
                                 static_cast<int>(P.blockThreads), true>;

/// 32 bits where they reach over the activations of a sequence.
template <bool isShort> struct OffsetOf {
  using Type = int;
};
template <> struct OffsetOf<false> {
  using Type = int64_t;
};
constexpr int64_t longestStride(const FFTConvPartsParams &p) {
  int64_t longest = p.stride;
  const int64_t others[] = {p.factorStride, p.secondStride, p.secondFactorStride};
  for (int64_t stride : others)
    longest = stride > longest ? stride : longest;
  return longest;
}
template <FFTConvPartsParams P>
using PartsOffset = typename OffsetOf<(P.length + 1) * longestStride(P) < (1LL << 31)>::Type;

/// Two neighbouring elements of memory.
template <typename T, typename Element> HYBRID_DEVICE Complex<T> complexAt(const Element *at) {
  const Pack<Element, 2> pair = loadPack<2>(at);
  return {number(pair[0]), number(pair[1])};
}
template <typename T> HYBRID_DEVICE Complex<T> complexAt(const bf16 *at) {
  const uint32_t pair = *reinterpret_cast<const uint32_t *>(at);
  return {fromBits(pair << 16), fromBits(pair & 0xffff0000u)};
}
template <typename T, typename Element>
HYBRID_DEVICE void putComplex(Element *at, Complex<T> value) {
  Pack<Element, 2> pair;
  put(pair[0], value.re);
  put(pair[1], value.im);
  storePack(at, pair);
}
HYBRID_DEVICE void putComplex(bf16 *at, Complex<float> value) {
  *reinterpret_cast<uint32_t *>(at) = packBf16(value.re, value.im);
}
/// An activation, which passes the caches while parts stay in them.
template <typename T> HYBRID_DEVICE void putOnce(T *at, T value) { storeOnce(at, value); }
HYBRID_DEVICE void putOnce(bf16 *at, float value) { storeOnce(at, toBf16(value)); }

/// What a block of an outer pass works on: channels fastest, then tiles of inner points, then
/// sequences. A lane is a channel and an inner point: all channels fastest where transforms are in
/// registers; otherwise `together` channels are next to each other, then all inner points, so that
/// the 32 lanes of a warp write whole sectors.
template <typename T, FFTConvPartsParams P, int64_t together> struct PartsTile {
  static constexpr int parts = static_cast<int>(P.parts),
                       inner = static_cast<int>(P.points / P.parts),
                       run = static_cast<int>(
                           partsInRegisters(P.parts) || together > P.lanes ? P.lanes : together);
  using Value = Complex<T>;

  int64_t sequence, firstChannel;
  int firstInner;

  HYBRID_DEVICE explicit PartsTile(int64_t item) {
    constexpr int64_t groups = (P.channels + P.lanes - 1) / P.lanes, tiles = inner / P.tile;
    firstChannel = item % groups * P.lanes;
    firstInner = static_cast<int>(item / groups % tiles * P.tile);
    sequence = item / groups / tiles;
  }
  HYBRID_DEVICE static int channelOf(int lane) {
    return lane % run + lane / (run * static_cast<int>(P.tile)) * run;
  }
  HYBRID_DEVICE int innerOf(int lane) const {
    return firstInner + lane / run % static_cast<int>(P.tile);
  }
  HYBRID_DEVICE bool hasChannel(int lane) const {
    return P.channels % P.lanes == 0 || firstChannel + channelOf(lane) < P.channels;
  }
  /// The position of point a of the outer transform.
  HYBRID_DEVICE int position(int a, int lane) const { return innerOf(lane) + a * inner; }
  /// Of an activation, at the first of the tile's channels.
  template <typename A> HYBRID_DEVICE A *rows(A *buffer, int64_t stride) const {
    return buffer + sequence * P.length * stride + firstChannel;
  }
  HYBRID_DEVICE static PartsOffset<P> at(int t, int lane, int64_t stride) {
    return static_cast<PartsOffset<P>>(t) * static_cast<PartsOffset<P>>(stride) + channelOf(lane);
  }
  /// Whether point a of the outer transform is a value of the sequence; a may be any below twice
  /// `parts`. In registers a is known, and it is a question for one of them.
  HYBRID_DEVICE bool hasPoint(int a, int lane) const {
    if constexpr (!partsInRegisters(P.parts))
      return position(a, lane) < P.length;
    const int64_t first = static_cast<int64_t>(a) * inner;
    return first + inner <= P.length || (first < P.length && innerOf(lane) < P.length - first);
  }
  /// Of a lane's value of a part; that of the next part is `inner` behind it.
  HYBRID_DEVICE int64_t partAt(int part, int lane) const {
    return ((sequence * P.channels + firstChannel + channelOf(lane)) * parts + part) * inner +
           innerOf(lane);
  }
  /// e^(-2 pi i j (4 k + 1) / (4 points)) with the frequencies k = first + b * apart of `count`
  /// parts. They are loaded, so they are made before what is multiplied is waited for.
  template <int count, int apart> struct Turn {
    Value first, powers[4];

    HYBRID_DEVICE Turn(const PartsTile &tile, int firstPart, int lane, const T *fineTable,
                       const T *coarseTable) {
      constexpr int64_t fine = fineFactors(P.points);
      const int64_t j = tile.innerOf(lane);
      const auto *fines = reinterpret_cast<const Value *>(fineTable),
                 *coarse = reinterpret_cast<const Value *>(coarseTable);
      auto factor = [&](int64_t q) { return coarse[q / fine] * fines[q % fine]; };
      first = factor(j * (4 * firstPart + 1));
      HYBRID_UNROLL
      for (int k = 1; k <= 4; ++k)
        powers[k - 1] = factor(k * j * (4 * apart));
    }
    template <bool conjugated> HYBRID_DEVICE void times(Value *v) const {
      multiplyByPowers<count, conjugated, false>(v, first, powers);
    }
  };
};

/// The outer transforms of a tile in shared memory, into parts and out of them. point(a, lane) is a
/// point; use(a, lane, z) takes it.
template <typename T, FFTConvPartsParams P> struct PartsInBlock {
  static constexpr int groupsApart = static_cast<int>(P.parts) / 16;
  using Block = PartsTransform<T, P>;

  template <typename Tile, typename Element, typename Point>
  HYBRID_DEVICE static void split(const Tile &tile, const T *twiddles, const T *fine,
                                  const T *coarse, Element *out, Point point) {
    const Block block{sharedMemory<Complex<T>>(), reinterpret_cast<const Complex<T> *>(twiddles)};
    block.load(point);
    block.forward();
    HYBRID_NO_UNROLL
    for (int round = 0; round < Block::rounds; ++round) {
      typename Block::Group group(round);
      if (!group.exists() || !tile.hasChannel(group.lane))
        continue;
      const typename Tile::template Turn<16, groupsApart> turn(tile, Block::frequency(group.group),
                                                               group.lane, fine, coarse);
      Complex<T> v[16];
      block.read(group, v);
      transformRegisters<16, false>(v);
      turn.template times<false>(v);
      const int64_t at = tile.partAt(16 * group.group, group.lane);
      HYBRID_UNROLL
      for (int b = 0; b < 16; ++b)
        putComplex(out + 2 * (at + static_cast<int64_t>(b) * Tile::inner), v[b]);
    }
  }
  template <int together, typename Tile, typename Element, typename Operands, typename Use>
  HYBRID_DEVICE static void merge(const Tile &tile, const T *twiddles, const T *fine,
                                  const T *coarse, const Element *in, Operands operands, Use use) {
    const Block block{sharedMemory<Complex<T>>(), reinterpret_cast<const Complex<T> *>(twiddles)};
    HYBRID_NO_UNROLL
    for (int round = 0; round < Block::rounds; ++round) {
      typename Block::Group group(round);
      if (!group.exists() || !tile.hasChannel(group.lane))
        continue;
      const typename Tile::template Turn<16, groupsApart> turn(tile, Block::frequency(group.group),
                                                               group.lane, fine, coarse);
      Complex<T> v[16];
      const int64_t at = tile.partAt(16 * group.group, group.lane);
      HYBRID_UNROLL
      for (int b = 0; b < 16; ++b)
        v[b] = complexAt<T>(in + 2 * (at + static_cast<int64_t>(b) * Tile::inner));
      turn.template times<true>(v);
      transformRegisters<16, true>(v);
      block.write(group, v);
    }
    block.inverse();
    block.template store<together>(operands, use);
  }
};

/// The same of each thread in its registers; parts are in the natural order of frequencies. A
/// thread has a channel and an inner point. Neighbouring threads have neighbouring channels, as
/// activations lie in memory; parts go through shared memory, so that there threads have
/// neighbouring inner points. L2 is asked for lines, and answers as many of a sector as of four.
template <typename T, FFTConvPartsParams P> struct PartsInRegisters {
  static constexpr int parts = static_cast<int>(P.parts), tileSize = static_cast<int>(P.tile),
                       lanes = static_cast<int>(P.lanes);
  static_assert(P.blockThreads == P.tile * P.lanes, "a thread a transform");

  /// What a thread moves between memory and shared memory: an inner point of a channel, of all
  /// parts.
  template <typename Element> struct Column {
    using Point = Pack<Element, 2>;
    // Neither channels nor inner points that a warp has meet in a bank.
    static constexpr int channelStride = partsChannelStride<sizeof(Point)>(P),
                         partStride = lanes * channelStride,
                         channelsApart = tileSize < 32 ? lanes * tileSize / 32 : 1;
    int lane; // as if neighbouring threads had neighbouring channels

    HYBRID_DEVICE Column() {
      const int thread = static_cast<int>(threadIdx.x), place = thread / tileSize,
                channel = place / (lanes / channelsApart) +
                          place % (lanes / channelsApart) * channelsApart;
      lane = channel + thread % tileSize * lanes;
    }
    /// In shared memory.
    HYBRID_DEVICE static Element *at(int lane) {
      return sharedMemory<Element>() + 2 * (lane % lanes * channelStride + lane / lanes);
    }
  };

  template <typename Tile, typename Element, typename Point>
  HYBRID_DEVICE static void split(const Tile &tile, const T *, const T *fine, const T *coarse,
                                  Element *out, Point point) {
    using Places = Column<Element>;
    const int lane = static_cast<int>(threadIdx.x);
    const typename Tile::template Turn<parts, 1> turn(tile, 0, lane, fine, coarse);
    Complex<T> v[parts];
    HYBRID_UNROLL
    for (int a = 0; a < parts; ++a)
      v[a] = turned<false>(point(a, lane), a * (32 / parts));
    transformRegisters<parts, false>(v);
    turn.template times<false>(v);
    Element *made = Places::at(lane);
    HYBRID_UNROLL
    for (int b = 0; b < parts; ++b)
      putComplex(made + 2 * b * Places::partStride, v[b]);
    blockBarrier();
    const Places column;
    if (!tile.hasChannel(column.lane))
      return;
    const int64_t at = tile.partAt(0, column.lane);
    const Element *from = Places::at(column.lane);
    HYBRID_UNROLL
    for (int b = 0; b < parts; ++b)
      storePack(out + 2 * (at + static_cast<int64_t>(b) * Tile::inner),
                loadPack<2>(from + 2 * b * Places::partStride));
  }
  template <int together, typename Tile, typename Element, typename Operands, typename Use>
  HYBRID_DEVICE static void merge(const Tile &tile, const T *, const T *fine, const T *coarse,
                                  const Element *in, Operands operands, Use use) {
    using Places = Column<Element>;
    const int lane = static_cast<int>(threadIdx.x);
    const Places column;
    typename Places::Point points[parts]{};
    if (tile.hasChannel(column.lane)) {
      const int64_t at = tile.partAt(0, column.lane);
      HYBRID_UNROLL
      for (int b = 0; b < parts; ++b)
        points[b] = loadPack<2>(in + 2 * (at + static_cast<int64_t>(b) * Tile::inner));
    }
    const typename Tile::template Turn<parts, 1> turn(tile, 0, lane, fine, coarse);
    Complex<T> v[parts];
    loadAhead<parts, (together < parts ? together : parts), (parts <= 16)>(
        [&](int a) { return operands(a, lane); },
        [&] {
          Element *to = Places::at(column.lane);
          HYBRID_UNROLL
          for (int b = 0; b < parts; ++b)
            storePack(to + 2 * b * Places::partStride, points[b]);
          blockBarrier();
          const Element *from = Places::at(lane);
          HYBRID_UNROLL
          for (int b = 0; b < parts; ++b)
            v[b] = complexAt<T>(from + 2 * b * Places::partStride);
          turn.template times<true>(v);
          transformRegisters<parts, true>(v);
        },
        [&](int a, const auto &loaded) {
          use(a, lane, turned<true>(v[a], a * (32 / parts)), loaded);
        });
  }
};

template <typename T, FFTConvPartsParams P, bool inRegisters> struct OuterTransformsOf {
  using Type = PartsInBlock<T, P>;
};
template <typename T, FFTConvPartsParams P> struct OuterTransformsOf<T, P, true> {
  using Type = PartsInRegisters<T, P>;
};
template <typename T, FFTConvPartsParams P>
using OuterTransforms = typename OuterTransformsOf<T, P, partsInRegisters(P.parts)>::Type;

template <typename T, FFTConvPartsParams P, typename X, typename Gate, typename Parts>
HYBRID_DEVICE void fftconvSplit(int64_t item, X xBuffer, Gate gateBuffer, const T *twiddles,
                                const T *fine, const T *coarse, Parts partsBuffer) {
  auto *parts = writable<T>(partsBuffer);
  using Tile = PartsTile<T, P, 2 * sizeof(*parts)>;
  const Tile tile(item);
  const auto *x = opaque(tile.rows(readable<T>(xBuffer), P.stride));
  const auto *gate = readable<T>(gateBuffer);
  if constexpr (P.hasFactor != 0)
    gate = opaque(tile.rows(gate, P.factorStride));
  auto value = [&](int a, int lane) {
    if (!tile.hasPoint(a, lane) || !tile.hasChannel(lane))
      return T(0);
    const int t = tile.position(a, lane);
    const T result = number(loadOnce(x + tile.at(t, lane, P.stride)));
    return P.hasFactor ? result * number(loadOnce(gate + tile.at(t, lane, P.factorStride)))
                       : result;
  };
  OuterTransforms<T, P>::split(tile, twiddles, fine, coarse, parts, [&](int a, int lane) {
    // Positions behind the transform are in the imaginary parts, as z^points = -i has it.
    return Complex<T>{value(a, lane), P.length > P.points ? -value(a + Tile::parts, lane) : T(0)};
  });
}
template <typename T, FFTConvPartsParams P>
HYBRID_DEVICE void fftconvSplitFilter(int64_t item, const T *filter, const T *twiddles,
                                      const T *fine, const T *coarse, T *parts) {
  fftconvSplit<T, P>(item, filter, static_cast<const T *>(nullptr), twiddles, fine, coarse, parts);
}

/// use(t, lane, value, operands(t, lane)) for all positions of a tile.
template <typename T, FFTConvPartsParams P, typename Tile, typename Element, typename Operands,
          typename Use>
HYBRID_DEVICE void mergeTile(const Tile &tile, const Element *parts, const T *twiddles,
                             const T *fine, const T *coarse, Operands operands, Use use) {
  // Positions behind the transform are in the imaginary parts.
  constexpr int halves = P.length > P.points ? 2 : 1;
  // Of so many points operands are loaded while parts are. Of f32, whose parts take twice the
  // registers of bf16, or of two operands more would have two blocks of 16 parts spill.
  constexpr int factors = (P.hasFactor != 0) + (P.hasSecond != 0),
                most = factors > 1 || sizeof(Element) == sizeof(T) ? 2 : 8,
                together = most / halves;
  struct Loaded {
    decltype(operands(0, 0)) half[halves];
  };
  auto has = [&](int a, int lane) { return tile.hasPoint(a, lane) && tile.hasChannel(lane); };
  OuterTransforms<T, P>::template merge<together>(
      tile, twiddles, fine, coarse, parts,
      [&](int a, int lane) {
        Loaded loaded{};
        HYBRID_UNROLL
        for (int half = 0; half < halves; ++half)
          if (const int point = a + half * Tile::parts; has(point, lane))
            loaded.half[half] = operands(tile.position(point, lane), lane);
        return loaded;
      },
      [&](int a, int lane, Complex<T> z, const Loaded &loaded) {
        HYBRID_UNROLL
        for (int half = 0; half < halves; ++half)
          if (const int point = a + half * Tile::parts; has(point, lane))
            use(tile.position(point, lane), lane, half ? -z.im : z.re, loaded.half[half]);
      });
}

template <typename T, FFTConvPartsParams P, typename Parts, typename Gate, typename SecondFactor,
          typename Y, typename Second>
HYBRID_DEVICE void fftconvMerge(int64_t item, Parts parts, Gate gateBuffer,
                                SecondFactor secondFactorBuffer, const T *twiddles, const T *fine,
                                const T *coarse, Y yBuffer, Second secondBuffer) {
  using Tile = PartsTile<T, P, 32 / sizeof(*writable<T>(yBuffer))>;
  const Tile tile(item);
  auto *y = opaque(tile.rows(writable<T>(yBuffer), P.stride));
  const auto *gate = readable<T>(gateBuffer);
  const auto *secondFactor = readable<T>(secondFactorBuffer);
  auto *second = writable<T>(secondBuffer);
  if constexpr (P.hasFactor != 0)
    gate = opaque(tile.rows(gate, P.factorStride));
  if constexpr (P.hasSecond != 0) {
    second = opaque(tile.rows(second, P.secondStride));
    secondFactor = opaque(tile.rows(secondFactor, P.secondFactorStride));
  }
  struct Factors {
    ElementOf<T, Gate> gate;
    ElementOf<T, SecondFactor> second;
  };
  mergeTile<T, P>(
      tile, readable<T>(parts), twiddles, fine, coarse,
      [&](int t, int lane) {
        Factors factors{};
        if constexpr (P.hasFactor != 0)
          factors.gate = loadOnce(gate + tile.at(t, lane, P.factorStride));
        if constexpr (P.hasSecond != 0)
          factors.second = loadOnce(secondFactor + tile.at(t, lane, P.secondFactorStride));
        return factors;
      },
      [&](int t, int lane, T value, const Factors &factors) {
        if constexpr (P.hasSecond != 0)
          putOnce(second + tile.at(t, lane, P.secondStride), value * number(factors.second));
        putOnce(y + tile.at(t, lane, P.stride),
                P.hasFactor != 0 ? value * number(factors.gate) : value);
      });
}
template <typename T, FFTConvPartsParams P>
HYBRID_DEVICE void fftconvMergeFilter(int64_t item, const T *parts, const T *twiddles,
                                      const T *fine, const T *coarse, T *dFilter, T *first) {
  using Tile = PartsTile<T, P, 32 / sizeof(T)>;
  const Tile tile(item);
  dFilter = tile.rows(dFilter, P.stride);
  struct Nothing {};
  mergeTile<T, P>(
      tile, parts, twiddles, fine, coarse, [](int, int) { return Nothing{}; },
      [&](int t, int lane, T value, Nothing) {
        if constexpr (P.hasFirst != 0)
          if (t == 0)
            first[tile.firstChannel + tile.channelOf(lane)] = value;
        dFilter[tile.at(t, lane, P.stride)] = value;
      });
}

/// An inner transform, down to remainders of innerRemainder() coefficients, which are its lanes.
template <typename T, FFTConvInnerParams P, bool keeps = false>
using InnerTransform = Transform<T, static_cast<int>(P.points / innerRemainder(P.points)),
                                 static_cast<int>(innerRemainder(P.points)), threads(P), false,
                                 false, keeps, innerRemainder(P.points) != 1>;

/// The spectrum of the filter's parts, times 1 / scale. Items: parts of channels.
template <typename T, FFTConvInnerParams P>
HYBRID_DEVICE void fftconvInnerSpectrum(int64_t item, const T *parts, const T *twiddles,
                                        T *spectrum) {
  using Block = InnerTransform<T, P>;
  const Block block{sharedMemory<Complex<T>>(), reinterpret_cast<const Complex<T> *>(twiddles)};
  const auto *in = reinterpret_cast<const Complex<T> *>(parts) + item * P.points;
  block.load([&](int t, int) { return in[t]; });
  block.forward();
  block.storeSpectrum(reinterpret_cast<Complex<T> *>(spectrum) + item * P.points,
                      T(1) / static_cast<T>(P.scale));
}

/// The filter's spectrum, with the skip term, at a part of a channel.
template <typename T, FFTConvInnerParams P> struct InnerFilter {
  using Block = InnerTransform<T, P>;
  const Complex<T> *spectrum;
  T skip;

  HYBRID_DEVICE InnerFilter(const T *spectrum, const T *skip, int64_t part)
      : spectrum(reinterpret_cast<const Complex<T> *>(spectrum) + part * P.points),
        skip(P.hasSkip ? skip[part / P.parts] * (T(1) / static_cast<T>(P.scale)) : T(0)) {}
  /// Of the first place of a group of the transform, of one coefficient of its remainders.
  HYBRID_DEVICE const Complex<T> *placesOf(int group, int coefficient) const {
    return opaque(spectrum) + group * Block::lanes + coefficient;
  }
  HYBRID_DEVICE Complex<T> at(const Complex<T> *place, int b, int coefficient) const {
    Complex<T> h = place[b * Block::groups * Block::lanes];
    if constexpr (P.hasSkip != 0)
      h.re += coefficient == 0 ? skip : T(0); // the skip term has degree 0
    return h;
  }
};

/// Products of remainders u + v z modulo z^2 - e^(-2 pi i b / 16), of a pair of neighbouring
/// threads, one of which has u and the other one v. As conj(z) = z e^(2 pi i b / 16), a conjugate
/// has conj(v) times that.
struct RemainderPair {
  bool isFirst; // has u

  template <typename T> HYBRID_DEVICE static Complex<T> others(Complex<T> own) {
    return {shuffleXor(own.re, 1), shuffleXor(own.im, 1)};
  }
  /// x z^2 in the thread that has u, x in the other one.
  template <typename T> HYBRID_DEVICE Complex<T> foldedIntoFirst(Complex<T> x, int b) const {
    const Complex<T> folded = turned<false>(x, 8 * b);
    return isFirst ? folded : x;
  }
  /// x / z^2 in the thread that has v, x in the other one.
  template <typename T> HYBRID_DEVICE Complex<T> unfoldedIntoSecond(Complex<T> x, int b) const {
    const Complex<T> unfolded = turned<true>(x, 8 * b);
    return isFirst ? x : unfolded;
  }
};

/// The filter that a thread multiplies its group of an inner transform by, in shared memory: in
/// registers it would leave room for fewer blocks.
template <typename T, FFTConvInnerParams P> struct SharedSpectrum {
  using Block = InnerTransform<T, P>;
  static constexpr int coefficients = Block::lanes, stride = threads(P) / coefficients;
  static_assert(coefficients <= 2 && Block::last == 16, "as RemainderPair has it");
  // Of remainders a pair of threads shares `first`, the first coefficients, and each has `crossed`,
  // what the other one's value is multiplied by.
  Complex<T> *first, *crossed;

  /// The threads see it behind the next barrier.
  HYBRID_DEVICE SharedSpectrum(const InnerFilter<T, P> &filter, Complex<T> *shared)
      : first(shared), crossed(shared + P.points / 2 + threadIdx.x) {
    const typename Block::Group group(0);
    if (!group.exists())
      return;
    first += group.group;
    const Complex<T> *from = filter.placesOf(group.group, group.lane);
    Complex<T> h[16];
    HYBRID_UNROLL
    for (int b = 0; b < 16; ++b)
      h[b] = filter.at(from, b, group.lane);
    if constexpr (coefficients != 1) {
      const RemainderPair pair{group.lane == 0};
      HYBRID_UNROLL
      for (int b = 0; b < 16; ++b) {
        const Complex<T> other = pair.others(h[b]);
        crossed[b * threads(P)] = pair.isFirst ? turned<false>(other, 8 * b) : h[b];
      }
    }
    if (group.lane == 0) {
      HYBRID_UNROLL
      for (int b = 0; b < 16; ++b)
        first[b * stride] = h[b];
    }
  }
  HYBRID_DEVICE void multiply(Complex<T> *v) const {
    HYBRID_UNROLL
    for (int b = 0; b < 16; ++b) {
      Complex<T> product = v[b] * first[b * stride];
      if constexpr (coefficients != 1)
        product = multiplyAdd(RemainderPair::others(v[b]), crossed[b * threads(P)], product);
      v[b] = product;
    }
  }
};

/// In place. Items: splits of the batch fastest; then parts of channels, `walks` of them an item.
template <typename T, FFTConvInnerParams P, typename Parts>
HYBRID_DEVICE void fftconvInnerForward(int64_t item, const T *spectrum, const T *skip,
                                       const T *twiddles, Parts partsBuffer) {
  auto *parts = writable<T>(partsBuffer);
  using Block = InnerTransform<T, P, sizeof(T) == 4>;
  Block block{sharedMemory<Complex<T>>(), reinterpret_cast<const Complex<T> *>(twiddles)};
  if constexpr (sizeof(T) == 4)
    block.keepFactors();
  constexpr int64_t allParts = P.channels * P.parts, perSplit = (P.batch + P.splits - 1) / P.splits;
  const int64_t begin = item % P.splits * perSplit, end = minimum(begin + perSplit, P.batch);
  static_assert(Block::rounds == 1);
  HYBRID_NO_UNROLL
  for (int64_t walk = 0; walk < P.walks; ++walk) {
    const int64_t part = item / P.splits * P.walks + walk;
    if (allParts % P.walks != 0 && part >= allParts)
      break;
    if (walk > 0)
      blockBarrier(); // all threads have multiplied by the spectrum before
    const InnerFilter<T, P> filter(spectrum, skip, part);
    const SharedSpectrum<T, P> filterHere(filter,
                                          sharedMemory<Complex<T>>() + innerElements(P.points));
    HYBRID_NO_UNROLL
    for (int64_t sequence = begin; sequence < end; ++sequence) {
      auto *data = parts + 2 * (sequence * allParts + part) * P.points;
      block.load([&](int t, int) { return complexAt<T>(data + 2 * t); }); // where this thread has
                                                                          // stored from, so no
                                                                          // barrier is between
      block.forward();
      block.multiply([&](typename Block::Group, Complex<T> *v) { filterHere.multiply(v); });
      block.inverse();
      block.store([&](int t, int, Complex<T> z) { putComplex(data + 2 * t, z); });
    }
  }
}

/// cotangents become the gradients of the convolution's input; signals its output, if hasGateOut.
/// dPartial: [splits, channels, parts, points], complex, goes on where P says so. Items: parts of
/// channels fastest, then splits of the batch.
template <typename T, FFTConvInnerParams P, typename Signals, typename Cotangents>
HYBRID_DEVICE void fftconvInnerBackward(int64_t item, const T *spectrum, const T *skip,
                                        const T *twiddles, Signals signals, Cotangents cotangents,
                                        T *dPartial) {
  constexpr bool keeps = sizeof(T) == 4;
  using Block = InnerTransform<T, P, keeps>;
  using Group = typename Block::Group;
  constexpr int coefficients = Block::lanes;
  constexpr int64_t allParts = P.channels * P.parts, perSplit = (P.batch + P.splits - 1) / P.splits;
  const auto *table = reinterpret_cast<const Complex<T> *>(twiddles);
  auto *shared = sharedMemory<Complex<T>>();
  Block signal{shared, table};
  if constexpr (keeps)
    signal.keepFactors();
  Block cotangent = signal;
  cotangent.data += innerElements(P.points);
  const int64_t part = item % allParts;
  const InnerFilter<T, P> filter(spectrum, skip, part);

  SpectrumSums<T, Block> sums(reinterpret_cast<Complex<T> *>(dPartial) + item * P.points,
                              P.goesOn != 0);
  const int64_t begin = item / allParts * perSplit, end = minimum(begin + perSplit, P.batch);
  HYBRID_NO_UNROLL
  for (int64_t sequence = begin; sequence < end; ++sequence) {
    const int64_t at = 2 * (sequence * allParts + part) * P.points;
    auto *p = writable<T>(signals) + at;
    auto *q = writable<T>(cotangents) + at;
    signal.load([&](int t, int) { return complexAt<T>(p + 2 * t); });
    cotangent.load([&](int t, int) { return complexAt<T>(q + 2 * t); });
    signal.forward();
    cotangent.forward();
    sums.forEachGroup([&](int round, Group group) {
      Complex<T> v[16];
      signal.read(group, v);
      transformRegisters<16, false>(v);
      signal.write(group, v); // read again below by this thread
      cotangent.read(group, v);
      transformRegisters<16, false>(v);
      const Complex<T> *first = filter.placesOf(group.group, 0);
      HYBRID_UNROLL
      for (int b = 0; b < 16; ++b) {
        Complex<T> &s = signal.element(group, b);
        const Complex<T> h = filter.at(first, b, 0);
        if constexpr (coefficients == 1) {
          sums.add(round, group, b, conjugate(s) * v[b]);
          if constexpr (P.hasGateOut != 0)
            s = s * h;
          v[b] = v[b] * conjugate(h);
        } else {
          const RemainderPair pair{group.lane == 0};
          const Complex<T> second = filter.at(filter.placesOf(group.group, 1), b, 1), own = s,
                           other = pair.others(own),
                           d = pair.unfoldedIntoSecond(pair.others(v[b]), b);
          sums.add(round, group, b,
                   multiplyAdd(conjugate(pair.isFirst ? other : own), d,
                               conjugate(pair.isFirst ? own : other) * v[b]));
          if constexpr (P.hasGateOut != 0)
            s = own * h + pair.foldedIntoFirst(other * second, b);
          v[b] = multiplyAdd(conjugate(second), d, v[b] * conjugate(h));
        }
      }
      transformRegisters<16, true>(v);
      cotangent.write(group, v);
      if constexpr (P.hasGateOut != 0) {
        signal.read(group, v);
        transformRegisters<16, true>(v);
        signal.write(group, v);
      }
    });
    cotangent.inverse();
    cotangent.store([&](int t, int, Complex<T> z) { putComplex(q + 2 * t, z); });
    if constexpr (P.hasGateOut != 0) {
      signal.inverse();
      signal.store([&](int t, int, Complex<T> z) { putComplex(p + 2 * t, z); });
    }
    blockBarrier(); // before the next sequence is loaded
  }
  sums.store();
}

/// The filter gradient's parts, times 1 / scale, from partial sums. Items: parts of channels.
template <typename T, FFTConvInnerParams P>
HYBRID_DEVICE void fftconvInnerGradient(int64_t item, const T *dPartial, const T *twiddles,
                                        T *parts) {
  using Block = InnerTransform<T, P>;
  constexpr int64_t perSplit = P.channels * P.parts * P.points;
  const Block block{sharedMemory<Complex<T>>(), reinterpret_cast<const Complex<T> *>(twiddles)};
  block.loadSum(reinterpret_cast<const Complex<T> *>(dPartial) + item * P.points, P.splits,
                perSplit);
  block.inverse();
  constexpr T factor = T(1) / static_cast<T>(P.scale);
  auto *out = reinterpret_cast<Complex<T> *>(parts) + item * P.points;
  block.store([&](int t, int, Complex<T> z) { out[t] = {z.re * factor, z.im * factor}; });
}

} // namespace hybrid::cuda
