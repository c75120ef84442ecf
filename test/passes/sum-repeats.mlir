// RUN: hybrid-opt %s --hybrid-sum-repeats --split-input-file | FileCheck %s --enable-var-scope

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
