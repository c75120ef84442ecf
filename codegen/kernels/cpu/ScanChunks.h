//===- ScanChunks.h - scans of a matrix of state, chunk by chunk ----------===//
//
// A row i of a scan changes its state S by
//
//   w_i = n_i' S_(i-1) [+ v_i]      S_i = e^g_i S_(i-1) + c_i w_i' + k_i v_i'
//
// of which the delta rule has n = -a, c = k and w with v, or n = a, c = b and k with v; a linear
// scan has k and v alone. In a chunk of rows that starts from the state S, with D_ij the product of
// the decays behind j and up to i, and E_i of all up to i:
//
//   N_ij = n_i' D_(i-1)j c_j (j < i)          P_ij = q_i' D_ij c_j (j <= i), q times the scale
//   (I - N) W = (n E-) S [+ V, or N^k V]      O = (q E) S + P W [+ P^k V]
//   S <- E S + (D c)' W [+ (D k)' V]
//
// a triangular solve and products of blocks in registers (the WY form of Yang et al. 2024, section
// 3.2, without an inverse: it is solved for W). A chunk is as long as a vector, so that all of it
// is square blocks.
//
// Decays of a head make D a block, of products of neighbours: exact however strong they are.
// Decays of a key's own are taken into the rows: with F_i the product behind the chunk's first row
// and up to i, D_ij = F_i / F_j. Nothing overflows, as a chunk ends before a row where any
// channel's F is below `leastFactor`; the first row's own decay, which may be 0, is in E alone.
//
// Where a segment starts the decay is 0, and so is what reads the state before.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "BlockProducts.h"
#include "codegen/kernels/ScanChunks.h"

namespace hybrid::cpu {

/// A head's part of an activation, or of other memory: of a token, and of a step of it.
template <typename Pointer> struct Steps {
  Pointer first = {};
  int64_t token = 0, step = 0;

  Pointer at(int64_t t, int64_t j) const { return first + (t * token + j * step); }
};

/// Memory that tiles are taken of, one behind the other.
template <typename T> struct Memory {
  T *next;

  T *take(int64_t elements) {
    T *taken = next;
    next += elements;
    return taken;
  }
  /// Without a loop, which would hide constants beside the tiles from the optimizer.
  template <typename... Tiles> HYBRID_INLINE_LAMBDA void give(int64_t elements, Tiles &...tiles) {
    ((tiles = take(elements)), ...);
  }
};

/// Whose own the decays are.
enum class Factors { None, Head, Key };

/// What is scanned: one head of one sequence.
template <typename T> struct ScanOperands {
  ScanSizes sizes;
  int64_t steps; // of a token; the first decays, the last is read
  Factors factors;
  bool erases, hasB;    // c = b with w, or c = k with both w and v
  bool exclusive;       // a row reads the state before it
  bool constantFactors; // the decays of all rows are those of the first
  T scale;
  Steps<Activation<T>> q, k, v, a, b;
  Steps<const T *> decay; // natural logarithms; null where segments alone decay
  const int32_t *segments;
};

/// Rows that are added to the state with values, and what becomes of them in a chunk.
template <typename T> struct Writes {
  T *rows, *columns;         // divided by F: [row][key] and [key][row]
  T *toEnd;                  // decayed to the end of the chunk
  T *readPairs, *erasePairs; // P and N: [row][row written before]
  const T *values;
};

/// What a row is multiplied with: behind the chunk's first row, and from the state it starts from.
template <typename T> struct Place {
  Vector<T> factor, entered;
};

/// A chunk of a scan, in tiles.
template <typename T> struct ScanChunk {
  static constexpr T leastFactor = T(1e-20);

  ScanOperands<T> of;
  int64_t keyBlocks, valueBlocks;
  int64_t first, rows; // of the chunk
  int64_t ahead;       // tokens to the rows that are loaded next
  T *state, *query, *erase, *queryEntered, *eraseEntered, *value, *corrected, *out;
  T *factor, *inverse;                        // of keys: F and 1 / F
  T *firstFactor, *last /* E of the chunk */; // [key]
  T *pairs, *pairsBefore;                     // of a head: D_ij and D_(i-1)j
  T *entered, *enteredBefore, *ends;          // of a head: E_i, E_(i-1) and D to the end
  Writes<T> solved, plain;                    // c with W, and k with V

  ScanChunk(const ScanOperands<T> &operands, Memory<T> &memory)
      : of(operands), keyBlocks(scanBlocks<T>(operands.sizes.keySize)),
        valueBlocks(scanBlocks<T>(operands.sizes.valueSize)) {
    const int64_t keyTile = keyBlocks * blockSize<T>, valueTile = valueBlocks * blockSize<T>;
    state = memory.take(scanStateElements<T>(of.sizes));
    query = memory.take(keyTile), erase = memory.take(keyTile);
    queryEntered = decays() ? memory.take(keyTile) : query;
    eraseEntered = decays() ? memory.take(keyTile) : erase;
    factor = memory.take(keyTile), inverse = memory.take(keyTile);
    firstFactor = memory.take(keyBlocks * lanes<T>), last = memory.take(keyBlocks * lanes<T>);
    value = memory.take(valueTile), corrected = memory.take(valueTile);
    out = memory.take(valueTile);
    pairs = memory.take(blockSize<T>), pairsBefore = memory.take(blockSize<T>);
    entered = memory.take(blockSize<T>), enteredBefore = entered + lanes<T>;
    ends = entered + 2 * lanes<T>;
    memory.give(keyTile, solved.rows, solved.columns, plain.rows, plain.columns);
    memory.give(blockSize<T>, solved.readPairs, solved.erasePairs, plain.readPairs,
                plain.erasePairs);
    solved.toEnd = decays() ? memory.take(keyTile) : solved.rows;
    plain.toEnd = decays() ? memory.take(keyTile) : plain.rows;
    solved.values = corrected, plain.values = value;
  }

  bool decays() const { return of.factors != Factors::None; }
  bool writesPlain() const { return !of.erases || of.hasB; }
  const T *decayOfState() const { return decays() ? last : nullptr; }

  /// A state in memory, or zero, to blocks; and back.
  void loadState(T *to, const T *from) const {
    eachRowOfState(to, [&](T *row, int64_t key, int64_t c, int64_t count) HYBRID_INLINE_LAMBDA {
      store(row, from && key < of.sizes.keySize
                     ? loadPart(from + key * of.sizes.valueSize + c, count)
                     : splat(T(0)));
    });
  }
  void storeState(T *to, T *from) const {
    eachRowOfState(from,
                   [&](const T *row, int64_t key, int64_t c, int64_t count) HYBRID_INLINE_LAMBDA {
                     if (key < of.sizes.keySize)
                       storePart(to + key * of.sizes.valueSize + c, load(row), count);
                   });
  }
  template <typename Each> HYBRID_INLINE_LAMBDA void eachRowOfState(T *blocks, Each each) const {
    for (int64_t key = 0; key < keyBlocks * lanes<T>; ++key)
      for (int64_t block = 0; block < valueBlocks; ++block)
        each(blocks + (key / lanes<T> * valueBlocks + block) * blockSize<T> +
                 key % lanes<T> * lanes<T>,
             key, block * lanes<T>, valuesAt(block));
  }

  int64_t keysAt(int64_t block) const { return lanesAt<T>(block * lanes<T>, of.sizes.keySize); }
  int64_t valuesAt(int64_t block) const { return lanesAt<T>(block * lanes<T>, of.sizes.valueSize); }
  int64_t tokenOf(int64_t row) const { return (first + row) / of.steps; }
  int64_t stepOf(int64_t row) const { return (first + row) % of.steps; }
  bool isRead(int64_t row) const { return stepOf(row) == of.steps - 1; }
  bool starts(int64_t row) const {
    const int64_t t = tokenOf(row);
    return of.segments && stepOf(row) == 0 && t > 0 && of.segments[t] != of.segments[t - 1];
  }
  /// Whether a row reads nothing, as a segment starts with it.
  bool readsNothing(int64_t row) const { return of.exclusive && starts(row); }
  /// The row behind the span of `row`.
  int64_t spanEnd(int64_t row) const {
    return minimum((row / lanes<T> + 1) * lanes<T>, of.sizes.rows);
  }

  /// Where a row's columns are, of which those of the chunk behind this one are brought into the
  /// cache: heads lie beside one another, so that no hardware sees what comes next.
  template <typename Pointer>
  HYBRID_INLINE_LAMBDA Pointer place(const Steps<Pointer> &of, int64_t row, int64_t step,
                                     int64_t column) const {
    const Pointer at = of.at(tokenOf(row), step) + column;
    prefetch(at + ahead * of.token);
    return at;
  }

  /// What row i is multiplied with when it sees its own decay, and when it does not.
  Place<T> placeBehind(int64_t i, int64_t block) const {
    if (of.factors == Factors::Key) {
      const Vector<T> own = load(factor + block * blockSize<T> + i * lanes<T>);
      return {own, own * load(firstFactor + block * lanes<T>)};
    }
    return {splat(T(1)), of.factors == Factors::Head ? splat(entered[i]) : splat(T(1))};
  }
  Place<T> placeBefore(int64_t i, int64_t block) const {
    if (of.factors == Factors::Key)
      return i == 0 ? Place<T>{splat(T(1)), splat(T(1))} : placeBehind(i - 1, block);
    return {splat(T(1)), of.factors == Factors::Head ? splat(enteredBefore[i]) : splat(T(1))};
  }
  Place<T> placeOfRead(int64_t i, int64_t block) const {
    return of.exclusive ? placeBefore(i, block) : placeBehind(i, block);
  }
  Vector<T> inverseOf(int64_t i, int64_t block) const {
    return of.factors == Factors::Key ? load(inverse + block * blockSize<T> + i * lanes<T>)
                                      : splat(T(1));
  }
  /// D from row i to the chunk's end.
  Vector<T> toEndOf(int64_t i, int64_t block) const {
    if (of.factors == Factors::Key)
      return load(factor + block * blockSize<T> + (rows - 1) * lanes<T>) * inverseOf(i, block);
    return of.factors == Factors::Head ? splat(ends[i]) : splat(T(1));
  }

  template <typename Each> HYBRID_INLINE_LAMBDA void eachWrites(Each each) const {
    if (of.erases)
      each(solved);
    if (writesPlain())
      each(plain);
  }

  /// Loads the chunk of rows from `from` on, which ends before `end`, and computes what does not
  /// depend on the state it starts from; for the state alone if it is not `read`.
  HYBRID_INLINE_LAMBDA void loadRows(int64_t from, int64_t end, bool read, bool backwards = false) {
    first = from, rows = end - from;
    ahead = (backwards ? -lanes<T> : lanes<T>) / of.steps;
    if (of.factors == Factors::Key)
      factorsOfKeys();
    else if (of.factors == Factors::Head)
      factorsOfHead();
    for (int64_t block = 0; block < keyBlocks; ++block)
      loadKeys(block, read);
    for (int64_t block = 0; block < valueBlocks; ++block)
      for (int64_t i = 0; i < lanes<T>; ++i)
        store(value + block * blockSize<T> + i * lanes<T>,
              i < rows ? loadPart(place(of.v, i, stepOf(i), block * lanes<T>), valuesAt(block))
                       : splat(T(0)));
    if (read || of.erases)
      eachWrites([&](const Writes<T> &writes) HYBRID_INLINE_LAMBDA { pair(writes, read); });
  }

private:
  /// F of every key, and at which row the chunk ends.
  HYBRID_INLINE_LAMBDA void factorsOfKeys() {
    bool tame = true;
    for (int64_t block = 0; block < keyBlocks; ++block) {
      Vector<T> product = splat(T(1)), same = splat(T(1));
      if (of.constantFactors)
        same = exponential(loadPart(of.decay.at(0, 0) + block * lanes<T>, keysAt(block)));
      for (int64_t i = 0; i < rows; ++i) {
        Vector<T> own = same;
        if (stepOf(i) > 0)
          own = splat(T(1));
        else if (starts(i))
          own = splat(T(0));
        else if (!of.constantFactors)
          own = exponential(loadPart(place(of.decay, i, 0, block * lanes<T>), keysAt(block)));
        if (i == 0)
          store(firstFactor + block * lanes<T>, own);
        else
          product *= own;
        store(factor + block * blockSize<T> + i * lanes<T>, product);
      }
      tame = tame && isTame(product);
    }
    if (!tame)
      rows = tameRows();
    for (int64_t block = 0; block < keyBlocks; ++block)
      store(last + block * lanes<T>, placeBehind(rows - 1, block).entered);
  }
  static bool isTame(Vector<T> product) {
    return __builtin_reduce_and(product >= splat(leastFactor)) != 0; // false for NaN
  }
  int64_t tameRows() const {
    for (int64_t i = 1; i < rows; ++i)
      for (int64_t block = 0; block < keyBlocks; ++block)
        if (!isTame(load(factor + block * blockSize<T> + i * lanes<T>)))
          return i;
    return rows;
  }

  HYBRID_INLINE_LAMBDA void factorsOfHead() {
    T factors[lanes<T>] = {};
    for (int64_t i = 0; of.decay.first && i < rows; ++i)
      if (stepOf(i) == 0)
        factors[i] = *place(of.decay, i, 0, 0);
    store(factors, exponential(load(factors)));
    T product = T(1);
    Vector<T> ofPairs = splat(T(0));
    for (int64_t i = 0; i < lanes<T>; ++i) {
      const T own = i < rows && starts(i) ? T(0) : factors[i];
      enteredBefore[i] = product, product *= own, entered[i] = product;
      store(pairsBefore + i * lanes<T>, ofPairs);
      ofPairs = laneIs(i) ? splat(T(1)) : ofPairs * own;
      store(pairs + i * lanes<T>, ofPairs);
    }
    store(ends, ofPairs);
    for (int64_t block = 0; block < keyBlocks; ++block)
      store(last + block * lanes<T>, splat(product));
  }

  HYBRID_INLINE_LAMBDA void loadKeys(int64_t block, bool read) {
    const int64_t key = block * lanes<T>, count = keysAt(block);
    auto clear = [&](T *tile, int64_t at) HYBRID_INLINE_LAMBDA { store(tile + at, splat(T(0))); };
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t j = stepOf(i), at = block * blockSize<T> + i * lanes<T>;
      if (of.factors == Factors::Key)
        store(inverse + at, splat(T(1)) / load(factor + at));
      if (read) {
        const Place<T> where = placeOfRead(i, block);
        const Vector<T> own = isRead(i) && !readsNothing(i)
                                  ? loadPart(place(of.q, i, 0, key), count) * of.scale
                                  : splat(T(0));
        store(query + at, own * where.factor);
        if (decays())
          store(queryEntered + at, own * where.entered);
      }
      if (of.erases) {
        const Place<T> where = placeBefore(i, block);
        const Vector<T> own =
            starts(i) ? splat(T(0)) : loadPart(place(of.a, i, j, key), count) * sign();
        store(erase + at, own * where.factor);
        if (decays())
          store(eraseEntered + at, own * where.entered);
      }
      auto write = [&](const Writes<T> &writes, const Steps<Activation<T>> &from)
                       HYBRID_INLINE_LAMBDA {
                         const Vector<T> own = loadPart(place(from, i, j, key), count);
                         store(writes.rows + at, own * inverseOf(i, block));
                         if (decays())
                           store(writes.toEnd + at, own * toEndOf(i, block));
                       };
      if (of.erases)
        write(solved, of.hasB ? of.b : of.k);
      if (writesPlain())
        write(plain, of.k);
    }
    for (int64_t at = block * blockSize<T> + rows * lanes<T>; at < (block + 1) * blockSize<T>;
         at += lanes<T>) {
      clear(query, at), clear(queryEntered, at), clear(erase, at), clear(eraseEntered, at);
      eachWrites([&](const Writes<T> &writes)
                     HYBRID_INLINE_LAMBDA { clear(writes.rows, at), clear(writes.toEnd, at); });
    }
  }

  /// P and N.
  HYBRID_INLINE_LAMBDA void pair(const Writes<T> &writes, bool read) {
    for (int64_t at = 0; at < keyBlocks * blockSize<T>; at += blockSize<T>)
      transposeBlock(writes.columns + at, writes.rows + at);
    auto product = [&](T *to, const T *with) HYBRID_INLINE_LAMBDA {
      multiplyBlocks<Left::Plain, T>(to, nullptr, nullptr, {with, blockSize<T>},
                                     {writes.columns, blockSize<T>}, keyBlocks);
    };
    if (read) {
      product(writes.readPairs, query);
      maskReads(writes.readPairs);
    }
    if (of.erases) {
      product(writes.erasePairs, erase);
      maskErased(writes.erasePairs);
    }
  }

public:
  static T signOf(bool hasB) { return hasB ? T(1) : T(-1); }
  T sign() const { return signOf(of.hasB); }
  static Integers<T> laneIs(int64_t row) {
    return VectorTraits<T>::laneNumbers ==
           (Integers<T>)(static_cast<typename VectorTraits<T>::Integer>(row));
  }
  static Vector<T> firstLanesOf(Vector<T> v, int64_t count) {
    return VectorTraits<T>::laneNumbers <
                   (Integers<T>)(static_cast<typename VectorTraits<T>::Integer>(count))
               ? v
               : splat(T(0));
  }
  /// Pairs of a row with rows before it, times D; reads see their own row unless they are
  /// exclusive.
  HYBRID_INLINE_LAMBDA void maskReads(T *block) const {
    mask(block, of.exclusive ? pairsBefore : pairs, of.exclusive ? 0 : 1);
  }
  HYBRID_INLINE_LAMBDA void maskErased(T *block) const { mask(block, pairsBefore, 0); }
  HYBRID_INLINE_LAMBDA void mask(T *block, const T *decay, int64_t own) const {
    for (int64_t i = 0; i < lanes<T>; ++i) {
      const int64_t at = i * lanes<T>;
      const Vector<T> pair = load(block + at);
      store(block + at,
            firstLanesOf(of.factors == Factors::Head ? pair * load(decay + at) : pair, i + own));
    }
  }

  /// W of the chunk that starts from the state `from`.
  HYBRID_INLINE_LAMBDA void correct(const T *from) {
    for (int64_t block = 0; block < valueBlocks; ++block) {
      T *to = corrected + block * blockSize<T>;
      const T *given = value + block * blockSize<T>;
      multiplyBlocks<Left::Plain, T>(to, of.hasB ? nullptr : given, nullptr,
                                     {eraseEntered, blockSize<T>}, ofState(from, block), keyBlocks);
      if (of.hasB)
        multiplyTriangle<Left::Plain>(to, to, plain.erasePairs, given);
      solveBlock<Left::Plain>(solved.erasePairs, to);
    }
  }
  /// A column of blocks of a state.
  Blocks<T> ofState(const T *from, int64_t block) const {
    return {from + block * blockSize<T>, valueBlocks * blockSize<T>};
  }

  /// The state at the end of the chunk that starts from `from`.
  HYBRID_INLINE_LAMBDA void advance(T *to, const T *from) {
    eachBlockOfState([&](int64_t at, int64_t key, int64_t value) HYBRID_INLINE_LAMBDA {
      const T *start = from + at, *factors = decays() ? last + key / lanes<T> : nullptr;
      eachWrites([&](const Writes<T> &writes) HYBRID_INLINE_LAMBDA {
        multiplyBlocks<Left::Transposed, T>(to + at, start, factors, {writes.toEnd + key},
                                            {writes.values + value});
        start = to + at, factors = nullptr;
      });
    });
  }
  /// each(block of a state, block of a tile of keys, block of a tile of values).
  template <typename Each> HYBRID_INLINE_LAMBDA void eachBlockOfState(Each each) const {
    for (int64_t key = 0; key < keyBlocks; ++key)
      for (int64_t value = 0; value < valueBlocks; ++value)
        each((key * valueBlocks + value) * blockSize<T>, key * blockSize<T>, value * blockSize<T>);
  }

  HYBRID_INLINE_LAMBDA void readOut(const T *from, const Steps<Activation<T>> &to) {
    for (int64_t block = 0; block < valueBlocks; ++block) {
      T *sums = out + block * blockSize<T>;
      multiplyBlocks<Left::Plain, T>(sums, nullptr, nullptr, {queryEntered, blockSize<T>},
                                     ofState(from, block), keyBlocks);
      eachWrites([&](const Writes<T> &writes) HYBRID_INLINE_LAMBDA {
        multiplyTriangle<Left::Plain>(sums, sums, writes.readPairs,
                                      writes.values + block * blockSize<T>);
      });
      for (int64_t i = 0; i < rows; ++i)
        if (isRead(i))
          storePart(place(to, i, 0, block * lanes<T>), load(sums + i * lanes<T>), valuesAt(block));
    }
  }
};

/// So few rows cost less one after the other, as the blocks of a chunk would be mostly empty.
constexpr int64_t scanFewRows = 4;

/// The same for a row after the other, as steps of decoding have them: a state is read twice for
/// each and written once.
template <typename T>
HYBRID_INLINE void scanRows(ScanChunk<T> &chunk, const T *initial, T *final,
                            const Steps<Activation<T>> &out) {
  constexpr int64_t side =
      4; // vectors of values that go together, so that rows are read as they lie
  const ScanOperands<T> &of = chunk.of;
  const int64_t keys = of.sizes.keySize, values = of.sizes.valueSize, rows = of.sizes.rows;
  T *state = final ? final : chunk.state, *factors = chunk.last;
  const T *from = initial;
  chunk.first = 0;
  for (int64_t row = 0; row < rows; ++row, from = state) {
    const int64_t t = chunk.tokenOf(row), j = chunk.stepOf(row);
    const bool starts = chunk.starts(row), decays = j == 0 && of.decay.first;
    for (int64_t block = 0; block < chunk.keyBlocks; ++block) {
      Vector<T> own = splat(starts ? T(0) : T(1));
      if (decays && !starts)
        own = exponential(of.factors == Factors::Key
                              ? loadPart(of.decay.at(t, 0) + block * lanes<T>, chunk.keysAt(block))
                              : splat(*of.decay.at(t, 0)));
      store(factors + block * lanes<T>, own);
    }
    const Activation<T> q = of.q.at(t, 0), k = of.k.at(t, j), v = of.v.at(t, j),
                        a = of.erases ? of.a.at(t, j) : k, b = of.hasB ? of.b.at(t, j) : k;
    const bool isKept = final || row + 1 < rows;
    for (int64_t first = 0; first < chunk.valueBlocks; first += side) {
      const int64_t count = minimum(side, chunk.valueBlocks - first);
      auto place = [&](int64_t key, int64_t i)
                       HYBRID_INLINE_LAMBDA { return key * values + (first + i) * lanes<T>; };
      auto before = [&](int64_t key, int64_t i) HYBRID_INLINE_LAMBDA {
        return from ? loadPart(from + place(key, i), chunk.valuesAt(first + i)) : splat(T(0));
      };
      Vector<T> value[side], corrected[side], sum[side];
      HYBRID_UNROLL
      for (int64_t i = 0; i < side; ++i) {
        value[i] = i < count ? loadPart(v + place(0, i), chunk.valuesAt(first + i)) : splat(T(0));
        corrected[i] = sum[i] = splat(T(0));
      }
      if (of.erases && !starts)
        for (int64_t key = 0; key < keys; ++key) {
          HYBRID_UNROLL
          for (int64_t i = 0; i < side; ++i)
            if (i < count)
              corrected[i] += before(key, i) * a[key];
        }
      if (of.erases && !of.hasB) {
        HYBRID_UNROLL
        for (int64_t i = 0; i < side; ++i)
          corrected[i] = value[i] - corrected[i];
      }
      for (int64_t key = 0; key < keys; ++key) {
        HYBRID_UNROLL
        for (int64_t i = 0; i < side; ++i) {
          if (i >= count)
            continue;
          const Vector<T> old = before(key, i);
          Vector<T> now = old * factors[key];
          if (of.erases)
            now += corrected[i] * b[key];
          if (chunk.writesPlain())
            now += value[i] * k[key];
          if (isKept)
            storePart(state + place(key, i), now, chunk.valuesAt(first + i));
          sum[i] += (of.exclusive ? old : now) * q[key];
        }
      }
      if (chunk.isRead(row)) {
        HYBRID_UNROLL
        for (int64_t i = 0; i < side; ++i)
          if (i < count)
            storePart(out.at(t, 0) + place(0, i),
                      chunk.readsNothing(row) ? splat(T(0)) : sum[i] * of.scale,
                      chunk.valuesAt(first + i));
      }
    }
  }
}

/// Scans forwards from `initial` (or zero) to `final` (or null).
template <typename T>
HYBRID_INLINE void scanForward(ScanChunk<T> &chunk, const T *initial, T *final,
                               const Steps<Activation<T>> &out) {
  const int64_t rows = chunk.of.sizes.rows;
  if (rows <= scanFewRows)
    return scanRows(chunk, initial, final, out);
  chunk.loadState(chunk.state, initial);
  for (int64_t row = 0; row < rows; row += chunk.rows) {
    chunk.loadRows(row, chunk.spanEnd(row), true);
    if (chunk.of.erases)
      chunk.correct(chunk.state);
    chunk.readOut(chunk.state, out);
    if (row + chunk.rows < rows || final)
      chunk.advance(chunk.state, chunk.state);
  }
  if (final)
    chunk.storeState(final, chunk.state);
}

} // namespace hybrid::cpu
