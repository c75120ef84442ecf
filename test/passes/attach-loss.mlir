// RUN: hybrid-opt %s --split-input-file --hybrid-attach-loss | FileCheck %s

// A model with logits gets @eval: the same computation, targets as its last input, the loss first among its results. @forward stays.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32> {hybrid.name = "x"}
// CHECK-SAME: -> (tensor<2x8x4xf32> {hybrid.name = "hidden"}, tensor<2x8x16xf32> {hybrid.name = "logits"})
// CHECK-NEXT: %[[PARAMETER:.+]] = hybrid.parameter "w" : tensor<16x4xf32>
// CHECK-NEXT: %[[LINEAR:.+]] = hybrid.linear %[[X]], %[[PARAMETER]] : tensor<2x8x4xf32>, tensor<16x4xf32> -> tensor<2x8x16xf32>
// CHECK-NEXT: return %[[X]], %[[LINEAR]] : tensor<2x8x4xf32>, tensor<2x8x16xf32>
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32> {hybrid.name = "x"}
// CHECK-SAME: %[[TARGETS:[^:]+]]: tensor<2x8xi32> {hybrid.name = "targets"}
// CHECK-SAME: -> (tensor<f32> {hybrid.name = "loss"}, tensor<f32> {hybrid.name = "weight"}, tensor<f32> {hybrid.name = "correct"}, tensor<2x8x16xf32> {hybrid.name = "logits"})
// CHECK-NEXT: %[[PARAMETER:.+]] = hybrid.parameter "w" : tensor<16x4xf32>
// CHECK-NEXT: %[[LINEAR:.+]] = hybrid.linear %[[X]], %[[PARAMETER]] : tensor<2x8x4xf32>, tensor<16x4xf32> -> tensor<2x8x16xf32>
// CHECK-NEXT: %[[CROSS_ENTROPY:.+]], %[[CROSS_ENTROPY1:.+]], %[[CROSS_ENTROPY2:.+]] = hybrid.cross_entropy %[[LINEAR]], %[[TARGETS]] : tensor<2x8x16xf32>, tensor<2x8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
// CHECK-NEXT: return %[[CROSS_ENTROPY]], %[[CROSS_ENTROPY1]], %[[CROSS_ENTROPY2]], %[[LINEAR]] : tensor<f32>, tensor<f32>, tensor<f32>, tensor<2x8x16xf32>
func.func @forward(%x: tensor<2x8x4xf32> {hybrid.name = "x"}) -> (tensor<2x8x4xf32> {hybrid.name = "hidden"}, tensor<2x8x16xf32> {hybrid.name = "logits"}) {
  %w = hybrid.parameter "w" : tensor<16x4xf32>
  %logits = hybrid.linear %x, %w : tensor<2x8x4xf32>, tensor<16x4xf32> -> tensor<2x8x16xf32>
  return %x, %logits : tensor<2x8x4xf32>, tensor<2x8x16xf32>
}

// -----

// One target a sequence, for a classifier.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x16xf32> {hybrid.name = "x"}
// CHECK-SAME: -> (tensor<2x16xf32> {hybrid.name = "logits"})
// CHECK-NEXT: return %[[X]] : tensor<2x16xf32>
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x16xf32> {hybrid.name = "x"}
// CHECK-SAME: %[[TARGETS:[^:]+]]: tensor<2xi32> {hybrid.name = "targets"}
// CHECK-SAME: -> (tensor<f32> {hybrid.name = "loss"}, tensor<f32> {hybrid.name = "weight"}, tensor<f32> {hybrid.name = "correct"}, tensor<2x16xf32> {hybrid.name = "logits"})
// CHECK-NEXT: %[[CROSS_ENTROPY:.+]], %[[CROSS_ENTROPY1:.+]], %[[CROSS_ENTROPY2:.+]] = hybrid.cross_entropy %[[X]], %[[TARGETS]] : tensor<2x16xf32>, tensor<2xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
// CHECK-NEXT: return %[[CROSS_ENTROPY]], %[[CROSS_ENTROPY1]], %[[CROSS_ENTROPY2]], %[[X]] : tensor<f32>, tensor<f32>, tensor<f32>, tensor<2x16xf32>
func.func @forward(%x: tensor<2x16xf32> {hybrid.name = "x"}) -> (tensor<2x16xf32> {hybrid.name = "logits"}) {
  return %x : tensor<2x16xf32>
}

// -----

// No logits, no loss.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x16xf32> {hybrid.name = "x"}
// CHECK-SAME: -> (tensor<2x16xf32> {hybrid.name = "y"})
// CHECK-NEXT: return %[[X]] : tensor<2x16xf32>
func.func @forward(%x: tensor<2x16xf32> {hybrid.name = "x"}) -> (tensor<2x16xf32> {hybrid.name = "y"}) {
  return %x : tensor<2x16xf32>
}

// -----

// Logits without a dimension to choose from have no loss, either.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<16xf32> {hybrid.name = "x"}
// CHECK-SAME: -> (tensor<16xf32> {hybrid.name = "logits"})
// CHECK-NEXT: return %[[X]] : tensor<16xf32>
func.func @forward(%x: tensor<16xf32> {hybrid.name = "x"}) -> (tensor<16xf32> {hybrid.name = "logits"}) {
  return %x : tensor<16xf32>
}

// -----

// A prediction is compared with numbers, by the weights of the positions.
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x1xf32> {hybrid.name = "x"}
// CHECK-SAME: %[[TARGETS:[^:]+]]: tensor<2x8x2xf32> {hybrid.name = "targets"}
// CHECK-SAME: -> (tensor<f32> {hybrid.name = "loss"}, tensor<f32> {hybrid.name = "weight"}, tensor<f32> {hybrid.name = "correct"}, tensor<2x8x1xf32> {hybrid.name = "prediction"})
// CHECK-DAG: %[[WANTED:.+]] = hybrid.slice %[[TARGETS]]
// CHECK-DAG: %[[WEIGHTS:.+]] = hybrid.slice %[[TARGETS]]
// CHECK: hybrid.binary sub %[[X]], %[[WANTED]]
// CHECK: hybrid.unary square
// CHECK: %[[WEIGHT:.+]] = hybrid.reduce sum %[[WEIGHTS]]
// CHECK: %[[LOSS:.+]] = hybrid.binary div
// CHECK: return %[[LOSS]], %[[WEIGHT]], %{{.*}}, %[[X]]
func.func @forward(%x: tensor<2x8x1xf32> {hybrid.name = "x"}) -> (tensor<2x8x1xf32> {hybrid.name = "prediction"}) {
  return %x : tensor<2x8x1xf32>
}
