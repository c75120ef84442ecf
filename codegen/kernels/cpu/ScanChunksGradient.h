//===- ScanChunksGradient.h - gradients of scans that go through chunks ---===//
//
// Runs over the chunks backwards, from states that are computed again. It has the form of the scan:
// dW solves the transposed system, and all else are products of blocks. With rows divided by F the
// gradients of q, n, c and k by pairs are products as well.
//
// A decay is in everything that goes past it: from the chunk's start to rows behind it, from rows
// before it to the chunk's end, and in pairs of a row before it and one behind. All of these are
// sums of products from either end, without differences, but for the pairs of a key's own decays:
// there what rows behind it read, less what they read of one another.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "ScanChunks.h"

namespace hybrid::cpu {

/// Gradients of a head's parts of activations, and the cotangent of what it reads.
template <typename T> struct ScanGradients {
  Steps<Activation<T>> dOut, dq, dk, dv, da, db;
  bool ofDecay;
};

/// Of rows that are written.
template <typename T> struct WrittenGradient {
  T *readPairs, *erasePairs; // do w and dw w, times D
  T *rows;                   // by pairs
  T *toEnd;                  // dS w
  T *own;                    // of reads of a row by itself
};

template <typename T> struct ScanGradient {
  ScanChunk<T> &chunk;
  const ScanOperands<T> &of;
  ScanGradients<T> to;
  T *dState, *dOut, *dCorrected, *dValue, *valueColumns;
  T *readState /* S do */, *eraseState /* S dw */, *dQuery, *dErase; // both by pairs
  WrittenGradient<T> solved, plain;
  T *stateColumns, *dStateColumns;
  T *decayEnd /* [key]: of what goes through the whole chunk */;
  T *ofDecay, *hereTile, *laterTile, *pairedTile, *beforeTile; // [row][key of a block]

  ScanGradient(ScanChunk<T> &chunk, const ScanGradients<T> &to, Memory<T> &memory)
      : chunk(chunk), of(chunk.of), to(to) {
    const int64_t keyTile = chunk.keyBlocks * blockSize<T>,
                  valueTile = chunk.valueBlocks * blockSize<T>;
    dState = memory.take(scanStateElements<T>(of.sizes));
    memory.give(valueTile, dOut, dCorrected, dValue, valueColumns);
    memory.give(keyTile, readState, eraseState, dQuery, dErase, solved.rows, solved.toEnd,
                plain.rows, plain.toEnd);
    memory.give(blockSize<T>, solved.readPairs, solved.erasePairs, plain.readPairs,
                plain.erasePairs, stateColumns, dStateColumns, ofDecay, hereTile, laterTile,
                pairedTile, beforeTile);
    memory.give(lanes<T>, solved.own, plain.own);
    decayEnd = memory.take(chunk.keyBlocks * lanes<T>);
  }

  /// Of the loaded chunk, which starts from `state`: dState is what it ends with, and then starts
  /// with. storeDecay(row, block of keys, gradients by key; or 0, a vector to be summed).
  template <typename StoreDecay>
  HYBRID_INLINE_LAMBDA void ofChunk(const T *state, StoreDecay storeDecay) {
    ofValues();
    ofPairs();
    ofStates(state);
    for (int64_t block = 0; block < chunk.keyBlocks; ++block) {
      productsOfPairs(block * blockSize<T>);
      ofKeys(block, storeDecay);
    }
    if (to.ofDecay && of.factors == Factors::Head)
      for (int64_t i = 0; i < chunk.rows; ++i)
        storeDecay(i, 0, load(ofDecay + i * lanes<T>));
    toStart();
  }

  /// Takes dState from the chunk's end to its start.
  HYBRID_INLINE_LAMBDA void toStart() {
    chunk.eachBlockOfState([&](int64_t at, int64_t key, int64_t value) HYBRID_INLINE_LAMBDA {
      T *state = dState + at;
      multiplyBlocks<Left::Transposed, T>(state, state,
                                          chunk.decays() ? chunk.last + key / lanes<T> : nullptr,
                                          {chunk.queryEntered + key}, {dOut + value});
      if (of.erases)
        multiplyBlocks<Left::Transposed, T>(state, state, nullptr, {chunk.eraseEntered + key},
                                            {dCorrected + value});
    });
  }

private:
  template <typename Each> HYBRID_INLINE_LAMBDA void eachWrites(Each each) {
    if (of.erases)
      each(chunk.solved, solved);
    if (chunk.writesPlain())
      each(chunk.plain, plain);
  }

  /// dW, and from it dv.
  HYBRID_INLINE_LAMBDA void ofValues() {
    for (int64_t block = 0; block < chunk.valueBlocks; ++block) {
      const int64_t at = block * blockSize<T>, column = block * lanes<T>,
                    count = chunk.valuesAt(block);
      for (int64_t i = 0; i < lanes<T>; ++i)
        store(dOut + at + i * lanes<T>, i < chunk.rows && chunk.isRead(i)
                                            ? loadPart(chunk.place(to.dOut, i, 0, column), count)
                                            : splat(T(0)));
      auto begin = [&](T *into, const Writes<T> &writes) HYBRID_INLINE_LAMBDA {
        multiplyBlocks<Left::Plain, T>(into + at, nullptr, nullptr, {writes.toEnd, blockSize<T>},
                                       chunk.ofState(dState, block), chunk.keyBlocks);
        multiplyTriangle<Left::Transposed, T>(into + at, into + at, writes.readPairs, dOut + at);
      };
      if (of.erases) {
        begin(dCorrected, chunk.solved);
        solveBlock<Left::Transposed>(chunk.solved.erasePairs, dCorrected + at);
      }
      if (chunk.writesPlain())
        begin(dValue, chunk.plain);
      if (of.hasB)
        multiplyTriangle<Left::Transposed, T>(dValue + at, dValue + at, chunk.plain.erasePairs,
                                              dCorrected + at);
      const T *result = (chunk.writesPlain() ? dValue : dCorrected) + at;
      for (int64_t i = 0; i < chunk.rows; ++i)
        storePart(chunk.place(to.dv, i, chunk.stepOf(i), column), load(result + i * lanes<T>),
                  count);
    }
  }

  /// Products of the values of pairs of rows, times D; and what they make of a head's decays.
  HYBRID_INLINE_LAMBDA void ofPairs() {
    const bool ofHead = to.ofDecay && of.factors == Factors::Head;
    for (int64_t i = 0; ofHead && i < lanes<T>; ++i)
      store(ofDecay + i * lanes<T>, splat(T(0)));
    eachWrites(
        [&](const Writes<T> &writes, const WrittenGradient<T> &gradient) HYBRID_INLINE_LAMBDA {
          for (int64_t at = 0; at < chunk.valueBlocks * blockSize<T>; at += blockSize<T>)
            transposeBlock(valueColumns + at, writes.values + at);
          auto product = [&](T *pairs, const T *rows) HYBRID_INLINE_LAMBDA {
            multiplyBlocks<Left::Plain, T>(pairs, nullptr, nullptr, {rows, blockSize<T>},
                                           {valueColumns, blockSize<T>}, chunk.valueBlocks);
          };
          product(gradient.readPairs, dOut);
          if (of.erases)
            product(gradient.erasePairs, dCorrected);
          if (ofHead) {
            addPast(gradient.readPairs, writes.readPairs, of.exclusive);
            if (of.erases)
              addPast(gradient.erasePairs, writes.erasePairs, true);
          }
          for (int64_t i = 0; i < lanes<T>; ++i)
            gradient.own[i] = of.exclusive ? T(0) : gradient.readPairs[i * lanes<T> + i];
          chunk.mask(gradient.readPairs, of.exclusive ? chunk.pairsBefore : chunk.pairs, 0);
          if (of.erases)
            chunk.maskErased(gradient.erasePairs);
        });
  }
  /// Adds to every row's decay what goes past it: from rows before it to that row and those behind
  /// it, or to those behind it alone.
  HYBRID_INLINE_LAMBDA void addPast(const T *gradient, const T *pairsOf, bool behindAlone) {
    Vector<T> sum = splat(T(0));
    for (int64_t i = lanes<T> - 1; i >= 0; --i) {
      const int64_t at = i * lanes<T>;
      const Vector<T> own = load(gradient + at) * load(pairsOf + at),
                      next = chunk.firstLanesOf(sum + own, i);
      store(ofDecay + at, load(ofDecay + at) + (behindAlone ? chunk.firstLanesOf(sum, i) : next));
      sum = next;
    }
  }

  /// Products with the states at both ends.
  HYBRID_INLINE_LAMBDA void ofStates(const T *state) {
    for (int64_t at = 0; to.ofDecay && at < chunk.keyBlocks * lanes<T>; at += lanes<T>)
      store(decayEnd + at, splat(T(0)));
    chunk.eachBlockOfState([&](int64_t at, int64_t key, int64_t value) HYBRID_INLINE_LAMBDA {
      transposeBlock(stateColumns, state + at), transposeBlock(dStateColumns, dState + at);
      auto add = [&](T *sum, const T *rows, const T *columns) HYBRID_INLINE_LAMBDA {
        multiplyBlocks<Left::Plain, T>(sum + key, value ? sum + key : nullptr, nullptr,
                                       {rows + value}, {columns});
      };
      add(readState, dOut, stateColumns);
      if (of.erases)
        add(eraseState, dCorrected, stateColumns);
      eachWrites([&](const Writes<T> &writes, const WrittenGradient<T> &gradient)
                     HYBRID_INLINE_LAMBDA { add(gradient.toEnd, writes.values, dStateColumns); });
      if (!to.ofDecay)
        return;
      T *end = decayEnd + key / lanes<T>;
      Vector<T> sum = splat(T(0));
      for (int64_t i = 0; i < blockSize<T>; i += lanes<T>)
        sum += load(stateColumns + i) * load(dStateColumns + i);
      store(end, load(end) + sum);
    });
  }

  HYBRID_INLINE_LAMBDA void productsOfPairs(int64_t key) {
    const T *dQueryStart = nullptr, *dEraseStart = nullptr;
    eachWrites([&](const Writes<T> &writes, const WrittenGradient<T> &gradient)
                   HYBRID_INLINE_LAMBDA {
                     multiplyTriangle<Left::Plain, T>(dQuery + key, dQueryStart, gradient.readPairs,
                                                      writes.rows + key);
                     multiplyTriangle<Left::Transposed, T>(gradient.rows + key, nullptr,
                                                           gradient.readPairs, chunk.query + key);
                     dQueryStart = dQuery + key;
                     if (!of.erases)
                       return;
                     multiplyTriangle<Left::Plain, T>(dErase + key, dEraseStart,
                                                      gradient.erasePairs, writes.rows + key);
                     multiplyTriangle<Left::Transposed, T>(gradient.rows + key, gradient.rows + key,
                                                           gradient.erasePairs, chunk.erase + key);
                     dEraseStart = dErase + key;
                   });
  }

  /// Gradients of the rows in a block of keys.
  template <typename StoreDecay>
  HYBRID_INLINE_LAMBDA void ofKeys(int64_t block, StoreDecay storeDecay) {
    const int64_t column = block * lanes<T>, count = chunk.keysAt(block);
    const bool ofKey = of.factors == Factors::Key;
    Vector<T> written = splat(T(0)); // by rows before, what arrives at the chunk's end
    for (int64_t i = 0; i < chunk.rows; ++i) {
      const int64_t row = i * lanes<T>, at = block * blockSize<T> + row;
      const int64_t j = chunk.stepOf(i);
      Vector<T> here = splat(T(0)), later = splat(T(0)), paired = splat(T(0));
      store(beforeTile + row, written);

      Vector<T> byPairs = load(dQuery + at), byState = load(readState + at);
      Vector<T> past = load(chunk.queryEntered + at) * byState,
                pastPairs = load(chunk.query + at) * byPairs;
      (of.exclusive ? later : here) += past;
      Vector<T> pairsLater = of.exclusive ? pastPairs : splat(T(0));
      paired += of.exclusive ? splat(T(0)) : pastPairs;
      eachWrites([&](const Writes<T> &writes, const WrittenGradient<T> &gradient)
                     HYBRID_INLINE_LAMBDA { byPairs += gradient.own[i] * load(writes.rows + at); });
      if (chunk.isRead(i)) {
        const Place<T> where = chunk.placeOfRead(i, block);
        const Vector<T> gradient = (byPairs * where.factor + byState * where.entered) * of.scale;
        storePart(chunk.place(to.dq, i, 0, column), chunk.readsNothing(i) ? splat(T(0)) : gradient,
                  count);
      }
      if (of.erases) {
        const Vector<T> byPairs = load(dErase + at), byState = load(eraseState + at);
        const Place<T> where = chunk.placeBefore(i, block);
        const Vector<T> gradient = byPairs * where.factor + byState * where.entered;
        later += load(chunk.eraseEntered + at) * byState;
        pairsLater += load(chunk.erase + at) * byPairs;
        storePart(chunk.place(to.da, i, j, column),
                  chunk.starts(i) ? splat(T(0)) : gradient * chunk.sign(), count);
      }
      auto write = [&](const Writes<T> &writes, const WrittenGradient<T> &gradient,
                       const Steps<Activation<T>> &result) HYBRID_INLINE_LAMBDA {
        Vector<T> byPairs = load(gradient.rows + at);
        const Vector<T> atEnd = load(gradient.toEnd + at);
        paired -= load(writes.rows + at) * byPairs;
        written += load(writes.toEnd + at) * atEnd;
        byPairs += gradient.own[i] * load(chunk.query + at);
        storePart(chunk.place(result, i, j, column),
                  byPairs * chunk.inverseOf(i, block) + atEnd * chunk.toEndOf(i, block), count);
      };
      if (of.erases)
        write(chunk.solved, solved, of.hasB ? to.db : to.dk);
      if (chunk.writesPlain())
        write(chunk.plain, plain, to.dk);
      if (!to.ofDecay)
        continue;
      store(hereTile + row, here), store(laterTile + row, later);
      if (ofKey)
        store(pairedTile + row, paired), store(pairedLater(row), pairsLater);
    }
    if (to.ofDecay)
      ofDecays(block, storeDecay);
  }
  T *pairedLater(int64_t row) { return stateColumns + row; } // which is not used any more

  HYBRID_INLINE_LAMBDA void ofDecays(int64_t block, auto storeDecay) {
    const bool ofKey = of.factors == Factors::Key;
    const Vector<T> through =
        load(decayEnd + block * lanes<T>) * load(chunk.last + block * lanes<T>);
    Vector<T> here = splat(T(0)), later = splat(T(0)), paired = splat(T(0));
    for (int64_t i = chunk.rows - 1; i >= 0; --i) {
      const int64_t row = i * lanes<T>;
      here += load(hereTile + row);
      Vector<T> sum = through + load(beforeTile + row) + here + later;
      later += load(laterTile + row);
      if (!ofKey) {
        store(ofDecay + row, load(ofDecay + row) + sum);
        continue;
      }
      paired += load(pairedTile + row);
      if (i > 0) // nothing of the chunk is before its first row
        sum += paired;
      paired += load(pairedLater(row));
      storeDecay(i, block, sum);
    }
  }
};

/// The gradient of a scan from `initial` (or zero), whose last state has the cotangent `dFinal` (or
/// zero); dInitial may be null. storeDecay as ScanGradient::ofChunk has it.
template <typename T, typename StoreDecay>
HYBRID_INLINE void scanBackward(ScanChunk<T> &chunk, ScanGradient<T> &gradient, const T *initial,
                                const T *dFinal, T *dInitial, Memory<T> &memory,
                                StoreDecay storeDecay) {
  const ScanSizes &sizes = chunk.of.sizes;
  const int64_t size = scanStateElements<T>(sizes), spans = scanSpans<T>(sizes),
                group = scanGroup<T>(sizes), groups = ceilDiv(spans, group);
  T *kept = memory.take(groups * size), *ofGroup = group > 1 ? memory.take(group * size) : nullptr,
    *ofSpan = sizes.perKey ? memory.take(lanes<T> * size) : nullptr;
  const int64_t valueTile = chunk.valueBlocks * blockSize<T>;
  T *corrected = scanKeepsCorrected<T>(sizes) ? memory.take(spans * valueTile) : nullptr;
  auto copyOf = [&](T *to, const T *from, int64_t elements) HYBRID_INLINE_LAMBDA {
    for (int64_t at = 0; at < elements; at += lanes<T>)
      store(to + at, load(from + at));
  };
  auto copy = [&](T *to, const T *from) HYBRID_INLINE_LAMBDA { copyOf(to, from, size); };
  chunk.loadState(chunk.state, initial);
  chunk.loadState(gradient.dState, dFinal);
  // First forwards to what the groups start from, then group by group from the last: forwards again
  // to what its spans start from, and back. A span of several chunks goes forwards once more. All
  // in one loop: its body is large.
  for (int64_t g = groups; g >= 0; --g) {
    const bool keeps = g == groups;
    const int64_t start = keeps ? 0 : g * group, end = minimum(start + group, spans),
                  every = keeps ? group : 1,
                  forwards = keeps ? (groups - 1) * group : (group > 1 ? end - 1 - start : 0),
                  all = forwards + (keeps ? 0 : end - start);
    T *states = keeps || group == 1 ? kept + start * size : ofGroup;
    if (!keeps && group > 1)
      copy(chunk.state, kept + g * size);
    if (keeps || group > 1)
      copy(states, chunk.state);
    for (int64_t step = 0; step < all; ++step) {
      const bool forward = step < forwards;
      const int64_t span = forward ? start + step : end - 1 - (step - forwards);
      const T *from = forward ? chunk.state : states + (span - start) * size, *at = from;
      int64_t starts[lanes<T>], count = 0, row = span * lanes<T>;
      const int64_t spanEnd = chunk.spanEnd(row);
      bool back = false;
      for (;;) {
        chunk.loadRows(row, spanEnd, !forward, !forward);
        const int64_t next = row + chunk.rows;
        // W of a span that is one chunk has been found on the way forwards, but for the last.
        T *known = corrected && span + 1 < spans && row == span * lanes<T> && next == spanEnd
                       ? corrected + span * valueTile
                       : nullptr;
        if (chunk.of.erases && known && !forward)
          copyOf(chunk.corrected, known, valueTile);
        else if (chunk.of.erases) {
          chunk.correct(at);
          if (known)
            copyOf(known, chunk.corrected, valueTile);
        }
        if (forward || (!back && next < spanEnd)) {
          T *to = forward ? chunk.state : ofSpan + count * size;
          chunk.advance(to, at);
          if (forward && next == spanEnd)
            break;
          if (!forward)
            starts[count++] = row;
          at = to, row = next;
          continue;
        }
        back = true;
        gradient.ofChunk(at, storeDecay);
        if (count == 0)
          break;
        row = starts[--count], at = count > 0 ? ofSpan + (count - 1) * size : from;
      }
      if (forward && (span + 1 - start) % every == 0)
        copy(states + (span + 1 - start) / every * size, chunk.state);
    }
  }
  if (dInitial)
    chunk.storeState(dInitial, gradient.dState);
}

} // namespace hybrid::cpu
