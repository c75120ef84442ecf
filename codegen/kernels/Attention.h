//===- Attention.h - contract of softmax attention --------------------------===//
//
// Without a [length, keyLength] matrix in memory. q: [batch, length, heads*headSize], k:
// [batch, keyLength, kvHeads*headSize], v: [batch, keyLength, kvHeads*valueSize] (views with
// strides), o as q with valueSize. Query t has position t + keyLength -
// length. causal: key s is seen iff s <= position; window >= 0: additionally s >= position - window
// (and s <= position + window when not causal). Segments (int32 [batch, keyLength], needs length ==
// keyLength): only equal segments see each other. rotaryDims R > 0: the first R dims of each head
// are rotated with table[position][R/2][4] = (cos, sin for q, cos, sin for k) (xPos puts its scales
// in; RotaryTable.h); pairs (i, i+R/2), or (2i, 2i+1) if rotaryInterleaved. A row that sees no key
// gives 0 and gradient 0 (lse -inf). Rotation needs length <= keyLength, so that no position is
// negative. lse: [batch, heads, length].
//
// `score` makes a logit of a score, scale * q·k: a function that the compiler makes of the model's
// own expression, for which a kernel is specialised. It is void(const T *x, T *y) over numbers on
// CUDA, where it is a template argument (AttentionTile.cuh), and over vectors on the CPU, where the
// parameter is its address. x: the score, the position of the query, of the key, the number of the
// head, queryTerms numbers of the query (of the tensor [batch, queryTerms, heads, length]) and
// keyTerms of the key ([batch, keyTerms, heads, keyLength]); y: the logit. `scoreGradient` has the
// gradient of the logit behind these in x, and gives those of the score and of the terms.
//
// past P > 0, in decoding: keys 0 to P - 1 are of positions before those of q, in rings [batch, P,
// kvHeads*size] of keys and of values; k and v have the other keyLength - P, which stand where q
// does. seen[b] positions came before, that of position p in row p mod P of a ring, so that key s
// has position s + seen - P; a negative one is none, and nobody sees it. Then length = keyLength -
// P, and the positions that a score is told count from the start of the sequence. Forward only.
//
// AttentionConversions.h is what a library's attention needs.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Threads.h"
#include "codegen/kernels/TileProduct.h"

namespace hybrid {

struct AttentionParams {
  int64_t batch, length, keyLength, heads, kvHeads, headSize, valueSize;
  int64_t qStride, kStride, vStride, oStride /* also do */, dqStride, dkStride, dvStride;
  int64_t causal, window /* -1: none */, rotaryDims, rotaryInterleaved, hasSegments;
  int64_t hasLseGradient; // backward: lse has one, too
  double scale;           // multiplies q·k, usually 1/sqrt(headSize)
  // On CUDA: a block owns `rowTile` rows, 16 to a warp, and walks over the other side `columnTile`
  // rows at a time; both are multiples of 16. `ahead`: the next of these tiles arrives while one is
  // computed with. Its sums hold `slab` columns of a head; a head of more is computed by several
  // blocks, each with all scores.
  int64_t bf16;      // products of operands rounded to bf16; else as exact as the element type
  int64_t alignment; // elements, 1, 2 or 4, that all strides and head sizes are multiples of
  int64_t rowTile, columnTile, ahead, slab;
  int64_t keySplits; // forward: blocks that share the keys of a tile of queries
  // Of the two tensors on the column side: k and v, or q and do. Prepared by attention_prepare.
  int64_t preparedFirst, preparedSecond;
  int64_t wholeHeads; // heads of a block that has them whole (AttentionWhole); 0: in tiles
  int64_t queryTerms, keyTerms;
  int64_t past;                 // rows of the rings; 0: none
  int64_t scoreGradient, score; // last, as all functions; on CUDA whether there are any
  HYBRID_FIELDS(batch, length, keyLength, heads, kvHeads, headSize, valueSize, qStride, kStride,
                vStride, oStride, dqStride, dkStride, dvStride, causal, window, rotaryDims,
                rotaryInterleaved, hasSegments, hasLseGradient, scale, bf16, alignment, rowTile,
                columnTile, ahead, slab, keySplits, preparedFirst, preparedSecond, wholeHeads,
                queryTerms, keyTerms, past, scoreGradient, score)

  /// Columns of a tile hold a head of any of the tensors.
  constexpr int64_t widestHead() const { return headSize > valueSize ? headSize : valueSize; }
};

/// Terms of a query or of a key at most.
constexpr int64_t mostScoreTerms = 8;

struct AttentionPrepareParams {
  int64_t batch, rows, heads, headSize, stride, columns, shift;
  int64_t rotaryDims, rotaryInterleaved, isKey, bf16, alignment;
  HYBRID_FIELDS(batch, rows, heads, headSize, stride, columns, shift, rotaryDims, rotaryInterleaved,
                isKey, bf16, alignment)

  constexpr AttentionParams rotation() const {
    AttentionParams a{};
    a.rotaryDims = rotaryDims, a.rotaryInterleaved = rotaryInterleaved;
    return a;
  }
};

struct AttentionCombineParams {
  int64_t batch, length, heads, valueSize, oStride, parts /* at most 32 */;
  HYBRID_FIELDS(batch, length, heads, valueSize, oStride, parts)
};

namespace cpu {
/// Bytes a thread; generous upper bounds.
template <typename T> constexpr int64_t attentionForwardScratch(const AttentionParams &p) {
  int64_t padded = ceilDiv(p.keyLength, lanes<T>) * lanes<T>;
  return static_cast<int64_t>(sizeof(T)) * (padded * (p.headSize + p.valueSize) +
                                            8 * lanes<T> * p.widestHead() + 128 * lanes<T> + 64);
}
template <typename T> constexpr int64_t attentionBackwardScratch(const AttentionParams &p) {
  int64_t paddedQ = ceilDiv(p.length, lanes<T>) * lanes<T>,
          padded = ceilDiv(p.keyLength, lanes<T>) * lanes<T>;
  return static_cast<int64_t>(sizeof(T)) *
         (paddedQ * (2 * p.headSize + p.valueSize + 2 + p.queryTerms) +
          2 * padded * (p.headSize + p.valueSize) + 8 * lanes<T> * p.widestHead() + 256 * lanes<T> +
          64);
}
} // namespace cpu

namespace cuda {

constexpr int64_t attentionPrepareThreads = 256;
/// Packs of all rows, and how many a thread has one after another: several where there are so many
/// that beginning blocks would take longer than what they do.
template <typename T> constexpr int64_t attentionPreparePacks(const AttentionPrepareParams &p) {
  const int64_t most = 16 / static_cast<int64_t>(sizeof(T)),
                pack = p.alignment < most ? p.alignment : most;
  return p.batch * p.heads * p.rows * p.columns / pack;
}
template <typename T> constexpr int64_t attentionPrepareEach(const AttentionPrepareParams &p) {
  constexpr int64_t several = 4, manyBlocks = 16 * gridProcessors;
  return attentionPreparePacks<T>(p) >= several * manyBlocks * attentionPrepareThreads ? several
                                                                                       : 1;
}
constexpr int64_t attentionCombineRows = 4, attentionCombineThreads = 32 * attentionCombineRows;

enum class AttentionPass { Forward, BackwardQueries, BackwardKeys };

constexpr int threads(const AttentionParams &p) { return static_cast<int>(p.rowTile * 2); }

template <typename T> constexpr int64_t attentionColumns(const AttentionParams &p) {
  return tileColumns(productsOf<T>(p.bf16), p.widestHead());
}
/// Columns of a tile that a warp takes at once: its scores are in registers.
template <typename T>
constexpr int64_t attentionStep(const AttentionParams &p, AttentionPass pass) {
  const bool many = attentionColumns<T>(p) > 32 || p.keyLength > 256;
  const int64_t most = pass == AttentionPass::Forward && many ? 64 : 32;
  return p.columnTile < most ? p.columnTile : most;
}
constexpr int64_t attentionItems(const AttentionParams &p, AttentionPass pass, int64_t columns) {
  bool keys = pass == AttentionPass::BackwardKeys;
  return p.batch * (keys ? p.kvHeads : p.heads) * (columns / p.slab) *
         ceilDiv(keys ? p.keyLength : p.length, p.rowTile) * p.keySplits;
}
/// Backward: whether channels of a rotated pair may be sums of two blocks. Neither can turn them
/// back then; attention_rotate_back does, in memory.
constexpr bool rotatesApart(const AttentionParams &p) {
  return p.rotaryDims > p.slab && !p.rotaryInterleaved;
}
/// Where the statistics of a tile's queries begin, behind the tiles.
template <typename T>
constexpr int64_t attentionTileBytes(const AttentionParams &p, AttentionPass pass) {
  const int64_t columns = 2 * p.columnTile * (1 + p.ahead),
                rows = pass == AttentionPass::Forward ? p.rowTile : 2 * p.rowTile;
  return tileBytes(productsOf<T>(p.bf16), sizeof(T), rows + columns, p.widestHead(),
                   TileRows::Spread);
}
/// At the end the sums take the place of the tiles on their way to memory.
template <typename T> constexpr int64_t sharedBytes(const AttentionParams &p, AttentionPass pass) {
  constexpr int64_t size = sizeof(T);
  const int64_t statistics =
      pass == AttentionPass::BackwardKeys ? 2 * p.columnTile * (1 + p.ahead) * size : 0;
  const int64_t tiles = attentionTileBytes<T>(p, pass) + statistics;
  int64_t sums = p.rowTile * (p.slab + 4) * size;
  return tiles > sums ? tiles : sums;
}
template <typename T> constexpr Grid attentionGrid(const AttentionParams &p, AttentionPass pass) {
  return {attentionItems(p, pass, attentionColumns<T>(p)), threads(p), sharedBytes<T>(p, pass)};
}

/// Shared memory of which two blocks fit on a multiprocessor of sm_90.
constexpr int64_t attentionSharedGoal = 99 * 1024;

} // namespace cuda

/// Divides a pass of attention for a GPU of about 100 multiprocessors, by sizes alone. rowTile is 0
/// if no tile fits: heads are too wide then.
struct AttentionTiling {
  template <typename T>
  static constexpr AttentionParams onCuda(AttentionParams p, cuda::AttentionPass pass, bool bf16,
                                          int64_t alignment, int64_t sharedLimit) {
    const cuda::Products products = cuda::productsOf<T>(bf16);
    const int64_t columns = cuda::tileColumns(products, p.widestHead());
    const bool keys = pass == cuda::AttentionPass::BackwardKeys,
               backward = pass != cuda::AttentionPass::Forward;
    p.bf16 = bf16, p.alignment = alignment, p.slab = columns, p.keySplits = 1;
    // Registers hold 16 rows of sums for a warp: one product's, or two in the pass over keys.
    const bool wide = sizeof(T) == 8;
    const int64_t widest = (keys ? 128 : 256) / (wide ? 4 : 1);
    const int64_t unit = products == cuda::Products::Bf16 && columns % 64 == 0 ? 64
                         : columns < 32                                        ? columns
                                                                               : 32;
    while (p.slab > widest || columns % p.slab != 0)
      p.slab -= unit;
    const int64_t rows = keys ? p.keyLength : p.length;
    const int64_t others = keys ? p.length : p.keyLength;
    p.rowTile = columns <= 32 || (bf16 && !keys) ? 128 : 64;
    p.columnTile = columns <= 64 && !backward && !wide ? 64 : 32;
    // Rows of small heads are few bytes: more of them a barrier.
    if (rows > 32 && columns * cuda::tileElementBytes(products, sizeof(T)) <= 64)
      p.columnTile = 128;
    while (p.rowTile > 16 && p.rowTile / 2 >= rows)
      p.rowTile /= 2;
    while (p.columnTile > 16 && p.columnTile / 2 >= others)
      p.columnTile /= 2;
    // At least two blocks a multiprocessor.
    while (p.rowTile > 16 && cuda::attentionItems(p, pass, columns) < 264)
      p.rowTile /= 2;
    const int64_t goal =
        cuda::attentionSharedGoal < sharedLimit ? cuda::attentionSharedGoal : sharedLimit;
    while (cuda::sharedBytes<T>(p, pass) > goal && p.columnTile > 16)
      p.columnTile /= 2;
    while (cuda::sharedBytes<T>(p, pass) > goal && p.rowTile > 16)
      p.rowTile /= 2;
    p.ahead = p.columnTile < others;
    if (cuda::sharedBytes<T>(p, pass) > goal)
      p.ahead = 0;
    if (cuda::sharedBytes<T>(p, pass) > sharedLimit)
      p.rowTile = 0;
    // Rotating and rounding again and again costs more than doing it once for all blocks; of rings
    // that would be all rows for a few queries.
    if (p.rowTile > 0 && rows > p.rowTile && p.past == 0) {
      p.preparedFirst = bf16 || p.rotaryDims > 0;
      p.preparedSecond = bf16;
    }
    // Few queries and many keys, as in decoding: at least four tiles of keys for a block.
    if (pass == cuda::AttentionPass::Forward && p.rowTile > 0)
      while (cuda::attentionItems(p, pass, columns) < 264 && p.keySplits < 32 &&
             p.keyLength >= 8 * p.keySplits * p.columnTile)
        p.keySplits *= 2;
    return p;
  }
};

namespace cuda {

/// Rows of a whole head in shared memory: a multiple of what a step has at most.
constexpr int64_t wholeRows(int64_t rows) { return ceilDiv(rows, 32) * 32; }
/// Elements from one of them to the next, so that eight begin in banks of their own.
constexpr int64_t wholeStride(const AttentionParams &p) {
  return p.headSize == 8 ? 8 : p.headSize + 8;
}
/// Elements from one head's rows to the next one's, so that a row of all heads is in different
/// banks.
constexpr int64_t wholeTile(const AttentionParams &p, int64_t rows) {
  return wholeRows(rows) * wholeStride(p) + 16;
}
/// Numbers from one position of the table of rotations to the next, for the same reason.
constexpr int64_t wholeTableRow(const AttentionParams &p) {
  return p.rotaryDims > 0 ? 2 * p.rotaryDims + 4 : 0;
}
/// Warps of a head: two where nothing is summed over rows of both.
constexpr int64_t wholeWarps(AttentionPass pass) { return pass == AttentionPass::Forward ? 2 : 1; }
/// Tiles of queries, keys and values; for gradients of output gradients and outputs, too.
constexpr int64_t wholeTileBytes(const AttentionParams &p, AttentionPass pass) {
  return p.wholeHeads * 2 *
         ((pass == AttentionPass::Forward ? 1 : 3) * wholeTile(p, p.length) +
          2 * wholeTile(p, p.keyLength));
}
/// Behind them two numbers of each query, and the table of rotations.
template <typename T> constexpr int64_t wholeStatisticsBytes(const AttentionParams &p) {
  return p.wholeHeads * wholeRows(p.length) * 2 * static_cast<int64_t>(sizeof(T));
}
template <typename T>
constexpr Grid attentionWholeGrid(const AttentionParams &p, AttentionPass pass) {
  return {p.batch * p.heads / p.wholeHeads, 32 * p.wholeHeads * wholeWarps(pass),
          wholeTileBytes(p, pass) + wholeStatisticsBytes<T>(p) +
              p.keyLength * wholeTableRow(p) * static_cast<int64_t>(sizeof(T))};
}

} // namespace cuda

/// Decides that attention has heads whole: of operands rounded to bf16, where heads are small and
/// sequences short. Such a head is little work, and a row of it is half a sector of memory or less:
/// with a head a block, loads that are waited for one after another take most of the time, and a
/// warp's load touches as many lines of the first cache as it has rows. Here a block has several
/// neighbouring heads, so that rows are whole sectors, asks for all of them before it waits, and
/// computes all gradients from the same scores. Sums for all keys and values of a head are in
/// registers of its warp: that bounds its size. wholeHeads is 0 for all else.
struct AttentionWhole {
  template <typename T>
  static constexpr AttentionParams onCuda(AttentionParams p, bool bf16, int64_t alignment,
                                          int64_t sharedLimit) {
    constexpr int64_t mostChannels = 32, mostElements = 2048, mostRowsOfAFew = 128;
    const int64_t size = p.headSize, half = p.rotaryDims / 2,
                  rows = p.length > p.keyLength ? p.length : p.keyLength;
    const bool isSmall = (size == 8 || size == 16 || size == mostChannels) && p.valueSize == size &&
                         cuda::wholeRows(rows) * size <= mostElements;
    // Partners in a rotation are in lanes or registers next to each other.
    const bool turns = p.rotaryInterleaved || half == 2 || half == 4 || half % 8 == 0;
    p.bf16 = bf16, p.alignment = alignment, p.slab = size;
    if (!bf16 || alignment < 8 || !isSmall || !turns || p.heads != p.kvHeads || p.score != 0 ||
        p.past != 0)
      return p;
    // A warp takes long for a long head: worth it if all schedulers of a GPU have one.
    if (rows > mostRowsOfAFew && p.batch * p.heads < 4 * cuda::gridProcessors)
      return p;
    for (p.wholeHeads = mostChannels / size; p.heads % p.wholeHeads != 0;)
      p.wholeHeads /= 2;
    if (cuda::attentionWholeGrid<T>(p, cuda::AttentionPass::BackwardKeys).bytes > sharedLimit)
      p.wholeHeads = 0;
    return p;
  }
};

/// Columns of a prepared tensor: [batch, heads, rows, columns] of what a tile holds.
struct AttentionColumns {
  template <typename T> static constexpr int64_t onCuda(const AttentionParams &p) {
    return cuda::attentionColumns<T>(p);
  }
};

/// Buffers: q, k, v, segments (optional), rotary (optional), queryTerms (optional), keyTerms
/// (optional), o, lse, pastKeys (optional), pastValues (optional), seen (optional). An item is a
/// head on the CPU, a tile of a head's queries on CUDA. With keySplits > 1 o and lse have that many
/// parts, each of its share of the keys, which attention_combine adds: o [keySplits, batch *
/// length, heads * valueSize], dense, and lse [keySplits, batch, heads, length].
struct AttentionForward : KernelOf<AttentionParams, "attention_forward", 7, 8> {
  HYBRID_ACTIVATIONS(0, 1, 2, 7)
  HYBRID_ON_CPU(p.batch *p.heads, 0, cpu::attentionForwardScratch<T>(p))
  HYBRID_ON_CUDA(cuda::attentionGrid<T>(p, cuda::AttentionPass::Forward))
};

/// On the CPU. Buffers: q, k, v, segments (optional), rotary (optional), queryTerms (optional),
/// keyTerms (optional), o, lse, do, dlse (optional), dq, dk, dv, and the gradients of the terms
/// (optional). An item is a head of keys, which sums its group of query heads in order.
struct AttentionBackward : KernelOf<AttentionParams, "attention_backward", 11, 12, 13, 14, 15> {
  HYBRID_ACTIVATIONS(0, 1, 2, 7, 9, 11, 12, 13)
  HYBRID_ON_CPU(p.batch *p.kvHeads, 0, cpu::attentionBackwardScratch<T>(p))
};

/// On CUDA. An item is a tile of queries. Buffers: q, k, v, segments (optional), rotary (optional),
/// queryTerms (optional), keyTerms (optional), o, lse, do, dlse (optional), dq, statistics [batch,
/// heads, length, 2], which the next one reads: lse in powers of two and the sum of o do less dlse,
/// both negative, and the gradient of queryTerms (optional).
struct AttentionBackwardQueries
    : KernelOf<AttentionParams, "attention_backward_queries", 11, 12, 13> {
  HYBRID_ACTIVATIONS(0, 1, 2, 7, 9, 11)
  HYBRID_ON_CUDA(cuda::attentionGrid<T>(p, cuda::AttentionPass::BackwardQueries))
};

/// On CUDA. An item is a tile of keys; rows are keys, columns queries. Buffers: q, k, v, segments
/// (optional), rotary (optional), queryTerms (optional), keyTerms (optional), do, statistics, dk,
/// dv, and the gradient of keyTerms (optional). One block sums what a key gets from a group of
/// query heads, in order.
struct AttentionBackwardKeys : KernelOf<AttentionParams, "attention_backward_keys", 9, 10, 11> {
  HYBRID_ACTIVATIONS(0, 1, 2, 7, 9, 10)
  HYBRID_ON_CUDA(cuda::attentionGrid<T>(p, cuda::AttentionPass::BackwardKeys))
};

/// On CUDA, of whole heads. An item is wholeHeads of them. Buffers: q, k, v, segments (optional),
/// rotary (optional), o, lse.
struct AttentionForwardWhole : KernelOf<AttentionParams, "attention_forward_whole", 5, 6> {
  HYBRID_ACTIVATIONS(0, 1, 2, 5)
  HYBRID_ON_CUDA(cuda::attentionWholeGrid<T>(p, cuda::AttentionPass::Forward))
};

/// The gradients of all three. Buffers: q, k, v, segments (optional), rotary (optional), o, lse,
/// do, dlse (optional), dq, dk, dv.
struct AttentionBackwardWhole : KernelOf<AttentionParams, "attention_backward_whole", 9, 10, 11> {
  HYBRID_ACTIVATIONS(0, 1, 2, 5, 7, 9, 10, 11)
  HYBRID_ON_CUDA(cuda::attentionWholeGrid<T>(p, cuda::AttentionPass::BackwardKeys))
};

/// On CUDA: the rows of all heads as tiles hold them, rotated and rounded, [batch, heads, rows,
/// columns], columns behind the head's being 0. Worth it when several blocks read them. Buffers: x
/// [batch, rows, heads * headSize], a view with a stride, rotary (optional), out. Row i has
/// position i + shift.
struct AttentionPrepare : KernelOf<AttentionPrepareParams, "attention_prepare", 2> {
  HYBRID_ACTIVATIONS(0)
  template <typename T> static constexpr Grid onCuda(const Params &p) {
    return {ceilDiv(cuda::attentionPreparePacks<T>(p),
                    cuda::attentionPrepareThreads * cuda::attentionPrepareEach<T>(p)),
            cuda::attentionPrepareThreads};
  }
};

/// On CUDA: o and lse of rows whose keys several blocks shared. Buffers: o parts, lse parts, o,
/// lse. A warp a row of a head.
struct AttentionCombine : KernelOf<AttentionCombineParams, "attention_combine", 2, 3> {
  HYBRID_ACTIVATIONS(2)
  HYBRID_ON_CUDA(ceilDiv(p.batch *p.heads *p.length, cuda::attentionCombineRows),
                 cuda::attentionCombineThreads)
};

} // namespace hybrid
