// Who computes attention in bf16: the library for heads of 64 and more over more than 256 keys, or wherever it can, or nowhere.
// RUN: hybridc %s --target=cuda:sm_90a --precision=bf16 --emit=schedule | FileCheck %s
// RUN: hybridc %s --target=cuda:sm_90a --precision=bf16 --attention=cudnn --emit=schedule | FileCheck %s --check-prefix=CUDNN
// RUN: hybridc %s --target=cuda:sm_80 --precision=bf16 --emit=schedule | FileCheck %s --check-prefix=SM80
// RUN: hybridc %s --target=cuda --precision=bf16 --emit=schedule | FileCheck %s --check-prefix=SM80
// RUN: hybridc %s --target=cuda:sm_90a --precision=bf16 --attention=own --emit=schedule | FileCheck %s --check-prefix=OWN
// RUN: hybridc %s --target=cuda:sm_90a --emit=schedule | FileCheck %s --check-prefix=OWN
// RUN: hybridc %s --target=cuda:sm_90a --precision=bf16 --emit=cuda | FileCheck %s --check-prefix=TEXT
// RUN: not hybridc %s --target=cuda:sm_90a --attention=cudnn --emit=schedule 2>&1 | FileCheck %s --check-prefix=F32
// RUN: not hybridc %s --attention=cudnn --precision=bf16 --emit=schedule 2>&1 | FileCheck %s --check-prefix=F32
// F32: --attention=cudnn: cuDNN computes attention in bf16 on GPUs, expected --target=cuda and --precision=bf16

// OWN-NOT: library_attention

// Rotated queries and keys of heads that share keys: what the library reads is rounded before, what it writes widened behind.
// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.launch "attentionRound<float, AttentionConversion{.batch = 2, .rows = 512, .heads = 4, .headSize = 64, .stride = 256, .side = 1, .rotaryDims = 64, .alignment = 4}>" {{.*}} grid 256 {{.*}}threads = 256
// CHECK-NEXT: schedule.launch "attentionRound<float, AttentionConversion{.batch = 2, .rows = 512, .heads = 2, .headSize = 64, .stride = 128, .side = 2, .rotaryDims = 64, .alignment = 4}>"
// CHECK-NEXT: schedule.launch "attentionRound<float, AttentionConversion{.batch = 2, .rows = 512, .heads = 2, .headSize = 64, .stride = 128, .alignment = 4}>"
// CHECK-NEXT: schedule.library_attention heads 4 kv_heads 2 of 64 batch 2 queries 512 keys 512 for "attention" buffers
// CHECK-SAME: {causal, scale = 1.250000e-01 : f64,{{.*}} strides = array<i64: 131072, 64, 32768, 65536, 64, 32768, 65536, 64, 32768, 131072, 64, 32768>}
// CHECK-NEXT: schedule.launch "attentionWiden<float, AttentionConversion{.batch = 2, .rows = 512, .heads = 4, .headSize = 64, .stride = 256, .alignment = 4}>"
// Small heads, windows and few keys are for our kernels.
// CHECK: attentionForward<
// CHECK: attentionForward<
// CHECK: attentionForward<
// CHECK-NOT: library_attention
// CHECK-LABEL: schedule.program @vjp
// CHECK: schedule.library_attention heads 1 kv_heads 1 of 256 batch 1 queries 512 keys 512 for "attention_grad"
// CHECK-SAME: {backward, causal, scale = 6.250000e-02 : f64

// CUDNN-LABEL: schedule.program @forward
// CUDNN-COUNT-3: schedule.library_attention
// CUDNN-NOT: library_attention
// CUDNN: schedule.program @vjp

// On an A100 the library has no gradient of heads beyond 128; PTX runs on later GPUs of which the same holds.
// SM80: schedule.library_attention
// SM80-LABEL: schedule.program @vjp
// SM80-NOT: library_attention
// SM80: attentionBackwardQueries

// TEXT: #include "codegen/kernels/cuda/AttentionConversions.cuh"
// TEXT: attentionRound<float, AttentionConversion{
// TEXT: attentionWiden<float, AttentionConversion{
func.func @forward(%q0: tensor<2x512x256xf32> {hybrid.name = "q0"}, %k0: tensor<2x512x128xf32> {hybrid.name = "k0"}, %v0: tensor<2x512x128xf32> {hybrid.name = "v0"},
    %q1: tensor<2x512x256xf32> {hybrid.name = "q1"}, %k1: tensor<2x512x256xf32> {hybrid.name = "k1"}, %v1: tensor<2x512x256xf32> {hybrid.name = "v1"},
    %q2: tensor<1x128x128xf32> {hybrid.name = "q2"}, %k2: tensor<1x128x128xf32> {hybrid.name = "k2"}, %v2: tensor<1x128x128xf32> {hybrid.name = "v2"})
    -> (tensor<2x512x256xf32> {hybrid.name = "y0"}, tensor<2x512x256xf32> {hybrid.name = "y1"}, tensor<2x512x256xf32> {hybrid.name = "y2"}, tensor<1x128x128xf32> {hybrid.name = "y3"}) {
  %y0, %lse0 = hybrid.attention %q0, %k0, %v0 heads 4 kv_heads 2 {rotary_dims = 64 : i64} : tensor<2x512x256xf32>, tensor<2x512x128xf32>, tensor<2x512x128xf32> -> tensor<2x512x256xf32>, tensor<2x4x512xf32>
  %y1, %lse1 = hybrid.attention %q1, %k1, %v1 heads 16 kv_heads 16 : tensor<2x512x256xf32>, tensor<2x512x256xf32>, tensor<2x512x256xf32> -> tensor<2x512x256xf32>, tensor<2x16x512xf32>
  %y2, %lse2 = hybrid.attention %q1, %k1, %v1 heads 4 kv_heads 4 {window = 100 : i64} : tensor<2x512x256xf32>, tensor<2x512x256xf32>, tensor<2x512x256xf32> -> tensor<2x512x256xf32>, tensor<2x4x512xf32>
  %y3, %lse3 = hybrid.attention %q2, %k2, %v2 heads 2 kv_heads 2 : tensor<1x128x128xf32>, tensor<1x128x128xf32>, tensor<1x128x128xf32> -> tensor<1x128x128xf32>, tensor<1x2x128xf32>
  return %y0, %y1, %y2, %y3 : tensor<2x512x256xf32>, tensor<2x512x256xf32>, tensor<2x512x256xf32>, tensor<1x128x128xf32>
}

func.func @vjp(%q: tensor<1x512x256xf32> {hybrid.name = "q"}, %k: tensor<1x512x256xf32> {hybrid.name = "k"}, %v: tensor<1x512x256xf32> {hybrid.name = "v"},
    %y: tensor<1x512x256xf32> {hybrid.name = "y"}, %lse: tensor<1x1x512xf32> {hybrid.name = "lse"}, %dy: tensor<1x512x256xf32> {hybrid.name = "dy"})
    -> (tensor<1x512x256xf32> {hybrid.name = "dq"}, tensor<1x512x256xf32> {hybrid.name = "dk"}, tensor<1x512x256xf32> {hybrid.name = "dv"}) {
  %dq, %dk, %dv = hybrid.attention_grad %q, %k, %v, %y, %lse, %dy heads 1 kv_heads 1 {causal = true, window = -1 : i64, rotary_dims = 0 : i64, rotary_base = 1.0e4 : f64, rotary_interleaved = false, xpos_base = 0.0 : f64, scale = 0.0625 : f64} : tensor<1x512x256xf32>, tensor<1x512x256xf32>, tensor<1x512x256xf32>, tensor<1x512x256xf32>, tensor<1x1x512xf32>, tensor<1x512x256xf32> -> tensor<1x512x256xf32>, tensor<1x512x256xf32>, tensor<1x512x256xf32>
  return %dq, %dk, %dv : tensor<1x512x256xf32>, tensor<1x512x256xf32>, tensor<1x512x256xf32>
}
