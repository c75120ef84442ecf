// A region that a reduction alone reads is computed where it reads, and has no place in memory; a kernel's result that
// others need as well is stored beside what is made of it.
// RUN: hybridc %s --target=cuda:sm_90a --emit=cuda | FileCheck %s
// RUN: hybridc %s --target=cuda:sm_90a --emit=schedule | FileCheck %s --check-prefix=SCHEDULE

// What the activation makes of the norm, and the norm.
// CHECK-LABEL: struct store_{{[0-9]+}} {
// CHECK-NEXT:   static constexpr int width = 2;
// CHECK-NEXT:   float *y0;
// CHECK-NEXT:   float *y1;
// CHECK-NEXT:   HYBRID_DEVICE void operator()(int64_t row, int64_t column, float value) const {
// CHECK:          y0[6 * row + column] = v0;
// CHECK-NEXT:     y1[6 * row + column] = value;

// Over few elements a thread sums, here over two dimensions with others between them.
// CHECK-LABEL: HYBRID_DEVICE void reduce_{{[0-9]+}}(int64_t item, const float *x0, const float *x1, float *y0) {
// CHECK:         const float *start0 = x0 + 6 * row0 + row1;
// CHECK-NEXT:    const float *start1 = x1 + row0;
// CHECK-NEXT:    float value = 0.0f;
// CHECK-NEXT:    for (int k = 0; k < 4; k += 1) {
// CHECK-NEXT:      const float a0 = start0[18 * k];
// CHECK-NEXT:      const float a1 = start1[3 * k];
// CHECK-NEXT:      const float v0 = a0 * a1;
// CHECK-NEXT:      value += v0;

// SCHEDULE-LABEL: schedule.program @forward
// SCHEDULE-NEXT: schedule.launch "rmsnormForward<{{.*}} for "rmsnorm + fused(silu)"{{.*}}store_buffers = 2
// SCHEDULE-NEXT: schedule.launch "reduce_
// SCHEDULE-NEXT: {{^ *}$}}
func.func @forward(%x: tensor<4x3x6xf32> {hybrid.name = "x"}, %gate: tensor<4x3x1xf32> {hybrid.name = "gate"})
    -> (tensor<4x3x6xf32> {hybrid.name = "active"}, tensor<4x3x6xf32> {hybrid.name = "norm"}, tensor<3x6xf32> {hybrid.name = "sum"}) {
  %norm = hybrid.rmsnorm %x {epsilon = 1.0e-5 : f64} : tensor<4x3x6xf32> -> tensor<4x3x6xf32>
  %active = hybrid.unary silu %norm : tensor<4x3x6xf32>
  %gated = hybrid.binary mul %x, %gate : tensor<4x3x6xf32>, tensor<4x3x1xf32>
  %sum = hybrid.reduce sum %gated over [0] : tensor<4x3x6xf32> -> tensor<3x6xf32>
  return %active, %norm, %sum : tensor<4x3x6xf32>, tensor<4x3x6xf32>, tensor<3x6xf32>
}
