//===- LinearScan.cuh - scan of a decayed outer-product state ---------------===//
//
// Forward, and each of the gradients of q, k and v, is one and the same recurrence
//
//   state[row][column] = decay state[row][column] + write[row] * lane[column]
//   out[column] = sum over rows of read[row] * state[row][column]
//
// forwards or backwards in time:
//
//   o   columns values, rows keys,   forwards:  read q,  write k,  lane v
//   dq  columns keys,   rows values, forwards:  read do, write v,  lane k
//   dk  columns keys,   rows values, backwards: read v,  write do, lane q
//   dv  columns values, rows keys,   backwards: read k,  write q,  lane do
//
// Every thread holds a piece of the state in registers, several rows by several columns, so that
// what it reads from shared memory is used several times: about three multiply-adds an element and
// step, as many as the chunked form of the papers takes without matrix units, and no exponentials
// but those of the decays themselves; however strong they are, nothing overflows. The rows of a
// column are summed over the lanes of a warp.
//
// The gradient of the decay, g_t = sum over values of decay S_(t-1) dS_t, follows from the others:
// g_t - g_(t+1) = q_t dq_t - k_t dk_t. This sum is anchored in the states themselves every 256
// rows, which bounds what rounding leaves in it.
//
// Katharopoulos et al. 2020, section 3.3.1, for the gradients as scans.
//
// Activations may lie in memory as bf16; all is computed in T. What turns an element into a number
// waits for its load, so a tile on its way stays as it lay in memory.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/LinearScan.h"
#include "codegen/kernels/cuda/Lanes.cuh"

namespace hybrid::cuda {

/// One of the recurrences above for one block of columns of one head; Read, Write and Lane are the
/// elements in memory of what its rows and columns are.
template <typename T, LinearScanParams p, LinearScanPart part, typename Read, typename Write,
          typename Lane>
struct OuterScan {
  static constexpr LinearScanTiling tiling = linearScanTilingOf<T>(p, part);
  static constexpr bool reverse = part == LinearScanPart::Values || part == LinearScanPart::Keys,
                        rowsAreKeys =
                            part == LinearScanPart::Forward || part == LinearScanPart::Values,
                        reads = !p.stateOnly, constantDecay = linearScanConstantDecay(p),
                        headDecay = p.decay == ScanDecay::Head || p.decay == ScanDecay::HeadAndTime,
                        decays = p.decay != ScanDecay::None;
  static constexpr int rowSize = static_cast<int>(scanRowsOf(p, part)),
                       columnSize = static_cast<int>(scanColumnsOf(p, part)),
                       threads = tiling.threads(), rows = tiling.rows(), columns = tiling.columns(),
                       steps = tiling.steps, ownRows = tiling.rowsPerThread,
                       ownColumns = tiling.columnsPerThread,
                       decayWidth = linearScanDecayWidth(p, part, tiling),
                       decayRows = constantDecay ? 1 : steps;
  /// Contiguous rows of a thread; its rows are so many pieces, those of other lanes between them.
  static constexpr int vector = 16 / static_cast<int>(sizeof(T)),
                       piece = ownRows < vector ? ownRows : vector, pieces = ownRows / piece;
  /// What a thread loads of a tile.
  static constexpr int rowLoads = (steps * rows + threads - 1) / threads,
                       columnLoads = (steps * columns + threads - 1) / threads,
                       decayLoads = (decayRows * decayWidth + threads - 1) / threads;

  int thread, rowGroup, columnGroup;
  int64_t batch, block, head, columnBlock, from, to; // rows of the sequence
  int firstColumn;                                   // of the block, in the head
  const int32_t *segments;
  T *readTile, *writeTile, *laneTile, *outTile, *decayTile, *anchorTile;
  int32_t *starts;
  T state[ownRows * ownColumns]; // [row][column]

  HYBRID_DEVICE OuterScan(int64_t item, const int32_t *ids) {
    constexpr int64_t columnBlocks = linearScanColumnBlocks(p, part, tiling);
    columnBlock = item % columnBlocks, item /= columnBlocks;
    head = item % p.heads, item /= p.heads;
    block = item % p.blocks, batch = item / p.blocks;
    thread = static_cast<int>(threadIdx.x);
    rowGroup = thread % tiling.rowGroups, columnGroup = thread / tiling.rowGroups;
    firstColumn = static_cast<int>(columnBlock) * columns;
    from = block * p.blockRows, to = minimum(from + p.blockRows, p.length);
    segments = p.hasSegments ? ids + batch * p.length : nullptr;
    readTile = sharedMemory<T>(), writeTile = readTile + steps * rows;
    laneTile = writeTile + steps * rows, outTile = laneTile + steps * columns;
    decayTile = outTile + steps * columns, anchorTile = decayTile + decayRows * decayWidth;
    starts = sharedMemory<int32_t>(linearScanBytes<T>(p, part) - 64);
  }

  HYBRID_DEVICE int rowOf(int i) const {
    return (i / piece * tiling.rowGroups + rowGroup) * piece + i % piece;
  }
  HYBRID_DEVICE int columnOf(int c) const { return columnGroup * ownColumns + c; }
  HYBRID_DEVICE bool hasColumn(int column) const { return firstColumn + column < columnSize; }
  /// Visits the thread's elements of a state [keySize, valueSize]: visit(index here, index there).
  template <typename Visit> HYBRID_DEVICE void forState(Visit visit) {
    HYBRID_UNROLL
    for (int i = 0; i < ownRows; ++i) {
      HYBRID_UNROLL
      for (int c = 0; c < ownColumns; ++c) {
        const int row = rowOf(i), column = firstColumn + columnOf(c);
        if (row < rowSize && column < columnSize)
          visit(i * ownColumns + c,
                rowsAreKeys ? row * columnSize + column : column * rowSize + row);
      }
    }
  }
  /// The head's part of states [batch, blocks, heads, keySize, valueSize].
  HYBRID_DEVICE int64_t stateOffset() const {
    return ((batch * p.blocks + block) * p.heads + head) * p.keySize * p.valueSize;
  }
  HYBRID_DEVICE void clear() {
    HYBRID_UNROLL
    for (int i = 0; i < ownRows * ownColumns; ++i)
      state[i] = T(0);
  }
  HYBRID_DEVICE void readState(const T *states, bool has) {
    clear();
    if (has)
      forState([&](int here, int there) { state[here] = states[stateOffset() + there]; });
  }
  HYBRID_DEVICE void writeState(T *states) {
    forState([&](int here, int there) { states[stateOffset() + there] = state[here]; });
  }

  /// The operands of the recurrence, as activations [batch, length, stride].
  struct Operands {
    const Read *read;
    const Write *write;
    const Lane *lane;
    const T *decay;
    int64_t readStride, writeStride, laneStride;
    T writeScale;
  };
  /// A tile on its way from memory to shared memory.
  struct Loads {
    Read read[rowLoads];
    Write write[rowLoads];
    Lane lane[columnLoads];
    T decay[decayLoads > 0 ? decayLoads : 1];
    bool starts;
  };

  template <int size, int count, typename Element>
  HYBRID_DEVICE void loadRows(const Element *activation, int64_t stride, int64_t offset, int width,
                              int64_t first, Element (&values)[count]) const {
    const Element *at = activation + (batch * p.length + first) * stride + offset;
    HYBRID_UNROLL
    for (int j = 0; j < count; ++j) {
      const int i = thread + j * threads, row = i / size, column = i % size;
      const bool there =
          (steps * size % threads == 0 || row < steps) && hasStep(row, first) && column < width;
      const Element value = at[there ? row * stride + column : 0];
      values[j] = there ? value : Element{};
    }
  }
  /// Whether a row of a tile is in the block. Where all are, and all columns, loads and stores are
  /// behind no condition, which would let each wait for the one before.
  static constexpr bool wholeTiles = p.length % p.blockRows == 0 && p.blockRows % steps == 0;
  HYBRID_DEVICE bool hasStep(int row, int64_t first) const {
    return wholeTiles || first + row < to;
  }
  HYBRID_DEVICE int columnsLeft() const {
    return columnSize % columns == 0 ? columns : minimum(columnSize - firstColumn, columns);
  }

  HYBRID_DEVICE void load(const Operands &operands, int64_t first, Loads &loads) const {
    if constexpr (reads)
      loadRows<rows>(operands.read, operands.readStride, head * rowSize, rowSize, first,
                     loads.read);
    loadRows<rows>(operands.write, operands.writeStride, head * rowSize, rowSize, first,
                   loads.write);
    loadRows<columns>(operands.lane, operands.laneStride, head * columnSize + firstColumn,
                      columnsLeft(), first, loads.lane);
    if constexpr (decays && !constantDecay)
      loadDecay(operands.decay, p.decayStride, first, loads.decay);
    if constexpr (p.hasSegments) {
      const int64_t row = first + thread;
      loads.starts = thread < steps && row > from && row < to && segments[row] != segments[row - 1];
    }
  }
  HYBRID_DEVICE void loadDecay(const T *decay, int64_t stride, int64_t first,
                               T (&values)[decayLoads > 0 ? decayLoads : 1]) const {
    if constexpr (headDecay)
      loadRows<decayWidth>(decay, stride, head, 1, first, values);
    else if constexpr (rowsAreKeys)
      loadRows<decayWidth>(decay, stride, head * rowSize, rowSize, first, values);
    else
      loadRows<decayWidth>(decay, stride, head * columnSize + firstColumn, columnsLeft(), first,
                           values);
  }
  /// A decay that is the same at all times.
  HYBRID_DEVICE void shareConstantDecay(const T *decay) const {
    if constexpr (constantDecay) {
      const int offset = headDecay ? static_cast<int>(head)
                                   : static_cast<int>(head) * static_cast<int>(p.keySize) +
                                         (rowsAreKeys ? 0 : firstColumn),
                width = headDecay     ? 1
                        : rowsAreKeys ? rowSize
                                      : columnsLeft();
      for (int i = thread; i < decayWidth; i += threads)
        decayTile[i] = i < width ? exponential(decay[offset + i]) : T(1);
    }
  }

  HYBRID_DEVICE void share(const Operands &operands, const Loads &loads) const {
    HYBRID_UNROLL
    for (int j = 0; j < rowLoads; ++j)
      if (const int i = thread + j * threads; i < steps * rows) {
        if constexpr (reads)
          readTile[i] = number(loads.read[j]);
        writeTile[i] = operands.writeScale * number(loads.write[j]);
      }
    HYBRID_UNROLL
    for (int j = 0; j < columnLoads; ++j)
      if (const int i = thread + j * threads; i < steps * columns)
        laneTile[i] = number(loads.lane[j]);
    if constexpr (decays && !constantDecay) {
      HYBRID_UNROLL
      for (int j = 0; j < decayLoads; ++j)
        if (const int i = thread + j * threads; i < steps * decayWidth)
          decayTile[i] = exponential(loads.decay[j]);
    }
    if constexpr (p.hasSegments)
      if (thread < steps)
        starts[thread] = loads.starts;
  }

  /// Takes one step; its output goes to outTile. Rows that are not there leave the state as it is:
  /// what they would write is zero, and their decay is one unless it is the same at all times.
  HYBRID_DEVICE void step(int t, int64_t first) {
    if constexpr (constantDecay && (p.blockRows % steps != 0 || p.length % steps != 0))
      if (first + t >= to)
        return;
    if constexpr (p.hasSegments && !reverse)
      if (starts[t])
        clear();
    const T *decayRow = decayTile + (constantDecay ? 0 : t * decayWidth);
    T lane[ownColumns], sums[ownColumns], columnDecay[ownColumns];
    readVectors<ownColumns>(laneTile + t * columns + columnOf(0), lane);
    if constexpr (decays && !headDecay && !rowsAreKeys)
      readVectors<ownColumns>(decayRow + columnOf(0), columnDecay);
    else if constexpr (headDecay)
      columnDecay[0] = decayRow[0];
    HYBRID_UNROLL
    for (int c = 0; c < ownColumns; ++c)
      sums[c] = T(0);
    HYBRID_UNROLL
    for (int j = 0; j < pieces; ++j) {
      T read[piece], write[piece], rowDecay[piece];
      const int at = rowOf(j * piece);
      if constexpr (reads)
        readVectors<piece>(readTile + t * rows + at, read);
      readVectors<piece>(writeTile + t * rows + at, write);
      if constexpr (decays && !headDecay && rowsAreKeys)
        readVectors<piece>(decayRow + at, rowDecay);
      HYBRID_UNROLL
      for (int i = 0; i < piece; ++i) {
        HYBRID_UNROLL
        for (int c = 0; c < ownColumns; ++c) {
          T &s = state[(j * piece + i) * ownColumns + c];
          const T factor = !decays       ? T(1)
                           : headDecay   ? columnDecay[0]
                           : rowsAreKeys ? rowDecay[i]
                                         : columnDecay[c];
          auto take = [&] {
            if constexpr (reads)
              sums[c] += read[i] * s;
          };
          if constexpr (p.exclusive) {
            take();
            s = (decays ? s * factor : s) + write[i] * lane[c];
          } else if constexpr (reverse) {
            s += write[i] * lane[c];
            take();
            if constexpr (decays)
              s *= factor;
          } else {
            s = (decays ? s * factor : s) + write[i] * lane[c];
            take();
          }
        }
      }
    }
    if constexpr (reads)
      sumColumns(sums, outTile + t * columns);
    if constexpr (p.hasSegments && reverse)
      if (starts[t])
        clear();
  }
  /// Sums each of the thread's columns over the groups of rows.
  HYBRID_DEVICE void sumColumns(T (&sums)[ownColumns], T *to) const {
    constexpr int groups = tiling.rowGroups, left = ownColumns > groups ? ownColumns / groups : 1;
    foldLanes<ownColumns, groups / 2>(sums);
    if (hasFoldedValue<ownColumns, groups>(rowGroup)) {
      const int column = columnOf(foldedValue<ownColumns, groups>(rowGroup));
      HYBRID_UNROLL
      for (int c = 0; c < left; ++c)
        to[column + c] = sums[c];
    }
  }
  template <typename Store> HYBRID_DEVICE void storeOut(Store write, T scale, int64_t first) const {
    const int64_t firstRow = batch * p.length + first, column0 = head * columnSize + firstColumn;
    constexpr int shown = columnSize < columns ? columnSize : columns; // the others are no columns
    const int width = columnsLeft();
    HYBRID_UNROLL
    for (int j = 0; j < (steps * shown + threads - 1) / threads; ++j) {
      const int i = thread + j * threads, row = i / shown, column = i % shown;
      if ((steps * shown % threads == 0 || row < steps) && hasStep(row, first) &&
          (shown == columnSize || column < width))
        write(firstRow + row, column0 + column, scale * outTile[row * columns + column]);
    }
  }

  /// Runs the scan over all rows of the block. before(first) and after(first) are called, by all
  /// threads, before and after the steps of a tile; after it outTile holds what they read.
  template <typename Before, typename After>
  HYBRID_DEVICE void sweep(const Operands &operands, Before before, After after) {
    shareConstantDecay(operands.decay);
    const int64_t last = from + (to - from - 1) / steps * steps;
    Loads next;
    load(operands, reverse ? last : from, next);
    HYBRID_NO_UNROLL
    for (int64_t done = 0; from + done < to; done += steps) {
      const int64_t first = reverse ? last - done : from + done;
      share(operands, next);
      blockBarrier();
      if (from + done + steps < to)
        load(operands, reverse ? first - steps : first + steps, next);
      before(first);
      constexpr int together = ownRows * ownColumns >= 32 ? 2 : 4;
      HYBRID_NO_UNROLL
      for (int start = 0; start < steps; start += together) {
        HYBRID_UNROLL
        for (int i = 0; i < together; ++i)
          step(reverse ? steps - 1 - start - i : start + i, first);
      }
      blockBarrier();
      after(first);
    }
  }

  /// Where this block's states at the ends of stretches of anchorRows rows are kept.
  HYBRID_DEVICE int64_t anchorOffset(int64_t index) const {
    constexpr int64_t columnBlocks = linearScanColumnBlocks(p, part, tiling);
    const int64_t item = ((batch * p.blocks + block) * p.heads + head) * columnBlocks + columnBlock;
    return (item * linearScanAnchors(p) + index) * (ownRows * ownColumns * threads) + thread;
  }
  /// Runs the scan, and writes what it reads, times `scale`.
  template <typename Store> HYBRID_DEVICE void run(const Operands &operands, Store out, T scale) {
    sweep(
        operands, [](int64_t) {},
        [&](int64_t first) {
          if constexpr (reads)
            storeOut(out, scale, first);
        });
  }
  HYBRID_DEVICE bool isAnchor(int64_t end) const {
    return end == to ? p.hasFinalState : (end - from) % linearScanAnchorRows == 0;
  }
};

template <typename T, LinearScanParams p, typename Q, typename K, typename V, typename Store>
HYBRID_DEVICE void linearScanForward(int64_t item, Q q, K k, V v, const T *decay,
                                     const int32_t *segments, const T *initialState, T *finalState,
                                     Store o) {
  OuterScan<T, p, LinearScanPart::Forward, ElementOf<T, Q>, ElementOf<T, K>, ElementOf<T, V>> scan(
      item, segments);
  scan.readState(initialState, p.hasState);
  scan.run({readable<T>(q), readable<T>(k), readable<T>(v), decay, p.qStride, p.kStride, p.vStride,
            T(1)},
           asStore<p.oStride>(o), T(p.scale));
  if constexpr (p.hasFinalState)
    scan.writeState(finalState);
}

template <typename T, LinearScanParams p, typename Q, typename K, typename O, typename Store>
HYBRID_DEVICE void linearScanBackwardValues(int64_t item, Q q, K k, const T *decay,
                                            const int32_t *segments, O dO, const T *dFinalState,
                                            T *dInitialState, Store dv) {
  OuterScan<T, p, LinearScanPart::Values, ElementOf<T, K>, ElementOf<T, Q>, ElementOf<T, O>> scan(
      item, segments);
  scan.readState(dFinalState, p.hasFinalState);
  scan.run({readable<T>(k), readable<T>(q), readable<T>(dO), decay, p.kStride, p.qStride, p.oStride,
            T(p.scale)},
           asStore<p.dvStride>(dv), T(1));
  if (p.hasState && dInitialState)
    scan.writeState(dInitialState);
}

template <typename T, LinearScanParams p, typename K, typename V, typename O, typename Store>
HYBRID_DEVICE void linearScanBackwardQueries(int64_t item, K k, V v, const T *decay,
                                             const int32_t *segments, const T *initialState, O dO,
                                             T *anchors, Store dq) {
  using Scan =
      OuterScan<T, p, LinearScanPart::Queries, ElementOf<T, O>, ElementOf<T, V>, ElementOf<T, K>>;
  Scan scan(item, segments);
  scan.readState(initialState, p.hasState);
  scan.sweep(
      {readable<T>(dO), readable<T>(v), readable<T>(k), decay, p.oStride, p.vStride, p.kStride,
       T(1)},
      [](int64_t) {},
      [&](int64_t first) {
        scan.storeOut(asStore<p.dqStride>(dq), T(p.scale), first);
        if constexpr (p.decayGradient) {
          const int64_t end = minimum(first + Scan::steps, scan.to);
          if (scan.isAnchor(end)) {
            T *to = anchors + scan.anchorOffset((end - scan.from - 1) / linearScanAnchorRows);
            HYBRID_UNROLL
            for (int i = 0; i < Scan::ownRows * Scan::ownColumns; ++i)
              to[i * Scan::threads] = scan.state[i];
          }
        }
      });
}

template <typename T, LinearScanParams p, typename Q, typename K, typename V, typename O,
          typename Store>
HYBRID_DEVICE void linearScanBackwardKeys(int64_t item, Q q, K keyBuffer, V v, const T *decay,
                                          const int32_t *segments, O dO, const T *dFinalState,
                                          const T *dq, const T *anchors, T *dDecay, Store dk) {
  using Scan =
      OuterScan<T, p, LinearScanPart::Keys, ElementOf<T, V>, ElementOf<T, O>, ElementOf<T, Q>>;
  constexpr int steps = Scan::steps, columns = Scan::columns, ownColumns = Scan::ownColumns;
  Scan scan(item, segments);
  scan.readState(dFinalState, p.hasFinalState);
  const int column = scan.thread, width = scan.columnsLeft();
  const bool active = column < width; // has a column of the gradient of the decay
  const int64_t keyColumn = scan.head * p.keySize + scan.firstColumn + column;
  const auto *k = readable<T>(keyBuffer);
  ElementOf<T, K> keys[steps];
  T queryGradients[steps], running = T(0), total = T(0), ofTile = T(0);
  scan.sweep(
      {readable<T>(v), readable<T>(dO), readable<T>(q), decay, p.vStride, p.oStride, p.qStride,
       T(p.scale)},
      [&](int64_t first) {
        if constexpr (p.decayGradient) {
          const int64_t row = scan.batch * p.length + first;
          HYBRID_UNROLL
          for (int t = 0; t < steps; ++t) {
            const bool there = active && scan.hasStep(t, first);
            const int64_t at = there ? row + t : row, from = there ? keyColumn : 0;
            keys[t] = k[at * p.kStride + from], queryGradients[t] = dq[at * p.dqStride + from];
            if (!there)
              keys[t] = {}, queryGradients[t] = T(0);
          }
          const int64_t end = minimum(first + steps, scan.to);
          if (scan.isAnchor(end)) { // the same for all threads
            const T *at = anchors + scan.anchorOffset((end - scan.from - 1) / linearScanAnchorRows);
            T sums[ownColumns];
            HYBRID_UNROLL
            for (int c = 0; c < ownColumns; ++c)
              sums[c] = T(0);
            HYBRID_UNROLL
            for (int i = 0; i < Scan::ownRows; ++i) {
              HYBRID_UNROLL
              for (int c = 0; c < ownColumns; ++c)
                sums[c] +=
                    at[(i * ownColumns + c) * Scan::threads] * scan.state[i * ownColumns + c];
            }
            scan.sumColumns(sums, scan.anchorTile);
          }
        }
      },
      [&](int64_t first) {
        scan.storeOut(asStore<p.dkStride>(dk), T(1), first);
        if constexpr (p.decayGradient) {
          if (scan.isAnchor(minimum(first + steps, scan.to)) && active)
            running = scan.anchorTile[column];
          ofTile = T(0);
          const int64_t row = scan.batch * p.length + first;
          T *const to = dDecay + row * p.dDecayStride + keyColumn;
          if constexpr (p.decay == ScanDecay::HeadAndTime)
            blockBarrier(); // outTile is read by storeOut, and written below
          if (active) {
            HYBRID_UNROLL
            for (int t = steps - 1; t >= 0; --t) {
              if (!scan.hasStep(t, first))
                continue;
              const T query = scan.laneTile[t * columns + column] * queryGradients[t],
                      key = number(keys[t]) * scan.outTile[t * columns + column];
              T gradient = p.exclusive ? running - key : running + (query - key);
              running = p.exclusive ? gradient + query : gradient;
              if constexpr (p.hasSegments)
                if (scan.starts[t])
                  gradient = running = T(0);
              if constexpr (p.decay == ScanDecay::KeyAndTime) {
                to[t * p.dDecayStride] = gradient;
              } else if constexpr (p.decay == ScanDecay::HeadAndTime) {
                scan.outTile[t * columns + column] = gradient;
              } else {
                ofTile += gradient;
              }
            }
            total += ofTile; // sums of tiles, and then their sum
          }
          if constexpr (p.decay == ScanDecay::HeadAndTime) {
            blockBarrier();
            for (int t = scan.thread; t < steps && first + t < scan.to; t += Scan::threads) {
              T sum = T(0);
              for (int c = 0; c < width; ++c)
                sum += scan.outTile[t * columns + c];
              dDecay[((scan.columnBlock * p.batch + scan.batch) * p.length + first + t) * p.heads +
                     scan.head] = sum;
            }
          }
          blockBarrier(); // the next tile replaces what was read above
        }
      });
  if constexpr (p.decayGradient) {
    const int64_t sequence = scan.batch * p.blocks + scan.block;
    if constexpr (p.decay == ScanDecay::Key) {
      if (active)
        dDecay[sequence * p.heads * p.keySize + keyColumn] = total;
    } else if constexpr (p.decay == ScanDecay::Head) {
      blockBarrier();
      if (active)
        scan.anchorTile[column] = total;
      blockBarrier();
      if (scan.thread == 0) {
        T sum = T(0);
        for (int c = 0; c < width; ++c)
          sum += scan.anchorTile[c];
        dDecay[(scan.columnBlock * p.batch * p.blocks + sequence) * p.heads + scan.head] = sum;
      }
    }
  }
}

//===-- division over time -----------------------------------------------------===//

/// Whether a segment starts at row t of a whole sequence of ids.
HYBRID_DEVICE bool scanStartsAt(const int32_t *ids, int64_t t) {
  return ids && t > 0 && ids[t] != ids[t - 1];
}

template <typename T, LinearScanDivisionParams p>
HYBRID_DEVICE void linearScanProducts(int64_t item, const T *decay, const int32_t *segments,
                                      T *products) {
  constexpr int64_t channels = p.heads * p.keySize,
                    columnBlocks = ceilDiv(channels, linearScanColumnThreads);
  constexpr bool perHead = p.decay == ScanDecay::HeadAndTime || p.decay == ScanDecay::Head,
                 constant = p.decay == ScanDecay::Key || p.decay == ScanDecay::Head;
  const int64_t block = item / columnBlocks, sequence = block / p.blocks,
                first = block % p.blocks * p.blockRows,
                end = minimum(first + p.blockRows, p.length),
                channel = item % columnBlocks * linearScanColumnThreads + laneIndex();
  const int32_t *ids = p.hasSegments ? segments + sequence * p.length : nullptr;
  int starts = 0; // in rows of this lane
  if constexpr (p.hasSegments)
    for (int64_t t = first + laneIndex(); t < end; t += warpSize)
      starts += scanStartsAt(ids, t) ? 1 : 0;
  starts = warpSum(starts);
  if (channel < channels) {
    const int64_t column = perHead ? channel / p.keySize : channel;
    T sum = T(0);
    if constexpr (constant) {
      sum = decay[column] * static_cast<T>(end - first);
    } else if constexpr (p.decay != ScanDecay::None) {
      const T *at = decay + sequence * p.length * p.decayStride + column;
      for (int64_t t = first; t < end; ++t)
        sum += at[t * p.decayStride];
    }
    products[block * channels + channel] = starts ? T(0) : exponential(sum);
  }
}

template <typename T, LinearScanDivisionParams p>
HYBRID_DEVICE void linearScanEntries(int64_t item, const T *products, const T *offsets,
                                     const int32_t *segments, const T *given, T *entries, T *last) {
  constexpr int64_t channels = p.heads * p.keySize, elements = channels * p.valueSize;
  const int64_t index = item * linearScanEntriesThreads + static_cast<int64_t>(threadIdx.x);
  if (index < p.batch * elements) {
    const int64_t sequence = index / elements, element = index % elements,
                  channel = element / p.valueSize;
    const int32_t *ids = p.hasSegments ? segments + sequence * p.length : nullptr;
    T state = p.hasState ? given[index] : T(0);
    for (int64_t i = 0; i < p.blocks; ++i) {
      const int64_t block = p.reverse ? p.blocks - 1 - i : i, row = sequence * p.blocks + block;
      const bool starts = scanStartsAt(ids, block * p.blockRows);
      if (!p.reverse && starts)
        state = T(0);
      entries[row * elements + element] = state;
      state = products[row * channels + channel] * state + offsets[row * elements + element];
      if (p.reverse && starts)
        state = T(0);
    }
    if (p.hasLast)
      last[index] = state;
  }
}

} // namespace hybrid::cuda
