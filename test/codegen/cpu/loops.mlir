// RUN: hybrid-opt %s --hybrid-fuse-elementwise --hybrid-schedule-cpu --split-input-file | FileCheck %s --enable-var-scope

// Equal dense shapes collapse to one row, cut into blocks; the value between the ops never reaches memory.
// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.launch "fused_0" for "fused(silu, mul)" grid 2
// CHECK-LABEL: func.func private @fused_0(
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-2: memref.load
// CHECK: math.exp
// CHECK: arith.mulf
// CHECK-NEXT: memref.store
// CHECK-NOT: memref.store
func.func @forward(%a: tensor<4x1024xf32> {hybrid.name = "a"}, %b: tensor<4x1024xf32> {hybrid.name = "b"}) -> (tensor<4x1024xf32> {hybrid.name = "y"}) {
  %s = hybrid.unary silu %a : tensor<4x1024xf32>
  %y = hybrid.binary mul %s, %b : tensor<4x1024xf32>, tensor<4x1024xf32>
  return %y : tensor<4x1024xf32>
}

// -----

// A value repeated over the rows keeps rows and columns apart.
// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.launch "fused_0" for "fused(add)" grid 12
func.func @forward(%a: tensor<3x4x64xf32> {hybrid.name = "a"}, %b: tensor<64xf32> {hybrid.name = "b"}) -> (tensor<3x4x64xf32> {hybrid.name = "y"}) {
  %y = hybrid.binary add %a, %b : tensor<3x4x64xf32>, tensor<64xf32>
  return %y : tensor<3x4x64xf32>
}

// -----

// Equal kernels are made once.
// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.launch "fused_0"
// CHECK: schedule.library_matmul
// CHECK: schedule.launch "fused_0"
// CHECK: func.func private @fused_0
// CHECK-NOT: func.func private @fused_1
func.func @forward(%a: tensor<8x8xf32> {hybrid.name = "a"}) -> (tensor<8x8xf32> {hybrid.name = "y"}) {
  %w = hybrid.parameter "w" : tensor<8x8xf32>
  %s = hybrid.unary silu %a : tensor<8x8xf32>
  %l = hybrid.linear %s, %w : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %y = hybrid.unary silu %l : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

// Sums over leading dimensions go through partial rows, so that the order does not depend on threads.
// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.launch "row_sums_0" for "reduce" grid 64
// CHECK: schedule.launch "hybrid_sum_partials_f32"
func.func @forward(%a: tensor<2x128x8xf32> {hybrid.name = "a"}) -> (tensor<8xf32> {hybrid.name = "y"}) {
  %y = hybrid.reduce sum %a over [0, 1] : tensor<2x128x8xf32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}
