// RUN: hybrid-opt %s --schedule-emit-kernels-cuda | FileCheck %s --enable-var-scope

// A store's region becomes a functor over what it reads, then what it writes; a load is computed where the reduction reads.
// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.launch "rmsnormForward" for "rmsnorm + fused(add)" grid 4 ({{.*}}) {store = "[[STORE:store_[0-9]+]]", store_buffers = 3 : i64, writes = array<i64: 2, 3>}
// CHECK-NOT: storing
// CHECK: schedule.launch "reduce_{{[0-9]+}}" for "reduce" grid 1 (%{{.+}}, %{{.+}}, %{{.+}} :
// CHECK: schedule.kernel_source @[[STORE]] "struct [[STORE]] {\0A  static constexpr int width = 4;\0A  const float *x0;\0A  float *y0;\0A  float *y1;\0A  HYBRID_DEVICE void operator()(int64_t row, int64_t column, float value) const {\0A    const float a0 = x0[8 * row + column];\0A    const float v0 = a0 + value;\0A    y0[8 * row + column] = v0;\0A    y1[8 * row + column] = value;
// CHECK: schedule.kernel_source @reduce_{{[0-9]+}} "{{.*}}value += v0;
schedule.program @forward {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %n = schedule.buffer arena : memref<4x8xf32>
  %y = schedule.buffer arena : memref<4x8xf32>
  %s = schedule.buffer arena : memref<8xf32>
  schedule.launch "rmsnormForward" for "rmsnorm + fused(add)" grid 4 (%x, %x, %y, %n : memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) {store_buffers = 3 : i64, writes = array<i64: 2, 3>} storing {
  ^bb0(%value: tensor<4x8xf32>, %a: tensor<4x8xf32>):
    %r = hybrid.binary add %a, %value : tensor<4x8xf32>, tensor<4x8xf32>
    schedule.yield %r, %value : tensor<4x8xf32>, tensor<4x8xf32>
  }
  schedule.reduce sum for "reduce" (%y, %n) over [0] to %s : (memref<4x8xf32>, memref<4x8xf32>) -> memref<8xf32> load {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>):
    %p = hybrid.binary mul %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
    schedule.yield %p : tensor<4x8xf32>
  }
  schedule.output "y" %y : memref<4x8xf32>
  schedule.output "s" %s : memref<8xf32>
}
