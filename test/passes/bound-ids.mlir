// RUN: hybrid-opt %s --split-input-file --hybrid-bound-ids | FileCheck %s

// Token ids are rows of a table, targets classes; of two that look up by the same ids, the narrower counts. Numbers are no ids.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: tensor<2x8xi32> {hybrid.ids = #hybrid.ids<below 16>, hybrid.name = "tokens"}
// CHECK-SAME: tensor<2x8xi32> {hybrid.ids = #hybrid.ids<below 12 or -100>, hybrid.name = "targets"}
// CHECK-SAME: tensor<2x8x3xi32> {hybrid.ids = #hybrid.ids<below 12>, hybrid.name = "places"}
// CHECK-SAME: tensor<2x8x12xf32> {hybrid.name = "x"}
func.func @forward(%tokens: tensor<2x8xi32> {hybrid.name = "tokens"}, %targets: tensor<2x8xi32> {hybrid.name = "targets"},
                   %places: tensor<2x8x3xi32> {hybrid.name = "places"}, %x: tensor<2x8x12xf32> {hybrid.name = "x"})
    -> (tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<f32>, tensor<2x8x3xf32>) {
  %small = hybrid.parameter "small" : tensor<16x4xf32>
  %large = hybrid.parameter "large" : tensor<20x4xf32>
  %a = hybrid.embedding %large, %tokens : tensor<20x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  %b = hybrid.embedding %small, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  %loss, %weight, %correct = hybrid.cross_entropy %x, %targets : tensor<2x8x12xf32>, tensor<2x8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
  %t = hybrid.take %x at %places : tensor<2x8x12xf32>, tensor<2x8x3xi32> -> tensor<2x8x3xf32>
  return %a, %b, %loss, %t : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<f32>, tensor<2x8x3xf32>
}

// -----

// What is not scored as a target is still no row of a table.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: tensor<2x8xi32> {hybrid.ids = #hybrid.ids<below 16>}
func.func @forward(%tokens: tensor<2x8xi32>, %x: tensor<2x8x20xf32>) -> (tensor<2x8x4xf32>, tensor<f32>) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %a = hybrid.embedding %table, %tokens : tensor<16x4xf32>, tensor<2x8xi32> -> tensor<2x8x4xf32>
  %loss, %weight, %correct = hybrid.cross_entropy %x, %tokens : tensor<2x8x20xf32>, tensor<2x8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
  return %a, %loss : tensor<2x8x4xf32>, tensor<f32>
}

// -----

// All elements in another order are the same ids. Parts may be something else each, so nothing is said of the whole.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: tensor<2x8xi32> {hybrid.ids = #hybrid.ids<below 16>, hybrid.name = "all"}
// CHECK-SAME: tensor<2x8xi32> {hybrid.name = "parts"}
func.func @forward(%all: tensor<2x8xi32> {hybrid.name = "all"}, %parts: tensor<2x8xi32> {hybrid.name = "parts"})
    -> (tensor<16x4xf32>, tensor<2x4x4xf32>) {
  %table = hybrid.parameter "table" : tensor<16x4xf32>
  %t = hybrid.transpose %all by [1, 0] : tensor<2x8xi32> -> tensor<8x2xi32>
  %flat = hybrid.reshape %t to [16] : tensor<8x2xi32> -> tensor<16xi32>
  %a = hybrid.embedding %table, %flat : tensor<16x4xf32>, tensor<16xi32> -> tensor<16x4xf32>
  %part = hybrid.slice %parts from [0, 4] size [2, 4] : tensor<2x8xi32> -> tensor<2x4xi32>
  %b = hybrid.embedding %table, %part : tensor<16x4xf32>, tensor<2x4xi32> -> tensor<2x4x4xf32>
  return %a, %b : tensor<16x4xf32>, tensor<2x4x4xf32>
}
