// RUN: hybrid-opt %s --hybrid-differentiate | FileCheck %s --check-prefix=TRAIN
// RUN: hybrid-opt %s --pass-pipeline='builtin.module(func.func(hybrid-leave-out-dropout))' | FileCheck %s --check-prefix=OTHERS
// Only @train draws, from an input that is another at each step: one number for each index of the dimensions that are named.

// TRAIN-LABEL: func.func @train(
// TRAIN-SAME: %[[SEED:[^:]+]]: tensor<2xi32> {hybrid.name = "seed"}
// TRAIN: %[[DRAWN:.+]] = hybrid.random uniform(0.000000e+00, 1.000000e+00) "dropout" : tensor<2x1x4xf32>
// TRAIN: %[[OUT:.+]] = hybrid.binary less %[[DRAWN]], %{{.+}} : tensor<2x1x4xf32>, tensor<f32>
// TRAIN: %[[IN:.+]] = hybrid.binary sub %{{.+}}, %[[OUT]]
// TRAIN: %[[FACTOR:.+]] = hybrid.binary mul %[[IN]], %{{.+}}
// TRAIN: hybrid.binary mul %{{.+}}, %[[FACTOR]] : tensor<2x3x4xf32>, tensor<2x1x4xf32>
// TRAIN-NOT: hybrid.dropout
// OTHERS-NOT: hybrid.dropout
func.func @forward(%x: tensor<2x3x4xf32> {hybrid.name = "x"}) -> (tensor<2x3x4xf32> {hybrid.name = "logits"}) {
  %w = hybrid.parameter "w" : tensor<4xf32>
  %y = hybrid.binary mul %x, %w : tensor<2x3x4xf32>, tensor<4xf32>
  %z = hybrid.dropout %y rate 0.25 along [0, 2] "dropout" : tensor<2x3x4xf32>
  return %z : tensor<2x3x4xf32>
}
func.func @eval(%x: tensor<2x3x4xf32> {hybrid.name = "x"}) -> (tensor<f32> {hybrid.name = "loss"}, tensor<f32> {hybrid.name = "weight"}, tensor<f32> {hybrid.name = "correct"}) {
  %w = hybrid.parameter "w" : tensor<4xf32>
  %y = hybrid.binary mul %x, %w : tensor<2x3x4xf32>, tensor<4xf32>
  %z = hybrid.dropout %y rate 0.25 along [0, 2] "dropout" : tensor<2x3x4xf32>
  %loss = hybrid.reduce sum %z over [0, 1, 2] : tensor<2x3x4xf32> -> tensor<f32>
  return %loss, %loss, %loss : tensor<f32>, tensor<f32>, tensor<f32>
}
