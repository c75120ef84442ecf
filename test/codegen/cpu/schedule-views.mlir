// RUN: hybrid-opt %s --hybrid-fuse-elementwise --hybrid-schedule-cpu --split-input-file | FileCheck %s --enable-var-scope

// A split gives views of its operand: the convolution reads the parts in place, at their offsets, with the row stride of the whole.
// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.library_matmul 12 x 24 x 8 {{.*}} buffers [{{.*}}, {{.*}}, #schedule.buffer<arena, [[P:[0-9]+]], 1152>]
// CHECK-NOT: copy
// CHECK: "hybrid_fftconv_forward_f32" {{.*}} {constants = array<i64: 2, 6, 8, 6, 32, 0, 1, 0, 0, 24, 24, 24, 8,
func.func @forward(%x: tensor<2x6x8xf32> {hybrid.name = "x"}) -> (tensor<2x6x8xf32> {hybrid.name = "y"}) {
  %w = hybrid.parameter "w" : tensor<24x8xf32>
  %h = hybrid.parameter "h" : tensor<6x8xf32>
  %p = hybrid.linear %x, %w : tensor<2x6x8xf32>, tensor<24x8xf32> -> tensor<2x6x24xf32>
  %a, %b, %c = hybrid.split %p along 2 sizes [8, 8, 8] : tensor<2x6x24xf32> -> tensor<2x6x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>
  %y = hybrid.fftconv %c, %h gate_in(%b : tensor<2x6x8xf32>) gate_out(%a : tensor<2x6x8xf32>) : tensor<2x6x8xf32>, tensor<6x8xf32> -> tensor<2x6x8xf32>
  return %y : tensor<2x6x8xf32>
}

// -----

// Parts of a concat are computed where the whole wants them: two products, no copy.
// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.library_matmul 5 x 4 x 8 {{.*}} ldc = 8
// CHECK: schedule.library_matmul 5 x 4 x 8 {{.*}} ldc = 8
// CHECK-NOT: schedule.launch
// CHECK: }
func.func @forward(%x: tensor<5x8xf32> {hybrid.name = "x"}) -> (tensor<5x8xf32> {hybrid.name = "y"}) {
  %v = hybrid.parameter "v" : tensor<4x8xf32>
  %w = hybrid.parameter "w" : tensor<4x8xf32>
  %a = hybrid.linear %x, %v : tensor<5x8xf32>, tensor<4x8xf32> -> tensor<5x4xf32>
  %b = hybrid.linear %x, %w : tensor<5x8xf32>, tensor<4x8xf32> -> tensor<5x4xf32>
  %y = hybrid.concat %a, %b along 1 : tensor<5x4xf32>, tensor<5x4xf32> -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// -----

// A transposed weight is read by the matrix library as it lies.
// CHECK-LABEL: schedule.program @forward
// CHECK-NOT: schedule.launch
// CHECK: schedule.library_matmul 5 x 4 x 8 {{.*}} transpose_b
// CHECK-NOT: schedule.launch
// CHECK: }
func.func @forward(%x: tensor<5x8xf32> {hybrid.name = "x"}) -> (tensor<5x4xf32> {hybrid.name = "y"}) {
  %w = hybrid.parameter "w" : tensor<4x8xf32>
  %t = hybrid.transpose %w by [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %y = hybrid.matmul %x, %t : tensor<5x8xf32>, tensor<8x4xf32> -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}
