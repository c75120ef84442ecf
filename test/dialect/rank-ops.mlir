// RUN: hybrid-opt %s | FileCheck %s
// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --mlir-print-op-generic | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --emit-bytecode | hybrid-opt | FileCheck %s

// A row for each rank, of numbers or of ids.
// CHECK-LABEL: func.func @all_to_all(
// CHECK-NEXT: hybrid.all_to_all %{{.*}} : tensor<4x2x8xf32>
// CHECK-NEXT: hybrid.all_to_all %{{.*}} : tensor<2x8xi32>
func.func @all_to_all(%x: tensor<4x2x8xf32>, %ids: tensor<2x8xi32>) -> (tensor<4x2x8xf32>, tensor<2x8xi32>) {
  %y = hybrid.all_to_all %x : tensor<4x2x8xf32>
  %z = hybrid.all_to_all %ids : tensor<2x8xi32>
  return %y, %z : tensor<4x2x8xf32>, tensor<2x8xi32>
}

// CHECK-LABEL: func.func @place(
// CHECK-NEXT: hybrid.rank_place of 4 : tensor<1xi32>
func.func @place() -> tensor<1xi32> {
  %place = hybrid.rank_place of 4 : tensor<1xi32>
  return %place : tensor<1xi32>
}

// CHECK-LABEL: func.func @states(
// CHECK-NEXT: %[[H:.+]] = hybrid.receive_state from previous of 4 : tensor<2x8x4xf32>
// CHECK-NEXT: hybrid.send_state %[[H]] to next of 4 : tensor<2x8x4xf32>
// CHECK-NEXT: hybrid.receive_state from next of 4 : tensor<f64>
// CHECK-NEXT: hybrid.send_state %{{.*}} to previous of 4 : tensor<f64>
func.func @states() {
  %h = hybrid.receive_state from previous of 4 : tensor<2x8x4xf32>
  hybrid.send_state %h to next of 4 : tensor<2x8x4xf32>
  %d = hybrid.receive_state from next of 4 : tensor<f64>
  hybrid.send_state %d to previous of 4 : tensor<f64>
  return
}
