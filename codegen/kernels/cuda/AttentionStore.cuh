//===- AttentionStore.cuh - sums of attention on their way to memory --------===//
//
// A lane of a product has neighbouring columns of two rows, which it stores by itself. What is to
// be rotated back needs its partner: it is in another register of the lane, or of the lane beside
// it; else all pass through shared memory.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/AttentionTile.cuh"

namespace hybrid::cuda {

/// Numbers to neighbouring elements of global memory.
template <int wide> HYBRID_DEVICE void storeNumbers(float *to, const Pack<float, wide> &from) {
  uint32_t words[wide];
  HYBRID_UNROLL
  for (int i = 0; i < wide; ++i)
    words[i] = bitsOf(from[i]);
  storeWords(to, words);
}
template <int wide> HYBRID_DEVICE void storeNumbers(bf16 *to, const Pack<float, wide> &from) {
  if constexpr (wide == 1) {
    *to = toBf16(from[0]);
  } else {
    uint32_t words[wide / 2];
    HYBRID_UNROLL
    for (int i = 0; i < wide / 2; ++i)
      words[i] = packBf16(from[2 * i], from[2 * i + 1]);
    storeWords(to, words);
  }
}
template <int wide> HYBRID_DEVICE void storeNumbers(double *to, const Pack<double, wide> &from) {
  storePack(to, from);
}

/// Where columns of sums and their partners are.
template <AttentionParams P, Side side, typename Tile> struct SumsOfLane {
  static constexpr int blocks = Tile::adjacent;    // of a group that has adjacent columns
  static constexpr int columns = 2 * blocks;       // of those a lane has
  static constexpr int groupColumns = 4 * columns; // all lanes of a row
  static constexpr bool rotates = side != Side::Other && P.rotaryDims > 0 && !rotatesApart(P);
  static constexpr int dims = rotates ? static_cast<int>(P.rotaryDims) : 0, half = dims / 2;
  static constexpr bool beside = P.rotaryInterleaved != 0;
  static constexpr bool inGroups = half % groupColumns == 0;
  static constexpr bool inLanes = half == columns || half == 2 * columns;
  static constexpr bool direct = !rotates || beside || inGroups || inLanes;
};

/// Sums of a warp's 16 rows to memory, rotated back: columns [slab, slab + P.slab) of the head.
/// Rows from `first` on, of which there are `count` in all; rows of the table are `tableRow` apart.
template <AttentionParams P, Side side, typename Tile, typename T, typename Memory, int blocks>
HYBRID_DEVICE void storeFromLanes(const T (&sums)[blocks][4], Memory *to, int64_t stride, int first,
                                  int count, int slab, const T *table, int shift,
                                  int tableRow = static_cast<int>(2 * P.rotaryDims)) {
  using Lane = SumsOfLane<P, side, Tile>;
  constexpr int size = static_cast<int>(headSizeOf<P>(side)), dims = Lane::dims, half = Lane::half;
  constexpr int wide =
      packWidth<T, P.alignment> < Lane::columns ? packWidth<T, P.alignment> : Lane::columns;
  const int g = rowOfLane(), t = columnOfLane();
  HYBRID_UNROLL
  for (int lower = 0; lower < 2; ++lower) {
    const int row = first + g + 8 * lower, there = minimum(row, count - 1);
    HYBRID_UNROLL
    for (int group = 0; group < blocks / Lane::blocks; ++group) {
      auto own = [&](int group, int i) {
        return sums[group * Lane::blocks + i % Lane::blocks][2 * lower + i / Lane::blocks];
      };
      const T *angles = table + (there + shift) * tableRow;
      const int column = slab + group * Lane::groupColumns + t * Lane::columns;
      T values[Lane::columns];
      HYBRID_UNROLL
      for (int i = 0; i < Lane::columns; ++i)
        values[i] = own(group, i);
      if constexpr (Lane::beside && Lane::rotates) {
        HYBRID_UNROLL
        for (int i = 0; i < Lane::columns; ++i)
          values[i] = rotated<P, side, true>(own(group, i), column + i, angles,
                                             [&](int) { return own(group, i ^ 1); });
      } else if constexpr (Lane::rotates) {
        constexpr int apart = half / Lane::groupColumns, groups = blocks / Lane::blocks;
        const int other = group < apart ? group + apart : group - apart;
        const bool turns = column < dims, second = column >= half;
        const T *factors = angles + (turns ? (second ? column - half : column) : 0) +
                           (side == Side::Key ? dims : 0);
        HYBRID_UNROLL
        for (int start = 0; start < Lane::columns; start += wide) {
          const Pack<T, wide> cosines = loadPack<wide>(factors + (turns ? start : 0)),
                              sines = loadPack<wide>(factors + half + (turns ? start : 0));
          HYBRID_UNROLL
          for (int i = 0; i < wide; ++i) {
            T partner;
            if constexpr (Lane::inGroups)
              partner = own(other < groups ? other : group, start + i);
            else
              partner = shuffleXor(own(group, start + i), half / Lane::columns);
            const T turned = multiplyAdd(own(group, start + i), cosines[i],
                                         partner * (second ? -sines[i] : sines[i]));
            values[start + i] = turns ? turned : values[start + i];
          }
        }
      }
      HYBRID_UNROLL
      for (int start = 0; start < Lane::columns; start += wide) {
        Pack<T, wide> pack;
        HYBRID_UNROLL
        for (int i = 0; i < wide; ++i)
          pack[i] = values[start + i];
        if (row < count && column + start < size)
          storeNumbers(to + row * stride + column + start, pack);
      }
    }
  }
}

/// The same by shared memory: `room` for a warp's 16 rows.
template <AttentionParams P, Side side, typename Tile, typename T, typename Memory, int blocks>
HYBRID_DEVICE void storeThroughShared(const T (&sums)[blocks][4], T *room, Memory *to,
                                      int64_t stride, int first, int count, int slab,
                                      const T *table, int shift) {
  constexpr int size = static_cast<int>(headSizeOf<P>(side)),
                roomRow = static_cast<int>(P.slab) + 4;
  const int g = rowOfLane(), t = columnOfLane();
  blockBarrier(); // the tiles, which were there, are done with
  HYBRID_UNROLL
  for (int block = 0; block < blocks; ++block)
    HYBRID_UNROLL
  for (int i = 0; i < 4; ++i)
    room[(i < 2 ? g : g + 8) * roomRow + Tile::columnOf(block, 2 * t + i % 2)] = sums[block][i];
  warpBarrier();
  constexpr int width = static_cast<int>(P.slab);
  constexpr bool rotates = SumsOfLane<P, side, Tile>::rotates;
  constexpr int wide = packWidth<T, P.alignment>;
  HYBRID_NO_UNROLL
  for (int pack = laneIndex(); pack < 16 * width / wide; pack += warpSize) {
    const int row = pack / (width / wide), column = pack % (width / wide) * wide;
    if (first + row >= count || slab + column >= size)
      continue;
    const T *source = room + row * roomRow;
    Pack<T, wide> values;
    HYBRID_UNROLL
    for (int j = 0; j < wide; ++j)
      values[j] = source[column + j];
    if constexpr (rotates)
      rotatePack<P, side, true>(values, slab + column,
                                table + (first + row + shift) * (2 * P.rotaryDims), source - slab);
    storeNumbers(to + (first + row) * stride + slab + column, values);
  }
  warpBarrier();
}

/// Stores sums, which are multiplied by a factor of each half of the rows. `room` is shared memory
/// for a warp's 16 rows, which they may pass through.
template <AttentionParams P, Side side, typename Tile, typename T, typename Memory, int blocks>
HYBRID_DEVICE void storeRows(T (&sums)[blocks][4], T upper, T lower, T *room, Memory *to,
                             int64_t stride, int first, int count, int slab, const T *table,
                             int shift) {
  HYBRID_UNROLL
  for (int block = 0; block < blocks; ++block)
    HYBRID_UNROLL
  for (int i = 0; i < 4; ++i)
    sums[block][i] *= i < 2 ? upper : lower;
  if constexpr (SumsOfLane<P, side, Tile>::direct)
    storeFromLanes<P, side, Tile>(sums, to, stride, first, count, slab, table, shift);
  else
    storeThroughShared<P, side, Tile>(sums, room, to, stride, first, count, slab, table, shift);
}

} // namespace hybrid::cuda
