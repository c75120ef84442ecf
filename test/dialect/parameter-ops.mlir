// RUN: hybrid-opt %s | FileCheck %s
// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --mlir-print-op-generic | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --emit-bytecode | hybrid-opt | FileCheck %s

// A parameter starts from a value; options that equal their default are not printed.
// CHECK-LABEL: func.func @parameter(
// CHECK-SAME: -> (tensor<8x4xf32>, tensor<8x4xf32>)
// CHECK-NEXT: %[[RANDOM:.+]] = hybrid.random uniform(-1.000000e-01, 1.000000e-01) "w" : tensor<8x4xf32>
// CHECK-NEXT: %[[PARAMETER:.+]] = hybrid.parameter "w" initial(%[[RANDOM]] : tensor<8x4xf32>) : tensor<8x4xf32>
// CHECK-NEXT: %[[PARAMETER1:.+]] = hybrid.parameter "frozen" {decay = false, lr_scale = 5.000000e-01 : f64, trainable = false} : tensor<8x4xf32>
// CHECK-NEXT: return %[[PARAMETER]], %[[PARAMETER1]] : tensor<8x4xf32>, tensor<8x4xf32>
func.func @parameter() -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = hybrid.random uniform(-0.1, 0.1) "w" : tensor<8x4xf32>
  %1 = hybrid.parameter "w" initial(%0 : tensor<8x4xf32>) {decay = true, trainable = true} : tensor<8x4xf32>
  %2 = hybrid.parameter "frozen" {trainable = false, decay = false, lr_scale = 0.5 : f64} : tensor<8x4xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>
}

// Initial values are drawn and stored in a function of their own.
// CHECK-LABEL: func.func @init(
// CHECK-NEXT: %[[RANDOM:.+]] = hybrid.random normal(0.000000e+00, 2.000000e-02) "embed" : tensor<16x4xf64>
// CHECK-NEXT: hybrid.assign "embed", %[[RANDOM]] : tensor<16x4xf64>
// CHECK-NEXT: return
func.func @init() {
  %0 = hybrid.random normal(0.0, 0.02) "embed" : tensor<16x4xf64>
  hybrid.assign "embed", %0 : tensor<16x4xf64>
  return
}

// A scalar, a filled tensor, and equally spaced values over a known or a free length.
// CHECK-LABEL: func.func @values(
// CHECK-SAME: -> (tensor<f32>, tensor<3xf64>, tensor<128xf32>, tensor<?xf32>)
// CHECK-NEXT: %[[CONSTANT:.+]] = hybrid.constant 5.000000e-01 : tensor<f32>
// CHECK-NEXT: %[[CONSTANT1:.+]] = hybrid.constant 1.000000e+00 : tensor<3xf64>
// CHECK-NEXT: %[[IOTA:.+]] = hybrid.iota [128] from 0.000000e+00 step 5.000000e-01 of f32 : tensor<128xf32>
// CHECK-NEXT: %[[IOTA1:.+]] = hybrid.iota ["L"] from 1.000000e+00 step -1.000000e+00 of f32 : tensor<?xf32>
// CHECK-NEXT: return %[[CONSTANT]], %[[CONSTANT1]], %[[IOTA]], %[[IOTA1]] : tensor<f32>, tensor<3xf64>, tensor<128xf32>, tensor<?xf32>
func.func @values() -> (tensor<f32>, tensor<3xf64>, tensor<128xf32>, tensor<?xf32>) {
  %0 = hybrid.constant 0.5 : tensor<f32>
  %1 = hybrid.constant 1.0 : tensor<3xf64>
  %2 = hybrid.iota [128] from 0.0 step 0.5 of f32 : tensor<128xf32>
  %3 = hybrid.iota ["L"] from 1.0 step -1.0 of f32 : tensor<?xf32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<3xf64>, tensor<128xf32>, tensor<?xf32>
}

// Rows of a table, and the gradient of the table.
// CHECK-LABEL: func.func @embedding(
// CHECK-SAME: %[[TABLE:[^:]+]]: tensor<16x4xf32>
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<2x8xi32>
// CHECK-SAME: %[[DY:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: -> (tensor<2x8x4xf32>, tensor<16x4xf32>)
// CHECK-NEXT: %[[EMBEDDING:.+]] = hybrid.embedding %[[TABLE]], %[[IDS]] : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[EMBEDDING_GRAD:.+]] = hybrid.embedding_grad %[[IDS]], %[[DY]] classes 16 : tensor<2x8xi32>, tensor<2x8x4xf32> -> tensor<16x4xf32>
// CHECK-NEXT: return %[[EMBEDDING]], %[[EMBEDDING_GRAD]] : tensor<2x8x4xf32>, tensor<16x4xf32>
func.func @embedding(%table: tensor<16x4xf32>, %ids: tensor<2x8xi32>, %dy: tensor<2x8x4xf32>) -> (tensor<2x8x4xf32>, tensor<16x4xf32>) {
  %0 = hybrid.embedding %table, %ids : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  %1 = hybrid.embedding_grad %ids, %dy classes 16 : tensor<2x8xi32>, tensor<2x8x4xf32> -> tensor<16x4xf32>
  return %0, %1 : tensor<2x8x4xf32>, tensor<16x4xf32>
}
