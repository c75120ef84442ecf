// RUN: hybrid-opt %s --canonicalize | FileCheck %s

// A long convolution with a history is one over history and input, of which the new positions are kept; the final state is that longer input.
// CHECK-LABEL: func.func @fftconv_state(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<9x4xf32>
// CHECK-SAME: %[[STATE:[^:]+]]: tensor<2x3x4xf32>
// CHECK-SAME: -> (tensor<2x8x4xf32>, tensor<2x11x4xf32>)
// CHECK-NEXT: %[[CONCAT:.+]] = hybrid.concat %[[STATE]], %[[X]] along 1 : tensor<2x3x4xf32>, tensor<2x8x4xf32> -> tensor<2x11x4xf32>
// CHECK-NEXT: %[[FFTCONV:.+]] = hybrid.fftconv %[[CONCAT]], %[[H]] : tensor<2x11x4xf32>, tensor<9x4xf32> -> tensor<2x11x4xf32>
// CHECK-NEXT: %[[SLICE:.+]] = hybrid.slice %[[FFTCONV]] from [0, 3, 0] size [2, 8, 4] : tensor<2x11x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: return %[[SLICE]], %[[CONCAT]] : tensor<2x8x4xf32>, tensor<2x11x4xf32>
func.func @fftconv_state(%x: tensor<2x8x4xf32>, %h: tensor<9x4xf32>, %state: tensor<2x3x4xf32>) -> (tensor<2x8x4xf32>, tensor<2x11x4xf32>) {
  %y, %last = hybrid.fftconv %x, %h initial_state(%state : tensor<2x3x4xf32>) {return_state} : tensor<2x8x4xf32>, tensor<9x4xf32> -> tensor<2x8x4xf32>, tensor<2x11x4xf32>
  return %y, %last : tensor<2x8x4xf32>, tensor<2x11x4xf32>
}

// The history is of gated inputs; gate_out applies to the new positions only.
// CHECK-LABEL: func.func @fftconv_gates(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: %[[D:[^:]+]]: tensor<4xf32>
// CHECK-SAME: %[[P:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[Q:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[STATE:[^:]+]]: tensor<2x3x4xf32>
// CHECK-SAME: -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[MUL:.+]] = hybrid.binary mul %[[X]], %[[P]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>
// CHECK-NEXT: %[[CONCAT:.+]] = hybrid.concat %[[STATE]], %[[MUL]] along 1 : tensor<2x3x4xf32>, tensor<2x8x4xf32> -> tensor<2x11x4xf32>
// CHECK-NEXT: %[[FFTCONV:.+]] = hybrid.fftconv %[[CONCAT]], %[[H]] skip(%[[D]] : tensor<4xf32>) : tensor<2x11x4xf32>, tensor<8x4xf32> -> tensor<2x11x4xf32>
// CHECK-NEXT: %[[SLICE:.+]] = hybrid.slice %[[FFTCONV]] from [0, 3, 0] size [2, 8, 4] : tensor<2x11x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: %[[MUL1:.+]] = hybrid.binary mul %[[SLICE]], %[[Q]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>
// CHECK-NEXT: return %[[MUL1]] : tensor<2x8x4xf32>
func.func @fftconv_gates(%x: tensor<2x8x4xf32>, %h: tensor<8x4xf32>, %d: tensor<4xf32>, %p: tensor<2x8x4xf32>, %q: tensor<2x8x4xf32>, %state: tensor<2x3x4xf32>) -> tensor<2x8x4xf32> {
  %y = hybrid.fftconv %x, %h skip(%d : tensor<4xf32>) gate_in(%p : tensor<2x8x4xf32>) gate_out(%q : tensor<2x8x4xf32>) initial_state(%state : tensor<2x3x4xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// Without a past the state is the input itself.
// CHECK-LABEL: func.func @fftconv_return(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x8x4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: -> (tensor<2x8x4xf32>, tensor<2x8x4xf32>)
// CHECK-NEXT: %[[FFTCONV:.+]] = hybrid.fftconv %[[X]], %[[H]] : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT: return %[[FFTCONV]], %[[X]] : tensor<2x8x4xf32>, tensor<2x8x4xf32>
func.func @fftconv_return(%x: tensor<2x8x4xf32>, %h: tensor<8x4xf32>) -> (tensor<2x8x4xf32>, tensor<2x8x4xf32>) {
  %y, %last = hybrid.fftconv %x, %h {return_state} : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %y, %last : tensor<2x8x4xf32>, tensor<2x8x4xf32>
}

// Kept while the length is free: the slice needs to know it.
// CHECK-LABEL: func.func @fftconv_free(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x?x4xf32>
// CHECK-SAME: %[[H:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: %[[STATE:[^:]+]]: tensor<2x3x4xf32>
// CHECK-SAME: -> tensor<2x?x4xf32>
// CHECK-NEXT: %[[FFTCONV:.+]] = hybrid.fftconv %[[X]], %[[H]] initial_state(%[[STATE]] : tensor<2x3x4xf32>) : tensor<2x?x4xf32>, tensor<8x4xf32> -> tensor<2x?x4xf32>
// CHECK-NEXT: return %[[FFTCONV]] : tensor<2x?x4xf32>
func.func @fftconv_free(%x: tensor<2x?x4xf32>, %h: tensor<8x4xf32>, %state: tensor<2x3x4xf32>) -> tensor<2x?x4xf32> {
  %y = hybrid.fftconv %x, %h initial_state(%state : tensor<2x3x4xf32>) : tensor<2x?x4xf32>, tensor<8x4xf32> -> tensor<2x?x4xf32>
  return %y : tensor<2x?x4xf32>
}

// Past keys and values stand before the new ones.
// CHECK-LABEL: func.func @attention_past(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<2x8x16xf32>
// CHECK-SAME: %[[K:[^:]+]]: tensor<2x8x8xf32>
// CHECK-SAME: %[[V:[^:]+]]: tensor<2x8x8xf32>
// CHECK-SAME: %[[PK:[^:]+]]: tensor<2x5x8xf32>
// CHECK-SAME: %[[PV:[^:]+]]: tensor<2x5x8xf32>
// CHECK-SAME: -> tensor<2x8x16xf32>
// CHECK-NEXT: %[[CONCAT:.+]] = hybrid.concat %[[PK]], %[[K]] along 1 : tensor<2x5x8xf32>, tensor<2x8x8xf32> -> tensor<2x13x8xf32>
// CHECK-NEXT: %[[CONCAT1:.+]] = hybrid.concat %[[PV]], %[[V]] along 1 : tensor<2x5x8xf32>, tensor<2x8x8xf32> -> tensor<2x13x8xf32>
// CHECK-NEXT: %[[ATTENTION:.+]], %[[ATTENTION1:.+]] = hybrid.attention %[[Q]], %[[CONCAT]], %[[CONCAT1]] heads 4 kv_heads 2 : tensor<2x8x16xf32>, tensor<2x13x8xf32>, tensor<2x13x8xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
// CHECK-NEXT: return %[[ATTENTION]] : tensor<2x8x16xf32>
func.func @attention_past(%q: tensor<2x8x16xf32>, %k: tensor<2x8x8xf32>, %v: tensor<2x8x8xf32>, %pk: tensor<2x5x8xf32>, %pv: tensor<2x5x8xf32>) -> tensor<2x8x16xf32> {
  %0:2 = hybrid.attention %q, %k, %v heads 4 kv_heads 2 past(%pk, %pv : tensor<2x5x8xf32>, tensor<2x5x8xf32>) : tensor<2x8x16xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x16xf32>, tensor<2x4x8xf32>
  return %0#0 : tensor<2x8x16xf32>
}
