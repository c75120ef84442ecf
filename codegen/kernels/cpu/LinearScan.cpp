//===- LinearScan.cpp - scan of a decayed outer-product state -------------===//
//
// Forward, and each of the gradients of q, k and v, is one and the same recurrence
//
//   state[row] = decay ⊙ state[row] + write[row] * lane        out = Σ_row read[row] * state[row]
//
// over a state of rows x one vector, forwards or backwards in time:
//
//   o   lanes values, rows keys,   forwards:  read q,  write k,  lane v
//   dq  lanes keys,   rows values, forwards:  read do, write v,  lane k
//   dk  lanes keys,   rows values, backwards: read v,  write do, lane q
//   dv  lanes values, rows keys,   backwards: read k,  write q,  lane do
//
// so that nothing is ever summed over lanes and no product of decays is ever inverted: however
// strong the decay, nothing overflows. Up to four steps are taken on a row while it is in a
// register, which leaves three multiply-adds a step and a vector of state, and hardly any traffic
// with memory. States that fill blocks go chunk by chunk instead (LinearScanChunks.h). The gradient
// of the decay needs S_(t-1) and dS_t together: one state a chunk is kept, the states of a chunk
// are computed again.
//
// Katharopoulos et al. 2020, section 3.3.1, for the gradients as scans.
//
//===----------------------------------------------------------------------===//
#include "codegen/kernels/LinearScan.h"
#include "LinearScanChunks.h"

using namespace hybrid;
using namespace hybrid::cpu;

namespace {

/// Steps taken on a row of the state at a time.
constexpr int64_t blockSteps = 4;

/// Every block of a divided sequence is one of its own here.
HYBRID_INLINE int64_t sequences(const LinearScanParams &params) {
  return params.batch * params.blocks;
}

/// One head's rows of an activation.
template <typename Pointer> struct Rows {
  Pointer first = {};
  int64_t stride = 0;

  Pointer at(int64_t t) const { return first + t * stride; }
};

/// Which head, and which of its lanes, a work item is about.
struct Item {
  int64_t batch, head, block, firstLane;

  Item(int64_t item, const LinearScanParams &params, int64_t laneSize, int64_t lanesOfBlock) {
    const int64_t blocks = ceilDiv(laneSize, lanesOfBlock);
    block = item % blocks, firstLane = block * lanesOfBlock;
    head = item / blocks % params.heads, batch = item / blocks / params.heads;
  }
  /// Rows of a tensor [batch, length, heads * size] from a channel of the head on, or none of an
  /// absent one.
  template <typename Pointer>
  Rows<Pointer> rows(Pointer buffer, const LinearScanParams &params, int64_t stride, int64_t size,
                     int64_t channel = 0) const {
    if (!buffer)
      return {};
    return {buffer + (batch * params.blockRows * stride + head * size + channel), stride};
  }
  /// The head's part of a state [batch, heads, keySize, valueSize].
  template <typename T> T *state(void *buffer, const LinearScanParams &params) const {
    return static_cast<T *>(buffer) +
           (batch * params.heads + head) * params.keySize * params.valueSize;
  }
};

/// Where a state starts from zero.
struct Segments {
  const int32_t *ids = nullptr; // of this batch row, or null

  Segments(const void *buffer, const LinearScanParams &params, const Item &item) {
    if (params.hasSegments)
      ids = static_cast<const int32_t *>(buffer) + item.batch * params.blockRows;
  }
  bool startAt(int64_t t) const { return ids && t > 0 && ids[t] != ids[t - 1]; }
};

/// Factors e^g of one head.
template <typename T> struct Decay {
  ScanDecay kind;
  Rows<const T *> logarithms; // stride 0 when constant
  int64_t channels;

  Decay(const T *buffer, const LinearScanParams &params, const Item &item)
      : kind(params.decay), channels(params.keySize) {
    if (kind == ScanDecay::KeyAndTime)
      logarithms = item.rows(buffer, params, params.decayStride, params.keySize);
    else if (kind == ScanDecay::HeadAndTime)
      logarithms = item.rows(buffer, params, params.decayStride, 1);
    else if (kind == ScanDecay::Key)
      logarithms = {buffer + item.head * params.keySize, 0};
    else if (kind == ScanDecay::Head)
      logarithms = {buffer + item.head, 0};
  }
  bool perHead() const { return kind == ScanDecay::HeadAndTime || kind == ScanDecay::Head; }
  bool constant() const { return kind == ScanDecay::Key || kind == ScanDecay::Head; }
  /// Factors of the key channels from `channel` on; lanes behind the last one are 1.
  Vector<T> factors(int64_t t, int64_t channel) const {
    if (perHead())
      return exponential(splat(*logarithms.at(t)));
    return exponential(loadPart(logarithms.at(t) + channel, lanesAt<T>(channel, channels)));
  }
};

/// What a scan does with the states of a chunk, kept row by row and step by step.
enum class History { None, Save, Contract };

/// One of the recurrences above for one head and one vector of lanes.
template <typename T> struct Scan {
  Rows<Activation<T>> read, write, lane, out;
  int64_t rows, count /* valid lanes */;
  bool reverse, exclusive;
  bool reads = true;
  T laneScale = T(1), outScale = T(1);

  /// Decay by rows takes its factors from `table` [step][row, padded], by lanes from `factors`.
  bool decays, decaysLanes;
  int64_t tableStride = 0; // 0 when constant

  int64_t direction() const { return reverse ? -1 : 1; }
};

/// Takes `steps` steps from t on. `history` is the place of S_(t-1) (States of the steps follow
/// in the direction of time); `contracted` receives Σ_row S_(t-1) ⊙ state for each step.
template <typename T, int64_t steps, History use>
HYBRID_INLINE void advance(const Scan<T> &scan, T *state, int64_t t, const T *table,
                           const Vector<T> *factors, T *history, Vector<T> *contracted) {
  Vector<T> lane[steps], sum[steps], product[steps];
  Activation<T> read[steps], write[steps];
  HYBRID_UNROLL
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t at = t + i * scan.direction();
    lane[i] = loadPart(scan.lane.at(at), scan.count) * scan.laneScale;
    write[i] = scan.write.at(at);
    read[i] = scan.reads ? scan.read.at(at) : Activation<T>();
    sum[i] = splat(T(0)), product[i] = splat(T(0));
  }
  const int64_t historyStep = scan.direction() * scan.rows * lanes<T>;
  for (int64_t row = 0; row < scan.rows; ++row) {
    Vector<T> s = load(state + row * lanes<T>);
    HYBRID_UNROLL
    for (int64_t i = 0; i < steps; ++i) {
      auto decay = [&]() HYBRID_INLINE_LAMBDA {
        if (scan.decaysLanes)
          s *= factors[i];
        else if (scan.decays)
          s *= table[i * scan.tableStride + row];
      };
      auto take = [&]() HYBRID_INLINE_LAMBDA {
        if (scan.reads)
          sum[i] += read[i][row] * s;
        if (use == History::Contract)
          product[i] += load(history + i * historyStep + row * lanes<T>) * s;
      };
      if (use == History::Save)
        store(history + i * historyStep + row * lanes<T>, s);
      if (scan.exclusive) {
        take();
        decay();
        s += write[i][row] * lane[i];
      } else if (scan.reverse) {
        s += write[i][row] * lane[i];
        take();
        decay();
      } else {
        decay();
        s += write[i][row] * lane[i];
        take();
      }
    }
    store(state + row * lanes<T>, s);
  }
  HYBRID_UNROLL
  for (int64_t i = 0; i < steps; ++i) {
    if (scan.reads)
      storePart(scan.out.at(t + i * scan.direction()), sum[i] * scan.outScale, scan.count);
    if (use == History::Contract)
      contracted[i] = product[i];
  }
}

template <typename T> HYBRID_INLINE void clear(T *state, int64_t rows) {
  for (int64_t row = 0; row < rows; ++row)
    store(state + row * lanes<T>, splat(T(0)));
}

/// Steps that can be taken at once from t on: blockSteps, or one near an end or a start of a
/// segment.
HYBRID_INLINE int64_t stepsFrom(int64_t t, int64_t first, int64_t end, bool reverse,
                                const Segments &segments) {
  const int64_t left = reverse ? t - first + 1 : end - t;
  if (left < blockSteps)
    return 1;
  for (int64_t i = 1; i < blockSteps; ++i)
    if (segments.startAt(reverse ? t - i + 1 : t + i))
      return 1;
  return blockSteps;
}

/// Runs a scan over positions [first, end) in its direction. `atBlock(t, steps)` calls advance for
/// one block.
template <typename T, typename Block>
HYBRID_INLINE void sweep(const Scan<T> &scan, T *state, int64_t first, int64_t end,
                         const Segments &segments, Block atBlock) {
  if (!scan.reverse) {
    for (int64_t t = first, steps; t < end; t += steps) {
      if (segments.startAt(t))
        clear(state, scan.rows);
      steps = stepsFrom(t, first, end, false, segments);
      atBlock(t, steps);
    }
    return;
  }
  for (int64_t t = end - 1, steps; t >= first; t -= steps) {
    steps = stepsFrom(t, first, end, true, segments);
    atBlock(t, steps);
    if (segments.startAt(t - steps + 1))
      clear(state, scan.rows);
  }
}

//===-- lanes are values -------------------------------------------------------===//

/// Runs a scan whose rows are key channels over the whole length.
template <typename T>
HYBRID_INLINE void sweepKeys(Scan<T> &scan, T *state, T *table, const Decay<T> &decay,
                             const Segments &segments, int64_t length) {
  const int64_t padded = ceilDiv(scan.rows, lanes<T>) * lanes<T>;
  auto fill = [&](int64_t t, int64_t steps) HYBRID_INLINE_LAMBDA {
    for (int64_t i = 0; i < steps; ++i)
      for (int64_t row = 0; row < scan.rows; row += lanes<T>)
        store(table + i * padded + row, decay.factors(t + i * scan.direction(), row));
  };
  scan.decays = decay.kind != ScanDecay::None, scan.decaysLanes = false;
  scan.tableStride = decay.constant() ? 0 : padded;
  if (decay.constant())
    fill(0, 1);
  sweep(scan, state, 0, length, segments, [&](int64_t t, int64_t steps) HYBRID_INLINE_LAMBDA {
    if (scan.decays && !decay.constant())
      fill(t, steps);
    if (steps == blockSteps)
      advance<T, blockSteps, History::None>(scan, state, t, table, nullptr, nullptr, nullptr);
    else
      advance<T, 1, History::None>(scan, state, t, table, nullptr, nullptr, nullptr);
  });
}

template <typename T>
HYBRID_INLINE void loadState(T *state, const T *from, int64_t keys, int64_t values, int64_t count) {
  for (int64_t row = 0; row < keys; ++row)
    store(state + row * lanes<T>, from ? loadPart(from + row * values, count) : splat(T(0)));
}
template <typename T>
HYBRID_INLINE void storeState(T *to, const T *state, int64_t keys, int64_t values, int64_t count) {
  for (int64_t row = 0; row < keys; ++row)
    storePart(to + row * values, load(state + row * lanes<T>), count);
}

/// What a scan whose lanes are values works on; states are null where there are none.
template <typename T> struct ValueScan {
  Activation<T> read, write, lane;
  const T *decay;
  const void *segments;
  int64_t readStride, writeStride, laneStride;
  Activation<T> out;
  int64_t outStride;
  void *from, *to;
};
template <typename T>
HYBRID_INLINE void scanValues(int64_t index, T *state, const LinearScanParams &params, bool reverse,
                              const ValueScan<T> &on) {
  const int64_t keys = params.keySize, values = params.valueSize;
  T *table = state + keys * lanes<T>;
  const Item item(index, params, values, lanes<T>);
  const int64_t lane = item.firstLane, count = lanesAt<T>(lane, values);
  Scan<T> scan;
  scan.read = item.rows(on.read, params, on.readStride, keys);
  scan.write = item.rows(on.write, params, on.writeStride, keys);
  scan.lane = item.rows(on.lane, params, on.laneStride, values, lane);
  scan.out = item.rows(on.out, params, on.outStride, values, lane);
  scan.rows = keys, scan.count = count, scan.reverse = reverse, scan.exclusive = params.exclusive;
  (reverse ? scan.laneScale : scan.outScale) = static_cast<T>(params.scale);
  scan.reads = !params.stateOnly;
  loadState(state, on.from ? item.state<const T>(on.from, params) + lane : nullptr, keys, values,
            count);
  sweepKeys(scan, state, table, Decay<T>(on.decay, params, item),
            Segments(on.segments, params, item), params.blockRows);
  if (on.to)
    storeState(item.state<T>(on.to, params) + lane, state, keys, values, count);
}

template <typename T>
HYBRID_INLINE void linear_scan_forward(int64_t index, Buffers buffers, const LinearScanParams &p) {
  if (linearScanInChunks<T>(p))
    return scanChunksForward<T>(index, buffers, p);
  auto at = [&](int64_t buffer) { return activationAt<T>(buffers, buffer); };
  scanValues<T>(index, buffers.scratch<T>(), p, false,
                {at(0), at(1), at(2), buffers.at<const T>(3), buffers[4], p.qStride, p.kStride,
                 p.vStride, at(7), p.oStride, p.hasState ? buffers[5] : nullptr,
                 p.hasFinalState ? buffers[6] : nullptr});
}

template <typename T>
HYBRID_INLINE void linear_scan_backward_values(int64_t index, Buffers buffers,
                                               const LinearScanParams &p) {
  auto at = [&](int64_t buffer) { return activationAt<T>(buffers, buffer); };
  scanValues<T>(index, buffers.scratch<T>(), p, true,
                {at(1), at(0), at(4), buffers.at<const T>(2), buffers[3], p.kStride, p.qStride,
                 p.oStride, at(7), p.dvStride, p.hasFinalState ? buffers[5] : nullptr,
                 p.hasState ? buffers[6] : nullptr});
}

//===-- lanes are keys ---------------------------------------------------------===//

/// The part of a state that belongs to key channels from `channel` on, as [value][lane].
template <typename T>
HYBRID_INLINE void loadKeys(T *state, const T *from, const LinearScanParams &params,
                            int64_t channel, int64_t count) {
  if (from)
    loadTransposed(state, from + channel * params.valueSize, params.valueSize, count,
                   params.valueSize);
  else
    clear(state, params.valueSize);
}

/// Where and how one item leaves the gradient of the decay.
template <typename T> struct DecayGradient {
  const LinearScanParams &params;
  const Item &item;
  T *to;
  int64_t count;
  Vector<T> total = splat(T(0)), ofChunk = splat(T(0));

  void add(int64_t t, Vector<T> gradient) {
    if (params.decay == ScanDecay::KeyAndTime)
      storePart(item.rows(to, params, params.dDecayStride, params.keySize, item.firstLane).at(t),
                gradient, count);
    else if (params.decay == ScanDecay::HeadAndTime)
      to[((item.block * sequences(params) + item.batch) * params.blockRows + t) * params.heads +
         item.head] = sumOfLanes(gradient);
    else
      ofChunk += gradient;
  }
  /// Sums of chunks, and then their sum: its error grows with the root of the length.
  void endChunk() { total += ofChunk, ofChunk = splat(T(0)); }
  void finish() {
    if (params.decay == ScanDecay::Key)
      storePart(to + (item.batch * params.heads + item.head) * params.keySize + item.firstLane,
                total, count);
    else if (params.decay == ScanDecay::Head)
      to[(item.block * sequences(params) + item.batch) * params.heads + item.head] =
          sumOfLanes(total);
  }
};

template <typename T>
HYBRID_INLINE void linear_scan_backward_queries_keys(int64_t index, Buffers buffers,
                                                     const LinearScanParams &params) {
  const int64_t keys = params.keySize, values = params.valueSize, length = params.blockRows;
  const int64_t stateSize = values * lanes<T>, chunk = linearScanChunk(params);
  T *state = buffers.scratch<T>(), *history = state + stateSize,
    *kept = history + chunk * stateSize;
  const Item item(index, params, keys, lanes<T>);
  const int64_t channel = item.firstLane, count = lanesAt<T>(channel, keys);
  const Decay<T> decay(buffers.at<const T>(3), params, item);
  const Segments segments(buffers[4], params, item);
  const bool decays = decay.kind != ScanDecay::None;
  const Rows<Activation<T>> q = item.rows(activationAt<T>(buffers, 0), params, params.qStride, keys,
                                          channel),
                            k = item.rows(activationAt<T>(buffers, 1), params, params.kStride, keys,
                                          channel),
                            v = item.rows(activationAt<T>(buffers, 2), params, params.vStride,
                                          values),
                            dO = item.rows(activationAt<T>(buffers, 6), params, params.oStride,
                                           values);
  const T *initial = params.hasState ? item.state<const T>(buffers[5], params) : nullptr,
          *final = params.hasFinalState ? item.state<const T>(buffers[7], params) : nullptr;

  Scan<T> queries, keyScan;
  queries.read = dO, queries.write = v, queries.lane = k;
  queries.out = item.rows(activationAt<T>(buffers, 8), params, params.dqStride, keys, channel);
  queries.reverse = false, queries.outScale = static_cast<T>(params.scale);
  keyScan.read = v, keyScan.write = dO, keyScan.lane = q;
  keyScan.out = item.rows(activationAt<T>(buffers, 9), params, params.dkStride, keys, channel);
  keyScan.reverse = true, keyScan.laneScale = static_cast<T>(params.scale);
  // Field by field: a loop over both would hide their constants from the optimizer.
  queries.rows = keyScan.rows = values, queries.count = keyScan.count = count;
  queries.exclusive = keyScan.exclusive = params.exclusive;
  queries.decays = keyScan.decays = decays;
  queries.decaysLanes = keyScan.decaysLanes = decays;

  const Vector<T> constant = decay.constant() ? decay.factors(0, channel) : splat(T(1));
  auto factorsOf = [&](const Scan<T> &scan, int64_t t, int64_t steps,
                       Vector<T> *factors) HYBRID_INLINE_LAMBDA {
    for (int64_t i = 0; decays && i < steps; ++i)
      factors[i] = decay.constant() ? constant : decay.factors(t + i * scan.direction(), channel);
  };
  auto run = [&](const Scan<T> &scan, int64_t first, int64_t end, T *at) HYBRID_INLINE_LAMBDA {
    sweep(scan, at, first, end, segments, [&](int64_t t, int64_t steps) HYBRID_INLINE_LAMBDA {
      Vector<T> factors[blockSteps];
      factorsOf(scan, t, steps, factors);
      if (steps == blockSteps)
        advance<T, blockSteps, History::None>(scan, at, t, nullptr, factors, nullptr, nullptr);
      else
        advance<T, 1, History::None>(scan, at, t, nullptr, factors, nullptr, nullptr);
    });
  };

  if (!params.decayGradient) {
    loadKeys(state, initial, params, channel, count);
    run(queries, 0, length, state);
    loadKeys(state, final, params, channel, count);
    run(keyScan, 0, length, state);
    return;
  }

  // The state at the start of each chunk.
  const int64_t chunks = ceilDiv(length, chunk);
  Scan<T> quiet = queries;
  quiet.reads = false;
  loadKeys(kept, initial, params, channel, count);
  for (int64_t c = 0; c + 1 < chunks; ++c) {
    T *next = kept + (c + 1) * stateSize;
    for (int64_t i = 0; i < stateSize; i += lanes<T>)
      store(next + i, load(next - stateSize + i));
    run(quiet, c * chunk, (c + 1) * chunk, next);
  }

  loadKeys(state, final, params, channel, count);
  DecayGradient<T> gradient{params, item, buffers.at<T>(10), count};
  for (int64_t c = chunks - 1; c >= 0; --c) {
    const int64_t first = c * chunk, end = minimum(first + chunk, length);
    T *at = kept + c * stateSize;
    auto before = [&](int64_t t) HYBRID_INLINE_LAMBDA { return history + (t - first) * stateSize; };
    sweep(queries, at, first, end, segments, [&](int64_t t, int64_t steps) HYBRID_INLINE_LAMBDA {
      Vector<T> factors[blockSteps];
      factorsOf(queries, t, steps, factors);
      if (steps == blockSteps)
        advance<T, blockSteps, History::Save>(queries, at, t, nullptr, factors, before(t), nullptr);
      else
        advance<T, 1, History::Save>(queries, at, t, nullptr, factors, before(t), nullptr);
    });
    sweep(keyScan, state, first, end, segments, [&](int64_t t, int64_t steps) HYBRID_INLINE_LAMBDA {
      Vector<T> factors[blockSteps], contracted[blockSteps];
      factorsOf(keyScan, t, steps, factors);
      if (steps == blockSteps)
        advance<T, blockSteps, History::Contract>(keyScan, state, t, nullptr, factors, before(t),
                                                  contracted);
      else
        advance<T, 1, History::Contract>(keyScan, state, t, nullptr, factors, before(t),
                                         contracted);
      for (int64_t i = 0; i < steps; ++i)
        gradient.add(t - i, factors[i] * contracted[i]);
    });
    gradient.endChunk();
  }
  gradient.finish();
}

template <typename T>
HYBRID_INLINE void linear_scan_backward(int64_t index, Buffers buffers, const LinearScanParams &p) {
  scanChunksBackward<T>(index, buffers, p);
}

} // namespace

HYBRID_KERNEL(linear_scan_forward, LinearScanParams)
HYBRID_KERNEL(linear_scan_backward_values, LinearScanParams)
HYBRID_KERNEL(linear_scan_backward_queries_keys, LinearScanParams)
HYBRID_KERNEL(linear_scan_backward, LinearScanParams)
