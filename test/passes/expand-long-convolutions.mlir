// RUN: hybrid-opt %s --pass-pipeline='builtin.module(func.func(hybrid-expand-long-convolutions{longest=14}))' | FileCheck %s

// Expanded: 8 positions and 8 taps are 15 together, and 16 points have no large prime factor. Of several sequences, positions come first.
// CHECK-LABEL: func.func @sequences(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>, %[[H:[^:]+]]: tensor<8x4xf32>
// CHECK: %[[PH:.+]] = hybrid.pad %[[H]] at [0, 0] in [16, 4]
// CHECK-NEXT: %[[HR:.+]], %[[HI:.+]] = hybrid.rfft %[[PH]] : tensor<16x4xf32> -> tensor<9x4xf32>, tensor<9x4xf32>
// CHECK-NEXT: %[[HRB:.+]] = hybrid.reshape %[[HR]] to [9, 1, 4]
// CHECK-NEXT: %[[HIB:.+]] = hybrid.reshape %[[HI]] to [9, 1, 4]
// CHECK-NEXT: %[[T:.+]] = hybrid.transpose %[[X]] by [1, 0, 2]
// CHECK-NEXT: %[[W:.+]] = hybrid.reshape %[[T]] to [8, 8]
// CHECK-NEXT: %[[PX:.+]] = hybrid.pad %[[W]] at [0, 0] in [16, 8]
// CHECK-NEXT: %[[XR:.+]], %[[XI:.+]] = hybrid.rfft %[[PX]]
// CHECK: hybrid.irfft {{.*}} to 16 {weighted}
// CHECK-NEXT: hybrid.slice {{.*}} [8, 8]
// CHECK-NEXT: hybrid.reshape {{.*}} to [8, 2, 4]
// CHECK-NEXT: %[[Y:.+]] = hybrid.transpose {{.*}} by [1, 0, 2]
// CHECK-NEXT: return %[[Y]]
func.func @sequences(%x: tensor<2x8x4xf32>, %h: tensor<8x4xf32>) -> tensor<2x8x4xf32> {
  %y = hybrid.fftconv %x, %h : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// One sequence needs no other order; an odd length is no power of two; gates and skip stay.
// CHECK-LABEL: func.func @gated(
// CHECK: hybrid.binary mul %{{.*}}, %{{.*}} : tensor<1x33x4xf32>
// CHECK: hybrid.pad {{.*}} in [70, 4]
// CHECK: hybrid.irfft {{.*}} to 70 {weighted}
// CHECK-NOT: hybrid.transpose
// CHECK: hybrid.binary add
// CHECK-NEXT: hybrid.binary mul
// CHECK-NEXT: return
func.func @gated(%x: tensor<1x33x4xf32>, %h: tensor<33x4xf32>, %d: tensor<4xf32>, %p: tensor<1x33x4xf32>, %q: tensor<1x33x4xf32>) -> tensor<1x33x4xf32> {
  %y = hybrid.fftconv %x, %h skip(%d : tensor<4xf32>) gate_in(%p : tensor<1x33x4xf32>) gate_out(%q : tensor<1x33x4xf32>) : tensor<1x33x4xf32>, tensor<33x4xf32> -> tensor<1x33x4xf32>
  return %y : tensor<1x33x4xf32>
}

// Not expanded: 8 positions and 7 taps, and packed segments of any length.
// CHECK-LABEL: func.func @stay(
// CHECK: hybrid.fftconv
// CHECK: hybrid.fftconv {{.*}} segments
// CHECK-NOT: hybrid.rfft
func.func @stay(%x: tensor<2x8x4xf32>, %h: tensor<7x4xf32>, %z: tensor<2x33x4xf32>, %g: tensor<33x4xf32>, %s: tensor<2x33xi32>) -> (tensor<2x8x4xf32>, tensor<2x33x4xf32>) {
  %y = hybrid.fftconv %x, %h : tensor<2x8x4xf32>, tensor<7x4xf32> -> tensor<2x8x4xf32>
  %w = hybrid.fftconv %z, %g segments(%s : tensor<2x33xi32>) : tensor<2x33x4xf32>, tensor<33x4xf32> -> tensor<2x33x4xf32>
  return %y, %w : tensor<2x8x4xf32>, tensor<2x33x4xf32>
}
