// RUN: hybrid-opt %s | FileCheck %s
// RUN: hybrid-opt %s | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --mlir-print-op-generic | hybrid-opt | FileCheck %s
// RUN: hybrid-opt %s --emit-bytecode | hybrid-opt | FileCheck %s

// Every optional operand of the short convolution, each under its keyword.
// CHECK-LABEL: func.func @short_conv(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<4x3xf32>
// CHECK-SAME: %[[B:[^:]+]]: tensor<4xf32>
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<2x8xi32>
// CHECK-SAME: %[[STATE:[^:]+]]: tensor<2x2x4xf32>
// CHECK-SAME: -> (tensor<2x8x4xf32>, tensor<2x2x4xf32>)
// CHECK-NEXT: %[[SHORT_CONV:.+]] = hybrid.short_conv %[[X]], %[[W]] : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[SHORT_CONV1:.+]] = hybrid.short_conv %[[SHORT_CONV]], %[[W]] bias(%[[B]] : tensor<4xf32>) segments(%[[IDS]] : tensor<2x8xi32>) : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[SHORT_CONV2:.+]], %[[SHORT_CONV3:.+]] = hybrid.short_conv %[[SHORT_CONV1]], %[[W]] initial_state(%[[STATE]] : tensor<2x2x4xf32>) {return_state} : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>, tensor<2x2x4xf32>
// CHECK-NEXT: return %[[SHORT_CONV2]], %[[SHORT_CONV3]] : tensor<2x8x4xf32>, tensor<2x2x4xf32>
func.func @short_conv(%x: tensor<2x8x4xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>, %ids: tensor<2x8xi32>, %state: tensor<2x2x4xf32>) -> (tensor<2x8x4xf32>, tensor<2x2x4xf32>) {
  %0 = hybrid.short_conv %x, %w : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
  %1 = hybrid.short_conv %0, %w bias(%b : tensor<4xf32>) segments(%ids : tensor<2x8xi32>) : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
  %2, %last = hybrid.short_conv %1, %w initial_state(%state : tensor<2x2x4xf32>) {return_state} : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>, tensor<2x2x4xf32>
  return %2, %last : tensor<2x8x4xf32>, tensor<2x2x4xf32>
}

// Its gradient, with a gradient of the initial state where there is one.
// CHECK-LABEL: func.func @short_conv_grad(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<4x3xf32>
// CHECK-SAME: %[[DY:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<2x8xi32>
// CHECK-SAME: %[[STATE:[^:]+]]: tensor<2x2x4xf32>
// CHECK-SAME: -> tensor<2x2x4xf32>
// CHECK-NEXT: %[[SHORT_CONV_GRAD:.+]], %[[SHORT_CONV_GRAD1:.+]], %[[SHORT_CONV_GRAD2:.+]] = hybrid.short_conv_grad %[[X]], %[[W]], %[[DY]] segments(%[[IDS]] : tensor<2x8xi32>) : tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4xf32>
// CHECK-NEXT: %[[SHORT_CONV_GRAD3:.+]], %[[SHORT_CONV_GRAD4:.+]], %[[SHORT_CONV_GRAD5:.+]], %[[SHORT_CONV_GRAD6:.+]] = hybrid.short_conv_grad %[[X]], %[[W]], %[[DY]] initial_state(%[[STATE]] : tensor<2x2x4xf32>) state_cotangent(%[[STATE]] : tensor<2x2x4xf32>) : tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4xf32>, tensor<2x2x4xf32>
// CHECK-NEXT: return %[[SHORT_CONV_GRAD6]] : tensor<2x2x4xf32>
func.func @short_conv_grad(%x: tensor<2x8x4xf32>, %w: tensor<4x3xf32>, %dy: tensor<2x8x4xf32>, %ids: tensor<2x8xi32>, %state: tensor<2x2x4xf32>) -> tensor<2x2x4xf32> {
  %0:3 = hybrid.short_conv_grad %x, %w, %dy segments(%ids : tensor<2x8xi32>) : tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4xf32>
  %1:4 = hybrid.short_conv_grad %x, %w, %dy initial_state(%state : tensor<2x2x4xf32>) state_cotangent(%state : tensor<2x2x4xf32>) : tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4xf32>, tensor<2x2x4xf32>
  return %1#3 : tensor<2x2x4xf32>
}

// The long convolution alone, with everything, and with a state.
// CHECK-LABEL: func.func @fftconv(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: %[[D:[^:]+]]: tensor<4xf32>
// CHECK-SAME: %[[P:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[Q:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<2x8xi32>
// CHECK-SAME: %[[STATE:[^:]+]]: tensor<2x3x4xf32>
// CHECK-SAME: -> (tensor<2x8x4xf32>, tensor<2x11x4xf32>)
// CHECK-NEXT: %[[FFTCONV:.+]] = hybrid.fftconv %[[X]], %[[H]] : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[FFTCONV1:.+]] = hybrid.fftconv %[[FFTCONV]], %[[H]] skip(%[[D]] : tensor<4xf32>) gate_in(%[[P]] : tensor<2x8x4xf32>) gate_out(%[[Q]] : tensor<2x8x4xf32>) segments(%[[IDS]] : tensor<2x8xi32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[FFTCONV2:.+]], %[[FFTCONV3:.+]] = hybrid.fftconv %[[FFTCONV1]], %[[H]] initial_state(%[[STATE]] : tensor<2x3x4xf32>) {return_state} : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>, tensor<2x11x4xf32>
// CHECK-NEXT: return %[[FFTCONV2]], %[[FFTCONV3]] : tensor<2x8x4xf32>, tensor<2x11x4xf32>
func.func @fftconv(%x: tensor<2x8x4xf32>, %h: tensor<8x4xf32>, %d: tensor<4xf32>, %p: tensor<2x8x4xf32>, %q: tensor<2x8x4xf32>, %ids: tensor<2x8xi32>, %state: tensor<2x3x4xf32>) -> (tensor<2x8x4xf32>, tensor<2x11x4xf32>) {
  %0 = hybrid.fftconv %x, %h : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  %1 = hybrid.fftconv %0, %h skip(%d : tensor<4xf32>) gate_in(%p : tensor<2x8x4xf32>) gate_out(%q : tensor<2x8x4xf32>) segments(%ids : tensor<2x8xi32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  %2, %history = hybrid.fftconv %1, %h initial_state(%state : tensor<2x3x4xf32>) {return_state} : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>, tensor<2x11x4xf32>
  return %2, %history : tensor<2x8x4xf32>, tensor<2x11x4xf32>
}

// One gradient for each operand that is there.
// CHECK-LABEL: func.func @fftconv_grad(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: %[[DY:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[D:[^:]+]]: tensor<4xf32>
// CHECK-SAME: %[[P:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[Q:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[FFTCONV_GRAD:.+]]:2 = hybrid.fftconv_grad %[[X]], %[[H]], %[[DY]] : tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<8x4xf32>
// CHECK-NEXT: %[[FFTCONV_GRAD1:.+]]:5 = hybrid.fftconv_grad %[[X]], %[[H]], %[[DY]] skip(%[[D]] : tensor<4xf32>) gate_in(%[[P]] : tensor<2x8x4xf32>) gate_out(%[[Q]] : tensor<2x8x4xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>
// CHECK-NEXT: return %[[FFTCONV_GRAD1]]#4 : tensor<2x8x4xf32>
func.func @fftconv_grad(%x: tensor<2x8x4xf32>, %h: tensor<8x4xf32>, %dy: tensor<2x8x4xf32>, %d: tensor<4xf32>, %p: tensor<2x8x4xf32>, %q: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %0:2 = hybrid.fftconv_grad %x, %h, %dy : tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<8x4xf32>
  %1:5 = hybrid.fftconv_grad %x, %h, %dy skip(%d : tensor<4xf32>) gate_in(%p : tensor<2x8x4xf32>) gate_out(%q : tensor<2x8x4xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %1#4 : tensor<2x8x4xf32>
}

// Plain, grouped with rotation and a window, packed, and with a past.
// CHECK-LABEL: func.func @attention(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<2x8x16xf32>
// CHECK-SAME: %[[K:[^:]+]]: tensor<2x8x8xf32>
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x8xf32>
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<2x8xi32>
// CHECK-SAME: %[[PAST:[^:]+]]: tensor<2x5x8xf32>
// CHECK-SAME: -> (tensor<2x8x16xf32>, tensor<2x4x8xf32>)
// CHECK-NEXT: %[[ATTENTION:.+]], %[[ATTENTION1:.+]] = hybrid.attention %[[Q]], %[[Q]], %[[Q]] heads 4 kv_heads 4 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
// CHECK-NEXT: %[[ATTENTION2:.+]], %[[ATTENTION3:.+]] = hybrid.attention %[[Q]], %[[K]], %[[V]] heads 4 kv_heads 2 {rotary_base = 5.000000e+05 : f64, rotary_dims = 2 : i64, rotary_interleaved = true, scale = 2.500000e-01 : f64, window = 3 : i64, xpos_base = 5.120000e+02 : f64} : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
// CHECK-NEXT: %[[ATTENTION4:.+]], %[[ATTENTION5:.+]] = hybrid.attention %[[Q]], %[[K]], %[[V]] heads 4 kv_heads 2 segments(%[[IDS]] : tensor<2x8xi32>) {causal = false} : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
// CHECK-NEXT: %[[ATTENTION6:.+]], %[[ATTENTION7:.+]] = hybrid.attention %[[Q]], %[[K]], %[[V]] heads 4 kv_heads 2 past(%[[PAST]], %[[PAST]] : tensor<2x5x8xf32>, tensor<2x5x8xf32>) : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
// CHECK-NEXT: return %[[ATTENTION6]], %[[ATTENTION7]] : tensor<2x8x16xf32>, tensor<2x4x8xf32>
func.func @attention(%q: tensor<2x8x16xf32>, %k: tensor<2x8x8xf32>, %v: tensor<2x8x8xf32>, %ids: tensor<2x8xi32>, %past: tensor<2x5x8xf32>) -> (tensor<2x8x16xf32>, tensor<2x4x8xf32>) {
  %0:2 = hybrid.attention %q, %q, %q heads 4 kv_heads 4 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  %1:2 = hybrid.attention %q, %k, %v heads 4 kv_heads 2 {rotary_dims = 2 : i64, rotary_base = 5.0e5 : f64, rotary_interleaved = true, xpos_base = 512.0 : f64, window = 3 : i64, scale = 0.25 : f64} : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  %2:2 = hybrid.attention %q, %k, %v heads 4 kv_heads 2 segments(%ids : tensor<2x8xi32>) {causal = false} : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  %3:2 = hybrid.attention %q, %k, %v heads 4 kv_heads 2 past(%past, %past : tensor<2x5x8xf32>, tensor<2x5x8xf32>) : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  return %3#0, %3#1 : tensor<2x8x16xf32>, tensor<2x4x8xf32>
}

// The gradient needs the output and the softmax denominators, and knows every option.
// CHECK-LABEL: func.func @attention_grad(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<2x8x16xf32>
// CHECK-SAME: %[[K:[^:]+]]: tensor<2x8x8xf32>
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x8xf32>
// CHECK-SAME: %[[LSE:[^:]+]]: tensor<2x4x8xf32>
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<2x8xi32>
// CHECK-SAME: -> tensor<2x8x16xf32>
// CHECK-NEXT: %[[ATTENTION_GRAD:.+]], %[[ATTENTION_GRAD1:.+]], %[[ATTENTION_GRAD2:.+]] = hybrid.attention_grad %[[Q]], %[[K]], %[[V]], %[[Q]], %[[LSE]], %[[Q]] heads 4 kv_heads 2 segments(%[[IDS]] : tensor<2x8xi32>) {causal = true, rotary_base = 1.000000e+04 : f64, rotary_dims = 2 : i64, rotary_interleaved = false, scale = 5.000000e-01 : f64, window = -1 : i64, xpos_base = 0.000000e+00 : f64} : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x16xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>
// CHECK-NEXT: return %[[ATTENTION_GRAD]] : tensor<2x8x16xf32>
func.func @attention_grad(%q: tensor<2x8x16xf32>, %k: tensor<2x8x8xf32>, %v: tensor<2x8x8xf32>, %lse: tensor<2x4x8xf32>, %ids: tensor<2x8xi32>) -> tensor<2x8x16xf32> {
  %0:3 = hybrid.attention_grad %q, %k, %v, %q, %lse, %q heads 4 kv_heads 2 segments(%ids : tensor<2x8xi32>) {causal = true, window = -1 : i64, rotary_dims = 2 : i64, rotary_base = 1.0e4 : f64, rotary_interleaved = false, xpos_base = 0.0 : f64, scale = 0.5 : f64} : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x16xf32>, tensor<2x4x8xf32>, tensor<2x8x16xf32> -> tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>
  return %0#0 : tensor<2x8x16xf32>
}
