// RUN: hybrid-opt %s | FileCheck %s
// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --mlir-print-op-generic | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --emit-bytecode | hybrid-opt | FileCheck %s

// Three scalars: loss, total weight, weight of correct positions. Options are printed when they differ from the default.
// CHECK-LABEL: func.func @cross_entropy(
// CHECK-SAME: %[[LOGITS:[^:]+]]: tensor<2x8x16xf32>
// CHECK-SAME: %[[TARGETS:[^:]+]]: tensor<2x8xi32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<2x8xf32>
// CHECK-SAME: -> tensor<2x8x16xf32>
// CHECK-NEXT: %[[CROSS_ENTROPY:.+]], %[[CROSS_ENTROPY1:.+]], %[[CROSS_ENTROPY2:.+]] = hybrid.cross_entropy %[[LOGITS]], %[[TARGETS]] : tensor<2x8x16xf32>, tensor<2x8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
// CHECK-NEXT: %[[CROSS_ENTROPY3:.+]], %[[CROSS_ENTROPY4:.+]], %[[CROSS_ENTROPY5:.+]] = hybrid.cross_entropy %[[LOGITS]], %[[TARGETS]] weights(%[[W]] : tensor<2x8xf32>) {ignore_index = 0 : i64, label_smoothing = 1.000000e-01 : f64} : tensor<2x8x16xf32>, tensor<2x8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
// CHECK-NEXT: %[[CROSS_ENTROPY_GRAD:.+]] = hybrid.cross_entropy_grad %[[LOGITS]], %[[TARGETS]], %[[CROSS_ENTROPY4]], %[[CROSS_ENTROPY]] weights(%[[W]] : tensor<2x8xf32>) {ignore_index = 0 : i64, label_smoothing = 1.000000e-01 : f64} : tensor<2x8x16xf32>, tensor<2x8xi32>, tensor<f32>, tensor<f32> -> tensor<2x8x16xf32>
// CHECK-NEXT: return %[[CROSS_ENTROPY_GRAD]] : tensor<2x8x16xf32>
func.func @cross_entropy(%logits: tensor<2x8x16xf32>, %targets: tensor<2x8xi32>, %w: tensor<2x8xf32>) -> tensor<2x8x16xf32> {
  %0:3 = hybrid.cross_entropy %logits, %targets {ignore_index = -100 : i64} : tensor<2x8x16xf32>, tensor<2x8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
  %1:3 = hybrid.cross_entropy %logits, %targets weights(%w : tensor<2x8xf32>) {ignore_index = 0 : i64, label_smoothing = 0.1 : f64} : tensor<2x8x16xf32>, tensor<2x8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
  %2 = hybrid.cross_entropy_grad %logits, %targets, %1#1, %0#0 weights(%w : tensor<2x8xf32>) {ignore_index = 0 : i64, label_smoothing = 0.1 : f64} : tensor<2x8x16xf32>, tensor<2x8xi32>, tensor<f32>, tensor<f32> -> tensor<2x8x16xf32>
  return %2 : tensor<2x8x16xf32>
}

// One optimizer step over parameters by name.
// CHECK-LABEL: func.func @adamw(
// CHECK-SAME: %[[HYPER:[^:]+]]: tensor<8xf64>
// CHECK-SAME: -> tensor<f32>
// CHECK-NEXT: %[[ADAMW:.+]] = hybrid.adamw %[[HYPER]] parameters ["embed", "head.w"] : tensor<8xf64> -> tensor<f32>
// CHECK-NEXT: return %[[ADAMW]] : tensor<f32>
func.func @adamw(%hyper: tensor<8xf64>) -> tensor<f32> {
  %0 = hybrid.adamw %hyper parameters ["embed", "head.w"] : tensor<8xf64> -> tensor<f32>
  return %0 : tensor<f32>
}

// The total weight of the loss, from the targets alone.
// CHECK-LABEL: func.func @target_weight(
// CHECK-SAME: %[[T:[^:]+]]: tensor<2x8xi32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<2x8xf32>
// CHECK-NEXT: hybrid.target_weight %[[T]] {ignore_index = -100 : i64} : tensor<2x8xi32> -> tensor<f32>
// CHECK-NEXT: hybrid.target_weight %[[T]] weights(%[[W]] : tensor<2x8xf32>) {ignore_index = 0 : i64} : tensor<2x8xi32> -> tensor<f32>
func.func @target_weight(%t: tensor<2x8xi32>, %w: tensor<2x8xf32>) -> (tensor<f32>, tensor<f32>) {
  %0 = hybrid.target_weight %t {ignore_index = -100 : i64} : tensor<2x8xi32> -> tensor<f32>
  %1 = hybrid.target_weight %t weights(%w : tensor<2x8xf32>) {ignore_index = 0 : i64} : tensor<2x8xi32> -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @dropout
// CHECK: hybrid.dropout %{{.+}} rate 1.000000e-01 along [0, 2] "blocks.0.dropout" : tensor<2x8x4xf32>
func.func @dropout(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %0 = hybrid.dropout %x rate 0.1 along [0, 2] "blocks.0.dropout" : tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}
