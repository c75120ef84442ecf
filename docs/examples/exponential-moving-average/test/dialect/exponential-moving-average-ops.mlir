// RUN: hybrid-opt %s | FileCheck %s
// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --mlir-print-op-generic | hybrid-opt | FileCheck %s
// Round trip of the exponential moving average and its gradient; every keyword operand appears.

// CHECK-LABEL: func.func @exponential_moving_average(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>, %[[A:[^:]+]]: tensor<4xf32>, %[[IDS:[^:]+]]: tensor<2x8xi32>, %[[S:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT: %[[Y:.+]] = hybrid.exponential_moving_average %[[X]], %[[A]] : tensor<2x8x4xf32>, tensor<4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[Z:.+]], %[[F:.+]] = hybrid.exponential_moving_average %[[Y]], %[[A]] segments(%[[IDS]] : tensor<2x8xi32>) initial_state(%[[S]] : tensor<2x4xf32>) {return_state} : tensor<2x8x4xf32>, tensor<4xf32> -> tensor<2x8x4xf32>, tensor<2x4xf32>
// CHECK-NEXT: %{{.+}}, %{{.+}} = hybrid.exponential_moving_average_grad %[[X]], %[[A]], %[[Y]], %[[Z]] : tensor<2x8x4xf32>, tensor<4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4xf32>
// CHECK-NEXT: %{{.+}}, %{{.+}}, %{{.+}} = hybrid.exponential_moving_average_grad %[[X]], %[[A]], %[[Y]], %[[Z]] segments(%[[IDS]] : tensor<2x8xi32>) initial_state(%[[S]] : tensor<2x4xf32>) state_cotangent(%[[F]] : tensor<2x4xf32>) : tensor<2x8x4xf32>, tensor<4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4xf32>, tensor<2x4xf32>
func.func @exponential_moving_average(%x: tensor<2x8x4xf32>, %a: tensor<4xf32>, %ids: tensor<2x8xi32>, %s: tensor<2x4xf32>) {
  %y = hybrid.exponential_moving_average %x, %a : tensor<2x8x4xf32>, tensor<4xf32> -> tensor<2x8x4xf32>
  %z, %f = hybrid.exponential_moving_average %y, %a segments(%ids : tensor<2x8xi32>) initial_state(%s : tensor<2x4xf32>) {return_state} : tensor<2x8x4xf32>, tensor<4xf32> -> tensor<2x8x4xf32>, tensor<2x4xf32>
  %dx, %da = hybrid.exponential_moving_average_grad %x, %a, %y, %z : tensor<2x8x4xf32>, tensor<4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4xf32>
  %dx1, %da1, %ds = hybrid.exponential_moving_average_grad %x, %a, %y, %z segments(%ids : tensor<2x8xi32>) initial_state(%s : tensor<2x4xf32>) state_cotangent(%f : tensor<2x4xf32>) : tensor<2x8x4xf32>, tensor<4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4xf32>, tensor<2x4xf32>
  return
}
