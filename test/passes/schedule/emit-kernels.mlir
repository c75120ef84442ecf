// RUN: hybrid-opt %s --schedule-emit-kernels-cpu | FileCheck %s --check-prefix=CPU --enable-var-scope
// RUN: hybrid-opt %s --schedule-emit-kernels-cuda | FileCheck %s --check-prefix=CUDA --enable-var-scope

// Regions become launches of generated kernels; equal ones share a kernel, and a launch of the library stays.
// CPU-LABEL: schedule.program @forward
// CPU: schedule.launch "[[SILU:fused_[0-9]+]]" for "fused(silu)" grid 1 (%[[X:.+]], %[[A:.+]] : {{.*}}) {generated, writes = array<i64: 1>}
// CPU-NEXT: schedule.launch "[[SILU]]" for "fused(silu)" grid 1 (%[[A]], %[[B:.+]] : {{.*}})
// CPU-NEXT: schedule.launch "copy_{{[0-9]+}}" for "transpose" grid 8
// CPU-NEXT: schedule.launch "fill_{{[0-9]+}}" for "pad" grid 1 (%[[B]] : {{.*}}) {generated, writes = array<i64: 0>}
// CPU-NEXT: schedule.launch "library" for "library" grid 4
// CPU-NEXT: schedule.launch "reduce_{{[0-9]+}}" for "reduce" grid 8
// CPU: func.func private @[[SILU]](

// CUDA-LABEL: schedule.program @forward
// CUDA: schedule.launch "[[SILU:fused_[0-9]+]]" for "fused(silu)" grid 1 ({{.*}}) {generated, threads = 256 : i64, writes = array<i64: 1>}
// CUDA-NEXT: schedule.launch "[[SILU]]"
// CUDA: schedule.launch "reduce_{{[0-9]+}}" for "reduce" grid 1
// CUDA: schedule.kernel_source @[[SILU]] "HYBRID_DEVICE void [[SILU]](int64_t item, const float *x0, float *y0) {
schedule.program @forward {
  %x = schedule.buffer arena "x" : memref<4x8xf32>
  %a = schedule.buffer arena : memref<4x8xf32>
  %b = schedule.buffer arena : memref<4x8xf32>
  %t = schedule.view %a : memref<4x8xf32> as memref<8x4xf32, strided<[1, 8]>>
  %c = schedule.buffer arena : memref<8x4xf32>
  %s = schedule.buffer arena : memref<8xf32>
  schedule.compute for "fused(silu)" (%x) -> (%a) : (memref<4x8xf32>) -> memref<4x8xf32> {
  ^bb0(%v: tensor<4x8xf32>):
    %y = hybrid.unary silu %v : tensor<4x8xf32>
    schedule.yield %y : tensor<4x8xf32>
  }
  schedule.compute for "fused(silu)" (%a) -> (%b) : (memref<4x8xf32>) -> memref<4x8xf32> {
  ^bb0(%v: tensor<4x8xf32>):
    %y = hybrid.unary silu %v : tensor<4x8xf32>
    schedule.yield %y : tensor<4x8xf32>
  }
  schedule.copy for "transpose" %t to %c : memref<8x4xf32, strided<[1, 8]>>, memref<8x4xf32>
  schedule.fill for "pad" %b with 0.0 : memref<4x8xf32>
  schedule.launch "library" for "library" grid 4 (%x, %b : memref<4x8xf32>, memref<4x8xf32>) {writes = array<i64: 1>}
  schedule.reduce sum for "reduce" (%b) over [0] to %s : (memref<4x8xf32>) -> memref<8xf32>
  schedule.output "c" %c : memref<8x4xf32>
  schedule.output "s" %s : memref<8xf32>
}
