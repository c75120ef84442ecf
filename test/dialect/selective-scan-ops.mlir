// RUN: hybrid-opt %s | FileCheck %s
// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --mlir-print-op-generic | hybrid-opt | FileCheck %s
// Round trip of the selective scan and its gradient; every keyword operand appears.

// Plain; grouped and packed; constant maps with states in and out.
// CHECK-LABEL: func.func @selective_scan(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x3xf32>
// CHECK-SAME: %[[B:[^:]+]]: tensor<2x8x3xf32>
// CHECK-SAME: %[[C:[^:]+]]: tensor<2x8x6xf32>
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<2x8xi32>
// CHECK-SAME: %[[STATE:[^:]+]]: tensor<2x4x3xf32>
// CHECK-SAME: -> tensor<2x4x3xf32>
// CHECK-NEXT: %[[Y0:.+]] = hybrid.selective_scan %[[X]], %[[X]], %[[A]], %[[B]], %[[B]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[Y1:.+]] = hybrid.selective_scan %[[Y0]], %[[X]], %[[A]], %[[C]], %[[C]] segments(%[[IDS]] : tensor<2x8xi32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[Y2:.+]], %[[H:.+]] = hybrid.selective_scan %[[Y1]], %[[X]], %[[A]], %[[A]], %[[A]] initial_state(%[[STATE]] : tensor<2x4x3xf32>) {return_state} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>, tensor<2x4x3xf32>
// CHECK-NEXT: return %[[H]] : tensor<2x4x3xf32>
func.func @selective_scan(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>, %c: tensor<2x8x6xf32>, %ids: tensor<2x8xi32>, %state: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  %0 = hybrid.selective_scan %x, %x, %a, %b, %b : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32>
  %1 = hybrid.selective_scan %0, %x, %a, %c, %c segments(%ids : tensor<2x8xi32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x6xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>
  %2, %h = hybrid.selective_scan %1, %x, %a, %a, %a initial_state(%state : tensor<2x4x3xf32>) {return_state} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>, tensor<2x4x3xf32>
  return %h : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @selective_scan_grad(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x3xf32>
// CHECK-SAME: %[[B:[^:]+]]: tensor<2x8x3xf32>
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<2x8xi32>
// CHECK-SAME: %[[STATE:[^:]+]]: tensor<2x4x3xf32>
// CHECK-SAME: -> tensor<2x4x3xf32>
// CHECK-NEXT: %[[DX:.+]], %[[DDT:.+]], %[[DA:.+]], %[[DB:.+]], %[[DC:.+]], %[[DH:.+]] = hybrid.selective_scan_grad %[[X]], %[[X]], %[[A]], %[[B]], %[[A]], %[[X]] segments(%[[IDS]] : tensor<2x8xi32>) initial_state(%[[STATE]] : tensor<2x4x3xf32>) state_cotangent(%[[STATE]] : tensor<2x4x3xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<4x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<4x3xf32>, tensor<2x4x3xf32>
// CHECK-NEXT: return %[[DH]] : tensor<2x4x3xf32>
func.func @selective_scan_grad(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>, %ids: tensor<2x8xi32>, %state: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  %0:6 = hybrid.selective_scan_grad %x, %x, %a, %b, %a, %x segments(%ids : tensor<2x8xi32>) initial_state(%state : tensor<2x4x3xf32>) state_cotangent(%state : tensor<2x4x3xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<4x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<4x3xf32>, tensor<2x4x3xf32>
  return %0#5 : tensor<2x4x3xf32>
}

// What stands around the scan, and its gradients.
// CHECK-LABEL: func.func @fused(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x3xf32>
// CHECK-SAME: %[[B:[^:]+]]: tensor<2x8x3xf32>
// CHECK-SAME: %[[D:[^:]+]]: tensor<4xf32>
// CHECK-SAME: -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[Y:.+]] = hybrid.selective_scan %[[X]], %[[X]], %[[A]], %[[B]], %[[B]] dt_bias(%[[D]] : tensor<4xf32>) skip(%[[D]] : tensor<4xf32>) gate(%[[X]] : tensor<2x8x4xf32>) {dt_softplus} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[DX:.+]], %[[DDT:.+]], %[[DA:.+]], %[[DB:.+]], %[[DC:.+]], %[[MORE:.+]]:3 = hybrid.selective_scan_grad %[[X]], %[[X]], %[[A]], %[[B]], %[[B]], %[[Y]] dt_bias(%[[D]] : tensor<4xf32>) skip(%[[D]] : tensor<4xf32>) gate(%[[X]] : tensor<2x8x4xf32>) {dt_softplus} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x8x4xf32>
// CHECK-NEXT: return %[[MORE]]#2 : tensor<2x8x4xf32>
func.func @fused(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>, %d: tensor<4xf32>) -> tensor<2x8x4xf32> {
  %y = hybrid.selective_scan %x, %x, %a, %b, %b dt_bias(%d : tensor<4xf32>) skip(%d : tensor<4xf32>) gate(%x : tensor<2x8x4xf32>) {dt_softplus} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32>
  %0:8 = hybrid.selective_scan_grad %x, %x, %a, %b, %b, %y dt_bias(%d : tensor<4xf32>) skip(%d : tensor<4xf32>) gate(%x : tensor<2x8x4xf32>) {dt_softplus} : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x8x4xf32>
  return %0#7 : tensor<2x8x4xf32>
}
