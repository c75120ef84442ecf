// RUN: hybrid-opt %s --pass-pipeline='builtin.module(func.func(hybrid-fuse-gates))' | FileCheck %s

// Fused: the gate before and the gate after the convolution, as in Hyena.
// CHECK-LABEL: func.func @both_gates(
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[G1:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[G0:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[FFTCONV:.+]] = hybrid.fftconv %[[V]], %[[H]] gate_in(%[[G1]] : tensor<2x8x4xf32>) gate_out(%[[G0]] : tensor<2x8x4xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: return %[[FFTCONV]] : tensor<2x8x4xf32>
func.func @both_gates(%v: tensor<2x8x4xf32>, %g1: tensor<2x8x4xf32>, %g0: tensor<2x8x4xf32>, %h: tensor<8x4xf32>) -> tensor<2x8x4xf32> {
  %w = hybrid.binary mul %v, %g1 : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  %c = hybrid.fftconv %w, %h : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  %y = hybrid.binary mul %g0, %c : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// Fused: the skip term first, which frees the product for the gate.
// CHECK-LABEL: func.func @skip(
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[G1:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[G0:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: %[[D:[^:]+]]: tensor<4xf32>
// CHECK-SAME: -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[FFTCONV:.+]] = hybrid.fftconv %[[V]], %[[H]] skip(%[[D]] : tensor<4xf32>) gate_in(%[[G1]] : tensor<2x8x4xf32>) gate_out(%[[G0]] : tensor<2x8x4xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: return %[[FFTCONV]] : tensor<2x8x4xf32>
func.func @skip(%v: tensor<2x8x4xf32>, %g1: tensor<2x8x4xf32>, %g0: tensor<2x8x4xf32>, %h: tensor<8x4xf32>, %d: tensor<4xf32>) -> tensor<2x8x4xf32> {
  %w = hybrid.binary mul %v, %g1 : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  %c = hybrid.fftconv %w, %h : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  %s = hybrid.binary mul %d, %w : tensor<4xf32>, tensor<2x8x4xf32>
  %z = hybrid.binary add %s, %c : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  %y = hybrid.binary mul %z, %g0 : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// Fused: a gate that is computed after the convolution; the fused op stands where the product stood.
// CHECK-LABEL: func.func @late_gate(
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[SILU:.+]] = hybrid.unary silu %[[V]] : tensor<2x8x4xf32>
// CHECK-NEXT: %[[FFTCONV:.+]] = hybrid.fftconv %[[V]], %[[H]] gate_out(%[[SILU]] : tensor<2x8x4xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: return %[[FFTCONV]] : tensor<2x8x4xf32>
func.func @late_gate(%v: tensor<2x8x4xf32>, %h: tensor<8x4xf32>) -> tensor<2x8x4xf32> {
  %c = hybrid.fftconv %v, %h : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  %g = hybrid.unary silu %v : tensor<2x8x4xf32>
  %y = hybrid.binary mul %c, %g : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// Fused in a chain: the product between two convolutions gates the input of the second.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[G:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[FFTCONV:.+]] = hybrid.fftconv %[[V]], %[[H]] : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[FFTCONV1:.+]] = hybrid.fftconv %[[FFTCONV]], %[[H]] gate_in(%[[G]] : tensor<2x8x4xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: return %[[FFTCONV1]] : tensor<2x8x4xf32>
func.func @chain(%v: tensor<2x8x4xf32>, %g: tensor<2x8x4xf32>, %h: tensor<8x4xf32>) -> tensor<2x8x4xf32> {
  %a = hybrid.fftconv %v, %h : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  %w = hybrid.binary mul %a, %g : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  %b = hybrid.fftconv %w, %h : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  return %b : tensor<2x8x4xf32>
}

// Fused with a state: the history is of gated values either way.
// CHECK-LABEL: func.func @state(
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[G:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: %[[S:[^:]+]]: tensor<2x3x4xf32>
// CHECK-SAME: -> (tensor<2x8x4xf32>, tensor<2x11x4xf32>)
// CHECK-NEXT: %[[FFTCONV:.+]], %[[FFTCONV1:.+]] = hybrid.fftconv %[[V]], %[[H]] gate_in(%[[G]] : tensor<2x8x4xf32>) initial_state(%[[S]] : tensor<2x3x4xf32>) {return_state} : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>, tensor<2x11x4xf32>
// CHECK-NEXT: return %[[FFTCONV]], %[[FFTCONV1]] : tensor<2x8x4xf32>, tensor<2x11x4xf32>
func.func @state(%v: tensor<2x8x4xf32>, %g: tensor<2x8x4xf32>, %h: tensor<8x4xf32>, %s: tensor<2x3x4xf32>) -> (tensor<2x8x4xf32>, tensor<2x11x4xf32>) {
  %w = hybrid.binary mul %v, %g : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  %y, %last = hybrid.fftconv %w, %h initial_state(%s : tensor<2x3x4xf32>) {return_state} : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>, tensor<2x11x4xf32>
  return %y, %last : tensor<2x8x4xf32>, tensor<2x11x4xf32>
}

// Not fused: the gated input has a second use, so that it must be in memory anyway.
// CHECK-LABEL: func.func @second_use_in(
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[G:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: -> (tensor<2x8x4xf32>, tensor<2x8x4xf32>)
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[V]], %[[G]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>
// CHECK-NEXT: %[[FFTCONV:.+]] = hybrid.fftconv %[[MUL]], %[[H]] : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: return %[[FFTCONV]], %[[MUL]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>
func.func @second_use_in(%v: tensor<2x8x4xf32>, %g: tensor<2x8x4xf32>, %h: tensor<8x4xf32>) -> (tensor<2x8x4xf32>, tensor<2x8x4xf32>) {
  %w = hybrid.binary mul %v, %g : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  %y = hybrid.fftconv %w, %h : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  return %y, %w : tensor<2x8x4xf32>, tensor<2x8x4xf32>
}

// Not fused: so has the convolution's result.
// CHECK-LABEL: func.func @second_use_out(
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[G:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: -> (tensor<2x8x4xf32>, tensor<2x8x4xf32>)
// CHECK-NEXT: %[[FFTCONV:.+]] = hybrid.fftconv %[[V]], %[[H]] : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[FFTCONV]], %[[G]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>
// CHECK-NEXT: return %[[MUL]], %[[FFTCONV]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>
func.func @second_use_out(%v: tensor<2x8x4xf32>, %g: tensor<2x8x4xf32>, %h: tensor<8x4xf32>) -> (tensor<2x8x4xf32>, tensor<2x8x4xf32>) {
  %c = hybrid.fftconv %v, %h : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  %y = hybrid.binary mul %c, %g : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %y, %c : tensor<2x8x4xf32>, tensor<2x8x4xf32>
}

// Not fused: the convolution times itself.
// CHECK-LABEL: func.func @square(
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[FFTCONV:.+]] = hybrid.fftconv %[[V]], %[[H]] : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[FFTCONV]], %[[FFTCONV]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>
// CHECK-NEXT: return %[[MUL]] : tensor<2x8x4xf32>
func.func @square(%v: tensor<2x8x4xf32>, %h: tensor<8x4xf32>) -> tensor<2x8x4xf32> {
  %c = hybrid.fftconv %v, %h : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  %y = hybrid.binary mul %c, %c : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// Not fused: gates that are broadcast, on either side.
// CHECK-LABEL: func.func @broadcast_gate(
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[G:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[V]], %[[G]] : tensor<2x8x4xf32>, tensor<8x4xf32>
// CHECK-NEXT: %[[FFTCONV:.+]] = hybrid.fftconv %[[MUL]], %[[H]] : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[MUL1:.+]] = hybrid.binary mul %[[FFTCONV]], %[[G]] : tensor<2x8x4xf32>, tensor<8x4xf32>
// CHECK-NEXT: return %[[MUL1]] : tensor<2x8x4xf32>
func.func @broadcast_gate(%v: tensor<2x8x4xf32>, %g: tensor<8x4xf32>, %h: tensor<8x4xf32>) -> tensor<2x8x4xf32> {
  %w = hybrid.binary mul %v, %g : tensor<2x8x4xf32>, tensor<8x4xf32>
  %c = hybrid.fftconv %w, %h : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  %y = hybrid.binary mul %c, %g : tensor<2x8x4xf32>, tensor<8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// Not fused: the skip is of one value for all channels, or of another tensor than was convolved.
// CHECK-LABEL: func.func @other_skip(
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: %[[D:[^:]+]]: tensor<1xf32>
// CHECK-SAME: %[[E:[^:]+]]: tensor<4xf32>
// CHECK-SAME: -> (tensor<2x8x4xf32>, tensor<2x8x4xf32>)
// CHECK-NEXT: %[[FFTCONV:.+]] = hybrid.fftconv %[[V]], %[[H]] : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[V]], %[[D]] : tensor<2x8x4xf32>, tensor<1xf32>
// CHECK-NEXT: %[[ADD:.+]] = hybrid.binary add %[[FFTCONV]], %[[MUL]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>
// CHECK-NEXT: %[[FFTCONV1:.+]] = hybrid.fftconv %[[V]], %[[H]] : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[MUL1:.+]] = hybrid.binary mul %[[X]], %[[E]] : tensor<2x8x4xf32>, tensor<4xf32>
// CHECK-NEXT: %[[ADD1:.+]] = hybrid.binary add %[[FFTCONV1]], %[[MUL1]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>
// CHECK-NEXT: return %[[ADD]], %[[ADD1]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>
func.func @other_skip(%v: tensor<2x8x4xf32>, %x: tensor<2x8x4xf32>, %h: tensor<8x4xf32>, %d: tensor<1xf32>, %e: tensor<4xf32>) -> (tensor<2x8x4xf32>, tensor<2x8x4xf32>) {
  %a = hybrid.fftconv %v, %h : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  %p = hybrid.binary mul %v, %d : tensor<2x8x4xf32>, tensor<1xf32>
  %y = hybrid.binary add %a, %p : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  %b = hybrid.fftconv %v, %h : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  %q = hybrid.binary mul %x, %e : tensor<2x8x4xf32>, tensor<4xf32>
  %z = hybrid.binary add %b, %q : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %y, %z : tensor<2x8x4xf32>, tensor<2x8x4xf32>
}

// Not fused: the skip comes after the gate, where it is not gated.
// CHECK-LABEL: func.func @skip_after_gate(
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[G:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: %[[D:[^:]+]]: tensor<4xf32>
// CHECK-SAME: -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[FFTCONV:.+]] = hybrid.fftconv %[[V]], %[[H]] gate_out(%[[G]] : tensor<2x8x4xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[V]], %[[D]] : tensor<2x8x4xf32>, tensor<4xf32>
// CHECK-NEXT: %[[ADD:.+]] = hybrid.binary add %[[FFTCONV]], %[[MUL]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>
// CHECK-NEXT: return %[[ADD]] : tensor<2x8x4xf32>
func.func @skip_after_gate(%v: tensor<2x8x4xf32>, %g: tensor<2x8x4xf32>, %h: tensor<8x4xf32>, %d: tensor<4xf32>) -> tensor<2x8x4xf32> {
  %c = hybrid.fftconv %v, %h gate_out(%g : tensor<2x8x4xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  %p = hybrid.binary mul %v, %d : tensor<2x8x4xf32>, tensor<4xf32>
  %y = hybrid.binary add %c, %p : tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}
