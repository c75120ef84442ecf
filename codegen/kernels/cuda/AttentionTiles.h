//===- AttentionTiles.h - launches of the attention kernels -------------------===//
//
// Included by the lowering and by the kernels.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernels.h"
#include "codegen/kernels/cuda/TileProductParams.h"

namespace hybrid::cuda {

/// How attention (AttentionParams, Kernels.h) is divided. A block owns `rowTile` rows, 16 to a
/// warp, and walks over the other side `columnTile` rows at a time; both are multiples of 16. Its
/// sums hold `slab` columns of a head; a head of more is computed by several blocks, each with all
/// scores.
/// attention_forward: rows are queries, columns keys. buffers: q, k, v, segments (opt), rotary
/// (opt), o, lse.
/// With keySplits > 1 o and lse have that many parts, each of its share of the keys, which
/// attention_combine adds: o [keySplits, batch * length, heads * headSize], dense, and lse
/// [keySplits, batch, heads, length].
/// A prepared tensor is [batch, heads, rows, attentionColumns()] of what a tile holds.
/// attention_backward_queries: the same rows and columns. buffers: q, k, v, segments (opt), rotary
/// (opt), o, lse, do, dq, deltas [batch, heads, length]: sums of o do, which the next one reads.
/// attention_backward_keys: rows are keys, columns queries. buffers: q, k, v, segments (opt),
/// rotary (opt), lse, do, deltas, dk, dv.
/// grid = attentionItems(). One block sums what a key gets from a group of query heads, in order.
struct AttentionTiles {
  // As in AttentionParams.
  int64_t batch, length, keyLength, heads, kvHeads, headSize;
  int64_t qStride, kStride, vStride, oStride, dqStride, dkStride, dvStride;
  int64_t causal, window, rotaryDims, rotaryInterleaved, hasSegments;
  double scale;
  int64_t bf16;      // products of operands rounded to bf16; else as exact as the element type
  int64_t alignment; // elements, 1, 2 or 4, that all strides and the head size are multiples of
  int64_t rowTile, columnTile, slab;
  int64_t keySplits; // forward: blocks that share the keys of a tile of queries
  // Of the two tensors on the column side: k and v, or q and do. Prepared by attention_prepare.
  int64_t preparedFirst, preparedSecond;

  constexpr AttentionParams attention() const {
    return {batch,   length,     keyLength,         heads,       kvHeads,  headSize, qStride,
            kStride, vStride,    oStride,           dqStride,    dkStride, dvStride, causal,
            window,  rotaryDims, rotaryInterleaved, hasSegments, scale};
  }
};

enum class AttentionPass { Forward, BackwardQueries, BackwardKeys };

constexpr int threads(const AttentionTiles &p) { return static_cast<int>(p.rowTile * 2); }

template <typename T> constexpr int64_t attentionColumns(const AttentionTiles &p) {
  return tileColumns(productsOf<T>(p.bf16), p.headSize);
}
constexpr int64_t attentionItems(const AttentionTiles &p, AttentionPass pass, int64_t columns) {
  bool keys = pass == AttentionPass::BackwardKeys;
  return p.batch * (keys ? p.kvHeads : p.heads) * (columns / p.slab) *
         ceilDiv(keys ? p.keyLength : p.length, p.rowTile) * p.keySplits;
}
/// The tiles; at the end the sums take their place on their way to memory.
template <typename T> constexpr int64_t sharedBytes(const AttentionTiles &p, AttentionPass pass) {
  constexpr int64_t size = sizeof(T);
  const Products products = productsOf<T>(p.bf16);
  int64_t rows = pass == AttentionPass::Forward ? p.rowTile + 2 * p.columnTile
                                                : 2 * (p.rowTile + p.columnTile);
  int64_t tiles = tileBytes(products, size, rows, p.headSize);
  int64_t sums = p.rowTile * (p.slab + 4) * size;
  return tiles > sums ? tiles : sums;
}

/// attention_prepare: the rows of all heads as tiles hold them, rotated and rounded, [batch, heads,
/// rows, columns], columns behind the head's being 0. Worth it when several blocks read them.
/// buffers: x [batch, rows, heads * headSize], a view with a stride, rotary (opt), out. Row i has
/// position i + shift. grid = ceilDiv(batch * heads * rows * columns / alignment,
/// attentionPrepareThreads).
struct AttentionPrepareParams {
  int64_t batch, rows, heads, headSize, stride, columns, shift;
  int64_t rotaryDims, rotaryInterleaved, isKey, bf16, alignment;

  constexpr AttentionParams rotation() const {
    AttentionParams a{};
    a.rotaryDims = rotaryDims, a.rotaryInterleaved = rotaryInterleaved;
    return a;
  }
};
constexpr int64_t attentionPrepareThreads = 256;

/// attention_combine: o and lse of rows whose keys several blocks shared. buffers: o parts, lse
/// parts, o, lse. A warp a row of a head: grid = ceilDiv(batch * heads * length,
/// attentionCombineRows).
struct AttentionCombineParams {
  int64_t batch, length, heads, headSize, oStride, parts /* at most 32 */;
};
constexpr int64_t attentionCombineRows = 4, attentionCombineThreads = 32 * attentionCombineRows;

/// Shared memory of which two blocks fit on a multiprocessor of sm_90.
constexpr int64_t attentionSharedGoal = 99 * 1024;

/// Divides attention for a GPU of about 100 multiprocessors, by sizes alone. rowTile is 0 if no
/// tile fits: such heads take attention's kernels for wide heads.
template <typename T>
constexpr AttentionTiles attentionTiles(const AttentionParams &a, AttentionPass pass, bool bf16,
                                        int64_t alignment, int64_t sharedLimit) {
  const Products products = productsOf<T>(bf16);
  const int64_t columns = tileColumns(products, a.headSize);
  const bool keys = pass == AttentionPass::BackwardKeys, backward = pass != AttentionPass::Forward;
  AttentionTiles p{a.batch,
                   a.length,
                   a.keyLength,
                   a.heads,
                   a.kvHeads,
                   a.headSize,
                   a.qStride,
                   a.kStride,
                   a.vStride,
                   a.oStride,
                   a.dqStride,
                   a.dkStride,
                   a.dvStride,
                   a.causal,
                   a.window,
                   a.rotaryDims,
                   a.rotaryInterleaved,
                   a.hasSegments,
                   a.scale,
                   bf16,
                   alignment,
                   0,
                   0,
                   columns,
                   1,
                   0,
                   0};
  // Registers hold 16 rows of sums for a warp: one product's, or two in the pass over keys.
  const bool wide = sizeof(T) == 8;
  const int64_t widest = (keys ? 128 : 256) / (wide ? 4 : 1);
  const int64_t unit = products == Products::Bf16 && columns % 64 == 0 ? 64
                       : columns < 32                                  ? columns
                                                                       : 32;
  while (p.slab > widest || columns % p.slab != 0)
    p.slab -= unit;
  const int64_t rows = keys ? a.keyLength : a.length;
  const int64_t others = keys ? a.length : a.keyLength;
  p.rowTile = columns <= 32 || (bf16 && !keys) ? 128 : 64;
  p.columnTile = columns <= 64 && !backward && !wide ? 64 : 32;
  while (p.rowTile > 16 && p.rowTile / 2 >= rows)
    p.rowTile /= 2;
  while (p.columnTile > 16 && p.columnTile / 2 >= others)
    p.columnTile /= 2;
  // At least two blocks a multiprocessor.
  while (p.rowTile > 16 && attentionItems(p, pass, columns) < 264)
    p.rowTile /= 2;
  const int64_t goal = attentionSharedGoal < sharedLimit ? attentionSharedGoal : sharedLimit;
  while (sharedBytes<T>(p, pass) > goal && p.columnTile > 16)
    p.columnTile /= 2;
  while (sharedBytes<T>(p, pass) > goal && p.rowTile > 16)
    p.rowTile /= 2;
  if (sharedBytes<T>(p, pass) > sharedLimit)
    p.rowTile = 0;
  // Rotating and rounding again and again costs more than doing it once for all blocks.
  if (p.rowTile > 0 && rows > p.rowTile) {
    p.preparedFirst = bf16 || a.rotaryDims > 0;
    p.preparedSecond = bf16;
  }
  // Few queries and many keys, as in decoding: at least four tiles of keys for a block.
  if (pass == AttentionPass::Forward && p.rowTile > 0)
    while (attentionItems(p, pass, columns) < 264 && p.keySplits < 32 &&
           p.keyLength >= 8 * p.keySplits * p.columnTile)
      p.keySplits *= 2;
  return p;
}

} // namespace hybrid::cuda
