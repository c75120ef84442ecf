// RUN: hybrid-opt %s --hybrid-fuse-elementwise --hybrid-schedule-cpu --split-input-file | FileCheck %s --enable-var-scope

// A chain of products needs two intermediate buffers at a time: the third takes the place of the first. The input keeps its place to the end.
// CHECK-LABEL: schedule.program @forward arena 12288
// CHECK: schedule.library_matmul {{.*}} buffers [#schedule.buffer<arena, [[X:[0-9]+]], 4096>, {{.*}}, #schedule.buffer<arena, [[A:[0-9]+]], 4096>]
// CHECK: schedule.library_matmul {{.*}} buffers [#schedule.buffer<arena, [[A]], 4096>, {{.*}}, #schedule.buffer<arena, [[B:[0-9]+]], 4096>]
// CHECK: schedule.library_matmul {{.*}} buffers [#schedule.buffer<arena, [[B]], 4096>, {{.*}}, #schedule.buffer<arena, [[A]], 4096>]
func.func @forward(%x: tensor<32x32xf32> {hybrid.name = "x"}) -> (tensor<32x32xf32> {hybrid.name = "y"}) {
  %w = hybrid.parameter "w" : tensor<32x32xf32>
  %a = hybrid.linear %x, %w : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %b = hybrid.linear %a, %w : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %c = hybrid.linear %b, %w : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %d = hybrid.linear %c, %w : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  return %d : tensor<32x32xf32>
}

// -----

// Gradients of parameters are computed where the optimizer reads them.
// CHECK-LABEL: schedule.program @vjp
// CHECK: schedule.library_matmul 8 x 8 x 4 {{.*}} #schedule.buffer<gradients, 0, 256>]
func.func @vjp(%x: tensor<4x8xf32> {hybrid.name = "x"}, %dy: tensor<4x8xf32> {hybrid.name = "cotangent.y"}) -> (tensor<8x8xf32> {hybrid.name = "grad.w"}) {
  %dw = hybrid.matmul %dy, %x {transpose_a} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  return %dw : tensor<8x8xf32>
}
func.func @forward(%x: tensor<4x8xf32> {hybrid.name = "x"}) -> (tensor<4x8xf32> {hybrid.name = "y"}) {
  %w = hybrid.parameter "w" : tensor<8x8xf32>
  %y = hybrid.linear %x, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
