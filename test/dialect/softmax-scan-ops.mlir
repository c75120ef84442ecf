// RUN: hybrid-opt %s | FileCheck %s
// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --mlir-print-op-generic | hybrid-opt | FileCheck %s
// Round trip of the softmax scan and its gradient; every keyword operand appears.

// Without a bias by lag; packed with all of it; states in and out.
// CHECK-LABEL: func.func @softmax_scan(
// CHECK-SAME: %[[K:[^:]+]]: tensor<2x8x2xf32>
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[U:[^:]+]]: tensor<3x2xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<2xf32>
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<2x8xi32>
// CHECK-SAME: %[[M:[^:]+]]: tensor<2x3x6xf32>
// CHECK-SAME: -> tensor<2x3x6xf32>
// CHECK-NEXT: %[[Y0:.+]], %[[LSE0:.+]] = hybrid.softmax_scan %[[K]], %[[V]] : tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x2xf32>
// CHECK-NEXT: %[[Y1:.+]], %[[LSE1:.+]] = hybrid.softmax_scan %[[K]], %[[V]] taps(%[[U]] : tensor<3x2xf32>) decay(%[[W]] : tensor<2xf32>) segments(%[[IDS]] : tensor<2x8xi32>) : tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x2xf32>
// CHECK-NEXT: %[[Y2:.+]], %[[LSE2:.+]], %[[F:.+]] = hybrid.softmax_scan %[[K]], %[[V]] taps(%[[U]] : tensor<3x2xf32>) initial_state(%[[M]] : tensor<2x3x6xf32>) {return_state} : tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x2xf32>, tensor<2x3x6xf32>
// CHECK-NEXT: return %[[F]] : tensor<2x3x6xf32>
func.func @softmax_scan(%k: tensor<2x8x2xf32>, %v: tensor<2x8x4xf32>, %u: tensor<3x2xf32>, %w: tensor<2xf32>, %ids: tensor<2x8xi32>, %m: tensor<2x3x6xf32>) -> tensor<2x3x6xf32> {
  %0:2 = hybrid.softmax_scan %k, %v : tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x2xf32>
  %1:2 = hybrid.softmax_scan %k, %v taps(%u : tensor<3x2xf32>) decay(%w : tensor<2xf32>) segments(%ids : tensor<2x8xi32>) : tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x2xf32>
  %2:3 = hybrid.softmax_scan %k, %v taps(%u : tensor<3x2xf32>) initial_state(%m : tensor<2x3x6xf32>) {return_state} : tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x2xf32>, tensor<2x3x6xf32>
  return %2#2 : tensor<2x3x6xf32>
}

// One gradient for each operand that is there.
// CHECK-LABEL: func.func @softmax_scan_grad(
// CHECK-SAME: %[[K:[^:]+]]: tensor<2x8x2xf32>
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[U:[^:]+]]: tensor<3x2xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<2xf32>
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<2x8xi32>
// CHECK-SAME: %[[M:[^:]+]]: tensor<2x3x6xf32>
// CHECK-SAME: -> tensor<2x3x6xf32>
// CHECK-NEXT: %[[G:.+]]:5 = hybrid.softmax_scan_grad %[[K]], %[[V]], %[[V]], %[[K]], %[[V]] taps(%[[U]] : tensor<3x2xf32>) decay(%[[W]] : tensor<2xf32>) segments(%[[IDS]] : tensor<2x8xi32>) initial_state(%[[M]] : tensor<2x3x6xf32>) final_state(%[[M]] : tensor<2x3x6xf32>) state_cotangent(%[[M]] : tensor<2x3x6xf32>) : tensor<2x8x2xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x2xf32>, tensor<2x8x4xf32>, tensor<3x2xf32>, tensor<2xf32>, tensor<2x3x6xf32>
// CHECK-NEXT: return %[[G]]#4 : tensor<2x3x6xf32>
func.func @softmax_scan_grad(%k: tensor<2x8x2xf32>, %v: tensor<2x8x4xf32>, %u: tensor<3x2xf32>, %w: tensor<2xf32>, %ids: tensor<2x8xi32>, %m: tensor<2x3x6xf32>) -> tensor<2x3x6xf32> {
  %0:5 = hybrid.softmax_scan_grad %k, %v, %v, %k, %v taps(%u : tensor<3x2xf32>) decay(%w : tensor<2xf32>) segments(%ids : tensor<2x8xi32>) initial_state(%m : tensor<2x3x6xf32>) final_state(%m : tensor<2x3x6xf32>) state_cotangent(%m : tensor<2x3x6xf32>) : tensor<2x8x2xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x2xf32>, tensor<2x8x4xf32> -> tensor<2x8x2xf32>, tensor<2x8x4xf32>, tensor<3x2xf32>, tensor<2xf32>, tensor<2x3x6xf32>
  return %0#4 : tensor<2x3x6xf32>
}
