//===- AttentionConversions.h - contracts of what is done to heads in memory ===//
//
// On CUDA: a library takes bf16 and gives bf16, in an order of its own; and gradients of heads that
// several blocks share are rotated back when all of them are there.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Attention.h"

namespace hybrid {

enum class AttentionSide { Other, Query, Key };

/// Row i has position i + shift; `side` is an AttentionSide, Other where nothing is rotated.
struct AttentionConversion {
  int64_t batch, rows, heads, headSize, stride, side, shift;
  int64_t rotaryDims, rotaryInterleaved, alignment;
  HYBRID_FIELDS(batch, rows, heads, headSize, stride, side, shift, rotaryDims, rotaryInterleaved,
                alignment)

  constexpr AttentionParams rotation() const {
    AttentionParams a{};
    a.rotaryDims = rotaryDims, a.rotaryInterleaved = rotaryInterleaved;
    return a;
  }
};

namespace cuda {
constexpr int64_t attentionConversionThreads = 256;
/// Elements of a thread: 16 bytes of f32 where alignment allows.
constexpr int64_t attentionConversionWidth(const AttentionConversion &p) {
  return p.alignment < 4 ? p.alignment : 4;
}
constexpr Grid attentionConversionGrid(const AttentionConversion &p) {
  const int64_t packs = p.batch * p.rows * p.heads * p.headSize / attentionConversionWidth(p);
  return {ceilDiv(packs, attentionConversionThreads), attentionConversionThreads};
}
/// A thread has a pair.
constexpr Grid attentionRotateBackGrid(const AttentionConversion &p) {
  const int64_t pairs = p.batch * p.rows * p.heads * (p.rotaryDims / 2);
  return {ceilDiv(pairs, attentionConversionThreads), attentionConversionThreads};
}
} // namespace cuda

/// Rows of heads to bf16, rotated by position. Buffers: x [batch, rows, heads * headSize], a view
/// with a stride, rotary (optional), out [batch, heads, rows, headSize].
struct AttentionRound : KernelOf<AttentionConversion, "attention_round", 2> {
  HYBRID_ACTIVATIONS(0)
  HYBRID_ON_CUDA(cuda::attentionConversionGrid(p))
};

/// Back, rotated back. Buffers: x [batch, heads, rows, headSize], rotary (optional), out [batch,
/// rows, heads * headSize], a view with a stride.
struct AttentionWiden : KernelOf<AttentionConversion, "attention_widen", 2> {
  HYBRID_ACTIVATIONS(2)
  HYBRID_ON_CUDA(cuda::attentionConversionGrid(p))
};

/// Gradients of queries or keys rotated back where they are. Buffers: rotary, x [batch, rows, heads
/// * headSize], a view with a stride.
struct AttentionRotateBack : KernelOf<AttentionConversion, "attention_rotate_back", 1> {
  HYBRID_ACTIVATIONS(1)
  HYBRID_ON_CUDA(cuda::attentionRotateBackGrid(p))
};

} // namespace hybrid
