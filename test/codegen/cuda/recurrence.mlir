// RUN: hybridc %s --target=cuda:sm_90a --emit=cuda --precision=f32 | FileCheck %s
// RUN: hybrid-opt %s --hybrid-lower-cuda | FileCheck %s --check-prefix=SCHEDULE

// A block of threads is a sequence: they share the elements of each op and wait for one another behind it; positions follow one another.
// SCHEDULE: schedule.recurrence for "recurrence" {{.+}} batch 16 length 8 by 1 kept 1 step {
// CHECK-LABEL: HYBRID_DEVICE void recurrence_{{[0-9]+}}(int64_t item, float *x0, {{.*}}
// CHECK:      for (int [[T:v[0-9]+]] = 0; [[T]] < 8; [[T]] += 1) {
// A product is a sum a thread; its column is the number of the thread.
// CHECK:        for (int [[N:v[0-9]+]] = static_cast<int>(threadIdx.x); [[N]] < 48; [[N]] += 64) {
// CHECK:          float [[SUM:v[0-9]+]] = 0.0f;
// CHECK:          for (int [[K:v[0-9]+]] = 0; [[K]] < 48; [[K]] += 1) {
// CHECK:            [[SUM]] = v{{[0-9]+}};
// CHECK-NEXT:     }
// CHECK-NEXT:     x4[v{{[0-9]+}}] = [[SUM]];
// CHECK-NEXT:   }
// CHECK-NEXT:   blockBarrier();
// CHECK:        for (int [[E:v[0-9]+]] = static_cast<int>(threadIdx.x); [[E]] < 48; [[E]] += 64) {
// CHECK:          const float [[STATE:v[0-9]+]] = hyperbolicTangent(
// CHECK-NEXT:     x4[v{{[0-9]+}}] = [[STATE]];
// CHECK-NEXT:     x3[v{{[0-9]+}}] = [[STATE]];
// CHECK-NEXT:   }
// CHECK-NEXT:   blockBarrier();
func.func @forward(%x: tensor<16x8x48xf32> {hybrid.name = "x"}, %w: tensor<48x48xf32> {hybrid.name = "w"}) -> (tensor<16x8x48xf32> {hybrid.name = "y"}) {
  %y = hybrid.recurrence inputs(%x : tensor<16x8x48xf32>) invariants(%w : tensor<48x48xf32>) -> tensor<16x8x48xf32> step {
  ^bb0(%h: tensor<48xf32>, %xt: tensor<48xf32>, %u: tensor<48x48xf32>):
    %p = hybrid.linear %h, %u : tensor<48xf32>, tensor<48x48xf32> -> tensor<48xf32>
    %s = hybrid.binary add %p, %xt : tensor<48xf32>, tensor<48xf32>
    %n = hybrid.unary tanh %s : tensor<48xf32>
    hybrid.yield %n, %n : tensor<48xf32>, tensor<48xf32>
  }
  return %y : tensor<16x8x48xf32>
}
