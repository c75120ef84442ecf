// RUN: hybrid-opt %s --split-input-file --verify-diagnostics

// short_conv C1: x is a sequence.
func.func @short_conv_rank(%x: tensor<8x4xf32>, %w: tensor<4x3xf32>) {
  // expected-error@+1 {{x is [8, 4], expected [batch, length, channels]}}
  %0 = hybrid.short_conv %x, %w : tensor<8x4xf32>, tensor<4x3xf32> -> tensor<8x4xf32>
  return
}

// -----

// short_conv C2: taps for each channel.
func.func @short_conv_weight(%x: tensor<2x8x4xf32>, %w: tensor<3x4xf32>) {
  // expected-error@+1 {{weight is [3, 4], but x has 4 channels: expected [4, taps]}}
  %0 = hybrid.short_conv %x, %w : tensor<2x8x4xf32>, tensor<3x4xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// short_conv C2: one tap at least.
func.func @short_conv_taps(%x: tensor<2x8x4xf32>, %w: tensor<4x0xf32>) {
  // expected-error@+1 {{weight is [4, 0]: expected at least one tap}}
  %0 = hybrid.short_conv %x, %w : tensor<2x8x4xf32>, tensor<4x0xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// short_conv C2: bias.
func.func @short_conv_bias(%x: tensor<2x8x4xf32>, %w: tensor<4x3xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{bias is [3], but x has 4 channels}}
  %0 = hybrid.short_conv %x, %w bias(%b : tensor<3xf32>) : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// short_conv C3: a segment id for each position.
func.func @short_conv_segments(%x: tensor<2x8x4xf32>, %w: tensor<4x3xf32>, %ids: tensor<2x7xi32>) {
  // expected-error@+1 {{segments is [2, 7], but x is [2, 8, 4]: expected its batch and length}}
  %0 = hybrid.short_conv %x, %w segments(%ids : tensor<2x7xi32>) : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// short_conv C4: the state holds taps - 1 inputs.
func.func @short_conv_state(%x: tensor<2x8x4xf32>, %w: tensor<4x3xf32>, %s: tensor<2x3x4xf32>) {
  // expected-error@+1 {{initial_state is [2, 3, 4], but x is [2, 8, 4] and there are 3 taps: expected [batch, taps - 1, channels]}}
  %0 = hybrid.short_conv %x, %w initial_state(%s : tensor<2x3x4xf32>) : tensor<2x8x4xf32>, tensor<4x3xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// short_conv_grad C1.
func.func @short_conv_grad_rank(%x: tensor<8x4xf32>, %w: tensor<4x3xf32>) {
  // expected-error@+1 {{x is [8, 4], expected [batch, length, channels]}}
  %0:3 = hybrid.short_conv_grad %x, %w, %x : tensor<8x4xf32>, tensor<4x3xf32>, tensor<8x4xf32> -> tensor<8x4xf32>, tensor<4x3xf32>, tensor<4xf32>
  return
}

// -----

// short_conv_grad C2.
func.func @short_conv_grad_weight(%x: tensor<2x8x4xf32>, %w: tensor<3x4xf32>) {
  // expected-error@+1 {{weight is [3, 4], but x has 4 channels: expected [4 or a multiple, taps]}}
  %0:3 = hybrid.short_conv_grad %x, %w, %x : tensor<2x8x4xf32>, tensor<3x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<3x4xf32>, tensor<3xf32>
  return
}

// -----

// short_conv_grad C2, with a vector of taps.
func.func @short_conv_grad_vector(%x: tensor<2x8x4xf32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{weight is [4], but x has 4 channels: expected [4 or a multiple, taps]}}
  %0:3 = hybrid.short_conv_grad %x, %w, %x : tensor<2x8x4xf32>, tensor<4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// short_conv_grad C3.
func.func @short_conv_grad_segments(%x: tensor<2x8x4xf32>, %w: tensor<4x3xf32>, %ids: tensor<8xi32>) {
  // expected-error@+1 {{segments is [8], but x is [2, 8, 4]: expected its batch and length}}
  %0:3 = hybrid.short_conv_grad %x, %w, %x segments(%ids : tensor<8xi32>) : tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4xf32>
  return
}

// -----

// short_conv_grad C4: the cotangent of the final state.
func.func @short_conv_grad_state(%x: tensor<2x8x4xf32>, %w: tensor<4x3xf32>, %s: tensor<2x8x4xf32>) {
  // expected-error@+1 {{state_cotangent is [2, 8, 4], but x is [2, 8, 4] and there are 3 taps: expected [batch, taps - 1, channels]}}
  %0:3 = hybrid.short_conv_grad %x, %w, %x state_cotangent(%s : tensor<2x8x4xf32>) : tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4xf32>
  return
}

// -----

// short_conv_grad C4: a state belongs to each channel, so inputs before the first would differ.
func.func @short_conv_grad_repeated_state(%x: tensor<2x8x2xf32>, %w: tensor<4x3xf32>, %dy: tensor<2x8x4xf32>, %s: tensor<2x2x2xf32>) {
  // expected-error@+1 {{weight is [4, 3], but x has 2 channels: expected as many where there is a state}}
  %0:3 = hybrid.short_conv_grad %x, %w, %dy state_cotangent(%s : tensor<2x2x2xf32>) : tensor<2x8x2xf32>, tensor<4x3xf32>, tensor<2x8x4xf32> -> tensor<2x8x2xf32>, tensor<4x3xf32>, tensor<4xf32>
  return
}

// -----

// short_conv_grad C5: the cotangent is shaped as x.
func.func @short_conv_grad_cotangent(%x: tensor<2x8x4xf32>, %w: tensor<4x3xf32>, %dy: tensor<2x7x4xf32>) {
  // expected-error@+1 {{cotangent is [2, 7, 4], but x is [2, 8, 4] and there are 4 channels: expected [batch, length, channels]}}
  %0:3 = hybrid.short_conv_grad %x, %w, %dy : tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<2x7x4xf32> -> tensor<2x8x4xf32>, tensor<4x3xf32>, tensor<4xf32>
  return
}

// -----

// fftconv C1: x is a sequence.
func.func @fftconv_rank(%x: tensor<8xf32>, %h: tensor<8x4xf32>) {
  // expected-error@+1 {{x is [8], expected [batch, length, channels]}}
  %0 = hybrid.fftconv %x, %h : tensor<8xf32>, tensor<8x4xf32> -> tensor<8xf32>
  return
}

// -----

// fftconv C2: a filter for each channel.
func.func @fftconv_channels(%x: tensor<2x8x128xf32>, %h: tensor<8x64xf32>) {
  // expected-error@+1 {{filter is [8, 64], but x has 128 channels: expected [taps, 128]}}
  %0 = hybrid.fftconv %x, %h : tensor<2x8x128xf32>, tensor<8x64xf32> -> tensor<2x8x128xf32>
  return
}

// -----

// fftconv C2: no tap beyond the length.
func.func @fftconv_length(%x: tensor<2x8x4xf32>, %h: tensor<9x4xf32>) {
  // expected-error@+1 {{filter has 9 taps, but x only 8 positions: cut it to the length}}
  %0 = hybrid.fftconv %x, %h : tensor<2x8x4xf32>, tensor<9x4xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// fftconv C2: nor beyond length and history.
func.func @fftconv_history(%x: tensor<2x8x4xf32>, %h: tensor<12x4xf32>, %s: tensor<2x3x4xf32>) {
  // expected-error@+1 {{filter has 12 taps, but x only 11 positions: cut it to the length}}
  %0 = hybrid.fftconv %x, %h initial_state(%s : tensor<2x3x4xf32>) : tensor<2x8x4xf32>, tensor<12x4xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// fftconv C3: one skip for each channel.
func.func @fftconv_skip(%x: tensor<2x8x4xf32>, %h: tensor<8x4xf32>, %d: tensor<1xf32>) {
  // expected-error@+1 {{skip is [1], but x has 4 channels}}
  %0 = hybrid.fftconv %x, %h skip(%d : tensor<1xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// fftconv C4: gates have the type of x.
func.func @fftconv_gate(%x: tensor<2x8x4xf32>, %h: tensor<8x4xf32>, %g: tensor<1x8x4xf32>) {
  // expected-error@+1 {{gate is [1, 8, 4], but x is [2, 8, 4]}}
  %0 = hybrid.fftconv %x, %h gate_out(%g : tensor<1x8x4xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// fftconv C5: a segment id for each position.
func.func @fftconv_segments(%x: tensor<2x8x4xf32>, %h: tensor<8x4xf32>, %ids: tensor<2x8x4xi32>) {
  // expected-error@+1 {{segments is [2, 8, 4], but x is [2, 8, 4]: expected its batch and length}}
  %0 = hybrid.fftconv %x, %h segments(%ids : tensor<2x8x4xi32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// fftconv C5: segments or a state.
func.func @f(%x: tensor<2x8x4xf32>, %h: tensor<8x4xf32>, %s: tensor<2x8xi32>, %p: tensor<2x3x4xf32>) {
  // expected-error@+1 {{has segments and a state: carry the state or pack, not both}}
  %y = hybrid.fftconv %x, %h segments(%s : tensor<2x8xi32>) initial_state(%p : tensor<2x3x4xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// fftconv C6: the history has x's batch and channels.
func.func @fftconv_state(%x: tensor<2x8x4xf32>, %h: tensor<8x4xf32>, %s: tensor<2x3x5xf32>) {
  // expected-error@+1 {{initial_state is [2, 3, 5], but x is [2, 8, 4]: expected [batch, positions, channels]}}
  %0 = hybrid.fftconv %x, %h initial_state(%s : tensor<2x3x5xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32> -> tensor<2x8x4xf32>
  return
}

// -----

// fftconv_grad C1.
func.func @fftconv_grad_rank(%x: tensor<8x4xf32>, %h: tensor<8x4xf32>) {
  // expected-error@+1 {{x is [8, 4], expected [batch, length, channels]}}
  %0:2 = hybrid.fftconv_grad %x, %h, %x : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>, tensor<8x4xf32>
  return
}

// -----

// fftconv_grad C2.
func.func @fftconv_grad_filter(%x: tensor<2x8x4xf32>, %h: tensor<9x4xf32>) {
  // expected-error@+1 {{filter has 9 taps, but x only 8 positions: cut it to the length}}
  %0:2 = hybrid.fftconv_grad %x, %h, %x : tensor<2x8x4xf32>, tensor<9x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<9x4xf32>
  return
}

// -----

// fftconv_grad C3.
func.func @fftconv_grad_skip(%x: tensor<2x8x4xf32>, %h: tensor<8x4xf32>, %d: tensor<8xf32>) {
  // expected-error@+1 {{skip is [8], but x has 4 channels}}
  %0:3 = hybrid.fftconv_grad %x, %h, %x skip(%d : tensor<8xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<8xf32>
  return
}

// -----

// fftconv_grad C4.
func.func @fftconv_grad_gate(%x: tensor<2x8x4xf32>, %h: tensor<8x4xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{gate is [4], but x is [2, 8, 4]}}
  %0:3 = hybrid.fftconv_grad %x, %h, %x gate_in(%g : tensor<4xf32>) : tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<4xf32>
  return
}

// -----

// fftconv_grad C5.
func.func @fftconv_grad_segments(%x: tensor<2x8x4xf32>, %h: tensor<8x4xf32>, %ids: tensor<1x8xi32>) {
  // expected-error@+1 {{segments is [1, 8], but x is [2, 8, 4]: expected its batch and length}}
  %0:2 = hybrid.fftconv_grad %x, %h, %x segments(%ids : tensor<1x8xi32>) : tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<2x8x4xf32> -> tensor<2x8x4xf32>, tensor<8x4xf32>
  return
}

// -----

// fftconv_grad C6: the cotangent is shaped as x.
func.func @fftconv_grad_cotangent(%x: tensor<2x8x4xf32>, %h: tensor<8x4xf32>, %dy: tensor<1x8x4xf32>) {
  // expected-error@+1 {{cotangent is [1, 8, 4], but x is [2, 8, 4]: expected equal shapes}}
  %0:2 = hybrid.fftconv_grad %x, %h, %dy : tensor<2x8x4xf32>, tensor<8x4xf32>, tensor<1x8x4xf32> -> tensor<2x8x4xf32>, tensor<8x4xf32>
  return
}

// -----

// short_conv C5: what one tap carries.
func.func @one_tap_state(%x: tensor<2x8x4xf32>, %w: tensor<4x1xf32>) {
  // expected-error@+1 {{return_state is set, but a convolution of one tap carries no state}}
  %0, %1 = hybrid.short_conv %x, %w {return_state} : tensor<2x8x4xf32>, tensor<4x1xf32> -> tensor<2x8x4xf32>, tensor<2x0x4xf32>
  return
}
