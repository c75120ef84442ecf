//===- FFT.cuh - transforms of a block in shared memory --------------------===//
//
// Complex transforms of a power of two of points, `lanes` of them at once and interleaved, so that
// neighbouring threads have neighbouring lanes. Decimation in frequency forward, in time back:
// spectra are in permuted order, and no pass reverses bits. A thread takes 16 points through
// registers at a time (the first stage takes points / 16^k, so that all others have radix 16, or
// 32 where that saves a stage);
// between two stages everything goes through shared memory once. The last stage of the transform
// and the first of the inverse meet in registers, where spectra are multiplied.
//
// A twisted transform is one modulo z^points = -i instead of 1 (the "right-angle" convolution):
//
//   X_k = sum_t x_t e^(-2 pi i t (k + 1/4) / points).
//
// The product of two of them is a convolution in which what would wrap around comes out multiplied
// by -i, so that `points` complex points convolve 2 points real ones, each signal on its own.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/FFT.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

template <typename T> struct alignas(2 * sizeof(T)) Complex {
  T re, im;
};
template <typename T> HYBRID_DEVICE Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <typename T> HYBRID_DEVICE Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <typename T> HYBRID_DEVICE Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {multiplyAdd(a.re, b.re, -(a.im * b.im)), multiplyAdd(a.re, b.im, a.im * b.re)};
}
/// a b + c
template <typename T>
HYBRID_DEVICE Complex<T> multiplyAdd(Complex<T> a, Complex<T> b, Complex<T> c) {
  return {multiplyAdd(a.re, b.re, multiplyAdd(-a.im, b.im, c.re)),
          multiplyAdd(a.re, b.im, multiplyAdd(a.im, b.re, c.im))};
}
template <typename T> HYBRID_DEVICE Complex<T> conjugate(Complex<T> a) { return {a.re, -a.im}; }

/// cos(2 pi k / 128) for 0 <= k <= 128; folded away where k is known after unrolling.
HYBRID_DEVICE constexpr double cosineOf128th(int k) {
  if (k > 64)
    k = 128 - k;
  double sign = k > 32 ? -1 : 1;
  switch (k > 32 ? 64 - k : k) {
  case 0:
    return sign;
  case 1:
    return sign * 0.99879545620517239271;
  case 2:
    return sign * 0.99518472667219688624;
  case 3:
    return sign * 0.98917650996478097345;
  case 4:
    return sign * 0.98078528040323044913;
  case 5:
    return sign * 0.97003125319454399260;
  case 6:
    return sign * 0.95694033573220886494;
  case 7:
    return sign * 0.94154406518302077841;
  case 8:
    return sign * 0.92387953251128675613;
  case 9:
    return sign * 0.90398929312344333159;
  case 10:
    return sign * 0.88192126434835502971;
  case 11:
    return sign * 0.85772861000027206990;
  case 12:
    return sign * 0.83146961230254523708;
  case 13:
    return sign * 0.80320753148064490981;
  case 14:
    return sign * 0.77301045336273696081;
  case 15:
    return sign * 0.74095112535495909118;
  case 16:
    return sign * 0.70710678118654752440;
  case 17:
    return sign * 0.67155895484701840063;
  case 18:
    return sign * 0.63439328416364549822;
  case 19:
    return sign * 0.59569930449243334347;
  case 20:
    return sign * 0.55557023301960222474;
  case 21:
    return sign * 0.51410274419322172659;
  case 22:
    return sign * 0.47139673682599764856;
  case 23:
    return sign * 0.42755509343028209432;
  case 24:
    return sign * 0.38268343236508977173;
  case 25:
    return sign * 0.33688985339222005069;
  case 26:
    return sign * 0.29028467725446236764;
  case 27:
    return sign * 0.24298017990326388995;
  case 28:
    return sign * 0.19509032201612826785;
  case 29:
    return sign * 0.14673047445536175166;
  case 30:
    return sign * 0.09801714032956060199;
  case 31:
    return sign * 0.04906767432741801425;
  default:
    return 0;
  }
}

/// z e^(-2 pi i k / 128), or with the other sign, 0 <= k < 128.
template <bool inverse, typename T> HYBRID_DEVICE Complex<T> turned(Complex<T> z, int k) {
  if (k == 0)
    return z;
  if (k == 32)
    return inverse ? Complex<T>{-z.im, z.re} : Complex<T>{z.im, -z.re};
  T c = static_cast<T>(cosineOf128th(k)),
    s = static_cast<T>(cosineOf128th(k < 32 ? 32 - k : k - 32));
  if (inverse)
    s = -s;
  if (k == 16)
    return {(z.re + (inverse ? -z.im : z.im)) * c, (z.im - (inverse ? -z.re : z.re)) * c};
  return {multiplyAdd(z.re, c, z.im * s), multiplyAdd(z.im, c, -(z.re * s))};
}

/// The transform of `radix` points in registers, in natural order.
template <int radix, bool inverse, typename T>
HYBRID_DEVICE void transformRegisters(Complex<T> *v) {
  if constexpr (radix == 2) {
    Complex<T> a = v[0], b = v[1];
    v[0] = a + b, v[1] = a - b;
  } else if constexpr (radix == 4) {
    Complex<T> a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3],
               d = turned<inverse>(v[1] - v[3], 32);
    v[0] = a + c, v[1] = b + d, v[2] = a - c, v[3] = b - d;
  } else {
    constexpr int outer = radix / 4; // points outer * 4
    Complex<T> w[radix];
    HYBRID_UNROLL
    for (int low = 0; low < 4; ++low) {
      Complex<T> column[outer];
      HYBRID_UNROLL
      for (int high = 0; high < outer; ++high)
        column[high] = v[4 * high + low];
      transformRegisters<outer, inverse>(column);
      HYBRID_UNROLL
      for (int k = 0; k < outer; ++k)
        w[4 * k + low] = turned<inverse>(column[k], low * k * (128 / radix));
    }
    HYBRID_UNROLL
    for (int k = 0; k < outer; ++k) {
      Complex<T> row[4] = {w[4 * k], w[4 * k + 1], w[4 * k + 2], w[4 * k + 3]};
      transformRegisters<4, inverse>(row);
      HYBRID_UNROLL
      for (int high = 0; high < 4; ++high)
        v[k + outer * high] = row[high];
    }
  }
}

/// v[b] *= first * step^b, or by the conjugates; powers = step^1 .. step^4 (as many as radix has).
/// Few products a factor, so that errors do not add up.
template <int radix, bool conjugated, bool fromOne, typename T>
HYBRID_DEVICE void multiplyByPowers(Complex<T> *v, Complex<T> first, const Complex<T> *powers) {
  Complex<T> block = conjugated ? conjugate(first) : first; // first * step^(4 q)
  HYBRID_UNROLL
  for (int q = 0; q < (radix + 3) / 4; ++q) {
    const bool isOne = fromOne && q == 0;
    if (q == 1 && fromOne)
      block = conjugated ? conjugate(powers[3]) : powers[3];
    else if (q > 0)
      block = block * (conjugated ? conjugate(powers[3]) : powers[3]);
    if (!isOne)
      v[4 * q] = v[4 * q] * block;
    HYBRID_UNROLL
    for (int r = 1; r < (radix < 4 ? radix : 4); ++r) {
      Complex<T> power = conjugated ? conjugate(powers[r - 1]) : powers[r - 1];
      v[4 * q + r] = v[4 * q + r] * (isOne ? power : block * power);
    }
  }
}

/// Table of the factors of a transform of `points`: e^(-2 pi i q / (4 points)), q < points. keeps:
/// for blocks that do many transforms, threads have what they need of it in registers, once
/// keepFactors() was called. remainders: the lanes are every lanes-th point of one sequence, of
/// whose points * lanes the table is. Group g has in place b the remainder of its polynomial modulo
/// z^lanes - e^(-2 pi i b / last), the lanes its coefficients: z counts in units of
/// e^(-2 pi i g / (points * lanes)), so that all groups have the same moduli.
template <typename T, int points_, int lanes_, int threads_, bool twisted, bool wide = false,
          bool keeps = false, bool remainders = false>
struct Transform {
  static constexpr int points = points_, lanes = lanes_, threads = threads_;
  static constexpr int firstRadix = fftRadices(points, wide).first,
                       firstStride = points / firstRadix;
  /// Points that a thread takes in the last stage; they have consecutive places.
  static constexpr int last = fftRadices(points, wide).last;
  static constexpr int groups = points / last;
  /// Rounds in which the threads of the block take them.
  static constexpr int rounds = (groups * lanes + threads - 1) / threads;
  static_assert(points >= 32 && firstRadix >= 2);

  using Value = Complex<T>;
  Value *data; // fftElements() in shared memory
  const Value *table;
  /// Rounds of the first stage. Where factors are kept a thread loads the points of all rounds
  /// before it waits for the first of them.
  static constexpr int firstRounds = (firstStride * lanes + threads - 1) / threads;
  static constexpr bool loadsAtOnce = keeps && firstStride * lanes % threads == 0;
  /// Parts of the first stage, which the threads of the block take in rounds.
  static constexpr unsigned firstParts = firstStride * lanes;
  /// Whether rounds and operands of one are so few that those of the next are loaded beside them;
  /// of f64 registers are too few.
  HYBRID_DEVICE static constexpr bool isRoomAhead(int bytes) {
    return sizeof(T) == 4 && firstRounds > 1 && firstRounds <= 4 && firstParts % threads == 0 &&
           firstRadix * bytes <= 64;
  }
  /// Factors of a thread's place in the first stage that the table has; others are products. Kept,
  /// more of them would leave too few registers.
  static constexpr int firstFromTable = firstRadix < 8 ? 1 : firstRadix < 16 || keeps ? 2 : 4;
  /// Which of the stages between has sub-transforms of this length.
  static constexpr int stageOf(int length) {
    return length >= firstStride ? 0 : 1 + stageOf(16 * length);
  }
  static constexpr int stageCount = firstStride >= 16 * last ? 1 + stageOf(16 * last) : 0;
  /// Remainders have no factors but those of the first stage, so that there are registers for all.
  static constexpr bool keepsAll = keeps && remainders;
  static_assert(!keeps || (!twisted && points * lanes <= 16 * threads && threads % lanes == 0),
                "a place a thread");
  static_assert(!remainders || (!twisted && stageCount == 0 && firstRadix > 2 && firstRounds == 1),
                "the first stage has all factors");
  // Of the first round: all of them, or powers of one another.
  Value keptFirst[keepsAll ? firstRadix : keeps ? firstFromTable : 1];
  Value kept[keeps && stageCount ? stageCount : 1][keeps ? 4 : 1];

  HYBRID_DEVICE Transform(Value *data, const Value *table) : data(data), table(table) {}
  HYBRID_DEVICE void keepFactors() {
    const Part part(threadIdx.x);
    if constexpr (keepsAll) {
      HYBRID_UNROLL
      for (int b = 0; b < firstRadix; ++b)
        keptFirst[b] = {T(1), T(0)};
      Value powers[4];
      powersOf<firstRadix, firstFromTable>([&](int k) { return firstFactor(part.position(0), k); },
                                           powers);
      multiplyByPowers<firstRadix, false, true>(keptFirst, Value{T(1), T(0)}, powers);
    } else if (part.place < firstStride) {
      HYBRID_UNROLL
      for (int k = 1; k <= firstFromTable; ++k)
        keptFirst[k - 1] = firstFactor(part.position(0), k);
      if constexpr (firstRadix == 2)
        keptFirst[0] = keptFirst[0] * keptFirst[0];
    }
    if (part.place < points / 16)
      keepStages<firstStride>(part.place);
  }

  /// The element of a position, and the distance of elements whose positions are `positions` (a
  /// multiple of `last`) apart.
  HYBRID_DEVICE static int at(int position, int lane) {
    const unsigned place = static_cast<unsigned>(position);
    return static_cast<int>((place + (fftIsPadded(lanes) ? place / last : 0)) * lanes) + lane;
  }
  HYBRID_DEVICE static constexpr int distance(int positions) {
    return (positions + (fftIsPadded(lanes) ? positions / last : 0)) * lanes;
  }
  /// Where a thread's part of the work begins in a round of a stage.
  struct Part {
    int index, place, lane;
    HYBRID_DEVICE explicit Part(unsigned index)
        : index(static_cast<int>(index)), place(static_cast<int>(index / lanes)),
          lane(static_cast<int>(index % lanes)) {}
    /// Where point a of the first stage is: in the lane's sequence, or in the one whose remainders
    /// the lanes are.
    HYBRID_DEVICE int position(int a) const {
      return (remainders ? index : place) + firstStride * (remainders ? lanes : 1) * a;
    }
  };

  /// The first stage; point(operands(t, lane)) is the point t, and operands are loads alone: those
  /// of a round come before the points of the one before it are made, where there is room. No
  /// barrier.
  template <typename Operands, typename Point>
  HYBRID_DEVICE void load(Operands operands, Point point) const {
    using Loaded = decltype(operands(0, 0));
    auto request = [&](unsigned index, Loaded *loaded) {
      const Part part(index);
      HYBRID_UNROLL
      for (int a = 0; a < firstRadix; ++a)
        loaded[a] = operands(part.position(a), part.lane);
    };
    auto take = [&](unsigned index, int round, const Loaded *loaded) {
      Value v[firstRadix];
      HYBRID_UNROLL
      for (int a = 0; a < firstRadix; ++a)
        v[a] = point(loaded[a]);
      firstStage(Part(index), round, v);
    };
    const unsigned first = threadIdx.x;
    if constexpr (loadsAtOnce) {
      Loaded loaded[firstRounds][firstRadix];
      HYBRID_UNROLL
      for (int round = 0; round < firstRounds; ++round)
        request(first + static_cast<unsigned>(round * threads), loaded[round]);
      HYBRID_UNROLL
      for (int round = 0; round < firstRounds; ++round)
        take(first + static_cast<unsigned>(round * threads), round, loaded[round]);
    } else if constexpr (isRoomAhead(sizeof(Loaded))) {
      Loaded loaded[2][firstRadix];
      request(first, loaded[0]);
      HYBRID_UNROLL
      for (int round = 0; round < firstRounds; ++round) {
        const unsigned index = first + static_cast<unsigned>(round * threads);
        if (round + 1 < firstRounds)
          request(index + threads, loaded[(round + 1) % 2]);
        take(index, round, loaded[round % 2]);
      }
    } else {
      HYBRID_NO_UNROLL
      for (unsigned index = first; index < firstParts; index += threads) {
        Loaded loaded[firstRadix];
        request(index, loaded);
        take(index, 0, loaded);
      }
    }
  }
  /// point(t, lane) gives the point t.
  template <typename Point> HYBRID_DEVICE void load(Point point) const {
    load(point, [](Value value) { return value; });
  }

  /// The stages between. Begins with a barrier, and ends with one.
  HYBRID_DEVICE void forward() const {
    blockBarrier();
    stages<firstStride, false>();
  }
  /// The same of the inverse.
  HYBRID_DEVICE void inverse() const {
    blockBarrier();
    stages<16 * last, true>();
  }

  /// The group of a thread in a round, or one >= groups.
  struct Group {
    int group, lane;
    HYBRID_DEVICE explicit Group(int round) {
      const Part part(threadIdx.x + static_cast<unsigned>(round * threads));
      group = part.place, lane = part.lane;
    }
    HYBRID_DEVICE bool exists() const { return groups * lanes % threads == 0 || group < groups; }
    /// Of the first of its places; the others are `groups` * lanes apart.
    HYBRID_DEVICE int spectrumAt() const { return group * lanes + lane; }
  };

  /// The element of a group's place b.
  HYBRID_DEVICE Value &element(Group group, int b) const {
    return data[at(last * group.group, group.lane) + b * lanes];
  }
  HYBRID_DEVICE void read(Group group, Value *v) const {
    HYBRID_UNROLL
    for (int b = 0; b < last; ++b)
      v[b] = element(group, b);
  }
  HYBRID_DEVICE void write(Group group, const Value *v) const {
    HYBRID_UNROLL
    for (int b = 0; b < last; ++b)
      element(group, b) = v[b];
  }

  /// The last stage: the spectrum, times `factor`.
  HYBRID_DEVICE void storeSpectrum(Value *spectrum, T factor) const {
    for (int round = 0; round < rounds; ++round)
      if (const Group group(round); group.exists()) {
        Value v[last];
        readSpectrum(group, v);
        HYBRID_UNROLL
        for (int b = 0; b < last; ++b)
          spectrum[group.spectrumAt() + b * groups * lanes] = {v[b].re * factor, v[b].im * factor};
      }
  }
  /// The last stage and the first one back, and between them times(group, v) on the spectrum.
  template <typename Times> HYBRID_DEVICE void multiply(Times times) const {
    forEachGroup([&](Group group) {
      Value v[last];
      readSpectrum(group, v);
      times(group, v);
      writeSpectrum(group, v);
    });
  }
  /// The first stage back of the sum of `count` spectra, which are `apart` from each other.
  HYBRID_DEVICE void loadSum(const Value *spectra, int64_t count, int64_t apart) const {
    forEachGroup([&](Group group) {
      Value v[last];
      HYBRID_UNROLL
      for (int b = 0; b < last; ++b)
        v[b] = {T(0), T(0)};
      HYBRID_NO_UNROLL
      for (int64_t i = 0; i < count; ++i) {
        HYBRID_UNROLL
        for (int b = 0; b < last; ++b)
          v[b] = v[b] + spectra[i * apart + group.spectrumAt() + b * groups * lanes];
      }
      writeSpectrum(group, v);
    });
  }

  /// The frequency of a group's first place; the others are `groups` apart.
  HYBRID_DEVICE static int frequency(int group) {
    int digits = group * last / firstStride, rest = group * last % firstStride, unit = firstRadix;
    HYBRID_UNROLL
    for (int stride = firstStride / 16; stride >= last; stride /= 16) {
      digits += rest / stride * unit;
      rest %= stride;
      unit *= 16;
    }
    return digits;
  }

  /// The last stage back; store(t, lane, value, operands(t, lane)) takes the point t. `together`:
  /// operands that are loaded at a time; all of the next round's where there is room. Of few
  /// rounds the last comes first: what load() read last, and may be an operand here, is still in
  /// the L1 cache. No barrier.
  template <int together, typename Operands, typename Store>
  HYBRID_DEVICE void store(Operands operands, Store store) const {
    constexpr int radix = firstRadix, stride = firstStride;
    using Loaded = decltype(operands(0, 0));
    auto make = [&](Part part, int round, Value *v) {
      const int base = at(part.place, part.lane);
      HYBRID_UNROLL
      for (int b = 0; b < radix; ++b)
        v[b] = data[base + b * distance(stride)];
      firstFactors<true>(v, part.position(0), round);
      transformRegisters<radix, true>(v);
    };
    auto use = [&](Part part, int a, const Value *v, const Loaded &loaded) {
      store(part.position(a), part.lane, twisted ? turned<true>(v[a], a * (32 / radix)) : v[a],
            loaded);
    };
    auto lastStage = [&](unsigned index, int round) {
      const Part part(index);
      Value v[radix];
      loadAhead<radix, (together < radix ? together : radix), (radix <= 16)>(
          [&](int a) { return operands(part.position(a), part.lane); },
          [&] { make(part, round, v); },
          [&](int a, const Loaded &loaded) { use(part, a, v, loaded); });
    };
    const unsigned first = threadIdx.x;
    if constexpr (loadsAtOnce) {
      HYBRID_UNROLL
      for (int round = firstRounds - 1; round >= 0; --round)
        lastStage(first + static_cast<unsigned>(round * threads), round);
    } else if constexpr (together >= radix && isRoomAhead(2 * sizeof(Loaded))) {
      Loaded loaded[2][radix];
      auto request = [&](int round) {
        const Part part(first + static_cast<unsigned>(round * threads));
        HYBRID_UNROLL
        for (int a = 0; a < radix; ++a)
          loaded[round % 2][a] = operands(part.position(a), part.lane);
      };
      request(firstRounds - 1);
      HYBRID_UNROLL
      for (int round = firstRounds - 1; round >= 0; --round) {
        const Part part(first + static_cast<unsigned>(round * threads));
        if (round > 0)
          request(round - 1);
        Value v[radix];
        make(part, round, v);
        HYBRID_UNROLL
        for (int a = 0; a < radix; ++a)
          use(part, a, v, loaded[round % 2][a]);
      }
    } else {
      HYBRID_NO_UNROLL
      for (unsigned index = first; index < firstParts; index += threads)
        lastStage(index, 0);
    }
  }
  /// store(t, lane, value) takes the point t.
  template <typename Store> HYBRID_DEVICE void store(Store store) const {
    struct Nothing {};
    this->template store<1>([](int, int) { return Nothing{}; },
                            [&](int t, int lane, Value value, Nothing) { store(t, lane, value); });
  }

private:
  HYBRID_DEVICE void firstStage(Part part, int round, Value *v) const {
    if constexpr (twisted) {
      HYBRID_UNROLL
      for (int a = 0; a < firstRadix; ++a)
        v[a] = turned<false>(v[a], a * (32 / firstRadix));
    }
    transformRegisters<firstRadix, false>(v);
    firstFactors<false>(v, part.position(0), round);
    const int base = at(part.place, part.lane);
    HYBRID_UNROLL
    for (int b = 0; b < firstRadix; ++b)
      data[base + b * distance(firstStride)] = v[b];
  }

  template <typename Visit> HYBRID_DEVICE void forEachGroup(Visit visit) const {
    HYBRID_NO_UNROLL
    for (int round = 0; round < rounds; ++round)
      if (const Group group(round); group.exists())
        visit(group);
  }
  HYBRID_DEVICE void readSpectrum(Group group, Value *v) const {
    read(group, v);
    transformRegisters<last, false>(v);
  }
  HYBRID_DEVICE void writeSpectrum(Group group, Value *v) const {
    transformRegisters<last, true>(v);
    write(group, v);
  }

  /// The first powers of factor(1), of which factor(k) gives those up to `given`; others are
  /// products.
  template <int radix, int given, typename Factor>
  HYBRID_DEVICE static void powersOf(Factor factor, Value *powers) {
    HYBRID_UNROLL
    for (int k = 1; k <= 4 && k < radix; ++k) {
      if (k <= given)
        powers[k - 1] = factor(k);
      else
        powers[k - 1] = powers[(k + 1) / 2 - 1] * powers[k / 2 - 1];
    }
  }
  /// e^(-2 pi i j k / points) of the table; with radix 2 it is not there, but that of half of j.
  HYBRID_DEVICE Value firstFactor(int j, int k) const {
    return table[(firstRadix == 2 ? 2 : 4) * k * j];
  }
  template <int length> HYBRID_DEVICE Value stageFactor(int j, int k) const {
    return table[k * j * (4 * points / length)];
  }
  template <int length> HYBRID_DEVICE void keepStages(int place) {
    if constexpr (length >= 16 * last && length <= firstStride) {
      HYBRID_UNROLL
      for (int k = 1; k <= 4; ++k)
        kept[stageOf(length)][k - 1] = stageFactor<length>(place % (length / 16), k);
      keepStages<length / 16>(place);
    }
  }

  template <bool conjugated>
  HYBRID_DEVICE void firstFactors(Value *v, int j, [[maybe_unused]] int round) const {
    if constexpr (keepsAll) {
      HYBRID_UNROLL
      for (int b = 1; b < firstRadix; ++b)
        v[b] = v[b] * (conjugated ? conjugate(keptFirst[b]) : keptFirst[b]);
    } else {
      auto factor = [&](int k) {
        if constexpr (keeps) // places of the next round are threads / lanes further
          return turned<false>(keptFirst[k - 1],
                               round * k * (128 * (threads / lanes) / points) % 128);
        else
          return firstFactor(j, k);
      };
      Value powers[4];
      if constexpr (firstRadix == 2 && !keeps)
        powers[0] = factor(1) * factor(1);
      else
        powersOf<firstRadix, firstFromTable>(factor, powers);
      // Twisted: e^(-2 pi i j (b + 1/4) / points).
      multiplyByPowers<firstRadix, conjugated, !twisted>(v, twisted ? table[j] : Value{T(1), T(0)},
                                                         powers);
    }
  }

  /// Stages of sub-transforms of `length` points and shorter ones, down to 16 * last; the other way
  /// round for the inverse.
  template <int length, bool backward> HYBRID_DEVICE void stages() const {
    if constexpr (length >= 16 * last && length <= firstStride) {
      constexpr int stride = length / 16;
      HYBRID_NO_UNROLL
      for (int index = static_cast<int>(threadIdx.x); index < points / 16 * lanes;
           index += threads) {
        const int lane = index % lanes, place = index / lanes, j = place % stride;
        const int base = at(place / stride * length + j, lane);
        Value v[16];
        HYBRID_UNROLL
        for (int a = 0; a < 16; ++a)
          v[a] = data[base + a * distance(stride)];
        Value powers[4];
        powersOf<16, 4>(
            [&](int k) {
              if constexpr (keeps)
                return kept[stageOf(length)][k - 1];
              else
                return stageFactor<length>(j, k);
            },
            powers);
        if constexpr (backward)
          multiplyByPowers<16, true, true>(v, Value{T(1), T(0)}, powers);
        transformRegisters<16, backward>(v);
        if constexpr (!backward)
          multiplyByPowers<16, false, true>(v, Value{T(1), T(0)}, powers);
        HYBRID_UNROLL
        for (int a = 0; a < 16; ++a)
          data[base + a * distance(stride)] = v[a];
      }
      blockBarrier();
      stages<backward ? length * 16 : length / 16, backward>();
    }
  }
};

/// A block's sums of spectra, one a place of the last stage: registers, or in f64, which has no
/// room for them beside a butterfly, memory that each thread has for itself.
template <typename T, typename Block> struct SpectrumSums {
  static constexpr bool inRegisters = sizeof(T) == 4;
  Complex<T> kept[inRegisters ? Block::rounds : 1][inRegisters ? Block::last : 1];
  Complex<T> *out;

  /// body(round, group) for a thread's groups.
  template <typename Body> HYBRID_DEVICE static void forEachGroup(Body body) {
    HYBRID_UNROLL // the sums are registers
        for (int round = 0; round < Block::rounds; ++round) {
      typename Block::Group group(round);
      if (group.exists())
        body(round, group);
    }
  }
  HYBRID_DEVICE Complex<T> &place(typename Block::Group group, int b) const {
    return out[group.spectrumAt() + b * Block::groups * Block::lanes];
  }
  /// goesOn: from the sums that `out` has, not from zero.
  HYBRID_DEVICE explicit SpectrumSums(Complex<T> *out, bool goesOn = false) : out(out) {
    forEachGroup([&](int round, typename Block::Group group) {
      HYBRID_UNROLL
      for (int b = 0; b < Block::last; ++b)
        (inRegisters ? kept[inRegisters ? round : 0][inRegisters ? b : 0] : place(group, b)) =
            goesOn ? place(group, b) : Complex<T>{T(0), T(0)};
    });
  }
  HYBRID_DEVICE void add(int round, typename Block::Group group, int b, Complex<T> value) {
    Complex<T> &sum =
        inRegisters ? kept[inRegisters ? round : 0][inRegisters ? b : 0] : place(group, b);
    sum = sum + value;
  }
  HYBRID_DEVICE void store() const {
    if constexpr (inRegisters)
      forEachGroup([&](int round, typename Block::Group group) {
        HYBRID_UNROLL
        for (int b = 0; b < Block::last; ++b)
          place(group, b) = kept[round][b];
      });
  }
};

template <typename T, FFTTwiddleParams P> HYBRID_DEVICE void fftTwiddles(int64_t item, T *table) {
  int64_t q = item * fftTwiddleThreads + threadIdx.x;
  if (q >= P.count)
    return;
  double angle = -6.283185307179586476925286766559 *
                 (static_cast<double>(q * P.step) / static_cast<double>(P.period));
  table[2 * q] = static_cast<T>(cosine(angle));
  table[2 * q + 1] = static_cast<T>(sine(angle));
}

} // namespace hybrid::cuda
