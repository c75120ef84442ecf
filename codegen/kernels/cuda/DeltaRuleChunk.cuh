//===- DeltaRuleChunk.cuh - chunks of the delta rule in a block of threads ---===//
//
// A chunk has 16 rows. With W what its rows add to the state beside k v' (b a' S, or -k a' S where
// b is not given), D(i, j) the product of the factors of the rows behind j up to i, key by key, and
// S the state that it starts from,
//
//   N(i, j) = a_i D(i-1, j) w_j,  P(i, j) = q_i D(i, j) w_j     w_j: b_j, or k_j
//   W = (I - N)^-1 (E S + V)      E(i) = a_i D(i-1, start), Q and Z the same to q_i and from w_j
//   O = Q S + P W                 S <- D(end, start) S + Z' W
//
// and with b the same terms of k and V beside those of b and W. Nothing but the second line's E S
// depends on the state: a warp makes N, P, (I - N)^-1 and the rest of a chunk, as many warps as
// many chunks at a time. Then states go from chunk to chunk, a warp with 16 of the values, in
// registers: they are held transposed, [value][key], so that what a product gives is an operand of
// the next (Fragments.cuh). At last warps have a chunk each again.
//
// Products of decays are taken factor by factor: however strong they are, nothing overflows and
// nothing is subtracted. The inverse comes from substitution, which repeated keys do not spoil.
//
// Activations may lie in memory as bf16; all is computed in T. What turns an element into a number
// waits for its load, so loads that are to be under way together give elements as they lie there.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/DeltaRule.h"
#include "codegen/kernels/cuda/Fragments.cuh"
#include "codegen/kernels/cuda/Lanes.cuh"

namespace hybrid::cuda {

/// The tiles of a chunk. What depends on the chunk's rows replaces them.
template <typename T> struct DeltaRuleTiles {
  T *query, *erase, *written, *plain; // [row][key]: q, a, b or k, k; later Q, E, Z, Z of k
  T *factor;                          // [row][key]
  T *inverse, *read;                  // [row][row before]: (I - N)^-1 and P
  T *plainErase, *plainRead;          // N and P of k, if there is b
  T *corrected;                       // [value][row]: V, then W
  T *entry, *added;                   // [value][key]: S, and what k adds if there is b
  T *entered;                         // [key]: D(end, start)
  // Of the gradient:
  T *dOut, *dCorrected; // [value][row]
  T *leaving;           // [value][key]: the gradient of the state at the chunk's end
  T *decayEnd;          // [key]: Σ S leaving
};

/// Elements in memory of q, k, v, a and b.
template <typename Query, typename Key, typename Value, typename Erase, typename Write>
struct DeltaRuleElements {
  using OfQuery = Query;
  using OfKey = Key;
  using OfValue = Value;
  using OfErase = Erase;
  using OfWrite = Write;
};

/// A head of a sequence, and `together` chunks of it.
template <typename T, DeltaRuleParams p, bool backward, typename Elements> struct DeltaRuleBlock {
  using Query = typename Elements::OfQuery;
  using Key = typename Elements::OfKey;
  using Value = typename Elements::OfValue;
  using Erase = typename Elements::OfErase;
  static constexpr DeltaRuleTiling tiling = deltaRuleTilingOf<T>(p, backward);
  static constexpr int chunk = deltaRuleChunk, keys = tiling.keys, values = tiling.values,
                       keyStride = tiling.keyStride, pairStride = tiling.pairStride,
                       keyTiles = keys / 8, valueTiles = values / 16, warps = tiling.warps,
                       together = tiling.together, steps = static_cast<int>(p.steps),
                       keySize = static_cast<int>(p.keySize),
                       valueSize = static_cast<int>(p.valueSize);
  static constexpr bool decays = deltaRuleDecays(p), hasB = p.hasB != 0,
                        perHead = p.decay == DeltaRuleDecay::HeadAndTime;
  using Write = typename Choose<hasB, typename Elements::OfWrite, Key>::Type;
  static constexpr int64_t chunks = deltaRuleChunks(p), groups = deltaRuleGroups(p, tiling);
  using State = Fragment<T>[keyTiles]; // transposed: 16 values of all keys

  int warp, lane;
  int64_t batch, head;
  // Of the sequence and head:
  const Query *q;
  const Key *k;
  const Value *v;
  const Erase *a;
  const Write *b; // k, if b is not given
  const T *decay;
  const int32_t *segments;
  T *state, *dState, *tiles;
  int64_t first; // row of the warp's chunk
  int rows;      // of it

  HYBRID_DEVICE DeltaRuleBlock(int64_t item, const Query *qs, const Key *ks, const Value *vs,
                               const Erase *as, const typename Elements::OfWrite *bs,
                               const T *decaysOf, const int32_t *ids) {
    warp = warpIndex(), lane = laneIndex();
    batch = item / p.heads, head = item % p.heads;
    q = qs + at(p.qStride, 0, 0, keySize), k = ks + at(p.kStride, 0, 0, keySize);
    v = vs + at(p.vStride, 0, 0, valueSize), a = as + at(p.aStride, 0, 0, keySize);
    if constexpr (hasB)
      b = bs + at(p.bStride, 0, 0, keySize);
    else
      b = k;
    if constexpr (p.decay != DeltaRuleDecay::None)
      decay = decaysOf + at(p.decayStride, 0, 0, perHead ? 1 : keySize);
    segments = p.hasSegments ? ids + batch * p.length : nullptr;
  }
  /// States and tiles are in shared memory as far as they fit, else in the block's workspace.
  HYBRID_DEVICE void take(T *workspace) {
    constexpr int64_t ofStates = (backward ? 2 : 1) * tiling.stateElements;
    if constexpr (tiling.statesShared)
      state = sharedMemory<T>();
    else
      state = workspace;
    if constexpr (!tiling.shared)
      tiles = workspace + ofStates;
    else
      tiles = sharedMemory<T>() + (tiling.statesShared ? ofStates : 0);
    dState = state + (backward ? tiling.stateElements : 0);
  }
  HYBRID_DEVICE DeltaRuleTiles<T> tilesOf(int slot) const {
    T *memory = tiles + slot * static_cast<int>(tiling.chunkElements);
    auto take = [&](bool wanted, int size) {
      T *taken = memory;
      memory += wanted ? size : 0;
      return taken;
    };
    constexpr int ofKeys = chunk * keyStride, ofPairs = chunk * pairStride,
                  ofValues = values * pairStride, ofStates = values * keyStride;
    DeltaRuleTiles<T> t;
    t.query = take(true, ofKeys), t.erase = take(true, ofKeys), t.written = take(true, ofKeys);
    t.plain = take(hasB, ofKeys), t.factor = take(decays, ofKeys);
    t.inverse = take(true, ofPairs), t.read = take(true, ofPairs);
    t.plainErase = take(hasB, ofPairs), t.plainRead = take(hasB, ofPairs);
    t.corrected = take(true, ofValues), t.entry = take(true, ofStates);
    t.added = take(hasB, ofStates), t.entered = take(true, keys);
    t.dOut = take(backward, ofValues), t.dCorrected = take(backward, ofValues);
    t.leaving = take(backward, ofStates), t.decayEnd = take(backward, keys);
    return t;
  }

  // ---- rows and what they hold ----

  /// Where the head's part of a step of a token is in a tensor; from a token on for offsets.
  HYBRID_DEVICE int64_t at(int64_t stride, int64_t t, int j, int size) const {
    return (batch * p.length + t) * stride + (j * p.heads + head) * size;
  }
  HYBRID_DEVICE int64_t stateOffset() const {
    return (batch * p.heads + head) * p.keySize * p.valueSize;
  }
  HYBRID_DEVICE void select(int64_t index) {
    first = index * chunk;
    rows = static_cast<int>(minimum<int64_t>(chunk, deltaRuleRows(p) - first));
  }
  HYBRID_DEVICE int64_t tokenOf(int row) const { return (first + row) / steps; }
  HYBRID_DEVICE int stepOf(int row) const { return static_cast<int>((first + row) % steps); }
  HYBRID_DEVICE bool isRead(int row) const { return stepOf(row) == steps - 1; }
  HYBRID_DEVICE bool hasRow(int row) const { return deltaRuleRows(p) % chunk == 0 || row < rows; }
  static HYBRID_DEVICE bool hasKey(int key) { return keys == keySize || key < keySize; }
  static HYBRID_DEVICE bool hasValue(int value) { return values == valueSize || value < valueSize; }
  // Loads are not behind conditions, which would let each wait for the one before: what is not
  // there is read elsewhere, and then zero.
  HYBRID_DEVICE int rowFor(int row) const { return hasRow(row) ? row : 0; }
  static HYBRID_DEVICE int keyFor(int key) { return hasKey(key) ? key : 0; }
  static HYBRID_DEVICE int valueFor(int value) { return hasValue(value) ? value : 0; }
  HYBRID_DEVICE int64_t placeOf(int row, int64_t stride, int size) const {
    return tokenOf(row) * stride + stepOf(row) * p.heads * size;
  }
  HYBRID_DEVICE bool starts(int row) const {
    if constexpr (p.hasSegments == 0)
      return false;
    const int64_t t = tokenOf(rowFor(row));
    const bool other = segments[t] != segments[maximum<int64_t>(t - 1, 0)];
    return hasRow(row) && stepOf(row) == 0 && other;
  }
  // For each tensor: an element as it lies in memory, and the number that it stands for.
  HYBRID_DEVICE Query storedQuery(int row, int key) const {
    return q[tokenOf(rowFor(row)) * p.qStride + keyFor(key)];
  }
  HYBRID_DEVICE T queryOf(int row, int key, Query there) const {
    return hasRow(row) && hasKey(key) && isRead(row) ? T(p.scale) * number(there) : T(0);
  }
  HYBRID_DEVICE Erase storedErase(int row, int key) const {
    return a[placeOf(rowFor(row), p.aStride, keySize) + keyFor(key)];
  }
  HYBRID_DEVICE T eraseOf(int row, int key, Erase there) const {
    return hasRow(row) && hasKey(key) && !starts(row) ? (hasB ? number(there) : -number(there))
                                                      : T(0);
  }
  HYBRID_DEVICE Write storedWritten(int row, int key) const {
    return b[placeOf(rowFor(row), hasB ? p.bStride : p.kStride, keySize) + keyFor(key)];
  }
  HYBRID_DEVICE Key storedPlain(int row, int key) const {
    return k[placeOf(rowFor(row), p.kStride, keySize) + keyFor(key)];
  }
  /// Of what is written, b or k.
  template <typename Element> HYBRID_DEVICE T writtenOf(int row, int key, Element there) const {
    return hasRow(row) && hasKey(key) ? number(there) : T(0);
  }
  /// What a factor is the exponential of; 0 where there is none.
  HYBRID_DEVICE T decayOf(int row, int key) const {
    if constexpr (p.decay == DeltaRuleDecay::None)
      return T(0);
    const T there = decay[tokenOf(rowFor(row)) * p.decayStride + (perHead ? 0 : keyFor(key))];
    return hasRow(row) && hasKey(key) && stepOf(row) == 0 ? there : T(0);
  }
  HYBRID_DEVICE Value storedValue(int row, int value) const {
    return v[placeOf(rowFor(row), p.vStride, valueSize) + valueFor(value)];
  }
  HYBRID_DEVICE T valueOf(int row, int value, Value there) const {
    return hasRow(row) && hasValue(value) ? number(there) : T(0);
  }
  HYBRID_DEVICE T valueOf(int row, int value) const {
    return valueOf(row, value, storedValue(row, value));
  }
  /// dO of a row that is read.
  template <typename Element>
  HYBRID_DEVICE Element storedDOut(const Element *dO, int row, int value) const {
    return dO[at(p.oStride, tokenOf(rowFor(row)), 0, valueSize) + valueFor(value)];
  }
  template <typename Element> HYBRID_DEVICE T dOutOf(int row, int value, Element there) const {
    return hasRow(row) && hasValue(value) && isRead(row) ? number(there) : T(0);
  }
  /// Calls visit(i, value, row) for the lane's elements of a fragment of 16 values and 8 rows.
  template <typename Visit>
  HYBRID_DEVICE void forFragment(int valueTile, int rowTile, Visit visit) const {
    HYBRID_UNROLL
    for (int i = 0; i < 4; ++i)
      visit(i, valueTile * 16 + lane / 4 + i / 2 * 8, rowTile * 8 + lane % 4 * 2 + i % 2);
  }
  HYBRID_DEVICE Fragment<T> valuesOf(int valueTile, int rowTile) const {
    Fragment<T> fragment;
    forFragment(valueTile, rowTile,
                [&](int i, int value, int row) { fragment.at[i] = valueOf(row, value); });
    return fragment;
  }

  // ---- what a warp makes of a chunk ----

  /// All that does not depend on the state.
  HYBRID_DEVICE void prepare(int64_t index, const DeltaRuleTiles<T> &t) {
    warpBarrier(); // the chunk before is done with its tiles
    select(index);
    Value stored[2][4];
    HYBRID_NO_UNROLL
    for (int valueTile = 0; valueTile < valueTiles; ++valueTile) {
      HYBRID_UNROLL
      for (int n = 0; n < 2; ++n)
        forFragment(valueTile, n,
                    [&](int i, int value, int row) { stored[n][i] = storedValue(row, value); });
      if (valueTile == 0)
        loadRows(t);
      HYBRID_UNROLL
      for (int n = 0; n < 2; ++n) {
        Fragment<T> fragment;
        forFragment(valueTile, n, [&](int i, int value, int row) {
          fragment.at[i] = valueOf(row, value, stored[n][i]);
        });
        writeFragment(t.corrected + valueTile * 16 * pairStride + n * 8, pairStride, fragment);
      }
    }
    warpBarrier();
    pair(t, t.written, t.inverse, t.read);
    if constexpr (hasB)
      pair(t, t.plain, t.plainErase, t.plainRead);
    warpBarrier();
    invert(t.inverse);
    if constexpr (decays)
      enter(t);
    if constexpr (hasB)
      addPlain(t);
  }

  HYBRID_DEVICE void loadRows(const DeltaRuleTiles<T> &t) const {
    constexpr int each = chunk * keys / warpSize, most = 8;
    HYBRID_NO_UNROLL
    for (int done = 0; done < each; done += most) {
      Query ofQuery[most];
      Erase ofErase[most];
      Write ofWritten[most];
      Key ofPlain[most];
      T ofDecay[most];
      auto forAll = [&](auto visit) {
        HYBRID_UNROLL
        for (int n = 0; n < most; ++n)
          if (each % most == 0 || done + n < each) {
            const int i = (done + n) * warpSize + lane;
            visit(n, i / keys, i % keys);
          }
      };
      forAll([&](int n, int row, int key) {
        ofQuery[n] = storedQuery(row, key), ofErase[n] = storedErase(row, key);
        ofWritten[n] = storedWritten(row, key), ofDecay[n] = decayOf(row, key);
        if constexpr (hasB)
          ofPlain[n] = storedPlain(row, key);
      });
      forAll([&](int n, int row, int key) {
        const int tile = row * keyStride + key;
        t.query[tile] = queryOf(row, key, ofQuery[n]);
        t.erase[tile] = eraseOf(row, key, ofErase[n]);
        t.written[tile] = writtenOf(row, key, ofWritten[n]);
        if constexpr (hasB)
          t.plain[tile] = writtenOf(row, key, ofPlain[n]);
        if constexpr (decays)
          t.factor[tile] = starts(row)                       ? T(0)
                           : p.decay == DeltaRuleDecay::None ? T(1)
                                                             : exponential(ofDecay[n]);
      });
    }
  }

  /// N, to be inverted, or that of k, and P; `rowsOf` become what they are at the chunk's end. A
  /// lane has a row that is written, and half of the keys.
  HYBRID_DEVICE void pair(const DeltaRuleTiles<T> &t, T *rowsOf, T *erasedTo, T *readTo) const {
    constexpr int size = 16 / static_cast<int>(sizeof(T));
    const int j = lane % chunk, half = lane / chunk;
    T erased[chunk], read[chunk];
    HYBRID_UNROLL
    for (int i = 0; i < chunk; ++i)
      erased[i] = read[i] = T(0);
    HYBRID_NO_UNROLL
    for (int n = 0; n < keys / 2; n += size) {
      const int key = half * (keys / 2) + n;
      T own[size], written[size];
      readVectors<size>(rowsOf + j * keyStride + key, own);
      HYBRID_UNROLL
      for (int c = 0; c < size; ++c)
        written[c] = T(0);
      HYBRID_UNROLL
      for (int i = 0; i < chunk; ++i) {
        T erase[size], query[size], factor[size];
        readVectors<size>(t.erase + i * keyStride + key, erase);
        readVectors<size>(t.query + i * keyStride + key, query);
        if constexpr (decays)
          readVectors<size>(t.factor + i * keyStride + key, factor);
        HYBRID_UNROLL
        for (int c = 0; c < size; ++c) {
          erased[i] = multiplyAdd(erase[c], written[c], erased[i]);
          if constexpr (decays)
            written[c] *= factor[c];
          written[c] = i == j ? own[c] : written[c];
          read[i] = multiplyAdd(query[c], written[c], read[i]);
        }
      }
      writeVectors<size>(rowsOf + j * keyStride + key, written);
    }
    foldHalves(read, readTo, half, j);
    if (erasedTo != t.inverse) {
      foldHalves(erased, erasedTo, half, j);
    } else { // by columns, as the inverse reads it
      HYBRID_UNROLL
      for (int i = 0; i < chunk; ++i)
        erased[i] += shuffleXor(erased[i], chunk);
      T own[chunk / 2];
      HYBRID_UNROLL
      for (int i = 0; i < chunk / 2; ++i)
        own[i] = half ? erased[i + chunk / 2] : erased[i];
      writeVectors<chunk / 2>(erasedTo + j * pairStride + half * (chunk / 2), own);
    }
  }
  /// Sums over both halves of the keys, to [row][row before].
  HYBRID_DEVICE void foldHalves(const T (&sums)[chunk], T *to, int half, int j) const {
    HYBRID_UNROLL
    for (int i = 0; i < chunk / 2; ++i) {
      const T mine = half ? sums[i + chunk / 2] : sums[i],
              others = half ? sums[i] : sums[i + chunk / 2];
      to[(half * (chunk / 2) + i) * pairStride + j] = mine + shuffleXor(others, chunk);
    }
  }

  /// (I - N)^-1 in the place of N, which is there by columns: a lane has a column.
  HYBRID_DEVICE void invert(T *pairs) const {
    constexpr int size = 16 / static_cast<int>(sizeof(T));
    const int column = lane % chunk, half = lane / chunk;
    T inverse[chunk];
    HYBRID_UNROLL
    for (int i = 0; i < chunk; ++i)
      inverse[i] = i == column ? T(1) : T(0);
    HYBRID_UNROLL
    for (int j = 0; j < chunk - 1; ++j)
      HYBRID_UNROLL
    for (int from = 0; from < chunk; from += size)
      if (from + size > j + 1) {
        T erased[size];
        readVectors<size>(pairs + j * pairStride + from, erased);
        HYBRID_UNROLL
        for (int c = 0; c < size; ++c)
          if (from + c > j)
            inverse[from + c] = multiplyAdd(erased[c], inverse[j], inverse[from + c]);
      }
    warpBarrier();
    HYBRID_UNROLL
    for (int i = 0; i < chunk / 2; ++i)
      pairs[(half * (chunk / 2) + i) * pairStride + column] =
          half ? inverse[i + chunk / 2] : inverse[i];
  }

  /// Queries and erasing rows decayed from the chunk's start, and what is left of the state there.
  HYBRID_DEVICE void enter(const DeltaRuleTiles<T> &t) const {
    for (int key = lane; key < keys; key += warpSize) {
      T product = T(1);
      HYBRID_UNROLL
      for (int i = 0; i < chunk; ++i) {
        const int at = i * keyStride + key;
        t.erase[at] *= product;
        product *= t.factor[at];
        t.query[at] *= product;
      }
      t.entered[key] = product;
    }
  }

  /// What rows of k add: to what is solved for, and to the state.
  HYBRID_DEVICE void addPlain(const DeltaRuleTiles<T> &t) const {
    warpBarrier();
    HYBRID_NO_UNROLL
    for (int valueTile = 0; valueTile < valueTiles; ++valueTile) {
      T *ofValues = t.corrected + valueTile * 16 * pairStride,
        *added = t.added + valueTile * 16 * keyStride;
      const LeftOperand<T> left[2] = {leftRows(ofValues, pairStride),
                                      leftRows(ofValues + 8, pairStride)};
      Fragment<T> sums[2];
      HYBRID_UNROLL
      for (int n = 0; n < 2; ++n) {
        HYBRID_UNROLL
        for (int j = 0; j <= n; ++j)
          multiplyAdd(sums[n], left[j],
                      rightRows(t.plainErase + n * 8 * pairStride + j * 8, pairStride));
        writeFragment(ofValues + n * 8, pairStride, sums[n]); // of the lane's own elements
      }
      HYBRID_UNROLL
      for (int n = 0; n < keyTiles; ++n) {
        Fragment<T> sum;
        HYBRID_UNROLL
        for (int j = 0; j < 2; ++j)
          multiplyAdd(sum, left[j], rightColumns(t.plain + j * 8 * keyStride + n * 8, keyStride));
        writeFragment(added + n * 8, keyStride, sum);
      }
    }
  }

  // ---- states from chunk to chunk ----

  /// Calls visit(value tile) for those of the warp.
  template <typename Visit> HYBRID_DEVICE void forValueTiles(Visit visit) const {
    if constexpr (valueTiles <= warps) {
      if (warp < valueTiles)
        visit(warp);
    } else {
      HYBRID_NO_UNROLL
      for (int valueTile = warp; valueTile < valueTiles; valueTile += warps)
        visit(valueTile);
    }
  }
  /// Calls visit(n, i, key, value) for the lane's elements of a state.
  template <typename Visit> static HYBRID_DEVICE void forState(int valueTile, Visit visit) {
    HYBRID_UNROLL
    for (int n = 0; n < keyTiles; ++n)
      HYBRID_UNROLL
    for (int i = 0; i < 4; ++i)
      visit(n, i, n * 8 + laneIndex() % 4 * 2 + i % 2,
            valueTile * 16 + laneIndex() / 4 + i / 2 * 8);
  }
  /// Where a lane's part of a state is in memory of the block's own.
  HYBRID_DEVICE int partOf(int valueTile, int n) const {
    return ((valueTile * keyTiles + n) * warpSize + lane) * 4;
  }
  HYBRID_DEVICE void get(State &to, const T *from, int valueTile) const {
    HYBRID_UNROLL
    for (int n = 0; n < keyTiles; ++n)
      readVectors<4>(from + partOf(valueTile, n), to[n].at);
  }
  HYBRID_DEVICE void put(T *to, const State &from, int valueTile) const {
    HYBRID_UNROLL
    for (int n = 0; n < keyTiles; ++n)
      HYBRID_UNROLL
    for (int i = 0; i < 4; i += 2)
      storePack(to + partOf(valueTile, n) + i, Pack<T, 2>{{from[n].at[i], from[n].at[i + 1]}});
  }
  HYBRID_DEVICE void copyStates(T *to, const T *from) const {
    forValueTiles([&](int valueTile) {
      State of;
      get(of, from, valueTile);
      put(to, of, valueTile);
    });
  }
  HYBRID_DEVICE void readState(T *to, const T *from, bool is) const {
    forValueTiles([&](int valueTile) {
      State of;
      forState(valueTile, [&](int n, int i, int key, int value) {
        of[n].at[i] = is && hasKey(key) && hasValue(value)
                          ? from[stateOffset() + key * p.valueSize + value]
                          : T(0);
      });
      put(to, of, valueTile);
    });
  }
  HYBRID_DEVICE void writeState(T *to, const T *from) const {
    forValueTiles([&](int valueTile) {
      State of;
      get(of, from, valueTile);
      forState(valueTile, [&](int n, int i, int key, int value) {
        if (hasKey(key) && hasValue(value))
          to[stateOffset() + key * p.valueSize + value] = of[n].at[i];
      });
    });
  }
  HYBRID_DEVICE void decayState(State &of, const T *entered) const {
    HYBRID_UNROLL
    for (int n = 0; n < keyTiles; ++n) {
      const auto pair = loadPack<2>(entered + n * 8 + lane % 4 * 2);
      HYBRID_UNROLL
      for (int i = 0; i < 4; ++i)
        of[n].at[i] *= pair[i % 2];
    }
  }

  /// Takes the state through `count` chunks; W of each is left in its tiles, and the state that it
  /// starts from if it is kept.
  template <bool keep> HYBRID_DEVICE void advance(int count) const {
    forValueTiles([&](int valueTile) {
      State of;
      get(of, state, valueTile);
      HYBRID_NO_UNROLL
      for (int slot = 0; slot < count; ++slot) {
        const DeltaRuleTiles<T> t = tilesOf(slot);
        T *const corrected = t.corrected + valueTile * 16 * pairStride,
                 *const entry = t.entry + valueTile * 16 * keyStride,
                 *const added = t.added + valueTile * 16 * keyStride;
        Fragment<T> right[2], solved[2];
        HYBRID_UNROLL
        for (int n = 0; n < 2; ++n)
          right[n] = readFragment(corrected + n * 8, pairStride);
        HYBRID_UNROLL
        for (int key = 0; key < keyTiles; ++key) {
          if constexpr (keep)
            writeFragment(entry + key * 8, keyStride, of[key]);
          const LeftOperand<T> left = leftOf(of[key]);
          HYBRID_UNROLL
          for (int n = 0; n < 2; ++n)
            multiplyAdd(right[n], left,
                        rightRows(t.erase + n * 8 * keyStride + key * 8, keyStride));
        }
        HYBRID_UNROLL
        for (int j = 0; j < 2; ++j) {
          const LeftOperand<T> left = leftOf(right[j]);
          HYBRID_UNROLL
          for (int n = j; n < 2; ++n)
            multiplyAdd(solved[n], left,
                        rightRows(t.inverse + n * 8 * pairStride + j * 8, pairStride));
        }
        if constexpr (decays)
          decayState(of, t.entered);
        if constexpr (hasB) {
          HYBRID_UNROLL
          for (int n = 0; n < keyTiles; ++n) {
            const Fragment<T> more = readFragment(added + n * 8, keyStride);
            HYBRID_UNROLL
            for (int i = 0; i < 4; ++i)
              of[n].at[i] += more.at[i];
          }
        }
        HYBRID_UNROLL
        for (int j = 0; j < 2; ++j) {
          writeFragment(corrected + j * 8, pairStride, solved[j]);
          const LeftOperand<T> left = leftOf(solved[j]);
          HYBRID_UNROLL
          for (int n = 0; n < keyTiles; ++n)
            multiplyAdd(of[n], left,
                        rightColumns(t.written + j * 8 * keyStride + n * 8, keyStride));
        }
      }
      put(state, of, valueTile);
    });
  }

  /// Chunks of a group.
  static HYBRID_DEVICE int chunksOf(int64_t group) {
    return static_cast<int>(minimum<int64_t>(together, chunks - group * together));
  }
};

} // namespace hybrid::cuda
