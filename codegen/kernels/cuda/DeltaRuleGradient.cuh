//===- DeltaRuleGradient.cuh - gradients of the rows of chunks ----------------===//
//
// With the letters of DeltaRuleChunk.cuh and dS the gradient of the state at a chunk's end
//
//   dW = (I - N)^-T (P' dO + Z dS)      dV = dW      dS <- D(end, start) dS + Q' dO + E' dW
//
// which goes from chunk to chunk as states do, and then, in each chunk by itself, the gradients of
// what pairs of rows and products of decays are made of: from products of values (dO W', dW W',
// dO S, dW S, W dS), a lane has a key and goes through the rows.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/DeltaRuleChunk.cuh"

namespace hybrid::cuda {

/// dO, and where gradients go, whose elements in memory are those of what they are gradients of.
template <typename T, typename OfOutput, typename Elements> struct DeltaRuleGradients {
  using Output = OfOutput;
  const Output *dO;
  typename Elements::OfQuery *dq;
  typename Elements::OfKey *dk;
  typename Elements::OfValue *dv;
  typename Elements::OfErase *da;
  typename Elements::OfWrite *db;
  T *dDecay;
};

template <typename T, DeltaRuleParams p, typename Block, typename Gradients>
struct DeltaRuleGradient {
  using Tiles = DeltaRuleTiles<T>;
  static constexpr int chunk = Block::chunk, keys = Block::keys, keySize = Block::keySize,
                       valueSize = Block::valueSize, keyStride = Block::keyStride,
                       pairStride = Block::pairStride, keyTiles = Block::keyTiles,
                       valueTiles = Block::valueTiles;
  static constexpr bool decays = Block::decays, hasB = Block::hasB, perHead = Block::perHead,
                        decayGradient = p.decayGradient != 0;

  Block &block;
  Gradients to;

  HYBRID_DEVICE DeltaRuleGradient(Block &block, const Gradients &to) : block(block), to(to) {}

  /// Of the group that starts from the block's state; the block's dState is what it ends with, and
  /// then what it starts with.
  HYBRID_DEVICE void ofGroup(int64_t group, const Tiles &t) const {
    const int count = Block::chunksOf(group);
    const bool has = block.warp < count;
    if (has) {
      block.prepare(group * Block::together + block.warp, t);
      HYBRID_NO_UNROLL
      for (int valueTile = 0; valueTile < valueTiles; ++valueTile)
        HYBRID_UNROLL
      for (int n = 0; n < 2; ++n) {
        typename Gradients::Output stored[4];
        block.forFragment(valueTile, n, [&](int i, int value, int row) {
          stored[i] = block.storedDOut(to.dO, row, value);
        });
        Fragment<T> fragment;
        block.forFragment(valueTile, n, [&](int i, int value, int row) {
          fragment.at[i] = block.dOutOf(row, value, stored[i]);
        });
        writeFragment(t.dOut + valueTile * 16 * pairStride + n * 8, pairStride, fragment);
      }
    }
    blockBarrier();
    block.template advance<true>(count);
    retreat(count);
    blockBarrier();
    if (!has)
      return;
    storeValues(t);
    productsOfValues(t);
    warpBarrier();
    T ofHead = T(0); // dDecay of the lane's row
    HYBRID_NO_UNROLL
    for (int first = 0; first < keys; first += chunk)
      ofKeys(t, first, ofHead);
    if constexpr (decayGradient && perHead)
      if (const int i = block.lane; i < block.rows && block.stepOf(i) == 0)
        to.dDecay[block.at(p.dDecayStride, block.tokenOf(i), 0, 1)] = ofHead;
  }

private:
  /// Takes the gradient of the state through `count` chunks, the last first, and leaves dW.
  HYBRID_DEVICE void retreat(int count) const {
    block.forValueTiles([&](int valueTile) {
      typename Block::State of;
      block.get(of, block.dState, valueTile);
      HYBRID_NO_UNROLL
      for (int slot = count - 1; slot >= 0; --slot) {
        const Tiles t = block.tilesOf(slot);
        const int ofPairs = valueTile * 16 * pairStride, ofStates = valueTile * 16 * keyStride;
        Fragment<T> right[2], solved[2];
        LeftOperand<T> dOut[2];
        HYBRID_UNROLL
        for (int i = 0; i < 2; ++i) {
          dOut[i] = leftRows(t.dOut + ofPairs + i * 8, pairStride);
          HYBRID_UNROLL
          for (int n = 0; n <= i; ++n)
            multiplyAdd(right[n], dOut[i],
                        rightColumns(t.read + i * 8 * pairStride + n * 8, pairStride));
        }
        HYBRID_UNROLL
        for (int key = 0; key < keyTiles; ++key) {
          writeFragment(t.leaving + ofStates + key * 8, keyStride, of[key]);
          const LeftOperand<T> left = leftOf(of[key]);
          HYBRID_UNROLL
          for (int n = 0; n < 2; ++n)
            multiplyAdd(right[n], left,
                        rightRows(t.written + n * 8 * keyStride + key * 8, keyStride));
        }
        HYBRID_UNROLL
        for (int i = 0; i < 2; ++i) {
          const LeftOperand<T> left = leftOf(right[i]);
          HYBRID_UNROLL
          for (int n = 0; n <= i; ++n)
            multiplyAdd(solved[n], left,
                        rightColumns(t.inverse + i * 8 * pairStride + n * 8, pairStride));
        }
        if constexpr (decays)
          block.decayState(of, t.entered);
        HYBRID_UNROLL
        for (int i = 0; i < 2; ++i) {
          writeFragment(t.dCorrected + ofPairs + i * 8, pairStride, solved[i]);
          const LeftOperand<T> left = leftOf(solved[i]);
          HYBRID_UNROLL
          for (int n = 0; n < keyTiles; ++n) {
            const int at = i * 8 * keyStride + n * 8;
            multiplyAdd(of[n], dOut[i], rightColumns(t.query + at, keyStride));
            multiplyAdd(of[n], left, rightColumns(t.erase + at, keyStride));
          }
        }
      }
      block.put(block.dState, of, valueTile);
    });
  }

  HYBRID_DEVICE void storeValues(const Tiles &t) const {
    HYBRID_NO_UNROLL
    for (int valueTile = 0; valueTile < valueTiles; ++valueTile) {
      const int ofPairs = valueTile * 16 * pairStride;
      const T *dCorrected = t.dCorrected + ofPairs, *dOut = t.dOut + ofPairs,
              *leaving = t.leaving + valueTile * 16 * keyStride;
      Fragment<T> sums[2];
      if constexpr (hasB) {
        HYBRID_UNROLL
        for (int i = 0; i < 2; ++i)
          HYBRID_UNROLL
        for (int n = 0; n <= i; ++n) {
          const int at = i * 8 * pairStride + n * 8;
          multiplyAdd(sums[n], leftRows(dOut + i * 8, pairStride),
                      rightColumns(t.plainRead + at, pairStride));
          multiplyAdd(sums[n], leftRows(dCorrected + i * 8, pairStride),
                      rightColumns(t.plainErase + at, pairStride));
        }
        HYBRID_UNROLL
        for (int key = 0; key < keyTiles; ++key) {
          const LeftOperand<T> left = leftRows(leaving + key * 8, keyStride);
          HYBRID_UNROLL
          for (int n = 0; n < 2; ++n)
            multiplyAdd(sums[n], left, rightRows(t.plain + n * 8 * keyStride + key * 8, keyStride));
        }
      }
      HYBRID_UNROLL
      for (int n = 0; n < 2; ++n) {
        if constexpr (!hasB)
          sums[n] = readFragment(dCorrected + n * 8, pairStride);
        block.forFragment(valueTile, n, [&](int i, int value, int row) {
          if (block.hasRow(row) && Block::hasValue(value))
            put(to.dv[block.at(p.dvStride, block.tokenOf(row), block.stepOf(row), valueSize) +
                      value],
                sums[n].at[i]);
        });
      }
    }
    warpBarrier(); // what is read here is replaced
  }

  /// `count` x 8 columns of products whose contraction goes over values: left(value) and
  /// right(value, n) are operands of 8 of these.
  template <int count, typename Left, typename Right>
  static HYBRID_DEVICE void product(T *result, int stride, Left left, Right right) {
    Fragment<T> sums[count];
    HYBRID_NO_UNROLL
    for (int value = 0; value < valueTiles * 16; value += 8) {
      const LeftOperand<T> rows = left(value);
      HYBRID_UNROLL
      for (int n = 0; n < count; ++n)
        multiplyAdd(sums[n], rows, right(value, n));
    }
    HYBRID_UNROLL
    for (int n = 0; n < count; ++n)
      writeFragment(result + n * 8, stride, sums[n]);
  }
  /// Products with states go to the tiles of the rows, products of rows to those of pairs.
  HYBRID_DEVICE void productsOfValues(const Tiles &t) const {
    if constexpr (decayGradient)
      for (int key = block.lane; key < keys; key += warpSize) {
        T sum = 0;
        HYBRID_UNROLL_BY_8
        for (int value = 0; value < valueTiles * 16; ++value)
          sum = multiplyAdd(t.entry[value * keyStride + key], t.leaving[value * keyStride + key],
                            sum);
        t.decayEnd[key] = sum;
      }
    auto ofTile = [&](const T *tile) { // [value][row], as rows
      return [tile](int value) { return leftColumns(tile + value * pairStride, pairStride); };
    };
    auto ofRows = [&](const T *tile) { // the same, transposed
      return [tile](int value, int n) {
        return rightColumns(tile + value * pairStride + n * 8, pairStride);
      };
    };
    const auto dOut = ofTile(t.dOut), dCorrected = ofTile(t.dCorrected);
    const int g = block.lane / 4, twice = block.lane % 4 * 2;
    const auto plain = [&](int value) {
      LeftOperand<T> left;
      HYBRID_UNROLL
      for (int i = 0; i < 4; ++i)
        left.set(i, block.valueOf(g + i % 2 * 8, value + twice + i / 2));
      return left;
    };
    product<2>(t.read, pairStride, dOut, ofRows(t.corrected));
    product<2>(t.inverse, pairStride, dCorrected, ofRows(t.corrected));
    if constexpr (hasB) {
      const auto ofPlain = [&](int value, int n) {
        RightOperand<T> right;
        HYBRID_UNROLL
        for (int i = 0; i < 2; ++i)
          right.set(i, block.valueOf(n * 8 + g, value + twice + i));
        return right;
      };
      product<2>(t.plainRead, pairStride, dOut, ofPlain);
      product<2>(t.plainErase, pairStride, dCorrected, ofPlain);
    }
    constexpr int most = keyTiles % 4 == 0 ? 4 : keyTiles % 2 == 0 ? 2 : 1;
    HYBRID_NO_UNROLL
    for (int key = 0; key < keys; key += 8 * most) {
      auto ofState = [key](const T *state) {
        return [=](int value, int n) {
          return rightColumns(state + value * keyStride + key + n * 8, keyStride);
        };
      };
      product<most>(t.query + key, keyStride, dOut, ofState(t.entry));
      product<most>(t.erase + key, keyStride, dCorrected, ofState(t.entry));
      product<most>(t.written + key, keyStride, ofTile(t.corrected), ofState(t.leaving));
      if constexpr (hasB)
        product<most>(t.plain + key, keyStride, plain, ofState(t.leaving));
    }
  }

  /// A key's factors, queries, ... of all rows.
  struct Rows {
    T query[chunk], erase[chunk], factor[chunk];
  };

  /// The key's part of all rows: loads before numbers.
  HYBRID_DEVICE void loadKey(int key, Rows &of, T (&written)[chunk], T (&plain)[chunk]) const {
    typename Block::Query storedQueries[chunk];
    typename Block::Erase storedErases[chunk];
    typename Block::Write storedWritten[chunk];
    typename Block::Key storedPlain[chunk];
    HYBRID_UNROLL
    for (int i = 0; i < chunk; ++i) {
      storedQueries[i] = block.storedQuery(i, key), storedErases[i] = block.storedErase(i, key);
      storedWritten[i] = block.storedWritten(i, key);
      if constexpr (hasB)
        storedPlain[i] = block.storedPlain(i, key);
    }
    HYBRID_UNROLL
    for (int i = 0; i < chunk; ++i) {
      of.query[i] = block.queryOf(i, key, storedQueries[i]);
      of.erase[i] = block.eraseOf(i, key, storedErases[i]);
      written[i] = block.writtenOf(i, key, storedWritten[i]);
      if constexpr (hasB)
        plain[i] = block.writtenOf(i, key, storedPlain[i]);
    }
  }

  /// Gradients of the rows in 16 keys: half of the lanes have those of queries, or of even rows,
  /// the other half those of erasing rows, or of odd rows.
  HYBRID_DEVICE void ofKeys(const Tiles &t, int firstKey, T &ofHead) const {
    const int key = firstKey + block.lane % chunk, half = block.lane / chunk,
              tileKey = keys % chunk == 0 || key < keys ? key : 0; // that there is
    const bool isKey = keys % chunk == 0 ? Block::hasKey(key) : key < keySize;
    Rows of;
    T written[chunk], plain[chunk], dDecay[chunk];
    loadKey(tileKey, of, written, plain);
    HYBRID_UNROLL
    for (int i = 0; i < chunk; ++i) {
      of.factor[i] = decays ? t.factor[i * keyStride + tileKey] : T(1);
      dDecay[i] = T(0);
    }
    readers(t, of.factor, written, plain, key, half, tileKey, isKey);
    T ofState = T(0);
    if constexpr (decayGradient) {
      ofState = half || !isKey ? T(0) : T(1); // one half's matter
      runOf(of, -1, ofState, t.decayEnd[tileKey], t.query + tileKey, t.erase + tileKey, keyStride,
            dDecay);
    }
    // The states are not needed any more: rows as they are written take their place.
    warpBarrier();
    if (half == 0 && (keys % chunk == 0 || key < keys)) {
      HYBRID_UNROLL
      for (int i = 0; i < chunk; ++i) {
        t.entry[i * keyStride + key] = written[i];
        if constexpr (hasB)
          t.leaving[i * keyStride + key] = plain[i];
      }
    }
    warpBarrier();
    HYBRID_NO_UNROLL
    for (int i = 0; i < chunk; i += 2) {
      const int j = i + half, at = j * keyStride + tileKey;
      const T dWritten = runOf(of, j, isKey ? t.entry[at] : T(0), t.written[at], t.read + j,
                               t.inverse + j, pairStride, dDecay);
      T dPlain = T(0);
      if constexpr (hasB)
        dPlain = runOf(of, j, isKey ? t.leaving[at] : T(0), t.plain[at], t.plainRead + j,
                       t.plainErase + j, pairStride, dDecay);
      if (isKey && block.hasRow(j)) {
        const int64_t token = block.tokenOf(j);
        const int step = block.stepOf(j);
        if constexpr (hasB)
          put(to.db[block.at(p.dbStride, token, step, keySize) + key], dWritten);
        put(to.dk[block.at(p.dkStride, token, step, keySize) + key], hasB ? dPlain : dWritten);
      }
    }
    if constexpr (decayGradient)
      storeDecays(dDecay, key, half, isKey, ofHead);
  }

  /// dq and da of a key: sums over the rows written before, and the state, whose products of
  /// factors come with every step.
  HYBRID_DEVICE void readers(const Tiles &t, const T (&factor)[chunk], const T (&written)[chunk],
                             const T (&plain)[chunk], int key, int half, int tileKey,
                             bool isKey) const {
    constexpr int size = 16 / static_cast<int>(sizeof(T));
    const T *const pairs = half ? t.inverse : t.read,
                   *const plainPairs = half ? t.plainErase : t.plainRead,
                   *const ofState = (half ? t.erase : t.query) + tileKey;
    HYBRID_UNROLL
    for (int i = 0; i < chunk; ++i) {
      T with[chunk], withPlain[chunk], sum = ofState[i * keyStride], own = T(0);
      HYBRID_UNROLL
      for (int j = 0; j < chunk; j += size)
        if (j <= i) {
          T some[size];
          readVectors<size>(pairs + i * pairStride + j, some);
          HYBRID_UNROLL
          for (int c = 0; c < size; ++c)
            with[j + c] = some[c];
          if constexpr (hasB) {
            readVectors<size>(plainPairs + i * pairStride + j, some);
            HYBRID_UNROLL
            for (int c = 0; c < size; ++c)
              withPlain[j + c] = some[c];
          }
        }
      HYBRID_UNROLL
      for (int j = 0; j <= i; ++j) {
        own = with[j] * written[j];
        if constexpr (hasB)
          own = multiplyAdd(withPlain[j], plain[j], own);
        if (j < i)
          sum = decays ? multiplyAdd(sum, factor[j], own) : sum + own;
      }
      if (half == 0)
        sum = decays ? multiplyAdd(sum, factor[i], own) : sum + own; // a row is read after that
      const int64_t token = block.tokenOf(i);
      const int step = block.stepOf(i);
      if (!block.hasRow(i) || !isKey)
        continue;
      if (half)
        put(to.da[block.at(p.daStride, token, step, keySize) + key], block.starts(i) ? T(0)
                                                                     : hasB          ? sum
                                                                                     : -sum);
      else if (block.isRead(i))
        put(to.dq[block.at(p.dqStride, token, 0, keySize) + key], T(p.scale) * sum);
    }
  }

  /// Of d_m = factor_m d_(m-1) behind row j, which starts as `start`, is read with read[m * stride]
  /// and erased with erased[m * stride], and whose last has the gradient `end`: that of `start`,
  /// and what it adds to those of the factors' logarithms.
  HYBRID_DEVICE T runOf(const Rows &of, int j, T start, T end, const T *read, const T *erased,
                        int stride, T (&dDecay)[chunk]) const {
    T before[chunk], product = j < 0 ? start : T(0), gradient = T(0);
    if constexpr (decayGradient) {
      HYBRID_UNROLL
      for (int m = 0; m < chunk; ++m) {
        product *= of.factor[m];
        before[m] = product; // nothing up to row j
        product = m == j ? start : product;
      }
    }
    HYBRID_UNROLL
    for (int m = chunk - 1; m >= 0; --m) {
      end = multiplyAdd(of.query[m], read[m * stride], end);
      gradient = m == j ? end : gradient;
      if constexpr (decayGradient)
        dDecay[m] = multiplyAdd(before[m], end, dDecay[m]);
      if constexpr (decays)
        end *= of.factor[m];
      end = multiplyAdd(of.erase[m], erased[m * stride], end);
    }
    return gradient;
  }

  HYBRID_DEVICE void storeDecays(T (&dDecay)[chunk], int key, int half, bool isKey,
                                 T &ofHead) const {
    HYBRID_UNROLL
    for (int i = 0; i < chunk; ++i)
      dDecay[i] += shuffleXor(dDecay[i], chunk);
    if constexpr (perHead) { // what is of keys that are not there is zero
      foldLanes<chunk, chunk / 2>(dDecay);
      ofHead += dDecay[0];
    } else {
      HYBRID_UNROLL
      for (int i = 0; i < chunk; ++i)
        if (half == 0 && block.hasRow(i) && block.stepOf(i) == 0 && isKey)
          to.dDecay[block.at(p.dDecayStride, block.tokenOf(i), 0, keySize) + key] = dDecay[i];
    }
  }
};

} // namespace hybrid::cuda
