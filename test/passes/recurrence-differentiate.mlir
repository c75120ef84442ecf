// RUN: hybrid-opt %s --hybrid-differentiate | FileCheck %s

// The gradient is a step that runs backwards. What it adds up for a weight is a product of two rows of each position: they leave the
// loop, and one product over all positions takes the place of the sum. What a bias gets is summed inside.
// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<4x4xf32>
// CHECK-SAME: %[[B:[^:]+]]: tensor<4xf32>
// CHECK-SAME: %[[DY:[^:]+]]: tensor<2x8x4xf32>
// CHECK: hybrid.recurrence inputs(%[[X]]
// CHECK: %[[G:.+]]:3 = hybrid.recurrence_grad %[[DY]] inputs(%[[X]] : tensor<2x8x4xf32>) invariants(%[[W]], %[[B]] : tensor<4x4xf32>, tensor<4xf32>) sums 1 : tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4xf32> step {
// CHECK: } gradient {
// CHECK-NEXT: ^bb0(%[[H:.+]]: tensor<4xf32>, %{{.+}}: tensor<4xf32>, %[[U:.+]]: tensor<4x4xf32>, %{{.+}}: tensor<4xf32>, %[[DN:.+]]: tensor<4xf32>, %[[DYT:.+]]: tensor<4xf32>):
// CHECK: %[[D:.+]] = hybrid.binary add %[[DN]], %[[DYT]]
// CHECK: %[[DS:.+]] = hybrid.binary mul %[[D]], %{{.+}}
// CHECK-NEXT: %[[DH:.+]] = hybrid.matmul %[[DS]], %[[U]]
// CHECK-NOT: transpose_a
// CHECK: hybrid.yield %[[DH]], %[[DS]], %[[H]], %[[DS]]
// CHECK: hybrid.matmul %[[G]]#0, %[[G]]#1 {transpose_a} : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<4x4xf32>
func.func @forward(%x: tensor<2x8x4xf32> {hybrid.name = "x"}, %w: tensor<4x4xf32> {hybrid.name = "w"}, %b: tensor<4xf32> {hybrid.name = "b"}) -> (tensor<2x8x4xf32> {hybrid.name = "y"}) {
  %y = hybrid.recurrence inputs(%x : tensor<2x8x4xf32>) invariants(%w, %b : tensor<4x4xf32>, tensor<4xf32>) -> tensor<2x8x4xf32> step {
  ^bb0(%h: tensor<4xf32>, %xt: tensor<4xf32>, %u: tensor<4x4xf32>, %c: tensor<4xf32>):
    %p = hybrid.linear %h, %u : tensor<4xf32>, tensor<4x4xf32> -> tensor<4xf32>
    %s = hybrid.binary add %p, %xt : tensor<4xf32>, tensor<4xf32>
    %t = hybrid.binary add %s, %c : tensor<4xf32>, tensor<4xf32>
    %n = hybrid.unary tanh %t : tensor<4xf32>
    hybrid.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  }
  return %y : tensor<2x8x4xf32>
}
