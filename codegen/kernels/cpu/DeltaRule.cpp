//===- DeltaRule.cpp - generalized delta rule in chunks -------------------===//
//
// With n = -a, c = k, or n = a, c = b where b is given, a row i changes the state by
//
//   w_i = n_i' S_(i-1) [+ v_i without b]      S_i = e^g_i S_(i-1) + c_i w_i' [+ k_i v_i' with b]
//
// In a chunk of rows that starts from the state S, with D_ij the product of the decays behind j and
// up to i, and E_i of all up to i:
//
//   N_ij = n_i' D_(i-1)j c_j (j < i)          P_ij = q_i' D_ij c_j (j <= i), q times the scale
//   (I - N) W = (n E-) S [+ V, or N^k V]      O = (q E) S + P W [+ P^k V]
//   S <- E S + (D c)' W [+ (D k)' V]
//
// a triangular solve and products with whole blocks in registers: the state is read three times a
// chunk and not three times a row (the WY form of Yang et al. 2024, section 3.2, without an
// inverse: it is solved for W). A chunk is as long as a vector, so that a lane is a row; products
// of decays then are taken factor by factor, N and P with them, for the price of one more product
// each. Every factor is between 0 and 1: nothing overflows however strong the decay, and the only
// exponentials are those of the decays themselves. Where a segment starts the decay is 0, and so is
// a.
//
// The gradient runs over the chunks backwards, from states that are computed again. It has the same
// form: dW solves the transposed system; what pairs of rows contribute to q, n, c and g is the
// gradient of the running product d_m = e^g_m d_(m-1), d_j = c_j, read by q_m and n_(m+1), for
// which nothing is divided or subtracted.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/DeltaRule.h"
#include "TileProducts.h"
#include "Transpose.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

template <typename T> constexpr int64_t chunkRows = deltaRuleChunk<T>;

/// A head's part of an activation: of a token, and of a step of it.
template <typename T> struct Steps {
  T *first = nullptr;
  int64_t token = 0, step = 0;

  T *at(int64_t t, int64_t j) const { return first + t * token + j * step; }
};

/// Memory that tiles are taken of, one behind the other.
template <typename T> struct Memory {
  T *next;

  T *take(int64_t elements) {
    T *taken = next;
    next += elements;
    return taken;
  }
};

/// Rows that are added to the state with values, and what becomes of them in a chunk.
template <typename T> struct Writes {
  T *rows, *columns;      // [row][key] and [key][row]
  T *toEnd;               // [key][row], decayed to the end of the chunk
  T *readPairs, *eraseOf; // P and N: [row][row written before]
};

/// One head of one sequence: a chunk of its rows in tiles.
template <typename T> struct Head {
  const DeltaRuleParams &params;
  int64_t batch, head, keys, values; // sizes in whole vectors
  bool decays;
  T sign;
  Steps<const T> q, k, v, a, b, decay;
  const int32_t *segments;

  int64_t first, rows; // of the chunk
  T *state, *query, *erase, *factor, *queryEntered, *eraseEntered, *entered /* E of the chunk */;
  T *value, *corrected;
  Writes<T> solved, plain; // c with W, and k with V where there is b

  Head(int64_t item, const DeltaRuleParams &params, Buffers buffers, Memory<T> &memory)
      : params(params), batch(item / params.heads), head(item % params.heads),
        keys(deltaRulePadded<T>(params.keySize)), values(deltaRulePadded<T>(params.valueSize)),
        decays(deltaRuleDecays(params)), sign(params.hasB ? T(1) : T(-1)) {
    q = ofKeys<const T>(buffers[0], params.qStride);
    k = ofKeys<const T>(buffers[1], params.kStride);
    v = ofValues<const T>(buffers[2], params.vStride);
    a = ofKeys<const T>(buffers[3], params.aStride);
    b = ofKeys<const T>(buffers[4], params.bStride);
    const bool perHead = params.decay == DeltaRuleDecay::HeadAndTime;
    decay = part<const T>(buffers[5], params.decayStride, perHead ? 1 : params.keySize);
    segments = params.hasSegments ? static_cast<const int32_t *>(buffers[6]) + batch * params.length
                                  : nullptr;
    const int64_t keyTile = chunkRows<T> * keys, valueTile = chunkRows<T> * values;
    state = memory.take(deltaRuleStateElements<T>(params));
    query = memory.take(keyTile), erase = memory.take(keyTile), factor = memory.take(keyTile);
    queryEntered = memory.take(keyTile), eraseEntered = memory.take(keyTile);
    if (!decays)
      queryEntered = query, eraseEntered = erase;
    entered = memory.take(keys);
    value = memory.take(valueTile), corrected = memory.take(valueTile);
    for (Writes<T> *writes : {&solved, &plain}) {
      const int64_t pairs = chunkRows<T> * chunkRows<T>;
      *writes = {memory.take(keyTile), memory.take(keyTile), memory.take(keyTile),
                 memory.take(pairs), memory.take(pairs)};
    }
  }

  template <typename U> Steps<U> part(void *buffer, int64_t stride, int64_t size) const {
    return {static_cast<U *>(buffer) + batch * params.length * stride + head * size, stride,
            params.heads * size};
  }
  template <typename U> Steps<U> ofKeys(void *buffer, int64_t stride) const {
    return part<U>(buffer, stride, params.keySize);
  }
  template <typename U> Steps<U> ofValues(void *buffer, int64_t stride) const {
    return part<U>(buffer, stride, params.valueSize);
  }
  template <typename U> U *stateOf(void *buffer) const {
    return static_cast<U *>(buffer) +
           (batch * params.heads + head) * params.keySize * params.valueSize;
  }
  /// A state in memory, or zero, to rows of whole vectors; and back.
  void loadState(T *to, const T *from) const {
    for (int64_t key = 0; key < params.keySize; ++key)
      for (int64_t c = 0; c < values; c += lanes<T>)
        store(to + key * values + c,
              from ? loadPart(from + key * params.valueSize + c, valuesAt(c)) : splat(T(0)));
  }
  void storeState(T *to, const T *from) const {
    for (int64_t key = 0; key < params.keySize; ++key)
      for (int64_t c = 0; c < values; c += lanes<T>)
        storePart(to + key * params.valueSize + c, load(from + key * values + c), valuesAt(c));
  }

  int64_t keysAt(int64_t key) const { return lanesAt<T>(key, params.keySize); }
  int64_t valuesAt(int64_t value) const { return lanesAt<T>(value, params.valueSize); }
  int64_t tokenOf(int64_t row) const { return (first + row) / params.steps; }
  int64_t stepOf(int64_t row) const { return (first + row) % params.steps; }
  bool isRead(int64_t row) const { return stepOf(row) == params.steps - 1; }
  bool starts(int64_t row) const {
    const int64_t t = tokenOf(row);
    return segments && stepOf(row) == 0 && t > 0 && segments[t] != segments[t - 1];
  }

  Vector<T> factorsOf(int64_t row, int64_t key) const {
    if (stepOf(row) > 0)
      return splat(T(1));
    if (starts(row))
      return splat(T(0));
    if (params.decay == DeltaRuleDecay::None)
      return splat(T(1));
    const T *g = decay.at(tokenOf(row), 0);
    return exponential(
        params.decay == DeltaRuleDecay::HeadAndTime ? splat(*g) : loadPart(g + key, keysAt(key)));
  }

  /// Loads a chunk and computes what does not depend on the state it starts from.
  HYBRID_INLINE_LAMBDA void loadChunk(int64_t chunk) {
    const int64_t all = deltaRuleRows(params);
    first = chunk * chunkRows<T>;
    rows = all % chunkRows<T> == 0 ? chunkRows<T> : minimum(chunkRows<T>, all - first);
    const T scale = static_cast<T>(params.scale);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t t = tokenOf(i), j = stepOf(i);
      const T eraseSign = starts(i) ? T(0) : sign;
      for (int64_t key = 0; key < keys; key += lanes<T>) {
        const int64_t at = i * keys + key, count = keysAt(key);
        store(query + at, isRead(i) ? loadPart(q.at(t, 0) + key, count) * scale : splat(T(0)));
        store(erase + at, loadPart(a.at(t, j) + key, count) * eraseSign);
        store(solved.rows + at, loadPart((params.hasB ? b : k).at(t, j) + key, count));
        if (params.hasB)
          store(plain.rows + at, loadPart(k.at(t, j) + key, count));
        if (decays)
          store(factor + at, factorsOf(i, key));
      }
      for (int64_t c = 0; c < values; c += lanes<T>)
        store(value + i * values + c, loadPart(v.at(t, j) + c, valuesAt(c)));
    }
    pair(solved);
    if (params.hasB)
      pair(plain);
    for (int64_t key = 0; decays && key < keys; key += lanes<T>) {
      Vector<T> product = splat(T(1));
      for (int64_t at = key; at < key + rows * keys; at += keys) {
        store(eraseEntered + at, load(erase + at) * product);
        product *= load(factor + at);
        store(queryEntered + at, load(query + at) * product);
      }
      store(entered + key, product);
    }
  }

  /// N and P, and the rows decayed to the end of the chunk.
  HYBRID_INLINE_LAMBDA void pair(const Writes<T> &writes) {
    loadTransposed(writes.columns, writes.rows, keys, rows, params.keySize);
    int64_t i = 0;
    if (params.decay == DeltaRuleDecay::KeyAndTime) {
      for (int64_t key = 0; key < params.keySize; ++key)
        store(writes.toEnd + key * lanes<T>, splat(T(0)));
      for (; i + 4 <= rows; i += 4)
        pairRows<4>(writes, i);
      for (; i < rows; ++i)
        pairRows<1>(writes, i);
      return;
    }
    Vector<T> product = splat(T(0));
    for (; i + 4 <= rows; i += 4)
      pairRowsOfHead<4>(writes, i, product);
    for (; i < rows; ++i)
      pairRowsOfHead<1>(writes, i, product);
    for (int64_t key = 0; key < params.keySize; ++key)
      store(writes.toEnd + key * lanes<T>, load(writes.columns + key * lanes<T>) * product);
  }
  /// Lanes are the rows that have been written, which decay key by key.
  template <int64_t count>
  HYBRID_INLINE_LAMBDA void pairRows(const Writes<T> &writes, int64_t row) {
    Vector<T> read[count], erased[count];
    HYBRID_UNROLL
    for (int64_t r = 0; r < count; ++r)
      read[r] = splat(T(0)), erased[r] = splat(T(0));
    for (int64_t key = 0; key < params.keySize; ++key) {
      const Vector<T> own = load(writes.columns + key * lanes<T>);
      Vector<T> written = load(writes.toEnd + key * lanes<T>);
      HYBRID_UNROLL
      for (int64_t r = 0; r < count; ++r) {
        const int64_t at = (row + r) * keys + key;
        erased[r] += erase[at] * written;
        written = isLane(row + r) ? own : factor[at] * written;
        read[r] += query[at] * written;
      }
      store(writes.toEnd + key * lanes<T>, written);
    }
    HYBRID_UNROLL
    for (int64_t r = 0; r < count; ++r) {
      store(writes.readPairs + (row + r) * lanes<T>, read[r]);
      store(writes.eraseOf + (row + r) * lanes<T>, erased[r]);
    }
  }
  /// The same where all keys decay alike: `product` is what each row is multiplied with.
  template <int64_t count>
  HYBRID_INLINE_LAMBDA void pairRowsOfHead(const Writes<T> &writes, int64_t row,
                                           Vector<T> &product) {
    Vector<T> read[count], erased[count];
    HYBRID_UNROLL
    for (int64_t r = 0; r < count; ++r)
      read[r] = splat(T(0)), erased[r] = splat(T(0));
    for (int64_t key = 0; key < params.keySize; ++key) {
      const Vector<T> written = load(writes.columns + key * lanes<T>);
      HYBRID_UNROLL
      for (int64_t r = 0; r < count; ++r) {
        erased[r] += erase[(row + r) * keys + key] * written;
        read[r] += query[(row + r) * keys + key] * written;
      }
    }
    HYBRID_UNROLL
    for (int64_t r = 0; r < count; ++r) {
      store(writes.eraseOf + (row + r) * lanes<T>, erased[r] * product);
      if (decays)
        product *= factor[(row + r) * keys];
      product = isLane(row + r) ? splat(T(1)) : product;
      store(writes.readPairs + (row + r) * lanes<T>, read[r] * product);
    }
  }
  static Integers<T> isLane(int64_t row) {
    return VectorTraits<T>::laneNumbers ==
           (Integers<T>)(static_cast<typename VectorTraits<T>::Integer>(row));
  }

  /// Row i of A as it is, or with its sides exchanged, against values of rows.
  Product<T> entering(const T *tile, const T *of) const {
    return {tile, keys, 1, params.keySize, of, values};
  }
  Product<T, Triangle::Lower> ofPairs(const T *pairs, const T *of) const {
    return {pairs, lanes<T>, 1, rows, of, values};
  }
  Product<T, Triangle::Upper> ofPairsBack(const T *pairs, const T *of) const {
    return {pairs, 1, lanes<T>, rows, of, values};
  }

  /// W of the chunk that starts from the state `from`.
  HYBRID_INLINE_LAMBDA void correct(const T *from) {
    auto end = [&](int64_t i, int64_t column, Vector<T> sum)
                   HYBRID_INLINE_LAMBDA { store(corrected + i * values + column, sum); };
    if (params.hasB)
      multiply<T>(rows, values, zero, end, entering(eraseEntered, from),
                  ofPairs(plain.eraseOf, value));
    else
      multiply<T>(
          rows, values,
          [&](int64_t i, int64_t column)
              HYBRID_INLINE_LAMBDA { return load(value + i * values + column); },
          end, entering(eraseEntered, from));
    solve<T, Triangle::Lower>(solved.eraseOf, lanes<T>, 1, corrected, rows, values);
  }
  static constexpr auto zero = [](int64_t, int64_t) { return splat(T(0)); };

  /// E state + the products, in place.
  template <typename... Products>
  HYBRID_INLINE_LAMBDA void decayAndAdd(T *to, const Products &...products) {
    multiply<T>(
        params.keySize, values,
        [&](int64_t key, int64_t column) HYBRID_INLINE_LAMBDA {
          const Vector<T> before = load(to + key * values + column);
          return decays ? entered[key] * before : before;
        },
        [&](int64_t key, int64_t column, Vector<T> sum)
            HYBRID_INLINE_LAMBDA { store(to + key * values + column, sum); },
        products...);
  }
  /// Takes the state to the end of the chunk.
  HYBRID_INLINE_LAMBDA void advance() {
    const Product<T> written{solved.toEnd, lanes<T>, 1, rows, corrected, values};
    if (params.hasB)
      decayAndAdd(state, written, Product<T>{plain.toEnd, lanes<T>, 1, rows, value, values});
    else
      decayAndAdd(state, written);
  }

  HYBRID_INLINE_LAMBDA void read(const Steps<T> &to) {
    auto end = [&](int64_t i, int64_t column, Vector<T> sum) HYBRID_INLINE_LAMBDA {
      if (isRead(i))
        storePart(to.at(tokenOf(i), 0) + column, sum, valuesAt(column));
    };
    if (params.hasB)
      multiply<T>(rows, values, zero, end, entering(queryEntered, state),
                  ofPairs(solved.readPairs, corrected), ofPairs(plain.readPairs, value));
    else
      multiply<T>(rows, values, zero, end, entering(queryEntered, state),
                  ofPairs(solved.readPairs, corrected));
  }
};

template <typename T>
HYBRID_INLINE void delta_rule_forward(int64_t index, Buffers buffers, const DeltaRuleParams &p) {
  Memory<T> memory{buffers.scratch<T>()};
  Head<T> head(index, p, buffers, memory);
  const Steps<T> o = head.template ofValues<T>(buffers[10], p.oStride);
  head.loadState(head.state, p.hasState ? head.template stateOf<const T>(buffers[7]) : nullptr);
  const int64_t chunks = deltaRuleChunks<T>(p);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    head.loadChunk(chunk);
    head.correct(head.state);
    head.read(o);
    if (chunk + 1 < chunks || p.hasFinalState)
      head.advance();
  }
  if (p.hasFinalState)
    head.storeState(head.template stateOf<T>(buffers[8]), head.state);
}

//===-- The gradient -----------------------------------------------------------===//

/// Gradients of a chunk's rows, of which those of a vector of keys are computed at a time.
template <typename T> struct Gradient {
  Head<T> &head;
  const DeltaRuleParams &params;
  Steps<const T> dO;
  Steps<T> dq, dk, dv, da, db, dDecay;
  T *dState, *dOut, *dCorrected, *outColumns, *dCorrectedColumns, *correctedColumns, *valueColumns;
  T *readState /* S do */, *eraseState /* S dw */, *solvedEnd /* dS w */, *plainEnd /* dS v */;
  T *columns, *decayEnd /* Σ S dS */;
  T *readSolved /* do w */, *eraseSolved /* dw w */, *readPlain, *erasePlain;
  T *dQuery, *dErase, *dSolved, *dPlain, *dFactor;

  Gradient(Head<T> &head, Buffers buffers, Memory<T> &memory) : head(head), params(head.params) {
    dO = head.template ofValues<const T>(buffers[8], params.oStride);
    dq = head.template ofKeys<T>(buffers[11], params.dqStride);
    dk = head.template ofKeys<T>(buffers[12], params.dkStride);
    dv = head.template ofValues<T>(buffers[13], params.dvStride);
    da = head.template ofKeys<T>(buffers[14], params.daStride);
    db = head.template ofKeys<T>(buffers[15], params.dbStride);
    dDecay =
        head.template part<T>(buffers[16], params.dDecayStride,
                              params.decay == DeltaRuleDecay::HeadAndTime ? 1 : params.keySize);
    const int64_t keyTile = chunkRows<T> * head.keys, valueTile = chunkRows<T> * head.values;
    dState = memory.take(deltaRuleStateElements<T>(params));
    for (T **tile :
         {&dOut, &dCorrected, &outColumns, &dCorrectedColumns, &correctedColumns, &valueColumns})
      *tile = memory.take(valueTile);
    for (T **tile : {&readState, &eraseState, &solvedEnd, &plainEnd, &columns, &dQuery, &dErase,
                     &dSolved, &dPlain, &dFactor})
      *tile = memory.take(keyTile);
    for (T **tile : {&readSolved, &eraseSolved, &readPlain, &erasePlain})
      *tile = memory.take(chunkRows<T> * chunkRows<T>);
    decayEnd = memory.take(head.keys);
  }

  /// Of the head's chunk, which starts from `state` and has been corrected: dState is what it ends
  /// with, and then starts with.
  HYBRID_INLINE_LAMBDA void ofChunk(const T *state) {
    ofValues();
    ofStates(state);
    for (int64_t key = 0; key < head.keys; key += lanes<T>)
      ofKeys(key);
    storeRows();
    head.decayAndAdd(
        dState, Product<T>{head.queryEntered, 1, head.keys, head.rows, dOut, head.values},
        Product<T>{head.eraseEntered, 1, head.keys, head.rows, dCorrected, head.values});
  }

private:
  /// dW, and from it dv.
  HYBRID_INLINE_LAMBDA void ofValues() {
    const int64_t rows = head.rows, values = head.values;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t c = 0; c < values; c += lanes<T>)
        store(dOut + i * values + c, head.isRead(i)
                                         ? loadPart(dO.at(head.tokenOf(i), 0) + c, head.valuesAt(c))
                                         : splat(T(0)));
    multiply<T>(
        rows, values, Head<T>::zero,
        [&](int64_t i, int64_t column, Vector<T> sum)
            HYBRID_INLINE_LAMBDA { store(dCorrected + i * values + column, sum); },
        ofEnd(head.solved), head.ofPairsBack(head.solved.readPairs, dOut));
    solve<T, Triangle::Upper>(head.solved.eraseOf, 1, lanes<T>, dCorrected, rows, values);
    auto end = [&](int64_t i, int64_t column, Vector<T> sum) HYBRID_INLINE_LAMBDA {
      storePart(dv.at(head.tokenOf(i), head.stepOf(i)) + column, sum, head.valuesAt(column));
    };
    if (params.hasB)
      multiply<T>(rows, values, Head<T>::zero, end, ofEnd(head.plain),
                  head.ofPairsBack(head.plain.readPairs, dOut),
                  head.ofPairsBack(head.plain.eraseOf, dCorrected));
    else
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t c = 0; c < values; c += lanes<T>)
          end(i, c, load(dCorrected + i * values + c));
  }
  Product<T> ofEnd(const Writes<T> &writes) const {
    return {writes.toEnd, 1, lanes<T>, params.keySize, dState, head.values};
  }

  /// Products of values: of pairs of rows, and of rows with the states at both ends.
  HYBRID_INLINE_LAMBDA void ofStates(const T *state) {
    const int64_t values = head.values;
    transposeValues(outColumns, dOut), transposeValues(dCorrectedColumns, dCorrected);
    transposeValues(correctedColumns, head.corrected);
    pairValues(readSolved, dOut, correctedColumns);
    pairValues(eraseSolved, dCorrected, correctedColumns);
    ofState(readState, state, outColumns), ofState(eraseState, state, dCorrectedColumns);
    ofState(solvedEnd, dState, correctedColumns);
    if (params.hasB) {
      transposeValues(valueColumns, head.value);
      pairValues(readPlain, dOut, valueColumns), pairValues(erasePlain, dCorrected, valueColumns);
      ofState(plainEnd, dState, valueColumns);
    }
    for (int64_t key = 0; params.decayGradient && key < params.keySize; ++key) {
      Vector<T> sum = splat(T(0));
      for (int64_t at = key * values; at < (key + 1) * values; at += lanes<T>)
        sum += load(state + at) * load(dState + at);
      decayEnd[key] = sumOfLanes(sum);
    }
  }
  HYBRID_INLINE_LAMBDA void transposeValues(T *to, const T *from) {
    loadTransposed(to, from, head.values, head.rows, params.valueSize);
  }
  HYBRID_INLINE_LAMBDA void pairValues(T *to, const T *of, const T *withColumns) {
    multiply<T>(
        head.rows, lanes<T>, Head<T>::zero,
        [&](int64_t i, int64_t, Vector<T> sum)
            HYBRID_INLINE_LAMBDA { store(to + i * lanes<T>, sum); },
        Product<T>{of, head.values, 1, params.valueSize, withColumns, lanes<T>});
  }
  /// to[row][key] = sum over values of state[key][value] * rows[value][row].
  HYBRID_INLINE_LAMBDA void ofState(T *to, const T *state, const T *withColumns) {
    multiply<T>(
        params.keySize, lanes<T>, Head<T>::zero,
        [&](int64_t key, int64_t, Vector<T> sum)
            HYBRID_INLINE_LAMBDA { store(columns + key * lanes<T>, sum); },
        Product<T>{state, head.values, 1, params.valueSize, withColumns, lanes<T>});
    storeTransposed(to, head.keys, columns, head.rows, params.keySize);
  }

  /// Gradients of rows in a vector of keys.
  HYBRID_INLINE_LAMBDA void ofKeys(int64_t key) {
    const int64_t rows = head.rows, keys = head.keys, count = head.keysAt(key);
    Vector<T> product[chunkRows<T> + 1];
    for (int64_t at = key; at < key + rows * keys; at += keys)
      store(dQuery + at, splat(T(0))), store(dErase + at, splat(T(0))),
          store(dFactor + at, splat(T(0)));
    // Of d_m = factor_m d_(m-1) behind row j, which starts as `start`, is read with read(m) and
    // erased with erased(m), and whose last has the gradient `end`: returns that of `start`.
    auto run = [&](int64_t j, Vector<T> start, Vector<T> end, auto read, auto erased)
                   HYBRID_INLINE_LAMBDA {
                     product[j + 1] = start;
                     for (int64_t m = j + 1; decays() && m < rows; ++m)
                       product[m + 1] = product[m] * load(head.factor + m * keys + key);
                     for (int64_t m = rows - 1; m > j; --m) {
                       const int64_t at = m * keys + key;
                       const Vector<T> before = product[decays() ? m : j + 1],
                                       after = product[decays() ? m + 1 : j + 1];
                       end += load(head.query + at) * read(m);
                       store(dQuery + at, load(dQuery + at) + after * read(m));
                       if (params.decayGradient)
                         store(dFactor + at, load(dFactor + at) + after * end);
                       if (decays())
                         end *= load(head.factor + at);
                       end += load(head.erase + at) * erased(m);
                       store(dErase + at, load(dErase + at) + before * erased(m));
                     }
                     return end;
                   };
    auto tile = [&](const T *of) HYBRID_INLINE_LAMBDA {
      return [=](int64_t m) HYBRID_INLINE_LAMBDA { return loadPart(of + m * keys + key, count); };
    };
    run(-1, splat(T(1)), params.decayGradient ? loadPart(decayEnd + key, count) : splat(T(0)),
        tile(readState), tile(eraseState));
    auto ofWrites = [&](const Writes<T> &writes, const T *read, const T *erased, const T *end,
                        T *to) HYBRID_INLINE_LAMBDA {
      for (int64_t j = 0; j < rows; ++j) {
        const int64_t at = j * keys + key;
        const Vector<T> start = load(writes.rows + at);
        auto pairs = [=](const T *of) HYBRID_INLINE_LAMBDA {
          return [=](int64_t m) HYBRID_INLINE_LAMBDA { return splat(of[m * lanes<T> + j]); };
        };
        const Vector<T> gradient =
            run(j, start, loadPart(end + at, count), pairs(read), pairs(erased));
        const T own = read[j * lanes<T> + j]; // a row is read after it has been written
        store(to + at, gradient + load(head.query + at) * own);
        store(dQuery + at, load(dQuery + at) + start * own);
      }
    };
    ofWrites(head.solved, readSolved, eraseSolved, solvedEnd, dSolved);
    if (params.hasB)
      ofWrites(head.plain, readPlain, erasePlain, plainEnd, dPlain);
  }
  bool decays() const { return head.decays; }

  HYBRID_INLINE_LAMBDA void storeRows() {
    const T scale = static_cast<T>(params.scale);
    for (int64_t i = 0; i < head.rows; ++i) {
      const int64_t t = head.tokenOf(i), j = head.stepOf(i);
      const bool starts = head.starts(i);
      Vector<T> ofDecay = splat(T(0));
      for (int64_t key = 0; key < head.keys; key += lanes<T>) {
        const int64_t at = i * head.keys + key, count = head.keysAt(key);
        if (head.isRead(i))
          storePart(dq.at(t, 0) + key, load(dQuery + at) * scale, count);
        storePart(da.at(t, j) + key, starts ? splat(T(0)) : load(dErase + at) * head.sign, count);
        storePart((params.hasB ? db : dk).at(t, j) + key, load(dSolved + at), count);
        if (params.hasB)
          storePart(dk.at(t, j) + key, load(dPlain + at), count);
        if (params.decayGradient && j == 0 && params.decay == DeltaRuleDecay::KeyAndTime)
          storePart(dDecay.at(t, 0) + key, load(dFactor + at), count);
        ofDecay += load(dFactor + at);
      }
      if (params.decayGradient && j == 0 && params.decay == DeltaRuleDecay::HeadAndTime)
        *dDecay.at(t, 0) = sumOfLanes(ofDecay);
    }
  }
};

template <typename T>
HYBRID_INLINE void delta_rule_backward(int64_t index, Buffers buffers, const DeltaRuleParams &p) {
  Memory<T> memory{buffers.scratch<T>()};
  Head<T> head(index, p, buffers, memory);
  Gradient<T> gradient(head, buffers, memory);
  const int64_t size = deltaRuleStateElements<T>(p), chunks = deltaRuleChunks<T>(p),
                group = deltaRuleGroup<T>(p), groups = ceilDiv(chunks, group);
  T *kept = memory.take(groups * size), *ofGroup = group > 1 ? memory.take(group * size) : nullptr;
  auto copy = [&](T *to, const T *from) HYBRID_INLINE_LAMBDA {
    for (int64_t at = 0; at < size; at += lanes<T>)
      store(to + at, load(from + at));
  };
  head.loadState(head.state, p.hasState ? head.template stateOf<const T>(buffers[7]) : nullptr);
  head.loadState(gradient.dState,
                 p.hasFinalState ? head.template stateOf<const T>(buffers[9]) : nullptr);
  // First forwards to what the groups start from, then group by group from the last: forwards again
  // to what its chunks start from, and back. All in one loop: its body is large.
  for (int64_t g = groups; g >= 0; --g) {
    const bool keeps = g == groups;
    const int64_t start = keeps ? 0 : g * group, end = minimum(start + group, chunks),
                  every = keeps ? group : 1,
                  forwards = keeps ? (groups - 1) * group : (group > 1 ? end - 1 - start : 0),
                  all = forwards + (keeps ? 0 : end - start);
    T *states = keeps || group == 1 ? kept + start * size : ofGroup;
    if (!keeps && group > 1)
      copy(head.state, kept + g * size);
    if (keeps || group > 1)
      copy(states, head.state);
    for (int64_t step = 0; step < all; ++step) {
      const bool forward = step < forwards;
      const int64_t chunk = forward ? start + step : end - 1 - (step - forwards);
      const T *from = forward ? head.state : states + (chunk - start) * size;
      head.loadChunk(chunk);
      head.correct(from);
      if (!forward) {
        gradient.ofChunk(from);
        continue;
      }
      head.advance();
      if ((chunk + 1 - start) % every == 0)
        copy(states + (chunk + 1 - start) / every * size, head.state);
    }
  }
  if (p.stateGradient)
    head.storeState(head.template stateOf<T>(buffers[10]), gradient.dState);
}

} // namespace

HYBRID_KERNEL(delta_rule_forward, DeltaRuleParams)
HYBRID_KERNEL(delta_rule_backward, DeltaRuleParams)
