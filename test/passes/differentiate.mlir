// RUN: hybrid-opt %s --split-input-file --hybrid-differentiate | FileCheck %s

// A linear layer: @vjp takes a cotangent of each result and returns it with the gradients of inputs, then of parameters, all named.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32> {hybrid.name = "x"}
// CHECK-SAME: -> (tensor<2x8x3xf32> {hybrid.name = "y"})
// CHECK-NEXT: %[[PARAMETER:.+]] = hybrid.parameter "w" : tensor<3x4xf32>
// CHECK-NEXT: %[[PARAMETER1:.+]] = hybrid.parameter "b" : tensor<3xf32>
// CHECK-NEXT: %[[LINEAR:.+]] = hybrid.linear %[[X]], %[[PARAMETER]] bias(%[[PARAMETER1]] : tensor<3xf32>) : tensor<2x8x4xf32>, tensor<3x4xf32> -> tensor<2x8x3xf32>
// CHECK-NEXT: return %[[LINEAR]] : tensor<2x8x3xf32>
// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32> {hybrid.name = "x"}
// CHECK-SAME: %[[COTANGENT_Y:[^:]+]]: tensor<2x8x3xf32> {hybrid.name = "cotangent.y"}
// CHECK-SAME: -> (tensor<2x8x3xf32> {hybrid.name = "y"}, tensor<2x8x4xf32> {hybrid.name = "grad.x"}, tensor<3x4xf32> {hybrid.name = "grad.w"}, tensor<3xf32> {hybrid.name = "grad.b"})
// CHECK-NEXT: %[[PARAMETER:.+]] = hybrid.parameter "w" : tensor<3x4xf32>
// CHECK-NEXT: %[[PARAMETER1:.+]] = hybrid.parameter "b" : tensor<3xf32>
// CHECK-NEXT: %[[LINEAR:.+]] = hybrid.linear %[[X]], %[[PARAMETER]] bias(%[[PARAMETER1]] : tensor<3xf32>) : tensor<2x8x4xf32>, tensor<3x4xf32> -> tensor<2x8x3xf32>
// CHECK-NEXT: %[[MATMUL:.+]] = hybrid.matmul %[[COTANGENT_Y]], %[[PARAMETER]] : tensor<2x8x3xf32>, tensor<3x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[MATMUL1:.+]] = hybrid.matmul %[[COTANGENT_Y]], %[[X]] {transpose_a} : tensor<2x8x3xf32>, tensor<2x8x4xf32> -> tensor<3x4xf32>
// CHECK-NEXT: %[[REDUCE:.+]] = hybrid.reduce sum %[[COTANGENT_Y]] over [0, 1] : tensor<2x8x3xf32> -> tensor<3xf32>
// CHECK-NEXT: return %[[LINEAR]], %[[MATMUL]], %[[MATMUL1]], %[[REDUCE]] : tensor<2x8x3xf32>, tensor<2x8x4xf32>, tensor<3x4xf32>, tensor<3xf32>
func.func @forward(%x: tensor<2x8x4xf32> {hybrid.name = "x"}) -> (tensor<2x8x3xf32> {hybrid.name = "y"}) {
  %w = hybrid.parameter "w" : tensor<3x4xf32>
  %b = hybrid.parameter "b" : tensor<3xf32>
  %y = hybrid.linear %x, %w bias(%b : tensor<3xf32>) : tensor<2x8x4xf32>, tensor<3x4xf32> -> tensor<2x8x3xf32>
  return %y : tensor<2x8x3xf32>
}

// -----

// Elementwise: the derivative in terms of the result where that is cheaper, and sums over the dimensions that were repeated.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32> {hybrid.name = "x"}
// CHECK-SAME: %[[V:[^:]+]]: tensor<3xf32> {hybrid.name = "v"}
// CHECK-SAME: -> (tensor<4x3xf32> {hybrid.name = "y"})
// CHECK-NEXT: %[[TANH:.+]] = hybrid.unary tanh %[[X]] : tensor<4x3xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[TANH]], %[[V]] : tensor<4x3xf32>, tensor<3xf32>
// CHECK-NEXT: return %[[MUL]] : tensor<4x3xf32>
// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32> {hybrid.name = "x"}
// CHECK-SAME: %[[V:[^:]+]]: tensor<3xf32> {hybrid.name = "v"}
// CHECK-SAME: %[[COTANGENT_Y:[^:]+]]: tensor<4x3xf32> {hybrid.name = "cotangent.y"}
// CHECK-SAME: -> (tensor<4x3xf32> {hybrid.name = "y"}, tensor<4x3xf32> {hybrid.name = "grad.x"}, tensor<3xf32> {hybrid.name = "grad.v"})
// CHECK-NEXT: %[[TANH:.+]] = hybrid.unary tanh %[[X]] : tensor<4x3xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[TANH]], %[[V]] : tensor<4x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[MUL1:.+]] = hybrid.binary mul %[[COTANGENT_Y]], %[[V]] : tensor<4x3xf32>, tensor<3xf32>
// CHECK-NEXT: %[[MUL2:.+]] = hybrid.binary mul %[[COTANGENT_Y]], %[[TANH]] : tensor<4x3xf32>, tensor<4x3xf32>
// CHECK-NEXT: %[[REDUCE:.+]] = hybrid.reduce sum %[[MUL2]] over [0] : tensor<4x3xf32> -> tensor<3xf32>
// CHECK-NEXT: %[[SQUARE:.+]] = hybrid.unary square %[[TANH]] : tensor<4x3xf32>
// CHECK-NEXT: %[[CONSTANT:.+]] = hybrid.constant 1.000000e+00 : tensor<f32>
// CHECK-NEXT: %[[SUB:.+]] = hybrid.binary sub %[[CONSTANT]], %[[SQUARE]] : tensor<f32>, tensor<4x3xf32>
// CHECK-NEXT: %[[MUL3:.+]] = hybrid.binary mul %[[MUL1]], %[[SUB]] : tensor<4x3xf32>, tensor<4x3xf32>
// CHECK-NEXT: return %[[MUL]], %[[MUL3]], %[[REDUCE]] : tensor<4x3xf32>, tensor<4x3xf32>, tensor<3xf32>
func.func @forward(%x: tensor<4x3xf32> {hybrid.name = "x"}, %v: tensor<3xf32> {hybrid.name = "v"}) -> (tensor<4x3xf32> {hybrid.name = "y"}) {
  %t = hybrid.unary tanh %x : tensor<4x3xf32>
  %y = hybrid.binary mul %t, %v : tensor<4x3xf32>, tensor<3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// A mean sends the same share to every element.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32> {hybrid.name = "x"}
// CHECK-SAME: -> (tensor<3xf32> {hybrid.name = "y"})
// CHECK-NEXT: %[[REDUCE:.+]] = hybrid.reduce mean %[[X]] over [0] : tensor<4x3xf32> -> tensor<3xf32>
// CHECK-NEXT: return %[[REDUCE]] : tensor<3xf32>
// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x3xf32> {hybrid.name = "x"}
// CHECK-SAME: %[[COTANGENT_Y:[^:]+]]: tensor<3xf32> {hybrid.name = "cotangent.y"}
// CHECK-SAME: -> (tensor<3xf32> {hybrid.name = "y"}, tensor<4x3xf32> {hybrid.name = "grad.x"})
// CHECK-NEXT: %[[REDUCE:.+]] = hybrid.reduce mean %[[X]] over [0] : tensor<4x3xf32> -> tensor<3xf32>
// CHECK-NEXT: %[[RESHAPE:.+]] = hybrid.reshape %[[COTANGENT_Y]] to [1, 3] : tensor<3xf32> -> tensor<1x3xf32>
// CHECK-NEXT: %[[CONSTANT:.+]] = hybrid.constant 2.500000e-01 : tensor<f32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[RESHAPE]], %[[CONSTANT]] : tensor<1x3xf32>, tensor<f32>
// CHECK-NEXT: %[[BROADCAST:.+]] = hybrid.broadcast %[[MUL]] to [4, 3] : tensor<1x3xf32> -> tensor<4x3xf32>
// CHECK-NEXT: return %[[REDUCE]], %[[BROADCAST]] : tensor<3xf32>, tensor<4x3xf32>
func.func @forward(%x: tensor<4x3xf32> {hybrid.name = "x"}) -> (tensor<3xf32> {hybrid.name = "y"}) {
  %y = hybrid.reduce mean %x over [0] : tensor<4x3xf32> -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// Shape ops: each has its inverse; a part of a split that nobody uses counts as zero.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x6xf32> {hybrid.name = "x"}
// CHECK-SAME: -> (tensor<3x4xf32> {hybrid.name = "y"})
// CHECK-NEXT: %[[SPLIT:.+]]:2 = hybrid.split %[[X]] along 1 sizes [3, 3] : tensor<4x6xf32> -> tensor<4x3xf32>, tensor<4x3xf32>
// CHECK-NEXT: %[[TRANSPOSE:.+]] = hybrid.transpose %[[SPLIT]]#0 by [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
// CHECK-NEXT: %[[PAD:.+]] = hybrid.pad %[[TRANSPOSE]] at [1, 0] in [5, 4] : tensor<3x4xf32> -> tensor<5x4xf32>
// CHECK-NEXT: %[[SLICE:.+]] = hybrid.slice %[[PAD]] from [0, 0] size [3, 4] : tensor<5x4xf32> -> tensor<3x4xf32>
// CHECK-NEXT: return %[[SLICE]] : tensor<3x4xf32>
// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4x6xf32> {hybrid.name = "x"}
// CHECK-SAME: %[[COTANGENT_Y:[^:]+]]: tensor<3x4xf32> {hybrid.name = "cotangent.y"}
// CHECK-SAME: -> (tensor<3x4xf32> {hybrid.name = "y"}, tensor<4x6xf32> {hybrid.name = "grad.x"})
// CHECK-NEXT: %[[SPLIT:.+]]:2 = hybrid.split %[[X]] along 1 sizes [3, 3] : tensor<4x6xf32> -> tensor<4x3xf32>, tensor<4x3xf32>
// CHECK-NEXT: %[[TRANSPOSE:.+]] = hybrid.transpose %[[SPLIT]]#0 by [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
// CHECK-NEXT: %[[PAD:.+]] = hybrid.pad %[[TRANSPOSE]] at [1, 0] in [5, 4] : tensor<3x4xf32> -> tensor<5x4xf32>
// CHECK-NEXT: %[[SLICE:.+]] = hybrid.slice %[[PAD]] from [0, 0] size [3, 4] : tensor<5x4xf32> -> tensor<3x4xf32>
// CHECK-NEXT: %[[PAD1:.+]] = hybrid.pad %[[COTANGENT_Y]] at [0, 0] in [5, 4] : tensor<3x4xf32> -> tensor<5x4xf32>
// CHECK-NEXT: %[[SLICE1:.+]] = hybrid.slice %[[PAD1]] from [1, 0] size [3, 4] : tensor<5x4xf32> -> tensor<3x4xf32>
// CHECK-NEXT: %[[TRANSPOSE1:.+]] = hybrid.transpose %[[SLICE1]] by [1, 0] : tensor<3x4xf32> -> tensor<4x3xf32>
// CHECK-NEXT: %[[CONSTANT:.+]] = hybrid.constant 0.000000e+00 : tensor<4x3xf32>
// CHECK-NEXT: %[[CONCAT:.+]] = hybrid.concat %[[TRANSPOSE1]], %[[CONSTANT]] along 1 : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x6xf32>
// CHECK-NEXT: return %[[SLICE]], %[[CONCAT]] : tensor<3x4xf32>, tensor<4x6xf32>
func.func @forward(%x: tensor<4x6xf32> {hybrid.name = "x"}) -> (tensor<3x4xf32> {hybrid.name = "y"}) {
  %a, %b = hybrid.split %x along 1 sizes [3, 3] : tensor<4x6xf32> -> tensor<4x3xf32>, tensor<4x3xf32>
  %t = hybrid.transpose %a by [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
  %p = hybrid.pad %t at [1, 0] in [5, 4] : tensor<3x4xf32> -> tensor<5x4xf32>
  %y = hybrid.slice %p from [0, 0] size [3, 4] : tensor<5x4xf32> -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// Norms: one op gives all gradients.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<8x4xf32> {hybrid.name = "x"}
// CHECK-SAME: -> (tensor<8x4xf32> {hybrid.name = "y"})
// CHECK-NEXT: %[[PARAMETER:.+]] = hybrid.parameter "w" : tensor<4xf32>
// CHECK-NEXT: %[[RMSNORM:.+]] = hybrid.rmsnorm %[[X]], %[[PARAMETER]] : tensor<4xf32> : tensor<8x4xf32> -> tensor<8x4xf32>
// CHECK-NEXT: %[[PARAMETER1:.+]] = hybrid.parameter "b" : tensor<4xf32>
// CHECK-NEXT: %[[LAYERNORM:.+]] = hybrid.layernorm %[[RMSNORM]] bias(%[[PARAMETER1]] : tensor<4xf32>) : tensor<8x4xf32> -> tensor<8x4xf32>
// CHECK-NEXT: return %[[LAYERNORM]] : tensor<8x4xf32>
// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<8x4xf32> {hybrid.name = "x"}
// CHECK-SAME: %[[COTANGENT_Y:[^:]+]]: tensor<8x4xf32> {hybrid.name = "cotangent.y"}
// CHECK-SAME: -> (tensor<8x4xf32> {hybrid.name = "y"}, tensor<8x4xf32> {hybrid.name = "grad.x"}, tensor<4xf32> {hybrid.name = "grad.w"}, tensor<4xf32> {hybrid.name = "grad.b"})
// CHECK-NEXT: %[[PARAMETER:.+]] = hybrid.parameter "w" : tensor<4xf32>
// CHECK-NEXT: %[[RMSNORM:.+]] = hybrid.rmsnorm %[[X]], %[[PARAMETER]] : tensor<4xf32> : tensor<8x4xf32> -> tensor<8x4xf32>
// CHECK-NEXT: %[[PARAMETER1:.+]] = hybrid.parameter "b" : tensor<4xf32>
// CHECK-NEXT: %[[LAYERNORM:.+]] = hybrid.layernorm %[[RMSNORM]] bias(%[[PARAMETER1]] : tensor<4xf32>) : tensor<8x4xf32> -> tensor<8x4xf32>
// CHECK-NEXT: %[[LAYERNORM_GRAD:.+]], %[[LAYERNORM_GRAD1:.+]], %[[LAYERNORM_GRAD2:.+]] = hybrid.layernorm_grad %[[RMSNORM]], %[[COTANGENT_Y]] {epsilon = 1.000000e-05 : f64} : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: %[[RMSNORM_GRAD:.+]], %[[RMSNORM_GRAD1:.+]] = hybrid.rmsnorm_grad %[[X]] weight(%[[PARAMETER]] : tensor<4xf32>), %[[LAYERNORM_GRAD]] {epsilon = 1.000000e-05 : f64} : tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>, tensor<4xf32>
// CHECK-NEXT: return %[[LAYERNORM]], %[[RMSNORM_GRAD]], %[[RMSNORM_GRAD1]], %[[LAYERNORM_GRAD2]] : tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>
func.func @forward(%x: tensor<8x4xf32> {hybrid.name = "x"}) -> (tensor<8x4xf32> {hybrid.name = "y"}) {
  %w = hybrid.parameter "w" : tensor<4xf32>
  %n = hybrid.rmsnorm %x, %w : tensor<4xf32> : tensor<8x4xf32> -> tensor<8x4xf32>
  %b = hybrid.parameter "b" : tensor<4xf32>
  %y = hybrid.layernorm %n bias(%b : tensor<4xf32>) : tensor<8x4xf32> -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// Sequence mixers: gates and skip are part of the convolution's own gradient, segments are handed on and have none.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32> {hybrid.name = "x"}
// CHECK-SAME: %[[G:[^:]+]]: tensor<2x8x4xf32> {hybrid.name = "g"}
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<2x8xi32> {hybrid.name = "ids"}
// CHECK-SAME: -> (tensor<2x8x4xf32> {hybrid.name = "y"})
// CHECK-NEXT: %[[PARAMETER:.+]] = hybrid.parameter "taps" : tensor<4x3xf32>
// CHECK-NEXT: %[[SHORT_CONV:.+]] = hybrid.short_conv %[[X]], %[[PARAMETER]] segments(%[[IDS]] : tensor<2x8xi32>) : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[PARAMETER1:.+]] = hybrid.parameter "filter" : tensor<8x4xf32>
// CHECK-NEXT: %[[FFTCONV:.+]] = hybrid.fftconv %[[SHORT_CONV]], %[[PARAMETER1]] gate_out(%[[G]] : tensor<2x8x4xf32>) segments(%[[IDS]] : tensor<2x8xi32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: return %[[FFTCONV]] : tensor<2x8x4xf32>
// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32> {hybrid.name = "x"}
// CHECK-SAME: %[[G:[^:]+]]: tensor<2x8x4xf32> {hybrid.name = "g"}
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<2x8xi32> {hybrid.name = "ids"}
// CHECK-SAME: %[[COTANGENT_Y:[^:]+]]: tensor<2x8x4xf32> {hybrid.name = "cotangent.y"}
// CHECK-SAME: -> (tensor<2x8x4xf32> {hybrid.name = "y"}, tensor<2x8x4xf32> {hybrid.name = "grad.x"}, tensor<2x8x4xf32> {hybrid.name = "grad.g"}, tensor<4x3xf32> {hybrid.name = "grad.taps"}, tensor<8x4xf32> {hybrid.name = "grad.filter"})
// CHECK-NEXT: %[[PARAMETER:.+]] = hybrid.parameter "taps" : tensor<4x3xf32>
// CHECK-NEXT: %[[SHORT_CONV:.+]] = hybrid.short_conv %[[X]], %[[PARAMETER]] segments(%[[IDS]] : tensor<2x8xi32>) : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[PARAMETER1:.+]] = hybrid.parameter "filter" : tensor<8x4xf32>
// CHECK-NEXT: %[[FFTCONV:.+]] = hybrid.fftconv %[[SHORT_CONV]], %[[PARAMETER1]] gate_out(%[[G]] : tensor<2x8x4xf32>) segments(%[[IDS]] : tensor<2x8xi32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[FFTCONV_GRAD:.+]]:3 = hybrid.fftconv_grad %[[SHORT_CONV]], %[[PARAMETER1]], %[[COTANGENT_Y]] gate_out(%[[G]] : tensor<2x8x4xf32>) segments(%[[IDS]] : tensor<2x8xi32>) : tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<2x8x4xf32>
// CHECK-NEXT: %[[SHORT_CONV_GRAD:.+]], %[[SHORT_CONV_GRAD1:.+]], %[[SHORT_CONV_GRAD2:.+]] = hybrid.short_conv_grad %[[X]], %[[PARAMETER]], %[[FFTCONV_GRAD]]#0 segments(%[[IDS]] : tensor<2x8xi32>) : tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4xf32>
// CHECK-NEXT: return %[[FFTCONV]], %[[SHORT_CONV_GRAD]], %[[FFTCONV_GRAD]]#2, %[[SHORT_CONV_GRAD1]], %[[FFTCONV_GRAD]]#1 : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<8x4xf32>
func.func @forward(%x: tensor<2x8x4xf32> {hybrid.name = "x"}, %g: tensor<2x8x4xf32> {hybrid.name = "g"}, %ids: tensor<2x8xi32> {hybrid.name = "ids"}) -> (tensor<2x8x4xf32> {hybrid.name = "y"}) {
  %w = hybrid.parameter "taps" : tensor<4x3xf32>
  %s = hybrid.short_conv %x, %w segments(%ids : tensor<2x8xi32>) : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
  %h = hybrid.parameter "filter" : tensor<8x4xf32>
  %y = hybrid.fftconv %s, %h gate_out(%g : tensor<2x8x4xf32>) segments(%ids : tensor<2x8xi32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// -----

// Attention: the gradient takes its output and softmax denominators, and the scale that 0 stands for.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<2x8x16xf32> {hybrid.name = "q"}
// CHECK-SAME: %[[K:[^:]+]]: tensor<2x8x8xf32> {hybrid.name = "k"}
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x8xf32> {hybrid.name = "v"}
// CHECK-SAME: -> (tensor<2x8x16xf32> {hybrid.name = "y"})
// CHECK-NEXT: %[[ATTENTION:.+]], %[[ATTENTION1:.+]] = hybrid.attention %[[Q]], %[[K]], %[[V]] heads 4 kv_heads 2 : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
// CHECK-NEXT: return %[[ATTENTION]] : tensor<2x8x16xf32>
// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<2x8x16xf32> {hybrid.name = "q"}
// CHECK-SAME: %[[K:[^:]+]]: tensor<2x8x8xf32> {hybrid.name = "k"}
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x8xf32> {hybrid.name = "v"}
// CHECK-SAME: %[[COTANGENT_Y:[^:]+]]: tensor<2x8x16xf32> {hybrid.name = "cotangent.y"}
// CHECK-SAME: -> (tensor<2x8x16xf32> {hybrid.name = "y"}, tensor<2x8x16xf32> {hybrid.name = "grad.q"}, tensor<2x8x8xf32> {hybrid.name = "grad.k"}, tensor<2x8x8xf32> {hybrid.name = "grad.v"})
// CHECK-NEXT: %[[ATTENTION:.+]], %[[ATTENTION1:.+]] = hybrid.attention %[[Q]], %[[K]], %[[V]] heads 4 kv_heads 2 : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
// CHECK-NEXT: %[[ATTENTION_GRAD:.+]], %[[ATTENTION_GRAD1:.+]], %[[ATTENTION_GRAD2:.+]] = hybrid.attention_grad %[[Q]], %[[K]], %[[V]], %[[ATTENTION]], %[[ATTENTION1]], %[[COTANGENT_Y]] heads 4 kv_heads 2 {causal = true, rotary_base = 1.000000e+04 : f64, rotary_dims = 0 : i64, rotary_interleaved = false, scale = 5.000000e-01 : f64, window = -1 : i64, xpos_base = 0.000000e+00 : f64} : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x16xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>
// CHECK-NEXT: return %[[ATTENTION]], %[[ATTENTION_GRAD]], %[[ATTENTION_GRAD1]], %[[ATTENTION_GRAD2]] : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>
func.func @forward(%q: tensor<2x8x16xf32> {hybrid.name = "q"}, %k: tensor<2x8x8xf32> {hybrid.name = "k"}, %v: tensor<2x8x8xf32> {hybrid.name = "v"}) -> (tensor<2x8x16xf32> {hybrid.name = "y"}) {
  %y, %lse = hybrid.attention %q, %k, %v heads 4 kv_heads 2 : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  return %y : tensor<2x8x16xf32>
}

// -----

// A value used twice gets the sum of its gradients.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32> {hybrid.name = "x"}
// CHECK-SAME: -> (tensor<4xf32> {hybrid.name = "y"}, tensor<4xf32> {hybrid.name = "z"})
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[X]], %[[X]] : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: %[[EXP:.+]] = hybrid.unary exp %[[X]] : tensor<4xf32>
// CHECK-NEXT: return %[[MUL]], %[[EXP]] : tensor<4xf32>, tensor<4xf32>
// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[X:[^:]+]]: tensor<4xf32> {hybrid.name = "x"}
// CHECK-SAME: %[[COTANGENT_Y:[^:]+]]: tensor<4xf32> {hybrid.name = "cotangent.y"}
// CHECK-SAME: %[[COTANGENT_Z:[^:]+]]: tensor<4xf32> {hybrid.name = "cotangent.z"}
// CHECK-SAME: -> (tensor<4xf32> {hybrid.name = "y"}, tensor<4xf32> {hybrid.name = "z"}, tensor<4xf32> {hybrid.name = "grad.x"})
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[X]], %[[X]] : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: %[[EXP:.+]] = hybrid.unary exp %[[X]] : tensor<4xf32>
// CHECK-NEXT: %[[MUL1:.+]] = hybrid.binary mul %[[COTANGENT_Z]], %[[EXP]] : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: %[[MUL2:.+]] = hybrid.binary mul %[[COTANGENT_Y]], %[[X]] : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: %[[MUL3:.+]] = hybrid.binary mul %[[COTANGENT_Y]], %[[X]] : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: %[[ADD:.+]] = hybrid.binary add %[[MUL1]], %[[MUL2]] : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: %[[ADD1:.+]] = hybrid.binary add %[[ADD]], %[[MUL3]] : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: return %[[MUL]], %[[EXP]], %[[ADD1]] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
func.func @forward(%x: tensor<4xf32> {hybrid.name = "x"}) -> (tensor<4xf32> {hybrid.name = "y"}, tensor<4xf32> {hybrid.name = "z"}) {
  %y = hybrid.binary mul %x, %x : tensor<4xf32>, tensor<4xf32>
  %z = hybrid.unary exp %x : tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// -----

// Only what is needed: nothing is built for frozen parameters, for what leads nowhere, for integers, or through a result that
// says it is not differentiable. A parameter that the results do not depend on has the gradient zero.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<8xi32> {hybrid.name = "ids"}
// CHECK-SAME: -> (tensor<8x4xf32> {hybrid.name = "y"}, tensor<8x4xf32> {hybrid.differentiable = false, hybrid.name = "aux"})
// CHECK-NEXT: %[[PARAMETER:.+]] = hybrid.parameter "frozen" {trainable = false} : tensor<16x4xf32>
// CHECK-NEXT: %[[EMBEDDING:.+]] = hybrid.embedding %[[PARAMETER]], %[[IDS]] : tensor<16x4xf32>, tensor<8xi32> -> tensor<8x4xf32>
// CHECK-NEXT: %[[SILU:.+]] = hybrid.unary silu %[[EMBEDDING]] : tensor<8x4xf32>
// CHECK-NEXT: %[[PARAMETER1:.+]] = hybrid.parameter "w" : tensor<4xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[SILU]], %[[PARAMETER1]] : tensor<8x4xf32>, tensor<4xf32>
// CHECK-NEXT: %[[PARAMETER2:.+]] = hybrid.parameter "unused" : tensor<4xf32>
// CHECK-NEXT: %[[ADD:.+]] = hybrid.binary add %[[MUL]], %[[PARAMETER2]] : tensor<8x4xf32>, tensor<4xf32>
// CHECK-NEXT: return %[[MUL]], %[[ADD]] : tensor<8x4xf32>, tensor<8x4xf32>
// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<8xi32> {hybrid.name = "ids"}
// CHECK-SAME: %[[COTANGENT_Y:[^:]+]]: tensor<8x4xf32> {hybrid.name = "cotangent.y"}
// CHECK-SAME: -> (tensor<8x4xf32> {hybrid.name = "y"}, tensor<8x4xf32> {hybrid.name = "aux"}, tensor<4xf32> {hybrid.name = "grad.w"}, tensor<4xf32> {hybrid.name = "grad.unused"})
// CHECK-NEXT: %[[PARAMETER:.+]] = hybrid.parameter "frozen" {trainable = false} : tensor<16x4xf32>
// CHECK-NEXT: %[[EMBEDDING:.+]] = hybrid.embedding %[[PARAMETER]], %[[IDS]] : tensor<16x4xf32>, tensor<8xi32> -> tensor<8x4xf32>
// CHECK-NEXT: %[[SILU:.+]] = hybrid.unary silu %[[EMBEDDING]] : tensor<8x4xf32>
// CHECK-NEXT: %[[PARAMETER1:.+]] = hybrid.parameter "w" : tensor<4xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[SILU]], %[[PARAMETER1]] : tensor<8x4xf32>, tensor<4xf32>
// CHECK-NEXT: %[[PARAMETER2:.+]] = hybrid.parameter "unused" : tensor<4xf32>
// CHECK-NEXT: %[[ADD:.+]] = hybrid.binary add %[[MUL]], %[[PARAMETER2]] : tensor<8x4xf32>, tensor<4xf32>
// CHECK-NEXT: %[[MUL1:.+]] = hybrid.binary mul %[[COTANGENT_Y]], %[[PARAMETER1]] : tensor<8x4xf32>, tensor<4xf32>
// CHECK-NEXT: %[[MUL2:.+]] = hybrid.binary mul %[[COTANGENT_Y]], %[[SILU]] : tensor<8x4xf32>, tensor<8x4xf32>
// CHECK-NEXT: %[[REDUCE:.+]] = hybrid.reduce sum %[[MUL2]] over [0] : tensor<8x4xf32> -> tensor<4xf32>
// CHECK-NEXT: %[[CONSTANT:.+]] = hybrid.constant 0.000000e+00 : tensor<4xf32>
// CHECK-NEXT: return %[[MUL]], %[[ADD]], %[[REDUCE]], %[[CONSTANT]] : tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>
func.func @forward(%ids: tensor<8xi32> {hybrid.name = "ids"}) -> (tensor<8x4xf32> {hybrid.name = "y"}, tensor<8x4xf32> {hybrid.name = "aux", hybrid.differentiable = false}) {
  %frozen = hybrid.parameter "frozen" {trainable = false} : tensor<16x4xf32>
  %e = hybrid.embedding %frozen, %ids : tensor<16x4xf32>, tensor<8xi32> -> tensor<8x4xf32>
  %s = hybrid.unary silu %e : tensor<8x4xf32>
  %w = hybrid.parameter "w" : tensor<4xf32>
  %y = hybrid.binary mul %s, %w : tensor<8x4xf32>, tensor<4xf32>
  %unused = hybrid.parameter "unused" : tensor<4xf32>
  %aux = hybrid.binary add %y, %unused : tensor<8x4xf32>, tensor<4xf32>
  return %y, %aux : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// With @eval there are also @train, from the loss to the parameters and no further, and @update over the trainable ones.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<8xi32> {hybrid.name = "ids"}
// CHECK-SAME: -> (tensor<8x16xf32> {hybrid.name = "logits"})
// CHECK-NEXT: %[[PARAMETER:.+]] = hybrid.parameter "w" : tensor<16x16xf32>
// CHECK-NEXT: %[[EMBEDDING:.+]] = hybrid.embedding %[[PARAMETER]], %[[IDS]] : tensor<16x16xf32>, tensor<8xi32> -> tensor<8x16xf32>
// CHECK-NEXT: return %[[EMBEDDING]] : tensor<8x16xf32>
// CHECK-LABEL: func.func @vjp(
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<8xi32> {hybrid.name = "ids"}
// CHECK-SAME: %[[COTANGENT_LOGITS:[^:]+]]: tensor<8x16xf32> {hybrid.name = "cotangent.logits"}
// CHECK-SAME: -> (tensor<8x16xf32> {hybrid.name = "logits"}, tensor<16x16xf32> {hybrid.name = "grad.w"})
// CHECK-NEXT: %[[PARAMETER:.+]] = hybrid.parameter "w" : tensor<16x16xf32>
// CHECK-NEXT: %[[EMBEDDING:.+]] = hybrid.embedding %[[PARAMETER]], %[[IDS]] : tensor<16x16xf32>, tensor<8xi32> -> tensor<8x16xf32>
// CHECK-NEXT: %[[EMBEDDING_GRAD:.+]] = hybrid.embedding_grad %[[IDS]], %[[COTANGENT_LOGITS]] classes 16 : tensor<8xi32>, tensor<8x16xf32> -> tensor<16x16xf32>
// CHECK-NEXT: return %[[EMBEDDING]], %[[EMBEDDING_GRAD]] : tensor<8x16xf32>, tensor<16x16xf32>
func.func @forward(%ids: tensor<8xi32> {hybrid.name = "ids"}) -> (tensor<8x16xf32> {hybrid.name = "logits"}) {
  %w = hybrid.parameter "w" : tensor<16x16xf32>
  %logits = hybrid.embedding %w, %ids : tensor<16x16xf32>, tensor<8xi32> -> tensor<8x16xf32>
  return %logits : tensor<8x16xf32>
}
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<8xi32> {hybrid.name = "ids"}
// CHECK-SAME: %[[TARGETS:[^:]+]]: tensor<8xi32> {hybrid.name = "targets"}
// CHECK-SAME: -> (tensor<f32> {hybrid.name = "loss"}, tensor<f32> {hybrid.name = "weight"}, tensor<f32> {hybrid.name = "correct"}, tensor<8x16xf32> {hybrid.name = "logits"})
// CHECK-NEXT: %[[PARAMETER:.+]] = hybrid.parameter "w" : tensor<16x16xf32>
// CHECK-NEXT: %[[EMBEDDING:.+]] = hybrid.embedding %[[PARAMETER]], %[[IDS]] : tensor<16x16xf32>, tensor<8xi32> -> tensor<8x16xf32>
// CHECK-NEXT: %[[CROSS_ENTROPY:.+]], %[[CROSS_ENTROPY1:.+]], %[[CROSS_ENTROPY2:.+]] = hybrid.cross_entropy %[[EMBEDDING]], %[[TARGETS]] : tensor<8x16xf32>, tensor<8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
// CHECK-NEXT: return %[[CROSS_ENTROPY]], %[[CROSS_ENTROPY1]], %[[CROSS_ENTROPY2]], %[[EMBEDDING]] : tensor<f32>, tensor<f32>, tensor<f32>, tensor<8x16xf32>
// CHECK-LABEL: func.func @train(
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<8xi32> {hybrid.name = "ids"}
// CHECK-SAME: %[[TARGETS:[^:]+]]: tensor<8xi32> {hybrid.name = "targets"}
// CHECK-SAME: -> (tensor<f32> {hybrid.name = "loss"}, tensor<f32> {hybrid.name = "weight"}, tensor<f32> {hybrid.name = "correct"}, tensor<16x16xf32> {hybrid.name = "grad.w"})
// CHECK-NEXT: %[[PARAMETER:.+]] = hybrid.parameter "w" : tensor<16x16xf32>
// CHECK-NEXT: %[[EMBEDDING:.+]] = hybrid.embedding %[[PARAMETER]], %[[IDS]] : tensor<16x16xf32>, tensor<8xi32> -> tensor<8x16xf32>
// CHECK-NEXT: %[[CROSS_ENTROPY:.+]], %[[CROSS_ENTROPY1:.+]], %[[CROSS_ENTROPY2:.+]] = hybrid.cross_entropy %[[EMBEDDING]], %[[TARGETS]] : tensor<8x16xf32>, tensor<8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
// CHECK-NEXT: %[[CONSTANT:.+]] = hybrid.constant 1.000000e+00 : tensor<f32>
// CHECK-NEXT: %[[TARGET_WEIGHT:.+]] = hybrid.target_weight %[[TARGETS]] {ignore_index = -100 : i64} : tensor<8xi32> -> tensor<f32>
// CHECK-NEXT: %[[CROSS_ENTROPY_GRAD:.+]] = hybrid.cross_entropy_grad %[[EMBEDDING]], %[[TARGETS]], %[[TARGET_WEIGHT]], %[[CONSTANT]] {ignore_index = -100 : i64, label_smoothing = 0.000000e+00 : f64} : tensor<8x16xf32>, tensor<8xi32>, tensor<f32>, tensor<f32> -> tensor<8x16xf32>
// CHECK-NEXT: %[[EMBEDDING_GRAD:.+]] = hybrid.embedding_grad %[[IDS]], %[[CROSS_ENTROPY_GRAD]] classes 16 : tensor<8xi32>, tensor<8x16xf32> -> tensor<16x16xf32>
// CHECK-NEXT: return %[[CROSS_ENTROPY]], %[[CROSS_ENTROPY1]], %[[CROSS_ENTROPY2]], %[[EMBEDDING_GRAD]] : tensor<f32>, tensor<f32>, tensor<f32>, tensor<16x16xf32>
// CHECK-LABEL: func.func @update(
// CHECK-SAME: %[[HYPER:[^:]+]]: tensor<8xf64> {hybrid.name = "hyper"}
// CHECK-SAME: -> (tensor<f32> {hybrid.name = "gradient_norm"})
// CHECK-NEXT: %[[ADAMW:.+]] = hybrid.adamw %[[HYPER]] parameters ["w"] : tensor<8xf64> -> tensor<f32>
// CHECK-NEXT: return %[[ADAMW]] : tensor<f32>
func.func @eval(%ids: tensor<8xi32> {hybrid.name = "ids"}, %targets: tensor<8xi32> {hybrid.name = "targets"}) -> (tensor<f32> {hybrid.name = "loss"}, tensor<f32> {hybrid.name = "weight"}, tensor<f32> {hybrid.name = "correct"}, tensor<8x16xf32> {hybrid.name = "logits"}) {
  %w = hybrid.parameter "w" : tensor<16x16xf32>
  %logits = hybrid.embedding %w, %ids : tensor<16x16xf32>, tensor<8xi32> -> tensor<8x16xf32>
  %0:3 = hybrid.cross_entropy %logits, %targets : tensor<8x16xf32>, tensor<8xi32> -> tensor<f32>, tensor<f32>, tensor<f32>
  return %0#0, %0#1, %0#2, %logits : tensor<f32>, tensor<f32>, tensor<f32>, tensor<8x16xf32>
}

// -----

// A model with a loss of its own is trained through its @vjp: it gets @update too.
func.func @forward(%x: tensor<4xf32> {hybrid.name = "x"}) -> (tensor<f32> {hybrid.name = "loss"}) {
  %p = hybrid.parameter "p" : tensor<4xf32>
  %y = hybrid.binary mul %p, %x : tensor<4xf32>, tensor<4xf32>
  %loss = hybrid.reduce sum %y over [0] : tensor<4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
// CHECK-LABEL: func.func @update(
// CHECK: hybrid.adamw %{{.+}} parameters ["p"]
