// RUN: hybrid-opt %s --hybrid-share-repeats --split-input-file | FileCheck %s --enable-var-scope

// Three projections are read twice over: what comes back is summed by the gradient of the convolution. Other terms of the sum stay.
// CHECK-LABEL: func.func @repeated
// CHECK-SAME: (%[[P:.+]]: tensor<2x8x4xf32>, %[[W:.+]]: tensor<8x3xf32>, %[[DY:.+]]: tensor<2x8x8xf32>, %[[REST:.+]]: tensor<2x8x4xf32>)
// CHECK-NEXT: %[[DX:.+]], %[[DW:.+]], %[[DB:.+]] = hybrid.short_conv_grad %[[P]], %[[W]], %[[DY]] : tensor<2x8x4xf32>, tensor<8x3xf32>, tensor<2x8x8xf32> -> tensor<2x8x4xf32>, tensor<8x3xf32>, tensor<8xf32>
// CHECK-NEXT: %[[SUM:.+]] = hybrid.binary add %[[DX]], %[[REST]]
// CHECK-NEXT: return %[[SUM]], %[[DW]], %[[DB]]
func.func @repeated(%p: tensor<2x8x4xf32>, %w: tensor<8x3xf32>, %dy: tensor<2x8x8xf32>, %rest: tensor<2x8x4xf32>)
    -> (tensor<2x8x4xf32>, tensor<8x3xf32>, tensor<8xf32>) {
  %c = hybrid.concat %p, %p along 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x8xf32>
  %dx, %dw, %db = hybrid.short_conv_grad %c, %w, %dy : tensor<2x8x8xf32>, tensor<8x3xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<8x3xf32>, tensor<8xf32>
  %d:2 = hybrid.split %dx along 2 sizes [4, 4] : tensor<2x8x8xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>
  %a = hybrid.binary add %d#0, %rest : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  %s = hybrid.binary add %a, %d#1 : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %s, %dw, %db : tensor<2x8x4xf32>, tensor<8x3xf32>, tensor<8xf32>
}

// -----

// A part that something else reads, too, has to be there.
// CHECK-LABEL: func.func @read
// CHECK: hybrid.short_conv_grad %{{.+}} : tensor<2x8x8xf32>, tensor<8x3xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>
func.func @read(%p: tensor<2x8x4xf32>, %w: tensor<8x3xf32>, %dy: tensor<2x8x8xf32>) -> (tensor<2x8x4xf32>, tensor<2x8x4xf32>) {
  %c = hybrid.concat %p, %p along 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x8xf32>
  %dx, %dw, %db = hybrid.short_conv_grad %c, %w, %dy : tensor<2x8x8xf32>, tensor<8x3xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<8x3xf32>, tensor<8xf32>
  %d:2 = hybrid.split %dx along 2 sizes [4, 4] : tensor<2x8x8xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>
  %s = hybrid.binary add %d#0, %d#1 : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %s, %d#1 : tensor<2x8x4xf32>, tensor<2x8x4xf32>
}

// -----

// A state belongs to each channel, so inputs before the first differ.
// CHECK-LABEL: func.func @state
// CHECK: hybrid.short_conv_grad %{{.+}} -> tensor<2x8x8xf32>
func.func @state(%p: tensor<2x8x4xf32>, %w: tensor<8x3xf32>, %dy: tensor<2x8x8xf32>, %state: tensor<2x2x8xf32>) -> tensor<2x8x4xf32> {
  %c = hybrid.concat %p, %p along 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x8xf32>
  %dx, %dw, %db, %ds = hybrid.short_conv_grad %c, %w, %dy initial_state(%state : tensor<2x2x8xf32>) : tensor<2x8x8xf32>, tensor<8x3xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<8x3xf32>, tensor<8xf32>, tensor<2x2x8xf32>
  %d:2 = hybrid.split %dx along 2 sizes [4, 4] : tensor<2x8x8xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>
  %s = hybrid.binary add %d#0, %d#1 : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %s : tensor<2x8x4xf32>
}

// -----

// Short convolutions, with states too, and gradients that are not summed read the channels where they lie. Nothing copies them.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: (%[[P:.+]]: tensor<2x8x4xf32>, %[[W:.+]]: tensor<8x3xf32>
// CHECK-NEXT: %[[R:.+]] = hybrid.repeat_channels %[[P]] times 2 : tensor<2x8x4xf32> -> tensor<2x8x8xf32>
// CHECK-NEXT: hybrid.short_conv %[[R]], %[[W]]
// CHECK-NEXT: hybrid.short_conv_grad %[[R]], %[[W]]
func.func @forward(%p: tensor<2x8x4xf32>, %w: tensor<8x3xf32>, %dy: tensor<2x8x8xf32>, %state: tensor<2x2x8xf32>) -> (tensor<2x8x8xf32>, tensor<2x8x8xf32>) {
  %c = hybrid.concat %p, %p along 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x8xf32>
  %y = hybrid.short_conv %c, %w initial_state(%state : tensor<2x2x8xf32>) : tensor<2x8x8xf32>, tensor<8x3xf32> -> tensor<2x8x8xf32>
  %dx, %dw, %db = hybrid.short_conv_grad %c, %w, %dy : tensor<2x8x8xf32>, tensor<8x3xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>, tensor<8x3xf32>, tensor<8xf32>
  return %y, %dx : tensor<2x8x8xf32>, tensor<2x8x8xf32>
}

// -----

// All of them have to be there where something else reads them, even as another operand of a short convolution; what repeats along positions are no channels;
// and of different values there are no repeats.
// CHECK-LABEL: func.func @others
// CHECK-NOT: hybrid.repeat_channels
func.func @others(%p: tensor<2x8x4xf32>, %q: tensor<2x8x4xf32>, %w: tensor<8x3xf32>, %v: tensor<4x3xf32>, %bias: tensor<4xf32>)
    -> (tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x16x4xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>) {
  %returned = hybrid.concat %p, %p along 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x8xf32>
  %a = hybrid.short_conv %returned, %w : tensor<2x8x8xf32>, tensor<8x3xf32> -> tensor<2x8x8xf32>
  %longer = hybrid.concat %p, %p along 1 : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x16x4xf32>
  %b = hybrid.short_conv %longer, %v : tensor<2x16x4xf32>, tensor<4x3xf32> -> tensor<2x16x4xf32>
  %different = hybrid.concat %p, %q along 2 : tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x8xf32>
  %c = hybrid.short_conv %different, %w : tensor<2x8x8xf32>, tensor<8x3xf32> -> tensor<2x8x8xf32>
  %biases = hybrid.concat %bias, %bias along 0 : tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>
  %d = hybrid.short_conv %different, %w bias(%biases : tensor<8xf32>) : tensor<2x8x8xf32>, tensor<8x3xf32> -> tensor<2x8x8xf32>
  return %a, %returned, %b, %c, %d : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x16x4xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>
}
