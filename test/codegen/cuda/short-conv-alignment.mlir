// RUN: hybrid-opt %s --split-input-file --hybrid-schedule-cuda | FileCheck %s

// A thread moves two channels at once, of a bias and of states, too.
// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.launch "shortConvForward<{{.*}}.together = 2
func.func @forward(%x: tensor<2x16x64xf32>, %w: tensor<64x4xf32>, %b: tensor<64xf32>) -> tensor<2x16x64xf32> {
  %y = hybrid.short_conv %x, %w bias(%b : tensor<64xf32>) : tensor<2x16x64xf32>, tensor<64x4xf32> -> tensor<2x16x64xf32>
  return %y : tensor<2x16x64xf32>
}

// -----

// This one begins at an odd element.
// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.launch "shortConvForward<{{.*}}.together = 1
func.func @forward(%x: tensor<2x16x64xf32>, %w: tensor<64x4xf32>, %all: tensor<65xf32>) -> tensor<2x16x64xf32> {
  %b = hybrid.slice %all from [1] size [64] : tensor<65xf32> -> tensor<64xf32>
  %y = hybrid.short_conv %x, %w bias(%b : tensor<64xf32>) : tensor<2x16x64xf32>, tensor<64x4xf32> -> tensor<2x16x64xf32>
  return %y : tensor<2x16x64xf32>
}

// -----

// So do the states of both directions.
// CHECK-LABEL: schedule.program @forward
// CHECK: schedule.launch "shortConvForward<{{.*}}.together = 1
// CHECK: schedule.launch "shortConvBackward<{{.*}}.together = 1
func.func @forward(%x: tensor<2x16x64xf32>, %w: tensor<64x4xf32>, %all: tensor<385xf32>, %dy: tensor<2x16x64xf32>) -> (tensor<2x16x64xf32>, tensor<2x16x64xf32>, tensor<2x3x64xf32>) {
  %part = hybrid.slice %all from [1] size [384] : tensor<385xf32> -> tensor<384xf32>
  %s = hybrid.reshape %part to [2, 3, 64] : tensor<384xf32> -> tensor<2x3x64xf32>
  %y = hybrid.short_conv %x, %w initial_state(%s : tensor<2x3x64xf32>) : tensor<2x16x64xf32>, tensor<64x4xf32> -> tensor<2x16x64xf32>
  %dx, %dw, %db, %ds = hybrid.short_conv_grad %x, %w, %dy initial_state(%s : tensor<2x3x64xf32>) : tensor<2x16x64xf32>, tensor<64x4xf32>, tensor<2x16x64xf32> -> tensor<2x16x64xf32>, tensor<64x4xf32>, tensor<64xf32>, tensor<2x3x64xf32>
  return %y, %dx, %ds : tensor<2x16x64xf32>, tensor<2x16x64xf32>, tensor<2x3x64xf32>
}
