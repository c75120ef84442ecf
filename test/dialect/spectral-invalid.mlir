// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// rfft C1: columns.
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+2 {{x is [4], expected [points, channels]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0, %1 = hybrid.rfft %x : tensor<4xf32> -> tensor<3xf32>, tensor<3xf32>
  return
}

// -----

// irfft C1: bins.
func.func @f(%x: tensor<4x2xf32>) {
  // expected-error@+2 {{re is [4, 2] and im [4, 2], but length 8 has 5 bins}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.irfft %x, %x to 8 : tensor<4x2xf32>, tensor<4x2xf32> -> tensor<8x2xf32>
  return
}

// -----

// irfft C2: a length.
func.func @f(%x: tensor<1x2xf32>) {
  // expected-error@+2 {{length = 0, expected 1 to 2^31 - 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.irfft %x, %x to 0 : tensor<1x2xf32>, tensor<1x2xf32> -> tensor<0x2xf32>
  return
}

// -----

// modal_filter C1: rank.
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+2 {{the operands are [4], expected [states, channels]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.modal_filter %x, %x, %x, %x to [8] : tensor<4xf32> -> tensor<8x4xf32>
  return
}

// -----

// modal_filter C2: a length.
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+2 {{length has 2 entries, expected one}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.modal_filter %x, %x, %x, %x to [8, 2] : tensor<2x4xf32> -> tensor<8x4xf32>
  return
}

// -----

// modal_filter_grad C1: rank.
func.func @f(%x: tensor<4xf32>, %dh: tensor<8x4xf32>) {
  // expected-error@+1 {{the operands are [4], expected [states, channels]}}
  %0:4 = hybrid.modal_filter_grad %x, %x, %x, %x, %dh : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>
  return
}

// -----

// modal_filter_grad C2: the cotangent.
func.func @f(%x: tensor<2x4xf32>, %dh: tensor<8x5xf32>) {
  // expected-error@+1 {{the cotangent is [8, 5], expected [length, 4]}}
  %0:4 = hybrid.modal_filter_grad %x, %x, %x, %x, %dh : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<8x5xf32>
  return
}

// -----

// modal_filter C2: a length.
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+2 {{length = 0, expected at least 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.modal_filter %x, %x, %x, %x to [0] : tensor<2x4xf32> -> tensor<0x4xf32>
  return
}
