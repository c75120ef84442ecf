//===- DeltaRule.cuh - generalized delta rule in chunks ---------------------===//
//
// The chunks of kernels/cpu/DeltaRule.cpp, whose letters and formulas these are: a block of threads
// goes through the chunks of a head one after the other. Rows of a chunk are in shared memory, the
// state in the workspace, where a chunk reads it three times. Products of decays are taken factor
// by factor here too: however strong they are, nothing overflows and nothing is subtracted.
//
// A pair of rows is the matter of a row's group of threads, which share its keys; elements of
// products are the matter of a thread each; rows of one value, in the solves, and rows of one key,
// in the gradient, are a thread's, which has nothing to wait for there.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/DeltaRule.h"
#include "codegen/kernels/cuda/Prelude.cuh"

namespace hybrid::cuda {

/// Rows that are added to the state with values, and what becomes of them in a chunk.
template <typename T> struct DeltaRuleWrites {
  T *rows, *toEnd;        // [row][key], as they are and decayed to the end of the chunk
  T *readPairs, *eraseOf; // P and N: [row][row written before]
};

/// One head of one sequence: a chunk of its rows in tiles.
template <typename T, DeltaRuleParams p> struct DeltaRuleHead {
  static constexpr int threads = deltaRuleThreads, chunk = static_cast<int>(deltaRuleChunk<T>),
                       keys = static_cast<int>(p.keySize), values = static_cast<int>(p.valueSize),
                       steps = static_cast<int>(p.steps), group = threads / chunk,
                       ownKeys = (keys + group - 1) / group;
  static constexpr bool decays = deltaRuleDecays(p), hasB = p.hasB != 0;
  static constexpr int64_t allRows = deltaRuleRows(p);

  int thread, rows; // of the chunk
  int64_t batch, head, first;
  const T *q, *k, *v, *a, *b, *decay; // of the sequence and head
  const int32_t *segments;
  T *state, *query, *erase, *factor, *queryEntered, *eraseEntered, *entered, *value, *corrected;
  DeltaRuleWrites<T> solved, plain;

  HYBRID_DEVICE DeltaRuleHead(int64_t item, const T *qs, const T *ks, const T *vs, const T *as,
                              const T *bs, const T *decays, const int32_t *ids) {
    thread = static_cast<int>(threadIdx.x);
    batch = item / p.heads, head = item % p.heads;
    q = qs + at(p.qStride, 0, 0, keys), k = ks + at(p.kStride, 0, 0, keys);
    v = vs + at(p.vStride, 0, 0, values), a = as + at(p.aStride, 0, 0, keys);
    b = hasB ? bs + at(p.bStride, 0, 0, keys) : k;
    if constexpr (p.decay != DeltaRuleDecay::None)
      decay = decays + at(p.decayStride, 0, 0, perHead ? 1 : keys);
    segments = p.hasSegments ? ids + batch * p.length : nullptr;
  }
  static constexpr bool perHead = p.decay == DeltaRuleDecay::HeadAndTime;

  /// Where the head's part of a step of a token is in a tensor; from a token on for offsets.
  HYBRID_DEVICE int64_t at(int64_t stride, int64_t t, int j, int size) const {
    return (batch * p.length + t) * stride + (j * p.heads + head) * size;
  }
  HYBRID_DEVICE int64_t stateOffset() const {
    return (batch * p.heads + head) * p.keySize * p.valueSize;
  }
  /// Takes the tiles of the forward pass of `memory`, and says what comes behind.
  HYBRID_DEVICE T *takeTiles(T *memory) {
    auto take = [&](int size) {
      T *taken = memory;
      memory += size;
      return taken;
    };
    query = take(chunk * keys), erase = take(chunk * keys), factor = take(chunk * keys);
    queryEntered = take(chunk * keys), eraseEntered = take(chunk * keys);
    if constexpr (!decays)
      queryEntered = query, eraseEntered = erase;
    DeltaRuleWrites<T> *both[] = {&solved, &plain}; // no list: it would need a header
    for (DeltaRuleWrites<T> *writes : both) {
      writes->rows = take(chunk * keys), writes->toEnd = take(chunk * keys);
      writes->readPairs = take(chunk * chunk), writes->eraseOf = take(chunk * chunk);
    }
    value = take(chunk * values), corrected = take(chunk * values), entered = take(keys);
    return memory;
  }

  HYBRID_DEVICE int64_t tokenOf(int row) const { return (first + row) / steps; }
  HYBRID_DEVICE int stepOf(int row) const { return static_cast<int>((first + row) % steps); }
  HYBRID_DEVICE bool isRead(int row) const { return stepOf(row) == steps - 1; }
  HYBRID_DEVICE bool starts(int row) const {
    if constexpr (p.hasSegments == 0)
      return false;
    const int64_t t = tokenOf(row);
    return stepOf(row) == 0 && t > 0 && segments[t] != segments[t - 1];
  }
  HYBRID_DEVICE T factorOf(int row, int key) const {
    if (stepOf(row) > 0)
      return T(1);
    if (starts(row))
      return T(0);
    if constexpr (p.decay == DeltaRuleDecay::None)
      return T(1);
    else
      return exponential(decay[tokenOf(row) * p.decayStride + (perHead ? 0 : key)]);
  }

  /// Calls body(row, column) for all elements of a matrix, shared out to the threads.
  template <typename Body> HYBRID_DEVICE void forMatrix(int height, int width, Body body) const {
    HYBRID_NO_UNROLL
    for (int i = thread; i < height * width; i += threads)
      body(i / width, i % width);
  }

  HYBRID_DEVICE void readState(T *to, const T *from, bool has) const {
    forMatrix(keys, values, [&](int key, int column) {
      const int i = key * values + column;
      to[i] = has ? from[stateOffset() + i] : T(0);
    });
    blockBarrier();
  }
  HYBRID_DEVICE void writeState(T *to, const T *from) const {
    forMatrix(keys, values, [&](int key, int column) {
      const int i = key * values + column;
      to[stateOffset() + i] = from[i];
    });
  }

  /// Loads a chunk and computes what does not depend on the state it starts from.
  HYBRID_DEVICE void loadChunk(int64_t index) {
    blockBarrier(); // the chunk before is done with its tiles
    first = index * chunk;
    rows = static_cast<int>(minimum<int64_t>(chunk, allRows - first));
    forMatrix(rows, keys, [&](int i, int key) {
      const int64_t t = tokenOf(i), step = stepOf(i) * p.heads * keys + key;
      const int tile = i * keys + key;
      query[tile] = isRead(i) ? T(p.scale) * q[t * p.qStride + key] : T(0);
      erase[tile] = starts(i) ? T(0) : (hasB ? T(1) : T(-1)) * a[t * p.aStride + step];
      solved.rows[tile] = hasB ? b[t * p.bStride + step] : k[t * p.kStride + step];
      if constexpr (hasB)
        plain.rows[tile] = k[t * p.kStride + step];
      if constexpr (decays)
        factor[tile] = factorOf(i, key);
    });
    forMatrix(rows, values, [&](int i, int column) {
      value[i * values + column] =
          v[tokenOf(i) * p.vStride + stepOf(i) * p.heads * values + column];
    });
    blockBarrier();
    pair(solved);
    if constexpr (hasB)
      pair(plain);
    if constexpr (decays)
      for (int key = thread; key < keys; key += threads) {
        T product = 1;
        HYBRID_NO_UNROLL
        for (int at = key; at < rows * keys; at += keys) {
          eraseEntered[at] = erase[at] * product;
          product *= factor[at];
          queryEntered[at] = query[at] * product;
        }
        entered[key] = product;
      }
    blockBarrier();
  }

  /// N and P, and the rows decayed to the end of the chunk: row j is the matter of a group of
  /// threads.
  HYBRID_DEVICE void pair(const DeltaRuleWrites<T> &writes) const {
    const int j = thread / group, lane = thread % group;
    T written[ownKeys];
    HYBRID_UNROLL
    for (int n = 0; n < ownKeys; ++n)
      written[n] = T(0);
    HYBRID_UNROLL_BY_8
    for (int i = 0; i < rows; ++i) {
      T erased = 0, read = 0;
      HYBRID_UNROLL
      for (int n = 0; n < ownKeys; ++n)
        if (const int key = lane + n * group; key < keys) {
          const int tile = i * keys + key;
          erased += erase[tile] * written[n];
          if (i == j)
            written[n] = writes.rows[tile];
          else if constexpr (decays)
            written[n] *= factor[tile];
          read += query[tile] * written[n];
        }
      HYBRID_UNROLL
      for (int mask = group / 2; mask > 0; mask /= 2)
        erased += shuffleXor(erased, mask), read += shuffleXor(read, mask);
      if (lane == 0)
        writes.eraseOf[i * chunk + j] = erased, writes.readPairs[i * chunk + j] = read;
    }
    HYBRID_UNROLL
    for (int n = 0; n < ownKeys; ++n)
      if (const int key = lane + n * group; key < keys && j < rows)
        writes.toEnd[j * keys + key] = written[n];
  }

  /// Σ over p < count of left[p * leftStep] * right[p * rightStep]. What few threads have to do one
  /// after the other waits for memory: so a few loads are under way at a time.
  static HYBRID_DEVICE T dot(int count, const T *left, int leftStep, const T *right,
                             int rightStep) {
    T sum = 0;
    HYBRID_UNROLL_BY_8
    for (int i = 0; i < count; ++i)
      sum = multiplyAdd(left[i * leftStep], right[i * rightStep], sum);
    return sum;
  }

  /// W of the chunk that starts from the state `from`.
  HYBRID_DEVICE void correct(const T *from) const {
    forMatrix(rows, values, [&](int i, int column) {
      T sum = dot(keys, eraseEntered + i * keys, 1, from + column, values);
      if constexpr (hasB)
        sum += dot(i, plain.eraseOf + i * chunk, 1, value + column, values);
      else
        sum += value[i * values + column];
      corrected[i * values + column] = sum;
    });
    blockBarrier();
    for (int column = thread; column < values; column += threads) {
      HYBRID_NO_UNROLL
      for (int i = 1; i < rows; ++i)
        corrected[i * values + column] +=
            dot(i, solved.eraseOf + i * chunk, 1, corrected + column, values);
    }
    blockBarrier();
  }

  template <typename Store> HYBRID_DEVICE void read(Store store) const {
    forMatrix(rows, values, [&](int i, int column) {
      if (!isRead(i))
        return;
      T sum = dot(keys, queryEntered + i * keys, 1, state + column, values) +
              dot(i + 1, solved.readPairs + i * chunk, 1, corrected + column, values);
      if constexpr (hasB)
        sum += dot(i + 1, plain.readPairs + i * chunk, 1, value + column, values);
      store(batch * p.length + tokenOf(i), head * values + column, sum);
    });
  }

  /// Takes the state to the end of the chunk.
  HYBRID_DEVICE void advance() const {
    blockBarrier(); // the state has been read
    forMatrix(keys, values, [&](int key, int column) {
      T after = state[key * values + column];
      if constexpr (decays)
        after *= entered[key];
      after += dot(rows, solved.toEnd + key, keys, corrected + column, values);
      if constexpr (hasB)
        after += dot(rows, plain.toEnd + key, keys, value + column, values);
      state[key * values + column] = after;
    });
    blockBarrier();
  }
};

/// The tiles of a block: in shared memory if they fit, else behind its states in the workspace.
template <typename T, int64_t tiles> HYBRID_DEVICE T *deltaRuleTilesOf(T *workspace) {
  if constexpr (deltaRuleTilesAreShared<T>(tiles))
    return sharedMemory<T>();
  else
    return workspace;
}

template <typename T, DeltaRuleParams P, typename Store>
HYBRID_DEVICE void deltaRuleForward(int64_t index, const T *q, const T *k, const T *v, const T *a,
                                    const T *b, const T *decay, const int32_t *segments,
                                    const T *initialState, T *finalState, T *workspace, Store o) {
  constexpr int64_t tiles = deltaRuleForwardTiles<T>(P), size = P.keySize * P.valueSize;
  DeltaRuleHead<T, P> head(index, q, k, v, a, b, decay, segments);
  head.state = workspace + index * deltaRuleWorkspace<T>(P, 1, tiles);
  head.takeTiles(deltaRuleTilesOf<T, tiles>(head.state + size));
  head.readState(head.state, initialState, P.hasState != 0);
  const auto store = asStore<P.oStride>(o);
  constexpr int64_t chunks = deltaRuleChunks<T>(P);
  HYBRID_NO_UNROLL
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    head.loadChunk(chunk);
    head.correct(head.state);
    head.read(store);
    head.advance();
  }
  if constexpr (P.hasFinalState != 0)
    head.writeState(finalState, head.state);
}

//===-- The gradient -----------------------------------------------------------===//

/// Gradients of a chunk's rows.
template <typename T, DeltaRuleParams p> struct DeltaRuleGradient {
  using Head = DeltaRuleHead<T, p>;
  static constexpr int chunk = Head::chunk, keys = Head::keys, values = Head::values;
  static constexpr bool decays = Head::decays, hasB = Head::hasB;

  Head &head;
  T *dState, *dOut, *dCorrected;
  T *readState /* S do */, *eraseState /* S dw */, *solvedEnd /* dS w */, *plainEnd /* dS v */;
  T *decayEnd /* Σ S dS */, *readSolved, *eraseSolved, *readPlain, *erasePlain; // do w, dw w, ...
  T *dQuery, *dErase, *dSolved, *dPlain, *dFactor;

  HYBRID_DEVICE DeltaRuleGradient(Head &head, T *memory) : head(head) {
    auto take = [&](int size) {
      T *taken = memory;
      memory += size;
      return taken;
    };
    dOut = take(chunk * values), dCorrected = take(chunk * values);
    readState = take(chunk * keys), eraseState = take(chunk * keys);
    solvedEnd = take(chunk * keys), plainEnd = take(chunk * keys);
    dQuery = take(chunk * keys), dErase = take(chunk * keys), dSolved = take(chunk * keys);
    dPlain = take(chunk * keys), dFactor = take(chunk * keys);
    readSolved = take(chunk * chunk), eraseSolved = take(chunk * chunk);
    readPlain = take(chunk * chunk), erasePlain = take(chunk * chunk);
    decayEnd = take(keys);
  }

  /// Of the chunk that starts from `state`: dState is what it ends with, and then starts with.
  HYBRID_DEVICE void ofChunk(int64_t index, const T *state, const T *dO, T *dv) const {
    head.loadChunk(index);
    head.forMatrix(head.rows, values, [&](int i, int column) {
      dOut[i * values + column] =
          head.isRead(i) ? dO[head.at(p.oStride, head.tokenOf(i), 0, values) + column] : T(0);
    });
    head.correct(state);
    ofValues(dv);
    ofStates(state);
    blockBarrier();
    for (int key = head.thread; key < keys; key += Head::threads)
      ofKey(key);
    blockBarrier();
    head.forMatrix(keys, values, [&](int key, int column) {
      T before = dState[key * values + column];
      if constexpr (decays)
        before *= head.entered[key];
      dState[key * values + column] =
          before + Head::dot(head.rows, head.queryEntered + key, keys, dOut + column, values) +
          Head::dot(head.rows, head.eraseEntered + key, keys, dCorrected + column, values);
    });
  }

  HYBRID_DEVICE void storeRows(T *dq, T *dk, T *da, T *db, T *dDecay) const {
    head.forMatrix(head.rows, keys, [&](int i, int key) {
      const int64_t t = head.tokenOf(i);
      const int j = head.stepOf(i), tile = i * keys + key;
      if (head.isRead(i))
        dq[head.at(p.dqStride, t, 0, keys) + key] = T(p.scale) * dQuery[tile];
      da[head.at(p.daStride, t, j, keys) + key] =
          head.starts(i) ? T(0) : (hasB ? T(1) : T(-1)) * dErase[tile];
      if constexpr (hasB)
        db[head.at(p.dbStride, t, j, keys) + key] = dSolved[tile];
      dk[head.at(p.dkStride, t, j, keys) + key] = hasB ? dPlain[tile] : dSolved[tile];
      if constexpr (p.decayGradient && !Head::perHead)
        if (j == 0)
          dDecay[head.at(p.dDecayStride, t, 0, keys) + key] = dFactor[tile];
    });
    if constexpr (p.decayGradient && Head::perHead)
      for (int i = head.thread; i < head.rows; i += Head::threads)
        if (head.stepOf(i) == 0) {
          T sum = 0;
          for (int key = 0; key < keys; ++key)
            sum += dFactor[i * keys + key];
          dDecay[head.at(p.dDecayStride, head.tokenOf(i), 0, 1)] = sum;
        }
  }

private:
  /// dW, and from it dv.
  HYBRID_DEVICE void ofValues(T *dv) const {
    const int rows = head.rows;
    auto back = [&](const T *pairs, int i, const T *of, int column) {
      return Head::dot(rows - i, pairs + i * chunk + i, chunk, of + i * values + column, values);
    };
    head.forMatrix(rows, values, [&](int i, int column) {
      dCorrected[i * values + column] =
          Head::dot(keys, head.solved.toEnd + i * keys, 1, dState + column, values) +
          back(head.solved.readPairs, i, dOut, column);
    });
    blockBarrier();
    for (int column = head.thread; column < values; column += Head::threads) {
      HYBRID_NO_UNROLL
      for (int i = rows - 2; i >= 0; --i)
        dCorrected[i * values + column] +=
            Head::dot(rows - 1 - i, head.solved.eraseOf + (i + 1) * chunk + i, chunk,
                      dCorrected + (i + 1) * values + column, values);
    }
    blockBarrier();
    head.forMatrix(rows, values, [&](int i, int column) {
      T gradient = dCorrected[i * values + column];
      if constexpr (hasB)
        gradient = Head::dot(keys, head.plain.toEnd + i * keys, 1, dState + column, values) +
                   back(head.plain.readPairs, i, dOut, column) +
                   back(head.plain.eraseOf, i, dCorrected, column);
      dv[head.at(p.dvStride, head.tokenOf(i), head.stepOf(i), values) + column] = gradient;
    });
  }

  /// Products of values: of pairs of rows, and of rows with the states at both ends.
  HYBRID_DEVICE void ofStates(const T *state) const {
    auto pairs = [&](T *to, const T *left, const T *right) {
      head.forMatrix(head.rows, chunk, [&](int m, int j) {
        if (j <= m)
          to[m * chunk + j] = Head::dot(values, left + m * values, 1, right + j * values, 1);
      });
    };
    auto ofState = [&](T *to, const T *of, const T *rows) {
      head.forMatrix(head.rows, keys, [&](int i, int key) {
        to[i * keys + key] = Head::dot(values, of + key * values, 1, rows + i * values, 1);
      });
    };
    pairs(readSolved, dOut, head.corrected), pairs(eraseSolved, dCorrected, head.corrected);
    ofState(readState, state, dOut), ofState(eraseState, state, dCorrected);
    ofState(solvedEnd, dState, head.corrected);
    if constexpr (hasB) {
      pairs(readPlain, dOut, head.value), pairs(erasePlain, dCorrected, head.value);
      ofState(plainEnd, dState, head.value);
    }
    if constexpr (p.decayGradient)
      for (int key = head.thread; key < keys; key += Head::threads)
        decayEnd[key] = Head::dot(values, state + key * values, 1, dState + key * values, 1);
  }

  /// Gradients of rows in a key.
  HYBRID_DEVICE void ofKey(int key) const {
    const int rows = head.rows;
    HYBRID_NO_UNROLL
    for (int at = key; at < rows * keys; at += keys)
      dQuery[at] = dErase[at] = dFactor[at] = T(0);
    run(-1, key, T(1), p.decayGradient ? decayEnd[key] : T(0), readState + key, eraseState + key,
        keys);
    ofWrites(head.solved, key, readSolved, eraseSolved, solvedEnd, dSolved);
    if constexpr (hasB)
      ofWrites(head.plain, key, readPlain, erasePlain, plainEnd, dPlain);
  }
  HYBRID_DEVICE void ofWrites(const DeltaRuleWrites<T> &writes, int key, const T *read,
                              const T *erased, const T *end, T *to) const {
    HYBRID_NO_UNROLL
    for (int j = 0; j < head.rows; ++j) {
      const int at = j * keys + key;
      const T start = writes.rows[at], own = read[j * chunk + j];
      to[at] = run(j, key, start, end[at], read + j, erased + j, chunk) + head.query[at] * own;
      dQuery[at] += start * own; // a row is read after it has been written
    }
  }
  /// Of d_m = factor_m d_(m-1) behind row j, which starts as `start`, is read with read[m * stride]
  /// and erased with erased[m * stride], and whose last has the gradient `end`: that of `start`.
  HYBRID_DEVICE T run(int j, int key, T start, T end, const T *read, const T *erased,
                      int stride) const {
    T product[chunk + 1];
    HYBRID_UNROLL
    for (int m = 0; m <= chunk; ++m) {
      product[m] = start;
      if constexpr (decays)
        if (m > 0 && m - 1 > j && m - 1 < head.rows)
          product[m] = product[m - 1] * head.factor[(m - 1) * keys + key];
    }
    HYBRID_UNROLL
    for (int m = chunk - 1; m >= 0; --m)
      if (m > j && m < head.rows) {
        const int at = m * keys + key;
        end += head.query[at] * read[m * stride];
        dQuery[at] += product[m + 1] * read[m * stride];
        if constexpr (p.decayGradient != 0)
          dFactor[at] += product[m + 1] * end;
        if constexpr (decays)
          end *= head.factor[at];
        end += head.erase[at] * erased[m * stride];
        dErase[at] += product[m] * erased[m * stride];
      }
    return end;
  }
};

template <typename T, DeltaRuleParams P>
HYBRID_DEVICE void deltaRuleBackward(int64_t index, const T *q, const T *k, const T *v, const T *a,
                                     const T *b, const T *decay, const int32_t *segments,
                                     const T *initialState, const T *dO, const T *dFinalState,
                                     T *dInitialState, T *dq, T *dk, T *dv, T *da, T *db, T *dDecay,
                                     T *workspace) {
  constexpr int64_t tiles = deltaRuleBackwardTiles<T>(P), size = P.keySize * P.valueSize,
                    states = deltaRuleStates<T>(P) + 2, chunks = deltaRuleChunks<T>(P),
                    group = deltaRuleGroup<T>(P), groups = ceilDiv(chunks, group);
  DeltaRuleHead<T, P> head(index, q, k, v, a, b, decay, segments);
  head.state = workspace + index * deltaRuleWorkspace<T>(P, states, tiles);
  T *dState = head.state + size, *kept = dState + size, *ofGroup = kept + groups * size;
  DeltaRuleGradient<T, P> gradient(
      head, head.takeTiles(deltaRuleTilesOf<T, tiles>(head.state + states * size)));
  gradient.dState = dState;
  auto copy = [&](T *to, const T *from) {
    for (int64_t i = head.thread; i < size; i += deltaRuleThreads)
      to[i] = from[i];
    blockBarrier();
  };
  // Keeps the states that `stride` chunks from `from` on, and on again, start from.
  auto keep = [&](T *to, int64_t from, int64_t last, int64_t stride) {
    HYBRID_NO_UNROLL
    for (int64_t chunk = from;; ++chunk) {
      if ((chunk - from) % stride == 0)
        copy(to + (chunk - from) / stride * size, head.state);
      if (chunk >= last)
        break;
      head.loadChunk(chunk);
      head.correct(head.state);
      head.advance();
    }
  };
  head.readState(head.state, initialState, P.hasState != 0);
  keep(kept, 0, (groups - 1) * group, group);
  head.readState(dState, dFinalState, P.hasFinalState != 0);
  HYBRID_NO_UNROLL
  for (int64_t g = groups - 1; g >= 0; --g) {
    const int64_t start = g * group, end = minimum(start + group, chunks);
    T *from = kept + g * size;
    if constexpr (group > 1) {
      copy(head.state, from);
      keep(ofGroup, start, end - 1, 1);
      from = ofGroup;
    }
    HYBRID_NO_UNROLL
    for (int64_t chunk = end - 1; chunk >= start; --chunk) {
      gradient.ofChunk(chunk, from + (chunk - start) * size, dO, dv);
      gradient.storeRows(dq, dk, da, db, dDecay);
    }
  }
  blockBarrier();
  if constexpr (P.stateGradient != 0)
    head.writeState(dInitialState, dState);
}

} // namespace hybrid::cuda
