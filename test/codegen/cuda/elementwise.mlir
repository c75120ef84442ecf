// Fused regions become CUDA C++ one can read: four neighbours an instruction where all views have
// them, an index per dimension where a view repeats or skips elements.
// RUN: hybridc %s --target=cuda:sm_90a --emit=cuda | FileCheck %s

// CHECK: #include "codegen/kernels/cuda/Prelude.cuh"
// CHECK: // fused(silu, mul)
// CHECK-LABEL: HYBRID_DEVICE void fused_0(int64_t item, const float *x0, const float *x1, float *y0) {
// CHECK-NEXT:   HYBRID_UNROLL
// CHECK-NEXT:   for (int k = 0; k < 2; ++k) {
// CHECK-NEXT:     const int i = static_cast<int>(item) * 2048 + k * 1024 + threadIdx.x * 4;
// CHECK-NEXT:     if (i < 12288) {
// CHECK-NEXT:       const auto a0 = loadPack<4>(x0 + i);
// CHECK-NEXT:       const auto a1 = loadPack<4>(x1 + i);
// CHECK-NEXT:       Pack<float, 4> r0;
// CHECK-NEXT:       HYBRID_UNROLL
// CHECK-NEXT:       for (int j = 0; j < 4; ++j) {
// CHECK-NEXT:         const float v0 = a0[j] * sigmoid(a0[j]);
// CHECK-NEXT:         const float v1 = v0 * a1[j];
// CHECK-NEXT:         r0[j] = v1;
// CHECK-NEXT:       }
// CHECK-NEXT:       storeGlobal(y0 + i, r0);

// A bias of one value a row, a slice of columns that starts at an odd place.
// CHECK-LABEL: HYBRID_DEVICE void fused_1(int64_t item, const float *x0, const float *x1, float *y0) {
// CHECK:          const int i = static_cast<int>(item) * 512 + k * 256 + threadIdx.x * 1;
// CHECK-NEXT:     if (i < 480) {
// CHECK-NEXT:       const int i1 = i % 5;
// CHECK-NEXT:       const int i0 = i / 5;
// CHECK-NEXT:       const float a0 = x0[128 * i0 + i1];
// CHECK-NEXT:       const float a1 = x1[i0];
// CHECK-NEXT:       const float v0 = a0 + a1;
// CHECK-NEXT:       y0[5 * i0 + i1] = v0;

// A maximum over some elements takes a warp each.
// CHECK-LABEL: HYBRID_DEVICE void reduce_2(int64_t item, const float *x0, float *y0) {
// CHECK-NEXT:   const int row = static_cast<int>(item) * 8 + threadIdx.x / 32;
// CHECK-NEXT:   if (row >= 96)
// CHECK-NEXT:     return;
// CHECK-NEXT:   const float *start0 = x0 + 128 * row;
// CHECK-NEXT:   float value = -infinity<float>();
// CHECK-NEXT:   for (int k = threadIdx.x % 32; k < 128; k += 32) {
// CHECK-NEXT:     value = propagatingMaximum(value, start0[k]);
// CHECK-NEXT:   }
// CHECK-NEXT:   value = warpMax(value);
// CHECK-NEXT:   if (threadIdx.x % 32 == 0) y0[row] = value;

// CHECK: HYBRID_KERNEL(k0_fused_0, 256, 1, (void *__restrict__ b0, void *__restrict__ b1, void *__restrict__ b2),
// CHECK-NEXT: fused_0(item, Buffer{b0}, Buffer{b1}, Buffer{b2});)
func.func @forward(%a: tensor<2x48x128xf32> {hybrid.name = "a"}, %b: tensor<2x48x128xf32> {hybrid.name = "b"},
                   %c: tensor<2x48x1xf32> {hybrid.name = "c"})
    -> (tensor<2x48x128xf32> {hybrid.name = "gated"}, tensor<2x48x5xf32> {hybrid.name = "biased"}, tensor<2x48xf32> {hybrid.name = "most"}) {
  %silu = hybrid.unary silu %a : tensor<2x48x128xf32>
  %gated = hybrid.binary mul %silu, %b : tensor<2x48x128xf32>, tensor<2x48x128xf32>
  %part = hybrid.slice %b from [0, 0, 3] size [2, 48, 5] : tensor<2x48x128xf32> -> tensor<2x48x5xf32>
  %biased = hybrid.binary add %part, %c : tensor<2x48x5xf32>, tensor<2x48x1xf32>
  %most = hybrid.reduce max %b over [2] : tensor<2x48x128xf32> -> tensor<2x48xf32>
  return %gated, %biased, %most : tensor<2x48x128xf32>, tensor<2x48x5xf32>, tensor<2x48xf32>
}
