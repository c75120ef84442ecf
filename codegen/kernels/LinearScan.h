//===- LinearScan.h - contract of scans of an outer-product state -----------===//
//
// S_t = diag(e^g_t) S_(t-1) + k_t v_t', o_t = scale S_t' q_t, or scale S_(t-1)' q_t if exclusive.
// q, k: [batch, length, heads*keySize], v, o: [batch, length, heads*valueSize] (views with
// strides); states [batch, heads, keySize, valueSize], dense. With segments (int32 [batch, length])
// S is zero before every position whose id is not that of the one before.
//
// A sequence is divided over time into `blocks` blocks of blockRows rows (the last may be shorter).
// With more than one, states are [batch, blocks, heads, keySize, valueSize]: what each block starts
// from, or ends with.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernel.h"
#include "codegen/kernels/ScanChunks.h"

namespace hybrid {

/// How the decay of a linear scan is shaped.
enum class ScanDecay : int64_t {
  None,
  KeyAndTime,  // [batch, length, heads*keySize], a view with a stride
  HeadAndTime, // [batch, length, heads], a view with a stride
  Key,         // [heads*keySize]
  Head,        // [heads]
};

struct LinearScanParams {
  int64_t batch, length, heads, keySize, valueSize;
  int64_t qStride, kStride, vStride, oStride /* also do */, decayStride, dqStride, dkStride,
      dvStride, dDecayStride;
  ScanDecay decay;
  int64_t exclusive, hasSegments, hasState, hasFinalState, decayGradient;
  int64_t stateOnly; // forward and backward_values: o, or dv, is not written
  int64_t blocks, blockRows;
  double scale;
  HYBRID_FIELDS(batch, length, heads, keySize, valueSize, qStride, kStride, vStride, oStride,
                decayStride, dqStride, dkStride, dvStride, dDecayStride, decay, exclusive,
                hasSegments, hasState, hasFinalState, decayGradient, stateOnly, blocks, blockRows,
                scale)
};

/// What is between the blocks of a divided sequence.
struct LinearScanDivisionParams {
  int64_t batch, length, blocks, blockRows, heads, keySize, valueSize, decayStride;
  ScanDecay decay;
  int64_t hasSegments, hasState, hasLast, reverse;
  HYBRID_FIELDS(batch, length, blocks, blockRows, heads, keySize, valueSize, decayStride, decay,
                hasSegments, hasState, hasLast, reverse)
};

//===-- On the CPU -------------------------------------------------------------===//

namespace cpu {

/// Positions between two states that the gradient of the decay keeps: few enough that the states
/// of one such chunk stay in cache, and at most 256 chunks.
constexpr int64_t linearScanChunk(const LinearScanParams &p) {
  int64_t chunk = 16;
  while (ceilDiv(p.blockRows, chunk) > 256)
    chunk *= 2;
  return chunk;
}
constexpr bool linearScanPerKey(const LinearScanParams &p) {
  return p.decay == ScanDecay::KeyAndTime || p.decay == ScanDecay::Key;
}
constexpr ScanSizes linearScanSizes(const LinearScanParams &p) {
  return {p.blockRows, p.keySize, p.valueSize, linearScanPerKey(p), false};
}
/// Whether the gradient goes chunk by chunk, by products of blocks, and not row by row; and the
/// scan itself. From where it pays: rows need two thirds of the work where nothing decays, and half
/// empty blocks cost as much as full ones.
template <typename T> constexpr bool linearScanGradientInChunks(const LinearScanParams &p) {
  const int64_t least = p.decay == ScanDecay::None ? 2 * lanes<T> : lanes<T>;
  return p.keySize >= least && p.valueSize >= least;
}
template <typename T> constexpr bool linearScanInChunks(const LinearScanParams &p) {
  return !p.stateOnly && p.keySize >= 2 * lanes<T> && p.valueSize >= 2 * lanes<T>;
}
/// Items are heads of a block of rows.
template <typename T>
constexpr Grid linearScanChunkGrid(const LinearScanParams &p, int64_t elements) {
  return {p.batch * p.blocks * p.heads, 0, elements * static_cast<int64_t>(sizeof(T))};
}
/// Items are vectors of values of a head of a block of rows; bytes a thread.
template <typename T> constexpr Grid linearScanRowGrid(const LinearScanParams &p) {
  const int64_t factors = 4 * ceilDiv(p.keySize, lanes<T>) * lanes<T>;
  return {p.batch * p.blocks * p.heads * ceilDiv(p.valueSize, lanes<T>), 0,
          (p.keySize * lanes<T> + factors) * static_cast<int64_t>(sizeof(T))};
}
template <typename T> constexpr Grid linearScanForwardGrid(const LinearScanParams &p) {
  return linearScanInChunks<T>(p)
             ? linearScanChunkGrid<T>(p, scanForwardElements<T>(linearScanSizes(p)))
             : linearScanRowGrid<T>(p);
}
/// Items are vectors of keys.
template <typename T> constexpr Grid linearScanKeyGrid(const LinearScanParams &p) {
  const int64_t chunk = linearScanChunk(p),
                states = p.decayGradient ? 1 + chunk + ceilDiv(p.blockRows, chunk) : 1;
  return {p.batch * p.blocks * p.heads * ceilDiv(p.keySize, lanes<T>), 0,
          states * p.valueSize * lanes<T> * static_cast<int64_t>(sizeof(T))};
}

} // namespace cpu

//===-- On CUDA ----------------------------------------------------------------===//

namespace cuda {

constexpr int linearScanColumnThreads = 32, linearScanEntriesThreads = 256;

/// The four recurrences: which tensor is on the rows of the state, which on its columns.
enum class LinearScanPart { Forward, Values, Queries, Keys };

constexpr int64_t scanRowsOf(const LinearScanParams &p, LinearScanPart part) {
  return part == LinearScanPart::Forward || part == LinearScanPart::Values ? p.keySize
                                                                           : p.valueSize;
}
constexpr int64_t scanColumnsOf(const LinearScanParams &p, LinearScanPart part) {
  return part == LinearScanPart::Forward || part == LinearScanPart::Values ? p.valueSize
                                                                           : p.keySize;
}

/// How a state is shared out to the threads of blocks. All are powers of two.
struct LinearScanTiling {
  int rowsPerThread, rowGroups /* lanes that are summed over */, columnsPerThread, columnGroups;
  int steps; // rows of the activations in a tile

  constexpr int threads() const { return rowGroups * columnGroups; }
  constexpr int rows() const { return rowsPerThread * rowGroups; }
  constexpr int columns() const { return columnsPerThread * columnGroups; }
};

constexpr int64_t scanPowerOfTwo(int64_t least) {
  int64_t n = 1;
  while (n < least)
    n *= 2;
  return n;
}

/// Large parts of the state in few threads load the least; but two warps are wanted for each of the
/// 4 * 132 schedulers of a GPU. Blocks are wide, which shares loads, where there are as many as
/// multiprocessors.
constexpr LinearScanTiling linearScanTiling(const LinearScanParams &p, LinearScanPart part,
                                            int64_t elementBytes) {
  constexpr int64_t wantedWarps = 132 * 4 * 2 * 9 / 10, wantedBlocks = 128;
  const int64_t rows = scanPowerOfTwo(scanRowsOf(p, part)),
                columns = scanPowerOfTwo(scanColumnsOf(p, part)),
                heads = p.batch * p.blocks * p.heads;
  constexpr int64_t sizes[][2] = {{16, 4}, {16, 2}, {8, 2}, {4, 2}, {4, 1}};
  LinearScanTiling tiling{};
  for (const auto &size : sizes) {
    int64_t rowsPerThread = size[0] < rows ? size[0] : rows,
            columnsPerThread = size[1] < columns ? size[1] : columns;
    if (elementBytes > 4 && rowsPerThread > 8) // registers are counted in words
      rowsPerThread = 8;
    while (rows / rowsPerThread > 32)
      rowsPerThread *= 2;
    const int64_t rowGroups = rows / rowsPerThread;
    int64_t columnGroups = columns / columnsPerThread;
    while (rowGroups * columnGroups > 256)
      columnGroups /= 2;
    auto blocks = [&] { return heads * (columns / (columnsPerThread * columnGroups)); };
    while (blocks() < wantedBlocks && rowGroups * columnGroups > 32 && columnGroups > 1)
      columnGroups /= 2;
    const int64_t warps = heads * rowGroups * (columns / columnsPerThread) / 32; // with a part
    while (rowGroups * columnGroups < 32)
      columnGroups *= 2;
    tiling = {static_cast<int>(rowsPerThread), static_cast<int>(rowGroups),
              static_cast<int>(columnsPerThread), static_cast<int>(columnGroups), 16};
    while (tiling.steps > 4 && tiling.steps * (rows > tiling.columns() ? rows : tiling.columns()) >
                                   16 * tiling.threads())
      tiling.steps /= 2;
    if (warps >= wantedWarps)
      break;
  }
  return tiling;
}

template <typename T>
constexpr LinearScanTiling linearScanTilingOf(const LinearScanParams &p, LinearScanPart part) {
  return linearScanTiling(p, part, static_cast<int64_t>(sizeof(T)));
}
constexpr int64_t linearScanColumnBlocks(const LinearScanParams &p, LinearScanPart part,
                                         const LinearScanTiling &tiling) {
  return ceilDiv(scanColumnsOf(p, part), tiling.columns());
}
constexpr int64_t linearScanItems(const LinearScanParams &p, LinearScanPart part,
                                  const LinearScanTiling &tiling) {
  return p.batch * p.blocks * p.heads * linearScanColumnBlocks(p, part, tiling);
}

/// Elements of a row of decays in shared memory, and such rows.
constexpr int linearScanDecayWidth(const LinearScanParams &p, LinearScanPart part,
                                   const LinearScanTiling &tiling) {
  if (p.decay == ScanDecay::None)
    return 0;
  if (p.decay == ScanDecay::Head || p.decay == ScanDecay::HeadAndTime)
    return 4;
  return part == LinearScanPart::Forward || part == LinearScanPart::Values ? tiling.rows()
                                                                           : tiling.columns();
}
constexpr bool linearScanConstantDecay(const LinearScanParams &p) {
  return p.decay == ScanDecay::Head || p.decay == ScanDecay::Key;
}
constexpr int64_t linearScanElements(const LinearScanParams &p, LinearScanPart part,
                                     const LinearScanTiling &tiling) {
  return tiling.steps * (2 * tiling.rows() + 2 * tiling.columns()) +
         (linearScanConstantDecay(p) ? 1 : tiling.steps) * linearScanDecayWidth(p, part, tiling) +
         tiling.columns();
}
template <typename T>
constexpr int64_t linearScanBytes(const LinearScanParams &p, LinearScanPart part) {
  return ceilDiv(linearScanElements(p, part, linearScanTilingOf<T>(p, part)) *
                     static_cast<int64_t>(sizeof(T)),
                 16) *
             16 +
         64; // where segments start
}

/// Rows between two states that the gradient of the decay is anchored at.
constexpr int64_t linearScanAnchorRows = 256;
constexpr int64_t linearScanAnchors(const LinearScanParams &p) {
  return ceilDiv(p.blockRows, linearScanAnchorRows);
}
template <typename T> constexpr int64_t linearScanAnchorElements(const LinearScanParams &p) {
  const LinearScanTiling tiling = linearScanTilingOf<T>(p, LinearScanPart::Queries);
  return linearScanItems(p, LinearScanPart::Queries, tiling) * linearScanAnchors(p) *
         tiling.rowsPerThread * tiling.columnsPerThread * tiling.threads();
}

template <typename T>
constexpr Grid linearScanGrid(const LinearScanParams &p, LinearScanPart part) {
  const LinearScanTiling tiling = linearScanTilingOf<T>(p, part);
  return {linearScanItems(p, part, tiling), tiling.threads(), linearScanBytes<T>(p, part)};
}

} // namespace cuda

//===-- What a device decides --------------------------------------------------===//

/// Divides sequences over time.
struct LinearScanDivision {
  /// Where there are too few items to keep several cores busy. Finding the entries costs two thirds
  /// of the scan again, so that with 8 items and more it does not pay before there are several
  /// times as many cores. Decided by sizes alone: results have the same bits for any number of
  /// threads.
  template <typename T> static constexpr void onCpu(LinearScanParams &p) {
    constexpr int64_t enough = 8, wanted = 32, leastRows = 256;
    const int64_t columns =
                      cpu::linearScanGradientInChunks<T>(p) ? 1 : ceilDiv(p.valueSize, lanes<T>),
                  items = p.batch * p.heads * columns;
    p.blocks = 1;
    while (items < enough && items * p.blocks < wanted && p.length % (2 * p.blocks) == 0 &&
           p.length / (2 * p.blocks) >= leastRows)
      p.blocks *= 2;
    p.blockRows = p.length / p.blocks;
  }
  /// Where there are not warps for a quarter of what a GPU wants: what blocks start from costs two
  /// thirds of the scan again.
  template <typename T> static constexpr void onCuda(LinearScanParams &p) {
    constexpr int64_t wantedWarps = 132 * 4, leastRows = 64;
    p.blocks = 1, p.blockRows = p.length;
    const cuda::LinearScanTiling tiling =
        cuda::linearScanTilingOf<T>(p, cuda::LinearScanPart::Forward);
    const int64_t warps = cuda::linearScanItems(p, cuda::LinearScanPart::Forward, tiling) *
                          ceilDiv(tiling.threads(), 32);
    if (2 * warps > wantedWarps || p.length < 2 * leastRows)
      return;
    const int64_t wanted = ceilDiv(2 * wantedWarps, warps), most = p.length / leastRows,
                  blocks = wanted < most ? wanted : most;
    p.blockRows = ceilDiv(ceilDiv(p.length, blocks), 16) * 16;
    p.blocks = ceilDiv(p.length, p.blockRows);
  }
};

/// Blocks of a head's keys, each of which has partial sums of the gradient of its decay.
struct LinearScanKeyBlocks {
  template <typename T> static constexpr int64_t onCpu(const LinearScanParams &p) {
    return cpu::linearScanGradientInChunks<T>(p) ? 1 : ceilDiv(p.keySize, lanes<T>);
  }
  template <typename T> static constexpr int64_t onCuda(const LinearScanParams &p) {
    return cuda::linearScanColumnBlocks(p, cuda::LinearScanPart::Keys,
                                        cuda::linearScanTilingOf<T>(p, cuda::LinearScanPart::Keys));
  }
};

/// Whether one kernel computes the whole gradient.
struct LinearScanGradientInChunks {
  template <typename T> static constexpr int64_t onCpu(const LinearScanParams &p) {
    return cpu::linearScanGradientInChunks<T>(p);
  }
  template <typename T> static constexpr int64_t onCuda(const LinearScanParams &) { return 0; }
};

/// Elements of the states that the gradient of the decay is anchored at.
struct LinearScanAnchors {
  template <typename T> static constexpr int64_t onCuda(const LinearScanParams &p) {
    return cuda::linearScanAnchorElements<T>(p);
  }
};

//===-- Kernels ----------------------------------------------------------------===//

/// Buffers: q, k, v, decay (optional), segments (optional), initialState (optional), finalState
/// (optional), o, a store.
struct LinearScanForward : KernelOf<LinearScanParams, "linear_scan_forward", 6> {
  HYBRID_ACTIVATIONS(0, 1, 2, 7)
  HYBRID_ON_CPU(cpu::linearScanForwardGrid<T>(p))
  HYBRID_ON_CUDA(cuda::linearScanGrid<T>(p, cuda::LinearScanPart::Forward))
};

/// Buffers: q, k, decay (optional), segments (optional), do, dFinalState (optional), dInitialState
/// (optional), dv, a store.
struct LinearScanBackwardValues : KernelOf<LinearScanParams, "linear_scan_backward_values", 6> {
  HYBRID_ACTIVATIONS(0, 1, 4, 7)
  HYBRID_ON_CPU(cpu::linearScanRowGrid<T>(p))
  HYBRID_ON_CUDA(cuda::linearScanGrid<T>(p, cuda::LinearScanPart::Values))
};

/// On the CPU. Buffers: q, k, v, decay (optional), segments (optional), initialState (optional),
/// do, dFinalState (optional), dq, dk, dDecay (optional). dDecay is written if decayGradient. Its
/// layout by kind of decay: KeyAndTime: a view like decay; HeadAndTime: partial sums [key blocks,
/// batch, length, heads]; Key: [batch, blocks, heads*keySize]; Head: [key blocks, batch, blocks,
/// heads]; all but the first are reduced over their leading dimensions by sum_partials.
struct LinearScanBackwardQueriesKeys
    : KernelOf<LinearScanParams, "linear_scan_backward_queries_keys", 8, 9, 10> {
  HYBRID_ACTIVATIONS(0, 1, 2, 6, 8, 9)
  HYBRID_ON_CPU(cpu::linearScanKeyGrid<T>(p))
};

/// On the CPU, with LinearScanGradientInChunks: all of the gradient, if it does not go row by row.
/// Buffers: q, k, v, decay (optional), segments (optional), initialState (optional), do,
/// dFinalState (optional), dInitialState (optional), dq, dk, dv, dDecay (optional, as above, with
/// one block of keys).
struct LinearScanBackward : KernelOf<LinearScanParams, "linear_scan_backward", 8, 9, 10, 11, 12> {
  HYBRID_ACTIVATIONS(0, 1, 2, 6, 9, 10, 11)
  HYBRID_ON_CPU(cpu::linearScanChunkGrid<T>(p,
                                            cpu::scanBackwardElements<T>(cpu::linearScanSizes(p))))
};

/// On CUDA. Buffers: k, v, decay (optional), segments (optional), initialState (optional), do,
/// anchors (optional), dq, a store. anchors: LinearScanAnchors elements, with decayGradient only.
struct LinearScanBackwardQueries : KernelOf<LinearScanParams, "linear_scan_backward_queries", 6> {
  HYBRID_ACTIVATIONS(0, 1, 5, 7)
  HYBRID_ON_CUDA(cuda::linearScanGrid<T>(p, cuda::LinearScanPart::Queries))
};

/// On CUDA. Buffers: q, k, v, decay (optional), segments (optional), do, dFinalState (optional), dq
/// (read, with decayGradient), anchors (optional), dDecay (optional, as above), dk, a store. The
/// gradient of the decay is a difference of sums that nearly cancel, so it takes dq in full.
struct LinearScanBackwardKeys : KernelOf<LinearScanParams, "linear_scan_backward_keys", 9> {
  HYBRID_ACTIVATIONS(0, 1, 2, 5, 10)
  HYBRID_ON_CUDA(cuda::linearScanGrid<T>(p, cuda::LinearScanPart::Keys))
};

/// What a block of rows multiplies a state with, e^(sum of decays), 0 where a segment starts.
/// Buffers: decay (optional), segments (optional), products [batch, blocks, heads*keySize].
struct LinearScanProducts : KernelOf<LinearScanDivisionParams, "linear_scan_products", 2> {
  HYBRID_ON_CPU(p.batch *p.blocks *ceilDiv(p.heads *p.keySize, lanes<T>))
  HYBRID_ON_CUDA(p.batch *p.blocks *ceilDiv(p.heads *p.keySize, cuda::linearScanColumnThreads),
                 cuda::linearScanColumnThreads)
};

/// The state each block starts from, and the one behind the last; with reverse its gradient at each
/// block's end, and the one before the first. Buffers: products, offsets (what a block leaves of a
/// state of zero; [batch, blocks, heads, keySize, valueSize]), segments (optional), state
/// (optional), entries (as offsets), last (optional, as state: [batch, heads, keySize, valueSize]).
struct LinearScanEntries : KernelOf<LinearScanDivisionParams, "linear_scan_entries", 4, 5> {
  HYBRID_ON_CPU(p.batch *p.heads *p.keySize)
  HYBRID_ON_CUDA(ceilDiv(p.batch *p.heads *p.keySize *p.valueSize, cuda::linearScanEntriesThreads),
                 cuda::linearScanEntriesThreads)
};

} // namespace hybrid
