//===- AttentionConversions.h - what library attention reads and writes -------===//
//
// Included by the lowering and by the kernels.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "codegen/kernels/Kernels.h"

namespace hybrid::cuda {

enum class AttentionSide { Other, Query, Key };

/// attention_round: rows of heads to bf16, rotated by position: x [batch, rows, heads * headSize],
/// a view with a stride, rotary (opt), out [batch, heads, rows, headSize]. attention_widen: back,
/// rotated back: x [batch, heads, rows, headSize], rotary (opt), out [batch, rows, heads *
/// headSize], a view with a stride. Row i has position i + shift; `side` is an AttentionSide, Other
/// where nothing is rotated. grid = attentionConversionItems().
struct AttentionConversion {
  int64_t batch, rows, heads, headSize, stride, side, shift;
  int64_t rotaryDims, rotaryInterleaved, alignment;

  constexpr AttentionParams rotation() const {
    AttentionParams a{};
    a.rotaryDims = rotaryDims, a.rotaryInterleaved = rotaryInterleaved;
    return a;
  }
};
constexpr int64_t attentionConversionThreads = 256;
/// Elements of a thread: 16 bytes of f32 where alignment allows.
constexpr int64_t attentionConversionWidth(const AttentionConversion &p) {
  return p.alignment < 4 ? p.alignment : 4;
}
constexpr int64_t attentionConversionItems(const AttentionConversion &p) {
  const int64_t packs = p.batch * p.rows * p.heads * p.headSize / attentionConversionWidth(p);
  return (packs + attentionConversionThreads - 1) / attentionConversionThreads;
}

} // namespace hybrid::cuda
