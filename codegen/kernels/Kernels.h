//===- Kernels.h - contract of the specialised kernels ----------------------===//
//
// What each hand-written kernel computes, its buffers and its constants: on the CPU, and on CUDA
// where lowerings are shared (codegen/program); rmsnorm_forward is there the function template
// rmsnormForward<T, P>(item, buffers...). Included by kernels and by hybridc's lowering.
//
// Calling convention on the CPU. Every kernel K exists as K_f32 and K_f64 with the signature
//
//   void K_f32(int64_t lo, int64_t hi, void *const *buffers, void *scratch, const KParams *params);
//
// (symbols hybrid_K_f32, hybrid_K_f64) and computes work items [lo, hi) of its grid. Work items are
// independent: any split over threads gives the same bits. `params` points to a constant: the
// wrapper makes it a compile-time constant, so a branch on a field costs nothing. Every field is 8
// bytes wide (int64_t or double).
//
// Layout. An activation is `rows x columns`: rows = batch*length, columns contiguous, and
// a row stride in elements (so that a slice of channels is a view). Weights are dense.
// T is float or double. Vectors are 64 bytes: `lanes<T>` = 16 or 8 contiguous channels.
//
// Scratch memory is 64-byte aligned; what it holds before a call does not matter.
//
// "optional" buffers keep their place in `buffers` (null) when the matching has* field is 0.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>

namespace hybrid {

template <typename T> constexpr int64_t lanes = 64 / static_cast<int64_t>(sizeof(T));

constexpr int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// rmsnorm_forward: y = x * r * w, r = 1/sqrt(mean(x^2)+eps), or 1/(rms(x)+eps) if epsOutside.
/// buffers: x, w (optional), y. grid = rows.
/// rmsnorm_backward: buffers: x, w (optional), dy, partial, dx. grid = ceilDiv(rows, rowsPerItem);
/// partial is [grid, columns] (sums of dy*x*r over the rows of an item), reduced by sum_partials.
/// Without a weight, partial is not touched.
struct RmsNormParams {
  int64_t rows, columns, xStride, yStride /* also dy */, dxStride, rowsPerItem;
  int64_t hasWeight, epsOutside;
  double eps;
};

/// layernorm_forward: y = (x-mean)/sqrt(var+eps) * w + b. buffers: x, w (opt), b (opt), y. grid =
/// rows. layernorm_backward: buffers: x, w (opt), dy, partial, dx. grid = ceilDiv(rows,
/// rowsPerItem); partial is [grid, 2, columns]: dw sums, then db sums.
/// partial may be null.
struct LayerNormParams {
  int64_t rows, columns, xStride, yStride, dxStride, rowsPerItem;
  int64_t hasWeight, hasBias;
  double eps;
};

/// sum_partials: out[j] = sum over i of partial[i*stride + j], pairwise in i. buffers: partial,
/// out. grid = ceilDiv(columns, lanes).
struct SumPartialsParams {
  int64_t count, columns, stride;
};

/// embedding_forward: y[r] = table[ids[r]]. buffers: table [classes, columns], ids (int32), y. grid
/// = rows. An id outside [0, classes) gives NaN in its row (the loss then names it), never a read
/// out of bounds. embedding_backward: dtable = scatter-add of dy in row order (deterministic).
/// Overwrites dtable. buffers: ids, dy, dtable. grid = ceilDiv(columns, lanes). Ids out of range
/// are skipped.
struct EmbeddingParams {
  int64_t rows, columns, classes, yStride /* also dy */;
};

/// short_conv_forward: y[t,c] = b[c] + sum_j w[c,j] x[t-(K-1)+j, c]; x at t<0 comes from
/// initialState [batch, K-1, channels] (oldest first) if hasState, else 0. With segments (int32
/// [batch, length]) a tap counts only where segments[t-(K-1)+j] == segments[t]; the state belongs
/// to the segment of t = 0. buffers: x, w [channels, taps], b (opt), segments (opt), initialState
/// (opt), y, finalState (opt, [batch,K-1,channels]). grid = batch * ceilDiv(length, rowsPerItem).
/// finalState holds the last K-1 inputs, zero where their segment is not that of the last row.
/// short_conv_backward: buffers: x, w, segments (opt), initialState (opt), dy, dFinalState (opt),
/// dx, dInitialState (opt), partial, bias (read only if activation and hasBias). grid as forward;
/// partial is [grid, taps + 1, channels]: dw sums tap by tap, then db sums (reduced by
/// sum_partials; a small transpose brings [taps, channels] to [channels, taps]). activation: 0
/// none, 1 SiLU applied to y (backward recomputes the pre-activation).
struct ShortConvParams {
  int64_t batch, length, channels, taps, xStride, yStride /* also dy */, dxStride, rowsPerItem;
  int64_t hasBias, hasSegments, hasState, hasFinalState, activation;
};

/// Gated long convolution,  y = (conv(x*gateIn, h) + skip*(x*gateIn)) * gateOut.
/// fftconv_spectrum: filter [taps, channels] (time-major, dense) -> spectrum, layout private to the
/// kernels, fftconvSpectrumElements() elements. buffers: filter, twiddles, spectrum. grid = channel
/// blocks = ceilDiv(channels, lanes). fftconv_forward: buffers: x, spectrum, twiddles, skip (opt),
/// gateIn (opt), gateOut (opt), segments (opt), filter, y.
///   grid = channel blocks * batch. Scratch: fftconvForwardScratch().
/// fftconv_backward: buffers: x, spectrum, twiddles, skip (opt), gateIn (opt), gateOut (opt),
/// segments (opt), filter, dy,
///   dx, dFilter, dSkip (opt), dGateIn (opt), dGateOut (opt). grid = channel blocks (each sums the
///   whole batch in a fixed order, in the frequency domain). Scratch: fftconvBackwardScratch().
/// fftconv_twiddles: fills the twiddle table for transforms of up to transformSize points. buffers:
/// twiddles. grid = 1.
/// transformSize counts complex points, two real ones each: a power of two >= 32 and >= (length +
/// taps - 1) / 2 (fftconvTransformSize). With segments, a row's runs of equal segment id are
/// convolved independently (each with the first `run` taps).
struct FFTConvParams {
  int64_t batch, length, channels, taps, transformSize;
  int64_t xStride, gateInStride, gateOutStride, yStride /* also dy */, dxStride, dGateInStride,
      dGateOutStride;
  int64_t hasSkip, hasGateIn, hasGateOut, hasSegments;
};

constexpr int64_t fftconvTransformSize(int64_t length, int64_t taps) {
  int64_t n = 32;
  while (2 * n < length + taps - 1)
    n *= 2;
  return n;
}
/// Elements of T.
template <typename T> constexpr int64_t fftconvSpectrumElements(const FFTConvParams &p) {
  return ceilDiv(p.channels, lanes<T>) * p.transformSize * 2 * lanes<T>;
}
template <typename T> constexpr int64_t fftconvTwiddleElements(int64_t transformSize) {
  return 5 * transformSize;
}
/// Bytes a thread.
template <typename T> constexpr int64_t fftconvForwardScratch(const FFTConvParams &p) {
  return (p.hasSegments ? 2 : 1) * p.transformSize * 2 * lanes<T> * static_cast<int64_t>(sizeof(T));
}
template <typename T> constexpr int64_t fftconvBackwardScratch(const FFTConvParams &p) {
  return (p.hasSegments ? 5 : 3) * p.transformSize * 2 * lanes<T> * static_cast<int64_t>(sizeof(T));
}

/// How the decay of a linear scan is shaped.
enum class ScanDecay : int64_t {
  None,
  KeyAndTime,  // [batch, length, heads*keySize], a view with a stride
  HeadAndTime, // [batch, length, heads], a view with a stride
  Key,         // [heads*keySize]
  Head,        // [heads]
};

/// Scan of an outer-product state: S_t = diag(e^g_t) S_(t-1) + k_t v_t', o_t = scale S_t' q_t, or
/// scale S_(t-1)' q_t if exclusive. q, k: [batch, length, heads*keySize], v, o: [batch, length,
/// heads*valueSize] (views with strides); states [batch, heads, keySize, valueSize], dense. With
/// segments (int32 [batch, length]) S is zero before every position whose id is not that of the one
/// before.
/// linear_scan_forward: buffers: q, k, v, decay (opt), segments (opt), initialState (opt), o,
/// finalState (opt). grid = batch * heads * ceilDiv(valueSize, lanes). Scratch:
/// linearScanRowScratch().
/// linear_scan_backward_values: buffers: q, k, decay (opt), segments (opt), do, dFinalState (opt),
/// dv, dInitialState (opt). grid and scratch as forward.
/// linear_scan_backward_keys: buffers: q, k, v, decay (opt), segments (opt), initialState (opt),
/// do, dFinalState (opt), dq, dk, dDecay (opt). grid = batch * heads * keyBlocks, keyBlocks =
/// ceilDiv(keySize, lanes). Scratch: linearScanKeyScratch(). dDecay is written if decayGradient.
/// Its layout by kind of decay: KeyAndTime: a view like decay; HeadAndTime: partial sums
/// [keyBlocks, batch, length, heads]; Key: [batch, heads*keySize]; Head: [keyBlocks, batch, heads];
/// all but the first are reduced over their leading dimensions by sum_partials.
struct LinearScanParams {
  int64_t batch, length, heads, keySize, valueSize;
  int64_t qStride, kStride, vStride, oStride /* also do */, decayStride, dqStride, dkStride,
      dvStride, dDecayStride;
  ScanDecay decay;
  int64_t exclusive, hasSegments, hasState, hasFinalState, decayGradient;
  int64_t stateOnly; // forward and backward_values: o, or dv, is not written
  double scale;
};

/// A sequence of a linear scan divided into `blocks` blocks of blockRows rows, [batch, blocks,
/// blockRows], each of which the kernels above take for a sequence of its own.
/// linear_scan_products: what a block multiplies a state with, e^(sum of decays), 0 where a segment
/// starts. buffers: decay (opt), segments (opt), products [batch, blocks, heads*keySize]. grid =
/// batch * blocks * ceilDiv(heads*keySize, lanes).
/// linear_scan_entries: the state each block starts from, and the one behind the last; with reverse
/// its gradient at each block's end, and the one before the first. buffers: products, offsets (what
/// a block leaves of a state of zero; [batch, blocks, heads, keySize, valueSize]), segments (opt),
/// state (opt), entries (as offsets), last (opt, as state: [batch, heads, keySize, valueSize]).
/// grid = batch * heads * keySize.
struct LinearScanDivisionParams {
  int64_t blocks, blockRows, heads, keySize, valueSize, decayStride;
  ScanDecay decay;
  int64_t hasSegments, hasState, hasLast, reverse;
};
/// Blocks that a scan is divided into: 1 unless there are too few items to keep several cores busy.
/// Finding the entries costs two thirds of the scan again, so that with 8 items and more it does
/// not pay before there are several times as many cores. Decided by sizes alone: results have the
/// same bits for any number of threads.
template <typename T> constexpr int64_t linearScanBlocks(const LinearScanParams &p) {
  constexpr int64_t enough = 8, wanted = 32, leastRows = 256;
  const int64_t items = p.batch * p.heads * ceilDiv(p.valueSize, lanes<T>);
  int64_t blocks = 1;
  while (items < enough && items * blocks < wanted && p.length % (2 * blocks) == 0 &&
         p.length / (2 * blocks) >= leastRows)
    blocks *= 2;
  return blocks;
}
/// Positions between two states that the gradient of the decay keeps: few enough that the states
/// of one such chunk stay in cache, and at most 256 chunks.
constexpr int64_t linearScanChunk(const LinearScanParams &p) {
  int64_t chunk = 16;
  while (ceilDiv(p.length, chunk) > 256)
    chunk *= 2;
  return chunk;
}
/// Bytes a thread.
template <typename T> constexpr int64_t linearScanRowScratch(const LinearScanParams &p) {
  int64_t factors = 4 * ceilDiv(p.keySize, lanes<T>) * lanes<T>;
  return (p.keySize * lanes<T> + factors) * static_cast<int64_t>(sizeof(T));
}
template <typename T> constexpr int64_t linearScanKeyScratch(const LinearScanParams &p) {
  int64_t chunk = linearScanChunk(p);
  int64_t states = p.decayGradient ? 1 + chunk + ceilDiv(p.length, chunk) : 1;
  return states * p.valueSize * lanes<T> * static_cast<int64_t>(sizeof(T));
}

/// Softmax attention, without a [length, keyLength] matrix in memory.
/// q: [batch, length, heads*headSize], k and v: [batch, keyLength, kvHeads*headSize] (views with
/// strides). Query t has position t + keyLength - length. causal: key s is seen iff s <= position;
/// window >= 0: additionally s >= position - window (and s <= position + window when not causal).
/// Segments (int32 [batch, keyLength], needs length == keyLength): only equal segments see each
/// other. rotaryDims R > 0: the first R dims of each head are rotated with table[position][R/2][4]
/// = (cos, sin for q, cos, sin for k) (xPos puts its scales in); pairs (i, i+R/2), or (2i, 2i+1) if
/// rotaryInterleaved. A row that sees no key gives 0 and gradient 0
/// (lse -inf). Rotation needs length <= keyLength, so that no position is negative.
/// attention_forward: buffers: q,
/// k, v, segments (opt), rotary (opt), o, lse. lse: [batch, heads, length].
///   grid = batch * heads. Scratch: attentionForwardScratch().
/// attention_backward: buffers: q, k, v, segments (opt), rotary (opt), o, lse, do, dq, dk, dv.
///   grid = batch * kvHeads (an item sums its group of query heads in order). Scratch:
///   attentionBackwardScratch().
struct AttentionParams {
  int64_t batch, length, keyLength, heads, kvHeads, headSize;
  int64_t qStride, kStride, vStride, oStride /* also do */, dqStride, dkStride, dvStride;
  int64_t causal, window /* -1: none */, rotaryDims, rotaryInterleaved, hasSegments;
  double scale; // multiplies q·k, usually 1/sqrt(headSize)
};
/// Bytes a thread; generous upper bounds.
template <typename T> constexpr int64_t attentionForwardScratch(const AttentionParams &p) {
  int64_t padded = ceilDiv(p.keyLength, lanes<T>) * lanes<T>;
  return static_cast<int64_t>(sizeof(T)) *
         (2 * padded * p.headSize + 8 * lanes<T> * p.headSize + 128 * lanes<T> + 64);
}
template <typename T> constexpr int64_t attentionBackwardScratch(const AttentionParams &p) {
  int64_t paddedQ = ceilDiv(p.length, lanes<T>) * lanes<T>,
          padded = ceilDiv(p.keyLength, lanes<T>) * lanes<T>;
  return static_cast<int64_t>(sizeof(T)) *
         (4 * paddedQ * p.headSize + 6 * padded * p.headSize + 2 * paddedQ +
          8 * lanes<T> * p.headSize + 256 * lanes<T> + 64);
}

/// rotary_table: table[p][i] for p in [0, positions), i in [0, dims/2): theta = base^(-2i/dims),
/// angle p*theta/positionScale; (cos*s, sin*s, cos/s, sin/s) with s = 1, or with xposScaleBase > 0:
/// zeta_i = (2i + 0.4 dims)/(1.4 dims), s = zeta^((p - positions/2)/xposScaleBase). Computed in
/// double. buffers: table. grid = positions.
struct RotaryTableParams {
  int64_t positions, dims;
  double base, positionScale, xposScaleBase;
};

/// Cross entropy with mean over scored positions, logits [rows, classes],
/// targets int32. A row with target == ignoreIndex has weight 0, otherwise weights[row] (optional,
/// T) or 1. A target outside [0, classes) that is not ignoreIndex makes the loss NaN. Label
/// smoothing e: target (1-e) onehot + e/classes. cross_entropy_forward: buffers: logits, targets,
/// weights (opt), partial. grid = ceilDiv(rows, rowsPerItem);
///   partial [grid, 3]: sum of weight*loss, sum of weight, sum of weight*(argmax == target) (first
///   maximum wins).
/// cross_entropy_finish: buffers: partial, loss, weight, correct (scalars). grid = 1; loss = sum /
/// weight, 0 if weight is 0. cross_entropy_backward: buffers: logits, targets, weights (opt),
/// totalWeight, dLoss, dLogits. grid = rows;
///   dLogits = dLoss * weight/totalWeight * (softmax - target), 0 on ignored rows and when
///   totalWeight is 0.
/// target_weight: sum of the weights of scored rows. buffers: targets, weights (opt), weight
/// (scalar). grid = 1. Reads rows, ignoreIndex and hasWeights.
struct CrossEntropyParams {
  int64_t rows, classes, logitsStride, dLogitsStride, rowsPerItem;
  int64_t ignoreIndex, hasWeights;
  double labelSmoothing;
};

/// One stretch of a parameter that AdamW treats alike.
struct ParameterChunk {
  int64_t offset, count; // elements of T from the start of the parameter space
  double decay;          // 1 or 0
  double lrScale;
};
/// squared_norm: partial[i] = sum of g^2 over chunk i (in double). buffers: chunks
/// (ParameterChunk), gradients, partial (double). grid = chunks. gradient_norm: buffers: partial,
/// norm (T scalar). grid = 1. norm = sqrt(sum). adamw: g *= min(1, clip/(norm+1e-6)) if clip > 0; p
/// *= 1 - lr*wd*decay; m, v; p -= lr * m/c1 / (sqrt(v/c2) + eps).
///   Nothing changes when the norm is not finite: the step that made it can be looked at.
///   hyper (double[8]): lr, weight decay, beta1, beta2, eps, clip, c1 = 1-beta1^t, c2 = 1-beta2^t.
///   buffers: chunks, hyper, norm, parameters, gradients, moment1, moment2. grid = chunks.
struct AdamWParams {
  int64_t chunks;
};

/// random: fills out[elements] from the counter-based generator Philox4x32-10 keyed by (seed,
/// stream): element i depends only on (seed, stream, i), drawn in f32 then widened. buffers: seed
/// (int32[2]), out. grid = ceilDiv(elements, 1024). distribution 0: uniform in [a, b); 1: normal,
/// mean a, standard deviation b (Box-Muller).
struct RandomParams {
  int64_t elements, stream, distribution;
  double a, b;
};

/// top_k: places of the k largest of each row, lowest index first among equals, NaN last. buffers:
/// x [rows, columns], indices (int32 [rows, k]). grid = rows.
struct TopKParams {
  int64_t rows, columns, k, xStride;
};

/// take: y[r, j] = x[r, indices[r, j]], NaN for an index outside. buffers: x [rows, columns],
/// indices (int32 [rows, count]), y [rows, count]. scatter: y[r, i] = sum of x[r, j] over
/// indices[r, j] == i, in the order of j. buffers: x [rows, count], indices, y [rows, columns].
/// grid = rows.
struct TakeParams {
  int64_t rows, columns, count, xStride, yStride;
};

/// route: counting sort of pairs by expert (see hybrid.route); `capacity` pairs an expert at most,
/// 0: any. buffers: choices (int32 [pairs]), slots (int32 [pairs]), offsets (int32 [experts + 1]).
/// grid = 1. Scratch: routeScratch().
struct RouteParams {
  int64_t pairs, experts, capacity;
};
constexpr int64_t routeScratch(const RouteParams &p) { return 2 * (p.experts + 1) * 8; }

/// dispatch: y[slots[p]] = x[p]; row p of x stands at (p / choices) * tokenStride + (p % choices) *
/// choiceStride. collect: y[p] = x[slots[p]] (tokenStride is x's row stride). buffers: x, slots
/// (int32 [rows]), y. grid = rows. A slot outside [0, rows) is never followed: dispatch leaves the
/// row out, collect gives NaN.
struct DispatchParams {
  int64_t rows, columns, choices, tokenStride, choiceStride, yStride;
};

/// rfft and irfft of `points` real points a channel by Bluestein's algorithm: any number of points
/// as a convolution with a chirp, of transformSize points (rfftTransformSize). buffers: rfft: x
/// [points, channels], twiddles, re, im [points/2 + 1, channels]; irfft: re, im, twiddles, x. All
/// dense. grid = channel blocks. Scratch: rfftScratch(). Twiddles as fftconv_twiddles makes them.
struct RfftParams {
  int64_t points, channels, transformSize, weighted;
};
constexpr int64_t rfftTransformSize(int64_t points) {
  int64_t n = 32;
  while (n < points + points / 2)
    n *= 2;
  return n;
}
/// Bytes a thread.
template <typename T> constexpr int64_t rfftScratch(const RfftParams &p) {
  return 2 * p.transformSize * 2 * lanes<T> * static_cast<int64_t>(sizeof(T));
}

/// reverse: y[o, count-1-i, :] = x[o, i, :], both [outer, count, inner] and dense. buffers: x, y.
/// grid = outer * count.
struct ReverseParams {
  int64_t outer, count, inner;
};

/// modal_filter: y[t, c] = sum over s of Re((re + i im)[s, c] e^((decay + i angle)[s, c] t)), all
/// [states, channels]. Powers are computed in double, afresh every block of modalFilterBlock
/// positions. buffers: decay, angle, re, im, y [length, channels]. grid = ceilDiv(length,
/// modalFilterBlock) * ceilDiv(channels, 8). modal_filter_backward: buffers: decay, angle, re, im,
/// dy, partial [blocks, 4, states, channels]: sums of ddecay, dangle, dre, dim over a block of
/// modalFilterBlock positions. grid as forward.
struct ModalFilterParams {
  int64_t length, channels, states;
};
constexpr int64_t modalFilterBlock = 64;

} // namespace hybrid
