//===- LinearScanParams.h - shapes of the linear scan's launches ------------===//
//
// Plain C++20: read by the lowering and by the kernels.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernels.h"

namespace hybrid::cuda {

/// S_t = diag(e^g_t) S_(t-1) + k_t v_t', o_t = scale S_t' q_t, or scale S_(t-1)' q_t if exclusive.
/// Tensors and the meaning of all fields as in LinearScanParams (codegen/kernels/Kernels.h). A
/// sequence is divided over time into `blocks` blocks of blockRows rows (the last may be shorter);
/// states are [batch, blocks, heads, keySize, valueSize], what each block starts from, or ends
/// with.
///
/// Work items: linearScanItems() of the part.
///   linearScanForward: q, k, v, decay, segments, initialState, finalState, o.
///   linearScanBackwardValues: q, k, decay, segments, do, dFinalState, dInitialState, dv.
///   linearScanBackwardQueries: k, v, decay, segments, initialState, do, anchors (opt), dq.
///   linearScanBackwardKeys: q, k, v, decay, segments, do, dFinalState, dq, anchors (opt),
///     dDecay (opt), dk. dq is read.
/// The last operand of each is a store.
/// anchors: linearScanAnchorElements() elements, with decayGradient only. dDecay by kind of decay:
/// KeyAndTime: a view like decay; HeadAndTime: partial sums [key blocks, batch, length, heads];
/// Key: [batch, blocks, heads*keySize]; Head: [key blocks, batch, blocks, heads].
///   linearScanProducts, linearScanEntries: as in LinearScanDivisionParams, see below.
struct LinearScanShape {
  int64_t batch, length, heads, keySize, valueSize;
  int64_t qStride, kStride, vStride, oStride /* also do */, decayStride, dqStride, dkStride,
      dvStride, dDecayStride;
  ScanDecay decay;
  int64_t exclusive, hasSegments, hasState, hasFinalState, decayGradient;
  int64_t stateOnly; // forward and backwardValues: o, or dv, is not written
  int64_t blocks, blockRows;
  double scale;
};

/// linearScanProducts: what a block of rows multiplies a state with, e^(sum of decays), 0 where a
/// segment starts. decay (opt), segments (opt), products [batch, blocks, heads*keySize]. Items:
/// batch * blocks * ceilDiv(heads*keySize, linearScanColumnThreads).
/// linearScanEntries: the state each block starts from, and the one behind the last; with reverse
/// its gradient at each block's end, and the one before the first. products, offsets (what a block
/// leaves of a state of zero), segments (opt), state (opt), entries, last (opt). Items: ceilDiv(
/// batch * heads * keySize * valueSize, linearScanEntriesThreads).
struct LinearScanDivisionShape {
  int64_t batch, length, blocks, blockRows, heads, keySize, valueSize, decayStride;
  ScanDecay decay;
  int64_t hasSegments, hasState, hasLast, reverse;
};
constexpr int linearScanColumnThreads = 32, linearScanEntriesThreads = 256;

/// The four recurrences: which tensor is on the rows of the state, which on its columns.
enum class LinearScanPart { Forward, Values, Queries, Keys };

constexpr int64_t scanRowsOf(const LinearScanShape &p, LinearScanPart part) {
  return part == LinearScanPart::Forward || part == LinearScanPart::Values ? p.keySize
                                                                           : p.valueSize;
}
constexpr int64_t scanColumnsOf(const LinearScanShape &p, LinearScanPart part) {
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
constexpr LinearScanTiling linearScanTiling(const LinearScanShape &p, LinearScanPart part,
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
constexpr LinearScanTiling linearScanTilingOf(const LinearScanShape &p, LinearScanPart part) {
  return linearScanTiling(p, part, static_cast<int64_t>(sizeof(T)));
}
constexpr int64_t linearScanColumnBlocks(const LinearScanShape &p, LinearScanPart part,
                                         const LinearScanTiling &tiling) {
  return ceilDiv(scanColumnsOf(p, part), tiling.columns());
}
constexpr int64_t linearScanItems(const LinearScanShape &p, LinearScanPart part,
                                  const LinearScanTiling &tiling) {
  return p.batch * p.blocks * p.heads * linearScanColumnBlocks(p, part, tiling);
}

/// Elements of a row of decays in shared memory, and such rows.
constexpr int linearScanDecayWidth(const LinearScanShape &p, LinearScanPart part,
                                   const LinearScanTiling &tiling) {
  if (p.decay == ScanDecay::None)
    return 0;
  if (p.decay == ScanDecay::Head || p.decay == ScanDecay::HeadAndTime)
    return 4;
  return part == LinearScanPart::Forward || part == LinearScanPart::Values ? tiling.rows()
                                                                           : tiling.columns();
}
constexpr bool linearScanConstantDecay(const LinearScanShape &p) {
  return p.decay == ScanDecay::Head || p.decay == ScanDecay::Key;
}
constexpr int64_t linearScanElements(const LinearScanShape &p, LinearScanPart part,
                                     const LinearScanTiling &tiling) {
  return tiling.steps * (2 * tiling.rows() + 2 * tiling.columns()) +
         (linearScanConstantDecay(p) ? 1 : tiling.steps) * linearScanDecayWidth(p, part, tiling) +
         tiling.columns();
}
template <typename T>
constexpr int64_t linearScanBytes(const LinearScanShape &p, LinearScanPart part) {
  return ceilDiv(linearScanElements(p, part, linearScanTilingOf<T>(p, part)) *
                     static_cast<int64_t>(sizeof(T)),
                 16) *
             16 +
         64; // where segments start
}

/// Rows between two states that the gradient of the decay is anchored at.
constexpr int64_t linearScanAnchorRows = 256;
constexpr int64_t linearScanAnchors(const LinearScanShape &p) {
  return ceilDiv(p.blockRows, linearScanAnchorRows);
}
template <typename T> constexpr int64_t linearScanAnchorElements(const LinearScanShape &p) {
  const LinearScanTiling tiling = linearScanTilingOf<T>(p, LinearScanPart::Queries);
  return linearScanItems(p, LinearScanPart::Queries, tiling) * linearScanAnchors(p) *
         tiling.rowsPerThread * tiling.columnsPerThread * tiling.threads();
}

/// Divides a sequence over time where there are not warps for a quarter of what a GPU wants: what
/// blocks start from costs two thirds of the scan again.
constexpr void divideLinearScan(LinearScanShape &p, int64_t elementBytes) {
  constexpr int64_t wantedWarps = 132 * 4, leastRows = 64;
  p.blocks = 1, p.blockRows = p.length;
  const LinearScanTiling tiling = linearScanTiling(p, LinearScanPart::Forward, elementBytes);
  const int64_t warps =
      linearScanItems(p, LinearScanPart::Forward, tiling) * ceilDiv(tiling.threads(), 32);
  if (2 * warps > wantedWarps || p.length < 2 * leastRows)
    return;
  const int64_t wanted = ceilDiv(2 * wantedWarps, warps), most = p.length / leastRows,
                blocks = wanted < most ? wanted : most;
  p.blockRows = ceilDiv(ceilDiv(p.length, blocks), 16) * 16;
  p.blocks = ceilDiv(p.length, p.blockRows);
}

} // namespace hybrid::cuda
