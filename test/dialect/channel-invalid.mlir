// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// linear C1: the weight takes as many channels as x has.
func.func @linear_channels(%x: tensor<2x8x4xf32>, %w: tensor<16x5xf32>) {
  // expected-error@+2 {{linear: weight takes 5 channels, but x is [2, 8, 4]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.linear %x, %w : tensor<2x8x4xf32>, tensor<16x5xf32> -> tensor<2x8x16xf32>
  return
}

// -----

// linear C1, with a weight that is no matrix and a scalar x.
func.func @linear_ranks(%x: tensor<f32>, %w: tensor<16xf32>) {
  // expected-error@+2 {{linear: x must be [..., in] and weight [out, in], but they are [] and [16]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.linear %x, %w : tensor<f32>, tensor<16xf32> -> tensor<16xf32>
  return
}

// -----

// linear C2: one bias for each output.
func.func @linear_bias(%x: tensor<2x8x4xf32>, %w: tensor<16x4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{bias is [4], but there are 16 outputs}}
  %0 = hybrid.linear %x, %w bias(%b : tensor<4xf32>) : tensor<2x8x4xf32>, tensor<16x4xf32> -> tensor<2x8x16xf32>
  return
}

// -----

// All floating point tensors of an op have one element type.
func.func @linear_precision(%x: tensor<8x4xf32>, %w: tensor<16x4xf64>) {
  // expected-error@+1 {{operand 1 is 'tensor<16x4xf64>', but the first tensor has elements of 'f32'}}
  %0 = hybrid.linear %x, %w : tensor<8x4xf32>, tensor<16x4xf64> -> tensor<8x16xf32>
  return
}

// -----

// matmul C1: the contracted sizes agree.
func.func @matmul_inner(%a: tensor<8x4xf32>, %b: tensor<5x3xf32>) {
  // expected-error@+2 {{matmul: [8, 4] by [5, 3]: inner sizes 4 and 5 differ}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.matmul %a, %b : tensor<8x4xf32>, tensor<5x3xf32> -> tensor<8x3xf32>
  return
}

// -----

// matmul C1, over the leading dimensions.
func.func @matmul_leading(%a: tensor<2x8x4xf32>, %b: tensor<2x7x3xf32>) {
  // expected-error@+2 {{matmul: leading dimensions of [2, 8, 4] and [2, 7, 3] differ}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.matmul %a, %b {transpose_a} : tensor<2x8x4xf32>, tensor<2x7x3xf32> -> tensor<4x3xf32>
  return
}

// -----

// matmul C2: b is a matrix.
func.func @matmul_rank(%a: tensor<2x8x4xf32>, %b: tensor<4xf32>) {
  // expected-error@+2 {{matmul: b must be a matrix, but is [4]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.matmul %a, %b : tensor<2x8x4xf32>, tensor<4xf32> -> tensor<2x8xf32>
  return
}

// -----

// matmul C2: a has the matrices' leading dimensions.
func.func @matmul_batch(%a: tensor<3x8x4xf32>, %b: tensor<2x4x3xf32>) {
  // expected-error@+2 {{matmul: a is [3, 8, 4] for matrices [2, 4, 3]: expected their leading dimensions in front}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.matmul %a, %b : tensor<3x8x4xf32>, tensor<2x4x3xf32> -> tensor<3x8x3xf32>
  return
}

// -----

// matmul C3: one side is transposed at most.
func.func @matmul_both(%a: tensor<8x4xf32>, %b: tensor<3x8xf32>) {
  // expected-error@+2 {{matmul: transpose_a and transpose_b are both set}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.matmul %a, %b {transpose_a, transpose_b} : tensor<8x4xf32>, tensor<3x8xf32> -> tensor<4x3xf32>
  return
}

// -----

// A scalar has no rows.
func.func @matmul_scalar(%a: tensor<f32>, %b: tensor<4x3xf32>) {
  // expected-error@+2 {{matmul: a scalar has no rows to multiply}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.matmul %a, %b : tensor<f32>, tensor<4x3xf32> -> tensor<3xf32>
  return
}

// -----

// rmsnorm C1: one weight for each channel.
func.func @rmsnorm_weight(%x: tensor<2x8x4xf32>, %w: tensor<8xf32>) {
  // expected-error@+1 {{weight is [8], but x has 4 channels}}
  %0 = hybrid.rmsnorm %x, %w : tensor<8xf32> : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// A norm needs a dimension.
func.func @rmsnorm_scalar(%x: tensor<f32>) {
  // expected-error@+2 {{a norm needs at least one dimension}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = hybrid.rmsnorm %x : tensor<f32> -> tensor<f32>
  return
}

// -----

// rmsnorm_grad C1.
func.func @rmsnorm_grad_weight(%x: tensor<8x4xf32>, %w: tensor<8xf32>) {
  // expected-error@+1 {{weight is [8], but x has 4 channels}}
  %0:2 = hybrid.rmsnorm_grad %x weight(%w : tensor<8xf32>), %x {epsilon = 0.1 : f64} : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>, tensor<4xf32>
  return
}

// -----

// rmsnorm_grad C2: the cotangent is shaped as x.
func.func @rmsnorm_grad_cotangent(%x: tensor<8x4xf32>, %dy: tensor<4x8xf32>) {
  // expected-error@+1 {{cotangent is [4, 8], but x is [8, 4]: expected equal shapes}}
  %0:2 = hybrid.rmsnorm_grad %x, %dy {epsilon = 0.1 : f64} : tensor<8x4xf32>, tensor<4x8xf32> -> tensor<8x4xf32>, tensor<4xf32>
  return
}

// -----

// A norm's gradient needs a dimension, too.
func.func @rmsnorm_grad_scalar(%x: tensor<f32>) {
  // expected-error@+2 {{a norm needs at least one dimension}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = hybrid.rmsnorm_grad %x, %x {epsilon = 0.1 : f64} : tensor<f32>, tensor<f32> -> tensor<f32>, tensor<1xf32>
  return
}

// -----

// layernorm C1: weight.
func.func @layernorm_weight(%x: tensor<2x8x4xf32>, %w: tensor<4x1xf32>) {
  // expected-error@+1 {{weight is [4, 1], but x has 4 channels}}
  %0 = hybrid.layernorm %x weight(%w : tensor<4x1xf32>) : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// layernorm C1: bias.
func.func @layernorm_bias(%x: tensor<2x8x4xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{bias is [3], but x has 4 channels}}
  %0 = hybrid.layernorm %x bias(%b : tensor<3xf32>) : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// layernorm_grad C1.
func.func @layernorm_grad_weight(%x: tensor<8x4xf32>, %w: tensor<8xf32>) {
  // expected-error@+1 {{weight is [8], but x has 4 channels}}
  %0:3 = hybrid.layernorm_grad %x weight(%w : tensor<8xf32>), %x {epsilon = 0.1 : f64} : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// layernorm_grad C2.
func.func @layernorm_grad_cotangent(%x: tensor<8x4xf32>, %dy: tensor<8x3xf32>) {
  // expected-error@+1 {{cotangent is [8, 3], but x is [8, 4]: expected equal shapes}}
  %0:3 = hybrid.layernorm_grad %x, %dy {epsilon = 0.1 : f64} : tensor<8x4xf32>, tensor<8x3xf32> -> tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// A product rounds both of its operands or none.
func.func @product_half_rounded(%x: tensor<8x4xbf16>, %w: tensor<16x4xf32>) {
  // expected-error@+1 {{operand 1 is 'tensor<16x4xf32>', but the first tensor has elements of 'bf16'}}
  %0 = hybrid.linear %x, %w : tensor<8x4xbf16>, tensor<16x4xf32> -> tensor<8x16xf32>
  return
}

// -----

// The bias is added to the sums.
func.func @product_bias_type(%x: tensor<8x4xbf16>, %w: tensor<16x4xbf16>, %b: tensor<16xf64>) {
  // expected-error@+1 {{operand 2 is 'tensor<16xf64>', but sums of products of 'bf16' are 'f32'}}
  %0 = hybrid.linear %x, %w bias(%b : tensor<16xf64>) : tensor<8x4xbf16>, tensor<16x4xbf16> -> tensor<8x16xf32>
  return
}

// -----

// rmsnorm C2: below 0 there may be no root.
func.func @rmsnorm_epsilon(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{epsilon = -0.5, expected at least 0}}
  %0 = hybrid.rmsnorm %x {epsilon = -0.5 : f64} : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}

// -----

// layernorm C2: below 0 there may be no root.
func.func @layernorm_epsilon(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{epsilon = -0.5, expected at least 0}}
  %0 = hybrid.layernorm %x {epsilon = -0.5 : f64} : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}
