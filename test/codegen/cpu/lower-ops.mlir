// RUN: hybrid-opt %s --hybrid-fuse-elementwise --hybrid-lower-cpu | FileCheck %s --enable-var-scope

// Buffers are declared first: what views share is one buffer, a gradient is computed where the optimizer reads it, and a bias of
// one row is a view that repeats it. Steps follow in order, with what kernels are generated for as regions.
// CHECK-LABEL: schedule.program @vjp
// CHECK: %[[X:.+]] = schedule.buffer arena "x" : memref<4x8xf32>
// CHECK: %[[DY:.+]] = schedule.buffer arena "cotangent.y" : memref<4x8xf32>
// CHECK: %[[ROW:.+]] = schedule.view %{{.+}} : memref<8xf32> as memref<4x8xf32, strided<[0, 1]>>
// CHECK: %[[G:.+]] = schedule.buffer arena : memref<4x8xf32>
// CHECK: %[[DW:.+]] = schedule.buffer gradients "w" at 0 : memref<8x8xf32>
// CHECK: schedule.compute for "fused(mul)" (%[[DY]], %[[ROW]]) -> (%[[G]]) : {{.*}} {
// CHECK-NEXT: ^bb0(%[[A:.+]]: tensor<4x8xf32>, %[[B:.+]]: tensor<8xf32>):
// CHECK-NEXT: %[[P:.+]] = hybrid.binary mul %[[A]], %[[B]]
// CHECK-NEXT: schedule.yield %[[P]]
// CHECK: schedule.library_matmul 8 x 8 x 4 of f32 for "matmul" (%[[G]], %[[X]], %[[DW]] : {{.*}}) {{.*}}transpose_a
func.func @vjp(%x: tensor<4x8xf32> {hybrid.name = "x"}, %dy: tensor<4x8xf32> {hybrid.name = "cotangent.y"}) -> (tensor<8x8xf32> {hybrid.name = "grad.w"}) {
  %s = hybrid.parameter "s" : tensor<8xf32>
  %g = hybrid.binary mul %dy, %s : tensor<4x8xf32>, tensor<8xf32>
  %dw = hybrid.matmul %g, %x {transpose_a} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  return %dw : tensor<8x8xf32>
}
func.func @forward(%x: tensor<4x8xf32> {hybrid.name = "x"}) -> (tensor<4x8xf32> {hybrid.name = "y"}) {
  %w = hybrid.parameter "w" : tensor<8x8xf32>
  %s = hybrid.parameter "s" : tensor<8xf32>
  %y = hybrid.linear %x, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %z = hybrid.binary mul %y, %s : tensor<4x8xf32>, tensor<8xf32>
  return %z : tensor<4x8xf32>
}
