// RUN: hybrid-opt %s | FileCheck %s
// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --mlir-print-op-generic | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --emit-bytecode | hybrid-opt | FileCheck %s

// A step with every optional operand, and its gradient.
// CHECK-LABEL: func.func @recurrence(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<4x4xf32>
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<2x8xi32>
// CHECK-SAME: %[[S:[^:]+]]: tensor<2x4xf32>
// CHECK: %[[Y:.+]], %[[F:.+]] = hybrid.recurrence inputs(%[[X]] : tensor<2x8x4xf32>) invariants(%[[W]] : tensor<4x4xf32>) segments(%[[IDS]] : tensor<2x8xi32>) initial_state(%[[S]] : tensor<2x4xf32>) {return_state} -> tensor<2x8x4xf32>, tensor<2x4xf32> step {
// CHECK-NEXT: ^bb0(%[[H:.+]]: tensor<4xf32>, %[[XT:.+]]: tensor<4xf32>, %[[U:.+]]: tensor<4x4xf32>):
// CHECK-NEXT: hybrid.linear %[[H]], %[[U]] :
// CHECK: hybrid.yield
// CHECK: hybrid.recurrence_grad %[[Y]] inputs(%[[X]] : tensor<2x8x4xf32>) state_cotangent(%[[F]] : tensor<2x4xf32>) sums 1 : tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4xf32> step {
// CHECK: } gradient {
// CHECK-NEXT: ^bb0(%{{.+}}: tensor<4xf32>, %{{.+}}: tensor<4xf32>, %[[DN:.+]]: tensor<4xf32>, %[[DY:.+]]: tensor<4xf32>):
// CHECK-NEXT: hybrid.binary add %[[DN]], %[[DY]]
// CHECK-NEXT: hybrid.yield
func.func @recurrence(%x: tensor<2x8x4xf32>, %w: tensor<4x4xf32>, %ids: tensor<2x8xi32>, %s: tensor<2x4xf32>) {
  %y, %f = hybrid.recurrence inputs(%x : tensor<2x8x4xf32>) invariants(%w : tensor<4x4xf32>) segments(%ids : tensor<2x8xi32>) initial_state(%s : tensor<2x4xf32>) {return_state} -> tensor<2x8x4xf32>, tensor<2x4xf32> step {
  ^bb0(%h: tensor<4xf32>, %xt: tensor<4xf32>, %u: tensor<4x4xf32>):
    %p = hybrid.linear %h, %u : tensor<4xf32>, tensor<4x4xf32> -> tensor<4xf32>
    %n = hybrid.binary add %p, %xt : tensor<4xf32>, tensor<4xf32>
    hybrid.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  }
  %dx, %sum = hybrid.recurrence_grad %y inputs(%x : tensor<2x8x4xf32>) state_cotangent(%f : tensor<2x4xf32>) sums 1 : tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4xf32> step {
  ^bb0(%ha: tensor<4xf32>, %xt: tensor<4xf32>):
    %n = hybrid.binary add %ha, %xt : tensor<4xf32>, tensor<4xf32>
    hybrid.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  } gradient {
  ^bb0(%hb: tensor<4xf32>, %xb: tensor<4xf32>, %dn: tensor<4xf32>, %dy: tensor<4xf32>):
    %d = hybrid.binary add %dn, %dy : tensor<4xf32>, tensor<4xf32>
    hybrid.yield %d, %d, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return
}
