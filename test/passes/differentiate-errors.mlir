// RUN: hybrid-opt %s --split-input-file --verify-diagnostics --hybrid-differentiate

// Fusion comes after differentiation: a region has no gradient of its own.
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'hybrid.fused' op has no gradient}}
  %0 = hybrid.fused(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %b = hybrid.unary exp %a : tensor<4xf32>
    hybrid.yield %b : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// A convolution with a state is rewritten by canonicalisation first.
func.func @forward(%x: tensor<2x8x4xf32>, %h: tensor<8x4xf32>, %s: tensor<2x3x4xf32>) -> tensor<2x8x4xf32> {
  // expected-error@+1 {{with a state must be canonicalised before it is differentiated}}
  %0 = hybrid.fftconv %x, %h initial_state(%s : tensor<2x3x4xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}

// -----

// So is attention with a past.
func.func @forward(%q: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  // expected-error@+1 {{with past keys must be canonicalised before it is differentiated}}
  %0:2 = hybrid.attention %q, %q, %q heads 2 kv_heads 2 past(%q, %q : tensor<2x8x4xf32>, tensor<2x8x4xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x2x8xf32>
  return %0#0 : tensor<2x8x4xf32>
}

// -----

// The counts beside a loss have none.
func.func @forward(%x: tensor<8x4xf32>, %t: tensor<8xi32>) -> tensor<f32> {
  // expected-error@+1 {{is differentiable in its loss only}}
  %0:3 = hybrid.cross_entropy %x, %t : tensor<8x4xf32>, tensor<8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
  return %0#2 : tensor<f32>
}

// -----

// A program to train needs a loss.
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// expected-error@+1 {{@eval returns 'tensor<4xf32>', expected a scalar loss, its weight, and correct}}
func.func @eval(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// A declaration has nothing to differentiate.
// expected-error@+1 {{@forward has 0 blocks, expected a body of one}}
func.func private @forward(tensor<4xf32>) -> tensor<4xf32>
