// Attention in tiles on a GPU: the tiles, what is rotated or rounded once for all blocks, and the
// keys of few queries shared by many blocks; small heads of short sequences whole.
// RUN: hybridc %s --target=cuda:sm_90a --emit=cuda | FileCheck %s
// RUN: hybridc %s --target=cuda:sm_90a --emit=cuda --precision=bf16 --attention=own | FileCheck %s --check-prefix=BF16

// CHECK: #include "codegen/kernels/cuda/Attention.cuh"

// Short sequences of small heads: a block has a whole head, nothing is prepared.
// CHECK-NOT: attentionPrepare
// CHECK: attentionForward<float, AttentionParams{.batch = 128, .length = 128, .keyLength = 128, .heads = 16, .kvHeads = 16, .headSize = 8,
// CHECK-SAME: .causal = 1, .window = -1,
// CHECK-SAME: .alignment = 4, .rowTile = 128, .columnTile = 128, .slab = 8, .keySplits = 1}>
// Rounded to bf16 a block has four of them.
// BF16: HYBRID_KERNEL({{.*}}attentionForwardWhole, 256,
// BF16: attentionForwardWhole<float, AttentionParams{
// BF16-SAME: .bf16 = 1, .alignment = 8, .slab = 8, .wholeHeads = 4}>

// Rotated keys serve many blocks; values are read as they lie, unless they are rounded.
// CHECK: attentionPrepare<float, AttentionPrepareParams{.batch = 4, .rows = 2048, .heads = 8, .headSize = 128, .stride = 1024, .columns = 128, .rotaryDims = 128, .isKey = 1, .alignment = 4}>
// CHECK: attentionForward<float, AttentionParams{.batch = 4,
// CHECK-SAME: .rowTile = 64, .columnTile = 32, .ahead = 1, .slab = 128, .keySplits = 1, .preparedFirst = 1}>
// BF16: attentionPrepare<float, AttentionPrepareParams{{.*}}.rotaryDims = 128, .isKey = 1, .bf16 = 1, .alignment = 4}>
// BF16: attentionPrepare<float, AttentionPrepareParams{{.*}}.columns = 128, .bf16 = 1, .alignment = 4}>
// BF16: attentionForward<float, AttentionParams{
// BF16-SAME: .rowTile = 128, .columnTile = 32, .ahead = 1, .slab = 128, .keySplits = 1, .preparedFirst = 1, .preparedSecond = 1}>

// Decoding: one query, its keys shared by blocks whose parts are added in order.
// CHECK: attentionForward<float, AttentionParams{.batch = 1, .length = 1, .keyLength = 4097,
// CHECK-SAME: .rowTile = 16, .columnTile = 64, .ahead = 1, .slab = 64, .keySplits = 16}>
// CHECK: attentionCombine<float, AttentionCombineParams{.batch = 1, .length = 1, .heads = 16, .valueSize = 64, .oStride = 1024, .parts = 16}>
// Keys and values joined with those before are activations, which are bf16 in memory.
// BF16: attentionForward<float, AttentionParams{.batch = 1, .length = 1, .keyLength = 4097,
// BF16-SAME: >(item, Buffer{b0}, RoundedBuffer{Buffer{b1}}, RoundedBuffer{Buffer{b2}}, Buffer{b3},
func.func @forward(%q0: tensor<128x128x128xf32> {hybrid.name = "q0"}, %k0: tensor<128x128x128xf32> {hybrid.name = "k0"}, %v0: tensor<128x128x128xf32> {hybrid.name = "v0"},
    %q1: tensor<4x2048x1024xf32> {hybrid.name = "q1"}, %k1: tensor<4x2048x1024xf32> {hybrid.name = "k1"}, %v1: tensor<4x2048x1024xf32> {hybrid.name = "v1"},
    %q2: tensor<1x1x1024xf32> {hybrid.name = "q2"}, %k2: tensor<1x1x1024xf32> {hybrid.name = "k2"}, %v2: tensor<1x1x1024xf32> {hybrid.name = "v2"}, %pk2: tensor<1x4096x1024xf32> {hybrid.name = "pk2"}, %pv2: tensor<1x4096x1024xf32> {hybrid.name = "pv2"})
    -> (tensor<128x128x128xf32> {hybrid.name = "y0"}, tensor<4x2048x1024xf32> {hybrid.name = "y1"}, tensor<1x1x1024xf32> {hybrid.name = "y2"}) {
  %y0, %lse0 = hybrid.attention %q0, %k0, %v0 heads 16 kv_heads 16 : tensor<128x128x128xf32>, tensor<128x128x128xf32>, tensor<128x128x128xf32> -> tensor<128x128x128xf32>, tensor<128x16x128xf32>
  %y1, %lse1 = hybrid.attention %q1, %k1, %v1 heads 8 kv_heads 8 {rotary_dims = 128 : i64} : tensor<4x2048x1024xf32>, tensor<4x2048x1024xf32>, tensor<4x2048x1024xf32> -> tensor<4x2048x1024xf32>, tensor<4x8x2048xf32>
  %y2, %lse2 = hybrid.attention %q2, %k2, %v2 heads 16 kv_heads 16 past(%pk2, %pv2 : tensor<1x4096x1024xf32>, tensor<1x4096x1024xf32>) : tensor<1x1x1024xf32>, tensor<1x1x1024xf32>, tensor<1x1x1024xf32> -> tensor<1x1x1024xf32>, tensor<1x16x1xf32>
  return %y0, %y1, %y2 : tensor<128x128x128xf32>, tensor<4x2048x1024xf32>, tensor<1x1x1024xf32>
}
