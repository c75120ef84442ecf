// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// selective_scan C1: x is a sequence.
func.func @rank(%x: tensor<8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<8x3xf32>) {
  // expected-error@+1 {{x is [8, 4], expected [batch, length, channels]}}
  %0 = hybrid.selective_scan %x, %x, %a, %b, %b : tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x3xf32>, tensor<8x3xf32>, tensor<8x3xf32> -> tensor<8x4xf32>
  return
}

// -----

// selective_scan C2: a step for each element.
func.func @step(%x: tensor<2x8x4xf32>, %dt: tensor<2x8x1xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>) {
  // expected-error@+1 {{dt is [2, 8, 1], but x is [2, 8, 4]}}
  %0 = hybrid.selective_scan %x, %dt, %a, %b, %b : tensor<2x8x4xf32>, tensor<2x8x1xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// selective_scan C3: rates of each channel.
func.func @rates(%x: tensor<2x8x4xf32>, %a: tensor<3x4xf32>, %b: tensor<2x8x3xf32>) {
  // expected-error@+1 {{a is [3, 4], but x has 4 channels: expected [4, states]}}
  %0 = hybrid.selective_scan %x, %x, %a, %b, %b : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<3x4xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// selective_scan C4: the input map has all states of each group.
func.func @input_map(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x4xf32>, %c: tensor<2x8x3xf32>) {
  // expected-error@+1 {{b is [2, 8, 4], but x is [2, 8, 4] with 3 states: expected [channels, states] or [batch, length, groups * states], groups dividing the channels}}
  %0 = hybrid.selective_scan %x, %x, %a, %b, %c : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x4xf32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// selective_scan C4: groups divide the channels.
func.func @groups(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %c: tensor<2x8x9xf32>) {
  // expected-error@+1 {{c is [2, 8, 9], but x is [2, 8, 4] with 3 states}}
  %0 = hybrid.selective_scan %x, %x, %a, %a, %c : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<2x8x9xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// selective_scan C5: as many groups in both maps.
func.func @different_groups(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>, %c: tensor<2x8x6xf32>) {
  // expected-error@+1 {{b has 1 groups and c 2: expected as many}}
  %0 = hybrid.selective_scan %x, %x, %a, %b, %c : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x6xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// selective_scan C6: an id for each position.
func.func @segments(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>, %ids: tensor<2x7xi32>) {
  // expected-error@+1 {{segments is [2, 7], but x is [2, 8, 4]: expected its batch and length}}
  %0 = hybrid.selective_scan %x, %x, %a, %b, %b segments(%ids : tensor<2x7xi32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// selective_scan C7: a state for each channel.
func.func @state(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>, %h: tensor<2x3x4xf32>) {
  // expected-error@+1 {{initial_state is [2, 3, 4], expected [2, 4, 3] ([batch, channels, states])}}
  %0 = hybrid.selective_scan %x, %x, %a, %b, %b initial_state(%h : tensor<2x3x4xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// selective_scan_grad C1: x is a sequence.
func.func @grad_rank(%x: tensor<8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<8x3xf32>) {
  // expected-error@+1 {{x is [8, 4], expected [batch, length, channels]}}
  %0:5 = hybrid.selective_scan_grad %x, %x, %a, %b, %b, %x : tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x4xf32> -> tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>
  return
}

// -----

// selective_scan_grad C2: a step for each element.
func.func @grad_step(%x: tensor<2x8x4xf32>, %dt: tensor<2x8x1xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>) {
  // expected-error@+1 {{dt is [2, 8, 1], but x is [2, 8, 4]}}
  %0:5 = hybrid.selective_scan_grad %x, %dt, %a, %b, %b, %x : tensor<2x8x4xf32>, tensor<2x8x1xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x1xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>
  return
}

// -----

// selective_scan_grad C3: rates of each channel.
func.func @grad_rates(%x: tensor<2x8x4xf32>, %a: tensor<3x4xf32>, %b: tensor<2x8x3xf32>) {
  // expected-error@+1 {{a is [3, 4], but x has 4 channels: expected [4, states]}}
  %0:5 = hybrid.selective_scan_grad %x, %x, %a, %b, %b, %x : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<3x4xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<3x4xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>
  return
}

// -----

// selective_scan_grad C4: maps for each token or constant.
func.func @grad_maps(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x7x3xf32>) {
  // expected-error@+1 {{b is [2, 7, 3], but x is [2, 8, 4] with 3 states}}
  %0:5 = hybrid.selective_scan_grad %x, %x, %a, %b, %a, %x : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x7x3xf32>, tensor<4x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x7x3xf32>, tensor<4x3xf32>
  return
}

// -----

// selective_scan_grad C5: as many groups in both maps.
func.func @grad_groups(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>, %c: tensor<2x8x6xf32>) {
  // expected-error@+1 {{b has 1 groups and c 2: expected as many}}
  %0:5 = hybrid.selective_scan_grad %x, %x, %a, %b, %c, %x : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x6xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x6xf32>
  return
}

// -----

// selective_scan_grad C6: an id for each position.
func.func @grad_segments(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>, %ids: tensor<8xi32>) {
  // expected-error@+1 {{segments is [8], but x is [2, 8, 4]: expected its batch and length}}
  %0:5 = hybrid.selective_scan_grad %x, %x, %a, %b, %b, %x segments(%ids : tensor<8xi32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>
  return
}

// -----

// selective_scan_grad C7: the state's cotangent.
func.func @grad_state(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>, %h: tensor<2x4x4xf32>) {
  // expected-error@+1 {{state_cotangent is [2, 4, 4], expected [2, 4, 3] ([batch, channels, states])}}
  %0:5 = hybrid.selective_scan_grad %x, %x, %a, %b, %b, %x state_cotangent(%h : tensor<2x4x4xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>
  return
}

// -----

// selective_scan_grad C10: the cotangent.
func.func @grad_cotangent(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>, %dy: tensor<2x7x4xf32>) {
  // expected-error@+1 {{cotangent is [2, 7, 4], but x is [2, 8, 4]}}
  %0:5 = hybrid.selective_scan_grad %x, %x, %a, %b, %b, %dy : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x7x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>
  return
}

// -----

// selective_scan C8: one value a channel.
func.func @dt_bias(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>, %v: tensor<3xf32>) {
  // expected-error@+1 {{dt_bias is [3], expected [4]}}
  %0 = hybrid.selective_scan %x, %x, %a, %b, %b dt_bias(%v : tensor<3xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// selective_scan_grad C8.
func.func @grad_dt_bias(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>, %v: tensor<3xf32>) {
  // expected-error@+1 {{dt_bias is [3], expected [4]}}
  %0:6 = hybrid.selective_scan_grad %x, %x, %a, %b, %b, %x dt_bias(%v : tensor<3xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<3xf32>
  return
}

// -----

// selective_scan C8: one value a channel.
func.func @skip(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>, %v: tensor<1xf32>) {
  // expected-error@+1 {{skip is [1], expected [4]}}
  %0 = hybrid.selective_scan %x, %x, %a, %b, %b skip(%v : tensor<1xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// selective_scan_grad C8.
func.func @grad_skip(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>, %v: tensor<1xf32>) {
  // expected-error@+1 {{skip is [1], expected [4]}}
  %0:6 = hybrid.selective_scan_grad %x, %x, %a, %b, %b, %x skip(%v : tensor<1xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<1xf32>
  return
}

// -----

// selective_scan C9: the gate is a sequence like x.
func.func @gate(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>, %v: tensor<2x8x1xf32>) {
  // expected-error@+1 {{gate is [2, 8, 1], but x is [2, 8, 4]}}
  %0 = hybrid.selective_scan %x, %x, %a, %b, %b gate(%v : tensor<2x8x1xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// selective_scan_grad C9.
func.func @grad_gate(%x: tensor<2x8x4xf32>, %a: tensor<4x3xf32>, %b: tensor<2x8x3xf32>, %v: tensor<2x8x1xf32>) {
  // expected-error@+1 {{gate is [2, 8, 1], but x is [2, 8, 4]}}
  %0:6 = hybrid.selective_scan_grad %x, %x, %a, %b, %b, %x gate(%v : tensor<2x8x1xf32>) : tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x3xf32>, tensor<2x8x3xf32>, tensor<2x8x1xf32>
  return
}
