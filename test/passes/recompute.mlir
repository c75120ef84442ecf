// RUN: hybrid-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(hybrid-recompute{budget=0}))' | FileCheck %s
// RUN: hybrid-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(hybrid-recompute{budget=0}),cse)' | FileCheck %s
// RUN: hybrid-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(hybrid-recompute{budget=1000000}))' | FileCheck %s --check-prefix=ENOUGH
// RUN: hybrid-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(hybrid-recompute))' | FileCheck %s --check-prefix=ENOUGH

// The norm's result is wanted again at the very end: it is given up in between, where the wide products are, and computed again. Elimination of common
// subexpressions leaves the two apart. A budget that is kept anyway changes nothing.
// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x8xf32>
// CHECK: %[[W:.+]] = hybrid.parameter "w"
// CHECK: %[[FIRST:.+]] = hybrid.rmsnorm %[[X]]
// CHECK-NEXT: hybrid.linear %[[FIRST]], %[[W]]
// CHECK-NEXT: %[[DU:.+]] = hybrid.fused
// CHECK: %[[DN:.+]] = hybrid.matmul %[[DU]], %[[W]]
// CHECK: %[[AGAIN:.+]] = hybrid.rmsnorm %[[X]] {hybrid.recomputed = 1 : i64}
// CHECK-NEXT: hybrid.matmul %[[DU]], %[[AGAIN]] {transpose_a}
// CHECK-NEXT: return
// ENOUGH-LABEL: func.func @train(
// ENOUGH: hybrid.rmsnorm
// ENOUGH-NOT: hybrid.recomputed
// ENOUGH: return
func.func @train(%x: tensor<4x8xf32>) -> (tensor<f32> {hybrid.name = "loss"}, tensor<32x8xf32> {hybrid.name = "grad.w"}, tensor<4x8xf32> {hybrid.name = "dx"}) {
  %w = hybrid.parameter "w" : tensor<32x8xf32>
  %n = hybrid.rmsnorm %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %u = hybrid.linear %n, %w : tensor<4x8xf32>, tensor<32x8xf32> -> tensor<4x32xf32>
  %du = hybrid.fused(%u) : (tensor<4x32xf32>) -> tensor<4x32xf32> {
  ^bb0(%a: tensor<4x32xf32>):
    %t = hybrid.unary tanh %a : tensor<4x32xf32>
    hybrid.yield %t : tensor<4x32xf32>
  }
  %loss = hybrid.reduce sum %du over [0, 1] : tensor<4x32xf32> -> tensor<f32>
  %dn = hybrid.matmul %du, %w : tensor<4x32xf32>, tensor<32x8xf32> -> tensor<4x8xf32>
  %dw = hybrid.matmul %du, %n {transpose_a} : tensor<4x32xf32>, tensor<4x8xf32> -> tensor<32x8xf32>
  return %loss, %dw, %dn : tensor<f32>, tensor<32x8xf32>, tensor<4x8xf32>
}

// -----

// What a clone reads was given up too, so it runs again first; both through the view between them. Of a fused region that runs again only the result that is
// read is left.
// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[X:[^:]+]]: tensor<16x8xf32>
// CHECK: %[[A:.+]]:2 = hybrid.fused(%[[X]])
// CHECK: %[[R:.+]] = hybrid.reshape %[[A]]#0
// CHECK: hybrid.rmsnorm %[[R]] : tensor<8x16xf32>
// CHECK: hybrid.reduce
// CHECK: %[[AGAIN:.+]] = hybrid.fused(%[[X]]) {hybrid.recomputed = 1 : i64} : (tensor<16x8xf32>) -> tensor<16x8xf32> {
// CHECK-NEXT: ^bb0(%[[E:.+]]: tensor<16x8xf32>):
// CHECK-NEXT: %[[T:.+]] = hybrid.unary tanh %[[E]]
// CHECK-NEXT: hybrid.yield %[[T]] : tensor<16x8xf32>
// CHECK: %[[RAGAIN:.+]] = hybrid.reshape %[[AGAIN]] to [8, 16] {hybrid.recomputed = 1 : i64}
// CHECK-NEXT: %[[NAGAIN:.+]] = hybrid.rmsnorm %[[RAGAIN]] {hybrid.recomputed = 1 : i64}
// CHECK-NEXT: hybrid.matmul %[[NAGAIN]], %[[NAGAIN]]
// ENOUGH-LABEL: func.func @train(
func.func @train(%x: tensor<16x8xf32>) -> (tensor<f32> {hybrid.name = "loss"}, tensor<16x16xf32> {hybrid.name = "y"}) {
  %a:2 = hybrid.fused(%x) : (tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  ^bb0(%e: tensor<16x8xf32>):
    %t = hybrid.unary tanh %e : tensor<16x8xf32>
    %s = hybrid.unary silu %e : tensor<16x8xf32>
    hybrid.yield %t, %s : tensor<16x8xf32>, tensor<16x8xf32>
  }
  %r = hybrid.reshape %a#0 to [8, 16] : tensor<16x8xf32> -> tensor<8x16xf32>
  %n = hybrid.rmsnorm %r : tensor<8x16xf32> -> tensor<8x16xf32>
  %p = hybrid.matmul %a#1, %n : tensor<16x8xf32>, tensor<8x16xf32> -> tensor<16x16xf32>
  %q = hybrid.matmul %p, %p : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %loss = hybrid.reduce sum %q over [0, 1] : tensor<16x16xf32> -> tensor<f32>
  %y = hybrid.matmul %n, %n {transpose_a} : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<16x16xf32>
  return %loss, %y : tensor<f32>, tensor<16x16xf32>
}

// -----

// Other functions keep nothing for a backward part, and are left alone.
// CHECK-LABEL: func.func @eval(
// CHECK-NOT: hybrid.recomputed
// CHECK: return
// ENOUGH-LABEL: func.func @eval(
func.func @eval(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %n = hybrid.rmsnorm %x : tensor<16x16xf32> -> tensor<16x16xf32>
  %p = hybrid.matmul %n, %x : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %q = hybrid.matmul %p, %p : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %y = hybrid.matmul %q, %n : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}
